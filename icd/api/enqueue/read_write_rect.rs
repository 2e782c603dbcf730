//! `clEnqueueReadBufferRect`, `clEnqueueWriteBufferRect`

use std::ffi::c_void;

use gencl_icd_macros::cl_entrypoint;
use gencl_runtime::{BufferRect, Code, Error, HostMemory};
use opencl_sys::{cl_bool, cl_command_queue, cl_event, cl_mem, cl_uint};

use super::{Enqueue, rect, triple};
use crate::abi::{Fixed, HostPointer, List, Out};
use crate::object::Memory;
use crate::{CLResult, refuse_if};

#[cl_entrypoint(clEnqueueReadBufferRect)]
fn enqueue_read_buffer_rect(
    queue: cl_command_queue,
    buffer: cl_mem,
    blocking: cl_bool,
    buffer_origin: Fixed<usize, 3>,
    host_origin: Fixed<usize, 3>,
    region: Fixed<usize, 3>,
    buffer_row_pitch: usize,
    buffer_slice_pitch: usize,
    host_row_pitch: usize,
    host_slice_pitch: usize,
    ptr: HostPointer<*mut c_void>,
    num_events: cl_uint,
    wait_events: List<cl_event>,
    event: Out<cl_event>,
) -> CLResult<()> {
    let enqueue = Enqueue::new(queue, num_events, wait_events, event)?;
    let buffer = Memory::buffer_of_context(buffer, &enqueue.queue.context)?;
    // CL_INVALID_VALUE for NULL pointers, empty regions, pitches that are too small and regions out of
    // bounds. CL_INVALID_OPERATION if the buffer was created with CL_MEM_HOST_WRITE_ONLY or
    // CL_MEM_HOST_NO_ACCESS.
    let region = triple(region)?;
    let from = rect(buffer_origin, buffer_row_pitch, buffer_slice_pitch)?;
    let to = rect(host_origin, host_row_pitch, host_slice_pitch)?.resolve(region)?;
    let memory = host_memory(&ptr, to, region)?;
    let (runtime, waits) = (&enqueue.queue.runtime, &enqueue.waits);
    let command = runtime.read_buffer_rect(&buffer.runtime, from, &memory, to, region, waits)?;
    enqueue.done_blocking(command, blocking != 0)
}

#[cl_entrypoint(clEnqueueWriteBufferRect)]
fn enqueue_write_buffer_rect(
    queue: cl_command_queue,
    buffer: cl_mem,
    blocking: cl_bool,
    buffer_origin: Fixed<usize, 3>,
    host_origin: Fixed<usize, 3>,
    region: Fixed<usize, 3>,
    buffer_row_pitch: usize,
    buffer_slice_pitch: usize,
    host_row_pitch: usize,
    host_slice_pitch: usize,
    ptr: HostPointer<*const c_void>,
    num_events: cl_uint,
    wait_events: List<cl_event>,
    event: Out<cl_event>,
) -> CLResult<()> {
    let enqueue = Enqueue::new(queue, num_events, wait_events, event)?;
    let buffer = Memory::buffer_of_context(buffer, &enqueue.queue.context)?;
    // CL_INVALID_VALUE for NULL pointers, empty regions, pitches that are too small and regions out of
    // bounds. CL_INVALID_OPERATION if the buffer was created with CL_MEM_HOST_READ_ONLY or
    // CL_MEM_HOST_NO_ACCESS.
    let region = triple(region)?;
    let to = rect(buffer_origin, buffer_row_pitch, buffer_slice_pitch)?;
    let from = rect(host_origin, host_row_pitch, host_slice_pitch)?.resolve(region)?;
    let memory = host_memory(&ptr, from, region)?;
    let (runtime, waits) = (&enqueue.queue.runtime, &enqueue.waits);
    let command = runtime.write_buffer_rect(&buffer.runtime, to, &memory, from, region, waits)?;
    enqueue.done_blocking(command, blocking != 0)
}

/// The application's memory of the copy, up to the last byte of the region.
pub fn host_memory<P>(ptr: &HostPointer<P>, rect: BufferRect, region: [usize; 3]) -> CLResult<HostMemory> {
    refuse_if(ptr.is_null(), Code::InvalidValue, "ptr is null")?;
    let length = rect.end(region).filter(|&length| isize::try_from(length).is_ok());
    let length =
        length.ok_or_else(|| Error::new(Code::InvalidValue, "the region exceeds the address space"))?;
    // SAFETY: the application has the region there until the command has ended; only its rows are accessed.
    Ok(unsafe { ptr.memory(length) })
}
