//! Shared virtual memory (SVM and USM): host and devices use the same address for an allocation. The simulator
//! accesses the host's memory with the host's atomic operations, so it is fine-grained there, whatever the
//! application asks for.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};

use gencl_i915::HostMemory;
use parking_lot::Mutex;

use super::va::{GUARD, PAGE};
use super::{Allocation, BufferRect, PlacedRect};
use crate::conflicts::{Access, AccessKind};
use crate::context::DeviceContext;
use crate::{Code, Device, Error, Result};

/// Largest alignment of an allocation in bytes: that of the largest type of OpenCL C.
pub const MAX_ALIGNMENT: usize = 128;

/// The function that made an allocation, which decides about queries. The memory is the same for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SharedKind {
    /// `clSVMAlloc`
    Svm,
    /// `clHostMemAllocINTEL`
    Host,
    /// `clDeviceMemAllocINTEL`
    Device,
    /// `clSharedMemAllocINTEL`
    Shared,
}

/// An allocation. It is kept, also when freed by the application, until the last command that uses it ends.
pub struct SharedMemory {
    storage: Arc<Allocation>,
    size: usize,
    kind: SharedKind,
    device: Option<Arc<Device>>,
    /// `CL_MEM_ALLOC_FLAGS_INTEL`; hints without effect.
    flags: u64,
    /// Dropped with the allocation, which wakes a thread in [`SharedMemory::drop_and_wait`].
    end: Mutex<Option<Sender<()>>>,
}

impl std::fmt::Debug for SharedMemory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SharedMemory({:#x}, {} bytes)", self.address(), self.size)
    }
}

impl SharedMemory {
    /// Zeroed memory, which all of `devices` with such memory can access. `MEM_OBJECT_ALLOCATION_FAILURE`.
    pub(crate) fn new(
        devices: &[Arc<DeviceContext>],
        kind: SharedKind,
        device: Option<&Arc<Device>>,
        flags: u64,
        size: usize,
    ) -> Result<Arc<Self>> {
        let no_memory =
            |why: String| Error::new(Code::MemObjectAllocationFailure, format!("{size} bytes: {why}"));
        // Unused addresses on both sides separate allocations. Untouched pages take no memory.
        let room = size.checked_add(3 * GUARD as usize).ok_or_else(|| no_memory("too many".into()))?;
        let mapping = HostMemory::zeros(room).map_err(|error| no_memory(error.to_string()))?;
        let offset = mapping.address().align_offset(GUARD as usize);
        let memory = mapping.slice(offset, size.next_multiple_of(PAGE as usize));
        let storage = Arc::new(Allocation::shared(devices, &memory)?);
        Ok(Arc::new(Self { storage, size, kind, device: device.cloned(), flags, end: Mutex::default() }))
    }

    /// Address for host and devices.
    pub fn address(&self) -> usize {
        self.storage.memory().address() as usize
    }

    /// The function that made the allocation.
    pub fn kind(&self) -> SharedKind {
        self.kind
    }

    /// The device that it was made for. The others can access it as well.
    pub fn device(&self) -> Option<&Arc<Device>> {
        self.device.as_ref()
    }

    /// `CL_MEM_ALLOC_FLAGS_INTEL`
    pub fn flags(&self) -> u64 {
        self.flags
    }

    /// Bytes.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Waits until the allocation, of which this is the caller's last reference, has no other.
    pub(crate) fn drop_and_wait(self: Arc<Self>) {
        let (sender, end) = channel();
        *self.end.lock() = Some(sender);
        drop(self);
        // Nothing is sent: the receiver fails when the memory, and with it the sender, is dropped.
        let _ = end.recv();
    }

    /// A command's access to `size` bytes from an address on, for checks.
    pub(crate) fn access(&self, kind: AccessKind, address: usize, size: usize) -> Option<Access> {
        let begin = address - self.address();
        let rect = BufferRect { origin: [begin, 0, 0], row_pitch: size, slice_pitch: size };
        let place = PlacedRect { begin: 0, rect, region: [size, 1, 1] };
        Access::of_rect(kind, self.storage.number(), place)
    }

    pub(crate) fn storage(&self) -> &Arc<Allocation> {
        &self.storage
    }
}

/// All allocations that a context has at a time, by increasing address.
pub(crate) type SharedList = Arc<[Arc<SharedMemory>]>;

/// The allocations of a context.
#[derive(Debug, Default)]
pub(crate) struct SharedMemories(Mutex<Allocations>);

#[derive(Debug, Default)]
struct Allocations {
    by_address: BTreeMap<usize, Arc<SharedMemory>>,
    /// All of them, for launches: made when the first one asks, and kept until an allocation comes or goes.
    list: Option<SharedList>,
}

impl SharedMemories {
    /// Adds an allocation.
    pub(crate) fn insert(&self, memory: &Arc<SharedMemory>) {
        let mut all = self.0.lock();
        all.list = None;
        all.by_address.insert(memory.address(), memory.clone());
    }

    /// Removes the allocation that begins at an address. Memory may be freed when what is returned is dropped, which takes a while.
    pub(crate) fn remove(&self, address: usize) -> (Option<Arc<SharedMemory>>, Option<SharedList>) {
        let mut all = self.0.lock();
        let removed = all.by_address.remove(&address);
        let list = removed.as_ref().and_then(|_| all.list.take());
        (removed, list)
    }

    /// All allocations, by increasing address; the same list until one comes or goes. `None`: there are none.
    pub(crate) fn all(&self) -> Option<SharedList> {
        let mut all = self.0.lock();
        let Allocations { by_address, list } = &mut *all;
        if by_address.is_empty() {
            return None;
        }
        Some(list.get_or_insert_with(|| by_address.values().cloned().collect()).clone())
    }

    /// The allocation that an address is in.
    pub(crate) fn at(&self, address: usize) -> Option<Arc<SharedMemory>> {
        let all = self.0.lock();
        let (_, memory) = all.by_address.range(..=address).next_back()?;
        (address - memory.address() < memory.size).then(|| memory.clone())
    }
}
