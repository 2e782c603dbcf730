//! The fast paths: loops over an instruction's channels as an array of host values, which the host compiler
//! vectorises. [`select`] chooses one for an instruction; others take the general path.
//!
//! Integers up to 32 bits are computed as `u32` (sources extended by their type, results truncated to
//! theirs), with 64-bit operands as `u64`, floats as `f32` if the rounding mode is the host's.

mod compare;
mod elements;
mod float;
mod integer;
mod moves;

use super::general;
use crate::op::{Execute, Op};
use crate::operand::{SourceLocation, Target};

/// The fast path of an arithmetic instruction, or the general path if it has none.
pub fn select(op: &Op) -> Execute {
    let sources = op.src.iter().filter(|s| s.is_some());
    let direct = sources
        .clone()
        .all(|s| !matches!(s.location, SourceLocation::Indirect { .. }) && !s.is_accumulator())
        && !matches!(op.dst.target, Target::Indirect { .. })
        && !op.dst.is_accumulator();
    if !direct || op.accumulator_write || op.special {
        return general::execute;
    }
    moves::select(op)
        .or_else(|| compare::select(op))
        .or_else(|| integer::select(op))
        .or_else(|| float::select(op))
        .unwrap_or(general::execute)
}
