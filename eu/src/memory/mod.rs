//! GPU memory: buffer objects and the address space in which a batch sees them.
//!
//! An [`AddressSpace`] is the PPGTT of one batch: a sorted list of buffers with their GPU addresses. It is
//! immutable, so that the host threads that execute work-groups look up addresses without a lock. An address
//! outside of all buffers is a [`PageFault`].
//!
//! A buffer may be followed by padding (`EXEC_OBJECT_PAD_TO_SIZE`), which i915 maps to its scratch page:
//! loads return zeros there. It has no memory: only the slow path, for accesses that are not within a buffer,
//! handles it.
//!
//! Addresses are 48 bits wide and in canonical form (bit 47 repeated in bits 63:48), as in the
//! messages and commands of Gen8 and later ("Volume 5: Memory Views", "Graphics Addresses").
//!
//! The bytes of a buffer are shared with the application's mappings and with all host threads that execute
//! the batch, as a GPU's memory is. Races in the simulated program are therefore races here; aligned accesses
//! up to eight bytes are relaxed host atomics, larger ones are copies that may be torn, as on
//! hardware. Why plain copies suffice: docs/eu.md, "Memory that others write".

mod object;

use std::marker::PhantomData;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

pub use object::Object;
pub use object::enlarge_descriptor_table;

/// Size of a page in bytes, the unit of buffer sizes and addresses.
pub const PAGE_SIZE: u64 = 4096;

/// The kind of a memory access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Loads, message payloads read from memory, state that the fixed functions read.
    Read,
    /// Stores.
    Write,
    /// Read-modify-write.
    Atomic,
    /// Instruction and command fetch.
    Fetch,
}

impl std::fmt::Display for Access {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Access::Read => "read",
            Access::Write => "write",
            Access::Atomic => "atomic operation",
            Access::Fetch => "fetch",
        })
    }
}

/// An access outside of the buffers of the batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("page fault: {access} at 0x{address:x}")]
pub struct PageFault {
    /// First byte of the access that is in no buffer.
    pub address: u64,
    /// The kind of access.
    pub access: Access,
}

/// An address in canonical form: bit 47 repeated in the bits above.
pub const fn canonical(address: u64) -> u64 {
    ((address << 16) as i64 >> 16) as u64
}

/// Whether an address is a multiple of `size`, a power of two.
const fn aligned(address: u64, size: u64) -> bool {
    address & (size - 1) == 0
}

/// A buffer at its GPU address.
#[derive(Debug, Clone)]
struct Binding {
    /// First GPU address, canonical.
    start: u64,
    /// Bytes.
    size: u64,
    /// Bytes after the buffer that read as zeros.
    padding: u64,
    host: *mut u8,
    /// Keeps the memory alive.
    _object: Arc<Object>,
}

/// All buffers that a batch may use, at their GPU addresses.
#[derive(Debug, Default)]
pub struct AddressSpace {
    /// Sorted by `start`, without overlap.
    bindings: Vec<Binding>,
}

// SAFETY: `host` points into the binding's own object, see `Object`.
unsafe impl Send for AddressSpace {}
// SAFETY: it never changes, and all accesses go through atomics or raw copies, which several threads may do
// at once.
unsafe impl Sync for AddressSpace {}

/// Caches the buffer of the last access, so that the lookup of the next access to the same buffer is one
/// comparison. There is one for each message instruction. It can be used with any address space: a stale one
/// only costs time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cursor(u32);

impl AddressSpace {
    /// An address space of buffers, each with its GPU address. `None` when two overlap.
    pub fn new(buffers: impl IntoIterator<Item = (u64, Arc<Object>)>) -> Option<AddressSpace> {
        AddressSpace::padded(buffers.into_iter().map(|(address, object)| (address, object, 0)))
    }

