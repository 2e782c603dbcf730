//! Buffers and sub-buffers.

use std::sync::Arc;

use gencl_i915::HostMemory;
use parking_lot::Mutex;

use super::{Allocation, BufferRect, Placed};
use crate::context::DeviceContext;
use crate::{Code, Context, Error, Result};

bitflags::bitflags! {
    /// `cl_mem_flags`
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
    pub struct MemoryFlags: u64 {
        /// `CL_MEM_READ_WRITE`
        const READ_WRITE = 1 << 0;
        /// `CL_MEM_WRITE_ONLY`
        const WRITE_ONLY = 1 << 1;
        /// `CL_MEM_READ_ONLY`
        const READ_ONLY = 1 << 2;
        /// `CL_MEM_USE_HOST_PTR`
        const USE_HOST_PTR = 1 << 3;
        /// `CL_MEM_ALLOC_HOST_PTR`
        const ALLOC_HOST_PTR = 1 << 4;
        /// `CL_MEM_COPY_HOST_PTR`
        const COPY_HOST_PTR = 1 << 5;
        /// `CL_MEM_HOST_WRITE_ONLY`
        const HOST_WRITE_ONLY = 1 << 7;
        /// `CL_MEM_HOST_READ_ONLY`
        const HOST_READ_ONLY = 1 << 8;
        /// `CL_MEM_HOST_NO_ACCESS`
        const HOST_NO_ACCESS = 1 << 9;
    }

    /// `cl_map_flags`
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
    pub struct MapFlags: u64 {
        /// `CL_MAP_READ`
        const READ = 1 << 0;
        /// `CL_MAP_WRITE`
        const WRITE = 1 << 1;
        /// `CL_MAP_WRITE_INVALIDATE_REGION`
        const WRITE_INVALIDATE_REGION = 1 << 2;
    }
}

impl MapFlags {
    /// May the application write?
    pub(crate) fn writes(self) -> bool {
        self.intersects(Self::WRITE | Self::WRITE_INVALIDATE_REGION)
    }

    /// `INVALID_VALUE` for flags that exclude each other or that there are not.
    pub fn check(self) -> Result<()> {
        let invalidates = self.contains(Self::WRITE_INVALIDATE_REGION);
        if (invalidates && self.intersects(Self::READ | Self::WRITE))
            || self.bits() & !Self::all().bits() != 0
        {
            return Err(Error::new(Code::InvalidValue, format!("map flags {:#x}", self.bits())));
        }
        Ok(())
    }
}

const ACCESS: MemoryFlags =
    MemoryFlags::READ_WRITE.union(MemoryFlags::WRITE_ONLY).union(MemoryFlags::READ_ONLY);
const HOST_ACCESS: MemoryFlags =
    MemoryFlags::HOST_WRITE_ONLY.union(MemoryFlags::HOST_READ_ONLY).union(MemoryFlags::HOST_NO_ACCESS);
const HOST_POINTER: MemoryFlags =
    MemoryFlags::USE_HOST_PTR.union(MemoryFlags::ALLOC_HOST_PTR).union(MemoryFlags::COPY_HOST_PTR);

/// A region that is mapped now.
#[derive(Clone, Debug)]
pub(crate) struct Mapped {
    pub(crate) address: usize,
    /// Where it is in the buffer.
    pub(crate) rect: BufferRect,
    /// Bytes, rows, slices.
    pub(crate) region: [usize; 3],
    pub(crate) flags: MapFlags,
}

type Destructor = Box<dyn FnOnce() + Send>;

/// What the host does with a memory object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostAccess {
    /// Bytes go from the object to the host.
    Read,
    /// Bytes go from the host to the object.
    Write,
}

/// A buffer or a part of one.
pub struct Buffer {
    context: Arc<Context>,
    flags: MemoryFlags,
    size: u64,
    /// In `storage`, for sub-buffers and shared virtual memory.
    origin: u64,
    storage: Arc<Allocation>,
    parent: Option<Arc<Buffer>>,
    host: Option<HostMemory>,
    mapped: Mutex<Vec<Mapped>>,
    destructors: Mutex<Vec<Destructor>>,
}

impl std::fmt::Debug for Buffer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Buffer")
            .field("address", &self.memory().address())
            .field("size", &self.size)
            .field("flags", &self.flags)
            .finish_non_exhaustive()
    }
}

