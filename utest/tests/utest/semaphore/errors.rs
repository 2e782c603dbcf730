//! One wrong argument in each call, and the code that the specification has for it.

use std::ptr::{null, null_mut};

use gencl_utest::{Gpu, Outcome};
use opencl_sys::{
    CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, CL_INVALID_COMMAND_QUEUE, CL_INVALID_CONTEXT,
    CL_INVALID_DEVICE, CL_INVALID_EVENT_WAIT_LIST, CL_INVALID_PROPERTY, CL_INVALID_SEMAPHORE_KHR,
    CL_INVALID_VALUE, CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR, CL_SEMAPHORE_HANDLE_OPAQUE_FD_KHR,
    CL_SEMAPHORE_TYPE_KHR, CL_SUCCESS, cl_command_queue, cl_context, cl_device_id, cl_event, cl_int,
    cl_semaphore_khr,
};
use opencl3::command_queue::CommandQueue;
use opencl3::context::Context;
use opencl3::event::{Event, create_user_event};

use super::{BINARY, Semaphore, end, functions, user_event};
use crate::command_buffer::queue_with;
use crate::information::expect;

const TYPE: u64 = CL_SEMAPHORE_TYPE_KHR as u64;
const DEVICES: u64 = CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR as u64;

fn create(context: cl_context, properties: &[u64], code: cl_int, what: &str) -> Outcome {
    let mut found = 1;
    let list = if properties.is_empty() { null() } else { properties.as_ptr() };
    // SAFETY: lists have their ends.
    let handle = unsafe { (functions()?.clCreateSemaphoreWithPropertiesKHR)(context, list, &mut found) };
    expect(found, code, what)?;
    if handle.is_null() { Ok(()) } else { Err(format!("{what}: there is a handle")) }
}

/// Of `clCreateSemaphoreWithPropertiesKHR`
pub fn created() -> Outcome {
    let (gpu, queue) = (Gpu::get()?, queue_with(0)?);
    let (context, device) = (gpu.context.get(), gpu.device.id() as u64);
    create(null_mut(), &BINARY, CL_INVALID_CONTEXT, "no context")?;
    create(queue.get(), &BINARY, CL_INVALID_CONTEXT, "a queue as context")?;
    let invalid = [
        ("an unknown name", vec![0x1234, 1, 0]),
        ("an unknown type", vec![TYPE, 0, 0]),
        ("a type of more bits", vec![TYPE, 1 << 32 | 1, 0]),
        // The list does not go on behind the second name's value.
        ("a name twice", vec![TYPE, 1, TYPE, 0]),
        ("a list of devices twice", vec![DEVICES, device, 0, DEVICES, device, 0, TYPE, 1, 0]),
    ];
    for (what, list) in invalid {
        create(context, &list, CL_INVALID_PROPERTY, what)?;
    }
    create(context, &[], CL_INVALID_VALUE, "no list")?;
    create(context, &[0], CL_INVALID_VALUE, "an empty list")?;
    create(context, &[DEVICES, device, 0, 0], CL_INVALID_VALUE, "no type")?;
    let devices = [
        ("no device", vec![TYPE, 1, DEVICES, 0, 0]),
        ("two devices", vec![TYPE, 1, DEVICES, device, device, 0, 0]),
        ("a queue as device", vec![TYPE, 1, DEVICES, queue.get() as u64, 0, 0]),
    ];
    for (what, list) in devices {
        create(context, &list, CL_INVALID_DEVICE, what)?;
    }
    Ok(())
}

/// The arguments of both functions that enqueue commands.
#[derive(Clone, Copy)]
struct Arguments {
    queue: cl_command_queue,
    count: u32,
    list: *const cl_semaphore_khr,
    num_events: u32,
    events: *const cl_event,
}

