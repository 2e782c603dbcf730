//! Buffer objects with an address: the address space of a device in a context and what is placed in it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use gencl_i915::{ExecObject, GemBuffer, GemHandle, HostMemory, ObjectFlags, RenderNode};
use parking_lot::{Mutex, MutexGuard};

use super::va::{PAGE, RangeAllocator};
use crate::{Code, Error, Result};

/// Parts of the address space. The commands that point to the first three have 32 bits for an address. Where
/// addresses have 32 bits altogether there is but one part, [`Zone::NEAR`] or [`Zone::NARROW`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Zone {
    /// Scratch memory.
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

    /// Addresses of GPUs with 32 bits of them, all but the first and the last megabyte.
    const NEAR: (u64, u64) = (0x0010_0000, 0xfff0_0000);

    /// Addresses of GPUs with 31 bits of them, all but the first and the last megabyte.
    const NARROW: (u64, u64) = (0x0010_0000, 0x7ff0_0000);

    /// First address. Nothing is ever placed at 0, so that a null pointer faults.
    pub(crate) const fn base(self) -> u64 {
        match self {
            Self::Scratch => 0x0010_0000,
            Self::Instructions => 0x4000_0000,
            Self::Dynamic => 0x8000_0000,
            Self::Buffers => 0x1_0000_0000,
        }
    }

    /// One past the last address: of the low zones the next one's beginning, a page below the end of the
    /// 48-bit space for the last (addresses beyond bit 47 would have to be sign-extended).
    pub(crate) const fn end(self) -> u64 {
        match self {
            Self::Scratch => Self::Instructions.base(),
            Self::Instructions => Self::Dynamic.base(),
            Self::Dynamic => 0xc000_0000,
            Self::Buffers => 1 << 47,
        }
    }
}

/// The address space of a device that all its buffers of a context share.
pub(crate) struct AddressSpace {
    node: Arc<dyn RenderNode>,
    /// One for each zone, or one for all.
    zones: Vec<Mutex<RangeAllocator>>,
    /// The kernel driver places buffers where it likes, and writes into batches where they are.
    relocates: bool,
    /// Held from before buffers' places are read until the batch that has them is the kernel driver's.
    placing: Mutex<()>,
}

impl AddressSpace {
    /// An address space of 48 bits, in which buffers are placed by us.
    pub(crate) fn wide(node: Arc<dyn RenderNode>) -> Self {
        let zone = |zone: Zone| Mutex::new(RangeAllocator::new(zone.base(), zone.end()));
        Self { node, zones: Zone::ALL.map(zone).into(), relocates: false, placing: Mutex::new(()) }
    }

    /// One of 32 bits (Cherryview), in which buffers are placed by us.
    pub(crate) fn near(node: Arc<dyn RenderNode>) -> Self {
        let (begin, end) = Zone::NEAR;
        Self {
            node,
            zones: vec![Mutex::new(RangeAllocator::new(begin, end))],
            relocates: false,
            placing: Mutex::new(()),
        }
    }

    /// One of 31 bits, which is shared with everybody (i915's "aliasing PPGTT"): where buffers are placed
    /// here, the kernel driver places them as well if it can.
    pub(crate) fn narrow(node: Arc<dyn RenderNode>) -> Self {
        let (begin, end) = Zone::NARROW;
        Self {
            node,
            zones: vec![Mutex::new(RangeAllocator::new(begin, end))],
            relocates: true,
            placing: Mutex::new(()),
        }
    }

    /// Keeps [`Storage::placed`] as it is for everybody else. Batches that have pointers between buffers
    /// rewritten go to the kernel driver one after the other: what a buffer holds is what the last of them
    /// left there.
    pub(crate) fn placing(&self) -> MutexGuard<'_, ()> {
        self.placing.lock()
    }

    fn zone(&self, zone: Zone) -> &Mutex<RangeAllocator> {
        self.zones.get(zone as usize).unwrap_or(&self.zones[0])
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
        self.space.zone(self.zone).lock().release(self.address, self.size);
    }
}

/// A buffer object at a fixed address.
pub(crate) struct Storage {
    // The order matters: the buffer object is closed before its addresses are given to others.
    gem: GemBuffer,
    range: Reservation,
    /// Where the kernel driver had it last.
    placed: AtomicU64,
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
        Self::place(space, zone, size, gem)
    }

    /// Whole pages of the host. `MEM_OBJECT_ALLOCATION_FAILURE` when the kernel driver does not take them.
    pub(crate) fn of_pages(space: &Arc<AddressSpace>, pages: HostMemory) -> Result<Self> {
        let size = pages.len() as u64;
        Self::place(space, Zone::Buffers, size, userptr(space, pages)?)
    }

    /// Pages of the host at the host's own address, a multiple of the space's guard.
    /// `MEM_OBJECT_ALLOCATION_FAILURE` when the kernel driver does not take them or the address is another
    /// buffer's.
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

    /// Where the GPU sees it, unless the kernel driver says something else ([`Storage::relocates`]).
    pub(crate) fn address(&self) -> u64 {
        self.range.address
    }

    /// The same of the low zones, as commands have it.
    pub(crate) fn low_address(&self) -> u32 {
        u32::try_from(self.range.address).expect("all zones but the last are below 4 GiB")
    }

    /// Where the kernel driver had it in the last batch: the address that is in other buffers which point to
    /// it. To be read and written under [`AddressSpace::placing`].
    pub(crate) fn placed(&self) -> u64 {
        self.placed.load(Ordering::Relaxed)
    }

    /// Notes where the kernel driver has it.
    pub(crate) fn place_at(&self, address: u64) {
        self.placed.store(address, Ordering::Relaxed);
    }

    /// Does the kernel driver place it?
    pub(crate) fn relocates(&self) -> bool {
        self.range.space.relocates
    }

    /// Bytes, whole pages.
    pub(crate) fn size(&self) -> u64 {
        self.range.size
    }

    pub(crate) fn memory(&self) -> &HostMemory {
        self.gem.memory()
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

/// So many bytes behind what kernels have pointers to may be read, and are 0: vector loads of many programs
/// go beyond the end by some bytes. The kernel driver is asked for them, as it is what knows of a page that
/// nobody writes to.
const PADDING: u64 = PAGE;

/// Of buffers that we place ourselves.
const PLACED: ObjectFlags = ObjectFlags::PINNED.union(ObjectFlags::SUPPORTS_48B_ADDRESS);

fn userptr(space: &AddressSpace, pages: HostMemory) -> Result<GemBuffer> {
    let size = pages.len() as u64;
    GemBuffer::from_host(&space.node, pages).map_err(|errno| no_memory(size, &errno.to_string()))
}

pub(super) fn no_memory(size: u64, why: &str) -> Error {
    Error::new(Code::MemObjectAllocationFailure, format!("{size} bytes: {why}"))
}