    /// As [`AddressSpace::new`], with the number of bytes of padding of each buffer.
    pub fn padded(buffers: impl IntoIterator<Item = (u64, Arc<Object>, u64)>) -> Option<AddressSpace> {
        let mut bindings: Vec<Binding> = buffers
            .into_iter()
            .map(|(address, object, padding)| Binding {
                start: canonical(address),
                size: object.size,
                padding,
                host: object.address,
                _object: object,
            })
            .collect();
        bindings.sort_unstable_by_key(|b| b.start);
        let apart = bindings.windows(2).all(|w| w[1].start - w[0].start >= w[0].size + w[0].padding);
        apart.then_some(AddressSpace { bindings })
    }

    /// Host address of `address` (canonical) and number of bytes to the end of its buffer; `None` outside of
    /// all.
    #[inline]
    fn rest(&self, cursor: &mut Cursor, address: u64) -> Option<(*mut u8, u64)> {
        if let Some(b) = self.bindings.get(cursor.0 as usize) {
            let offset = address.wrapping_sub(b.start);
            if offset < b.size {
                // SAFETY: the offset is within the object's memory.
                return Some((unsafe { b.host.add(offset as usize) }, b.size - offset));
            }
        }
        self.rest_searched(cursor, address)
    }

    #[cold]
    #[inline(never)]
    fn rest_searched(&self, cursor: &mut Cursor, address: u64) -> Option<(*mut u8, u64)> {
        let index = self.bindings.partition_point(|b| b.start <= address).checked_sub(1)?;
        let b = &self.bindings[index];
        let offset = address - b.start;
        if offset >= b.size {
            return None;
        }
        cursor.0 = index as u32;
        // SAFETY: the offset is within the object's memory.
        Some((unsafe { b.host.add(offset as usize) }, b.size - offset))
    }

    /// Number of bytes of padding from an address that is in no buffer; a fault for accesses other than
    /// loads.
    #[cold]
    #[inline(never)]
    fn padding(&self, address: u64, access: Access) -> Result<u64, PageFault> {
        let fault = PageFault { address, access };
        let index = self.bindings.partition_point(|b| b.start <= address).checked_sub(1).ok_or(fault)?;
        let b = &self.bindings[index];
        match (b.size + b.padding).checked_sub(address - b.start) {
            Some(rest) if rest > 0 && access == Access::Read => Ok(rest),
            _ => Err(fault),
        }
    }

