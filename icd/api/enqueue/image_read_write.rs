//! `clEnqueueReadImage`, `clEnqueueWriteImage`, `clEnqueueFillImage`

use std::ffi::c_void;
use std::sync::Arc;

use gencl_icd_macros::cl_entrypoint;
use gencl_runtime::{ChannelOrder, Code, Error, HostAccess, Transfer};
use opencl_sys::{cl_bool, cl_command_queue, cl_event, cl_mem, cl_uint};

use super::read_write_rect::host_memory;
use super::{Enqueue, triple};
use crate::CLResult;
use crate::abi::{Fixed, HostPointer, List, Out};
use crate::handle::Handle;
use crate::object::{Context, Memory};

#[cl_entrypoint(clEnqueueReadImage)]
fn enqueue_read_image(
    queue: cl_command_queue,
    image: cl_mem,
    blocking: cl_bool,
    origin: Fixed<usize, 3>,
    region: Fixed<usize, 3>,
    row_pitch: usize,
    slice_pitch: usize,
    ptr: HostPointer<*mut c_void>,
    num_events: cl_uint,
    wait_events: List<cl_event>,
    event: Out<cl_event>,
) -> CLResult<()> {
    let enqueue = Enqueue::new(queue, num_events, wait_events, event)?;
    let host = (&ptr, row_pitch, slice_pitch);
    transfer(enqueue, HostAccess::Read, (image, origin), host, region, blocking)
}

#[cl_entrypoint(clEnqueueWriteImage)]
fn enqueue_write_image(
    queue: cl_command_queue,
    image: cl_mem,
    blocking: cl_bool,
    origin: Fixed<usize, 3>,
    region: Fixed<usize, 3>,
    row_pitch: usize,
    slice_pitch: usize,
    ptr: HostPointer<*const c_void>,
    num_events: cl_uint,
    wait_events: List<cl_event>,
    event: Out<cl_event>,
) -> CLResult<()> {
    let enqueue = Enqueue::new(queue, num_events, wait_events, event)?;
    let host = (&ptr, row_pitch, slice_pitch);
    transfer(enqueue, HostAccess::Write, (image, origin), host, region, blocking)
}

#[cl_entrypoint(clEnqueueFillImage)]
fn enqueue_fill_image(
    queue: cl_command_queue,
    image: cl_mem,
    fill_color: HostPointer<*const c_void>,
    origin: Fixed<usize, 3>,
    region: Fixed<usize, 3>,
    num_events: cl_uint,
    wait_events: List<cl_event>,
    event: Out<cl_event>,
) -> CLResult<()> {
    let enqueue = Enqueue::new(queue, num_events, wait_events, event)?;
    let fill = image_fill(&enqueue.queue.context, image, &fill_color, origin, region)?;
    enqueue.transfer(fill)
}

/// A fill of a region of an image with a color.
pub fn image_fill(
    context: &Arc<Handle<Context>>,
    image: cl_mem,
    fill_color: &HostPointer<*const c_void>,
    origin: Fixed<usize, 3>,
    region: Fixed<usize, 3>,
) -> CLResult<Transfer> {
    let image = Memory::image_of_context(image, context)?;
    // CL_INVALID_VALUE if fill_color, origin or region is NULL, or if the region is out of bounds or breaks
    // the rules for the kind of image. The color is a single float if the channel order is CL_DEPTH, else it
    // has four components.
    let components = if image.layout().format.order == ChannelOrder::Depth { 1 } else { 4 };
    // SAFETY: the application has that many components of four bytes there.
    let bytes = unsafe { fill_color.to_vec(components * size_of::<u32>()) };
    let bytes = bytes.ok_or_else(|| Error::new(Code::InvalidValue, "no color"))?;
    let mut color = [0; 4];
    for (component, bytes) in color.iter_mut().zip(bytes.as_chunks::<4>().0) {
        *component = u32::from_ne_bytes(*bytes);
    }
    Transfer::fill_image(&context.runtime, &image, color, triple(origin)?, triple(region)?)
}

fn transfer<P>(
    enqueue: Enqueue,
    access: HostAccess,
    (image, origin): (cl_mem, Fixed<usize, 3>),
    (ptr, row_pitch, slice_pitch): (&HostPointer<P>, usize, usize),
    region: Fixed<usize, 3>,
    blocking: cl_bool,
) -> CLResult<()> {
    let image = Memory::image_of_context(image, &enqueue.queue.context)?;
    // CL_INVALID_VALUE if origin, region or ptr is NULL, if the region is out of bounds or breaks the rules
    // for the kind of image, or if a pitch is too small. CL_INVALID_OPERATION if the image was created with
    // CL_MEM_HOST_NO_ACCESS, or is read and was created with CL_MEM_HOST_WRITE_ONLY, or is written and was
    // created with CL_MEM_HOST_READ_ONLY.
    let (origin, region) = (triple(origin)?, triple(region)?);
    let rect = image.host_rect(origin, region, row_pitch, slice_pitch)?;
    let memory = host_memory(ptr, rect, image.bytes(region))?;
    let (runtime, waits) = (&enqueue.queue.runtime, &enqueue.waits);
    let command = runtime.transfer_image(access, (&image, origin), (&memory, rect), region, waits)?;
    enqueue.done_blocking(command, blocking != 0)
}
