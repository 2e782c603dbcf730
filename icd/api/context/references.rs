//! `clRetainContext`, `clReleaseContext`, `clSetContextDestructorCallback`

use gencl_icd_macros::cl_entrypoint;
use gencl_runtime::{Code, Error};
use opencl_sys::cl_context;

use crate::CLResult;
use crate::abi::{ObjectNotify, UserData};
use crate::handle::Handle;
use crate::object::Context;

#[cl_entrypoint(clRetainContext)]
fn retain_context(context: cl_context) -> CLResult<()> {
    Handle::<Context>::retain(context)
}

#[cl_entrypoint(clReleaseContext)]
fn release_context(context: cl_context) -> CLResult<()> {
    Handle::<Context>::release(context)
}

#[cl_entrypoint(clSetContextDestructorCallback)]
fn set_context_destructor_callback(
    context: cl_context,
    notify: ObjectNotify,
    user: UserData,
) -> CLResult<()> {
    let context = Handle::<Context>::get(context)?;
    // CL_INVALID_VALUE if pfn_notify is NULL.
    let notify = notify.bind(user).ok_or_else(|| Error::new(Code::InvalidValue, "no callback"))?;
    // The callback gets the handle for reference only: when it is called, the context is no longer valid.
    let address = context.address();
    context.runtime.on_destroy(Box::new(move || notify(address as cl_context)));
    Ok(())
}
