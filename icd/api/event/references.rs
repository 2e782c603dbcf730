//! `clRetainEvent`, `clReleaseEvent`

use gencl_icd_macros::cl_entrypoint;
use opencl_sys::cl_event;

use crate::CLResult;
use crate::handle::Handle;
use crate::object::Event;

#[cl_entrypoint(clRetainEvent)]
fn retain_event(event: cl_event) -> CLResult<()> {
    Handle::<Event>::retain(event)
}

#[cl_entrypoint(clReleaseEvent)]
fn release_event(event: cl_event) -> CLResult<()> {
    Handle::<Event>::release(event)
}
