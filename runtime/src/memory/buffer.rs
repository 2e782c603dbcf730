//! Buffers and sub-buffers.

use std::sync::Arc;

use gencl_i915::HostMemory;
use parking_lot::Mutex;

use super::{Allocation, BufferRect, PlacedRect};
use crate::conflicts::{Access, AccessKind};
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
    /// Whether the application may write to the mapping.
    pub(crate) fn writes(self) -> bool {
        self.intersects(Self::WRITE | Self::WRITE_INVALIDATE_REGION)
    }

    /// `INVALID_VALUE` for unknown flags or a combination that is not allowed.
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

/// A mapped region.
#[derive(Clone, Debug)]
pub(crate) struct Mapped {
    pub(crate) address: usize,
    /// Position in the buffer.
    pub(crate) rect: BufferRect,
    /// Position in the memory that is mapped.
    pub(crate) mapped_rect: BufferRect,
    /// Bytes, rows, slices.
    pub(crate) region: [usize; 3],
    pub(crate) flags: MapFlags,
}

type Destructor = Box<dyn FnOnce() + Send>;

/// Direction of a transfer between the host and a memory object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostAccess {
    /// Bytes go from the object to the host.
    Read,
    /// Bytes go from the host to the object.
    Write,
}

/// A buffer or sub-buffer.
pub struct Buffer {
    context: Arc<Context>,
    flags: MemoryFlags,
    size: u64,
    /// Offset in `storage` in bytes; not 0 for sub-buffers and buffers in shared virtual memory.
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
    /// `INVALID_VALUE` for a combination of flags that is not allowed, `INVALID_BUFFER_SIZE` for 0, more than
    /// the devices' largest allocation, or a range beyond the shared virtual memory that `host` is in,
    /// `INVALID_HOST_PTR` when `host` does not match the flags, `MEM_OBJECT_ALLOCATION_FAILURE` when memory
    /// cannot be allocated.
    pub fn new(
        context: &Arc<Context>,
        flags: MemoryFlags,
        size: u64,
        host: Option<HostMemory>,
    ) -> Result<Arc<Self>> {
        let flags = checked_for_new(context, flags, size, host.is_some())?;
        if host.as_ref().is_some_and(|host| (host.len() as u64) < size) {
            return Err(Error::new(Code::InvalidHostPtr, "the host pointer does not match the size"));
        }
        let used = host.as_ref().filter(|_| flags.contains(MemoryFlags::USE_HOST_PTR));
        let shared =
            used.and_then(|host| context.shared_at(host.address() as usize).zip(Some(host.address())));
        let (storage, origin) = match (shared, used) {
            // Shared virtual memory is used in place, as there may be pointers to it.
            (Some((memory, begin)), _) => {
                let origin = begin as usize - memory.address();
                let room = memory.size() - origin;
                if size > room as u64 {
                    let reason =
                        format!("{size} bytes exceed the shared virtual memory, which ends after {room}");
                    return Err(Error::new(Code::InvalidBufferSize, reason));
                }
                (memory.storage().clone(), origin as u64)
            }
            (None, Some(host)) => {
                (Arc::new(Allocation::of_host(context.members(), &host.slice(0, size as usize))?), 0)
            }
            (None, None) => (Arc::new(Allocation::new(context.members(), size)?), 0),
        };
        if host.is_none() && context.members().iter().any(|device| device.tools().undefined) {
            storage.make_undefined(context.members())?;
        }
        if let Some(host) = &host
            && !storage.is_host()
        {
            storage.memory().copy_from(0, host, 0, size as usize);
        }
        Ok(Self::with_storage(context, flags, size, (storage, origin), host))
    }

    /// As [`Buffer::new`], for contents that have another form in the application's memory: `convert` makes those of
    /// the buffer, its second argument, of it.
    pub(crate) fn converted(
        context: &Arc<Context>,
        flags: MemoryFlags,
        size: u64,
        host: Option<HostMemory>,
        convert: impl FnOnce(&HostMemory, &HostMemory),
    ) -> Result<Arc<Self>> {
        let flags = checked_for_new(context, flags, size, host.is_some())?;
        let storage = Arc::new(Allocation::new(context.members(), size)?);
        if let Some(host) = &host {
            convert(host, storage.memory());
        }
        Ok(Self::with_storage(context, flags, size, (storage, 0), host))
    }

