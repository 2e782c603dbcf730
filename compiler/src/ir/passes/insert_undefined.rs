//! Ends lives that masked writes would draw out.

use crate::ir::analysis::cfg::Cfg;
use crate::ir::analysis::liveness::Liveness;
use crate::ir::{BlockId, Function, Instruction, Op, Reg};

/// Where the plain equations find a register alive into a block in which no lane, active or parked, will read
/// what it holds, and the need arises behind that block, `undefined` says so. `needed` tells for a block
/// whether some lane will read what a register holds where the block begins.
pub fn end_lives(function: &mut Function, needed: impl Fn(BlockId, Reg) -> bool) {
    let cfg = Cfg::new(function);
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
