//! `clCreateUserEvent`, `clSetUserEventStatus`

use gencl_icd_macros::cl_entrypoint;
use opencl_sys::{cl_context, cl_event, cl_int};

use crate::CLResult;
use crate::handle::Handle;
use crate::object::{Context, Event};

#[cl_entrypoint(clCreateUserEvent)]
fn create_user_event(context: cl_context) -> CLResult<cl_event> {
    let context = Handle::<Context>::get(context)?;
    let runtime = gencl_runtime::Event::user(&context.runtime);
    Ok(Handle::create(Event::new(runtime, &context, None)))
}

#[cl_entrypoint(clSetUserEventStatus)]
fn set_user_event_status(event: cl_event, status: cl_int) -> CLResult<()> {
    // CL_INVALID_EVENT if event is not a valid user event object.
    // CL_INVALID_VALUE if the execution_status is not CL_COMPLETE or a negative integer value.
    // CL_INVALID_OPERATION if the execution_status for event has already been changed.
    Handle::<Event>::get(event)?.runtime.set_user_status(status)
}
