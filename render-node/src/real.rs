//! The C library's functions behind the interposed ones.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::OnceLock;

/// Declares for each function a call of the next one of its name in library order (`RTLD_NEXT`). `None` when
/// the system does not have it.
macro_rules! functions {
    ($($name:ident: fn($($arg:ident: $ty:ty),*) -> $result:ty;)*) => {$(
        #[doc = concat!("The C library's `", stringify!($name), "`; fails with `ENOSYS` where there is none.")]
        ///
        /// # Safety
        /// As for the function itself.
        pub unsafe fn $name($($arg: $ty),*) -> $result {
            type Function = unsafe extern "C" fn($($ty),*) -> $result;
            static FUNCTION: OnceLock<Option<Function>> = OnceLock::new();
            let function = FUNCTION.get_or_init(|| {
                const NAME: &CStr = match CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                    Ok(name) => name,
                    Err(_) => panic!("the name has no zero inside"),
                };
                // SAFETY: the name is a C string.
                let found = unsafe { libc::dlsym(libc::RTLD_NEXT, NAME.as_ptr()) };
                // SAFETY: a symbol of this name in the C library has this type.
                (!found.is_null()).then(|| unsafe { std::mem::transmute::<*mut c_void, Function>(found) })
            });
            match function {
                // SAFETY: the contract of this function.
                Some(function) => unsafe { function($($arg),*) },
                None => Failure::with(libc::ENOSYS),
            }
        }
    )*};
}

/// The value by which a function of the C library reports failure.
pub trait Failure {
    /// Sets `errno` and returns the value for failure.
    fn with(errno: c_int) -> Self;
}

/// Sets `errno`.
pub fn set_errno(errno: c_int) {
    // SAFETY: the location is the calling thread's own.
    unsafe { *libc::__errno_location() = errno };
}

impl Failure for c_int {
    fn with(errno: c_int) -> Self {
        set_errno(errno);
        -1
    }
}

impl Failure for isize {
    fn with(errno: c_int) -> Self {
        set_errno(errno);
        -1
    }
}

impl Failure for *mut c_void {
    /// `MAP_FAILED`, as `mmap` is the only function with this type.
    fn with(errno: c_int) -> Self {
        set_errno(errno);
        libc::MAP_FAILED
    }
}

impl Failure for *mut libc::DIR {
    fn with(errno: c_int) -> Self {
        set_errno(errno);
        std::ptr::null_mut()
    }
}

impl Failure for *mut libc::dirent {
    fn with(errno: c_int) -> Self {
        set_errno(errno);
        std::ptr::null_mut()
    }
}

impl Failure for *mut libc::FILE {
    fn with(errno: c_int) -> Self {
        set_errno(errno);
        std::ptr::null_mut()
    }
}

impl Failure for *mut c_char {
    fn with(errno: c_int) -> Self {
        set_errno(errno);
        std::ptr::null_mut()
    }
}

/// Lowest number of the library's own descriptors, if possible: the program's numbers are the same as without
/// the library, and it can close all that are its own.
pub const LOWEST_OWN: c_int = 1024;

/// Moves a descriptor to a high number, if there is a free one.
pub fn out_of_the_way(fd: OwnedFd) -> OwnedFd {
    // SAFETY: no pointers; the result is checked.
    let high = unsafe { fcntl(fd.as_raw_fd(), libc::F_DUPFD_CLOEXEC, LOWEST_OWN as usize) };
    // SAFETY: the descriptor is new and not owned elsewhere.
    if high < 0 { fd } else { unsafe { OwnedFd::from_raw_fd(high) } }
}

functions! {
    openat: fn(directory: c_int, path: *const c_char, flags: c_int, mode: c_uint) -> c_int;
    close: fn(fd: c_int) -> c_int;
    ioctl: fn(fd: c_int, request: u64, argument: *mut c_void) -> c_int;
    mmap: fn(address: *mut c_void, length: usize, protection: c_int, flags: c_int, fd: c_int, offset: i64) -> *mut c_void;
    dup: fn(fd: c_int) -> c_int;
    dup2: fn(fd: c_int, to: c_int) -> c_int;
    dup3: fn(fd: c_int, to: c_int, flags: c_int) -> c_int;
    fcntl: fn(fd: c_int, command: c_int, argument: usize) -> c_int;
    access: fn(path: *const c_char, mode: c_int) -> c_int;
    faccessat: fn(directory: c_int, path: *const c_char, mode: c_int, flags: c_int) -> c_int;
    close_range: fn(first: c_uint, last: c_uint, flags: c_int) -> c_int;
    munmap: fn(address: *mut c_void, length: usize) -> c_int;
    mprotect: fn(address: *mut c_void, length: usize, protection: c_int) -> c_int;
    mremap: fn(address: *mut c_void, length: usize, new_length: usize, flags: c_int, to: *mut c_void) -> *mut c_void;
    euidaccess: fn(path: *const c_char, mode: c_int) -> c_int;
    readlinkat: fn(directory: c_int, path: *const c_char, out: *mut c_char, size: usize) -> isize;
    readdir: fn(folder: *mut libc::DIR) -> *mut libc::dirent;
    scandir: fn(path: *const c_char, out: *mut *mut *mut libc::dirent, filter: *const c_void, compare: *const c_void) -> c_int;
    glob: fn(pattern: *const c_char, flags: c_int, error: *const c_void, out: *mut libc::glob_t) -> c_int;
    realpath: fn(path: *const c_char, out: *mut c_char) -> *mut c_char;
    opendir: fn(path: *const c_char) -> *mut libc::DIR;
    fopen: fn(path: *const c_char, mode: *const c_char) -> *mut libc::FILE;
    fstatat: fn(directory: c_int, path: *const c_char, out: *mut libc::stat, flags: c_int) -> c_int;
    statx: fn(directory: c_int, path: *const c_char, flags: c_int, mask: c_uint, out: *mut libc::statx) -> c_int;
}
