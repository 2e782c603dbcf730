//! The path of this library.

use std::ffi::{CStr, OsStr, c_void};
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// The library's file. The compiler may be in the same folder.
pub fn path() -> Option<PathBuf> {
    let here: *const c_void = (path as *const ()).cast();
    let mut found = MaybeUninit::<libc::Dl_info>::uninit();
    // SAFETY: any address is allowed, and the result has the right type.
    if unsafe { libc::dladdr(here, found.as_mut_ptr()) } == 0 {
        return None;
    }
    // SAFETY: dladdr has succeeded, and `dli_fname` then is a string that lives as long as the library is
    // loaded.
    let name = unsafe { CStr::from_ptr(found.assume_init().dli_fname) };
    PathBuf::from(OsStr::from_bytes(name.to_bytes())).canonicalize().ok()
}

#[cfg(test)]
mod tests {
    #[test]
    fn finds_the_file_that_this_code_is_in() {
        assert_eq!(super::path().unwrap(), std::env::current_exe().unwrap().canonicalize().unwrap());
    }
}
