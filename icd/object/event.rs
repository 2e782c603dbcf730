//! Events.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use gencl_runtime::Code;
use opencl_sys::cl_event;

use super::{Context, Queue};
use crate::abi::{List, Out};
use crate::handle::{Handle, Object};
use crate::{CLResult, refuse_if};

/// The event of a command, or a user event.
pub struct Event {
    /// The runtime's object.
    pub runtime: Arc<gencl_runtime::Event>,
    /// Its context.
    pub context: Arc<Handle<Context>>,
    /// The queue of its command; `None` for user events.
    pub queue: Option<Arc<Handle<Queue>>>,
    /// Whether the application has waited for it, or asked for its status.
    used: AtomicBool,
}

impl Object for Event {
    const INVALID: Code = Code::InvalidEvent;
    const NAME: &'static str = "event";

    fn undone(&self) -> Option<&'static str> {
        (!self.used.load(Ordering::Relaxed)).then_some("nobody has waited for")
    }

    // Commands must not wait forever for a user event whose status can no longer be set.
    fn released(&self) {
        self.runtime.abandon();
    }
}

impl Event {
    /// The event of a command of a queue, or a user event of a context.
    pub fn new(
        runtime: Arc<gencl_runtime::Event>,
        context: &Arc<Handle<Context>>,
        queue: Option<&Arc<Handle<Queue>>>,
    ) -> Self {
        Self { runtime, context: context.clone(), queue: queue.cloned(), used: AtomicBool::new(false) }
    }

    /// The application waits for it, or asks for its status.
    pub fn note_use(&self) {
        self.used.store(true, Ordering::Relaxed);
    }

    /// Returns the event of a command to the application, unless `event` is null.
    pub fn give(queue: &Arc<Handle<Queue>>, runtime: Arc<gencl_runtime::Event>, out: Out<cl_event>) {
        if !out.is_null() {
            out.write(Handle::create(Self::new(runtime, &queue.context, Some(queue))));
        }
    }
}

/// The events of a wait list.
///
/// CL_INVALID_EVENT_WAIT_LIST if event_wait_list is NULL and num_events_in_wait_list > 0, or event_wait_list
/// is not NULL and num_events_in_wait_list is 0, or if event objects in event_wait_list are not valid events.
/// CL_INVALID_CONTEXT if context associated with command_queue and events in event_wait_list are not the
/// same.
pub fn wait_list(
    context: &Arc<Handle<Context>>,
    count: u32,
    list: List<cl_event>,
) -> CLResult<Vec<Arc<gencl_runtime::Event>>> {
    const INVALID: Code = Code::InvalidEventWaitList;
    refuse_if(list.is_null() != (count == 0), INVALID, "the list does not match its length")?;
    // SAFETY: every function with a wait list has its length as the parameter before.
    let list = unsafe { list.to_vec(count as usize) };
    to_runtime(&list, INVALID, Some(context))
}

/// The runtime's events of handles; `invalid` for handles that are no events, `CL_INVALID_CONTEXT` for events
/// of another context than the given one, or of different ones when none is given.
pub fn to_runtime(
    list: &[cl_event],
    invalid: Code,
    context: Option<&Arc<Handle<Context>>>,
) -> CLResult<Vec<Arc<gencl_runtime::Event>>> {
    let mut context = context.cloned();
    let mut events = Vec::with_capacity(list.len());
    for &event in list {
        let event =
            Handle::<Event>::get(event).map_err(|error| gencl_runtime::Error { code: invalid, ..error })?;
        let context = context.get_or_insert_with(|| event.context.clone());
        refuse_if(
            !Arc::ptr_eq(context, &event.context),
            Code::InvalidContext,
            "events of different contexts",
        )?;
        event.note_use();
        events.push(event.runtime.clone());
    }
    Ok(events)
}
