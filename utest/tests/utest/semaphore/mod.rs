//! `cl_khr_semaphore`

mod errors;
mod information;
mod order;
mod state;

use std::ptr::{null, null_mut};

use gencl_utest::raw::{Semaphores, semaphores};
use gencl_utest::{Case, Gpu, Need, Outcome, all_needing};
use opencl_sys::{
    CL_SEMAPHORE_TYPE_BINARY_KHR, CL_SEMAPHORE_TYPE_KHR, CL_SUCCESS, cl_event, cl_int, cl_semaphore_khr,
};
use opencl3::command_queue::CommandQueue;
use opencl3::error_codes::ClError;
use opencl3::event::{Event, create_user_event, set_user_event_status};

use crate::information::{Ask, expect, number};

pub fn cases() -> Vec<Case> {
    let cases = vec![
        Case::new("semaphore_order", order::order),
        Case::of_gencl("others want the signal first", "semaphore_wait_first", order::wait_first),
        Case::new("semaphore_again", order::again),
        Case::new("semaphore_several", order::several),
        Case::new("semaphore_threads", order::threads),
        Case::new("semaphore_payload", state::payload),
        Case::new("semaphore_events", state::events),
        Case::of_gencl("others fail otherwise", "semaphore_failures", state::failures),
        Case::of_gencl("others wait forever", "semaphore_released", state::released),
        Case::new("semaphore_information", information::information),
        Case::of_gencl("others accept more", "semaphore_errors_created", errors::created),
        Case::of_gencl("others accept more", "semaphore_errors_enqueued", errors::enqueued),
        Case::of_gencl("others accept more", "semaphore_errors_handles", errors::handles),
    ];
    all_needing(Need::Extension("cl_khr_semaphore"), cases)
}

/// The property list of a semaphore without others.
const BINARY: [u64; 3] = [CL_SEMAPHORE_TYPE_KHR as u64, CL_SEMAPHORE_TYPE_BINARY_KHR as u64, 0];

/// The extension's functions, which devices that report it have.
fn functions() -> Result<&'static Semaphores, String> {
    semaphores()?.ok_or_else(|| "the platform lacks functions of cl_khr_semaphore".into())
}

/// A user event of the test-suite's context.
fn user_event() -> Result<Event, String> {
    let event = create_user_event(Gpu::get()?.context.get());
    event.map(Event::new).map_err(|code| ClError(code).to_string())
}

fn end(event: &Event, status: i32) -> Outcome {
    set_user_event_status(event.get(), status).map_err(|code| ClError(code).to_string())
}

fn status(event: &Event) -> Result<i32, String> {
    event.command_execution_status().map(|status| status.0).map_err(|error| error.to_string())
}

/// Waits for a command, which has to end well.
fn ends(event: &Event) -> Outcome {
    event.wait().map_err(|error| error.to_string())
}

/// Pointer and length of a list, null for an empty one.
fn pair<T>(list: &[T]) -> (u32, *const T) {
    (list.len() as u32, if list.is_empty() { null() } else { list.as_ptr() })
}

/// A semaphore, which is released at the end.
struct Semaphore {
    functions: &'static Semaphores,
    handle: cl_semaphore_khr,
}

// SAFETY: handles can be used by any thread.
unsafe impl Sync for Semaphore {}

impl Drop for Semaphore {
    fn drop(&mut self) {
        // SAFETY: the test's own reference.
        unsafe { (self.functions.clReleaseSemaphoreKHR)(self.handle) };
    }
}

impl Semaphore {
    fn new() -> Result<Self, String> {
        Self::with(&BINARY)
    }

    /// With properties, which end with 0.
    fn with(properties: &[u64]) -> Result<Self, String> {
        let (functions, context, mut code) = (functions()?, Gpu::get()?.context.get(), 1);
        // SAFETY: the list has its end.
        let handle = unsafe {
            (functions.clCreateSemaphoreWithPropertiesKHR)(context, properties.as_ptr(), &mut code)
        };
        expect(code, CL_SUCCESS, "clCreateSemaphoreWithPropertiesKHR")?;
        Ok(Self { functions, handle })
    }

    fn wait(&self, queue: &CommandQueue, waits: &[cl_event]) -> Result<Event, String> {
        wait(&[self], queue, waits)
    }

    fn signal(&self, queue: &CommandQueue, waits: &[cl_event]) -> Result<Event, String> {
        signal(&[self], queue, waits)
    }

    /// Its queries.
    fn about(&self) -> Ask {
        let (function, handle) = (self.functions.clGetSemaphoreInfoKHR, self.handle);
        // SAFETY: the checks give pointers with the room that they say.
        Box::new(move |name, room, value, size| unsafe { function(handle, name, room, value, size) })
    }

    fn payload_is(&self, expected: u64, when: &str) -> Outcome {
        let found = number(&self.about(), opencl_sys::CL_SEMAPHORE_PAYLOAD_KHR)?;
        if found == expected { Ok(()) } else { Err(format!("{when}: payload {found}, expected {expected}")) }
    }
}

/// Waits for semaphores.
fn wait(semaphores: &[&Semaphore], queue: &CommandQueue, waits: &[cl_event]) -> Result<Event, String> {
    enqueue(functions()?.clEnqueueWaitSemaphoresKHR, semaphores, queue, waits)
}

/// Signals semaphores.
fn signal(semaphores: &[&Semaphore], queue: &CommandQueue, waits: &[cl_event]) -> Result<Event, String> {
    enqueue(functions()?.clEnqueueSignalSemaphoresKHR, semaphores, queue, waits)
}

/// `clEnqueueWaitSemaphoresKHR`, `clEnqueueSignalSemaphoresKHR`
type Enqueue = <opencl_sys::clEnqueueWaitSemaphoresKHR_t as gencl_utest::raw::Nullable>::Function;

fn enqueue(
    function: Enqueue,
    semaphores: &[&Semaphore],
    queue: &CommandQueue,
    waits: &[cl_event],
) -> Result<Event, String> {
    let handles: Vec<_> = semaphores.iter().map(|semaphore| semaphore.handle).collect();
    let ((count, waits), mut event) = (pair(waits), null_mut());
    let code: cl_int = {
        let number = handles.len() as u32;
        // SAFETY: lists with their lengths.
        unsafe { function(queue.get(), number, handles.as_ptr(), null(), count, waits, &mut event) }
    };
    expect(code, CL_SUCCESS, "a command on semaphores")?;
    Ok(Event::new(event))
}
