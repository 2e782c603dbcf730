//! What a user is told without having asked: one line on standard error each, of what makes results wrong or
//! missing.
//!
//! Everything else is for `GENCL_DEBUG=log=LEVEL`, which is silent until it is asked for. `GENCL_DEBUG=quiet`
//! silences these too.

use std::collections::BTreeSet;
use std::io::Write;
use std::sync::{Mutex, PoisonError};

use crate::debug::{self, Debug};
use crate::environment;

/// Prints the first line of a text, once in this process for each subject.
pub fn once(subject: &str, text: &str) {
    static TOLD: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    if Debug::from_environment().0.is_set(debug::QUIET) {
        return;
    }
    if TOLD.lock().unwrap_or_else(PoisonError::into_inner).insert(subject.to_owned()) {
        let line = format!("gencl: {}\n", text.lines().next().unwrap_or_default());
        // One write, so that lines of several threads do not mix. There is nowhere to report a failure to.
        let _ = std::io::stderr().write_all(line.as_bytes());
    }
}

/// What an environment variable says, as `meaning` reads it. When that is nothing, the user is told what the
/// variable `takes`, and `otherwise` holds, as when it is not set or empty.
pub fn setting<T>(variable: &str, takes: &str, meaning: impl Fn(&str) -> Option<T>, otherwise: T) -> T {
    let Some(value) = environment::value(variable) else { return otherwise };
    meaning(&value).unwrap_or_else(|| {
        once(variable, &format!("{variable}={value} is ignored: it takes {takes}"));
        otherwise
    })
}
