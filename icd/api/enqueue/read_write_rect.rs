//! `clEnqueueReadBufferRect`, `clEnqueueWriteBufferRect`

use std::ffi::c_void;

use gencl_icd_macros::cl_entrypoint;
use gencl_runtime::{BufferRect, Code, Error, HostAccess, HostMemory};
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
    let rect = (buffer_origin, buffer_row_pitch, buffer_slice_pitch);
    let host_rect = (host_origin, host_row_pitch, host_slice_pitch);
    transfer(enqueue, HostAccess::Read, (buffer, rect), (&ptr, host_rect), region, blocking)
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
    let rect = (buffer_origin, buffer_row_pitch, buffer_slice_pitch);
    let host_rect = (host_origin, host_row_pitch, host_slice_pitch);
    transfer(enqueue, HostAccess::Write, (buffer, rect), (&ptr, host_rect), region, blocking)
}

/// The parameters of a rectangle: origin, pitch of rows, pitch of slices.
type Rect = (Fixed<usize, 3>, usize, usize);

fn transfer<P>(
    enqueue: Enqueue,
    access: HostAccess,
    (buffer, buffer_rect): (cl_mem, Rect),
    (ptr, host_rect): (&HostPointer<P>, Rect),
    region: Fixed<usize, 3>,
    blocking: cl_bool,
) -> CLResult<()> {
    let buffer = Memory::buffer_of_context(buffer, &enqueue.queue.context)?;
    // CL_INVALID_VALUE for NULL pointers, empty regions, pitches that are too small and regions out of
    // bounds. CL_INVALID_OPERATION if the buffer was created with CL_MEM_HOST_NO_ACCESS, or is read and was
    // created with CL_MEM_HOST_WRITE_ONLY, or is written and was created with CL_MEM_HOST_READ_ONLY.
    let region = triple(region)?;
    let buffer_rect = rect(buffer_rect.0, buffer_rect.1, buffer_rect.2)?;
    let host_rect = rect(host_rect.0, host_rect.1, host_rect.2)?.resolve(region)?;
    let memory = host_memory(ptr, host_rect, region)?;
    let (buffer, host) = ((&buffer.runtime, buffer_rect), (&memory, host_rect));
    let command = enqueue.queue.runtime.transfer_buffer_rect(access, buffer, host, region, &enqueue.waits)?;
    enqueue.done_blocking(command, blocking != 0)
}

/// The application's side of the copy: all bytes up to the last one of the region.
pub fn host_memory<P>(ptr: &HostPointer<P>, rect: BufferRect, region: [usize; 3]) -> CLResult<HostMemory> {
    refuse_if(ptr.is_null(), Code::InvalidValue, "no host memory")?;
    let length = rect.end(region).filter(|&length| isize::try_from(length).is_ok());
    let length = length.ok_or_else(|| Error::new(Code::InvalidValue, "the region exceeds all memory"))?;
    // SAFETY: the application has the region there until the command has ended; only its rows are touched.
    Ok(unsafe { ptr.memory(length) })
}
