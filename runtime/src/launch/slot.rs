//! Memory for one batch and its state, used again and again.

use std::sync::Arc;

use gencl_i915::ExecObject;
use parking_lot::Mutex;

use super::assemble::Placed;
use crate::Result;
use crate::memory::{AddressSpace, Storage, Zone};

/// Bytes of a slot unless more is needed.
const USUAL_SIZE: u64 = 256 * 1024;

/// Slots that are kept for later.
const MAX_IDLE: usize = 8;

/// One buffer for batch and state, and host memory to build them in.
pub(crate) struct Slot {
    pub(super) storage: Arc<Storage>,
    /// The batch.
    pub(super) dwords: Vec<u32>,
    /// The batch as bytes, when it is ready.
    pub(super) commands: Vec<u8>,
    /// The state behind it.
    pub(super) state: Vec<u8>,
    /// Where in the slot, in bytes, addresses of buffers are, if the kernel driver places them.
    pub(super) relocations: Vec<u32>,
    /// What the batch uses.
    pub(super) objects: Vec<ExecObject>,
    /// Its launches.
    pub(super) launches: Vec<Placed>,
    /// Memory of its launches that nobody else may keep: that of the hardware threads.
    pub(super) kept: Vec<Arc<Storage>>,
    /// Variables of programs with pointers in them, if the kernel driver places them.
    pub(super) relocated: Vec<Arc<Storage>>,
}

/// Slots that are not in use.
#[derive(Default)]
pub(crate) struct SlotPool {
    idle: Mutex<Vec<Slot>>,
}

impl SlotPool {
    /// An empty slot of at least `size` bytes. Errors as [`Storage::new`].
    pub(super) fn take(&self, space: &Arc<AddressSpace>, size: u64) -> Result<Slot> {
        let mut idle = self.idle.lock();
        if let Some(index) = idle.iter().rposition(|slot| slot.storage.size() >= size) {
            return Ok(idle.swap_remove(index));
        }
        drop(idle);
        let storage = Storage::new(space, Zone::Dynamic, size.max(USUAL_SIZE).next_power_of_two())?;
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

    /// Gives a slot back that the GPU is done with.
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
