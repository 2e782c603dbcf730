//! The C library's own functions behind those that this library replaces.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::sync::OnceLock;

/// Declares for each function a way to call the next one of its name in the order of libraries. What the
/// system does not have is `None`.
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

/// How a function of the C library says that it failed.
pub trait Failure {
    /// Sets `errno` and gives the value that stands for an error.
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
    /// `MAP_FAILED`: of those that return pointers to nothing in particular, only `mmap` can be missing.
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
    readlink: fn(path: *const c_char, out: *mut c_char, size: usize) -> isize;
    realpath: fn(path: *const c_char, out: *mut c_char) -> *mut c_char;
    opendir: fn(path: *const c_char) -> *mut libc::DIR;
    fopen: fn(path: *const c_char, mode: *const c_char) -> *mut libc::FILE;
    fstatat: fn(directory: c_int, path: *const c_char, out: *mut libc::stat, flags: c_int) -> c_int;
    statx: fn(directory: c_int, path: *const c_char, flags: c_int, mask: c_uint, out: *mut libc::statx) -> c_int;
}
