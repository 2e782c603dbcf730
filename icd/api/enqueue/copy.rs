//! `clEnqueueCopyBuffer`, `clEnqueueCopyBufferRect`

use std::sync::Arc;

use gencl_icd_macros::cl_entrypoint;
use gencl_runtime::Transfer;
use opencl_sys::{cl_command_queue, cl_event, cl_mem, cl_uint};

use super::{Enqueue, rect, triple};
use crate::CLResult;
use crate::abi::{Fixed, List, Out};
use crate::handle::Handle;
use crate::object::{Context, Memory};

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
    let copy = buffer(&enqueue.queue.context, (src_buffer, src_offset), (dst_buffer, dst_offset), size)?;
    enqueue.transfer(copy)
}

/// A copy of `size` bytes from buffer to buffer, each with an offset.
pub fn buffer(
    context: &Arc<Handle<Context>>,
    (from, from_offset): (cl_mem, usize),
    (to, to_offset): (cl_mem, usize),
    size: usize,
) -> CLResult<Transfer> {
    let from = Memory::buffer_of_context(from, context)?;
    let to = Memory::buffer_of_context(to, context)?;
    // CL_INVALID_VALUE if src_offset, dst_offset, size, src_offset + size or dst_offset + size require
    // accessing elements outside of the buffers. CL_MEM_COPY_OVERLAP if the regions overlap in one buffer, or
    // in sub-buffers of one buffer.
    Transfer::copy_buffer(&context.runtime, &from.runtime, from_offset, &to.runtime, to_offset, size)
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
    let from = (src_buffer, src_origin, src_row_pitch, src_slice_pitch);
    let to = (dst_buffer, dst_origin, dst_row_pitch, dst_slice_pitch);
    let copy = buffer_rect(&enqueue.queue.context, from, to, region)?;
    enqueue.transfer(copy)
}

/// A rectangle of a buffer: its origin, row pitch and slice pitch.
pub type RectOfBuffer = (cl_mem, Fixed<usize, 3>, usize, usize);

/// A copy of a rectangle from buffer to buffer.
pub fn buffer_rect(
    context: &Arc<Handle<Context>>,
    (from, from_origin, from_row_pitch, from_slice_pitch): RectOfBuffer,
    (to, to_origin, to_row_pitch, to_slice_pitch): RectOfBuffer,
    region: Fixed<usize, 3>,
) -> CLResult<Transfer> {
    let from = Memory::buffer_of_context(from, context)?;
    let to = Memory::buffer_of_context(to, context)?;
    // CL_INVALID_VALUE for NULL pointers, empty regions, pitches that are too small, or differ within one
    // buffer, and regions out of bounds. CL_MEM_COPY_OVERLAP if the regions overlap in one buffer, or in
    // sub-buffers of one buffer.
    let region = triple(region)?;
    let from_rect = rect(from_origin, from_row_pitch, from_slice_pitch)?;
    let to_rect = rect(to_origin, to_row_pitch, to_slice_pitch)?;
    let (from, to) = ((&from.runtime, from_rect), (&to.runtime, to_rect));
    Transfer::copy_buffer_rect(&context.runtime, from, to, region)
}
