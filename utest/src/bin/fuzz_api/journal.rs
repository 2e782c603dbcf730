//! What threads did last, in memory that outlives their process.

use std::io::Result;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};

use memmap2::{MmapOptions, MmapRaw};

/// Entries of each thread.
const ENTRIES: usize = 16;
/// Bytes of an entry: text, filled up with zeros.
const ENTRY: usize = 160;
/// Bytes of a thread's part: how many calls it made, then entries.
const PART: usize = 8 + ENTRIES * ENTRY;

/// The journal of one process.
pub struct Journal {
    file: OwnedFd,
    memory: MmapRaw,
    threads: usize,
}

impl Journal {
    /// A journal whose descriptor the next process inherits.
    pub fn create(threads: usize) -> Result<Self> {
        // SAFETY: the name is a C string; the result is checked.
        let descriptor = unsafe { libc::memfd_create(c"journal".as_ptr(), 0) };
        if descriptor < 0 {
            return Err(std::io::Error::last_os_error());
        }
        // SAFETY: the descriptor is new.
        if unsafe { libc::ftruncate(descriptor, (PART * threads) as i64) } < 0 {
            return Err(std::io::Error::last_os_error());
        }
        Self::open(descriptor, threads)
    }

    /// The journal of an inherited descriptor.
    pub fn open(descriptor: i32, threads: usize) -> Result<Self> {
        // SAFETY: the descriptor was made for this.
        let file = unsafe { OwnedFd::from_raw_fd(descriptor) };
        let memory = MmapOptions::new().len(PART * threads).map_raw(&file)?;
        Ok(Self { file, memory, threads })
    }

    /// For the process that is to write it.
    pub fn descriptor(&self) -> i32 {
        self.file.as_raw_fd()
    }

    fn counter(&self, thread: usize) -> &AtomicU64 {
        assert!(thread < self.threads);
        // SAFETY: within the mapping and aligned, as parts are multiples of 8.
        unsafe { AtomicU64::from_ptr(self.memory.as_mut_ptr().add(thread * PART).cast()) }
    }

    fn entry(&self, thread: usize, number: u64) -> *mut u8 {
        assert!(thread < self.threads);
        // SAFETY: within the mapping.
        unsafe { self.memory.as_mut_ptr().add(thread * PART + 8 + number as usize % ENTRIES * ENTRY) }
    }

    /// A thread is going to make a call.
    pub fn write(&self, thread: usize, text: &str) {
        let number = self.count_of(thread);
        let mut bytes = [0; ENTRY];
        bytes.iter_mut().zip(text.bytes()).for_each(|(to, from)| *to = from);
        // SAFETY: an entry of this thread.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.entry(thread, number), ENTRY) };
        self.counter(thread).store(number + 1, Ordering::Relaxed);
    }

    /// How many calls a thread has begun.
    pub fn count_of(&self, thread: usize) -> u64 {
        self.counter(thread).load(Ordering::Relaxed)
    }

    /// How many calls all threads have begun.
    pub fn count(&self) -> u64 {
        (0..self.threads).map(|thread| self.count_of(thread)).sum()
    }

    /// The last entries of all threads.
    pub fn text(&self) -> String {
        let mut out = String::new();
        for thread in 0..self.threads {
            let count = self.count_of(thread);
            out += &format!("thread {thread}, {count} calls\n");
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