    /// The host memory of `length` bytes from `address` on if they are in one buffer, else `None`. That need
    /// not be a fault, as a range may extend into an adjacent buffer.
    #[inline]
    pub fn range(&self, cursor: &mut Cursor, address: u64, length: u64) -> Option<HostRange<'_>> {
        let (host, rest) = self.rest(cursor, address)?;
        (length <= rest).then_some(HostRange { host, length: length as usize, _space: PhantomData })
    }

    /// The buffer that contains an address: its GPU address, size in bytes, and host address.
    pub fn buffer(&self, address: u64) -> Option<(u64, u64, *mut u8)> {
        let mut cursor = Cursor::default();
        self.rest(&mut cursor, address)?;
        let binding = &self.bindings[cursor.0 as usize];
        Some((binding.start, binding.size, binding.host))
    }

    /// Number of bytes from `address` to the end of its buffer; 0 outside of all buffers.
    pub fn rest_of_buffer(&self, address: u64) -> u64 {
        self.rest(&mut Cursor::default(), address).map_or(0, |(_, rest)| rest)
    }

    /// Checks that all bytes of a range can be accessed. The fault's address is that of the first that
    /// cannot.
    pub fn check(&self, address: u64, length: u64, access: Access) -> Result<(), PageFault> {
        let (mut at, mut left, mut cursor) = (address, length, Cursor::default());
        while left > 0 {
            let rest = match self.rest(&mut cursor, at) {
                Some((_, rest)) => rest,
                None => self.padding(at, access)?,
            };
            let step = rest.min(left);
            at = at.wrapping_add(step);
            left -= step;
        }
        Ok(())
    }

    /// Copies memory from `address` on into `out`.
    #[inline]
    pub fn read(&self, cursor: &mut Cursor, address: u64, out: &mut [u8]) -> Result<(), PageFault> {
        self.read_for(cursor, address, out, Access::Read)
    }

    /// As [`AddressSpace::read`], with another kind of access in the fault.
    pub fn read_for(
        &self,
        cursor: &mut Cursor,
        mut address: u64,
        mut out: &mut [u8],
        access: Access,
    ) -> Result<(), PageFault> {
        while !out.is_empty() {
            let (host, rest) = match self.rest(cursor, address) {
                Some((host, rest)) => (Some(host), rest),
                None => (None, self.padding(address, access)?),
            };
            let step = rest.min(out.len() as u64) as usize;
            let (now, later) = out.split_at_mut(step);
            match host {
                // SAFETY: `step` bytes are within the object; the destination is the caller's own.
                Some(host) => unsafe { ptr::copy_nonoverlapping(host, now.as_mut_ptr(), step) },
                None => now.fill(0),
            }
            out = later;
            address = address.wrapping_add(step as u64);
        }
        Ok(())
    }

    /// Copies `data` to memory from `address` on. On a fault, the bytes before it have been written.
    #[inline]
    pub fn write(&self, cursor: &mut Cursor, mut address: u64, mut data: &[u8]) -> Result<(), PageFault> {
        while !data.is_empty() {
            let fault = PageFault { address, access: Access::Write };
            let (host, rest) = self.rest(cursor, address).ok_or(fault)?;
            let step = rest.min(data.len() as u64) as usize;
            let (now, later) = data.split_at(step);
            // SAFETY: `step` bytes are within the object; the source is the caller's own.
            unsafe { ptr::copy_nonoverlapping(now.as_ptr(), host, step) };
            data = later;
            address = address.wrapping_add(step as u64);
        }
        Ok(())
    }

    /// The host address of an aligned atomic operand.
    fn atomic_operand(&self, cursor: &mut Cursor, address: u64, size: u64) -> Result<*mut u8, PageFault> {
        let fault = PageFault { address, access: Access::Atomic };
        match self.rest(cursor, address) {
            Some((host, rest)) if rest >= size && aligned(address, size) => Ok(host),
            _ => Err(fault),
        }
    }

    /// An aligned dword for atomic operations. An unaligned address is reported as a page fault at that
    /// address; callers that want another fault check it first.
    #[inline]
    pub fn atomic_u32(&self, cursor: &mut Cursor, address: u64) -> Result<&AtomicU32, PageFault> {
        let host = self.atomic_operand(cursor, address, 4)?;
        // SAFETY: inside of an object that lives as long as `self`, and aligned: buffers begin at page
        // boundaries in both address spaces.
        Ok(unsafe { AtomicU32::from_ptr(host.cast()) })
    }

    /// As [`AddressSpace::atomic_u32`] for a qword.
    #[inline]
    pub fn atomic_u64(&self, cursor: &mut Cursor, address: u64) -> Result<&AtomicU64, PageFault> {
        let host = self.atomic_operand(cursor, address, 8)?;
        // SAFETY: inside of an object that lives as long as `self`, and aligned: buffers begin at page
        // boundaries in both address spaces.
        Ok(unsafe { AtomicU64::from_ptr(host.cast()) })
    }
}

/// Typed accesses: relaxed atomics where aligned and within one buffer, else byte copies.
macro_rules! typed {
    ($($int:ident $atomic:ident $read:ident $write:ident;)*) => {
        impl AddressSpace {$(
            #[doc = concat!("Reads a `", stringify!($int), "`, little endian, at any alignment.")]
            #[inline]
            pub fn $read(&self, cursor: &mut Cursor, address: u64) -> Result<$int, PageFault> {
                const SIZE: u64 = size_of::<$int>() as u64;
                match self.rest(cursor, address) {
                    Some((host, rest)) if rest >= SIZE && aligned(address, SIZE) => {
                        // SAFETY: within the object, which lives as long as `self`, and aligned: buffers begin at page
                        // boundaries in both address spaces.
                        Ok(unsafe { $atomic::from_ptr(host.cast()) }.load(Ordering::Relaxed).to_le())
                    }
                    _ => {
                        let mut bytes = [0; size_of::<$int>()];
                        self.read(cursor, address, &mut bytes)?;
                        Ok($int::from_le_bytes(bytes))
                    }
                }
            }

            #[doc = concat!("Writes a `", stringify!($int), "`, little endian, at any alignment.")]
            #[inline]
            pub fn $write(&self, cursor: &mut Cursor, address: u64, value: $int) -> Result<(), PageFault> {
                const SIZE: u64 = size_of::<$int>() as u64;
                match self.rest(cursor, address) {
                    Some((host, rest)) if rest >= SIZE && aligned(address, SIZE) => {
                        // SAFETY: within the object, which lives as long as `self`, and aligned: buffers begin at page
                        // boundaries in both address spaces.
                        unsafe { $atomic::from_ptr(host.cast()) }.store(value.to_le(), Ordering::Relaxed);
                        Ok(())
                    }
                    _ => self.write(cursor, address, &value.to_le_bytes()),
                }
            }
        )*}
    };
}

