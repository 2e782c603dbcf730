//! `clEnqueueFillBuffer`

use std::ffi::c_void;
use std::sync::Arc;

use gencl_icd_macros::cl_entrypoint;
use gencl_runtime::{Code, Error, Transfer};
use opencl_sys::{cl_command_queue, cl_event, cl_mem, cl_uint};

use super::Enqueue;
use crate::abi::{HostPointer, List, Out};
use crate::handle::Handle;
use crate::object::{Context, Memory};
use crate::{CLResult, refuse_if};

/// The largest type of OpenCL C, `long16`.
const MAX_PATTERN: usize = 128;

#[cl_entrypoint(clEnqueueFillBuffer)]
fn enqueue_fill_buffer(
    queue: cl_command_queue,
    buffer: cl_mem,
    pattern: HostPointer<*const c_void>,
    pattern_size: usize,
    offset: usize,
    size: usize,
    num_events: cl_uint,
    wait_events: List<cl_event>,
    event: Out<cl_event>,
) -> CLResult<()> {
    let enqueue = Enqueue::new(queue, num_events, wait_events, event)?;
    let fill = buffer_fill(&enqueue.queue.context, buffer, (&pattern, pattern_size), offset, size)?;
    enqueue.transfer(fill)
}

/// A fill of `size` bytes of a buffer with a pattern of a size.
pub fn buffer_fill(
    context: &Arc<Handle<Context>>,
    buffer: cl_mem,
    (pattern, pattern_size): (&HostPointer<*const c_void>, usize),
    offset: usize,
    size: usize,
) -> CLResult<Transfer> {
    let buffer = Memory::buffer_of_context(buffer, context)?;
    // CL_INVALID_VALUE if pattern is NULL or if pattern_size is 0 or if pattern_size is not one of
    // { 1, 2, 4, 8, 16, 32, 64, 128 }.
    let pattern = pattern_of(pattern, pattern_size)?;
    // CL_INVALID_VALUE if offset or offset + size require accessing elements outside the buffer, or if offset
    // and size are not a multiple of pattern_size.
    Transfer::fill_buffer(&context.runtime, &buffer.runtime, &pattern, offset, size)
}

/// The pattern of a fill command; `INVALID_VALUE` when it is null or no type has its size.
pub(super) fn pattern_of(pattern: &HostPointer<*const c_void>, size: usize) -> CLResult<Vec<u8>> {
    let valid = size.is_power_of_two() && size <= MAX_PATTERN;
    refuse_if(!valid, Code::InvalidValue, "no type has the size of the pattern")?;
    // SAFETY: the application passes the size of the pattern.
    let pattern = unsafe { pattern.to_vec(size) };
    pattern.ok_or_else(|| Error::new(Code::InvalidValue, "no pattern"))
}
