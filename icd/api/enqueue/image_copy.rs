//! `clEnqueueCopyImage`, `clEnqueueCopyImageToBuffer`, `clEnqueueCopyBufferToImage`

use gencl_icd_macros::cl_entrypoint;
use opencl_sys::{cl_command_queue, cl_event, cl_mem, cl_uint};

use super::{Enqueue, triple};
use crate::CLResult;
use crate::abi::{Fixed, List, Out};
use crate::object::Memory;

#[cl_entrypoint(clEnqueueCopyImage)]
fn enqueue_copy_image(
    queue: cl_command_queue,
    src_image: cl_mem,
    dst_image: cl_mem,
    src_origin: Fixed<usize, 3>,
    dst_origin: Fixed<usize, 3>,
    region: Fixed<usize, 3>,
    num_events: cl_uint,
    wait_events: List<cl_event>,
    event: Out<cl_event>,
) -> CLResult<()> {
    let enqueue = Enqueue::new(queue, num_events, wait_events, event)?;
    let from = Memory::image_of_context(src_image, &enqueue.queue.context)?;
    let to = Memory::image_of_context(dst_image, &enqueue.queue.context)?;
    // CL_IMAGE_FORMAT_MISMATCH if src_image and dst_image do not use the same image format. CL_INVALID_VALUE
    // if src_origin, dst_origin or region is NULL, or if a region is out of bounds or breaks the rules for
    // the kind of image. CL_MEM_COPY_OVERLAP if src_image and dst_image are the same image object and the
    // regions overlap.
    let (from, to) = ((&from, triple(src_origin)?), (&to, triple(dst_origin)?));
    let command = enqueue.queue.runtime.copy_image(from, to, triple(region)?, &enqueue.waits)?;
    enqueue.done(command)
}

#[cl_entrypoint(clEnqueueCopyImageToBuffer)]
fn enqueue_copy_image_to_buffer(
    queue: cl_command_queue,
    src_image: cl_mem,
    dst_buffer: cl_mem,
    src_origin: Fixed<usize, 3>,
    region: Fixed<usize, 3>,
    dst_offset: usize,
    num_events: cl_uint,
    wait_events: List<cl_event>,
    event: Out<cl_event>,
) -> CLResult<()> {
    let enqueue = Enqueue::new(queue, num_events, wait_events, event)?;
    let from = Memory::image_of_context(src_image, &enqueue.queue.context)?;
    let to = Memory::buffer_of_context(dst_buffer, &enqueue.queue.context)?;
    // CL_INVALID_MEM_OBJECT if src_image is a 1D image buffer object created from dst_buffer.
    // CL_INVALID_VALUE if src_origin or region is NULL, if the region is out of bounds of the image or breaks
    // the rules for its kind, or if dst_offset and the bytes of the region are out of bounds of the buffer.
    let (origin, region) = (triple(src_origin)?, triple(region)?);
    let (runtime, waits) = (&enqueue.queue.runtime, &enqueue.waits);
    let command = runtime.copy_image_to_buffer(&from, origin, region, &to.runtime, dst_offset, waits)?;
    enqueue.done(command)
}

#[cl_entrypoint(clEnqueueCopyBufferToImage)]
fn enqueue_copy_buffer_to_image(
    queue: cl_command_queue,
    src_buffer: cl_mem,
    dst_image: cl_mem,
    src_offset: usize,
    dst_origin: Fixed<usize, 3>,
    region: Fixed<usize, 3>,
    num_events: cl_uint,
    wait_events: List<cl_event>,
    event: Out<cl_event>,
) -> CLResult<()> {
    let enqueue = Enqueue::new(queue, num_events, wait_events, event)?;
    let from = Memory::buffer_of_context(src_buffer, &enqueue.queue.context)?;
    let to = Memory::image_of_context(dst_image, &enqueue.queue.context)?;
    // As above: CL_INVALID_MEM_OBJECT, CL_INVALID_VALUE.
    let (origin, region) = (triple(dst_origin)?, triple(region)?);
    let (runtime, waits) = (&enqueue.queue.runtime, &enqueue.waits);
    let command = runtime.copy_buffer_to_image(&from.runtime, src_offset, &to, origin, region, waits)?;
    enqueue.done(command)
}
