//! The OpenCL C ABI: entry points, handles and the ICD dispatch table.
//!
//! This crate checks and converts, nothing else; what the calls do is in the runtime. See `docs/icd.md`.

mod abi;
mod api;
mod dispatch;
mod fork;
mod handle;
mod info;
mod library;
mod log;
mod object;
mod versions;

use std::sync::Once;

/// What entry points return: a value, or an error with its OpenCL code and a reason.
type CLResult<T> = gencl_runtime::Result<T>;

/// `Err` with `code` and `reason` when `condition` holds.
fn refuse_if(condition: bool, code: gencl_runtime::Code, reason: &'static str) -> CLResult<()> {
    if condition { Err(gencl_runtime::Error::new(code, reason)) } else { Ok(()) }
}

/// What has to happen once per process, before anything else: called by the first function that applications
/// and the ICD loader can call.
fn start() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        log::start();
        fork::watch();
        if let Some(path) = library::path() {
            gencl_runtime::set_library_path(&path);
        }
    });
}