impl Buffer {
    /// Makes a buffer of `size` bytes. `host` is the application's memory, given with `USE_HOST_PTR` or
    /// `COPY_HOST_PTR` and of at least `size` bytes; with `USE_HOST_PTR` it stays valid until the buffer is
    /// destroyed.
    ///
    /// `INVALID_VALUE` for flags that exclude each other, `INVALID_BUFFER_SIZE` for 0, more than the devices'
    /// largest allocation, or more than there is of the shared virtual memory that `host` is in,
    /// `INVALID_HOST_PTR` when flags and `host` do not fit, `MEM_OBJECT_ALLOCATION_FAILURE` when there is no
    /// memory.
    pub fn new(
        context: &Arc<Context>,
        flags: MemoryFlags,
        size: u64,
        host: Option<HostMemory>,
    ) -> Result<Arc<Self>> {
        let flags = checked(flags)?;
        let limit = context.max_allocation();
        if size == 0 || size > limit {
            let reason = format!("{size} bytes: a buffer has between 1 and {limit} bytes");
            return Err(Error::new(Code::InvalidBufferSize, reason));
        }
        let wants_host = flags.intersects(MemoryFlags::USE_HOST_PTR | MemoryFlags::COPY_HOST_PTR);
        if wants_host != host.is_some() || host.as_ref().is_some_and(|host| (host.len() as u64) < size) {
            return Err(Error::new(Code::InvalidHostPtr, "flags and host pointer do not fit each other"));
        }
        let used = host.as_ref().filter(|_| flags.contains(MemoryFlags::USE_HOST_PTR));
        let shared =
            used.and_then(|host| context.shared_at(host.address() as usize).zip(Some(host.address())));
        let (storage, origin) = match (shared, used) {
            // Shared virtual memory stays where it is, as there may be pointers to it.
            (Some((memory, begin)), _) => {
                let origin = begin as usize - memory.address();
                let room = memory.size() - origin;
                if size > room as u64 {
                    let reason = format!("{size} bytes, where shared virtual memory ends after {room}");
                    return Err(Error::new(Code::InvalidBufferSize, reason));
                }
                (memory.storage().clone(), origin as u64)
            }
            (None, Some(host)) => (Arc::new(Allocation::of_host(context, &host.slice(0, size as usize))?), 0),
            (None, None) => (Arc::new(Allocation::new(context, size)?), 0),
        };
        if let Some(host) = &host
            && !storage.is_host()
        {
            storage.memory().copy_from(0, host, 0, size as usize);
        }
        let host = host.filter(|_| flags.contains(MemoryFlags::USE_HOST_PTR));
        Ok(Arc::new(Self {
            context: context.clone(),
            flags,
            size,
            origin,
            storage,
            parent: None,
            host,
            mapped: Mutex::default(),
            destructors: Mutex::default(),
        }))
    }

    /// Makes a sub-buffer. `INVALID_VALUE` when the region is not within the buffer or `flags` allow what the
    /// buffer does not, `INVALID_MEM_OBJECT` when this is a sub-buffer, `INVALID_BUFFER_SIZE` for size 0,
    /// `MISALIGNED_SUB_BUFFER_OFFSET` when `origin` is no multiple of any device's base address alignment.
    pub fn sub_buffer(self: &Arc<Self>, flags: MemoryFlags, origin: u64, size: u64) -> Result<Arc<Self>> {
        if self.parent.is_some() {
            return Err(Error::new(Code::InvalidMemObject, "a sub-buffer of a sub-buffer"));
        }
        let flags = self.inherited(flags)?;
        if size == 0 {
            return Err(Error::new(Code::InvalidBufferSize, "a sub-buffer of 0 bytes"));
        }
        if origin.checked_add(size).is_none_or(|end| end > self.size) {
            return Err(Error::new(Code::InvalidValue, "the region is not within the buffer"));
        }
        let alignments = self.context.devices().map(|device| device.facts().base_address_alignment);
        if !alignments.map(u64::from).any(|alignment| origin.is_multiple_of(alignment)) {
            return Err(Error::new(Code::MisalignedSubBufferOffset, format!("origin {origin}")));
        }
        Ok(self.part(flags, origin, size))
    }

