//! `clRetainCommandBufferKHR`, `clReleaseCommandBufferKHR`

use gencl_icd_macros::cl_entrypoint;
use opencl_sys::cl_command_buffer_khr;

use crate::CLResult;
use crate::handle::Handle;
use crate::object::CommandBuffer;

#[cl_entrypoint(clRetainCommandBufferKHR)]
fn retain_command_buffer(buffer: cl_command_buffer_khr) -> CLResult<()> {
    Handle::<CommandBuffer>::retain(buffer)
}

#[cl_entrypoint(clReleaseCommandBufferKHR)]
fn release_command_buffer(buffer: cl_command_buffer_khr) -> CLResult<()> {
    Handle::<CommandBuffer>::release(buffer)
}