typed! {
    u8 AtomicU8 read_u8 write_u8;
    u16 AtomicU16 read_u16 write_u16;
    u32 AtomicU32 read_u32 write_u32;
    u64 AtomicU64 read_u64 write_u64;
}

/// The host memory of a range of GPU addresses within one buffer; accesses to it need no further lookup.
#[derive(Clone, Copy, Debug)]
pub struct HostRange<'a> {
    host: *mut u8,
    length: usize,
    _space: PhantomData<&'a AddressSpace>,
}

impl HostRange<'_> {
    /// Size in bytes.
    #[inline]
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether its size is 0.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Whether it begins with these bytes.
    pub fn starts_with(&self, bytes: &[u8]) -> bool {
        if bytes.len() > self.length {
            return false;
        }
        // Word by word, as a reference to memory that other threads write would be unsound.
        let (words, rest) = bytes.as_chunks::<8>();
        words.iter().enumerate().all(|(index, word)| self.word(8 * index) == *word)
            && rest.iter().enumerate().all(|(index, byte)| self.word(8 * words.len() + index) == [*byte])
    }

    /// Reads `N` bytes at `offset`, which the caller has checked.
    fn word<const N: usize>(&self, offset: usize) -> [u8; N] {
        debug_assert!(offset + N <= self.length);
        // SAFETY: within the range, which was checked against its object.
        unsafe { self.host.add(offset).cast::<[u8; N]>().read_volatile() }
    }

    /// The `N` bytes at `offset`. Panics beyond the end.
    #[inline(always)]
    pub fn load<const N: usize>(&self, offset: usize) -> [u8; N] {
        assert!(offset <= self.length && N <= self.length - offset);
        // SAFETY: checked above; the range was checked against its object.
        unsafe { self.host.add(offset).cast::<[u8; N]>().read_unaligned() }
    }

    /// Stores `N` bytes at `offset`. Panics beyond the end.
    #[inline(always)]
    pub fn store<const N: usize>(&self, offset: usize, bytes: [u8; N]) {
        assert!(offset <= self.length && N <= self.length - offset);
        // SAFETY: checked above; the range was checked against its object.
        unsafe { self.host.add(offset).cast::<[u8; N]>().write_unaligned(bytes) }
    }

    /// Copies from `offset` on into `out`. Panics beyond the end.
    #[inline]
    pub fn read(&self, offset: usize, out: &mut [u8]) {
        assert!(offset <= self.length && out.len() <= self.length - offset);
        // SAFETY: checked above; the range was checked against its object.
        unsafe { ptr::copy_nonoverlapping(self.host.add(offset), out.as_mut_ptr(), out.len()) }
    }

    /// Copies `data` to `offset`. Panics beyond the end.
    #[inline]
    pub fn write(&self, offset: usize, data: &[u8]) {
        assert!(offset <= self.length && data.len() <= self.length - offset);
        // SAFETY: checked above; the range was checked against its object.
        unsafe { ptr::copy_nonoverlapping(data.as_ptr(), self.host.add(offset), data.len()) }
    }

    /// Copies dwords from the beginning into `out`, one per lane. Panics beyond the end.
    #[inline]
    pub fn read_dwords(&self, out: &mut [u32]) {
        assert!(size_of_val(out) <= self.length);
        // SAFETY: checked above; any bytes are a `u32` (of the host, which is little endian as the GPU).
        unsafe { ptr::copy_nonoverlapping(self.host, out.as_mut_ptr().cast(), size_of_val(out)) }
    }

    /// Copies dwords to the beginning, one per lane. Panics beyond the end.
    #[inline]
    pub fn write_dwords(&self, data: &[u32]) {
        assert!(size_of_val(data) <= self.length);
        // SAFETY: checked above.
        unsafe { ptr::copy_nonoverlapping(data.as_ptr().cast(), self.host, size_of_val(data)) }
    }
}