    /// The first `size` bytes, for an image that is made of this buffer. `INVALID_VALUE` when `flags` allow
    /// what the buffer does not.
    pub(crate) fn view(self: &Arc<Self>, flags: MemoryFlags, size: u64) -> Result<Arc<Self>> {
        Ok(self.part(self.inherited(flags)?, 0, size))
    }

    /// Flags of an object that is made of this one's bytes: what it does not say it inherits. `INVALID_VALUE`
    /// for flags that allow what this does not.
    fn inherited(&self, flags: MemoryFlags) -> Result<MemoryFlags> {
        checked(flags)?;
        if flags.intersects(HOST_POINTER) {
            return Err(Error::new(Code::InvalidValue, "a part takes no host pointer flags"));
        }
        // What each flag of the whole forbids its parts.
        let forbidden = [
            (MemoryFlags::WRITE_ONLY, MemoryFlags::READ_WRITE | MemoryFlags::READ_ONLY),
            (MemoryFlags::READ_ONLY, MemoryFlags::READ_WRITE | MemoryFlags::WRITE_ONLY),
            (MemoryFlags::HOST_WRITE_ONLY, MemoryFlags::HOST_READ_ONLY),
            (MemoryFlags::HOST_READ_ONLY, MemoryFlags::HOST_WRITE_ONLY),
            (MemoryFlags::HOST_NO_ACCESS, MemoryFlags::HOST_READ_ONLY | MemoryFlags::HOST_WRITE_ONLY),
        ];
        if forbidden.iter().any(|(whole, part)| self.flags.contains(*whole) && flags.intersects(*part)) {
            return Err(Error::new(Code::InvalidValue, "the part would allow what the whole does not"));
        }
        let inherit =
            |group: MemoryFlags| if flags.intersects(group) { flags & group } else { self.flags & group };
        Ok(inherit(ACCESS) | inherit(HOST_ACCESS) | (self.flags & HOST_POINTER))
    }

    fn part(self: &Arc<Self>, flags: MemoryFlags, origin: u64, size: u64) -> Arc<Self> {
        Arc::new(Self {
            context: self.context.clone(),
            flags,
            size,
            origin: self.origin + origin,
            storage: self.storage.clone(),
            parent: Some(self.clone()),
            host: self.host.as_ref().map(|host| host.slice(origin as usize, size as usize)),
            mapped: Mutex::default(),
            destructors: Mutex::default(),
        })
    }

    /// Its context.
    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// As given, with `READ_WRITE` when no access was asked for; of a sub-buffer what it inherits is
    /// included.
    pub fn flags(&self) -> MemoryFlags {
        self.flags
    }

    /// Bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Of a sub-buffer: where in the parent it begins, bytes.
    pub fn origin(&self) -> u64 {
        self.parent.as_ref().map_or(0, |parent| self.origin - parent.origin)
    }

    /// What it is a sub-buffer of.
    pub fn parent(&self) -> Option<&Arc<Buffer>> {
        self.parent.as_ref()
    }

    /// The application's memory given with `USE_HOST_PTR` (of a sub-buffer: its part).
    pub fn host_memory(&self) -> Option<&HostMemory> {
        self.host.as_ref()
    }

    /// How many regions are mapped now.
    pub fn map_count(&self) -> u32 {
        self.mapped.lock().len() as u32
    }

    /// Runs `function` when the buffer is destroyed; the last one registered runs first.
    pub fn on_destroy(&self, function: Destructor) {
        self.destructors.lock().push(function);
    }

    /// Where a device sees it.
    pub(crate) fn address_on(&self, device: &DeviceContext) -> u64 {
        self.storage.on(device).address() + self.origin
    }

    pub(crate) fn storage(&self) -> &Arc<Allocation> {
        &self.storage
    }

    /// Where it begins in its storage, in bytes.
    pub(crate) fn begin(&self) -> usize {
        self.origin as usize
    }

    /// The bytes that the devices work on.
    pub(crate) fn memory(&self) -> HostMemory {
        self.storage.memory().slice(self.origin as usize, self.size as usize)
    }

    /// The application's memory where it is a copy, that is where mapping has to move bytes.
    pub(crate) fn shadow(&self) -> Option<&HostMemory> {
        self.host.as_ref().filter(|_| !self.storage.is_host())
    }

