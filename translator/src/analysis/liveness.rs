//! Liveness of the general registers, byte by byte, and which writes have to merge with what disabled channels hold.
//!
//! There are two kinds of it. Per-channel liveness: a byte is read by the channel that owns it, and flows along the edges of that
//! channel. Cross-channel liveness: a byte is read for no channel in particular, and flows along the edges of the thread.

use fixedbitset::FixedBitSet;
use gencl_eu::file::GRF_BYTES;
use gencl_ir_support::dataflow;

use crate::analysis::access::Effects;
use crate::analysis::flow::{Block, Flow};
use crate::analysis::plan::Plan;

/// A set of bytes of the general registers.
pub type Bytes = FixedBitSet;

/// No bytes.
pub fn no_bytes() -> Bytes {
    Bytes::with_capacity(GRF_BYTES)
}

/// A property of each write of each instruction.
pub type Merging = Vec<Vec<bool>>;

/// For each byte of the general registers the channels for which it is live, as bits.
#[derive(Clone, PartialEq, Eq)]
struct Readers(Vec<u32>);

impl Readers {
    fn bytes(&self) -> Bytes {
        self.0.iter().enumerate().filter(|(_, channels)| **channels != 0).map(|(byte, _)| byte).collect()
    }
}

/// A live set.
trait Live: Clone {
    /// The empty set.
    fn nothing() -> Self;
    /// Set union. Returns whether the set has grown.
    fn join(&mut self, other: &Self) -> bool;
}

impl Live for Bytes {
    fn nothing() -> Bytes {
        no_bytes()
    }

    fn join(&mut self, other: &Bytes) -> bool {
        dataflow::union(self, other)
    }
}

impl Live for Readers {
    fn nothing() -> Readers {
        Readers(vec![0; GRF_BYTES])
    }

    fn join(&mut self, other: &Readers) -> bool {
        let mut changed = 0;
        for (own, other) in self.0.iter_mut().zip(&other.0) {
            changed |= other & !*own;
            *own |= other;
        }
        changed != 0
    }
}

/// Live-in bytes of each block, and how writes merge.
pub struct Liveness {
    /// Per-channel live-in bytes of enabled channels.
    pub own: Vec<Bytes>,
    /// Cross-channel live-in bytes.
    pub foreign: Vec<Bytes>,
    /// Per-channel live-in bytes along the edges of the thread: of parked channels, too.
    pub held: Vec<Bytes>,
    /// Which writes merge with what disabled channels hold, as that is live.
    pub merging: Merging,
    /// Which of them do so for cross-channel uses.
    pub keeping: Merging,
    /// Which of them do so for per-channel uses of other channels than those that write.
    pub shared: Merging,
}

/// Whether an instruction may be disabled for some channel, so that its writes do not kill the previous value for all.
pub fn is_masked(plan: &Plan<'_>, flow: &Flow, block: usize, index: usize) -> bool {
    !(plan.ops[index].no_mask || plan.variant.full && flow.blocks[block].parked.is_clear())
}

/// Live-out sets of each block; `transfer` turns a live-out set into the live-in set.
fn solve<L: Live>(flow: &Flow, by_channel: bool, transfer: impl Fn(usize, &mut L)) -> Vec<L> {
    let mut ends = vec![L::nothing(); flow.blocks.len()];
    let mut predecessors = vec![Vec::new(); flow.blocks.len()];
    for (number, block) in flow.blocks.iter().enumerate() {
        block.successors(by_channel).iter().for_each(|next| predecessors[*next].push(number));
    }
    let before = |block: usize| predecessors[block].iter().copied();
    dataflow::solve((0..flow.blocks.len()).rev(), before, &mut ends, transfer, L::join);
    ends
}

/// Live-in sets of each block, from their live-out sets.
fn beginnings<L: Live>(ends: &[L], transfer: impl Fn(usize, &mut L)) -> impl Iterator<Item = L> {
    ends.iter().enumerate().map(move |(block, end)| {
        let mut live = end.clone();
        transfer(block, &mut live);
        live
    })
}

