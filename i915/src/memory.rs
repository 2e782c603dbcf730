//! Memory that CPU and GPU share: mappings of buffers and memory of the application, as one type with checked
//! copies.

use std::sync::Arc;

use memmap2::{Advice, MmapOptions, MmapRaw};

/// Bytes of a huge page on most hosts.
const HUGE_PAGE: usize = 2 << 20;

/// A range of memory outside of Rust's ownership: a buffer's mapping or memory of the application.
///
/// Other threads, the application and the GPU may write to it at any time. So there are no references to its
/// bytes; they are only copied, by `memcpy`. A copy during a write has old or new bytes, as the hardware
/// yields (docs/eu.md, "Memory that others write"). Methods panic for ranges out of bounds, like slices.
#[derive(Clone, Debug)]
pub struct HostMemory {
    address: *mut u8,
    length: usize,
    /// Keeps a mapping alive; `None` for the application's memory.
    mapping: Option<Arc<MmapRaw>>,
}

// SAFETY: the bytes are only accessed by copies through raw pointers, which is what the type's contract
// allows any thread to do at any time.
unsafe impl Send for HostMemory {}
// SAFETY: all methods copy through raw pointers, which several threads may do at once.
unsafe impl Sync for HostMemory {}

impl HostMemory {
    /// Memory of the application.
    ///
    /// # Safety
    /// `address` is valid for reads of `length` bytes, and for writes where the operation that it is given to
    /// writes, for as long as this value or one derived from it (a clone, a [`HostMemory::slice`], a
    /// [`GemBuffer`](crate::GemBuffer)) lives. The caller holds no Rust reference to the bytes meanwhile. For
    /// the calls of OpenCL: until the command has ended, and for `CL_MEM_USE_HOST_PTR` until the memory object
    /// is destroyed; that is what the specification asks of the application.
    pub unsafe fn new(address: *mut u8, length: usize) -> Self {
        Self { address, length, mapping: None }
    }

    /// A mapped buffer, all of it.
    pub fn from_mapping(mapping: MmapRaw) -> Self {
        Self { address: mapping.as_mut_ptr(), length: mapping.len(), mapping: Some(Arc::new(mapping)) }
    }

    /// Zeroed memory, in whole pages. Untouched pages take no memory. Huge pages are used if the system has
    /// them, also for a rest of at least half a huge page, so that tables of a megabyte are in one page.
    ///
    /// # Errors
    /// Those of `mmap`.
    pub fn zeros(length: usize) -> std::io::Result<Self> {
        let huge = length.checked_add(HUGE_PAGE / 2).ok_or(std::io::ErrorKind::OutOfMemory)?;
        let huge = huge / HUGE_PAGE * HUGE_PAGE;
        // The mapping may begin anywhere in a huge page.
        let around = if huge == 0 { 0 } else { HUGE_PAGE };
        let whole = length.max(huge).checked_add(around).ok_or(std::io::ErrorKind::OutOfMemory)?;
        let mapping = MmapOptions::new().len(whole).no_reserve_swap().map_anon()?;
        let skipped = if around == 0 { 0 } else { mapping.as_ptr().align_offset(HUGE_PAGE) };
        if around > 0 {
            // Fails on systems without huge pages, which is no error.
            let _ = mapping.advise_range(Advice::HugePage, skipped, huge);
        }
        Ok(Self::from_mapping(mapping.into()).slice(skipped, length))
    }

    /// Address of the first byte.
    pub fn address(&self) -> *mut u8 {
        self.address
    }

    /// Size in bytes.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether it is the application's, not a mapping.
    pub(crate) fn is_foreign(&self) -> bool {
        self.mapping.is_none()
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// A part of the memory.
    pub fn slice(&self, offset: usize, length: usize) -> Self {
        Self { address: self.at(offset, length), length, mapping: self.mapping.clone() }
    }

    /// The address of `offset`, checked to have `length` bytes behind it.
    fn at(&self, offset: usize, length: usize) -> *mut u8 {
        let end = offset.checked_add(length);
        assert!(
            end.is_some_and(|end| end <= self.length),
            "{length} bytes from {offset} on are not within {} bytes of memory",
            self.length
        );
        self.address.wrapping_add(offset)
    }

    /// Copies bytes from the memory.
    pub fn read(&self, offset: usize, out: &mut [u8]) {
        let from = self.at(offset, out.len());
        // SAFETY: `at` has checked the range, the contract of `new` makes it readable, and `out` is
        // not aliased.
        unsafe { std::ptr::copy(from, out.as_mut_ptr(), out.len()) }
    }

    /// Copies bytes to the memory.
    pub fn write(&self, offset: usize, data: &[u8]) {
        let to = self.at(offset, data.len());
        // SAFETY: `at` has checked the range, the contract of `new` makes it writable.
        unsafe { std::ptr::copy(data.as_ptr(), to, data.len()) }
    }

    /// Copies from other memory, which may overlap.
    pub fn copy_from(&self, offset: usize, source: &HostMemory, source_offset: usize, length: usize) {
        let from = source.at(source_offset, length);
        let to = self.at(offset, length);
        // SAFETY: both ranges are checked, and `ptr::copy` allows overlap.
        unsafe { std::ptr::copy(from, to, length) }
    }

    /// Fills with one byte.
    pub fn fill(&self, offset: usize, length: usize, value: u8) {
        let to = self.at(offset, length);
        // SAFETY: the range is checked and writable by the contract of `new`.
        unsafe { std::ptr::write_bytes(to, value, length) }
    }

    /// Reads a little-endian 64-bit integer, such as a timestamp.
    pub fn read_u64(&self, offset: usize) -> u64 {
        let mut bytes = [0; 8];
        self.read(offset, &mut bytes);
        u64::from_le_bytes(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_between_ranges() {
        let memory = HostMemory::zeros(4096).unwrap();
        memory.write(8, &[1, 2, 3, 4]);
        memory.copy_from(10, &memory, 8, 4);
        let mut out = [0; 8];
        memory.slice(8, 8).read(0, &mut out);
        assert_eq!(out, [1, 2, 1, 2, 3, 4, 0, 0]);
        memory.fill(8, 8, 0xff);
        assert_eq!(memory.read_u64(8), u64::MAX);
    }

    #[test]
    #[should_panic(expected = "not within")]
    fn refuses_what_is_out_of_bounds() {
        let memory = HostMemory::zeros(4096).unwrap();
        memory.write(4095, &[1, 2]);
    }
}
