//! `clEnqueueCommandBufferKHR`

use gencl_icd_macros::cl_entrypoint;
use gencl_runtime::Code;
use opencl_sys::{cl_command_buffer_khr, cl_command_queue, cl_event, cl_uint};

use crate::abi::{List, ListMut, Out};
use crate::handle::Handle;
use crate::object::{CommandBuffer, Event, Queue, wait_list};
use crate::{CLResult, refuse_if};

#[cl_entrypoint(clEnqueueCommandBufferKHR)]
fn enqueue_command_buffer(
    num_queues: cl_uint,
    queues: ListMut<cl_command_queue>,
    buffer: cl_command_buffer_khr,
    num_events: cl_uint,
    wait_events: List<cl_event>,
    event: Out<cl_event>,
) -> CLResult<()> {
    // CL_INVALID_COMMAND_BUFFER_KHR if command_buffer is not a valid command-buffer.
    let buffer = Handle::<CommandBuffer>::get(buffer)?;
    // CL_INVALID_OPERATION if command_buffer is not in the Executable state.
    let executable = buffer.runtime.is_executable();
    refuse_if(!executable, Code::InvalidOperation, "the command-buffer is not executable")?;
    // CL_INVALID_VALUE if queues is NULL and num_queues is > 0, or queues is not NULL and num_queues is 0. CL_INVALID_VALUE
    // if num_queues is > 0 and not the same value as num_queues set on command_buffer creation.
    let pairs = queues.is_null() == (num_queues == 0) && num_queues <= 1;
    refuse_if(!pairs, Code::InvalidValue, "a command-buffer is enqueued in one queue")?;
    // CL_INVALID_COMMAND_QUEUE if any element of queues is not a valid command-queue. All properties of queues are
    // supported, and none is required. SAFETY: num_queues is the length of the list.
    let queue = match unsafe { queues.to_vec(num_queues as usize) }.first() {
        Some(queue) => Handle::<Queue>::get(*queue)?,
        None => buffer.queue.clone(),
    };
    let waits = wait_list(&buffer.queue.context, num_events, wait_events)?;
    // CL_INVALID_DEVICE if any element of queues does not have the same device as the command-queue set on command_buffer
    // creation, CL_INVALID_CONTEXT if it does not have the same context.
    let command = queue.runtime.command_buffer(&buffer.runtime, &waits)?;
    Event::give(&queue, command, event);
    Ok(())
}
