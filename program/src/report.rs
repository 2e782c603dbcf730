//! Messages on standard error that are printed by default, one line each: conditions that make results wrong
//! or missing.
//!
//! All other messages are logged (`GENCL_DEBUG=log=LEVEL`). `GENCL_DEBUG=quiet` silences these, too.

use std::collections::BTreeSet;
use std::io::Write;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::debug::{self, Debug};
use crate::environment;
use crate::variables::Variable;

/// The longest limit of time in seconds, a day: longer ones are none, and times that are added stay in range.
const LONGEST: f64 = 24.0 * 60.0 * 60.0;

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

/// The number that an environment variable is set to; `default` when it is not set or empty. When it is no number that the
/// variable takes, a message says so, and the value is `default`.
#[must_use]
pub fn number(variable: &Variable, default: f64) -> f64 {
    let Some(value) = environment::value(variable.name) else { return default };
    variable.number(&value).unwrap_or_else(|| {
        ignored(variable, &value);
        default
    })
}

/// The limit of time in seconds that an environment variable is set to, as [`number`], but at most a day.
#[must_use]
pub fn seconds(variable: &Variable, default: Duration) -> Duration {
    limit(number(variable, default.as_secs_f64()))
}

fn limit(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds.min(LONGEST))
}

/// The word that an environment variable is set to, as [`number`].
#[must_use]
pub fn word(variable: &Variable) -> Option<String> {
    let value = environment::value(variable.name)?;
    if variable.complaints(&value).is_empty() {
        return Some(value);
    }
    ignored(variable, &value);
    None
}

fn ignored(variable: &Variable, value: &str) {
    once(variable.name, &format!("{}={value} is ignored: it takes {}", variable.name, variable.takes()));
}

/// A number with a comma between each three digits: `12,000,000`.
#[must_use]
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A message about a limit: `local memory per work-group: 1,200,000 bytes asked, 65,536 is the most`.
#[must_use]
pub fn beyond_limit(what: &str, asked: u64, unit: &str, most: u64) -> String {
    format!("{what}: {} {unit} asked, {} is the most", grouped(asked), grouped(most))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_of_time_are_bounded() {
        assert_eq!(limit(7.0), Duration::from_secs(7));
        assert_eq!(limit(f64::MAX), Duration::from_secs(86400));
    }

    #[test]
    fn numbers_are_grouped() {
        for (number, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (12_000_000, "12,000,000")] {
            assert_eq!(grouped(number), text);
        }
    }
}