    fn with_storage(
        context: &Arc<Context>,
        flags: MemoryFlags,
        size: u64,
        (storage, origin): (Arc<Allocation>, u64),
        host: Option<HostMemory>,
    ) -> Arc<Self> {
        let host = host.filter(|_| flags.contains(MemoryFlags::USE_HOST_PTR));
        Arc::new(Self {
            context: context.clone(),
            flags,
            size,
            origin,
            storage,
            parent: None,
            host,
            mapped: Mutex::default(),
            destructors: Mutex::default(),
        })
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
        let host = self.host.as_ref().map(|host| host.slice(origin as usize, size as usize));
        Ok(self.part(flags, origin, size, host))
    }

    /// The first `size` bytes, for an image on this buffer. `INVALID_VALUE` when `flags` allow what the
    /// buffer does not.
    pub(crate) fn view(self: &Arc<Self>, flags: MemoryFlags, size: u64) -> Result<Arc<Self>> {
        // That of an image may have other pitches than the buffer.
        let host = self.host.as_ref().map(|host| host.slice(0, host.len().min(size as usize)));
        Ok(self.part(self.inherited(flags)?, 0, size, host))
    }

    /// Flags of an object on this buffer's memory: groups of flags that are not given are inherited.
    /// `INVALID_VALUE` for flags that allow what this buffer does not.
    fn inherited(&self, flags: MemoryFlags) -> Result<MemoryFlags> {
        checked(flags)?;
        if flags.intersects(HOST_POINTER) {
            return Err(Error::new(Code::InvalidValue, "a sub-buffer must not have host pointer flags"));
        }
        // Flags of the whole, and flags that its parts must not have.
        let forbidden = [
            (MemoryFlags::WRITE_ONLY, MemoryFlags::READ_WRITE | MemoryFlags::READ_ONLY),
            (MemoryFlags::READ_ONLY, MemoryFlags::READ_WRITE | MemoryFlags::WRITE_ONLY),
            (MemoryFlags::HOST_WRITE_ONLY, MemoryFlags::HOST_READ_ONLY),
            (MemoryFlags::HOST_READ_ONLY, MemoryFlags::HOST_WRITE_ONLY),
            (MemoryFlags::HOST_NO_ACCESS, MemoryFlags::HOST_READ_ONLY | MemoryFlags::HOST_WRITE_ONLY),
        ];
        if forbidden.iter().any(|(whole, part)| self.flags.contains(*whole) && flags.intersects(*part)) {
            return Err(Error::new(Code::InvalidValue, "the flags allow what those of the buffer do not"));
        }
        let inherit =
            |group: MemoryFlags| if flags.intersects(group) { flags & group } else { self.flags & group };
        Ok(inherit(ACCESS) | inherit(HOST_ACCESS) | (self.flags & HOST_POINTER))
    }

    fn part(
        self: &Arc<Self>,
        flags: MemoryFlags,
        origin: u64,
        size: u64,
        host: Option<HostMemory>,
    ) -> Arc<Self> {
        Arc::new(Self {
            context: self.context.clone(),
            flags,
            size,
            origin: self.origin + origin,
            storage: self.storage.clone(),
            parent: Some(self.clone()),
            host,
            mapped: Mutex::default(),
            destructors: Mutex::default(),
        })
    }

    /// Its context.
    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// The flags as given, with `READ_WRITE` as the default access, and inherited ones for a sub-buffer.
    pub fn flags(&self) -> MemoryFlags {
        self.flags
    }

    /// Bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Offset of a sub-buffer in its parent in bytes; 0 for buffers.
    pub fn origin(&self) -> u64 {
        self.parent.as_ref().map_or(0, |parent| self.origin - parent.origin)
    }

    /// The buffer that a sub-buffer is part of.
    pub fn parent(&self) -> Option<&Arc<Buffer>> {
        self.parent.as_ref()
    }

    /// The application's memory given with `USE_HOST_PTR`; for a sub-buffer its part.
    pub fn host_memory(&self) -> Option<&HostMemory> {
        self.host.as_ref()
    }

    /// Number of mapped regions.
    pub fn map_count(&self) -> u32 {
        self.mapped.lock().len() as u32
    }

    /// Runs `function` when the buffer is destroyed; the last one registered runs first.
    pub fn on_destroy(&self, function: Destructor) {
        self.destructors.lock().push(function);
    }

