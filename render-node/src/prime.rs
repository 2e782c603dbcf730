//! PRIME: export of buffers as descriptors, and import by other open files and processes.
//!
//! The descriptor is the file of the buffer's memory. Open files of one process also share the buffer's
//! fences, so that batches wait for each other; other processes share only the bytes.

use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::sync::Arc;

use gencl_i915::uapi::{DmaBufSyncFile, PrimeHandle};
use gencl_i915::{Errno, GemHandle, Result};
use gencl_simulator::{Buffer, Fence};

use crate::open_file::{FileId, OpenFile};
use crate::{caller, descriptors, real, sync_file};

const EINVAL: Errno = Errno(libc::EINVAL);

/// Device and inode of a descriptor. `EBADF`.
fn file_id(fd: RawFd) -> Result<FileId> {
    let mut status = std::mem::MaybeUninit::<libc::stat>::zeroed();
    // SAFETY: the structure has room for the result.
    if unsafe { libc::fstat(fd, status.as_mut_ptr()) } < 0 {
        return Err(Errno(libc::EBADF));
    }
    // SAFETY: it was zeroed, and then filled in.
    let status = unsafe { status.assume_init() };
    Ok((status.st_dev, status.st_ino))
}

/// `DRM_IOCTL_PRIME_HANDLE_TO_FD`
pub fn export(file: &OpenFile, args: &mut PrimeHandle) -> Result<()> {
    let known = (libc::O_CLOEXEC | libc::O_RDWR) as u32;
    if args.flags & !known != 0 {
        return Err(EINVAL);
    }
    let buffer = file.simulator.buffer(GemHandle(args.handle))?;
    if buffer.is_userptr() {
        // `i915_gem_userptr_dmabuf_export`
        return Err(EINVAL);
    }
    let ours = buffer.file()?;
    let id = file_id(ours.as_raw_fd())?;
    descriptors::buffer(id, || Ok::<_, Errno>(Arc::clone(&buffer)))?;
    file.shared.lock().0.insert(id, args.handle);
    // Our descriptors have high numbers; the program's has to be the lowest free one.
    let command =
        if args.flags & libc::O_CLOEXEC as u32 != 0 { libc::F_DUPFD_CLOEXEC } else { libc::F_DUPFD };
    // SAFETY: no pointers; the result is checked.
    args.fd = unsafe { real::fcntl(ours.as_raw_fd(), command, 0) };
    if args.fd < 0 { Err(Errno(libc::EMFILE)) } else { Ok(()) }
}

/// `DRM_IOCTL_PRIME_FD_TO_HANDLE`
pub fn import(file: &OpenFile, args: &mut PrimeHandle) -> Result<()> {
    let id = file_id(args.fd)?;
    let make = || {
        // SAFETY: `fstat` has just found it open; should another thread close it, the duplication fails.
        let borrowed = unsafe { BorrowedFd::borrow_raw(args.fd) };
        Buffer::import(borrowed.try_clone_to_owned().map_err(|_| Errno(libc::EBADF))?)
    };
    let buffer = descriptors::buffer(id, make)?;
    let mut shared = file.shared.lock();
    args.handle = match shared.0.get(&id) {
        Some(handle) => *handle,
        None => {
            let handle = file.simulator.insert_buffer(buffer).0;
            shared.0.insert(id, handle);
            handle
        }
    };
    Ok(())
}

/// `DMA_BUF_SYNC_READ` and `DMA_BUF_SYNC_WRITE`
const SYNC_RW: u64 = 3;
/// `DMA_BUF_SYNC_WRITE`
const SYNC_WRITE: u64 = 2;
/// `DMA_BUF_SYNC_END`
const SYNC_END: u64 = 4;

/// The buffer of a descriptor that this process has exported or imported.
pub fn dma_buf(fd: RawFd) -> Option<Arc<Buffer>> {
    descriptors::known_buffer(file_id(fd).ok()?)
}

/// `DMA_BUF_IOCTL_SYNC`: waits for batches before accesses by the CPU.
pub fn sync(buffer: &Buffer, address: u64) -> Result<()> {
    let flags: u64 = caller::read(address)?;
    if flags & !(SYNC_RW | SYNC_END) != 0 || flags & SYNC_RW == 0 {
        return Err(EINVAL);
    }
    if flags & SYNC_END == 0 {
        let writers_only = flags & SYNC_WRITE == 0;
        buffer.fences(writers_only).iter().for_each(|fence| {
            fence.wait(None);
        });
    }
    Ok(())
}

/// `DMA_BUF_IOCTL_EXPORT_SYNC_FILE`: the fences that an access of the given kind would wait for.
pub fn export_sync_file(buffer: &Buffer, address: u64) -> Result<()> {
    let mut args: DmaBufSyncFile = caller::read(address)?;
    let flags = u64::from(args.flags);
    if flags & !SYNC_RW != 0 || flags & SYNC_RW == 0 {
        return Err(EINVAL);
    }
    let mut fences = buffer.fences(flags & SYNC_WRITE == 0);
    if fences.is_empty() {
        fences.push(Fence::stub());
    }
    args.fd = sync_file::create(fences)?;
    caller::write(address, &args)
}

/// `DMA_BUF_IOCTL_IMPORT_SYNC_FILE`: later batches wait for the fences of a sync file.
pub fn import_sync_file(buffer: &Buffer, address: u64) -> Result<()> {
    let args: DmaBufSyncFile = caller::read(address)?;
    let flags = u64::from(args.flags);
    if flags & !SYNC_RW != 0 || flags & SYNC_RW == 0 {
        return Err(EINVAL);
    }
    for fence in sync_file::fences(args.fd)? {
        buffer.add_fence(&fence, flags & SYNC_WRITE != 0);
    }
    Ok(())
}
