//! If-conversion: which sides of ifs are predicated instead of branched over (docs/branches.md).
//!
//! `if` and `endif` are two instructions for every thread, three with an `else`, and skip a side that no lane
//! takes. A short side is cheaper when it is always executed.

use super::End;
use crate::ir::signature::Class;
use crate::ir::{BlockId, Function, Instruction, Op, Predicate, Reg};
use smallvec::{SmallVec, smallvec};

/// Maximum [`cost`] of a side that is predicated. Measured: docs/measurements/code.md.
const SHORT: usize = 8;

/// An if that is converted. Blocks by their index in the layout.
pub struct Short {
    /// The block with the branch.
    pub head: usize,
    /// The blocks of the sides, one or two, each with the lanes that execute it.
    pub sides: SmallVec<[(usize, Predicate); 2]>,
    /// The block after the if.
    pub join: BlockId,
}

/// The ifs of a function whose sides are short, given the ends of its blocks.
pub fn short_sides(function: &Function, ends: &[End]) -> Vec<Short> {
    let cfg = function.cfg();
    let find = |head: usize| {
        let End::Leave(by, far, Some(leaving)) = ends[head] else { return None };
        let staying = Predicate { inverse: !leaving.inverse, ..leaving };
        let at = |place: usize| function.layout.get(head + place).copied();
        let takes = |block: BlockId| {
            cfg.predecessors(block) == [function.layout[head]] && fits(function, block, leaving.reg)
        };
        if by.is_backward() || !takes(at(1)?) {
            return None;
        }
        match ends[head + 1] {
            End::Jump(join) if far == join && at(2)? == join => {
                Some(Short { head, sides: smallvec![(head + 1, staying)], join })
            }
            // The lanes of one side are parked after the other.
            End::Leave(_, join, None) if at(2)? == far && at(3)? == join && takes(far) => {
                let ends_there = matches!(ends[head + 2], End::Jump(target) if target == join);
                let sides = smallvec![(head + 1, staying), (head + 2, leaving)];
                ends_there.then_some(Short { head, sides, join })
            }
            _ => None,
        }
    };
    (0..ends.len()).filter_map(find).collect()
}

/// Whether a block is short, and all its instructions can be predicated without changing the predicate.
fn fits(function: &Function, block: BlockId, predicate: Reg) -> bool {
    let body = function.block(block).body();
    let uniform = |reg: &Reg| function.register(*reg).uniform;
    body.iter().map(cost).sum::<usize>() <= SHORT
        && body.iter().all(|i| {
            let scalar_load = i.op.class() == Class::Read && i.dsts.iter().all(uniform);
            let alone = matches!(i.op.class(), Class::Order | Class::CrossLane);
            !alone && !scalar_load && !i.dsts.contains(&predicate)
        })
}

/// Instructions of the machine, about: 64 bits are two halves, most constants are operands.
fn cost(instruction: &Instruction) -> usize {
    let ty = match instruction.op {
        Op::Immediate { .. } | Op::Undefined => return 0,
        Op::Convert { to: ty, .. }
        | Op::Unary(_, ty)
        | Op::Binary(_, ty)
        | Op::Ternary(_, ty)
        | Op::Select(ty) => ty,
        Op::Pair => return 2,
        Op::Input(_)
        | Op::Compare(..)
        | Op::Half { .. }
        | Op::Load { .. }
        | Op::Store { .. }
        | Op::Atomic { .. }
        | Op::Image(_)
        | Op::CrossLane(_)
        | Op::Barrier { .. }
        | Op::BarrierArrive { .. }
        | Op::BarrierWait
        | Op::Clock
        | Op::RaceCheck { .. }
        | Op::SubgroupBarrier { .. }
        | Op::Fence { .. }
        | Op::Jump(_)
        | Op::Branch { .. }
        | Op::Vote { .. }
        | Op::Leave { .. }
        | Op::Join { .. }
        | Op::Return => return 1,
    };
    if ty.bits() == 64 { 2 } else { 1 }
}