    /// GPU address on a device.
    pub(crate) fn address_on(&self, device: &DeviceContext) -> u64 {
        self.storage.on(device).address() + self.origin
    }

    pub(crate) fn storage(&self) -> &Arc<Allocation> {
        &self.storage
    }

    /// Offset in the storage in bytes.
    pub(crate) fn begin(&self) -> usize {
        self.origin as usize
    }

    /// A command's access to a rectangle that is within the buffer, for checks.
    pub(crate) fn access(&self, kind: AccessKind, rect: BufferRect, region: [usize; 3]) -> Option<Access> {
        let place = PlacedRect { begin: self.begin(), rect, region };
        Access::of_rect(kind, self.storage.number(), place)
    }

    /// As [`Buffer::access`], to `size` bytes from `offset` on.
    pub(crate) fn access_bytes(&self, kind: AccessKind, offset: usize, size: usize) -> Option<Access> {
        let rect = BufferRect { origin: [offset, 0, 0], row_pitch: size, slice_pitch: size };
        self.access(kind, rect, [size, 1, 1])
    }

    /// The bytes that devices access.
    pub(crate) fn memory(&self) -> HostMemory {
        self.storage.memory().slice(self.origin as usize, self.size as usize)
    }

    /// The application's memory given with `USE_HOST_PTR`, if the devices do not access it directly: mapping
    /// and unmapping copy.
    pub(crate) fn shadow(&self) -> Option<&HostMemory> {
        self.host.as_ref().filter(|_| !self.storage.is_host())
    }

    /// `INVALID_VALUE` unless the range, which may be empty, is within the buffer.
    pub(crate) fn check_range(&self, offset: usize, size: usize) -> Result<()> {
        let end = (offset as u64).checked_add(size as u64);
        if end.is_none_or(|end| end > self.size) {
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

    /// Adds a mapping; `mapped_rect` is where the region is in the memory for the application. Returns that memory,
    /// from the region's first byte to its last.
    /// `INVALID_OPERATION` when the region overlaps one that is mapped for writing, and is to be written too.
    pub(crate) fn map(
        &self,
        flags: MapFlags,
        (rect, mapped_rect): (BufferRect, BufferRect),
        region: [usize; 3],
    ) -> Result<HostMemory> {
        let begin = mapped_rect.row(0, 0);
        let length = mapped_rect.end(region).ok_or(Code::InvalidValue)? - begin;
        let memory = self.shadow().cloned().unwrap_or_else(|| self.memory()).slice(begin, length);
        let address = memory.address() as usize;
        let mut mapped = self.mapped.lock();
        let placed = |rect, region| PlacedRect { begin: 0, rect, region };
        let overlaps = |other: &Mapped| {
            other.flags.writes() && placed(rect, region).overlaps(placed(other.rect, other.region))
        };
        if flags.writes() && mapped.iter().any(overlaps) {
            return Err(Error::new(Code::InvalidOperation, "the region is already mapped for writing"));
        }
        mapped.push(Mapped { address, rect, mapped_rect, region, flags });
        Ok(memory)
    }

    /// Removes the mapping at `address` without copying what was written. `INVALID_VALUE` when there is none.
    pub fn forget_mapping(&self, address: *const u8) -> Result<()> {
        self.unmap(address as usize).map(drop)
    }

    /// Removes the mapping at `address`. `INVALID_VALUE` when there is none.
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
    /// `INVALID_VALUE` for unknown flags or a combination that is not allowed.
    pub fn check(self) -> Result<()> {
        checked(self).map(drop)
    }
}

/// Checks what a new buffer is made of, and adds the default access. Errors: see [`Buffer::new`].
fn checked_for_new(context: &Context, flags: MemoryFlags, size: u64, has_host: bool) -> Result<MemoryFlags> {
    let flags = checked(flags)?;
    let limit = context.max_allocation();
    if size == 0 || size > limit {
        let reason = format!("{size} bytes: a buffer has between 1 and {limit} bytes");
        return Err(Error::new(Code::InvalidBufferSize, reason));
    }
    if flags.intersects(MemoryFlags::USE_HOST_PTR | MemoryFlags::COPY_HOST_PTR) != has_host {
        return Err(Error::new(Code::InvalidHostPtr, "the host pointer does not match the flags"));
    }
    Ok(flags)
}

/// Adds the default access. `INVALID_VALUE` for unknown flags or a combination that is not allowed.
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
