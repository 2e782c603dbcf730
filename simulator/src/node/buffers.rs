//! GEM handles, and the buffers behind them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use gencl_i915::{Errno, GemHandle, HostMemory, Result};
use gencl_sync::Mutex;

use super::fence::{Fence, Users};
use gencl_eu::memory::Object;

/// A buffer object and its use. Handles of several open devices may stand for one.
#[derive(Debug)]
pub struct Buffer {
    /// Its memory.
    pub(super) object: Arc<Object>,
    /// The batches that use it.
    pub(super) users: Mutex<Users>,
    /// The application's memory is known to be there. Others always are.
    checked: AtomicBool,
}

fn errno(error: &std::io::Error, or: i32) -> Errno {
    Errno(error.raw_os_error().unwrap_or(or))
}

impl Buffer {
    pub(super) fn new(object: Arc<Object>) -> Arc<Buffer> {
        let checked = AtomicBool::new(!object.is_userptr());
        Arc::new(Buffer { object, users: Mutex::default(), checked })
    }

    /// A buffer of the memory of a file that [`Buffer::file`] gave, perhaps to another process. `EINVAL` for
    /// other files.
    pub fn import(file: OwnedFd) -> Result<Arc<Buffer>> {
        Ok(Buffer::new(Object::import(file.into()).map_err(|error| errno(&error, libc::EINVAL))?))
    }

    /// Bytes.
    pub fn size(&self) -> u64 {
        self.object.size()
    }

    /// Is it the application's own memory?
    pub fn is_userptr(&self) -> bool {
        self.object.is_userptr()
    }

    /// A new descriptor of the buffer's file. `ENODEV` for the application's own memory, and where buffers
    /// are not shared.
    pub fn file(&self) -> Result<OwnedFd> {
        let file = self.object.file().ok_or(Errno(libc::ENODEV))?;
        file.map_err(|error| errno(&error, libc::EMFILE))
    }

    /// All of it, in a mapping. `ENODEV` for the application's own memory.
    pub fn map(&self) -> Result<HostMemory> {
        let map = self.object.map().ok_or(Errno(libc::ENODEV))?;
        map.map_err(|error| errno(&error, libc::ENOMEM))
    }

    /// Batches that have not ended: those that write, or all.
    pub fn fences(&self, writers_only: bool) -> Vec<Fence> {
        let users = self.users.lock();
        if writers_only { users.pending_writers() } else { users.pending() }
    }

    /// Further batches wait for a fence, as for a batch that uses the buffer.
    pub fn add_fence(&self, fence: &Fence, writes: bool) {
        self.users.lock().add(fence, writes);
    }

    /// `EFAULT` unless all of the application's memory can be read and written
    /// (`i915_gem_object_userptr_submit_init`).
    pub fn check_memory(&self) -> Result<()> {
        if self.checked.load(Ordering::Acquire) {
            return Ok(());
        }
        if !self.object.is_accessible() {
            return Err(Errno(libc::EFAULT));
        }
        self.checked.store(true, Ordering::Release);
        Ok(())
    }

    /// The application's memory from `address` on may have gone: [`Buffer::check_memory`] looks again.
    pub fn memory_changed(&self, address: u64, length: u64) {
        if self.object.is_userptr() && self.object.overlaps(address, length) {
            self.checked.store(false, Ordering::Release);
        }
    }

    /// Is it the application's memory, and some of it in this range?
    pub fn is_userptr_within(&self, address: u64, length: u64) -> bool {
        self.object.is_userptr() && self.object.overlaps(address, length)
    }
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
    pub fn insert(&self, buffer: Arc<Buffer>) -> GemHandle {
        let mut table = self.table.lock();
        match table.free.pop() {
            Some(Reverse(handle)) => {
                table.slots[handle as usize - 1] = Some(buffer);
                GemHandle(handle)
            }
            None => {
                table.slots.push(Some(buffer));
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

    /// All buffers.
    pub fn all(&self) -> Vec<Arc<Buffer>> {
        self.table.lock().slots.iter().flatten().cloned().collect()
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
