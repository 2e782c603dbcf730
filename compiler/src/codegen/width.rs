//! Choice of the SIMD width.

use crate::ir::analysis::values::Values;
use crate::ir::{BinaryOp, Form, Function, Instruction, Op, Reg, UnaryOp};
use fixedbitset::FixedBitSet;

/// Whether SIMD32 is expected to be faster, if registers suffice.
///
/// Scalar instructions are executed half as often, each message transfers twice as much, and half as many
/// threads arrive at a barrier. But where lanes leave a loop independently, a wider thread runs until the
/// last of more lanes has left; private memory takes twice the cache lines; and a group of at most 16
/// work-items would leave lanes unused.
fn is_simd32_profitable(function: &Function) -> bool {
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

/// Hardware threads of the smallest subslice, Bay Trail's: the largest work-group in threads that every
/// device supports.
const MIN_SUBSLICE_THREADS: u32 = 32;

/// The widths of `possible` to try, the narrowest last: those with which a group of the required size fits
/// into a subslice, without SIMD32 if it is not expected to be faster.
pub fn candidate_widths(function: &Function, possible: &[u32]) -> Vec<u32> {
    let group = function.kernel.required_work_group_size.map_or(0, |size| size.iter().product());
    let least = group.div_ceil(MIN_SUBSLICE_THREADS).min(possible.iter().copied().max().unwrap_or(0));
    let most = least.max(if is_simd32_profitable(function) { 32 } else { 16 });
    possible
        .iter()
        .copied()
        .filter(|width| (least..=most.next_power_of_two()).contains(width))
        .rev()
        .collect()
}

/// Whether it decides which lanes execute another iteration of a loop.
fn leaves_loop(instruction: &Instruction) -> bool {
    matches!(instruction.op, Op::Leave { by, .. } if by.decides_on_iterations())
}

/// Whether a decision is expected to be nearly uniform: it depends on ids and on uniform values, but not on
/// data, so that neighbouring lanes differ by at most an iteration.
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
