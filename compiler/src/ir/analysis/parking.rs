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
//! Derivation: after block B the blocks to be run are among A = parked(B) and B's successors (all of them
//! where lanes may part, one where they cannot). The thread goes on with the lowest that has lanes; that lies
//! not beyond the last successor, as a successor does have lanes. So the set A comes to the lowest block of
//! A; from each block that it comes to it goes on, without that block, to the lowest of the rest, up to the
//! last successor, for the case that no lane is there. What comes to a block, without the block, is parked
//! there. The sets are the least solution. A set is a row of bits, and each block sends it at most three
//! ways, so a round is linear in the blocks' number times the row.

use super::cfg::Cfg;
use super::liveness::{Liveness, RegisterSet};
use crate::dataflow::{propagate, union};
use crate::ir::{BlockId, Function, Op};
use fixedbitset::FixedBitSet;
use smallvec::SmallVec;

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

    /// Registers whose values lanes that are parked while `block` runs will read, in the liveness' numbering.
    pub fn kept(&self, block: BlockId, liveness: &Liveness) -> RegisterSet {
        let mut kept = liveness.crossing.empty_set();
        for waiting in self.parked(block) {
            kept.union_with(liveness.live_in(waiting));
        }
        kept
    }
}

/// The state of the analysis at a place.
#[derive(Clone)]
struct Arriving {
    /// Blocks that lanes may have to run when the thread comes here, this one among them: none where it does
    /// not come.
    places: FixedBitSet,
    /// The furthest block that may be the first that has lanes.
    limit: usize,
}

/// May lanes go different ways at the end of the block?
pub fn parts_lanes(function: &Function, block: BlockId) -> bool {
    function.block(block).terminator().is_some_and(|t| match t.op {
        Op::Branch { then, otherwise } => then != otherwise && !function.register(t.condition()).uniform,
        _ => false,
    })
}
