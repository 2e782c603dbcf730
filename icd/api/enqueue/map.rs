//! `clEnqueueMapBuffer`, `clEnqueueMapImage`, `clEnqueueUnmapMemObject`

use std::ffi::c_void;

use gencl_icd_macros::cl_entrypoint;
use gencl_runtime::{Code, MapFlags};
use opencl_sys::{cl_bool, cl_command_queue, cl_event, cl_map_flags, cl_mem, cl_uint};

use super::{Enqueue, triple};
use crate::abi::{Fixed, HostPointer, List, Out};
use crate::object::Memory;
use crate::{CLResult, refuse_if};

#[cl_entrypoint(clEnqueueMapBuffer)]
fn enqueue_map_buffer(
    queue: cl_command_queue,
    buffer: cl_mem,
    blocking: cl_bool,
    flags: cl_map_flags,
    offset: usize,
    size: usize,
    num_events: cl_uint,
    wait_events: List<cl_event>,
    event: Out<cl_event>,
) -> CLResult<*mut c_void> {
    let enqueue = Enqueue::new(queue, num_events, wait_events, event)?;
    let buffer = Memory::buffer_of_context(buffer, &enqueue.queue.context)?;
    // CL_INVALID_VALUE if region being mapped given by (offset, size) is out of bounds or if size is 0 or if
    // values specified in map_flags are not valid. CL_INVALID_OPERATION if the flags of the buffer forbid the
    // host what map_flags ask for.
    let (runtime, waits) = (&enqueue.queue.runtime, &enqueue.waits);
    let flags = MapFlags::from_bits_retain(flags);
    let (memory, command) = runtime.map_buffer(&buffer.runtime, flags, offset, size, waits)?;
    let address = memory.address();
    if let Err(error) = enqueue.done_blocking(command, blocking != 0) {
        // The application does not get the pointer, so it could not unmap the region.
        buffer.runtime.forget_mapping(address)?;
        return Err(error);
    }
    Ok(address.cast())
}

#[cl_entrypoint(clEnqueueMapImage)]
fn enqueue_map_image(
    queue: cl_command_queue,
    image: cl_mem,
    blocking: cl_bool,
    flags: cl_map_flags,
    origin: Fixed<usize, 3>,
    region: Fixed<usize, 3>,
    image_row_pitch: Out<usize>,
    image_slice_pitch: Out<usize>,
    num_events: cl_uint,
    wait_events: List<cl_event>,
    event: Out<cl_event>,
) -> CLResult<*mut c_void> {
    let enqueue = Enqueue::new(queue, num_events, wait_events, event)?;
    let image = Memory::image_of_context(image, &enqueue.queue.context)?;
    let layout = image.layout();
    // CL_INVALID_VALUE if image_row_pitch is NULL, or if image is a 3D image or an array and
    // image_slice_pitch is NULL.
    let nowhere = image_row_pitch.is_null() || (layout.kind.has_slices() && image_slice_pitch.is_null());
    refuse_if(nowhere, Code::InvalidValue, "a pointer for the pitches is null")?;
    // CL_INVALID_VALUE if origin or region is NULL, if the region is out of bounds or breaks the rules for
    // the kind of image, or if values specified in map_flags are not valid. CL_INVALID_OPERATION if the flags
    // of the image forbid the host what map_flags ask for, or if mapping would lead to overlapping regions
    // being mapped for writing.
    let (origin, region) = (triple(origin)?, triple(region)?);
    let (runtime, waits) = (&enqueue.queue.runtime, &enqueue.waits);
    let flags = MapFlags::from_bits_retain(flags);
    let (memory, command) = runtime.map_image(&image, flags, origin, region, waits)?;
    let address = memory.address();
    if let Err(error) = enqueue.done_blocking(command, blocking != 0) {
        // The application does not get the pointer, so it could not unmap the region.
        image.data().forget_mapping(address)?;
        return Err(error);
    }
    let mapped = image.mapped_layout();
    image_row_pitch.write(mapped.row_pitch);
    image_slice_pitch.write(mapped.slice_pitch);
    Ok(address.cast())
}

#[cl_entrypoint(clEnqueueUnmapMemObject)]
fn enqueue_unmap_mem_object(
    queue: cl_command_queue,
    memory: cl_mem,
    mapped: HostPointer<*mut c_void>,
    num_events: cl_uint,
    wait_events: List<cl_event>,
    event: Out<cl_event>,
) -> CLResult<()> {
    let enqueue = Enqueue::new(queue, num_events, wait_events, event)?;
    let memory = Memory::of_context(memory, &enqueue.queue.context)?;
    // CL_INVALID_VALUE if mapped_ptr is not a valid pointer returned by clEnqueueMapBuffer or
    // clEnqueueMapImage for memobj.
    let address = mapped.address() as *const u8;
    let command = enqueue.queue.runtime.unmap_buffer(&memory.runtime, address, &enqueue.waits)?;
    enqueue.done(command)
}
