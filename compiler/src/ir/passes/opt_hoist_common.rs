//! Hoists computations that all paths from a branch have in common.
//!
//! LLVM does so only if both sides begin with the same instructions. A divergent thread executes both sides:
//! common computations are executed twice, and each of two messages under opposite predicates takes as long
//! as one for all lanes.

use crate::ir::analysis::cfg::Cfg;
use crate::ir::analysis::values::Values;
use crate::ir::signature::Class;
use crate::ir::{BlockId, Family, Function, Instruction, Location, Op, Reg, UnaryOp};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Maximum number of instructions of a block that are considered.
const DEPTH: usize = 64;

/// Maximum number of blocks on the paths from a branch that are considered.
const BLOCKS: usize = 6;

/// Moves pure operations and loads that are on all paths from a branch, before any instruction that writes
/// memory or orders accesses, to the block with the branch, and likewise copies. Per-lane form.
pub fn opt_hoist_common(function: &mut Function) {
    let cfg = function.cfg();
    let values = Values::new(function);
    let registers = (0..function.registers.len() as u32).map(Reg);
    let writes = registers.map(|reg| values.writes(reg).len()).collect();
    let mut known = RegisterValues { writes, ..RegisterValues::default() };
    known.find_constants(function);
    for head in cfg.post_order().into_iter().filter(|block| cfg.successors(*block).len() == 2) {
        for &side in cfg.successors(head) {
            let mut index = 0;
            while let Some(instruction) = function.block(side).body().get(index).filter(|_| index < DEPTH) {
                let found = known
                    .common(function, instruction)
                    .and_then(|common| Some((known.places(function, &cfg, head, &common)?, common)));
                match found {
                    // The instruction there is now a copy, or the one after it.
                    Some((places, common)) => known.hoist(function, head, common, &places),
                    None => index += 1,
                }
            }
        }
    }
}

/// An operation on values.
struct Common {
    op: Op,
    srcs: SmallVec<[Reg; 4]>,
    /// The register that is copied to, if it is a copy.
    copied_to: Option<Reg>,
}

/// Known values of registers.
#[derive(Default)]
struct RegisterValues {
    /// How often each is written.
    writes: Vec<usize>,
    /// Of registers that hold the same as another: that one. Of those of constants, the first with the same.
    same: FxHashMap<Reg, Reg>,
    /// What that is for constants.
    constants: FxHashMap<Reg, Op>,
}

impl RegisterValues {
    fn find_constants(&mut self, function: &Function) {
        let mut first: FxHashMap<Op, Reg> = FxHashMap::default();
        for instruction in function.instructions() {
            if let (Op::Immediate { .. }, [dst]) = (instruction.op, instruction.dsts.as_slice())
                && self.is_value(*dst)
            {
                let same = *first.entry(instruction.op).or_insert(*dst);
                self.same.insert(*dst, same);
                self.constants.insert(same, instruction.op);
            }
        }
    }

    /// Whether it is written once.
    fn is_value(&self, reg: Reg) -> bool {
        self.writes[reg.0 as usize] == 1
    }

    fn original(&self, reg: Reg) -> Reg {
        self.same.get(&reg).copied().unwrap_or(reg)
    }

    /// The operation of an instruction, if it can be moved.
    fn common(&self, function: &Function, instruction: &Instruction) -> Option<Common> {
        let Instruction { op, predicate: None, dsts, srcs, location: _ } = instruction else { return None };
        // Between blocks truth values would be words.
        if dsts.iter().any(|dst| function.register(*dst).family == Family::Bool) {
            return None;
        }
        let movable = matches!(op.class(), Class::Pure | Class::Launch | Class::Read);
        if !movable || matches!(op, Op::Immediate { .. }) || !srcs.iter().all(|src| self.is_value(*src)) {
            return None;
        }
        let copied_to = instruction.as_move().map(|(dst, _)| dst).filter(|dst| !self.is_value(*dst));
        let is_new = instruction.as_move().is_none() && dsts.iter().all(|dst| self.is_value(*dst));
        (is_new || copied_to.is_some()).then(|| Common {
            op: *op,
            srcs: srcs.iter().map(|src| self.original(*src)).collect(),
            copied_to,
        })
    }

    fn does(&self, instruction: &Instruction, common: &Common) -> bool {
        let copied_to = common.copied_to;
        instruction.op == common.op
            && instruction.predicate.is_none()
            && instruction.srcs.len() == common.srcs.len()
            && instruction
                .srcs
                .iter()
                .zip(&common.srcs)
                .all(|(a, b)| self.is_value(*a) && self.original(*a) == *b)
            && match copied_to {
                Some(dst) => instruction.result() == dst,
                None => instruction.dsts.iter().all(|dst| self.is_value(*dst)),
            }
    }

