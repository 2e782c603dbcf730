//! GEM buffers with a GPU address, and the address space of a device in a context.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use gencl_device_info::AddressSpaceKind;
use gencl_i915::{ExecObject, GemBuffer, GemHandle, HostMemory, ObjectFlags, RenderNode};
use parking_lot::{Mutex, MutexGuard};

use super::va::{PAGE, RangeAllocator};
use crate::{Code, Error, Result};

/// Parts of the address space. Commands have 32 bits for addresses in the first three. An address space of 32
/// bits has only one part, [`Zone::NEAR`] or [`Zone::NARROW`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Zone {
    /// Scratch memory.
    Scratch,
    /// Machine code.
    Instructions,
    /// Batches, interface descriptors, constants.
    Dynamic,
    /// Everything else, above 4 GiB.
    Buffers,
}

impl Zone {
    const ALL: [Self; 4] = [Self::Scratch, Self::Instructions, Self::Dynamic, Self::Buffers];

    /// An address space of 32 bits, without its first and its last MiB.
    const NEAR: (u64, u64) = (0x0010_0000, 0xfff0_0000);

    /// An address space of 31 bits, without its first and its last MiB.
    const NARROW: (u64, u64) = (0x0010_0000, 0x7ff0_0000);

    /// First address. Nothing is placed at 0, so that a null pointer faults.
    pub(crate) const fn base(self) -> u64 {
        match self {
            Self::Scratch => 0x0010_0000,
            Self::Instructions => 0x4000_0000,
            Self::Dynamic => 0x8000_0000,
            Self::Buffers => 0x1_0000_0000,
        }
    }

    /// One past the last address. The last zone ends where addresses would have to be sign-extended.
    pub(crate) const fn end(self) -> u64 {
        match self {
            Self::Scratch => Self::Instructions.base(),
            Self::Instructions => Self::Dynamic.base(),
            Self::Dynamic => 0xc000_0000,
            Self::Buffers => 1 << 47,
        }
    }
}

/// The address space of a device in a context, shared by its hardware contexts.
pub(crate) struct AddressSpace {
    node: Arc<dyn RenderNode>,
    /// One per zone, or one for all.
    zones: Vec<Mutex<RangeAllocator>>,
    /// The kernel driver chooses addresses, and relocates batches (no softpin).
    relocates: bool,
    /// Locked from reading [`Storage::placed`] until the batch built on it is submitted.
    placing: Mutex<()>,
}

impl AddressSpace {
    /// An address space without allocations.
    pub(crate) fn new(node: Arc<dyn RenderNode>, kind: AddressSpaceKind) -> Self {
        let zone = |(begin, end)| Mutex::new(RangeAllocator::new(begin, end));
        let zones = match kind {
            // Addresses chosen here are hints for the kernel driver.
            AddressSpaceKind::Shared31 => vec![zone(Zone::NARROW)],
            AddressSpaceKind::Own32 => vec![zone(Zone::NEAR)],
            AddressSpaceKind::Own48 => Zone::ALL.map(|own| zone((own.base(), own.end()))).into(),
        };
        Self { node, zones, relocates: kind == AddressSpaceKind::Shared31, placing: Mutex::new(()) }
    }

    /// Locks [`Storage::placed`] of all buffers. Batches with relocations in other buffers than their own are
    /// submitted one after the other, as the presumed addresses have to be those that the batch before left
    /// there.
    pub(crate) fn placing(&self) -> MutexGuard<'_, ()> {
        self.placing.lock()
    }

    fn zone(&self, zone: Zone) -> &Mutex<RangeAllocator> {
        self.zones.get(zone as usize).unwrap_or(&self.zones[0])
    }
}

/// A range of addresses, released when dropped.
struct Reservation {
    space: Arc<AddressSpace>,
    zone: Zone,
    address: u64,
    size: u64,
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.space.zone(self.zone).lock().release(self.address, self.size);
    }
}

/// A GEM buffer with a reserved address range.
pub(crate) struct Storage {
    // Fields are dropped in this order: the buffer is closed before its addresses are released.
    gem: GemBuffer,
    range: Reservation,
    /// The address that the kernel driver chose last.
    placed: AtomicU64,
}

impl std::fmt::Debug for Storage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Storage({:#x}, {} bytes)", self.address(), self.size())
    }
}

impl Storage {
    /// Zeroed memory of `size` bytes, rounded up to whole pages. `MEM_OBJECT_ALLOCATION_FAILURE`.
    pub(crate) fn new(space: &Arc<AddressSpace>, zone: Zone, size: u64) -> Result<Self> {
        let size = size.next_multiple_of(PAGE);
        let gem =
            GemBuffer::create(&space.node, size).map_err(|errno| no_memory(size, &errno.to_string()))?;
        Self::place(space, zone, size, gem)
    }

