//! Environment variables, as all parts of the driver read them (`scripts/check-environment`).
//!
//! The environment of a set-user-id program is that of a user who has fewer rights than the program.
//! Variables that name programs, files or folders do not count there, whatever they name: they would be run,
//! read and written with the program's rights.

use std::ffi::OsString;

/// Has this process more rights than who started it? The kernel tells (`AT_SECURE`): a program that is
/// set-user-id, set-group-id or has file capabilities.
#[must_use]
pub fn has_raised_privileges() -> bool {
    // SAFETY: takes any number.
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}

/// The value of a variable that holds words and numbers; `None` when it is not set or empty. What is no UTF-8
/// becomes what has no meaning.
#[must_use]
pub fn value(name: &str) -> Option<String> {
    raw_value(name).map(|value| value.to_string_lossy().into_owned())
}

/// The value of a variable that names, possibly among other things, a program, a file or a folder: as
/// [`value`], but `None` in a program with raised privileges.
#[must_use]
pub fn trusted_value(name: &str) -> Option<OsString> {
    if has_raised_privileges() { None } else { raw_value(name) }
}

fn raw_value(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}