    /// `INVALID_VALUE` unless `size` bytes from `offset` on are within the buffer and not none.
    pub(crate) fn check_range(&self, offset: usize, size: usize) -> Result<()> {
        let end = (offset as u64).checked_add(size as u64);
        if size == 0 || end.is_none_or(|end| end > self.size) {
            let reason =
                format!("{size} bytes from {offset} on are not within {} bytes of the buffer", self.size);
            return Err(Error::new(Code::InvalidValue, reason));
        }
        Ok(())
    }

    /// `INVALID_OPERATION` when the host may not do that.
    pub(crate) fn check_host(&self, access: HostAccess) -> Result<()> {
        let (forbids, what) = match access {
            HostAccess::Read => (MemoryFlags::HOST_WRITE_ONLY, "read"),
            HostAccess::Write => (MemoryFlags::HOST_READ_ONLY, "write"),
        };
        if self.flags.intersects(forbids | MemoryFlags::HOST_NO_ACCESS) {
            return Err(Error::new(Code::InvalidOperation, format!("the host may not {what} the buffer")));
        }
        Ok(())
    }

    /// Notes a mapping and gives the memory for the application, from the region's first byte to its last.
    /// `INVALID_OPERATION` when a region would be mapped for writing twice.
    pub(crate) fn map(&self, flags: MapFlags, rect: BufferRect, region: [usize; 3]) -> Result<HostMemory> {
        let begin = rect.row(0, 0);
        let length = rect.end(region).ok_or(Code::InvalidValue)? - begin;
        let memory = self.shadow().cloned().unwrap_or_else(|| self.memory()).slice(begin, length);
        let address = memory.address() as usize;
        let mut mapped = self.mapped.lock();
        let placed = |rect, region| Placed { begin: 0, rect, region };
        let overlaps = |other: &Mapped| {
            other.flags.writes() && placed(rect, region).overlaps(placed(other.rect, other.region))
        };
        if flags.writes() && mapped.iter().any(overlaps) {
            return Err(Error::new(Code::InvalidOperation, "the region is mapped for writing already"));
        }
        mapped.push(Mapped { address, rect, region, flags });
        Ok(memory)
    }

    /// Forgets the mapping at `address` without bringing back what was written. `INVALID_VALUE` when there is
    /// none.
    pub fn forget_mapping(&self, address: *const u8) -> Result<()> {
        self.unmap(address as usize).map(drop)
    }

    /// Forgets the mapping at `address`. `INVALID_VALUE` when there is none.
    pub(crate) fn unmap(&self, address: usize) -> Result<Mapped> {
        let mut mapped = self.mapped.lock();
        match mapped.iter().position(|region| region.address == address) {
            Some(index) => Ok(mapped.remove(index)),
            None => Err(Error::new(Code::InvalidValue, format!("nothing is mapped at {address:#x}"))),
        }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        for function in self.destructors.get_mut().drain(..).rev() {
            function();
        }
    }
}

impl MemoryFlags {
    /// `INVALID_VALUE` for flags that exclude each other or that there are not.
    pub fn check(self) -> Result<()> {
        checked(self).map(drop)
    }
}

/// Refuses flags that exclude each other and adds the default access.
fn checked(flags: MemoryFlags) -> Result<MemoryFlags> {
    let several = |group: MemoryFlags| (flags & group).bits().count_ones() > 1;
    let use_and_other = flags.contains(MemoryFlags::USE_HOST_PTR)
        && flags.intersects(MemoryFlags::ALLOC_HOST_PTR | MemoryFlags::COPY_HOST_PTR);
    if several(ACCESS)
        || several(HOST_ACCESS)
        || use_and_other
        || flags.bits() & !MemoryFlags::all().bits() != 0
    {
        return Err(Error::new(Code::InvalidValue, format!("flags {:#x}", flags.bits())));
    }
    Ok(if flags.intersects(ACCESS) { flags } else { flags | MemoryFlags::READ_WRITE })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_exclude_each_other() {
        assert_eq!(checked(MemoryFlags::empty()).unwrap(), MemoryFlags::READ_WRITE);
        assert!(checked(MemoryFlags::READ_ONLY | MemoryFlags::WRITE_ONLY).is_err());
        assert!(checked(MemoryFlags::USE_HOST_PTR | MemoryFlags::COPY_HOST_PTR).is_err());
        assert!(checked(MemoryFlags::ALLOC_HOST_PTR | MemoryFlags::COPY_HOST_PTR).is_ok());
        assert!(checked(MemoryFlags::from_bits_retain(1 << 40)).is_err());
    }
}
