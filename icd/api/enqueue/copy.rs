//! `clEnqueueCopyBuffer`, `clEnqueueCopyBufferRect`

use gencl_icd_macros::cl_entrypoint;
use opencl_sys::{cl_command_queue, cl_event, cl_mem, cl_uint};

use super::{Enqueue, rect, triple};
use crate::CLResult;
use crate::abi::{Fixed, List, Out};
use crate::object::Memory;

#[cl_entrypoint(clEnqueueCopyBuffer)]
fn enqueue_copy_buffer(
    queue: cl_command_queue,
    src_buffer: cl_mem,
    dst_buffer: cl_mem,
    src_offset: usize,
    dst_offset: usize,
    size: usize,
    num_events: cl_uint,
    wait_events: List<cl_event>,
    event: Out<cl_event>,
) -> CLResult<()> {
    let enqueue = Enqueue::new(queue, num_events, wait_events, event)?;
    let from = Memory::buffer_of_context(src_buffer, &enqueue.queue.context)?;
    let to = Memory::buffer_of_context(dst_buffer, &enqueue.queue.context)?;
    // CL_INVALID_VALUE if src_offset, dst_offset, size, src_offset + size or dst_offset + size require
    // accessing elements outside of the buffers. CL_MEM_COPY_OVERLAP if the regions overlap in one buffer, or
    // in sub-buffers of one buffer.
    let (runtime, waits) = (&enqueue.queue.runtime, &enqueue.waits);
    let command = runtime.copy_buffer(&from.runtime, src_offset, &to.runtime, dst_offset, size, waits)?;
    enqueue.done(command)
}

#[cl_entrypoint(clEnqueueCopyBufferRect)]
fn enqueue_copy_buffer_rect(
    queue: cl_command_queue,
    src_buffer: cl_mem,
    dst_buffer: cl_mem,
    src_origin: Fixed<usize, 3>,
    dst_origin: Fixed<usize, 3>,
    region: Fixed<usize, 3>,
    src_row_pitch: usize,
    src_slice_pitch: usize,
    dst_row_pitch: usize,
    dst_slice_pitch: usize,
    num_events: cl_uint,
    wait_events: List<cl_event>,
    event: Out<cl_event>,
) -> CLResult<()> {
    let enqueue = Enqueue::new(queue, num_events, wait_events, event)?;
    let from = Memory::buffer_of_context(src_buffer, &enqueue.queue.context)?;
    let to = Memory::buffer_of_context(dst_buffer, &enqueue.queue.context)?;
    // CL_INVALID_VALUE for NULL pointers, empty regions, pitches that are too small, or differ within one
    // buffer, and regions out of bounds. CL_MEM_COPY_OVERLAP if the regions overlap in one buffer, or in
    // sub-buffers of one buffer.
    let region = triple(region)?;
    let from_rect = rect(src_origin, src_row_pitch, src_slice_pitch)?;
    let to_rect = rect(dst_origin, dst_row_pitch, dst_slice_pitch)?;
    let (from, to) = ((&from.runtime, from_rect), (&to.runtime, to_rect));
    let command = enqueue.queue.runtime.copy_buffer_rect(from, to, region, &enqueue.waits)?;
    enqueue.done(command)
}
