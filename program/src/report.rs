//! Messages on standard error that are printed by default, one line each: conditions that make results wrong
//! or missing.
//!
//! All other messages are logged (`GENCL_DEBUG=log=LEVEL`). `GENCL_DEBUG=quiet` silences these, too.

use std::collections::BTreeSet;
use std::io::Write;
use std::sync::{Mutex, PoisonError};

use crate::debug::{self, Debug};
use crate::environment;

/// Prints the first line of a text, once per process and subject.
pub fn once(subject: &str, text: &str) {
    static REPORTED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    if Debug::from_environment().0.is_set(debug::QUIET) {
        return;
    }
    if REPORTED.lock().unwrap_or_else(PoisonError::into_inner).insert(subject.to_owned()) {
        let line = format!("gencl: {}\n", text.lines().next().unwrap_or_default());
        // One write, so that lines of several threads do not mix. Errors cannot be reported.
        let _ = std::io::stderr().write_all(line.as_bytes());
    }
}

/// The value of an environment variable, parsed by `parse`; `default` when it is not set or empty. When
/// parsing fails, a message says what the variable `takes`, and the value is `default`.
pub fn setting<T>(variable: &str, takes: &str, parse: impl Fn(&str) -> Option<T>, default: T) -> T {
    let Some(value) = environment::value(variable) else { return default };
    parse(&value).unwrap_or_else(|| {
        once(variable, &format!("{variable}={value} is ignored: it takes {takes}"));
        default
    })
}
