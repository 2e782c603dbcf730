//! The functions of the C library that this library replaces.
//!
//! `open`, `openat`, `fcntl` and `ioctl` are variadic in C. On x86-64 and AArch64 Linux a variadic
//! integer is passed as a named one is, so they are declared with the argument that they may have; where the
//! caller gave none it is garbage that nobody looks at, as in the C library itself.

#![allow(clippy::missing_safety_doc, reason = "the contracts are those of the C library's functions")]

use std::ffi::{CStr, c_char, c_int, c_uint, c_ulong, c_void};

use crate::paths::{self, DEVICE_NUMBER, Lead};
use crate::real::{self, Failure};
use crate::{files, memory, requests};

/// Where a path of the program leads, and a pointer to it.
struct Path {
    lead: Lead,
    given: *const c_char,
}

impl Path {
    /// # Safety
    /// The path is a C string or null.
    unsafe fn new(given: *const c_char) -> Path {
        let lead = if given.is_null() {
            Lead::Unchanged
        } else {
            // SAFETY: not null, so a C string.
            paths::lead(unsafe { CStr::from_ptr(given) })
        };
        Path { lead, given }
    }

    fn as_ptr(&self) -> *const c_char {
        match &self.lead {
            Lead::Unchanged => self.given,
            Lead::Elsewhere(path) => path.as_ptr(),
        }
    }

    fn is_node(&self) -> bool {
        matches!(&self.lead, Lead::Elsewhere(path) if paths::is_node(path))
    }
}

unsafe fn open_at(directory: c_int, path: *const c_char, flags: c_int, mode: c_uint) -> c_int {
    // SAFETY: `open`'s caller gives a C string.
    let path = unsafe { Path::new(path) };
    if path.is_node() {
        return files::open(flags).unwrap_or_else(|error| Failure::with(error.0));
    }
    // SAFETY: the caller's own arguments, or a path of ours.
    unsafe { real::openat(directory, path.as_ptr(), flags, mode) }
}

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

