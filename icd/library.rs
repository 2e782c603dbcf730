//! Where this library is.

use std::ffi::{CStr, OsStr, c_void};
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// The library's file, beside which the compiler may be.
pub fn path() -> Option<PathBuf> {
    let here: *const c_void = (path as *const ()).cast();
    let mut found = MaybeUninit::<libc::Dl_info>::uninit();
    // SAFETY: any address may be asked about, and there is room for the answer.
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
