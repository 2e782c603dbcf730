//! A journal of the last actions of threads, in memory that outlives their process.

use std::ffi::CStr;
use std::fs::File;
use std::io::Result;
use std::os::fd::{AsRawFd, FromRawFd, RawFd};
use std::sync::atomic::{AtomicU64, Ordering};

use memmap2::MmapRaw;

/// Number of entries that are kept for each thread.
const ENTRIES: usize = 24;
/// Size of an entry in words: text, padded with zeros.
const WORDS: usize = 20;
/// Size of a thread's part in words: the number of entries written, then the last ones.
const PART: usize = 1 + ENTRIES * WORDS;

/// The journal of one process, which another one reads while it is written or after the writer has ended.
pub struct Journal {
    file: File,
    memory: MmapRaw,
}

impl Journal {
    /// A journal whose descriptor is inherited by child processes.
    pub fn create(threads: usize) -> Result<Journal> {
        let file = memory_file(c"journal")?;
        file.set_len((threads * PART * size_of::<AtomicU64>()) as u64)?;
        Journal::map(file)
    }

    /// The journal of an inherited descriptor.
    pub fn open(descriptor: RawFd) -> Result<Journal> {
        let path = format!("/proc/self/fd/{descriptor}");
        Journal::map(File::options().read(true).write(true).open(path)?)
    }

    fn map(file: File) -> Result<Journal> {
        Ok(Journal { memory: MmapRaw::map_raw(&file)?, file })
    }

    /// Passes the journal to a child process.
    pub fn descriptor(&self) -> RawFd {
        self.file.as_raw_fd()
    }

    fn words(&self) -> &[AtomicU64] {
        let count = self.memory.len() / size_of::<AtomicU64>();
        // SAFETY: the mapping is there as long as `self`, begins at a page and has that many words; all
        // processes access them as atomics.
        unsafe { std::slice::from_raw_parts(self.memory.as_ptr().cast(), count) }
    }

    /// The count and the entries of a thread.
    fn part(&self, thread: usize) -> (&AtomicU64, &[AtomicU64]) {
        let part = &self.words()[thread * PART..][..PART];
        (&part[0], &part[1..])
    }

    fn threads(&self) -> usize {
        self.words().len() / PART
    }

    /// Records what a thread is going to do: the beginning of the text is kept. Each thread writes its own
    /// part.
    pub fn write(&self, thread: usize, text: &str) {
        let (count, entries) = self.part(thread);
        let number = count.load(Ordering::Relaxed);
        let mut bytes = [0; WORDS * 8];
        bytes.iter_mut().zip(text.bytes()).for_each(|(to, from)| *to = from);
        let entry = &entries[number as usize % ENTRIES * WORDS..][..WORDS];
        for (to, from) in entry.iter().zip(bytes.as_chunks().0) {
            to.store(u64::from_ne_bytes(*from), Ordering::Relaxed);
        }
        count.store(number + 1, Ordering::Release);
    }

    /// How many entries a thread has written.
    pub fn count_of(&self, thread: usize) -> u64 {
        self.part(thread).0.load(Ordering::Acquire)
    }

    /// How many entries all threads have written.
    pub fn count(&self) -> u64 {
        (0..self.threads()).map(|thread| self.count_of(thread)).sum()
    }

    /// The last entries of all threads.
    pub fn text(&self) -> String {
        let mut out = String::new();
        for thread in 0..self.threads() {
            let count = self.count_of(thread);
            out += &format!("thread {thread}, the last of {count}\n");
            for number in count.saturating_sub(ENTRIES as u64)..count {
                let entry = &self.part(thread).1[number as usize % ENTRIES * WORDS..][..WORDS];
                let bytes: Vec<u8> =
                    entry.iter().flat_map(|word| word.load(Ordering::Relaxed).to_ne_bytes()).collect();
                out += &format!("  {}\n", String::from_utf8_lossy(&bytes).trim_end_matches('\0'));
            }
        }
        out
    }
}

/// An anonymous file, for this process and its children.
pub fn memory_file(name: &CStr) -> Result<File> {
    // SAFETY: the name is a C string, which the call only reads.
    let descriptor = unsafe { libc::memfd_create(name.as_ptr(), 0) };
    if descriptor < 0 {
        return Err(std::io::Error::last_os_error());
    }
    // SAFETY: the descriptor is new and not used elsewhere.
    Ok(unsafe { File::from_raw_fd(descriptor) })
}