/// Of `clEnqueueWaitSemaphoresKHR` and `clEnqueueSignalSemaphoresKHR`
pub fn enqueued() -> Outcome {
    let (functions, queue, semaphore) = (functions()?, queue_with(0)?, Semaphore::new()?);
    let other = Context::from_device(&Gpu::get()?.device).map_err(|error| error.to_string())?;
    // SAFETY: context and device belong together.
    let foreign = unsafe { CommandQueue::create(&other, Gpu::get()?.device.id(), 0) };
    let foreign = foreign.map_err(|error| error.to_string())?;
    let text = |code: cl_int| format!("clCreateUserEvent: {code}");
    let of_other = create_user_event(other.get()).map(Event::new).map_err(text)?;
    let [failing, good] = [user_event()?, user_event()?];
    end(&failing, -1)?;
    end(&good, 0)?;
    let lists = [[semaphore.handle, null_mut()], [semaphore.handle, queue.get()]];
    let events = [failing.get(), of_other.get(), queue.get(), good.get()];
    for (name, function, payload) in [
        ("clEnqueueSignalSemaphoresKHR", functions.clEnqueueSignalSemaphoresKHR, 1),
        ("clEnqueueWaitSemaphoresKHR", functions.clEnqueueWaitSemaphoresKHR, 0),
    ] {
        let right = Arguments {
            queue: queue.get(),
            count: 1,
            list: &semaphore.handle,
            num_events: 0,
            events: null(),
        };
        let check = |what: &str, a: Arguments, code: cl_int| {
            // SAFETY: lists have their lengths or are the driver's to refuse.
            let found =
                unsafe { function(a.queue, a.count, a.list, null(), a.num_events, a.events, null_mut()) };
            expect(found, code, &format!("{name}: {what}"))
        };
        check("no queue", Arguments { queue: null_mut(), ..right }, CL_INVALID_COMMAND_QUEUE)?;
        check(
            "a semaphore as queue",
            Arguments { queue: semaphore.handle, ..right },
            CL_INVALID_COMMAND_QUEUE,
        )?;
        check("no semaphores", Arguments { count: 0, ..right }, CL_INVALID_VALUE)?;
        check("no list", Arguments { list: null(), ..right }, CL_INVALID_SEMAPHORE_KHR)?;
        for list in &lists {
            let wrong = Arguments { count: 2, list: list.as_ptr(), ..right };
            check("one that is none", wrong, CL_INVALID_SEMAPHORE_KHR)?;
        }
        check("a queue of another context", Arguments { queue: foreign.get(), ..right }, CL_INVALID_CONTEXT)?;
        let with = |num_events, events| Arguments { num_events, events, ..right };
        check("no events", with(1, null()), CL_INVALID_EVENT_WAIT_LIST)?;
        check("events without a number", with(0, &events[3]), CL_INVALID_EVENT_WAIT_LIST)?;
        check("a queue as event", with(1, &events[2]), CL_INVALID_EVENT_WAIT_LIST)?;
        check("an event of another context", with(1, &events[1]), CL_INVALID_CONTEXT)?;
        let code = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
        check("an event that has failed", with(1, &events[0]), code)?;
        // None of these was a signal or a wait, and payloads are ignored.
        semaphore.payload_is(1 - payload, name)?;
        let payloads = [7];
        // SAFETY: lists of one.
        let found = unsafe { function(right.queue, 1, right.list, payloads.as_ptr(), 0, null(), null_mut()) };
        expect(found, CL_SUCCESS, name)?;
        queue.finish().map_err(|error| error.to_string())?;
        semaphore.payload_is(payload, name)?;
    }
    Ok(())
}

/// Of the other functions.
pub fn handles() -> Outcome {
    let (functions, queue, semaphore) = (functions()?, queue_with(0)?, Semaphore::new()?);
    let mut size = 0;
    for wrong in [null_mut(), queue.get(), Gpu::get()?.context.get()] {
        // SAFETY: handles that the driver is to refuse.
        let codes = unsafe {
            [
                (functions.clRetainSemaphoreKHR)(wrong),
                (functions.clReleaseSemaphoreKHR)(wrong),
                (functions.clGetSemaphoreInfoKHR)(wrong, CL_SEMAPHORE_TYPE_KHR, 0, null_mut(), &mut size),
            ]
        };
        for code in codes {
            expect(code, CL_INVALID_SEMAPHORE_KHR, "another handle")?;
        }
    }
    let device = Gpu::get()?.device.id();
    let export = |semaphore: cl_semaphore_khr, device: cl_device_id, code: cl_int, what: &str| {
        let mut descriptor = -1i32;
        let (kind, place) = (CL_SEMAPHORE_HANDLE_OPAQUE_FD_KHR, (&raw mut descriptor).cast());
        // SAFETY: room for a file descriptor.
        let found = unsafe {
            (functions.clGetSemaphoreHandleForTypeKHR)(semaphore, device, kind, 4, place, null_mut())
        };
        expect(found, code, what)
    };
    export(null_mut(), device, CL_INVALID_SEMAPHORE_KHR, "no semaphore to export")?;
    export(semaphore.handle, null_mut(), CL_INVALID_DEVICE, "no device to export for")?;
    export(semaphore.handle, device, CL_INVALID_VALUE, "a handle that is not for export")
}
