//! Parked sets: where lanes may be parked while a block is executed, if the thread follows the layout.
//!
//! The thread always executes the first block in layout order that is the next one of some lane. So when
//! lanes diverge at a branch, those with the later block are *parked* there until the thread reaches it. This
//! analysis computes for each block the set of blocks where other lanes may be parked while it is executed.
//! The lowering of control flow is based on it:
//!
//! - a block with an empty parked set is executed with all lanes of the thread, and needs no masking;
//! - a write needs a predicate only if a parked lane will read the register's previous value;
//! - a register can be one scalar if no write of it could overwrite a value that a parked lane will read.
//!
//! Derivation: after block B the next blocks of all lanes are in A = parked(B) and B's successors (all of
//! them if lanes may diverge, else one). The thread continues with the lowest one that has lanes, which is
//! not after the last successor, as a successor has lanes. So the set A is propagated to the lowest block of
//! A; from there, for the case that no lane is there, without that block to the lowest of the rest, and so on
//! up to the last successor. The parked set of a block is the union of the sets propagated to it, without the
//! block itself. The solution is the least fixed point. A set is a row of bits, and each block propagates it
//! to at most three blocks, so an iteration is linear in the number of blocks times the row.

use super::cfg::Cfg;
use super::liveness::{Liveness, RegisterSet};
use crate::ir::{BlockId, Function, Op};
use fixedbitset::FixedBitSet;
use gencl_ir_support::dataflow::{propagate, union};
use smallvec::SmallVec;

/// The parked sets of a function in per-lane form.
#[derive(Clone, Debug)]
pub struct Parking {
    /// Index in the layout, by block id.
    places: Vec<usize>,
    /// Blocks in layout order.
    layout: Vec<BlockId>,
    /// By index in the layout: the indices of blocks where lanes may be parked.
    parked: Vec<FixedBitSet>,
}

impl Parking {
    /// Computes the sets. Branches on registers marked uniform do not diverge.
    pub fn new(function: &Function, cfg: &Cfg) -> Parking {
        let count = function.layout.len();
        let mut places = vec![usize::MAX; function.blocks.len()];
        for (place, block) in function.layout.iter().enumerate() {
            places[block.0 as usize] = place;
        }
        let mut arriving = vec![Arriving { places: FixedBitSet::with_capacity(count), limit: 0 }; count];
        arriving[0].places.insert(0);
        let join = |known: &mut Arriving, new: &Arriving| {
            let further = new.limit > known.limit;
            known.limit = known.limit.max(new.limit);
            union(&mut known.places, &new.places) | further
        };
        propagate(0..count, &mut arriving, join, |place, state, arrivals| {
            if !state.places.contains(place) {
                return;
            }
            state.places.remove(place);
            if let Some(next) = state.places.minimum().filter(|&next| next <= state.limit) {
                arrivals.send(next, state);
            }
            let block = function.layout[place];
            let successors: SmallVec<[usize; 2]> =
                cfg.successors(block).iter().map(|s| places[s.0 as usize]).collect();
            let together = if parts_lanes(function, block) { successors.len() } else { 1 };
            for group in successors.chunks(together.max(1)) {
                let mut after = state.clone();
                after.places.extend(group.iter().copied());
                if let (Some(first), Some(&last)) = (after.places.minimum(), group.iter().max()) {
                    after.limit = last;
                    arrivals.send(first, &after);
                }
            }
        });
        let without = |(place, state): (usize, Arriving)| {
            let mut parked = state.places;
            parked.remove(place);
            parked
        };
        let parked = arriving.into_iter().enumerate().map(without).collect();
        Parking { places, layout: function.layout.clone(), parked }
    }

    /// A block's index in the layout, from 0.
    pub fn place(&self, block: BlockId) -> usize {
        self.places[block.0 as usize]
    }

    /// Whether all lanes of the thread execute the block together.
    pub fn is_convergent(&self, block: BlockId) -> bool {
        self.parked[self.place(block)].is_clear()
    }

    /// The blocks where lanes may be parked while `block` is executed, in layout order. All are after it.
    pub fn parked(&self, block: BlockId) -> impl Iterator<Item = BlockId> + '_ {
        self.parked[self.place(block)].ones().map(|place| self.layout[place])
    }

    /// Registers that are live in lanes that are parked while `block` is executed, in the numbering of
    /// `liveness`.
    pub fn kept(&self, block: BlockId, liveness: &Liveness) -> RegisterSet {
        let mut kept = liveness.crossing.empty_set();
        for waiting in self.parked(block) {
            kept.union_with(liveness.live_in(waiting));
        }
        kept
    }
}

/// The state of the analysis at a block.
#[derive(Clone)]
struct Arriving {
    /// The next blocks of lanes when the thread arrives here, including this one; empty if it does not
    /// arrive.
    places: FixedBitSet,
    /// The last block that can be the first one with lanes.
    limit: usize,
}

/// Whether lanes may diverge at the end of the block.
pub fn parts_lanes(function: &Function, block: BlockId) -> bool {
    function.block(block).terminator().is_some_and(|t| match t.op {
        Op::Branch { then, otherwise } => then != otherwise && !function.register(t.condition()).uniform,
        _ => false,
    })
}
