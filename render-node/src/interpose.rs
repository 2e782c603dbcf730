//! Interposed functions of the C library: descriptors and memory. Those with paths are in
//! [`crate::interpose_paths`].
//!
//! `fcntl`, `ioctl` and `mremap` are variadic in C. On x86-64 and AArch64 Linux a variadic integer is passed
//! like a named one, so they are declared with their optional argument. When the caller passes none, its
//! value is arbitrary and not used, as in the C library.

#![allow(clippy::missing_safety_doc, reason = "the contracts are those of the C library's functions")]

use std::ffi::{c_int, c_uint, c_ulong, c_void};

use gencl_i915::uapi::{DRM, ioctl};
use gencl_i915::{Errno, Result};

use crate::descriptors::{self, Descriptor, Lookup};
use crate::files::{self, Node};
use crate::real::{self, Failure, LOWEST_OWN};
use crate::{memory, prime, requests};

/// Declares exported functions.
macro_rules! replace {
    ($(fn $name:ident($($arg:ident: $ty:ty),*) -> $result:ty $body:block)*) => {$(
        #[doc = concat!("`", stringify!($name), "` of the C library.")]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($arg: $ty),*) -> $result {
            // SAFETY: the arguments are the program's own, checked or handed on as they are.
            unsafe { $body }
        }
    )*};
}
pub(crate) use replace;

replace! {
    fn close(fd: c_int) -> c_int {
        descriptors::forget(fd);
        real::close(fd)
    }
    fn close_range(first: c_uint, last: c_uint, flags: c_int) -> c_int {
        if flags & libc::CLOSE_RANGE_CLOEXEC as c_int != 0 {
            return real::close_range(first, last, flags);
        }
        close_programs(first, last, flags)
    }
    fn closefrom(first: c_int) -> () {
        close_programs(first.max(0) as c_uint, c_uint::MAX, 0);
    }
    fn dup(fd: c_int) -> c_int {
        duplicated(fd, real::dup(fd))
    }
    fn dup2(fd: c_int, to: c_int) -> c_int {
        duplicated(fd, real::dup2(fd, to))
    }
    fn dup3(fd: c_int, to: c_int, flags: c_int) -> c_int {
        duplicated(fd, real::dup3(fd, to, flags))
    }
    fn fcntl(fd: c_int, command: c_int, argument: usize) -> c_int { control(fd, command, argument) }
    fn fcntl64(fd: c_int, command: c_int, argument: usize) -> c_int { control(fd, command, argument) }

    fn ioctl(fd: c_int, request: c_ulong, argument: *mut c_void) -> c_int {
        // A request has 32 bits; a caller may have sign-extended it.
        match dispatch(fd, request as u32, argument as u64) {
            None => real::ioctl(fd, request, argument),
            Some(Ok(())) => 0,
            Some(Err(error)) => Failure::with(error.0),
        }
    }

    fn mmap(
        address: *mut c_void, length: usize, protection: c_int, flags: c_int, fd: c_int, offset: i64
    ) -> *mut c_void {
        map(address, length, protection, flags, fd, offset)
    }
    fn mmap64(
        address: *mut c_void, length: usize, protection: c_int, flags: c_int, fd: c_int, offset: i64
    ) -> *mut c_void {
        map(address, length, protection, flags, fd, offset)
    }
    fn munmap(address: *mut c_void, length: usize) -> c_int {
        let _unmapping = memory::before_unmapping(address, length);
        real::munmap(address, length)
    }
    fn mprotect(address: *mut c_void, length: usize, protection: c_int) -> c_int {
        let _unmapping = memory::before_unmapping(address, length);
        real::mprotect(address, length, protection)
    }
    fn mremap(
        address: *mut c_void, length: usize, new_length: usize, flags: c_int, to: *mut c_void
    ) -> *mut c_void {
        // One at a time, so that only one lock is held.
        if flags & libc::MREMAP_FIXED != 0 {
            drop(memory::before_unmapping(to, new_length));
        }
        let _unmapping = memory::before_unmapping(address, length);
        real::mremap(address, length, new_length, flags, to)
    }
}

