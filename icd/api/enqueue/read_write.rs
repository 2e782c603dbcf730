//! `clEnqueueReadBuffer`, `clEnqueueWriteBuffer`

use std::ffi::c_void;

use gencl_icd_macros::cl_entrypoint;
use gencl_runtime::{Code, HostAccess};
use opencl_sys::{cl_bool, cl_command_queue, cl_event, cl_mem, cl_uint};

use super::Enqueue;
use crate::abi::{HostPointer, List, Out};
use crate::object::Memory;
use crate::{CLResult, refuse_if};

#[cl_entrypoint(clEnqueueReadBuffer)]
fn enqueue_read_buffer(
    queue: cl_command_queue,
    buffer: cl_mem,
    blocking: cl_bool,
    offset: usize,
    size: usize,
    ptr: HostPointer<*mut c_void>,
    num_events: cl_uint,
    wait_events: List<cl_event>,
    event: Out<cl_event>,
) -> CLResult<()> {
    let enqueue = Enqueue::new(queue, num_events, wait_events, event)?;
    transfer(enqueue, HostAccess::Read, buffer, (offset, size), &ptr, blocking)
}

#[cl_entrypoint(clEnqueueWriteBuffer)]
fn enqueue_write_buffer(
    queue: cl_command_queue,
    buffer: cl_mem,
    blocking: cl_bool,
    offset: usize,
    size: usize,
    ptr: HostPointer<*const c_void>,
    num_events: cl_uint,
    wait_events: List<cl_event>,
    event: Out<cl_event>,
) -> CLResult<()> {
    let enqueue = Enqueue::new(queue, num_events, wait_events, event)?;
    transfer(enqueue, HostAccess::Write, buffer, (offset, size), &ptr, blocking)
}

fn transfer<P>(
    enqueue: Enqueue,
    access: HostAccess,
    buffer: cl_mem,
    (offset, size): (usize, usize),
    ptr: &HostPointer<P>,
    blocking: cl_bool,
) -> CLResult<()> {
    let buffer = Memory::buffer_of_context(buffer, &enqueue.queue.context)?;
    // CL_INVALID_VALUE if the region specified by (offset, size) is out of bounds or if ptr is a NULL value.
    refuse_if(ptr.is_null(), Code::InvalidValue, "no host memory")?;
    // CL_INVALID_OPERATION if the buffer was created with CL_MEM_HOST_NO_ACCESS, or is read and was created with
    // CL_MEM_HOST_WRITE_ONLY, or is written and was created with CL_MEM_HOST_READ_ONLY.
    // SAFETY: the application has size bytes there until the command has ended.
    let memory = unsafe { ptr.memory(size) };
    let (runtime, waits) = (&enqueue.queue.runtime, &enqueue.waits);
    let command = runtime.transfer_buffer(access, &buffer.runtime, offset, &memory, waits)?;
    enqueue.done_blocking(command, blocking != 0)
}
