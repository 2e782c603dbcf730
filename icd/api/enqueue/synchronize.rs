//! `clEnqueueMarker…`, `clEnqueueBarrier…`, `clEnqueueWaitForEvents`

use gencl_icd_macros::cl_entrypoint;
use gencl_runtime::{Code, Error};
use opencl_sys::{cl_command_queue, cl_event, cl_uint};

use super::Enqueue;
use crate::abi::{List, Out};
use crate::handle::Handle;
use crate::object::{Event, Queue, to_runtime};
use crate::{CLResult, refuse_if};

#[cl_entrypoint(clEnqueueMarkerWithWaitList)]
fn enqueue_marker_with_wait_list(
    queue: cl_command_queue,
    num_events: cl_uint,
    wait_events: List<cl_event>,
    event: Out<cl_event>,
) -> CLResult<()> {
    let enqueue = Enqueue::new(queue, num_events, wait_events, event)?;
    let command = enqueue.queue.runtime.marker(&enqueue.waits)?;
    enqueue.done(command)
}

#[cl_entrypoint(clEnqueueBarrierWithWaitList)]
fn enqueue_barrier_with_wait_list(
    queue: cl_command_queue,
    num_events: cl_uint,
    wait_events: List<cl_event>,
    event: Out<cl_event>,
) -> CLResult<()> {
    let enqueue = Enqueue::new(queue, num_events, wait_events, event)?;
    let command = enqueue.queue.runtime.barrier(&enqueue.waits)?;
    enqueue.done(command)
}

// The functions below are deprecated by OpenCL 1.2.

#[cl_entrypoint(clEnqueueMarker)]
fn enqueue_marker(queue: cl_command_queue, event: Out<cl_event>) -> CLResult<()> {
    let queue = Handle::<Queue>::get(queue)?;
    // CL_INVALID_VALUE if event is a NULL value.
    refuse_if(event.is_null(), Code::InvalidValue, "event is null")?;
    Event::give(&queue, queue.runtime.marker(&[])?, event);
    Ok(())
}

#[cl_entrypoint(clEnqueueBarrier)]
fn enqueue_barrier(queue: cl_command_queue) -> CLResult<()> {
    Handle::<Queue>::get(queue)?.runtime.barrier(&[]).map(drop)
}

#[cl_entrypoint(clEnqueueWaitForEvents)]
fn enqueue_wait_for_events(
    queue: cl_command_queue,
    num_events: cl_uint,
    events: List<cl_event>,
) -> CLResult<()> {
    let queue = Handle::<Queue>::get(queue)?;
    // CL_INVALID_VALUE if num_events is 0 or event_list is NULL.
    if num_events == 0 || events.is_null() {
        return Err(Error::new(Code::InvalidValue, "no events"));
    }
    // SAFETY: num_events is the length of the list.
    let list = unsafe { events.to_vec(num_events as usize) };
    // CL_INVALID_EVENT if event objects specified in event_list are not valid events.
    // CL_INVALID_CONTEXT if the context is not the same for command_queue and events in event_list.
    let events = to_runtime(&list, Code::InvalidEvent, Some(&queue.context))?;
    queue.runtime.barrier(&events).map(drop)
}