/// Live-out bytes of a block, from the live-in bytes of its successors.
pub fn live_out(block: &Block, by_channel: bool, entries: &[Bytes]) -> Bytes {
    let mut live = no_bytes();
    block.successors(by_channel).iter().for_each(|next| live.union_with(&entries[*next]));
    live
}

/// The transfer function of an instruction: kills, then uses that are per channel or not.
fn step(effects: &Effects, live: &mut Bytes, kills: impl Fn(usize) -> bool, is_own: bool) {
    for (number, definition) in effects.definitions.iter().enumerate() {
        if kills(number) {
            definition.access.bytes().for_each(|byte| live.set(byte, false));
        }
    }
    for access in effects.uses.iter().flatten().filter(|access| access.owner.is_some() == is_own) {
        live.extend(access.bytes());
    }
}

/// The same by channel: a masked write kills for the channel that owns the byte only.
fn step_channels(effects: &Effects, masked: bool, readers: &mut Readers) {
    for definition in effects.definitions.iter().filter(|definition| !definition.partial) {
        for (byte, owner) in definition.access.owned_bytes() {
            readers.0[byte] &= others(owner.filter(|_| masked));
        }
    }
    for access in effects.uses.iter().flatten() {
        for (byte, owner) in access.owned_bytes() {
            readers.0[byte] |= owner.map_or(0, |channel| 1 << channel);
        }
    }
}

/// All channels but the owner of a byte.
fn others(owner: Option<usize>) -> u32 {
    owner.map_or(0, |channel| !(1 << channel))
}

impl Liveness {
    /// Solves the analyses.
    pub fn new(plan: &Plan<'_>, flow: &Flow) -> Liveness {
        let backwards = |block: usize| (flow.blocks[block].start..flow.blocks[block].end).rev();
        let masked = |block, index| is_masked(plan, flow, block, index);
        let step_own = |block: usize, live: &mut Readers| {
            backwards(block)
                .for_each(|index| step_channels(&plan.effects[index], masked(block, index), live));
        };
        let readers = solve(flow, true, step_own);
        let own: Vec<Bytes> = beginnings(&readers, step_own).map(|readers| readers.bytes()).collect();
        let step_foreign = |block: usize, index: usize, live: &mut Bytes| {
            let effects = &plan.effects[index];
            let masked = masked(block, index);
            step(effects, live, |k| !masked && !effects.definitions[k].partial, false);
        };
        let step_all_foreign = |block: usize, live: &mut Bytes| {
            backwards(block).for_each(|index| step_foreign(block, index, live));
        };
        let foreign_ends = solve(flow, false, step_all_foreign);
        let foreign = beginnings(&foreign_ends, step_all_foreign).collect();
        let none: Merging = plan.effects.iter().map(|e| vec![false; e.definitions.len()]).collect();
        let [mut merging, mut keeping, mut shared] = [none.clone(), none.clone(), none];
        for (number, block) in flow.blocks.iter().enumerate() {
            // Per-channel live-in bytes of parked channels.
            let mut needed = no_bytes();
            block.parked.ones().for_each(|target| needed.union_with(&own[flow.targets[target]]));
            let (mut live, mut readers) = (foreign_ends[number].clone(), readers[number].clone());
            for index in backwards(number) {
                let masked = masked(number, index);
                for (k, definition) in plan.effects[index].definitions.iter().enumerate() {
                    let any = |set: &Bytes| definition.access.bytes().any(|byte| set.contains(byte));
                    let by_others = |(byte, owner)| readers.0[byte] & others(owner) != 0;
                    shared[index][k] = masked && definition.access.owned_bytes().any(by_others);
                    keeping[index][k] = (masked || definition.partial) && any(&live);
                    merging[index][k] = definition.partial
                        || masked && (shared[index][k] || keeping[index][k] || any(&needed));
                }
                step_channels(&plan.effects[index], masked, &mut readers);
                step_foreign(number, index, &mut live);
            }
        }
        let step_held = |block: usize, live: &mut Bytes| {
            backwards(block).for_each(|index| step(&plan.effects[index], live, |k| !merging[index][k], true));
        };
        let held = beginnings(&solve(flow, false, step_held), step_held).collect();
        Liveness { own, foreign, held, merging, keeping, shared }
    }
}
