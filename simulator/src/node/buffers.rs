//! GEM handles and buffer objects.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use gencl_i915::{Errno, GemHandle, HostMemory, Result};
use gencl_sync::Mutex;

use super::fence::{BufferFences, Fence};
use gencl_eu::memory::Object;

/// A buffer object with the fences of the batches that use it. Several open devices may have handles of it.
#[derive(Debug)]
pub struct Buffer {
    /// Its memory.
    pub(super) object: Arc<Object>,
    /// The fences of the batches that use it.
    pub(super) fences: Mutex<BufferFences>,
    /// A userptr object's memory has been found accessible; always set for other objects.
    checked: AtomicBool,
}

fn errno(error: &std::io::Error, or: i32) -> Errno {
    Errno(error.raw_os_error().unwrap_or(or))
}

impl Buffer {
    pub(super) fn new(object: Arc<Object>) -> Arc<Buffer> {
        let checked = AtomicBool::new(!object.is_userptr());
        Arc::new(Buffer { object, fences: Mutex::default(), checked })
    }

    /// A buffer whose memory is a file from [`Buffer::file`], perhaps of another process. `EINVAL` for other
    /// files.
    pub fn import(file: OwnedFd) -> Result<Arc<Buffer>> {
        Ok(Buffer::new(Object::import(file.into()).map_err(|error| errno(&error, libc::EINVAL))?))
    }

    /// Size in bytes.
    pub fn size(&self) -> u64 {
        self.object.size()
    }

    /// Whether it is the application's own memory (`DRM_IOCTL_I915_GEM_USERPTR`).
    pub fn is_userptr(&self) -> bool {
        self.object.is_userptr()
    }

    /// A new descriptor of the buffer's file. `ENODEV` for userptr objects, and where buffers are not shared.
    pub fn file(&self) -> Result<OwnedFd> {
        let file = self.object.file().ok_or(Errno(libc::ENODEV))?;
        file.map_err(|error| errno(&error, libc::EMFILE))
    }

    /// A mapping of the whole buffer. `ENODEV` for userptr objects.
    pub fn map(&self) -> Result<HostMemory> {
        let map = self.object.map().ok_or(Errno(libc::ENODEV))?;
        map.map_err(|error| errno(&error, libc::ENOMEM))
    }

    /// The unsignaled fences: with `writers_only` of batches that write, else of all.
    pub fn fences(&self, writers_only: bool) -> Vec<Fence> {
        let fences = self.fences.lock();
        if writers_only { fences.pending_writers() } else { fences.pending() }
    }

    /// Adds a fence that later batches wait for as for that of a batch which uses the buffer.
    pub fn add_fence(&self, fence: &Fence, writes: bool) {
        self.fences.lock().add(fence, writes);
    }

    /// Checks that all memory of a userptr object can be read and written; `EFAULT` if not
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

    /// Tells it that the application may have unmapped `length` bytes of its memory from `address` on:
    /// [`Buffer::check_memory`] checks again.
    pub fn memory_changed(&self, address: u64, length: u64) {
        if self.object.is_userptr() && self.object.overlaps(address, length) {
            self.checked.store(false, Ordering::Release);
        }
    }

    /// Whether it is a userptr object that overlaps a range of addresses.
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
    /// Closed handles: the smallest is reused first, as by the kernel.
    free: BinaryHeap<Reverse<u32>>,
}

impl Buffers {
    /// Creates a handle of a buffer.
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

    /// Closes a handle; `EINVAL` for an unknown one. Batches that use the buffer keep it alive.
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
