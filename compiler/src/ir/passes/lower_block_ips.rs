//! From the per-lane to the linear form: control flow of any shape by block IPs
//! (docs/branches.md).
//!
//! A Word register has for each lane the number of its next block. The thread executes the blocks in layout
//! order; at a block where lanes may be parked elsewhere ([`Parking`]) the lanes whose block IP is at most
//! the block's number are active, the others masked off. At most, not equal: then a lane that falls through
//! into a block, or jumps forward past no parked lane, needs no new block IP, because it already has a lower
//! one. This requires that every parked lane has a number above all blocks that are executed before its own:
//! lanes that diverge at a branch always get the number of their target.
//!
//! - A block with an empty parked set is unmasked, and block IPs are not maintained there. A divergent branch
//!   in it writes the block IPs of all lanes, and an edge from such a block to a masked one writes 0.
//! - In a masked block an instruction gets the predicate only if it accesses memory or writes a register that
//!   a parked lane will read. Others may write garbage to inactive lanes.
//! - A JOIN point, the head of a masked block at which the thread may arrive without a lane for it, compares
//!   and jumps to the next block that may have lanes. Edges that always have an active lane bypass the head.
//!   So a block's body is never executed without an active lane: a Barrier is executed once by a thread, and
//!   uniform loads need no predicate.
//! - A backward branch is a vote: if any lane jumps back, the thread does.
//! - A branch on a uniform register has the same target for all active lanes: it is a vote, or only sets
//!   block IPs if it would pass parked lanes.
//!
//! **Contract with code generation.** Lanes that the hardware has not dispatched (the end of a work-group)
//! must be false in every Bool that is voted on or used as a predicate. Comparisons write flag bits of
//! enabled channels only, so it is enough to clear the flag registers at the start of the thread and to keep
//! `not` of a Bool from setting bits of disabled channels. The lowering only emits the votes `Any` and
//! `None`, never `All`. Instructions without predicate run with all dispatched lanes. A write without
//! predicate to a uniform register is one scalar write, also if some lanes are masked off.

use super::insert_undefined::insert_undefined;
use crate::ir::analysis::liveness::{Liveness, RegisterSet};
use crate::ir::analysis::parking::Parking;
use crate::ir::signature::Class;
use crate::ir::{
    BlockId, Builder, Condition, Family, Form, Function, Instruction, Op, Predicate, Reg, Type, Vote,
};

/// Lowers a function in per-lane form. Expects what [`super::lower_returns`],
/// [`super::lower_crossing_bools`], [`super::arrange_blocks`] and [`super::mark_uniform`] leave.
pub fn lower_block_ips(function: &mut Function) {
    let cfg = function.cfg();
    let liveness = Liveness::new(function, &cfg);
    let parking = Parking::new(function, &cfg);
    let old_layout = function.layout.clone();
    let block_ip = function.new_register(Family::Word);
    // A function of 65,535 blocks and more needs wider numbers.
    let ip_type = if old_layout.len() < usize::from(u16::MAX) { Type::U16 } else { Type::U32 };
    function.registers[block_ip.0 as usize].family = ip_type.family();
    let mut lowering = Lowering {
        function,
        parking,
        liveness,
        block_ip,
        ip_type,
        heads: vec![None; old_layout.len()],
        trampolines: vec![None; old_layout.len()],
        alive: Vec::new(),
    };
    lowering.run(&old_layout);
}

/// The next block of the thread, and whether it always has an active lane.
#[derive(Clone, Copy, PartialEq, Eq)]
struct JumpTarget {
    block: BlockId,
    certain: bool,
}

struct Lowering<'f> {
    function: &'f mut Function,
    parking: Parking,
    /// Of the per-lane form.
    liveness: Liveness,
    block_ip: Reg,
    ip_type: Type,
    /// By index in the layout: the JOIN point before the block, if it is needed.
    heads: Vec<Option<BlockId>>,
    /// By index in the layout: the jump after a vote that does not fall through to the next block.
    trampolines: Vec<Option<(BlockId, JumpTarget)>>,
    /// By block id: registers that some lane, active or parked, will read.
    alive: Vec<RegisterSet>,
}

