//! The memory of buffer objects.

use std::os::fd::{AsRawFd, FromRawFd};
use std::sync::Arc;

use gencl_i915::HostMemory;
use memmap2::{MmapOptions, MmapRaw};

use super::PAGE_SIZE;

/// The memory of a GEM buffer object.
#[derive(Debug)]
pub struct Object {
    pub(super) address: *mut u8,
    pub(super) size: u64,
    backing: Backing,
}

#[derive(Debug)]
enum Backing {
    /// A `memfd`, of which the application can have mappings that outlive the object.
    File { file: std::fs::File, _map: MmapRaw },
    /// Private memory of the process.
    Private(HostMemory),
    /// The application's memory (userptr).
    User,
}

// SAFETY: the pointer is to memory that stays mapped as long as the object lives (`File`, `Private`: by its
// own mapping; `User`: by the contract of `userptr`), and all accesses go through atomics or raw copies.
unsafe impl Send for Object {}
// SAFETY: all accesses go through atomics or raw copies, which several threads may do at once.
unsafe impl Sync for Object {}

impl Object {
    /// Zeroed memory of `size` bytes, a multiple of [`PAGE_SIZE`] and not 0. Pages are allocated when they
    /// are first accessed.
    pub fn create(size: u64) -> std::io::Result<Arc<Object>> {
        Object::mapped(memory_file(size)?, size)
    }

    /// As [`Object::create`], but private to this process.
    pub fn private(size: u64) -> std::io::Result<Arc<Object>> {
        let memory = HostMemory::zeros(usize::try_from(size).map_err(std::io::Error::other)?)?;
        Ok(Arc::new(Object { address: memory.address(), size, backing: Backing::Private(memory) }))
    }

    fn mapped(file: std::fs::File, size: u64) -> std::io::Result<Arc<Object>> {
        let length = usize::try_from(size).map_err(std::io::Error::other)?;
        let map = MmapOptions::new().len(length).map_raw(&file)?;
        Ok(Arc::new(Object { address: map.as_mut_ptr(), size, backing: Backing::File { file, _map: map } }))
    }

    /// The memory of a file from [`Object::file`], perhaps of another process. An error of kind
    /// `InvalidInput` for other files: the size must be sealed, or a later access could raise SIGBUS.
    pub fn import(file: std::fs::File) -> std::io::Result<Arc<Object>> {
        // SAFETY: no pointers.
        let seals = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GET_SEALS) };
        let size = file.metadata()?.len();
        if seals == -1 || seals & SEALS != SEALS || size == 0 || size % PAGE_SIZE != 0 {
            return Err(std::io::ErrorKind::InvalidInput.into());
        }
        Object::mapped(out_of_the_way(file), size)
    }

    /// The caller's memory as an object. `address` and `size` are multiples of [`PAGE_SIZE`].
    ///
    /// # Safety
    /// The memory must stay mapped, readable and writable until the object is dropped.
    pub unsafe fn userptr(address: *mut u8, size: u64) -> Arc<Object> {
        Arc::new(Object { address, size, backing: Backing::User })
    }

    /// Size in bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Whether it is the application's own memory.
    pub fn is_userptr(&self) -> bool {
        matches!(self.backing, Backing::User)
    }

    /// Whether it overlaps a range of host addresses.
    pub fn overlaps(&self, address: u64, length: u64) -> bool {
        let start = self.address as u64;
        start < address.saturating_add(length) && address < start.saturating_add(self.size)
    }

    /// Whether all of it can be read and written; `true` if that cannot be determined.
    pub fn is_accessible(&self) -> bool {
        let Ok(maps) = std::fs::read_to_string("/proc/self/maps") else { return true };
        let (mut next, end) = (self.address as u64, (self.address as u64).saturating_add(self.size));
        for line in maps.lines() {
            let Some((from, to, writable)) = parse_mapping(line) else { return true };
            if to <= next {
                continue;
            }
            if from > next || !writable {
                return false;
            }
            next = to;
            if next >= end {
                return true;
            }
        }
        false
    }

    /// A new descriptor of the object's file, `None` if it has none.
    pub fn file(&self) -> Option<std::io::Result<std::os::fd::OwnedFd>> {
        match &self.backing {
            Backing::File { file, .. } => Some(file.try_clone().map(Into::into)),
            Backing::Private(_) | Backing::User => None,
        }
    }

    /// A mapping of the whole object, `None` for the application's own memory.
    pub fn map(&self) -> Option<std::io::Result<HostMemory>> {
        match &self.backing {
            Backing::File { file, .. } => {
                let mapping = MmapOptions::new().len(self.size as usize).map_raw(file);
                Some(mapping.map(HostMemory::from_mapping))
            }
            Backing::Private(memory) => Some(Ok(memory.clone())),
            Backing::User => None,
        }
    }
}

/// Start and end address of a line of `/proc/self/maps`, and whether it is readable and writable.
fn parse_mapping(line: &str) -> Option<(u64, u64, bool)> {
    let (range, rest) = line.split_once(' ')?;
    let (from, to) = range.split_once('-')?;
    let number = |text| u64::from_str_radix(text, 16).ok();
    Some((number(from)?, number(to)?, rest.starts_with("rw")))
}

/// Seals that fix the size of a buffer's file: otherwise another process that has it could remove mapped
/// pages.
const SEALS: i32 = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_SEAL;

/// Lowest file descriptor of buffers, if possible: the descriptors of the program itself then stay as low as
/// without the driver, which matters to programs that use `select`.
const LOWEST_DESCRIPTOR: i32 = 1024;

/// An anonymous file in memory.
fn memory_file(size: u64) -> std::io::Result<std::fs::File> {
    // SAFETY: the name is a C string; the result is checked.
    let fd =
        unsafe { libc::memfd_create(c"gencl buffer".as_ptr(), libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING) };
    if fd < 0 {
        return Err(std::io::Error::last_os_error());
    }
    // SAFETY: the descriptor is new and nobody else's.
    let file = unsafe { std::fs::File::from_raw_fd(fd) };
    file.set_len(size)?;
    // SAFETY: no pointers.
    if unsafe { libc::fcntl(file.as_raw_fd(), libc::F_ADD_SEALS, SEALS) } == -1 {
        return Err(std::io::Error::last_os_error());
    }
    Ok(out_of_the_way(file))
}

/// Makes the kernel enlarge the process's descriptor table for the descriptors of buffers. In a process with
/// several threads, that takes some ten milliseconds for an RCU grace period, so it is best done early.
pub fn enlarge_descriptor_table() {
    // On failure the first buffer takes longer, nothing else.
    let _ = memory_file(0);
}

/// Moves a file to a descriptor from [`LOWEST_DESCRIPTOR`] on; unchanged if there is none.
fn out_of_the_way(file: std::fs::File) -> std::fs::File {
    // SAFETY: no pointers; the result is checked.
    let fd = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_DUPFD_CLOEXEC, LOWEST_DESCRIPTOR) };
    // SAFETY: the descriptor is new and nobody else's.
    if fd < 0 { file } else { unsafe { std::fs::File::from_raw_fd(fd) } }
}