#[cfg(test)]
mod tests {
    use super::{Access, AddressSpace, Cursor, Object, PAGE_SIZE, PageFault, canonical};

    /// Two buffers next to each other, a gap of a page, and one in the upper half.
    fn space() -> AddressSpace {
        let buffers = [(0x3000, 1), (0x2000, 1), (0x5000, 1), (0x8000_0000_0000, 2)];
        let buffers = buffers.map(|(address, pages)| (address, Object::create(pages * PAGE_SIZE).unwrap()));
        AddressSpace::new(buffers).unwrap()
    }

    #[test]
    fn addresses_are_canonical() {
        assert_eq!(canonical(0x7fff_ffff_ffff), 0x7fff_ffff_ffff);
        assert_eq!(canonical(0x8000_0000_0000), 0xffff_8000_0000_0000);
        let (space, mut cursor) = (space(), Cursor::default());
        space.write_u32(&mut cursor, 0xffff_8000_0000_1ffc, 7).unwrap();
        assert_eq!(space.read_u32(&mut cursor, 0xffff_8000_0000_1ffc), Ok(7));
        assert!(space.read_u32(&mut cursor, 0x8000_0000_1ffc).is_err(), "not canonical");
    }

    #[test]
    fn accesses_cross_into_the_next_buffer_and_fault_at_the_first_missing_byte() {
        let (space, mut cursor) = (space(), Cursor::default());
        space.write_u64(&mut cursor, 0x2ffd, 0x8877_6655_4433_2211).unwrap();
        assert_eq!(space.read_u64(&mut cursor, 0x2ffd), Ok(0x8877_6655_4433_2211));
        assert_eq!(space.read_u8(&mut cursor, 0x3000), Ok(0x44));
        assert!(space.range(&mut cursor, 0x2ffd, 3).is_some());
        assert!(space.range(&mut cursor, 0x2ffd, 4).is_none(), "not in one buffer");
        assert_eq!(space.check(0x2000, 2 * PAGE_SIZE, Access::Read), Ok(()));
        let fault = |address, access| Some(PageFault { address, access });
        assert_eq!(space.check(0x2000, 2 * PAGE_SIZE + 1, Access::Fetch).err(), fault(0x4000, Access::Fetch));
        assert_eq!(space.write_u32(&mut cursor, 0x3ffe, 0).err(), fault(0x4000, Access::Write));
        assert_eq!(space.read_u16(&mut cursor, 0x1fff).err(), fault(0x1fff, Access::Read));
        assert_eq!(space.read_u32(&mut cursor, u64::MAX).err(), fault(u64::MAX, Access::Read));
        let mut atomic = |address| space.atomic_u32(&mut cursor, address).err();
        assert_eq!(atomic(0x5000), None);
        assert_eq!(atomic(0x5001), fault(0x5001, Access::Atomic));
        assert_eq!(atomic(0x6000), fault(0x6000, Access::Atomic));
    }

