//! Slots: reusable buffers for a batch and its state.

use std::sync::Arc;

use gencl_i915::ExecObject;
use parking_lot::Mutex;

use super::assemble::BatchedLaunch;
use crate::Result;
use crate::memory::{AddressSpace, SharedList, Storage, Zone};

/// Smallest size of a slot in bytes.
const MIN_SIZE: u64 = 256 * 1024;

/// Number of slots kept for reuse.
const MAX_IDLE: usize = 8;

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
    /// Shared virtual memory that all launches may access, if it is in the list, and how many objects it added.
    pub(super) reachable: Option<SharedList>,
    pub(super) reachable_objects: usize,
    /// The launches of the batch.
    pub(super) launches: Vec<BatchedLaunch>,
    /// Memory of hardware threads, which the queue may replace while the batch runs.
    pub(super) kept: Vec<Arc<Storage>>,
    /// Program-scope variables with pointers that the kernel driver relocates.
    pub(super) relocated: Vec<Arc<Storage>>,
}

/// Unused slots.
#[derive(Default)]
pub(crate) struct SlotPool {
    idle: Mutex<Vec<Slot>>,
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
            reachable: None,
            reachable_objects: 0,
            launches: Vec::new(),
            kept: Vec::new(),
            relocated: Vec::new(),
        })
    }

    /// Returns a slot that the GPU no longer uses.
    pub(super) fn give(&self, mut slot: Slot) {
        slot.dwords.clear();
        slot.state.clear();
        slot.relocations.clear();
        slot.objects.clear();
        slot.reachable = None;
        slot.reachable_objects = 0;
        slot.launches.clear();
        slot.kept.clear();
        slot.relocated.clear();
        let mut idle = self.idle.lock();
        if idle.len() < MAX_IDLE {
            idle.push(slot);
        }
    }
}
