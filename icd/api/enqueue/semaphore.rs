//! `clEnqueueWaitSemaphoresKHR`, `clEnqueueSignalSemaphoresKHR`

use std::sync::Arc;

use gencl_icd_macros::cl_entrypoint;
use gencl_runtime::Code;
use opencl_sys::{cl_command_queue, cl_event, cl_semaphore_khr, cl_semaphore_payload_khr, cl_uint};

use super::Enqueue;
use crate::abi::{List, Out};
use crate::handle::Handle;
use crate::object::{Queue, Semaphore};
use crate::{CLResult, refuse_if};

/// The semaphores of a command.
///
/// CL_INVALID_COMMAND_QUEUE if command_queue is not a valid command-queue.
/// CL_INVALID_VALUE if num_sema_objects is 0.
/// CL_INVALID_SEMAPHORE_KHR if any of the semaphore objects specified by sema_objects is not valid.
fn semaphores(
    queue: cl_command_queue,
    count: cl_uint,
    list: List<cl_semaphore_khr>,
) -> CLResult<Vec<Arc<gencl_runtime::Semaphore>>> {
    Handle::<Queue>::get(queue)?;
    refuse_if(count == 0, Code::InvalidValue, "no semaphores")?;
    refuse_if(list.is_null(), Code::InvalidSemaphore, "no list of semaphores")?;
    // SAFETY: num_sema_objects is the length of the list.
    let list = unsafe { list.to_vec(count as usize) };
    list.iter().map(|handle| Ok(Handle::<Semaphore>::get(*handle)?.runtime.clone())).collect()
}

// Binary semaphores require no payloads, so their list is ignored. CL_INVALID_COMMAND_QUEUE, CL_INVALID_CONTEXT and
// CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST: the runtime checks devices, contexts and the status of events.

#[cl_entrypoint(clEnqueueWaitSemaphoresKHR)]
fn enqueue_wait_semaphores(
    queue: cl_command_queue,
    num_semaphores: cl_uint,
    list: List<cl_semaphore_khr>,
    _payloads: List<cl_semaphore_payload_khr>,
    num_events: cl_uint,
    wait_events: List<cl_event>,
    event: Out<cl_event>,
) -> CLResult<()> {
    let semaphores = semaphores(queue, num_semaphores, list)?;
    let enqueue = Enqueue::new(queue, num_events, wait_events, event)?;
    let command = enqueue.queue.runtime.wait_semaphores(&semaphores, &enqueue.waits)?;
    enqueue.done(command)
}

#[cl_entrypoint(clEnqueueSignalSemaphoresKHR)]
fn enqueue_signal_semaphores(
    queue: cl_command_queue,
    num_semaphores: cl_uint,
    list: List<cl_semaphore_khr>,
    _payloads: List<cl_semaphore_payload_khr>,
    num_events: cl_uint,
    wait_events: List<cl_event>,
    event: Out<cl_event>,
) -> CLResult<()> {
    let semaphores = semaphores(queue, num_semaphores, list)?;
    let enqueue = Enqueue::new(queue, num_events, wait_events, event)?;
    let command = enqueue.queue.runtime.signal_semaphores(&semaphores, &enqueue.waits)?;
    enqueue.done(command)
}
