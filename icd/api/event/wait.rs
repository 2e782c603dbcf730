//! `clWaitForEvents`

use gencl_icd_macros::cl_entrypoint;
use gencl_runtime::Code;
use opencl_sys::{cl_event, cl_uint};

use crate::abi::List;

use crate::object::to_runtime;
use crate::{CLResult, refuse_if};

#[cl_entrypoint(clWaitForEvents)]
fn wait_for_events(num_events: cl_uint, events: List<cl_event>) -> CLResult<()> {
    // CL_INVALID_VALUE if num_events is zero or event_list is NULL.
    refuse_if(num_events == 0 || events.is_null(), Code::InvalidValue, "no events")?;
    // SAFETY: num_events is the length of the list.
    let list = unsafe { events.to_vec(num_events as usize) };
    // CL_INVALID_EVENT if event objects specified in event_list are not valid event objects.
    // CL_INVALID_CONTEXT if events specified in event_list do not belong to the same context.
    let events = to_runtime(&list, Code::InvalidEvent, None)?;
    // clWaitForEvents flushes the queues of all events. Waiting for the first one executes its queue.
    events.iter().skip(1).for_each(|event| event.demand());
    // CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST if the execution status of any of the events in event_list
    // is a negative integer value. It waits for all events in any case.
    let results: Vec<_> = events.iter().map(|event| event.wait()).collect();
    results.into_iter().collect()
}
