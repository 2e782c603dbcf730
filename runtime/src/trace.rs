//! The trace of a profile (`GENCL_DEBUG=profile=FOLDER`): API calls, builds and commands with their times.
//!
//! A process appends a line of JSON for each to `FOLDER/PID/trace.jsonl` when it ends, so that a process that
//! is killed leaves what it did. Times are nanoseconds of [`host_time`].

use std::cell::Cell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use gencl_program::report;
use serde::Serialize;

use crate::device::host_time;
use crate::json_lines::{About, JsonLines};
use crate::profile;

/// Of some hundred megabytes at most: programs that poll would fill the disk.
const ABOUT: About = About {
    subject: "trace",
    what: "the trace of the profile",
    lacks: "it lacks later calls and commands",
    most: 2_000_000,
};

/// One line of the trace.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Record<'a> {
    /// A call of a function of the API.
    Call {
        name: &'a str,
        /// Number of the thread, from 1.
        thread: u64,
        /// Its name in the system.
        thread_name: Option<String>,
        begin: u64,
        end: u64,
        /// The error code, 0 for success.
        code: i32,
    },
    /// A request to the compile server.
    Build {
        /// `build`, `compile`, `link` or `widen`.
        request: &'a str,
        begin: u64,
        end: u64,
    },
    /// A launch that is enqueued.
    Launch {
        /// Number of the kernel: that of its program's file and its index there.
        kernel_number: u32,
        /// The arguments, each as `NAME=VALUE`.
        arguments: Vec<String>,
        launch: LaunchRecord<'a>,
    },
    /// A command of a queue that has ended.
    Command {
        /// Number of the queue, from 1.
        queue: u64,
        /// Its type.
        command: String,
        queued: u64,
        submit: u64,
        start: u64,
        end: u64,
        /// Of a launch.
        launch: Option<LaunchRecord<'a>>,
        /// Why it failed. It has no times then.
        error: Option<&'a str>,
    },
}

/// A launch in the trace.
#[derive(Debug, Serialize)]
pub(crate) struct LaunchRecord<'a> {
    /// Its number in the process, from 1; 0 when it is not counted.
    pub number: u32,
    /// Name of the kernel.
    pub kernel: &'a str,
    /// Lanes of a thread.
    pub simd_width: u32,
    pub global: [u64; 3],
    pub local: [u32; 3],
}

/// The file, if a profile is asked for.
fn trace() -> Option<&'static JsonLines> {
    static TRACE: OnceLock<Option<JsonLines>> = OnceLock::new();
    TRACE
        .get_or_init(|| {
            let path = profile::file("trace.jsonl")?;
            match JsonLines::open(&path, ABOUT) {
                Ok(file) => Some(file),
                Err(error) => {
                    report::once("trace", &format!("no trace is written: {}: {error}", path.display()));
                    None
                }
            }
        })
        .as_ref()
}

/// Whether there is a trace.
pub fn is_on() -> bool {
    trace().is_some()
}

/// Writes a record.
pub(crate) fn write(record: &Record<'_>) {
    if let Some(trace) = trace() {
        trace.append(record);
    }
}

/// The number of a new queue, from 1.
pub(crate) fn next_queue() -> u64 {
    static QUEUES: AtomicU64 = AtomicU64::new(1);
    QUEUES.fetch_add(1, Ordering::Relaxed)
}

/// Calls a function of the API, and writes the call if there is a trace. `code` gets the error code from the
/// result.
pub fn call<R>(name: &'static str, function: impl FnOnce() -> R, code: impl FnOnce(&R) -> i32) -> R {
    if !is_on() {
        return function();
    }
    let begin = host_time();
    let result = function();
    let end = host_time();
    let thread_name = std::thread::current().name().map(str::to_owned);
    write(&Record::Call { name, thread: thread(), thread_name, begin, end, code: code(&result) });
    result
}

/// Makes a request to the compile server, and writes it if there is a trace.
pub(crate) fn build<R>(request: &str, function: impl FnOnce() -> R) -> R {
    if !is_on() {
        return function();
    }
    let begin = host_time();
    let result = function();
    write(&Record::Build { request, begin, end: host_time() });
    result
}

/// Number of the current thread, in the order of first calls.
fn thread() -> u64 {
    static THREADS: AtomicU64 = AtomicU64::new(1);
    thread_local! {
        static NUMBER: Cell<u64> = const { Cell::new(0) };
    }
    if NUMBER.get() == 0 {
        NUMBER.set(THREADS.fetch_add(1, Ordering::Relaxed));
    }
    NUMBER.get()
}
