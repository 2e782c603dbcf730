//! Execution of entry points: panics are caught, errors logged and converted to codes.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use gencl_runtime::{Code, Error, trace};
use opencl_sys::{CL_SUCCESS, cl_int};

use super::Out;
use crate::{CLResult, fork, misuse};

/// The code for a panic: of the two that every function may return, the one for the host.
const AFTER_PANIC: Code = Code::OutOfHostMemory;

/// The code for calls in a forked child.
const AFTER_FORK: Code = Code::OutOfResources;

/// Runs a function that returns an error code.
pub fn status<T>(name: &'static str, call: impl FnOnce() -> CLResult<T>) -> cl_int {
    match run(name, call) {
        Ok(_) => CL_SUCCESS,
        Err(code) => code,
    }
}

/// Runs a function that returns a value, and the error code through a pointer.
pub fn object<T: Failure>(name: &'static str, errcode: Out<cl_int>, call: impl FnOnce() -> CLResult<T>) -> T {
    let (value, code) = match run(name, call) {
        Ok(value) => (value, CL_SUCCESS),
        Err(code) => (T::failure(), code),
    };
    errcode.write(code);
    value
}

/// Runs a function without an error code.
pub fn plain<T: Failure>(name: &'static str, call: impl FnOnce() -> T) -> T {
    run(name, || Ok(call())).unwrap_or_else(|_| T::failure())
}

fn run<T>(name: &'static str, call: impl FnOnce() -> CLResult<T>) -> Result<T, cl_int> {
    if fork::in_child() {
        tracing::debug!("{name}: the process has forked since it began to use OpenCL");
        // Children may release their copies of objects, and cannot handle an error.
        return Err(if name.starts_with("clRelease") { CL_SUCCESS } else { AFTER_FORK as cl_int });
    }
    let error = |result: &Result<T, cl_int>| result.as_ref().err().copied().unwrap_or(CL_SUCCESS);
    trace::call(name, || caught(name, call), error)
}

fn caught<T>(name: &'static str, call: impl FnOnce() -> CLResult<T>) -> Result<T, cl_int> {
    // Unwind safety: the locks of this crate and of the runtime are released by unwinding, and
    // each guards a state that is consistent between any two of its statements.
    match catch_unwind(AssertUnwindSafe(|| misuse::watch(name, call))) {
        Ok(Ok(value)) => {
            tracing::trace!("{name}");
            Ok(value)
        }
        Ok(Err(error)) => {
            tracing::debug!("{name}: {error}");
            Err(error.code as cl_int)
        }
        Err(payload) => {
            tracing::error!("{name}: {}", Error::new(AFTER_PANIC, message(&*payload)));
            Err(AFTER_PANIC as cl_int)
        }
    }
}

fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| payload.downcast_ref::<String>().cloned());
    format!("panic in the driver: {}", text.as_deref().unwrap_or("no message"))
}

/// The value that a C function returns on failure.
pub trait Failure {
    /// Null, or nothing.
    fn failure() -> Self;
}

impl<T> Failure for *mut T {
    fn failure() -> Self {
        std::ptr::null_mut()
    }
}

impl Failure for () {
    fn failure() -> Self {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::Argument;

    #[test]
    fn codes() {
        assert_eq!(status("f", || Ok(())), 0);
        assert_eq!(status::<()>("f", || Err(Code::InvalidKernel.into())), -48);
    }

    #[test]
    fn panics_become_a_code() {
        assert_eq!(status::<()>("f", || panic!("no")), -6);
        let mut code = 1;
        // SAFETY: the pointer is to a live variable.
        let out = unsafe { Out::from_raw(&raw mut code) };
        assert!(object::<*mut u8>("f", out, || panic!("{}", 1)).is_null());
        assert_eq!(code, -6);
        assert!(plain::<*mut u8>("f", || panic!()).is_null());
    }
}