/// Handles a request on a descriptor of the table.
fn dispatch(fd: c_int, request: u32, address: u64) -> Option<Result<()>> {
    let kind = request >> 8 & 0xff;
    if kind == u32::from(DRM) {
        return match files::get(fd) {
            Node::No => None,
            Node::Dead => Some(requests::dispatch(None, request, address)),
            Node::Is(file) => Some(requests::dispatch(Some(&file), request, address)),
        };
    }
    match request {
        ioctl::SYNC_MERGE | ioctl::SYNC_FILE_INFO => match descriptors::get(fd) {
            Lookup::Is(Descriptor::SyncFile(file)) if request == ioctl::SYNC_MERGE => {
                Some(file.merge(address))
            }
            Lookup::Is(Descriptor::SyncFile(file)) => Some(file.info(address)),
            _ => None,
        },
        ioctl::DMA_BUF_SYNC => Some(prime::sync(&*prime::dma_buf(fd)?, address)),
        ioctl::DMA_BUF_EXPORT_SYNC_FILE => Some(prime::export_sync_file(&*prime::dma_buf(fd)?, address)),
        ioctl::DMA_BUF_IMPORT_SYNC_FILE => Some(prime::import_sync_file(&*prime::dma_buf(fd)?, address)),
        // The kernel handles requests of all descriptors (FIOCLEX), and returns ENOTTY for others.
        _ => None,
    }
}

/// Closes the program's descriptors of a range, without those that this library owns.
unsafe fn close_programs(first: c_uint, last: c_uint, flags: c_int) -> c_int {
    let limit = LOWEST_OWN as c_uint - 1;
    if !descriptors::is_used() || last <= limit {
        descriptors::forget_range(first, last);
        // SAFETY: the program's own arguments.
        return unsafe { real::close_range(first, last, flags) };
    }
    for fd in descriptors::range(first.max(limit + 1), last) {
        descriptors::forget(fd);
        // SAFETY: the program has been given it.
        unsafe { real::close(fd) };
    }
    if first > limit {
        return 0;
    }
    descriptors::forget_range(first, limit);
    // SAFETY: the program's own arguments, but for the end.
    unsafe { real::close_range(first, limit, flags) }
}

fn duplicated(fd: c_int, copy: c_int) -> c_int {
    if copy >= 0 && copy != fd {
        descriptors::duplicated(fd, copy);
    }
    copy
}

unsafe fn control(fd: c_int, command: c_int, argument: usize) -> c_int {
    // SAFETY: the program's own arguments.
    let result = unsafe { real::fcntl(fd, command, argument) };
    if matches!(command, libc::F_DUPFD | libc::F_DUPFD_CLOEXEC) { duplicated(fd, result) } else { result }
}

unsafe fn map(
    address: *mut c_void,
    length: usize,
    protection: c_int,
    flags: c_int,
    fd: c_int,
    offset: i64,
) -> *mut c_void {
    let replaces = flags & libc::MAP_FIXED != 0;
    let _unmapping = if replaces { memory::before_unmapping(address, length) } else { None };
    let node = if flags & libc::MAP_ANONYMOUS == 0 { files::get(fd) } else { Node::No };
    let file = match node {
        Node::Is(file) => file,
        Node::Dead => return Failure::with(libc::EIO),
        // SAFETY: the program's own arguments.
        Node::No => return unsafe { real::mmap(address, length, protection, flags, fd, offset) },
    };
    match memory::at_offset(&file, offset as u64, length) {
        // SAFETY: the program asks for this mapping; only the file behind it is another.
        Ok(buffer) => unsafe { memory::map(address, length, protection, flags, &buffer, 0) },
        Err(Errno(error)) => Failure::with(error),
    }
}
