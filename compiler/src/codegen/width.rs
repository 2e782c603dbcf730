//! How many lanes a thread should have.

use crate::ir::analysis::values::Values;
use crate::ir::{BinaryOp, Form, Function, Instruction, Leave, Op, Reg, UnaryOp};
use fixedbitset::FixedBitSet;

/// Do 32 lanes pay, if registers suffice?
///
/// What a thread does once for all lanes is done half as often, each wait for a message is one for twice as
/// much, and half as many threads meet at a barrier. But where lanes leave a loop one by one, the wider
/// thread runs on for the last of more; private memory of twice as many lanes takes twice the cache lines;
/// and a group of 16 work-items has no use for more.
fn wide_pays(function: &Function) -> bool {
    let group = function.kernel.required_work_group_size;
    let small = group.is_some_and(|size| size.iter().product::<u32>() <= 16);
    if function.form != Form::Masked || function.private_size > 0 || small {
        return false;
    }
    let values = Values::new(function);
    function.instructions().filter(|i| leaves_loop(i)).all(|i| {
        i.predicate
            .is_none_or(|p| function.register(p.reg).uniform || is_nearly_uniform(function, &values, p.reg))
    })
}

/// Threads of a work-group that any device has room for: the smallest subslice, Bay Trail's, has so many.
const THREADS: u32 = 32;

/// Those of the `possible` widths that are worth an attempt, the narrowest last: with which a group of the
/// required size fits into a subslice, and not so wide that it does not pay.
pub fn worth(function: &Function, possible: &[u32]) -> Vec<u32> {
    let group = function.kernel.required_work_group_size.map_or(0, |size| size.iter().product());
    let least = group.div_ceil(THREADS).min(possible.iter().copied().max().unwrap_or(0));
    let most = least.max(if wide_pays(function) { 32 } else { 16 });
    possible
        .iter()
        .copied()
        .filter(|width| (least..=most.next_power_of_two()).contains(width))
        .rev()
        .collect()
}

/// Does it decide which lanes go round a loop once more?
fn leaves_loop(instruction: &Instruction) -> bool {
    match instruction.op {
        Op::Leave { by, .. } => by.is_backward() || matches!(by, Leave::Break | Leave::Continue),
        _ => false,
    }
}

/// Do all lanes of a thread come to the same decision but for the few that a step of the loop divides? So it
/// is when what is compared depends on ids and on what is uniform, but not on data: neighbours have
/// neighbouring values.
fn is_nearly_uniform(function: &Function, values: &Values, decision: Reg) -> bool {
    let mut seen = FixedBitSet::with_capacity(function.registers.len());
    let mut work = vec![decision];
    while let Some(reg) = work.pop() {
        if function.register(reg).uniform || seen.put(reg.0 as usize) {
            continue;
        }
        for write in values.writes(reg) {
            let instruction = write.instruction(function);
            let follows = match instruction.op {
                Op::Immediate { .. } | Op::Input(_) | Op::Undefined => true,
                Op::Unary(UnaryOp::Mov | UnaryOp::Not | UnaryOp::Neg, ty)
                | Op::Binary(
                    BinaryOp::Add
                    | BinaryOp::Sub
                    | BinaryOp::Mul
                    | BinaryOp::Shl
                    | BinaryOp::And
                    | BinaryOp::Or,
                    ty,
                )
                | Op::Compare(_, ty)
                | Op::Convert { from: ty, .. } => !ty.is_float(),
                _ => false,
            };
            if !follows {
                return false;
            }
            work.extend(instruction.srcs.iter().copied());
        }
    }
    true
}
