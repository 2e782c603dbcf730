//! Transfers of no bytes: since OpenCL 2.1 a size of 0 is no error for ranges of buffers, but commands with an event
//! and a wait list. Mappings, rectangles and regions of images must not be empty.

use std::ptr::{null, null_mut};

use gencl_utest::Outcome;
use opencl_sys::{
    CL_COMMAND_COPY_BUFFER, CL_COMMAND_FILL_BUFFER, CL_COMMAND_READ_BUFFER, CL_COMMAND_WRITE_BUFFER,
    CL_COMPLETE, CL_EVENT_COMMAND_TYPE, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, CL_INVALID_VALUE,
    CL_MAP_READ, CL_TRUE, cl_bool, cl_event, cl_int,
};

use super::World;
use super::world::{SIZE, code, well};

/// Enqueues a transfer of no bytes from an offset on, blocking if it can; with a wait list, and where to write the event.
type Transfer = fn(&World, usize, cl_bool, &[cl_event], &mut cl_event) -> cl_int;

/// Commands, each with its `CL_EVENT_COMMAND_TYPE`.
const TRANSFERS: [(&str, u32, Transfer); 4] = [
    ("clEnqueueReadBuffer", CL_COMMAND_READ_BUFFER, |world, offset, blocking, waits, event| {
        let (list, mut byte) = (list(waits), 0u8);
        // SAFETY: no byte is read; the list has its length.
        unsafe {
            let to = (&raw mut byte).cast();
            let read = world.api.clEnqueueReadBuffer;
            read(world.queue, world.buffer, blocking, offset, 0, to, waits.len() as u32, list, event)
        }
    }),
    ("clEnqueueWriteBuffer", CL_COMMAND_WRITE_BUFFER, |world, offset, blocking, waits, event| {
        let (list, byte) = (list(waits), 9u8);
        // SAFETY: no byte is written; the list has its length.
        unsafe {
            let from = (&raw const byte).cast();
            let write = world.api.clEnqueueWriteBuffer;
            write(world.queue, world.buffer, blocking, offset, 0, from, waits.len() as u32, list, event)
        }
    }),
    ("clEnqueueCopyBuffer", CL_COMMAND_COPY_BUFFER, |world, offset, _, waits, event| {
        let list = list(waits);
        // SAFETY: the list has its length.
        unsafe {
            let copy = world.api.clEnqueueCopyBuffer;
            copy(world.queue, world.buffer, world.buffer, offset, offset, 0, waits.len() as u32, list, event)
        }
    }),
    ("clEnqueueFillBuffer", CL_COMMAND_FILL_BUFFER, |world, offset, _, waits, event| {
        let (list, pattern) = (list(waits), [9u8; 4]);
        // SAFETY: the pattern has four bytes, the list its length.
        unsafe {
            let (fill, of) = (world.api.clEnqueueFillBuffer, pattern.as_ptr().cast());
            fill(world.queue, world.buffer, of, 4, offset, 0, waits.len() as u32, list, event)
        }
    }),
];

fn list(waits: &[cl_event]) -> *const cl_event {
    if waits.is_empty() { null() } else { waits.as_ptr() }
}

/// They wait for their list, end, and change nothing.
pub fn transfers() -> Outcome {
    for (function, kind, enqueue) in TRANSFERS {
        // The end is within the buffer, if nothing is behind it.
        for offset in [0, 4, SIZE] {
            let world = World::new()?;
            let (api, mut event, mut found) = (world.api, null_mut(), 0u32);
            let what = |problem: String| format!("{function} of no bytes from {offset} on: {problem}");
            well(enqueue(&world, offset, 0, &[world.user], &mut event), function).map_err(what)?;
            // SAFETY: a number of the size given, and events of ours.
            unsafe {
                let to = (&raw mut found).cast();
                let asked = (api.clGetEventInfo)(event, CL_EVENT_COMMAND_TYPE, 4, to, null_mut());
                well(asked, "clGetEventInfo").map_err(what)?;
                well((api.clFlush)(world.queue), "clFlush").map_err(what)?;
                if found != kind || world.status(event)? <= CL_COMPLETE {
                    return Err(what(format!("of kind {found:#x}, or did not wait")));
                }
                well((api.clSetUserEventStatus)(world.user, 0), "clSetUserEventStatus")?;
                well((api.clWaitForEvents)(1, &event), "clWaitForEvents").map_err(what)?;
                well((api.clReleaseEvent)(event), "clReleaseEvent")?;
            }
            well(enqueue(&world, offset, CL_TRUE, &[], &mut null_mut()), function).map_err(what)?;
            let first = world.first()?;
            if first != 1 {
                return Err(what(format!("the buffer has {first}")));
            }
        }
    }
    Ok(())
}

/// A size of 0 makes nothing else valid.
pub fn refused() -> Outcome {
    let world = World::new()?;
    for (function, _, enqueue) in TRANSFERS {
        let found = enqueue(&world, SIZE + 4, CL_TRUE, &[], &mut null_mut());
        code(found, CL_INVALID_VALUE, &format!("{function} behind the buffer"))?;
    }
    let (api, queue, buffer, mut error) = (world.api, world.queue, world.buffer, 0);
    // SAFETY: what is mapped is not touched, a wrong call enqueues nothing, and a user event is set once.
    unsafe {
        let map = api.clEnqueueMapBuffer;
        map(queue, buffer, CL_TRUE, CL_MAP_READ, 0, 0, 0, null(), null_mut(), &mut error);
        code(error, CL_INVALID_VALUE, "a mapping of no bytes")?;
        let read = api.clEnqueueReadBuffer;
        let found = read(queue, buffer, CL_TRUE, 0, 0, null_mut(), 0, null(), null_mut());
        code(found, CL_INVALID_VALUE, "a read of no bytes to nowhere")?;
        let fill = api.clEnqueueFillBuffer;
        let found = fill(queue, buffer, (&raw const error).cast(), 0, 0, 0, 0, null(), null_mut());
        code(found, CL_INVALID_VALUE, "a fill with a pattern of no bytes")?;
        well((api.clSetUserEventStatus)(world.user, -1), "clSetUserEventStatus")?;
    }
    for (function, kind, enqueue) in TRANSFERS {
        let blocks = [CL_COMMAND_READ_BUFFER, CL_COMMAND_WRITE_BUFFER].contains(&kind);
        let found = enqueue(&world, 0, CL_TRUE, &[world.user], &mut null_mut());
        let expected = if blocks { CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST } else { 0 };
        code(found, expected, &format!("{function} of no bytes behind what has failed"))?;
    }
    Ok(())
}
