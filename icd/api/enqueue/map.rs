//! `clEnqueueMapBuffer`, `clEnqueueUnmapMemObject`

use std::ffi::c_void;

use gencl_icd_macros::cl_entrypoint;
use gencl_runtime::MapFlags;
use opencl_sys::{cl_bool, cl_command_queue, cl_event, cl_map_flags, cl_mem, cl_uint};

use super::Enqueue;
use crate::CLResult;
use crate::abi::{HostPointer, List, Out};
use crate::object::Memory;

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
    let buffer = Memory::of_context(buffer, &enqueue.queue.context)?;
    // CL_INVALID_VALUE if region being mapped given by (offset, size) is out of bounds or if size is 0 or if values
    // specified in map_flags are not valid.
    // CL_INVALID_OPERATION if the flags of the buffer forbid the host what map_flags ask for.
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
    // CL_INVALID_VALUE if mapped_ptr is not a valid pointer returned by clEnqueueMapBuffer for memobj.
    let address = mapped.address() as *const u8;
    let command = enqueue.queue.runtime.unmap_buffer(&memory.runtime, address, &enqueue.waits)?;
    enqueue.done(command)
}
