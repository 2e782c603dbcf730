//! `clEnqueueCopyImage`, `clEnqueueCopyImageToBuffer`, `clEnqueueCopyBufferToImage`

use std::sync::Arc;

use gencl_icd_macros::cl_entrypoint;
use gencl_runtime::Transfer;
use opencl_sys::{cl_command_queue, cl_event, cl_mem, cl_uint};

use super::{Enqueue, triple};
use crate::CLResult;
use crate::abi::{Fixed, List, Out};
use crate::handle::Handle;
use crate::object::{Context, Memory};

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
    let copy = image(&enqueue.queue.context, (src_image, src_origin), (dst_image, dst_origin), region)?;
    enqueue.transfer(copy)
}

/// A copy of a region from image to image, each with an origin.
pub fn image(
    context: &Arc<Handle<Context>>,
    (from, from_origin): (cl_mem, Fixed<usize, 3>),
    (to, to_origin): (cl_mem, Fixed<usize, 3>),
    region: Fixed<usize, 3>,
) -> CLResult<Transfer> {
    let from = Memory::image_of_context(from, context)?;
    let to = Memory::image_of_context(to, context)?;
    // CL_IMAGE_FORMAT_MISMATCH if src_image and dst_image do not use the same image format. CL_INVALID_VALUE
    // if src_origin, dst_origin or region is NULL, or if a region is out of bounds or breaks the rules for
    // the kind of image. CL_MEM_COPY_OVERLAP if src_image and dst_image are the same image object and the
    // regions overlap.
    let (from, to) = ((&from, triple(from_origin)?), (&to, triple(to_origin)?));
    Transfer::copy_image(&context.runtime, from, to, triple(region)?)
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
    let context = &enqueue.queue.context;
    let copy = image_to_buffer(context, (src_image, src_origin), region, (dst_buffer, dst_offset))?;
    enqueue.transfer(copy)
}

/// A copy of a region of an image to an offset of a buffer.
pub fn image_to_buffer(
    context: &Arc<Handle<Context>>,
    (from, origin): (cl_mem, Fixed<usize, 3>),
    region: Fixed<usize, 3>,
    (to, offset): (cl_mem, usize),
) -> CLResult<Transfer> {
    let from = Memory::image_of_context(from, context)?;
    let to = Memory::buffer_of_context(to, context)?;
    // CL_INVALID_MEM_OBJECT if src_image is a 1D image buffer object created from dst_buffer.
    // CL_INVALID_VALUE if src_origin or region is NULL, if the region is out of bounds of the image or breaks
    // the rules for its kind, or if dst_offset and the bytes of the region are out of bounds of the buffer.
    let (origin, region) = (triple(origin)?, triple(region)?);
    Transfer::copy_image_to_buffer(&context.runtime, &from, origin, region, &to.runtime, offset)
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
    let context = &enqueue.queue.context;
    let copy = buffer_to_image(context, (src_buffer, src_offset), (dst_image, dst_origin), region)?;
    enqueue.transfer(copy)
}

/// A copy from an offset of a buffer to a region of an image.
pub fn buffer_to_image(
    context: &Arc<Handle<Context>>,
    (from, offset): (cl_mem, usize),
    (to, origin): (cl_mem, Fixed<usize, 3>),
    region: Fixed<usize, 3>,
) -> CLResult<Transfer> {
    let from = Memory::buffer_of_context(from, context)?;
    let to = Memory::image_of_context(to, context)?;
    // As above: CL_INVALID_MEM_OBJECT, CL_INVALID_VALUE.
    let (origin, region) = (triple(origin)?, triple(region)?);
    Transfer::copy_buffer_to_image(&context.runtime, &from.runtime, offset, &to, origin, region)
}
