//! Where lanes may wait while others run, when the thread runs blocks in layout order.
//!
//! The thread always runs the block with the lowest place in the layout that some lane has to run next. So
//! when lanes part at a branch, those with the later block *park* there until the thread reaches it. This
//! analysis finds for each block the set of blocks where other lanes may be parked while it runs. It is the
//! heart of control flow on a machine without a program counter per lane, and answers all its questions:
//!
//! - a block with nothing parked runs with all lanes of the thread, and needs no masking;
//! - a write needs a predicate only if a parked lane will read what the register holds;
//! - a register can be one scalar if no write of it could destroy what a parked lane will read.
//!
//! Derivation: after block B the blocks to be run are among A = parked(B) and B's successors (all of them where
//! lanes may part, one where they cannot). The thread goes on with the lowest that has lanes, which is some C of
//! A not beyond the last successor, since a successor does have lanes. What of A lies beyond C is parked at C.
//! The sets are the least solution.

use super::cfg::Cfg;
use super::liveness::Liveness;
use crate::ir::{BlockId, Function, Op};
use fixedbitset::FixedBitSet;

/// The parked sets of a function in per-lane form.
#[derive(Clone, Debug)]
pub struct Parking {
    /// Place in the layout by block id.
    places: Vec<usize>,
    /// Blocks by place.
    layout: Vec<BlockId>,
    /// By place: the places where lanes may be parked.
    parked: Vec<FixedBitSet>,
}

impl Parking {
    /// Computes the sets. Branches on registers marked uniform do not part lanes.
    pub fn new(function: &Function, cfg: &Cfg) -> Parking {
        let count = function.layout.len();
        let mut places = vec![usize::MAX; function.blocks.len()];
        for (place, block) in function.layout.iter().enumerate() {
            places[block.0 as usize] = place;
        }
        let mut parking = Parking {
            places,
            layout: function.layout.clone(),
            parked: vec![FixedBitSet::with_capacity(count); count],
        };
        let mut reached = FixedBitSet::with_capacity(count);
        let mut queued = FixedBitSet::with_capacity(count);
        let mut work = vec![0];
        reached.insert(0);
        while let Some(place) = work.pop() {
            queued.set(place, false);
            let block = parking.layout[place];
            let successors: Vec<usize> =
                cfg.successors(block).iter().map(|s| parking.places[s.0 as usize]).collect();
            let groups: Vec<&[usize]> =
                if parts_lanes(function, block) { vec![&successors] } else { successors.chunks(1).collect() };
            for group in groups {
                let mut after = parking.parked[place].clone();
                after.extend(group.iter().copied());
                let Some(&last) = group.iter().max() else { continue };
                for next in after.ones().take_while(|&n| n <= last) {
                    let mut grown = !reached.put(next);
                    for waiting in after.ones().filter(|&w| w > next) {
                        grown |= !parking.parked[next].put(waiting);
                    }
                    if grown && !queued.put(next) {
                        work.push(next);
                    }
                }
            }
        }
        parking
    }

    /// A block's place in the layout, from 0.
    pub fn place(&self, block: BlockId) -> usize {
        self.places[block.0 as usize]
    }

    /// Do all lanes of the thread run the block together?
    pub fn is_convergent(&self, block: BlockId) -> bool {
        self.parked[self.place(block)].is_clear()
    }

    /// Where lanes may wait while `block` runs, in layout order. All lie beyond it.
    pub fn parked(&self, block: BlockId) -> impl Iterator<Item = BlockId> + '_ {
        self.parked[self.place(block)].ones().map(|place| self.layout[place])
    }

    /// Registers whose values lanes that are parked while `block` runs will read.
    pub fn kept(&self, block: BlockId, liveness: &Liveness, registers: usize) -> FixedBitSet {
        let mut kept = FixedBitSet::with_capacity(registers);
        for waiting in self.parked(block) {
            kept.union_with(liveness.live_in(waiting));
        }
        kept
    }
}

/// May lanes go different ways at the end of the block?
pub fn parts_lanes(function: &Function, block: BlockId) -> bool {
    function.block(block).terminator().is_some_and(|t| match t.op {
        Op::Branch { then, otherwise } => then != otherwise && !function.register(t.srcs[0]).uniform,
        _ => false,
    })
}
