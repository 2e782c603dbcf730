//! From the per-lane to the masked form: the hardware keeps an instruction pointer for each lane
//! (docs/branches.md).
//!
//! The rule is that of block IPs ([`super::lower_block_ips`]): the thread executes the first block in layout
//! order that is the next one of some lane, the others are parked. But here the hardware keeps track of
//! parked lanes: `leave` parks lanes at a later block, and they are enabled when the thread arrives there. So
//! no comparisons and predicates are needed. The lowering determines
//!
//! - where the thread jumps when no lane is left for the next block: to the first block where lanes may be
//!   parked;
//! - by which instructions lanes leave and reconverge: those of the function's tree ([`ControlTree`]), and
//!   `goto` and `join` outside of constructs;
//! - which masked writes kill: `undefined` is inserted before writes of registers that no parked lane reads.
//!
//! A block where lanes reconverge gets a head, a separate block with only the `join`. Three kinds of blocks
//! need none, because the preceding machine instruction enables the lanes: the else side of an if, the last
//! block of a loop where lanes `continue`, and the block after a loop. They get one if the thread may arrive
//! there without an active lane.
//!
//! A uniform branch has the same target for all active lanes. If no lane is parked in between it is a jump of
//! the thread.
//!
//! Short sides of an if are merged into the block with the branch and predicated ([`short_sides`]).

mod short_sides;

use super::insert_undefined::insert_undefined;
use crate::ir::analysis::liveness::{Liveness, RegisterSet};
use crate::ir::analysis::parking::Parking;
use crate::ir::analysis::structure::ControlTree;
use crate::ir::{BlockId, Form, Function, Instruction, Join, Leave, Op, Predicate, Reg, Vote};
use short_sides::short_sides;
use smallvec::SmallVec;

/// Inserts blocks so that each construct of the control-flow tree has its own join. Expects
/// [`super::arrange_blocks`].
pub fn structure_blocks(function: &mut Function) {
    ControlTree::build(function);
}

/// Inserts an empty block after every branch neither of whose sides is the next block. Expects
/// [`super::arrange_blocks`].
pub fn split_branches(function: &mut Function) {
    let old = std::mem::take(&mut function.layout);
    for (place, &block) in old.iter().enumerate() {
        function.layout.push(block);
        let Some(Op::Branch { then, otherwise }) = function.block(block).terminator().map(|t| t.op) else {
            continue;
        };
        let next = old.get(place + 1);
        if then == otherwise || next == Some(&then) || next == Some(&otherwise) {
            continue;
        }
        let between = function.new_block();
        function.block_mut(between).instructions.push(Instruction::new(Op::Jump(otherwise), [], []));
        if let Some(terminator) = function.block_mut(block).instructions.last_mut() {
            terminator.op = Op::Branch { then, otherwise: between };
        }
        function.layout.push(between);
    }
}

/// Lowers a function with `goto` and `join` alone. Expects what [`split_branches`] and
/// [`super::mark_uniform`] leave.
pub fn lower_gotos(function: &mut Function) {
    Lowering::new(function, None).run(true);
}

/// Lowers a function with the instructions of its constructs. Expects what [`structure_blocks`],
/// [`split_branches`] and [`super::mark_uniform`] leave.
pub fn lower_structured(function: &mut Function) {
    let tree = ControlTree::build(function);
    Lowering::new(function, Some(&tree)).run(true);
}

/// As [`lower_structured`], without predicated sides: the hardware's masks tell which lanes are where.
pub fn lower_unpredicated(function: &mut Function) {
    let tree = ControlTree::build(function);
    Lowering::new(function, Some(&tree)).run(false);
}

/// How a block ends.
#[derive(Clone, Copy)]
enum End {
    /// Unchanged: the thread jumps to one block, or returns.
    Jump(BlockId),
    Vote(Vote, Reg, BlockId),
    Leave(Leave, BlockId, Option<Predicate>),
    Return,
    /// With the end of the preceding block, into which it is merged.
    Absorbed,
}

