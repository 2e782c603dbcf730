//! `clRetainCommandQueue`, `clReleaseCommandQueue`

use gencl_icd_macros::cl_entrypoint;
use opencl_sys::cl_command_queue;

use crate::CLResult;
use crate::handle::Handle;
use crate::object::Queue;

#[cl_entrypoint(clRetainCommandQueue)]
fn retain_command_queue(queue: cl_command_queue) -> CLResult<()> {
    Handle::<Queue>::retain(queue)
}

#[cl_entrypoint(clReleaseCommandQueue)]
fn release_command_queue(queue: cl_command_queue) -> CLResult<()> {
    Handle::<Queue>::release(queue)
}
