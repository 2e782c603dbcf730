//! GEM handles.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use gencl_i915::{Errno, GemHandle, Result};
use parking_lot::Mutex;

use super::timeline::Users;
use crate::memory::Object;

/// A buffer object and its use.
#[derive(Debug)]
pub struct Buffer {
    /// Its memory.
    pub object: Arc<Object>,
    /// The batches that use it.
    pub users: Mutex<Users>,
}

/// The handles of one open device.
#[derive(Debug, Default)]
pub struct Buffers {
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    /// Handle `n` is at `n - 1`.
    slots: Vec<Option<Arc<Buffer>>>,
    /// Handles that were closed: the smallest is given out next, as the kernel does.
    free: BinaryHeap<Reverse<u32>>,
}

impl Buffers {
    /// A new handle.
    pub fn insert(&self, object: Arc<Object>) -> GemHandle {
        let buffer = Some(Arc::new(Buffer { object, users: Mutex::default() }));
        let mut table = self.table.lock();
        match table.free.pop() {
            Some(Reverse(handle)) => {
                table.slots[handle as usize - 1] = buffer;
                GemHandle(handle)
            }
            None => {
                table.slots.push(buffer);
                GemHandle(table.slots.len() as u32)
            }
        }
    }

    /// The buffer of a handle, or `ENOENT`.
    pub fn get(&self, handle: GemHandle) -> Result<Arc<Buffer>> {
        let table = self.table.lock();
        let slot = (handle.0 as usize).checked_sub(1).and_then(|index| table.slots.get(index));
        slot.and_then(Option::clone).ok_or(Errno(libc::ENOENT))
    }

    /// Closes a handle; `EINVAL` for an unknown one. Batches that use the buffer keep it.
    pub fn remove(&self, handle: GemHandle) -> Result<()> {
        let mut table = self.table.lock();
        let slot = (handle.0 as usize).checked_sub(1).and_then(|index| table.slots.get_mut(index));
        let removed = slot.and_then(Option::take).ok_or(Errno(libc::EINVAL))?;
        table.free.push(Reverse(handle.0));
        drop(table);
        drop(removed);
        Ok(())
    }
}
