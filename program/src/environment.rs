//! Environment variables. All crates read them with this module (`scripts/check-environment`).
//!
//! The environment of a set-user-id program comes from a user with fewer privileges. There, variables that
//! name programs, files or folders are ignored, as these would be run, read and written with the program's
//! privileges.

use std::ffi::OsString;

/// Whether the process is set-user-id, set-group-id, or has file capabilities (`AT_SECURE`).
#[must_use]
pub fn has_raised_privileges() -> bool {
    // SAFETY: takes any number.
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}

/// The value of a variable that holds words and numbers; `None` when it is not set or empty. Bytes that are
/// not UTF-8 are replaced.
#[must_use]
pub fn value(name: &str) -> Option<String> {
    raw_value(name).map(|value| value.to_string_lossy().into_owned())
}

/// The value of a variable that may name a program, a file or a folder. As [`value`], but `None` in a program
/// with raised privileges.
#[must_use]
pub fn trusted_value(name: &str) -> Option<OsString> {
    if has_raised_privileges() { None } else { raw_value(name) }
}

fn raw_value(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// The names of all variables that are set.
pub(crate) fn names() -> impl Iterator<Item = String> {
    std::env::vars_os().filter_map(|(name, _)| name.into_string().ok())
}