struct Lowering<'f, 't> {
    function: &'f mut Function,
    tree: Option<&'t ControlTree>,
    layout: Vec<BlockId>,
    parking: Parking,
    /// Of the per-lane form.
    liveness: Liveness,
    /// By index in the layout: the head before the block.
    heads: Vec<Option<(Join, BlockId)>>,
    /// By index in the layout: whether the thread may arrive at the head without an active lane.
    uncertain: Vec<bool>,
    /// By index in the layout: the block that the block is merged into, and its predicate.
    absorbed: Vec<Option<(BlockId, Predicate)>>,
}

impl<'f, 't> Lowering<'f, 't> {
    fn new(function: &'f mut Function, tree: Option<&'t ControlTree>) -> Self {
        let cfg = function.cfg();
        let liveness = Liveness::new(function, &cfg);
        let parking = Parking::new(function, &cfg);
        let layout = function.layout.clone();
        let count = layout.len();
        Lowering {
            function,
            tree,
            layout,
            parking,
            liveness,
            heads: vec![None; count],
            uncertain: vec![false; count],
            absorbed: vec![None; count],
        }
    }

    /// `predicates`: whether short sides are predicated.
    fn run(mut self, predicates: bool) {
        let mut ends: Vec<End> = (0..self.layout.len()).map(|place| self.end(place)).collect();
        let shorts = if predicates { short_sides(self.function, &ends) } else { Vec::new() };
        for short in shorts {
            let head = self.layout[short.head];
            for (side, predicate) in short.sides {
                self.absorbed[side] = Some((head, predicate));
                ends[side] = End::Absorbed;
            }
            ends[short.head] = End::Jump(short.join);
        }
        for (place, &end) in ends.iter().enumerate() {
            self.add_heads(place, end);
        }
        for (place, &end) in ends.iter().enumerate() {
            self.mark_uncertain(place, end, &ends);
        }
        let mut alive = vec![RegisterSet::new(); self.function.blocks.len()];
        let mut layout = Vec::with_capacity(self.layout.len() * 2);
        for (place, &end) in ends.iter().enumerate() {
            let block = self.layout[place];
            if let Some((head, predicate)) = self.absorbed[place] {
                self.absorb(block, head, predicate);
                continue;
            }
            let mut needed = self.parking.kept(block, &self.liveness);
            needed.union_with(self.liveness.live_in(block));
            if let Some((by, head)) = self.heads[place] {
                self.fill_head(place, by, head);
                alive[head.0 as usize].clone_from(&needed);
                layout.push(head);
            }
            alive[block.0 as usize] = needed;
            layout.push(block);
            self.mask_writes(block);
            self.lower_end(place, end);
        }
        self.function.layout = layout;
        self.function.form = Form::Masked;
        let crossing = &self.liveness.crossing;
        insert_undefined(self.function, |block, reg| crossing.contains(&alive[block.0 as usize], reg));
    }

    fn place(&self, block: BlockId) -> usize {
        self.parking.place(block)
    }

    fn kind(&self, block: BlockId) -> Option<Leave> {
        self.tree.and_then(|tree| tree.kind(block))
    }

    /// The index in the layout of the first block after `block` where lanes may be parked.
    fn first_parked(&self, block: BlockId) -> Option<usize> {
        self.parking.parked(block).next().map(|parked| self.place(parked))
    }