replace! {
    fn open(path: *const c_char, flags: c_int, mode: c_uint) -> c_int { open_at(libc::AT_FDCWD, path, flags, mode) }
    fn open64(path: *const c_char, flags: c_int, mode: c_uint) -> c_int { open_at(libc::AT_FDCWD, path, flags, mode) }
    fn __open_2(path: *const c_char, flags: c_int) -> c_int { open_at(libc::AT_FDCWD, path, flags, 0) }
    fn __open64_2(path: *const c_char, flags: c_int) -> c_int { open_at(libc::AT_FDCWD, path, flags, 0) }
    fn openat(directory: c_int, path: *const c_char, flags: c_int, mode: c_uint) -> c_int {
        open_at(directory, path, flags, mode)
    }
    fn openat64(directory: c_int, path: *const c_char, flags: c_int, mode: c_uint) -> c_int {
        open_at(directory, path, flags, mode)
    }
    fn __openat_2(directory: c_int, path: *const c_char, flags: c_int) -> c_int {
        open_at(directory, path, flags, 0)
    }
    fn __openat64_2(directory: c_int, path: *const c_char, flags: c_int) -> c_int {
        open_at(directory, path, flags, 0)
    }

    fn close(fd: c_int) -> c_int {
        files::forget(fd);
        real::close(fd)
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
        match files::get(fd) {
            None => real::ioctl(fd, request, argument),
            // The request is 32 bits wide; what a caller's sign extension puts above does not count.
            Some(file) => match requests::answer(&file, request as u32, argument as u64) {
                Ok(()) => 0,
                Err(error) => Failure::with(error.0),
            },
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

    fn access(path: *const c_char, mode: c_int) -> c_int { real::access(Path::new(path).as_ptr(), mode) }
    fn faccessat(directory: c_int, path: *const c_char, mode: c_int, flags: c_int) -> c_int {
        real::faccessat(directory, Path::new(path).as_ptr(), mode, flags)
    }
    fn readlink(path: *const c_char, out: *mut c_char, size: usize) -> isize {
        real::readlink(Path::new(path).as_ptr(), out, size)
    }
    fn realpath(path: *const c_char, out: *mut c_char) -> *mut c_char {
        real::realpath(Path::new(path).as_ptr(), out)
    }
    fn opendir(path: *const c_char) -> *mut libc::DIR { real::opendir(Path::new(path).as_ptr()) }
    fn fopen(path: *const c_char, mode: *const c_char) -> *mut libc::FILE {
        real::fopen(Path::new(path).as_ptr(), mode)
    }
    fn fopen64(path: *const c_char, mode: *const c_char) -> *mut libc::FILE {
        real::fopen(Path::new(path).as_ptr(), mode)
    }

    fn stat(path: *const c_char, out: *mut libc::stat) -> c_int { status(libc::AT_FDCWD, path, out, 0) }
    fn stat64(path: *const c_char, out: *mut libc::stat) -> c_int { status(libc::AT_FDCWD, path, out, 0) }
    fn lstat(path: *const c_char, out: *mut libc::stat) -> c_int {
        status(libc::AT_FDCWD, path, out, libc::AT_SYMLINK_NOFOLLOW)
    }
    fn lstat64(path: *const c_char, out: *mut libc::stat) -> c_int {
        status(libc::AT_FDCWD, path, out, libc::AT_SYMLINK_NOFOLLOW)
    }
    fn fstat(fd: c_int, out: *mut libc::stat) -> c_int { status(fd, c"".as_ptr(), out, libc::AT_EMPTY_PATH) }
    fn fstat64(fd: c_int, out: *mut libc::stat) -> c_int { status(fd, c"".as_ptr(), out, libc::AT_EMPTY_PATH) }
    fn fstatat(directory: c_int, path: *const c_char, out: *mut libc::stat, flags: c_int) -> c_int {
        status(directory, path, out, flags)
    }
    fn fstatat64(directory: c_int, path: *const c_char, out: *mut libc::stat, flags: c_int) -> c_int {
        status(directory, path, out, flags)
    }
    // Programs that were linked to a C library before 2.33 call these.
    fn __xstat(_version: c_int, path: *const c_char, out: *mut libc::stat) -> c_int {
        status(libc::AT_FDCWD, path, out, 0)
    }
    fn __xstat64(_version: c_int, path: *const c_char, out: *mut libc::stat) -> c_int {
        status(libc::AT_FDCWD, path, out, 0)
    }
    fn __lxstat(_version: c_int, path: *const c_char, out: *mut libc::stat) -> c_int {
        status(libc::AT_FDCWD, path, out, libc::AT_SYMLINK_NOFOLLOW)
    }
    fn __lxstat64(_version: c_int, path: *const c_char, out: *mut libc::stat) -> c_int {
        status(libc::AT_FDCWD, path, out, libc::AT_SYMLINK_NOFOLLOW)
    }
    fn __fxstat(_version: c_int, fd: c_int, out: *mut libc::stat) -> c_int {
        status(fd, c"".as_ptr(), out, libc::AT_EMPTY_PATH)
    }
    fn __fxstat64(_version: c_int, fd: c_int, out: *mut libc::stat) -> c_int {
        status(fd, c"".as_ptr(), out, libc::AT_EMPTY_PATH)
    }
    fn statx(directory: c_int, path: *const c_char, flags: c_int, mask: c_uint, out: *mut libc::statx) -> c_int {
        let path = Path::new(path);
        let result = real::statx(directory, path.as_ptr(), flags, mask, out);
        if result == 0 && is_node(directory, &path, u32::from((*out).stx_mode), flags) {
            (*out).stx_mode = NODE_MODE as u16;
            ((*out).stx_rdev_major, (*out).stx_rdev_minor) = DEVICE_NUMBER;
        }
        result
    }
}

/// Of the node: a character device that everybody may use.
const NODE_MODE: u32 = libc::S_IFCHR | 0o666;

fn duplicated(fd: c_int, copy: c_int) -> c_int {
    if copy >= 0 && copy != fd {
        files::duplicated(fd, copy);
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
    let file = if flags & libc::MAP_ANONYMOUS == 0 { files::get(fd) } else { None };
    let Some(file) = file else {
        // SAFETY: the program's own arguments.
        return unsafe { real::mmap(address, length, protection, flags, fd, offset) };
    };
    match memory::at_offset(&file, offset as u64, length) {
        // SAFETY: the program asks for this mapping; only the file behind it is another.
        Ok((buffer, offset)) => unsafe { memory::map(address, length, protection, flags, &buffer, offset) },
        Err(error) => Failure::with(error.0),
    }
}

/// Is what has been looked at the node? `flags` are those of `fstatat`.
fn is_node(directory: c_int, path: &Path, mode: u32, flags: c_int) -> bool {
    if mode & libc::S_IFMT != libc::S_IFREG {
        return false;
    }
    path.is_node() || (flags & libc::AT_EMPTY_PATH != 0 && files::get(directory).is_some())
}

unsafe fn status(directory: c_int, path: *const c_char, out: *mut libc::stat, flags: c_int) -> c_int {
    // SAFETY: the program gives a C string and room for the result.
    unsafe {
        let path = Path::new(path);
        let result = real::fstatat(directory, path.as_ptr(), out, flags);
        if result == 0 && is_node(directory, &path, (*out).st_mode, flags) {
            (*out).st_mode = NODE_MODE;
            (*out).st_rdev = libc::makedev(DEVICE_NUMBER.0, DEVICE_NUMBER.1);
        }
        result
    }
}
