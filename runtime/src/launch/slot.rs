//! Memory for one batch and its state, used again and again.

use std::sync::Arc;

use parking_lot::Mutex;

use crate::Result;
use crate::memory::{AddressSpace, Storage, Zone};

/// Bytes of a slot unless more is needed.
const USUAL_SIZE: u64 = 16 * 1024;

/// Slots that are kept for later.
const MAX_IDLE: usize = 32;

/// One buffer for batch and state, and host memory to build them in.
pub(crate) struct Slot {
    pub(crate) storage: Storage,
    pub(crate) dwords: Vec<u32>,
    pub(crate) bytes: Vec<u8>,
}

/// Slots that are not in use.
#[derive(Default)]
pub(crate) struct SlotPool {
    idle: Mutex<Vec<Slot>>,
}

impl SlotPool {
    /// A slot of at least `size` bytes. Errors as [`Storage::new`].
    pub(crate) fn take(&self, space: &Arc<AddressSpace>, size: u64) -> Result<Slot> {
        let mut idle = self.idle.lock();
        if let Some(index) = idle.iter().rposition(|slot| slot.storage.size() >= size) {
            return Ok(idle.swap_remove(index));
        }
        drop(idle);
        let storage = Storage::new(space, Zone::Dynamic, size.max(USUAL_SIZE).next_power_of_two())?;
        Ok(Slot { storage, dwords: Vec::new(), bytes: Vec::new() })
    }

    /// Gives a slot back that the GPU is done with.
    pub(crate) fn give(&self, slot: Slot) {
        let mut idle = self.idle.lock();
        if idle.len() < MAX_IDLE {
            idle.push(slot);
        }
    }
}