impl Lowering<'_> {
    fn run(&mut self, old_layout: &[BlockId]) {
        self.alive = vec![RegisterSet::new(); self.function.blocks.len()];
        for &block in old_layout {
            self.lower(block);
        }
        // Heads jump to later heads only, so one iteration in layout order fills all of them. The layout is
        // final then.
        for &block in old_layout {
            self.fill_head(block);
        }
        for place in 0..old_layout.len() {
            if let Some((trampoline, way)) = self.trampolines[place] {
                let target = self.entry_of(way);
                Builder::new(self.function, trampoline).jump(target);
            }
        }
        let mut layout = Vec::with_capacity(old_layout.len() * 2);
        for (place, &block) in old_layout.iter().enumerate() {
            layout.extend(self.heads[place]);
            layout.push(block);
            layout.extend(self.trampolines[place].map(|(block, _)| block));
        }
        self.function.layout = layout;
        self.function.form = Form::Linear;
        let (liveness, alive, block_ip) = (&self.liveness, &self.alive, self.block_ip);
        insert_undefined(self.function, |block, reg| {
            reg == block_ip || liveness.crossing.contains(&alive[block.0 as usize], reg)
        });
    }

    /// Number of a block in block IPs; 0 is before all blocks.
    fn ip(&self, block: BlockId) -> u64 {
        self.parking.place(block) as u64 + 1
    }

    fn is_masked(&self, block: BlockId) -> bool {
        !self.parking.is_convergent(block)
    }

    /// The block to jump to for a target; creates the head if it is needed.
    fn entry_of(&mut self, way: JumpTarget) -> BlockId {
        if way.certain || !self.is_masked(way.block) {
            return way.block;
        }
        let place = self.parking.place(way.block);
        if let Some(head) = self.heads[place] {
            return head;
        }
        let head = self.new_block(self.alive_in(way.block));
        self.heads[place] = Some(head);
        head
    }

    fn new_block(&mut self, alive: RegisterSet) -> BlockId {
        self.alive.push(alive);
        self.function.new_block()
    }

    fn alive_in(&self, block: BlockId) -> RegisterSet {
        let mut alive = self.kept(block);
        alive.union_with(self.liveness.live_in(block));
        alive
    }

    fn kept(&self, block: BlockId) -> RegisterSet {
        self.parking.kept(block, &self.liveness)
    }

    /// Rewrites one block in place.
    fn lower(&mut self, block: BlockId) {
        let kept = self.kept(block);
        self.alive[block.0 as usize] = self.alive_in(block);
        let mut old = std::mem::take(&mut self.function.block_mut(block).instructions);
        let Some(terminator) = old.pop() else { return };
        let mut mask = None;
        for mut instruction in old {
            if self.is_masked(block) {
                if matches!(instruction.op, Op::Undefined) {
                    let crossing = &self.liveness.crossing;
                    instruction.dsts.retain(|dst| !crossing.contains(&kept, *dst));
                    if instruction.dsts.is_empty() {
                        continue;
                    }
                } else {
                    self.mask(block, &mut mask, &kept, &mut instruction);
                }
            }
            self.function.block_mut(block).instructions.push(instruction);
        }
        let first = self.function.block(block).instructions.len();
        self.lower_terminator(block, &mut mask, &terminator);
        let lowered = &mut self.function.block_mut(block).instructions[first..];
        lowered.iter_mut().for_each(|instruction| instruction.location = terminator.location);
    }

    /// Gives an instruction of a masked block its predicate.
    fn mask(
        &mut self,
        block: BlockId,
        mask: &mut Option<Reg>,
        kept: &RegisterSet,
        instruction: &mut Instruction,
    ) {
        let is_kept = |dst: &Reg| self.liveness.crossing.contains(kept, *dst);
        let uniform = |reg: &Reg| self.function.register(*reg).uniform;
        let is_uniform_load =
            matches!(instruction.op, Op::Load { .. }) && instruction.dsts.iter().all(uniform);
        let across = instruction.op.class() == Class::CrossLane;
        let touches = instruction.op.touches_memory() && !is_uniform_load || across;
        if !touches && !instruction.dsts.iter().any(is_kept) {
            return;
        }
        debug_assert!(
            across || !instruction.dsts.iter().any(uniform),
            "a uniform register is written under a mask"
        );
        let free: Vec<Reg> = instruction.dsts.iter().copied().filter(|dst| !is_kept(dst)).collect();
        instruction.predicate = Some(Predicate { reg: self.active(block, mask), inverse: false });
        if !free.is_empty() && !instruction.srcs.iter().any(|src| free.contains(src)) {
            let undefined = Instruction::new(Op::Undefined, free, []);
            self.function.block_mut(block).instructions.push(undefined);
        }
    }

    /// The Bool of the active lanes of a masked block, computed at its first use.
    fn active(&mut self, block: BlockId, mask: &mut Option<Reg>) -> Reg {
        *mask.get_or_insert_with(|| self.lanes_up_to(block, block))
    }

    /// Lanes whose block IP is at most that of `limit`, computed at the end of `block`.
    fn lanes_up_to(&mut self, block: BlockId, limit: BlockId) -> Reg {
        let ip = self.ip(limit);
        let mut builder = Builder::new(self.function, block);
        let ip = builder.immediate(self.ip_type, ip);
        builder.function.registers[ip.0 as usize].uniform = true;
        builder.compare(Condition::LessEqual, self.ip_type, self.block_ip, ip)
    }

    /// The next block of the thread after `block` when all active lanes jump to `target`.
    fn way_to(&self, block: BlockId, target: BlockId) -> JumpTarget {
        if self.parking.place(target) <= self.parking.place(block) {
            return JumpTarget { block: target, certain: true };
        }
        match self.parking.parked(block).next() {
            Some(first) if self.parking.place(first) < self.parking.place(target) => {
                JumpTarget { block: first, certain: false }
            }
            _ => JumpTarget { block: target, certain: true },
        }
    }

    /// Whether the block IPs of active lanes must be set when all of them jump to `target`.
    fn needs_ip(&self, block: BlockId, target: BlockId) -> bool {
        if !self.is_masked(block) {
            return self.is_masked(target);
        }
        let backward = self.parking.place(target) <= self.parking.place(block);
        backward || self.way_to(block, target).block != target
    }

    /// Sets the block IPs of the active lanes to `bits`, or all when nothing is parked.
    fn set_ip(&mut self, block: BlockId, mask: &mut Option<Reg>, bits: u64) {
        let predicate = self.predicate(block, mask);
        let ty = self.ip_type;
        let block_ip = self.block_ip;
        let mut builder = Builder::new(self.function, block);
        builder.predicate = predicate;
        builder.emit(Op::Immediate { ty, bits }, &[block_ip], &[]);
    }

    /// Sets the block IPs of the active lanes by a branch's condition.
    fn set_ip_by(
        &mut self,
        block: BlockId,
        mask: &mut Option<Reg>,
        condition: Reg,
        then: u64,
        otherwise: u64,
    ) {
        let predicate = self.predicate(block, mask);
        let ty = self.ip_type;
        let block_ip = self.block_ip;
        let mut builder = Builder::new(self.function, block);
        let then = builder.immediate(ty, then);
        let otherwise = builder.immediate(ty, otherwise);
        for reg in [then, otherwise] {
            builder.function.registers[reg.0 as usize].uniform = true;
        }
        builder.predicate = predicate;
        builder.emit(Op::Select(ty), &[block_ip], &[condition, then, otherwise]);
    }

    fn predicate(&mut self, block: BlockId, mask: &mut Option<Reg>) -> Option<Predicate> {
        self.is_masked(block).then(|| Predicate { reg: self.active(block, mask), inverse: false })
    }

    fn lower_terminator(&mut self, block: BlockId, mask: &mut Option<Reg>, terminator: &Instruction) {
        match terminator.op {
            Op::Branch { then, otherwise } if then == otherwise => self.lower_jump(block, mask, then),
            Op::Branch { then, otherwise } => {
                let condition = terminator.condition();
                if self.function.register(condition).uniform {
                    self.lower_uniform_branch(block, mask, condition, then, otherwise);
                } else {
                    self.lower_branch(block, mask, condition, then, otherwise);
                }
            }
            Op::Jump(target) => self.lower_jump(block, mask, target),
            // The last block: all lanes have arrived.
            _ => self.function.block_mut(block).instructions.push(terminator.clone()),
        }
    }

    fn lower_jump(&mut self, block: BlockId, mask: &mut Option<Reg>, target: BlockId) {
        if self.needs_ip(block, target) {
            let ip = if self.is_masked(block) { self.ip(target) } else { 0 };
            self.set_ip(block, mask, ip);
        }
        let entry = self.entry_of(self.way_to(block, target));
        Builder::new(self.function, block).jump(entry);
    }

    fn lower_uniform_branch(
        &mut self,
        block: BlockId,
        mask: &mut Option<Reg>,
        condition: Reg,
        then: BlockId,
        otherwise: BlockId,
    ) {
        if self.needs_ip(block, then) || self.needs_ip(block, otherwise) {
            if self.is_masked(block) {
                self.set_ip_by(block, mask, condition, self.ip(then), self.ip(otherwise));
            } else {
                self.set_ip(block, mask, 0);
            }
        }
        let then = self.way_to(block, then);
        let otherwise = self.way_to(block, otherwise);
        if then == otherwise {
            let entry = self.entry_of(then);
            Builder::new(self.function, block).jump(entry);
        } else if self.parking.place(then.block) == self.parking.place(block) + 1 {
            self.vote(block, Vote::None, condition, otherwise, then);
        } else {
            self.vote(block, Vote::Any, condition, then, otherwise);
        }
    }

    /// A branch where lanes may diverge.
    fn lower_branch(
        &mut self,
        block: BlockId,
        mask: &mut Option<Reg>,
        condition: Reg,
        then: BlockId,
        otherwise: BlockId,
    ) {
        self.set_ip_by(block, mask, condition, self.ip(then), self.ip(otherwise));
        let place = self.parking.place(block);
        let goes_back = |target| self.parking.place(target) <= place;
        let first_parked = self.parking.parked(block).next();
        match (goes_back(then), goes_back(otherwise)) {
            // All lanes are active, so the condition determines the next block of all.
            (false, false) if !self.is_masked(block) => {
                let (near, far, voters) = if self.parking.place(then) < self.parking.place(otherwise) {
                    (then, otherwise, condition)
                } else {
                    (otherwise, then, self.lanes_up_to(block, otherwise))
                };
                let [near, far] = [near, far].map(|block| JumpTarget { block, certain: true });
                self.vote(block, Vote::None, voters, far, near);
            }
            (true, true) | (false, false) => {
                let near =
                    if self.parking.place(then) < self.parking.place(otherwise) { then } else { otherwise };
                let next = match first_parked {
                    Some(parked) if self.parking.place(parked) < self.parking.place(near) => parked,
                    _ => near,
                };
                let entry = self.entry_of(JumpTarget { block: next, certain: false });
                Builder::new(self.function, block).jump(entry);
            }
            (then_back, _) => {
                let (back, onward) = if then_back { (then, otherwise) } else { (otherwise, then) };
                let voters = if then_back && !self.is_masked(block) {
                    condition
                } else {
                    self.lanes_up_to(block, block)
                };
                let onward = self.way_to(block, onward);
                self.vote(block, Vote::Any, voters, JumpTarget { block: back, certain: true }, onward);
            }
        }
    }

    /// Ends the block with a vote; if it does not fall through to the next block, a jump is inserted.
    fn vote(&mut self, block: BlockId, vote: Vote, voters: Reg, target: JumpTarget, next: JumpTarget) {
        let alive = {
            let mut alive = self.kept(block);
            alive.union_with(self.liveness.live_out(block));
            alive
        };
        let target = self.entry_of(target);
        let place = self.parking.place(block);
        // It is not known yet whether the next block gets a head; an unnecessary jump is removed later.
        let trampoline = self.new_block(alive);
        self.trampolines[place] = Some((trampoline, next));
        self.entry_of(next);
        Builder::new(self.function, block).vote(vote, voters, target, trampoline);
    }

    /// Fills the JOIN point before a block: it jumps to the next block that may have lanes when there is none
    /// here.
    fn fill_head(&mut self, block: BlockId) {
        let Some(head) = self.heads[self.parking.place(block)] else { return };
        let mut parked = self.parking.parked(block);
        let first = parked.next();
        let certain = parked.next().is_none();
        drop(parked);
        // The parked set of a masked block is not empty.
        let Some(first) = first else { return };
        let entry = self.entry_of(JumpTarget { block: first, certain });
        let lanes = self.lanes_up_to(head, block);
        Builder::new(self.function, head).vote(Vote::None, lanes, entry, block);
    }
}
