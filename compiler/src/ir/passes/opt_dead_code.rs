//! Dead-code elimination.

use crate::ir::analysis::values::{InstructionLocation, Values};
use crate::ir::{Function, Op};
use fixedbitset::FixedBitSet;

/// Keeps instructions with effects, and those that write a register that a kept one reads; removes the rest,
/// including cycles of registers that only depend on each other. All forms.
pub fn opt_dead_code(function: &mut Function) {
    let values = Values::new(function);
    let mut needed = FixedBitSet::with_capacity(function.registers.len());
    let mut work = Vec::new();
    let need = |reg: crate::ir::Reg, needed: &mut FixedBitSet, work: &mut Vec<InstructionLocation>| {
        if !needed.put(reg.0 as usize) {
            work.extend(values.writes(reg));
        }
    };
    for instruction in function.instructions().filter(|i| i.op.has_effect()) {
        for reg in instruction.reads() {
            need(reg, &mut needed, &mut work);
        }
    }
    while let Some(place) = work.pop() {
        for reg in place.instruction(function).reads() {
            need(reg, &mut needed, &mut work);
        }
    }
    for block in function.layout.clone() {
        for instruction in &mut function.block_mut(block).instructions {
            if !instruction.op.has_effect() && !instruction.dsts.iter().any(|r| needed.contains(r.0 as usize))
            {
                instruction.dsts.clear();
            } else if instruction.op == Op::Undefined {
                instruction.dsts.retain(|r| needed.contains(r.0 as usize));
            } else if matches!(instruction.op, Op::Image(_)) {
                // The last channels of a texel need not be returned.
                while instruction.dsts.last().is_some_and(|r| !needed.contains(r.0 as usize)) {
                    instruction.dsts.pop();
                }
            }
        }
        function.block_mut(block).instructions.retain(|i| i.op.has_effect() || !i.dsts.is_empty());
    }
}
