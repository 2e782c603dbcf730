//! Which bytes of the general registers are read later, and which writes have to keep what disabled channels hold.

use fixedbitset::FixedBitSet;
use gencl_eu::file::GRF_BYTES;

use crate::access::Access;
use crate::flow::Flow;
use crate::plan::Plan;

/// A set of bytes of the general registers.
pub type Bytes = FixedBitSet;

/// No bytes.
pub fn no_bytes() -> Bytes {
    Bytes::with_capacity(GRF_BYTES)
}

/// For each write of each instruction: does what its elements held before matter afterwards, in channels that it does not write?
pub type Merging = Vec<Vec<bool>>;

/// What is read later, each at the beginning of every block.
pub struct Liveness {
    /// Bytes that an enabled channel reads as its own.
    pub own: Vec<Bytes>,
    /// Bytes that a thread reads for no channel in particular.
    pub foreign: Vec<Bytes>,
    /// Bytes that a thread reads for channels that own them, parked ones too.
    pub held: Vec<Bytes>,
    /// Which writes keep what disabled channels hold.
    pub merging: Merging,
    /// Which of them do so for reads that belong to no channel.
    pub keeping: Merging,
}

/// Which writes have a channel for which they are not executed, so that they do not end what was there for all.
pub fn is_masked(plan: &Plan<'_>, flow: &Flow, block: usize, index: usize) -> bool {
    !(plan.ops[index].no_mask || plan.variant.full && flow.blocks[block].parked.is_clear())
}

/// What an instruction does to a set that is followed backwards.
struct Effect<'a> {
    /// Bytes are added for these reads.
    uses: &'a dyn Fn(&Access) -> bool,
    /// Bytes are removed for these writes: block, instruction, number.
    kills: &'a dyn Fn(usize, usize, usize) -> bool,
}

impl Effect<'_> {
    fn apply(&self, plan: &Plan<'_>, block: usize, index: usize, live: &mut Bytes) {
        let effects = &plan.effects[index];
        for (number, definition) in effects.definitions.iter().enumerate() {
            if (self.kills)(block, index, number) {
                definition.access.bytes().for_each(|byte| live.set(byte, false));
            }
        }
        for access in effects.uses.iter().flatten().filter(|access| (self.uses)(access)) {
            live.extend(access.bytes());
        }
    }

    /// What is live at the beginning of each block.
    fn solve(&self, plan: &Plan<'_>, flow: &Flow, by_channel: bool) -> Vec<Bytes> {
        let mut entries = vec![no_bytes(); flow.blocks.len()];
        let successors = |block: usize| {
            let block = &flow.blocks[block];
            if by_channel { &block.channel } else { &block.thread }
        };
        let mut predecessors = vec![Vec::new(); flow.blocks.len()];
        for block in 0..flow.blocks.len() {
            successors(block).iter().for_each(|next| predecessors[*next].push(block));
        }
        let mut queued = FixedBitSet::with_capacity(flow.blocks.len());
        queued.insert_range(..);
        let mut open: Vec<usize> = (0..flow.blocks.len()).collect();
        while let Some(block) = open.pop() {
            queued.set(block, false);
            let mut live = no_bytes();
            successors(block).iter().for_each(|next| live.union_with(&entries[*next]));
            for index in (flow.blocks[block].start..flow.blocks[block].end).rev() {
                self.apply(plan, block, index, &mut live);
            }
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
}

impl Liveness {
    /// Follows all reads. `shared` are writes of which another analysis knows that channels do not keep to themselves.
    pub fn new(plan: &Plan<'_>, flow: &Flow, shared: &dyn Fn(usize, usize) -> bool) -> Liveness {
        let partial = |index: usize, number: usize| plan.effects[index].definitions[number].partial;
        let (is_own, is_foreign) =
            (|access: &Access| access.owner.is_some(), |access: &Access| access.owner.is_none());
        let own = Effect {
            uses: &is_own,
            kills: &|_, index, number| !partial(index, number) && !shared(index, number),
        };
        let of_foreign = Effect {
            uses: &is_foreign,
            kills: &|block, index, number| !partial(index, number) && !is_masked(plan, flow, block, index),
        };
        let own = own.solve(plan, flow, true);
        let foreign = of_foreign.solve(plan, flow, false);
        let mut merging: Merging =
            plan.effects.iter().map(|e| e.definitions.iter().map(|d| d.partial).collect()).collect();
        let mut keeping: Merging = plan.effects.iter().map(|e| vec![false; e.definitions.len()]).collect();
        for (number, block) in flow.blocks.iter().enumerate() {
            // What parked channels still need of their own.
            let mut needed = no_bytes();
            block.parked.ones().for_each(|target| needed.union_with(&own[flow.targets[target]]));
            let mut live = no_bytes();
            block.thread.iter().for_each(|next| live.union_with(&foreign[*next]));
            for index in (block.start..block.end).rev() {
                let masked = is_masked(plan, flow, number, index);
                for (k, definition) in plan.effects[index].definitions.iter().enumerate() {
                    let any = |set: &Bytes| definition.access.bytes().any(|byte| set.contains(byte));
                    keeping[index][k] = (masked || definition.partial) && any(&live);
                    merging[index][k] |= masked && (shared(index, k) || keeping[index][k] || any(&needed));
                }
                of_foreign.apply(plan, number, index, &mut live);
            }
        }
        let held = Effect { uses: &is_own, kills: &|_, index, number| !merging[index][number] };
        let held = held.solve(plan, flow, false);
        Liveness { own, foreign, held, merging, keeping }
    }
}