    /// Determines how a block ends.
    fn end(&self, place: usize) -> End {
        let block = self.layout[place];
        let Some(terminator) = self.function.block(block).terminator() else { return End::Return };
        let waits_before =
            |target: BlockId| self.first_parked(block).is_some_and(|parked| parked < self.place(target));
        let back = |target: BlockId| self.place(target) <= place;
        let kind = self.kind(block);
        let backward = if kind == Some(Leave::While) { Leave::While } else { Leave::Back };
        let forward = kind.filter(|kind| !kind.is_backward()).unwrap_or(Leave::Goto);
        let jump = |target: BlockId| {
            if back(target) {
                // Lanes that `continue` are enabled by the `while`; without one, or without parked lanes, a
                // jump is equivalent.
                let plain = kind != Some(Leave::While) || self.parking.is_convergent(block);
                if plain { End::Jump(target) } else { End::Leave(Leave::While, target, None) }
            } else if waits_before(target) {
                End::Leave(forward, target, None)
            } else {
                End::Jump(target)
            }
        };
        match terminator.op {
            Op::Jump(target) => jump(target),
            Op::Branch { then, otherwise } if then == otherwise => jump(then),
            Op::Branch { then, otherwise } => {
                let condition = terminator.condition();
                let uniform = self.function.register(condition).uniform;
                let far = if self.layout.get(place + 1) == Some(&otherwise) { then } else { otherwise };
                // Lanes that `break` or `continue` are parked at the `while`.
                let needs_while = kind == Some(Leave::While) && !self.parking.is_convergent(block);
                if uniform && !needs_while && (back(far) || !waits_before(far)) {
                    let vote = if far == then { Vote::Any } else { Vote::None };
                    return End::Vote(vote, condition, far);
                }
                let predicate = Predicate { reg: condition, inverse: far == otherwise };
                End::Leave(if back(far) { backward } else { forward }, far, Some(predicate))
            }
            _ => End::Return,
        }
    }

    /// Whether the block is the else side of an if.
    fn is_other_side(&self, place: usize) -> bool {
        place > 0 && self.kind(self.layout[place - 1]) == Some(Leave::Else)
    }

    /// Adds heads to the blocks where lanes reconverge, unless another instruction enables them.
    fn add_heads(&mut self, place: usize, end: End) {
        let End::Leave(by, target, _) = end else { return };
        let target = self.place(target);
        let (place, join) = match by {
            Leave::Goto => (target, Join::Goto),
            Leave::If if self.is_other_side(target) => return,
            Leave::If | Leave::Else => (target, Join::If),
            Leave::Back => (place + 1, Join::Goto),
            Leave::Break | Leave::Continue | Leave::While => return,
        };
        self.add_head(place, join);
    }

    fn add_head(&mut self, place: usize, join: Join) {
        match &mut self.heads[place] {
            // The target of a `goto` must be a `join`.
            Some((known, _)) => {
                if join == Join::Goto {
                    *known = join;
                }
            }
            empty => *empty = Some((join, self.function.new_block())),
        }
    }

    /// Marks blocks at which the thread may arrive without an active lane: they need a head.
    fn mark_uncertain(&mut self, place: usize, end: End, ends: &[End]) {
        let block = self.layout[place];
        if self.uncertain[place]
            && let Some(next) = self.first_parked(block)
            && self.parking.parked(block).nth(1).is_some()
        {
            self.arrive_uncertain(next, ends);
        }
        if let End::Leave(by, target, _) = end
            && !by.is_backward()
        {
            let first = self.without_lanes(place, by, target);
            if first < self.place(target) {
                self.arrive_uncertain(first, ends);
            }
        }
    }

    /// The next block of the thread when all lanes have left a block forward: the first one where lanes may
    /// be.
    fn without_lanes(&self, place: usize, by: Leave, target: BlockId) -> usize {
        // An `else` continues with the next block if lanes are parked there.
        let after = if by == Leave::Else { place + 1 } else { place };
        let mut parked = self.parking.parked(self.layout[place]).map(|parked| self.place(parked));
        let target = self.place(target);
        let first = parked.find(|&parked| parked > after).map_or(target, |first| first.min(target));
        // The `else` tests whether lanes are parked at the other side, if its block is otherwise empty.
        let before = first.saturating_sub(1);
        let only_else = before > place
            && first < target
            && self.is_other_side(first)
            && self.function.block(self.layout[before]).instructions.len() == 1;
        if only_else { before } else { first }
    }

    fn arrive_uncertain(&mut self, place: usize, ends: &[End]) {
        // A `while` without active lanes has no effect, and after it the lanes of the loop are enabled. An
        // `else` jumps to the end of the if when no lanes are parked at it.
        let only_leaves = self.function.block(self.layout[place]).instructions.len() == 1
            && matches!(ends[place], End::Leave(Leave::While | Leave::Else, ..));
        if self.heads[place].is_some() {
            self.uncertain[place] = true;
        } else if !only_leaves {
            self.add_head(place, Join::Goto);
            self.uncertain[place] = true;
        }
    }

