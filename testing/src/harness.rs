//! A test harness with the options and the output of Rust's own, and with tests that are skipped at run time.
//!
//! Rust's own harness cannot skip a test at run time: the test would have to pass. Test programs that need
//! external tools have `harness = false` in their manifest and call [`run`].

use std::any::Any;
use std::fs::OpenOptions;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use libtest_mimic::{Completion, Failed};

pub use libtest_mimic::{Arguments, Trial};

/// Names the file to which the results of tests are appended.
const JOURNAL_VARIABLE: &str = "TEST_JOURNAL";
static JOURNAL: OnceLock<PathBuf> = OnceLock::new();

/// The result of a test: an explanation if it fails.
pub type Outcome = Result<(), String>;

/// A test. It also fails if it panics.
pub fn test(name: impl Into<String>, run: impl FnOnce() -> Outcome + Send + 'static) -> Trial {
    let name = name.into();
    let label = name.clone();
    Trial::test(name, move || {
        let begin = Instant::now();
        let outcome = catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| Err(message(&*panic)));
        journal(begin.elapsed(), if outcome.is_ok() { "passed" } else { "failed" }, &label, "");
        outcome.map_err(Failed::from)
    })
}

/// A test that cannot run here. It is listed like any other, reported as ignored with the reason, and counted
/// as such.
pub fn skipped(name: impl Into<String>, reason: impl Into<String>) -> Trial {
    let (name, reason) = (name.into(), reason.into());
    let label = name.clone();
    Trial::ignorable_test(name, move || {
        journal(Duration::ZERO, "skipped", &label, &reason);
        Ok(Completion::ignored_with(reason))
    })
}

/// The message of a panic.
fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
    format!("the test panicked: {}", text.unwrap_or("without a message"))
}

/// A test with a requirement: it is skipped if `missing` returns a reason, for example from
/// [`missing_programs`].
pub fn test_unless(
    missing: Option<impl Into<String>>,
    name: impl Into<String>,
    run: impl FnOnce() -> Outcome + Send + 'static,
) -> Trial {
    match missing {
        Some(reason) => skipped(name, reason),
        None => test(name, run),
    }
}

/// Runs the tests that the command line selects (with the options of `cargo test`) and ends the process. Must
/// be called by `main`, before there are threads.
pub fn run(tests: Vec<Trial>) -> ! {
    if let Some(path) = std::env::var_os(JOURNAL_VARIABLE) {
        JOURNAL.get_or_init(|| path.into());
        // Programs that tests start, often this one, count their tests separately. SAFETY: there is one
        // thread.
        unsafe { std::env::remove_var(JOURNAL_VARIABLE) };
    }
    libtest_mimic::run(&Arguments::from_args(), tests).exit()
}

/// The path of a program, where it is installed.
pub fn program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// The reason to skip a test that needs these programs, where one of them is not installed.
pub fn missing_programs(names: &[&str]) -> Option<String> {
    let name = names.iter().find(|name| program(name).is_none())?;
    Some(format!("{name} is not installed"))
}

/// Appends the result of a test to a file, from which scripts count tests and list the slowest: seconds,
/// outcome, name and reason, separated by tabs. They do not parse the output, because tests print to it as
/// well.
fn journal(time: Duration, outcome: &str, name: &str, reason: &str) {
    let Some(path) = JOURNAL.get() else { return };
    let line = format!("{:.3}\t{outcome}\t{name}\t{reason}\n", time.as_secs_f64());
    let written = OpenOptions::new().create(true).append(true).open(path);
    if let Err(error) = written.and_then(|mut file| file.write_all(line.as_bytes())) {
        eprintln!("{}: {error}", path.display());
    }
}
