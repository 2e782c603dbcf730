//! C's standard output.

use libc::FILE;

unsafe extern "C" {
    /// C's `stdout`, which the `libc` crate does not have.
    static mut stdout: *mut FILE;
}

/// Writes what `format` appends, and flushes. Numbers have a point whatever the application's locale says:
/// `format` runs in the locale `C`.
pub(super) fn write(format: impl FnOnce(&mut Vec<u8>)) {
    let mut out = Vec::new();
    let locale = Locale::c();
    format(&mut out);
    drop(locale);
    // SAFETY: the stream is there as long as the process; it takes as many bytes as the vector has. It locks
    // itself.
    unsafe {
        // An output that is closed or full is the application's choice.
        let _ = libc::fwrite(out.as_ptr().cast(), 1, out.len(), stdout);
        let _ = libc::fflush(stdout);
    }
}

/// The locale `C` for this thread, until it is dropped.
struct Locale {
    c: libc::locale_t,
    before: libc::locale_t,
}

impl Locale {
    fn c() -> Option<Self> {
        // SAFETY: the name is a string; a new locale that could not be made is null and not used.
        unsafe {
            let c = libc::newlocale(libc::LC_ALL_MASK, c"C".as_ptr(), std::ptr::null_mut());
            (!c.is_null()).then(|| Self { c, before: libc::uselocale(c) })
        }
    }
}

impl Drop for Locale {
    fn drop(&mut self) {
        // SAFETY: both are valid; ours is freed when it is no longer in use.
        unsafe {
            libc::uselocale(self.before);
            libc::freelocale(self.c);
        }
    }
}
