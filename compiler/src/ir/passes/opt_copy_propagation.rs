//! Copy propagation: replaces reads of a copy by reads of its source.

use crate::ir::analysis::values::Values;
use crate::ir::{Function, Reg};

/// Between registers that are written once this holds everywhere; between others until one of them is written
/// again, and only within the block. The copies that nothing reads any more are left to
/// [`super::opt_dead_code`]. Per-lane form.
pub fn opt_copy_propagation(function: &mut Function) {
    let values = Values::new(function);
    let once = |reg: Reg| values.single_write(reg).is_some();
    let mut everywhere: Vec<Option<Reg>> = vec![None; function.registers.len()];
    for instruction in function.instructions() {
        if let Some((dst, src)) = instruction.as_move()
            && dst != src
            && once(dst)
            && once(src)
        {
            everywhere[dst.0 as usize] = Some(src);
        }
    }
    // A copy is written after its source on every path, so chains end - but for blocks that nothing reaches.
    let original = |mut reg: Reg| {
        for _ in 0..everywhere.len() {
            match everywhere[reg.0 as usize] {
                Some(source) => reg = source,
                None => break,
            }
        }
        reg
    };
    let mut local: Vec<(Reg, Reg)> = Vec::new();
    for block in function.layout.clone() {
        local.clear();
        for instruction in &mut function.block_mut(block).instructions {
            for src in &mut instruction.srcs {
                *src = original(*src);
                if let Some(&(_, source)) = local.iter().find(|(copy, _)| copy == src) {
                    *src = source;
                }
            }
            if !local.is_empty() {
                local.retain(|(copy, source)| {
                    !instruction.dsts.contains(copy) && !instruction.dsts.contains(source)
                });
            }
            if let Some((dst, src)) = instruction.as_move()
                && dst != src
            {
                local.push((dst, src));
            }
        }
    }
}
