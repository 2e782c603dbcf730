//! Buffer objects with an address: the address space of a context and what is placed in it.

use std::sync::Arc;

use gencl_i915::{ExecObject, GemBuffer, GemHandle, HostMemory, ObjectFlags, RenderNode};
use parking_lot::Mutex;

use super::va::{PAGE, RangeAllocator};
use crate::{Code, Error, Result};

/// Parts of the address space. The commands that point to heaps have 32 bits for an offset from a base
/// address, which is the beginning of the zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Zone {
    /// Scratch memory: offsets from the general state base, which is 0.
    Scratch,
    /// Machine code.
    Instructions,
    /// Batches, interface descriptors, constants to push.
    Dynamic,
    /// Everything else, above 4 GiB.
    Buffers,
}

impl Zone {
    const ALL: [Self; 4] = [Self::Scratch, Self::Instructions, Self::Dynamic, Self::Buffers];

    /// First address. Nothing is ever placed at 0, so that a null pointer faults.
    pub(crate) const fn base(self) -> u64 {
        match self {
            Self::Scratch => 0x0010_0000,
            Self::Instructions => 0x4000_0000,
            Self::Dynamic => 0x8000_0000,
            Self::Buffers => 0x1_0000_0000,
        }
    }

    /// One past the last address: of the low zones the next one's beginning, a page below the end of the 48-bit space
    /// for the last (addresses beyond bit 47 would have to be sign-extended).
    pub(crate) const fn end(self) -> u64 {
        match self {
            Self::Scratch => Self::Instructions.base(),
            Self::Instructions => Self::Dynamic.base(),
            Self::Dynamic => 0xc000_0000,
            Self::Buffers => 1 << 47,
        }
    }
}

/// The address space that all buffers of a context share.
pub(crate) struct AddressSpace {
    node: Arc<dyn RenderNode>,
    zones: [Mutex<RangeAllocator>; 4],
}

impl AddressSpace {
    pub(crate) fn new(node: Arc<dyn RenderNode>) -> Self {
        Self { node, zones: Zone::ALL.map(|zone| Mutex::new(RangeAllocator::new(zone.base(), zone.end()))) }
    }
}

/// A range of addresses that is taken until it is dropped.
struct Reservation {
    space: Arc<AddressSpace>,
    zone: Zone,
    address: u64,
    size: u64,
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.space.zones[self.zone as usize].lock().release(self.address, self.size);
    }
}

/// A buffer object at a fixed address.
pub(crate) struct Storage {
    // The order matters: the buffer object is closed before its addresses are given to others.
    gem: GemBuffer,
    range: Reservation,
    host: bool,
}

impl std::fmt::Debug for Storage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Storage({:#x}, {} bytes)", self.address(), self.size())
    }
}

impl Storage {
    /// Zeroed memory of `size` bytes, whole pages. `MEM_OBJECT_ALLOCATION_FAILURE` when there is none.
    pub(crate) fn new(space: &Arc<AddressSpace>, zone: Zone, size: u64) -> Result<Self> {
        let size = size.next_multiple_of(PAGE);
        let gem =
            GemBuffer::create(&space.node, size).map_err(|errno| no_memory(size, &errno.to_string()))?;
        Self::place(space, zone, size, gem, false)
    }

    /// The application's memory itself when it consists of whole pages and the kernel driver takes it, else memory
    /// of the same size, filled with a copy.
    pub(crate) fn of_host(space: &Arc<AddressSpace>, host: &HostMemory) -> Result<Self> {
        let aligned = (host.address() as u64 | host.len() as u64).is_multiple_of(PAGE);
        if aligned {
            match GemBuffer::from_host(&space.node, host.clone()) {
                Ok(gem) => return Self::place(space, Zone::Buffers, host.len() as u64, gem, true),
                Err(errno) => tracing::debug!("host memory is copied, userptr said: {errno}"),
            }
        }
        let storage = Self::new(space, Zone::Buffers, host.len() as u64)?;
        storage.memory().copy_from(0, host, 0, host.len());
        Ok(storage)
    }

    /// Pages of the host at the host's own address, a multiple of the space's guard. `MEM_OBJECT_ALLOCATION_FAILURE` when the kernel driver does not take
    /// them or the address is another buffer's.
    pub(crate) fn shared(space: &Arc<AddressSpace>, host: HostMemory) -> Result<Self> {
        let (address, size, zone) = (host.address() as u64, host.len() as u64, Zone::Buffers);
        let gem =
            GemBuffer::from_host(&space.node, host).map_err(|errno| no_memory(size, &errno.to_string()))?;
        if !space.zones[zone as usize].lock().allocate_at(address, size) {
            return Err(no_memory(size, "the address is taken"));
        }
        Ok(Self { gem, range: Reservation { space: space.clone(), zone, address, size }, host: true })
    }

    fn place(space: &Arc<AddressSpace>, zone: Zone, size: u64, gem: GemBuffer, host: bool) -> Result<Self> {
        let address = space.zones[zone as usize].lock().allocate(size);
        let address = address.ok_or_else(|| no_memory(size, "the address space is full"))?;
        Ok(Self { gem, range: Reservation { space: space.clone(), zone, address, size }, host })
    }

    /// Where the GPU sees it.
    pub(crate) fn address(&self) -> u64 {
        self.range.address
    }

    /// Offset from its zone's base, which the state base addresses are set to.
    pub(crate) fn zone_offset(&self) -> u32 {
        (self.range.address - self.range.zone.base()) as u32
    }

    /// Bytes, whole pages.
    pub(crate) fn size(&self) -> u64 {
        self.range.size
    }

    pub(crate) fn memory(&self) -> &HostMemory {
        self.gem.memory()
    }

    /// Is it the application's own memory?
    pub(crate) fn is_host(&self) -> bool {
        self.host
    }

    pub(crate) fn handle(&self) -> GemHandle {
        self.gem.handle()
    }

    /// Waits until no batch uses it.
    pub(crate) fn wait(&self) -> Result<()> {
        Ok(self.gem.wait()?)
    }

    /// For the list of a batch's buffers.
    pub(crate) fn exec_object(&self, flags: ObjectFlags) -> ExecObject {
        ExecObject {
            handle: self.handle(),
            offset: self.range.address,
            alignment: 0,
            flags: flags | ObjectFlags::PINNED | ObjectFlags::SUPPORTS_48B_ADDRESS,
            relocations: Vec::new(),
        }
    }
}

fn no_memory(size: u64, why: &str) -> Error {
    Error::new(Code::MemObjectAllocationFailure, format!("{size} bytes: {why}"))
}
