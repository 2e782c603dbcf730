//! Which registers are alive where blocks begin and end.
//!
//! In the per-lane form a register is alive where some lane may read what it holds. In the linear form, where lanes
//! wait while others run, the same equations hold of the thread: a write under a predicate keeps the other
//! lanes' values and so does not end the life of what the register held; `undefined` does.

use super::cfg::Cfg;
use crate::ir::{Block, BlockId, Function, Reg};
use fixedbitset::FixedBitSet;

/// Sets of registers per block, indexed by register number.
#[derive(Clone, Debug)]
pub struct Liveness {
    live_in: Vec<FixedBitSet>,
    live_out: Vec<FixedBitSet>,
}

impl Liveness {
    /// Backward data flow to the fixed point: O(blocks x registers / word) for each round, and as many rounds
    /// as loops are deep.
    pub fn new(function: &Function, cfg: &Cfg) -> Liveness {
        let registers = function.registers.len();
        let empty = || vec![FixedBitSet::with_capacity(registers); function.blocks.len()];
        let mut liveness = Liveness { live_in: empty(), live_out: empty() };
        let mut uses = empty();
        let mut kills = empty();
        for (id, block) in function.blocks_in_layout() {
            let index = id.0 as usize;
            upward_exposed(block, &mut uses[index], &mut kills[index]);
        }
        let mut work: Vec<BlockId> = function.layout.clone();
        let mut queued = FixedBitSet::with_capacity(function.blocks.len());
        queued.extend(work.iter().map(|b| b.0 as usize));
        while let Some(block) = work.pop() {
            let index = block.0 as usize;
            queued.set(index, false);
            let mut out = std::mem::take(&mut liveness.live_out[index]);
            for successor in cfg.successors(block) {
                out.union_with(&liveness.live_in[successor.0 as usize]);
            }
            let mut live = out.clone();
            liveness.live_out[index] = out;
            live.difference_with(&kills[index]);
            live.union_with(&uses[index]);
            if live != liveness.live_in[index] {
                liveness.live_in[index] = live;
                for &predecessor in cfg.predecessors(block) {
                    if !queued.put(predecessor.0 as usize) {
                        work.push(predecessor);
                    }
                }
            }
        }
        liveness
    }

    /// Registers whose values the block or one after it reads.
    pub fn live_in(&self, block: BlockId) -> &FixedBitSet {
        &self.live_in[block.0 as usize]
    }

    /// Registers whose values a block after this one reads.
    pub fn live_out(&self, block: BlockId) -> &FixedBitSet {
        &self.live_out[block.0 as usize]
    }

    /// Is a register alive where the block begins?
    pub fn is_live_in(&self, block: BlockId, reg: Reg) -> bool {
        self.live_in(block).contains(reg.0 as usize)
    }

    /// Is a register alive where the block ends?
    pub fn is_live_out(&self, block: BlockId, reg: Reg) -> bool {
        self.live_out(block).contains(reg.0 as usize)
    }
}

/// Registers that the block reads before it writes them whole, and those that it writes whole.
fn upward_exposed(block: &Block, uses: &mut FixedBitSet, kills: &mut FixedBitSet) {
    for instruction in &block.instructions {
        for reg in instruction.reads() {
            if !kills.contains(reg.0 as usize) {
                uses.insert(reg.0 as usize);
            }
        }
        if instruction.predicate.is_none() {
            kills.extend(instruction.dsts.iter().map(|r| r.0 as usize));
        }
    }
}
