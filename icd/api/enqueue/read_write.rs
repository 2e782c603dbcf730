//! `clEnqueueReadBuffer`, `clEnqueueWriteBuffer`

use std::ffi::c_void;

use gencl_icd_macros::cl_entrypoint;
use gencl_runtime::Code;
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
    let buffer = Memory::buffer_of_context(buffer, &enqueue.queue.context)?;
    // CL_INVALID_VALUE if the region being read specified by (offset, size) is out of bounds or if ptr is a
    // NULL value.
    refuse_if(ptr.is_null(), Code::InvalidValue, "ptr is null")?;
    // CL_INVALID_OPERATION if the buffer was created with CL_MEM_HOST_WRITE_ONLY or CL_MEM_HOST_NO_ACCESS.
    // SAFETY: the application has size bytes there until the command has ended.
    let memory = unsafe { ptr.memory(size) };
    let command = enqueue.queue.runtime.read_buffer(&buffer.runtime, offset, &memory, &enqueue.waits)?;
    enqueue.done_blocking(command, blocking != 0)
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
    let buffer = Memory::buffer_of_context(buffer, &enqueue.queue.context)?;
    // CL_INVALID_VALUE if the region being written specified by (offset, size) is out of bounds or if ptr is
    // a NULL value.
    refuse_if(ptr.is_null(), Code::InvalidValue, "ptr is null")?;
    // CL_INVALID_OPERATION if the buffer was created with CL_MEM_HOST_READ_ONLY or CL_MEM_HOST_NO_ACCESS.
    // SAFETY: the application has size bytes there until the command has ended.
    let memory = unsafe { ptr.memory(size) };
    let command = enqueue.queue.runtime.write_buffer(&buffer.runtime, offset, &memory, &enqueue.waits)?;
    enqueue.done_blocking(command, blocking != 0)
}
