//! Inserts `undefined` to shorten live ranges that masked writes extend.

use crate::ir::analysis::liveness::Liveness;
use crate::ir::{BlockId, Function, Instruction, Op, Reg};

/// Inserts `undefined` at the end of a block if the equations of liveness have a register live-in that no
/// lane, active or parked, will read, and it becomes live after that block. `needed` tells whether some lane
/// reads the value that a register has at the beginning of a block.
pub fn insert_undefined(function: &mut Function, needed: impl Fn(BlockId, Reg) -> bool) {
    let cfg = function.cfg();
    let liveness = Liveness::new(function, &cfg);
    let mut ends = Vec::new();
    for &block in &function.layout {
        let dead: Vec<Reg> = liveness
            .crossing
            .registers(liveness.live_in(block))
            .filter(|&reg| !needed(block, reg))
            .filter(|&reg| {
                cfg.successors(block).iter().any(|&s| liveness.is_live_in(s, reg) && needed(s, reg))
            })
            .collect();
        if !dead.is_empty() {
            ends.push((block, dead));
        }
    }
    for (block, dead) in ends {
        let instructions = &mut function.block_mut(block).instructions;
        instructions.insert(instructions.len() - 1, Instruction::new(Op::Undefined, dead, []));
    }
}
