//! Which bytes of the general registers are read later, and which writes have to keep what disabled channels hold.

use fixedbitset::FixedBitSet;
use gencl_eu::file::GRF_BYTES;

use crate::access::Effects;
use crate::flow::{Block, Flow};
use crate::plan::Plan;

/// A set of bytes of the general registers.
pub type Bytes = FixedBitSet;

/// No bytes.
pub fn no_bytes() -> Bytes {
    Bytes::with_capacity(GRF_BYTES)
}

/// For each write of each instruction, whether something holds.
pub type Merging = Vec<Vec<bool>>;

/// The channels that read each byte of the general registers as their own, as bits.
#[derive(Clone, PartialEq, Eq)]
struct Readers(Vec<u32>);

impl Readers {
    fn bytes(&self) -> Bytes {
        self.0.iter().enumerate().filter(|(_, channels)| **channels != 0).map(|(byte, _)| byte).collect()
    }
}

/// What is live at one place.
pub trait Live: Clone + PartialEq {
    /// Nothing.
    fn nothing() -> Self;
    /// Adds what is live at another place.
    fn union_with(&mut self, other: &Self);
}

impl Live for Bytes {
    fn nothing() -> Bytes {
        no_bytes()
    }

    fn union_with(&mut self, other: &Bytes) {
        FixedBitSet::union_with(self, other);
    }
}

impl Live for Readers {
    fn nothing() -> Readers {
        Readers(vec![0; GRF_BYTES])
    }

    fn union_with(&mut self, other: &Readers) {
        self.0.iter_mut().zip(&other.0).for_each(|(own, other)| *own |= other);
    }
}

/// What is read later, each at the beginning of every block.
pub struct Liveness {
    /// Bytes that an enabled channel reads as its own.
    pub own: Vec<Bytes>,
    /// Bytes that a thread reads for no channel in particular.
    pub foreign: Vec<Bytes>,
    /// Bytes that a thread reads for channels that own them, parked ones too.
    pub held: Vec<Bytes>,
    /// Which writes keep what disabled channels hold: it matters afterwards.
    pub merging: Merging,
    /// Which of them do so for reads that belong to no channel.
    pub keeping: Merging,
    /// Which of them do so for reads of other channels than those that write.
    pub shared: Merging,
}

/// Which writes have a channel for which they are not executed, so that they do not end what was there for all.
pub fn is_masked(plan: &Plan<'_>, flow: &Flow, block: usize, index: usize) -> bool {
    !(plan.ops[index].no_mask || plan.variant.full && flow.blocks[block].parked.is_clear())
}

/// What is live at the beginning of each block, by what blocks do to what is live at their end.
fn solve<L: Live>(flow: &Flow, by_channel: bool, apply: impl Fn(usize, &mut L)) -> Vec<L> {
    let mut entries = vec![L::nothing(); flow.blocks.len()];
    let mut predecessors = vec![Vec::new(); flow.blocks.len()];
    for (number, block) in flow.blocks.iter().enumerate() {
        block.successors(by_channel).iter().for_each(|next| predecessors[*next].push(number));
    }
    let mut queued = FixedBitSet::with_capacity(flow.blocks.len());
    queued.insert_range(..);
    let mut open: Vec<usize> = (0..flow.blocks.len()).collect();
    while let Some(block) = open.pop() {
        queued.set(block, false);
        let mut live = behind(&flow.blocks[block], by_channel, &entries);
        apply(block, &mut live);
        if live != entries[block] {
            entries[block] = live;
            for before in &predecessors[block] {
                if !queued.put(*before) {
                    open.push(*before);
                }
            }
        }
    }
    entries
}

/// What is live at the end of a block, by what is at the beginnings of those behind it.
pub fn behind<L: Live>(block: &Block, by_channel: bool, entries: &[L]) -> L {
    let mut live = L::nothing();
    block.successors(by_channel).iter().for_each(|next| live.union_with(&entries[*next]));
    live
}

/// Follows an instruction backwards, with the bytes of the writes that end what was there and those of the reads that count.
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

/// The same for channels, of which each ends what was there for itself only, unless all execute the instruction.
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
    /// Follows all reads.
    pub fn new(plan: &Plan<'_>, flow: &Flow) -> Liveness {
        let backwards = |block: usize| (flow.blocks[block].start..flow.blocks[block].end).rev();
        let masked = |block, index| is_masked(plan, flow, block, index);
        let readers = solve(flow, true, |block, live: &mut Readers| {
            backwards(block)
                .for_each(|index| step_channels(&plan.effects[index], masked(block, index), live));
        });
        let own: Vec<Bytes> = readers.iter().map(Readers::bytes).collect();
        let step_foreign = |block: usize, index: usize, live: &mut Bytes| {
            let effects = &plan.effects[index];
            let masked = masked(block, index);
            step(effects, live, |k| !masked && !effects.definitions[k].partial, false);
        };
        let foreign = solve(flow, false, |block, live: &mut Bytes| {
            backwards(block).for_each(|index| step_foreign(block, index, live));
        });
        let none: Merging = plan.effects.iter().map(|e| vec![false; e.definitions.len()]).collect();
        let [mut merging, mut keeping, mut shared] = [none.clone(), none.clone(), none];
        for (number, block) in flow.blocks.iter().enumerate() {
            // What parked channels still need of their own.
            let mut needed = no_bytes();
            block.parked.ones().for_each(|target| needed.union_with(&own[flow.targets[target]]));
            let mut live = behind(block, false, &foreign);
            let mut readers = behind(block, true, &readers);
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
        let held = solve(flow, false, |block, live: &mut Bytes| {
            backwards(block).for_each(|index| step(&plan.effects[index], live, |k| !merging[index][k], true));
        });
        Liveness { own, foreign, held, merging, keeping, shared }
    }
}
