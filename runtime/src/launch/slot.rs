//! Slots: reusable buffers for a batch and its state.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use gencl_i915::{ExecObject, ObjectFlags};
use parking_lot::Mutex;

use super::check_buffer::CheckBuffer;
use super::race_buffer::RaceBuffer;
use crate::Result;
use crate::memory::{AddressSpace, Storage, Zone};
use crate::printf::PrintfBuffer;

/// Smallest size of a slot in bytes.
const MIN_SIZE: u64 = 256 * 1024;

/// Number of slots kept for reuse.
const MAX_IDLE: usize = 8;

/// Bytes for commands at the beginning of a slot. A launch takes some 200, one of eight walkers 900.
pub(super) const COMMANDS: usize = 64 * 1024;

/// Alignment of state in a slot, in bytes.
pub(super) const ALIGNMENT: usize = 64;

/// A launch in a batch.
pub(super) struct BatchedLaunch {
    /// Offset in the slot of its timestamps: begin and end, 8 bytes each.
    pub(super) stamps: usize,
    pub(super) printf: Option<PrintfBuffer>,
    pub(super) check: Option<CheckBuffer>,
    pub(super) races: Option<RaceBuffer>,
}

impl BatchedLaunch {
    /// Whether it has a buffer of its own, that no other launch writes to.
    pub(super) fn has_buffer(&self) -> bool {
        self.printf.is_some() || self.check.is_some() || self.races.is_some()
    }
}

/// A buffer for a batch and its state, and host memory to build them in.
pub(crate) struct Slot {
    pub(super) storage: Arc<Storage>,
    /// The commands.
    pub(super) dwords: Vec<u32>,
    /// The commands as bytes, once complete.
    pub(super) commands: Vec<u8>,
    /// The state, which is behind the commands.
    pub(super) state: Vec<u8>,
    /// Offsets in the slot, in bytes, of addresses that the kernel driver relocates.
    pub(super) relocations: Vec<u32>,
    /// The validation list: buffers that the batch uses.
    pub(super) objects: Vec<ExecObject>,
    /// The launches of the batch.
    pub(super) launches: Vec<BatchedLaunch>,
    /// Memory of hardware threads, which the queue may replace while the batch runs.
    pub(super) kept: Vec<Arc<Storage>>,
    /// Program-scope variables with pointers that the kernel driver relocates.
    pub(super) relocated: Vec<Arc<Storage>>,
}

impl Slot {
    /// Allocates `size` bytes of state, aligned. Returns the offset in the state.
    pub(super) fn grow(&mut self, size: usize) -> usize {
        let begin = self.state.len();
        self.state.resize(begin + size.next_multiple_of(ALIGNMENT), 0);
        begin
    }

    /// Adds a buffer to the validation list, if it is not there.
    pub(super) fn add(&mut self, storage: &Storage, flags: ObjectFlags) {
        match self.objects.iter_mut().find(|object| object.handle == storage.handle()) {
            Some(object) => object.flags |= flags,
            None => self.objects.push(storage.exec_object(flags)),
        }
    }
}

/// Unused slots.
#[derive(Default)]
pub(crate) struct SlotPool {
    idle: Mutex<Vec<Slot>>,
    /// Number of slots that are kept with what is in them.
    kept: Arc<AtomicUsize>,
}

impl SlotPool {
    /// An empty slot of at least `size` bytes. Errors: see [`Storage::new`].
    pub(super) fn take(&self, space: &Arc<AddressSpace>, size: u64) -> Result<Slot> {
        let mut idle = self.idle.lock();
        if let Some(index) = idle.iter().rposition(|slot| slot.storage.size() >= size) {
            return Ok(idle.swap_remove(index));
        }
        drop(idle);
        let storage = Storage::new(space, Zone::Dynamic, size.max(MIN_SIZE).next_power_of_two())?;
        Ok(Slot {
            storage: Arc::new(storage),
            dwords: Vec::new(),
            commands: Vec::new(),
            state: Vec::new(),
            relocations: Vec::new(),
            objects: Vec::new(),
            launches: Vec::new(),
            kept: Vec::new(),
            relocated: Vec::new(),
        })
    }

    /// The number of slots that are kept with what is in them.
    pub(super) fn kept(&self) -> &Arc<AtomicUsize> {
        &self.kept
    }

    /// Returns a slot that the GPU no longer uses.
    pub(super) fn give(&self, mut slot: Slot) {
        slot.dwords.clear();
        slot.state.clear();
        slot.relocations.clear();
        slot.objects.clear();
        slot.launches.clear();
        slot.kept.clear();
        slot.relocated.clear();
        let mut idle = self.idle.lock();
        if idle.len() < MAX_IDLE {
            idle.push(slot);
        }
    }
}

/// Writes dwords at the beginning of `bytes`.
pub(super) fn put_dwords(bytes: &mut [u8], dwords: &[u32]) {
    for (bytes, dword) in bytes.chunks_exact_mut(4).zip(dwords) {
        bytes.copy_from_slice(&dword.to_le_bytes());
    }
}
