//! The OpenCL C ABI: entry points, handles and the ICD dispatch table.
//!
//! This crate only checks and converts parameters; the calls are implemented by the runtime. See
//! `docs/icd.md`.

mod abi;
mod api;
mod dispatch;
mod fork;
mod handle;
mod info;
mod leaks;
mod library;
mod log;
mod misuse;
mod object;
mod versions;

use std::sync::Once;

/// Result of an entry point; errors have an OpenCL code and a reason.
type CLResult<T> = gencl_runtime::Result<T>;

/// `Err` with `code` and `reason` when `condition` holds.
fn refuse_if(condition: bool, code: gencl_runtime::Code, reason: &'static str) -> CLResult<()> {
    if condition { Err(gencl_runtime::Error::new(code, reason)) } else { Ok(()) }
}

/// Initialises the process, once. To be called by each function that applications or the ICD loader can call
/// first.
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