    #[test]
    fn padding_reads_as_zeros_and_faults_for_other_accesses() {
        let buffers = [(0x2000, PAGE_SIZE), (0x5000, 0)];
        let buffers = buffers.map(|(at, padding)| (at, Object::create(PAGE_SIZE).unwrap(), padding));
        let (space, mut cursor) = (AddressSpace::padded(buffers).unwrap(), Cursor::default());
        space.write_u64(&mut cursor, 0x2ff8, u64::MAX).unwrap();
        assert_eq!(space.read_u64(&mut cursor, 0x2ffd), Ok(0xff_ffff));
        assert_eq!(space.read_u32(&mut cursor, 0x3000), Ok(0));
        assert_eq!(space.read_u8(&mut cursor, 0x3fff), Ok(0));
        assert!(space.range(&mut cursor, 0x2ffc, 8).is_none() && space.buffer(0x3000).is_none());
        assert_eq!(space.check(0x2000, 2 * PAGE_SIZE, Access::Read), Ok(()));
        let fault = |address, access| Some(PageFault { address, access });
        assert_eq!(space.check(0x2000, 2 * PAGE_SIZE, Access::Write).err(), fault(0x3000, Access::Write));
        assert_eq!(space.read_u64(&mut cursor, 0x3ffc).err(), fault(0x4000, Access::Read));
        assert_eq!(space.read_u8(&mut cursor, 0x4000).err(), fault(0x4000, Access::Read));
        assert_eq!(space.read_u8(&mut cursor, 0x6000).err(), fault(0x6000, Access::Read));
        assert_eq!(space.write_u32(&mut cursor, 0x2ffe, 0).err(), fault(0x3000, Access::Write));
        assert_eq!(space.atomic_u32(&mut cursor, 0x3000).err(), fault(0x3000, Access::Atomic));
        let fetch = space.read_for(&mut cursor, 0x2ffc, &mut [0; 8], Access::Fetch);
        assert_eq!(fetch.err(), fault(0x3000, Access::Fetch));
        let close = [(0x2000, PAGE_SIZE), (0x3000, 0)];
        let close = close.map(|(at, padding)| (at, Object::create(PAGE_SIZE).unwrap(), padding));
        assert!(AddressSpace::padded(close).is_none());
    }

    #[test]
    fn a_cursor_of_another_space_is_only_slow() {
        let (space, mut cursor) = (space(), Cursor::default());
        space.read_u8(&mut cursor, 0xffff_8000_0000_0000).unwrap();
        let small = AddressSpace::new([(0, Object::create(PAGE_SIZE).unwrap())]).unwrap();
        assert_eq!(small.read_u8(&mut cursor, 5), Ok(0));
    }

    #[test]
    fn overlapping_buffers_are_refused() {
        let objects = || [0x1000, 0x2000].map(|address| (address, Object::create(2 * PAGE_SIZE).unwrap()));
        assert!(AddressSpace::new(objects()).is_none());
    }

    #[test]
    fn ranges_are_copied() {
        let (space, mut cursor) = (space(), Cursor::default());
        let range = space.range(&mut cursor, 0x5004, 16).unwrap();
        range.write_dwords(&[1, 2, 3, 4]);
        range.write(2, &[9]);
        let (mut dwords, mut bytes) = ([0; 3], [0; 4]);
        range.read_dwords(&mut dwords);
        range.read(12, &mut bytes);
        assert_eq!((dwords, bytes), ([0x9_0001, 2, 3], [4, 0, 0, 0]));
        assert!(range.starts_with(&[1, 0, 9, 0, 2]) && !range.starts_with(&[1, 0, 9, 0, 3]));
        assert!(!range.starts_with(&[0; 17]));
        assert_eq!(space.rest_of_buffer(0x5004), PAGE_SIZE - 4);
        let buffer = space.buffer(0x5004).map(|(start, size, _)| (start, size));
        assert_eq!(buffer, Some((0x5000, PAGE_SIZE)));
        assert!(space.buffer(0x6000).is_none());
        assert_eq!(space.rest_of_buffer(0x6000), 0);
    }

    #[test]
    #[should_panic(expected = "offset <= self.length")]
    fn accesses_out_of_a_range_panic() {
        let (space, mut cursor) = (space(), Cursor::default());
        space.range(&mut cursor, 0x5000, 8).unwrap().write(6, &[0; 3]);
    }
}