    /// The block to jump to for a forward edge to a block: its head, if it has one.
    fn entry(&self, place: usize) -> BlockId {
        self.heads[place].map_or(self.layout[place], |(_, head)| head)
    }

    fn fill_head(&mut self, place: usize, by: Join, head: BlockId) {
        let next = self.layout[place];
        let empty = self.first_parked(next).filter(|_| self.uncertain[place]);
        let empty = empty.map_or(next, |first| self.entry(first));
        let join = Instruction::new(Op::Join { by, next, empty }, [], []);
        self.function.block_mut(head).instructions.push(join);
    }

    /// Inserts `undefined` before the killing writes of a block.
    fn mask_writes(&mut self, block: BlockId) {
        if self.parking.is_convergent(block) {
            return;
        }
        let instructions = self.masked_writes(block, None);
        let block = self.function.block_mut(block);
        block.masked = true;
        block.instructions = instructions;
    }

    /// Merges a block into another under a predicate.
    fn absorb(&mut self, block: BlockId, head: BlockId, predicate: Predicate) {
        let mut instructions = self.masked_writes(block, Some(predicate));
        instructions.pop();
        let head = &mut self.function.block_mut(head).instructions;
        let end = head.len() - 1;
        head.splice(end..end, instructions);
    }

    /// The instructions of a block, with `undefined` before killing writes. The predicate, if there is one,
    /// is set on those with effects on lanes that do not execute the block.
    fn masked_writes(&mut self, block: BlockId, predicate: Option<Predicate>) -> Vec<Instruction> {
        let kept = self.parking.kept(block, &self.liveness);
        let crossing = &self.liveness.crossing;
        let old = std::mem::take(&mut self.function.block_mut(block).instructions);
        let mut new = Vec::with_capacity(old.len());
        let is_kept = |dst: &Reg| crossing.contains(&kept, *dst);
        for mut instruction in old {
            if instruction.op == Op::Undefined {
                instruction.dsts.retain(|dst| !is_kept(dst));
                if instruction.dsts.is_empty() {
                    continue;
                }
            } else {
                let uniform = |dst: &Reg| self.function.register(*dst).uniform;
                let free = |dst: &Reg| crossing.slot(*dst).is_some() && !is_kept(dst);
                let ended: SmallVec<[Reg; 4]> = instruction
                    .dsts
                    .iter()
                    .copied()
                    .filter(|dst| free(dst) && !uniform(dst) && !instruction.srcs.contains(dst))
                    .collect();
                if !ended.is_empty() {
                    new.push(Instruction::new(Op::Undefined, ended, []));
                }
                if instruction.op.touches_memory() || instruction.dsts.iter().any(is_kept) {
                    instruction.predicate = predicate;
                }
            }
            new.push(instruction);
        }
        new
    }

    fn lower_end(&mut self, place: usize, end: End) {
        let block = self.layout[place];
        let way = |target: BlockId| {
            let to = self.place(target);
            if to <= place { target } else { self.entry(to) }
        };
        let next = self.layout.get(place + 1).map(|_| self.entry(place + 1));
        let terminator = match (end, next) {
            (End::Jump(target), _) => Instruction::new(Op::Jump(way(target)), [], []),
            (End::Vote(vote, condition, target), Some(next)) => {
                Instruction::new(Op::Vote { vote, target: way(target), next }, [], [condition])
            }
            (End::Leave(by, target, predicate), Some(next)) => {
                let empty =
                    if by.is_backward() { next } else { self.entry(self.without_lanes(place, by, target)) };
                let op = Op::Leave { by, target: way(target), next, empty };
                let mut leave = Instruction::new(op, [], []);
                leave.predicate = predicate;
                leave
            }
            _ => return,
        };
        if let Some(last) = self.function.block_mut(block).instructions.last_mut() {
            *last = terminator.at(last.location);
        }
    }
}
