//! Writes the answer of the uniformity analysis into the registers.

use crate::ir::Function;
use crate::ir::analysis::uniformity::uniform_registers;

/// Sets [`crate::ir::RegisterInfo::uniform`] of every register. Holds until the layout or the control flow
/// changes.
pub fn mark_uniform(function: &mut Function) {
    let uniform = uniform_registers(function);
    for (index, info) in function.registers.iter_mut().enumerate() {
        info.uniform = uniform.contains(index);
    }
}
