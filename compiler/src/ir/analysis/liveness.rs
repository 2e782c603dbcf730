//! Live-in and live-out registers of blocks.
//!
//! In the per-lane form a register is live where some lane may read its value. In the other forms, where
//! lanes are parked while others are active, the same equations are used for the thread: a write under a
//! predicate or in a masked block keeps the other lanes' values and so does not kill; `undefined` does.
//!
//! Most live ranges are within one block. The sets contain only registers that some block reads before it
//! writes them, numbered densely: the others are not live across any edge.

use super::cfg::Cfg;
use crate::ir::{Block, BlockId, Function, Reg};
use fixedbitset::FixedBitSet;
use gencl_ir_support::dataflow::live_sets;

/// A set of the registers that cross edges, in the numbering of one [`Crossing`].
pub type RegisterSet = FixedBitSet;

/// By register: the only block that it occurs in. None for those of several, or of none.
fn homes(function: &Function) -> Vec<Option<BlockId>> {
    let mut homes = vec![None; function.registers.len()];
    let mut shared = FixedBitSet::with_capacity(function.registers.len());
    for (id, block) in function.blocks_in_layout() {
        for instruction in &block.instructions {
            for reg in instruction.reads().chain(instruction.dsts.iter().copied()) {
                let home = &mut homes[reg.0 as usize];
                if home.is_some_and(|home| home != id) {
                    shared.insert(reg.0 as usize);
                }
                *home = Some(id);
            }
        }
    }
    shared.ones().for_each(|reg| homes[reg] = None);
    homes
}

/// The registers that some block reads before it writes them, and their dense numbers.
#[derive(Clone, Debug)]
pub struct Crossing {
    registers: Vec<Reg>,
    /// By register number; [`Self::ABSENT`] for all others.
    slots: Vec<u32>,
}

impl Crossing {
    const ABSENT: u32 = u32::MAX;

    /// O(instructions).
    pub fn new(function: &Function) -> Crossing {
        let mut crossing =
            Crossing { registers: Vec::new(), slots: vec![Self::ABSENT; function.registers.len()] };
        // The block with the last full definition of each register, so that one array is enough for all
        // blocks.
        let mut written_in = vec![u32::MAX; function.registers.len()];
        let homes = homes(function);
        for (id, block) in function.blocks_in_layout() {
            for instruction in &block.instructions {
                for reg in instruction.reads() {
                    let index = reg.0 as usize;
                    if written_in[index] != id.0 && crossing.slots[index] == Self::ABSENT {
                        crossing.slots[index] = crossing.registers.len() as u32;
                        crossing.registers.push(reg);
                    }
                }
                for &dst in &instruction.dsts {
                    // Parked lanes read no register of this block.
                    let own = instruction.predicate.is_none() && homes[dst.0 as usize] == Some(id);
                    if own || function.writes_whole(block, instruction, dst) {
                        written_in[dst.0 as usize] = id.0;
                    }
                }
            }
        }
        crossing
    }

    /// The number of registers.
    pub fn len(&self) -> usize {
        self.registers.len()
    }

    /// None?
    pub fn is_empty(&self) -> bool {
        self.registers.is_empty()
    }

    /// The number of a register, if it crosses an edge.
    pub fn slot(&self, reg: Reg) -> Option<usize> {
        let slot = *self.slots.get(reg.0 as usize)?;
        (slot != Self::ABSENT).then_some(slot as usize)
    }

    /// The registers of a set.
    pub fn registers<'s>(&'s self, set: &'s RegisterSet) -> impl Iterator<Item = Reg> + 's {
        set.ones().map(|slot| self.registers[slot])
    }

    /// Whether a register is in a set.
    pub fn contains(&self, set: &RegisterSet, reg: Reg) -> bool {
        self.slot(reg).is_some_and(|slot| set.contains(slot))
    }

    /// A set with nothing in it.
    pub fn empty_set(&self) -> RegisterSet {
        FixedBitSet::with_capacity(self.len())
    }
}

/// Sets of registers per block.
#[derive(Clone, Debug)]
pub struct Liveness {
    /// The numbering of the sets.
    pub crossing: Crossing,
    live_in: Vec<RegisterSet>,
    live_out: Vec<RegisterSet>,
}

impl Liveness {
    /// O(blocks x crossing registers / word) for each iteration, and as many iterations as loops are deep.
    pub fn new(function: &Function, cfg: &Cfg) -> Liveness {
        let crossing = Crossing::new(function);
        let empty = || vec![crossing.empty_set(); function.blocks.len()];
        let (mut reads, mut kills) = (empty(), empty());
        for (id, block) in function.blocks_in_layout() {
            let index = id.0 as usize;
            upward_exposed(function, block, &crossing, &mut reads[index], &mut kills[index]);
        }
        let layout = function.layout.iter().map(|block| block.0 as usize);
        let predecessors =
            |block: usize| cfg.predecessors(BlockId(block as u32)).iter().map(|before| before.0 as usize);
        let (live_in, live_out) = live_sets(layout, predecessors, reads, &kills);
        Liveness { crossing, live_in, live_out }
    }

    /// Registers that are live at the beginning of the block.
    pub fn live_in(&self, block: BlockId) -> &RegisterSet {
        &self.live_in[block.0 as usize]
    }

    /// Registers that are live at the end of the block.
    pub fn live_out(&self, block: BlockId) -> &RegisterSet {
        &self.live_out[block.0 as usize]
    }

    /// Whether a register is live at the beginning of the block.
    pub fn is_live_in(&self, block: BlockId, reg: Reg) -> bool {
        self.crossing.contains(self.live_in(block), reg)
    }

    /// Whether a register is live at the end of the block.
    pub fn is_live_out(&self, block: BlockId, reg: Reg) -> bool {
        self.crossing.contains(self.live_out(block), reg)
    }
}

/// Registers that the block reads before a full definition, and those that it defines fully.
fn upward_exposed(
    function: &Function,
    block: &Block,
    crossing: &Crossing,
    uses: &mut RegisterSet,
    kills: &mut RegisterSet,
) {
    for instruction in &block.instructions {
        for slot in instruction.reads().filter_map(|reg| crossing.slot(reg)) {
            if !kills.contains(slot) {
                uses.insert(slot);
            }
        }
        let whole = instruction.dsts.iter().filter(|&&dst| function.writes_whole(block, instruction, dst));
        kills.extend(whole.filter_map(|&reg| crossing.slot(reg)));
    }
}
