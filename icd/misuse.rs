//! Faults in calls of the API, for `GENCL_DEBUG=check`: errors that the application ignores, wrong arguments of kernels.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};

use gencl_program::misuse::MisuseKind;
use gencl_runtime::calls::{self, Call};
use gencl_runtime::findings::{self, Fault};
use gencl_runtime::{Code, Error};

use crate::CLResult;

/// Functions whose errors mean that results are missing.
const COMMANDS: &[&str] = &["clEnqueue", "clCommand", "clFinish", "clFlush", "clWaitForEvents"];

/// Functions that an application calls while it handles an error.
const HANDLING: &[&str] = &["clGet", "clRelease", "clRetain"];

/// A command that was refused.
struct Refused {
    call: Call,
    error: Error,
}

/// Whether the last call, but for those that handle errors, has failed.
static HAS_FAILED: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// The last one of this thread, until it is known what the application does then.
    static REFUSED: RefCell<Option<Refused>> = const { RefCell::new(None) };
}

/// Calls a function of the API, and looks at its error.
pub fn watch<T>(name: &'static str, function: impl FnOnce() -> CLResult<T>) -> CLResult<T> {
    if !calls::are_checked() {
        return function();
    }
    calls::within(name, || {
        if !calls::tools().api {
            return function();
        }
        let handles = HANDLING.iter().any(|prefix| name.starts_with(prefix));
        if !handles {
            go_on(name);
        }
        let result = function();
        if !handles {
            HAS_FAILED.store(result.is_err(), Ordering::Relaxed);
        }
        if let Err(error) = &result {
            refuse(name, error);
        }
        result
    })
}

/// Whether the application has done nothing since a call failed: a program that gives up releases no objects.
pub fn has_given_up() -> bool {
    HAS_FAILED.load(Ordering::Relaxed)
}

/// Whether calls of the API are looked at.
pub fn is_on() -> bool {
    calls::tools().api
}

/// Reports a fault of this thread's call, if calls are looked at.
pub fn report(kind: MisuseKind, text: impl FnOnce() -> String) {
    report_with(kind, text, || None);
}

/// As [`report`], with another call that belongs to it.
pub fn report_with(
    kind: MisuseKind,
    text: impl FnOnce() -> String,
    other: impl FnOnce() -> Option<(String, Call)>,
) {
    if is_on() {
        findings::fault(Fault { kind, text: text(), call: Call::here(), other: other() });
    }
}

/// With an indefinite article: `an event`.
pub fn one(name: &str) -> String {
    let article = if name.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    format!("{article} {name}")
}

/// An error of a function.
fn refuse(name: &'static str, error: &Error) {
    let kind = match error.code {
        Code::InvalidKernelArgs => MisuseKind::ArgumentNotSet,
        Code::InvalidArgIndex | Code::InvalidArgSize | Code::InvalidArgValue => MisuseKind::ArgumentMismatch,
        _ if COMMANDS.iter().any(|prefix| name.starts_with(prefix)) => {
            // A thread that ends has none.
            let _ = REFUSED.try_with(|refused| {
                *refused.borrow_mut() = Some(Refused { call: Call::here(), error: error.clone() });
            });
            return;
        }
        _ => return,
    };
    report(kind, || format!("{name}: {}", error.reason));
}

/// The application calls a function that handles no error: it has ignored that of another one before, unless it tries
/// again.
fn go_on(name: &'static str) {
    let refused = REFUSED.try_with(|refused| refused.borrow_mut().take());
    if let Ok(Some(Refused { call, error })) = refused
        && call.function != name
    {
        let error = error.to_string();
        let reason = error.lines().next().unwrap_or_default();
        let text = format!("{} failed, and the program went on with {name}: {reason}", call.function);
        findings::fault(Fault { kind: MisuseKind::IgnoredError, text, call, other: None });
    }
}
