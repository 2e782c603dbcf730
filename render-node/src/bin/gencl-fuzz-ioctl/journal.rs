//! The last actions of threads, in memory that outlives their process.

use std::io::Result;
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::memory_file;

/// Entries of each thread.
const ENTRIES: usize = 24;
/// Bytes of an entry: text, filled up with zeros.
const ENTRY: usize = 120;
/// Bytes of a thread's part: number of requests, then entries.
const PART: usize = 8 + ENTRIES * ENTRY;

/// The journal of one process.
pub struct Journal {
    file: OwnedFd,
    memory: *mut u8,
    threads: usize,
}

// SAFETY: each thread writes to a part of its own; counts are atomic.
unsafe impl Sync for Journal {}

impl Journal {
    /// A journal whose descriptor the next process inherits.
    pub fn create(threads: usize) -> Result<Journal> {
        let fd = memory_file(c"journal")?.into_raw_fd();
        // SAFETY: no pointers.
        if unsafe { libc::ftruncate(fd, (PART * threads) as i64) } < 0 {
            return Err(std::io::Error::last_os_error());
        }
        Journal::open(fd, threads)
    }

    /// The journal of an inherited descriptor.
    pub fn open(fd: i32, threads: usize) -> Result<Journal> {
        // SAFETY: the descriptor was made for this.
        let file = unsafe { OwnedFd::from_raw_fd(fd) };
        let all = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping.
        let memory =
            unsafe { libc::mmap(std::ptr::null_mut(), PART * threads, all, libc::MAP_SHARED, fd, 0) };
        if memory == libc::MAP_FAILED {
            return Err(std::io::Error::last_os_error());
        }
        Ok(Journal { file, memory: memory.cast(), threads })
    }

    /// The descriptor, for the process that writes the journal.
    pub fn descriptor(&self) -> i32 {
        self.file.as_raw_fd()
    }

    fn counter(&self, thread: usize) -> &AtomicU64 {
        assert!(thread < self.threads);
        // SAFETY: within the mapping and aligned, as parts are multiples of 8.
        unsafe { AtomicU64::from_ptr(self.memory.add(thread * PART).cast()) }
    }

    fn entry(&self, thread: usize, number: u64) -> *mut u8 {
        assert!(thread < self.threads);
        // SAFETY: within the mapping.
        unsafe { self.memory.add(thread * PART + 8 + number as usize % ENTRIES * ENTRY) }
    }

    /// Adds an entry before an action of a thread.
    pub fn write(&self, thread: usize, text: &str) {
        let number = self.counter(thread).load(Ordering::Relaxed);
        let mut bytes = [0; ENTRY];
        bytes.iter_mut().zip(text.bytes()).for_each(|(to, from)| *to = from);
        // SAFETY: an entry of this thread.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.entry(thread, number), ENTRY) };
        self.counter(thread).store(number + 1, Ordering::Relaxed);
    }

    /// Number of entries that a thread has written.
    pub fn count_of(&self, thread: usize) -> u64 {
        self.counter(thread).load(Ordering::Relaxed)
    }

    /// Number of entries that all threads have written.
    pub fn count(&self) -> u64 {
        (0..self.threads).map(|thread| self.count_of(thread)).sum()
    }

    /// The last entries of all threads.
    pub fn text(&self) -> String {
        let mut out = String::new();
        for thread in 0..self.threads {
            let count = self.count_of(thread);
            out += &format!("thread {thread}, {count} requests\n");
            for number in count.saturating_sub(ENTRIES as u64)..count {
                let mut bytes = [0; ENTRY];
                // SAFETY: an entry.
                unsafe {
                    std::ptr::copy_nonoverlapping(self.entry(thread, number), bytes.as_mut_ptr(), ENTRY)
                };
                out += &format!("  {}\n", String::from_utf8_lossy(&bytes).trim_end_matches('\0'));
            }
        }
        out
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and nothing refers to it any more.
        unsafe { libc::munmap(self.memory.cast(), PART * self.threads) };
    }
}
