//! Memory for arguments, with unmapped memory behind and a pattern before it.

use crate::layout::{self, Layout};

/// Bytes of an arena that can be accessed.
const SIZE: usize = 16 << 12;
const PAGE: usize = 4096;

/// Pages between two inaccessible ones. The data end at the end of the last page; the rest has a pattern.
pub struct Arena {
    begin: *mut u8,
    /// Begin of the data.
    used: usize,
    /// The data, and which bytes may change.
    given: Vec<u8>,
    layout: &'static Layout,
}

fn pattern(offset: usize) -> u8 {
    (offset as u8).wrapping_mul(37) ^ 0x5a
}

impl Arena {
    /// A new one. Panics without memory.
    pub fn new() -> Arena {
        let length = SIZE + 2 * PAGE;
        let (anonymous, all) = (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, libc::PROT_READ | libc::PROT_WRITE);
        // SAFETY: a new mapping, the middle of which is made accessible.
        let begin = unsafe {
            let base = libc::mmap(std::ptr::null_mut(), length, libc::PROT_NONE, anonymous, -1, 0);
            assert_ne!(base, libc::MAP_FAILED, "no memory");
            let begin = base.cast::<u8>().add(PAGE);
            assert_eq!(libc::mprotect(begin.cast(), SIZE, all), 0);
            begin
        };
        let arena = Arena { begin, used: SIZE, given: Vec::new(), layout: &layout::BYTES };
        for offset in 0..SIZE {
            arena.set(offset, pattern(offset));
        }
        arena
    }

    fn set(&self, offset: usize, value: u8) {
        assert!(offset < SIZE);
        // SAFETY: within the arena.
        unsafe { self.begin.add(offset).write(value) }
    }

    fn get(&self, offset: usize) -> u8 {
        assert!(offset < SIZE);
        // SAFETY: within the arena.
        unsafe { self.begin.add(offset).read() }
    }

    /// Puts bytes at the end, in place of earlier ones. Returns their address.
    pub fn put(&mut self, bytes: &[u8], layout: &'static Layout) -> u64 {
        (self.given, self.layout) = (bytes.to_vec(), layout);
        (self.used..SIZE).for_each(|offset| self.set(offset, pattern(offset)));
        self.used = SIZE - bytes.len();
        for (offset, byte) in (self.used..).zip(bytes) {
            self.set(offset, *byte);
        }
        self.begin as u64 + self.used as u64
    }

    /// The current bytes.
    pub fn take(&self) -> Vec<u8> {
        (self.used..SIZE).map(|offset| self.get(offset)).collect()
    }

    /// Whether the memory before the data is unchanged.
    pub fn is_whole(&self) -> bool {
        // Only the pages directly before, as writes further away are unlikely.
        (self.used.saturating_sub(2 * PAGE)..self.used).all(|offset| self.get(offset) == pattern(offset))
    }

    /// Whether the data are unchanged, except for bytes that the node writes.
    pub fn is_as_given(&self) -> bool {
        let pairs = self.given.iter().zip(self.used..).enumerate();
        pairs.into_iter().all(|(at, (byte, offset))| self.layout.is_written(at) || self.get(offset) == *byte)
    }

    /// An inaccessible address.
    pub fn behind(&self) -> u64 {
        self.begin as u64 + SIZE as u64
    }
}

/// Memory for userptr: pages with a guard page on both sides that is mapped but not part of the buffer, and
/// inaccessible pages around.
pub struct Lent {
    begin: *mut u8,
    pages: usize,
}

impl Lent {
    /// So many pages.
    pub fn new(pages: usize) -> Lent {
        let length = (pages + 4) * PAGE;
        let (anonymous, all) = (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, libc::PROT_READ | libc::PROT_WRITE);
        // SAFETY: a new mapping, the middle of which is made accessible.
        unsafe {
            let base = libc::mmap(std::ptr::null_mut(), length, libc::PROT_NONE, anonymous, -1, 0);
            assert_ne!(base, libc::MAP_FAILED, "no memory");
            let base = base.cast::<u8>();
            assert_eq!(libc::mprotect(base.add(PAGE).cast(), (pages + 2) * PAGE, all), 0);
            let lent = Lent { begin: base.add(2 * PAGE), pages };
            lent.sides(|at, offset| at.write(pattern(offset)));
            lent
        }
    }

    /// Calls a function for the bytes of the guard pages.
    fn sides(&self, mut each: impl FnMut(*mut u8, usize)) {
        for offset in 0..PAGE {
            // SAFETY: the page before and the page behind belong to the mapping.
            unsafe {
                each(self.begin.sub(PAGE).add(offset), offset);
                each(self.begin.add(self.pages * PAGE + offset), offset);
            }
        }
    }

    /// Whether the guard pages are unchanged.
    pub fn is_whole(&self) -> bool {
        let mut whole = true;
        // SAFETY: the byte is one of the pages beside, which are mapped.
        self.sides(|at, offset| whole &= unsafe { at.read() } == pattern(offset));
        whole
    }

    /// Address and size in bytes.
    pub fn range(&self) -> (u64, u64) {
        (self.begin as u64, (self.pages * PAGE) as u64)
    }

    /// The last dword.
    pub fn last(&self) -> u32 {
        // SAFETY: within the pages; the GPU may have written it.
        unsafe { self.begin.add(self.pages * PAGE).cast::<u32>().sub(1).read_volatile() }
    }

    /// Replaces the pages by others, even if batches use them. The addresses are never free, as another
    /// thread could get them.
    pub fn replace(&self) {
        let fixed = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
        for protection in [libc::PROT_NONE, libc::PROT_READ | libc::PROT_WRITE] {
            // SAFETY: the pages are our own, and nothing refers to them but the GPU, which is what is tried.
            let again = unsafe { libc::mmap(self.begin.cast(), self.pages * PAGE, protection, fixed, -1, 0) };
            assert_eq!(again.cast::<u8>(), self.begin);
        }
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        // SAFETY: the mapping is our own, and nothing refers to it but the GPU, which is what is tried.
        unsafe { libc::munmap(self.begin.sub(2 * PAGE).cast(), (self.pages + 4) * PAGE) };
    }
}
