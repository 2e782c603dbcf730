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
        let mut flow = Flow {
            arriving: vec![FixedBitSet::with_capacity(count); count],
            limits: vec![0; count],
            queued: FixedBitSet::with_capacity(count),
        };
        flow.queued.insert(0);
        while let Some(place) = flow.queued.minimum() {
            flow.queued.set(place, false);
            let mut parked = flow.arriving[place].clone();
            parked.set(place, false);
            let limit = flow.limits[place];
            if let Some(next) = parked.minimum().filter(|&next| next <= limit) {
                flow.arrive(next, &parked, limit);
            }
            let block = function.layout[place];
            let successors: SmallVec<[usize; 2]> =
                cfg.successors(block).iter().map(|s| places[s.0 as usize]).collect();
            let together = if parts_lanes(function, block) { successors.len() } else { 1 };
            for group in successors.chunks(together.max(1)) {
                let mut after = parked.clone();
                after.extend(group.iter().copied());
                if let (Some(first), Some(&last)) = (after.minimum(), group.iter().max()) {
                    flow.arrive(first, &after, last);
                }
            }
        }
        let mut parked = flow.arriving;
        for (place, set) in parked.iter_mut().enumerate() {
            set.set(place, false);
        }
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

/// The state of the data flow, by place.
struct Flow {
    /// Blocks that lanes may have to run when the thread comes here, this one among them.
    arriving: Vec<FixedBitSet>,
    /// The furthest block that may be the first that has lanes.
    limits: Vec<usize>,
    /// Where something has changed.
    queued: FixedBitSet,
}

impl Flow {
    fn arrive(&mut self, place: usize, set: &FixedBitSet, limit: usize) {
        let known = &mut self.arriving[place];
        if !set.is_subset(known) || limit > self.limits[place] {
            known.union_with(set);
            self.limits[place] = self.limits[place].max(limit);
            self.queued.insert(place);
        }
    }
}

/// May lanes go different ways at the end of the block?
pub fn parts_lanes(function: &Function, block: BlockId) -> bool {
    function.block(block).terminator().is_some_and(|t| match t.op {
        Op::Branch { then, otherwise } => then != otherwise && !function.register(t.srcs[0]).uniform,
        _ => false,
    })
}
