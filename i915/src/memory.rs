//! Memory that the processor and the GPU share: mappings of buffers and the application's own
//! memory, behind one type with checked copies, and buffer objects that close themselves.

use std::sync::Arc;

use memmap2::{Advice, MmapOptions, MmapRaw};

use crate::{GemHandle, RenderNode, Result};

/// Bytes of a huge page, on most hosts: one entry of the processor's tables for what takes 512 of others.
const HUGE_PAGE: usize = 2 << 20;

/// A range of memory outside of Rust's ownership: a buffer's mapping or memory of the application.
///
/// Other threads, the application and the GPU may write to it at any time, so no reference to its bytes is
/// ever made; they are only copied, by `memcpy`. What a copy yields while somebody writes is what the
/// hardware yields: old or new bytes (docs/eu.md, "Memory that others write"). Offsets are checked, and a
/// range that is out of bounds is a panic, as it is with slices.
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
    /// [`GemBuffer`]) lives. The caller holds no Rust reference to the bytes meanwhile. For the calls of
    /// OpenCL: until the command has ended, and for `CL_MEM_USE_HOST_PTR` until the memory object is
    /// destroyed; that is what the specification asks of the application.
    pub unsafe fn new(address: *mut u8, length: usize) -> Self {
        Self { address, length, mapping: None }
    }

    /// A mapped buffer, all of it.
    pub fn from_mapping(mapping: MmapRaw) -> Self {
        Self { address: mapping.as_mut_ptr(), length: mapping.len(), mapping: Some(Arc::new(mapping)) }
    }

    /// Memory of zeros, whole pages. Those that are never touched take none. They are huge where there is
    /// room for some, and the system has them; what is left at the end is one, too, if it is at least half of
    /// one, so that tables of a megabyte are in one page.
    ///
    /// # Errors
    /// The system has no such range of addresses.
    pub fn zeros(length: usize) -> std::io::Result<Self> {
        let huge = length.checked_add(HUGE_PAGE / 2).ok_or(std::io::ErrorKind::OutOfMemory)?;
        let huge = huge / HUGE_PAGE * HUGE_PAGE;
        // Where the mapping begins is not known before.
        let around = if huge == 0 { 0 } else { HUGE_PAGE };
        let whole = length.max(huge).checked_add(around).ok_or(std::io::ErrorKind::OutOfMemory)?;
        let mapping = MmapOptions::new().len(whole).no_reserve_swap().map_anon()?;
        let skipped = if around == 0 { 0 } else { mapping.as_ptr().align_offset(HUGE_PAGE) };
        if around > 0 {
            // A system without huge pages has others.
            let _ = mapping.advise_range(Advice::HugePage, skipped, huge);
        }
        Ok(Self::from_mapping(mapping.into()).slice(skipped, length))
    }

    /// Where it begins.
    pub fn address(&self) -> *mut u8 {
        self.address
    }

    /// Bytes.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Is it empty?
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// A part of it.
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

    /// Copies bytes out.
    pub fn read(&self, offset: usize, out: &mut [u8]) {
        let from = self.at(offset, out.len());
        // SAFETY: `at` has checked the range, the contract of `new` makes it readable, and `out` is
        // exclusively ours.
        unsafe { std::ptr::copy(from, out.as_mut_ptr(), out.len()) }
    }

    /// Copies bytes in.
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

    /// Reads a little-endian 64-bit number, for instance a timestamp that the GPU wrote.
    pub fn read_u64(&self, offset: usize) -> u64 {
        let mut bytes = [0; 8];
        self.read(offset, &mut bytes);
        u64::from_le_bytes(bytes)
    }
}

/// A buffer object that is closed when it is dropped.
pub struct GemBuffer {
    node: Arc<dyn RenderNode>,
    handle: GemHandle,
    memory: HostMemory,
}

impl std::fmt::Debug for GemBuffer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GemBuffer").field("handle", &self.handle).field("memory", &self.memory).finish()
    }
}

impl GemBuffer {
    /// Makes and maps a buffer of `size` bytes, rounded up to whole pages.
    pub fn create(node: &Arc<dyn RenderNode>, size: u64) -> Result<Self> {
        let handle = node.gem_create(size)?;
        match node.gem_map(handle) {
            Ok(memory) => Ok(Self { node: node.clone(), handle, memory }),
            Err(error) => {
                // The first error is the one that tells; closing a fresh handle does not fail.
                let _ = node.gem_close(handle);
                Err(error)
            }
        }
    }

    /// Makes a buffer of memory of the application. `EINVAL` unless address and length are multiples of a
    /// page.
    pub fn from_host(node: &Arc<dyn RenderNode>, memory: HostMemory) -> Result<Self> {
        // SAFETY: the contract of `HostMemory::new` keeps the memory mapped for as long as `memory`, which
        // lives in the result, whose `drop` waits for the GPU and closes the handle.
        let handle = unsafe { node.gem_userptr(memory.address, memory.length) }?;
        Ok(Self { node: node.clone(), handle, memory })
    }

    /// The handle.
    pub fn handle(&self) -> GemHandle {
        self.handle
    }

    /// The bytes, as the processor sees them.
    pub fn memory(&self) -> &HostMemory {
        &self.memory
    }

    /// Waits until no batch uses the buffer.
    pub fn wait(&self) -> Result<()> {
        self.node.gem_wait(self.handle, -1)
    }
}

impl Drop for GemBuffer {
    fn drop(&mut self) {
        if self.memory.mapping.is_none() {
            // The application gets its memory back now, so the GPU has to be done with it. There is no one to
            // report to.
            let _ = self.node.gem_wait(self.handle, -1);
        }
        let _ = self.node.gem_close(self.handle);
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
