//! `clFlush`, `clFinish`

use gencl_icd_macros::cl_entrypoint;
use opencl_sys::cl_command_queue;

use crate::CLResult;
use crate::handle::Handle;
use crate::object::Queue;

#[cl_entrypoint(clFlush)]
fn flush(queue: cl_command_queue) -> CLResult<()> {
    Handle::<Queue>::get(queue)?.runtime.flush();
    Ok(())
}

#[cl_entrypoint(clFinish)]
fn finish(queue: cl_command_queue) -> CLResult<()> {
    Handle::<Queue>::get(queue)?.runtime.finish()
}
