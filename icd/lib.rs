//! The OpenCL C ABI: entry points, handles and the ICD dispatch table.
//!
//! This crate checks and converts, nothing else; what the calls do is in the runtime. See `docs/icd.md`.

mod abi;
mod api;
mod dispatch;
mod handle;
mod info;
mod log;
mod object;
mod versions;

/// What entry points return: a value, or an error with its OpenCL code and a reason.
type CLResult<T> = gencl_runtime::Result<T>;

/// `Err` with `code` and `reason` when `condition` holds.
fn refuse_if(condition: bool, code: gencl_runtime::Code, reason: &'static str) -> CLResult<()> {
    if condition { Err(gencl_runtime::Error::new(code, reason)) } else { Ok(()) }
}