    /// The instructions with this operation on all paths from `head`, before any instruction that prevents
    /// hoisting: block and index of each. `None` if there is a path without one, an edge from elsewhere, a
    /// path from one of them to another, or a loop, and if there is only one.
    fn places(
        &self,
        function: &Function,
        cfg: &Cfg,
        head: BlockId,
        common: &Common,
    ) -> Option<SmallVec<[(BlockId, usize); 4]>> {
        let mut places = SmallVec::new();
        let mut seen: SmallVec<[BlockId; BLOCKS]> = SmallVec::new();
        let mut open: SmallVec<[BlockId; 8]> = cfg.successors(head).iter().copied().collect();
        if common.copied_to.is_some_and(|dst| reads_at_end(function, head, dst)) {
            return None;
        }
        while let Some(block) = open.pop() {
            if block == head || seen.len() == BLOCKS {
                return None;
            }
            if seen.contains(&block) {
                continue;
            }
            seen.push(block);
            let body = function.block(block).body();
            let place = body.iter().take(DEPTH).position(|i| self.does(i, common) || self.forbids(i, common));
            match place {
                Some(index) if self.does(&body[index], common) => places.push((block, index)),
                Some(_) => return None,
                None if body.len() > DEPTH || cfg.successors(block).is_empty() => return None,
                None if common.copied_to.is_some_and(|dst| reads_at_end(function, block, dst)) => {
                    return None;
                }
                None => open.extend(cfg.successors(block).iter().copied()),
            }
        }
        let inside = |block: &BlockId| *block == head || seen.contains(block);
        let alone =
            seen.iter().all(|block| *block != cfg.entry() && cfg.predecessors(*block).iter().all(inside));
        // Instructions after a location have not been checked.
        let ends =
            |(block, _): &(BlockId, usize)| !cfg.successors(*block).iter().any(|next| seen.contains(next));
        let all = common.copied_to.is_none_or(|dst| self.writes[dst.0 as usize] == places.len());
        let fits = alone && all && places.len() > 1 && places.iter().all(ends) && cfg.is_acyclic(&seen);
        fits.then_some(places)
    }

    /// Whether the operation cannot be moved across an instruction.
    fn forbids(&self, instruction: &Instruction, common: &Common) -> bool {
        let needed = |reg: &Reg| common.srcs.contains(reg) && !self.constants.contains_key(reg);
        let copied = |reg: Reg| common.copied_to == Some(reg);
        instruction.dsts.iter().any(needed)
            || common.op.class() == Class::Read && instruction.op.has_effect()
            || instruction.dsts.iter().copied().chain(instruction.reads()).any(copied)
    }

    /// Moves it to the end of a block, and replaces the instructions by copies of its results.
    fn hoist(&mut self, function: &mut Function, head: BlockId, common: Common, places: &[(BlockId, usize)]) {
        let mut added: SmallVec<[Instruction; 4]> = SmallVec::new();
        let mut srcs: SmallVec<[Reg; 4]> = SmallVec::new();
        for src in &common.srcs {
            let own = self.constants.get(src).copied().map(|constant| {
                let own = self.new_register(function, function.register(*src).family);
                added.push(Instruction::new(constant, [own], []));
                self.same.insert(own, *src);
                own
            });
            srcs.push(own.unwrap_or(*src));
        }
        let dsts: SmallVec<[Reg; 4]> = match common.copied_to {
            Some(dst) => SmallVec::from_slice(&[dst]),
            None => {
                let (block, index) = places[0];
                let old = function.block(block).instructions[index].dsts.clone();
                old.iter().map(|dst| self.new_register(function, function.register(*dst).family)).collect()
            }
        };
        // Of several positions none is right, as in LLVM's `getMergedLocation`.
        let mut locations =
            places.iter().map(|(block, index)| function.block(*block).instructions[*index].location);
        let first = locations.next().unwrap_or_default();
        let location = if locations.all(|other| other == first) { first } else { Location::NONE };
        added.push(Instruction::new(common.op, dsts.iter().copied(), srcs).at(location));
        for (block, index) in places {
            let old = function.block_mut(*block).instructions.remove(*index);
            if let Some(dst) = common.copied_to {
                self.writes[dst.0 as usize] = 1;
                continue;
            }
            for (n, (dst, new)) in old.dsts.iter().zip(&dsts).enumerate() {
                let ty = function.register(*dst).family.bits_type();
                let copy = Instruction::new(Op::Unary(UnaryOp::Mov, ty), [*dst], [*new]).at(old.location);
                function.block_mut(*block).instructions.insert(index + n, copy);
                self.same.insert(*dst, *new);
            }
        }
        let instructions = &mut function.block_mut(head).instructions;
        let end = instructions.len() - 1;
        instructions.splice(end..end, added);
    }

    fn new_register(&mut self, function: &mut Function, family: Family) -> Reg {
        self.writes.push(1);
        function.new_register(family)
    }
}

/// Whether the end of a block reads a register.
fn reads_at_end(function: &Function, block: BlockId, reg: Reg) -> bool {
    function.block(block).terminator().is_some_and(|end| end.reads().any(|read| read == reg))
}