    /// Whole pages of the host (userptr). `MEM_OBJECT_ALLOCATION_FAILURE` when the kernel driver refuses
    /// them.
    pub(crate) fn of_pages(space: &Arc<AddressSpace>, pages: HostMemory) -> Result<Self> {
        let size = pages.len() as u64;
        Self::place(space, Zone::Buffers, size, userptr(space, pages)?)
    }

    /// Pages of the host (userptr) at the host's address, a multiple of [`super::va::GUARD`].
    /// `MEM_OBJECT_ALLOCATION_FAILURE` when the kernel driver refuses them or the address is in use.
    pub(crate) fn shared(space: &Arc<AddressSpace>, host: HostMemory) -> Result<Self> {
        let (address, size, zone) = (host.address() as u64, host.len() as u64, Zone::Buffers);
        let gem = userptr(space, host)?;
        if !space.zone(zone).lock().allocate_at(address, size) {
            return Err(no_memory(size, "the address is taken"));
        }
        Ok(Self::at(gem, Reservation { space: space.clone(), zone, address, size }))
    }

    fn place(space: &Arc<AddressSpace>, zone: Zone, size: u64, gem: GemBuffer) -> Result<Self> {
        let address = space.zone(zone).lock().allocate(size);
        let address = address.ok_or_else(|| no_memory(size, "the address space is full"))?;
        Ok(Self::at(gem, Reservation { space: space.clone(), zone, address, size }))
    }

    fn at(gem: GemBuffer, range: Reservation) -> Self {
        let placed = AtomicU64::new(range.address);
        Self { gem, range, placed }
    }

    /// GPU address; only a hint where the kernel driver relocates ([`Storage::relocates`]).
    pub(crate) fn address(&self) -> u64 {
        self.range.address
    }

    /// GPU address in a low zone, for fields of 32 bits.
    pub(crate) fn low_address(&self) -> u32 {
        u32::try_from(self.range.address).expect("all zones but the last are below 4 GiB")
    }

    /// The address that the kernel driver chose in the last batch, which is the one in other buffers that
    /// point here. To be accessed with [`AddressSpace::placing`] locked.
    pub(crate) fn placed(&self) -> u64 {
        self.placed.load(Ordering::Relaxed)
    }

    /// Stores the address that the kernel driver has chosen.
    pub(crate) fn place_at(&self, address: u64) {
        self.placed.store(address, Ordering::Relaxed);
    }

    /// Whether the kernel driver chooses the address, and relocates batches.
    pub(crate) fn relocates(&self) -> bool {
        self.range.space.relocates
    }

    /// Size in bytes, whole pages.
    pub(crate) fn size(&self) -> u64 {
        self.range.size
    }

    pub(crate) fn memory(&self) -> &HostMemory {
        self.gem.memory()
    }

    pub(crate) fn handle(&self) -> GemHandle {
        self.gem.handle()
    }

    /// Waits until no batch uses the buffer.
    pub(crate) fn wait(&self) -> Result<()> {
        Ok(self.gem.wait()?)
    }

    /// The entry for a batch's validation list.
    pub(crate) fn exec_object(&self, flags: ObjectFlags) -> ExecObject {
        let place = if self.relocates() { ObjectFlags::empty() } else { PLACED };
        let is_padded = self.range.zone == Zone::Buffers;
        let pad = if is_padded { ObjectFlags::PAD_TO_SIZE } else { ObjectFlags::empty() };
        ExecObject {
            handle: self.handle(),
            offset: self.range.address,
            alignment: 0,
            flags: flags | place | pad,
            pad_to_size: self.size() + PADDING,
            relocations: Vec::new(),
        }
    }
}

/// Bytes behind a buffer that kernels may read as zeros: vector loads of many programs exceed buffers by some
/// bytes. The kernel driver maps a scratch page there (`EXEC_OBJECT_PAD_TO_SIZE`).
const PADDING: u64 = PAGE;

/// Flags of buffers with softpin.
const PLACED: ObjectFlags = ObjectFlags::PINNED.union(ObjectFlags::SUPPORTS_48B_ADDRESS);

fn userptr(space: &AddressSpace, pages: HostMemory) -> Result<GemBuffer> {
    let size = pages.len() as u64;
    GemBuffer::from_host(&space.node, pages).map_err(|errno| no_memory(size, &errno.to_string()))
}

pub(super) fn no_memory(size: u64, why: &str) -> Error {
    Error::new(Code::MemObjectAllocationFailure, format!("{size} bytes: {why}"))
}
