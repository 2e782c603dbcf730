//! Handles that are none, or no longer.

use std::ffi::c_void;
use std::ptr::{self, null_mut};

use gencl_utest::Outcome;
use opencl_sys::{
    CL_COMPLETE, CL_INVALID_COMMAND_QUEUE, CL_INVALID_CONTEXT, CL_INVALID_EVENT, CL_INVALID_EVENT_WAIT_LIST,
    CL_INVALID_KERNEL, CL_INVALID_KERNEL_ARGS, CL_INVALID_MEM_OBJECT, CL_INVALID_PROGRAM, CL_MEM_READ_WRITE,
    CL_TRUE, cl_int,
};

use super::World;
use super::world::{SIZE, code, well};

/// Kinds of objects: index into [`handles`] and the code for what is none of the kind.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Context,
    Queue,
    Memory,
    Program,
    Kernel,
    Event,
}

const KINDS: [Kind; 6] = [Kind::Context, Kind::Queue, Kind::Memory, Kind::Program, Kind::Kernel, Kind::Event];

impl Kind {
    fn invalid(self) -> cl_int {
        match self {
            Kind::Context => CL_INVALID_CONTEXT,
            Kind::Queue => CL_INVALID_COMMAND_QUEUE,
            Kind::Memory => CL_INVALID_MEM_OBJECT,
            Kind::Program => CL_INVALID_PROGRAM,
            Kind::Kernel => CL_INVALID_KERNEL,
            Kind::Event => CL_INVALID_EVENT,
        }
    }
}

fn handles(world: &World) -> [*mut c_void; 6] {
    [world.context, world.queue, world.buffer, world.program, world.kernel, world.event]
}

/// Calls every function that takes a handle of a kind with `handle`; each has to refuse it.
fn refused(world: &World, kind: Kind, handle: *mut c_void, what: &str) -> Outcome {
    let api = world.api;
    let (one, zero, mut bytes, mut error) = (1usize, [0usize; 3], [0u8; 64], 0);
    let (out, source): (*mut c_void, *const c_void) = (bytes.as_mut_ptr().cast(), bytes.as_ptr().cast());
    // SAFETY: everything but the handle is as the functions want it; that is what gencl promises to check.
    let codes: Vec<(&str, cl_int)> = unsafe {
        match kind {
            Kind::Context => vec![
                ("clRetainContext", (api.clRetainContext)(handle)),
                ("clReleaseContext", (api.clReleaseContext)(handle)),
                ("clGetContextInfo", (api.clGetContextInfo)(handle, 0x1080, 64, out, null_mut())),
                ("clCreateBuffer", {
                    (api.clCreateBuffer)(handle, CL_MEM_READ_WRITE, 64, null_mut(), &mut error);
                    error
                }),
                ("clCreateUserEvent", {
                    (api.clCreateUserEvent)(handle, &mut error);
                    error
                }),
                ("clCreateCommandQueueWithProperties", {
                    let make = api.clCreateCommandQueueWithProperties;
                    make(handle, world.device, ptr::null(), &mut error);
                    error
                }),
                ("clCreateProgramWithSource", {
                    let mut text = c"".as_ptr();
                    (api.clCreateProgramWithSource)(handle, 1, &mut text, ptr::null(), &mut error);
                    error
                }),
            ],
            Kind::Queue => vec![
                ("clRetainCommandQueue", (api.clRetainCommandQueue)(handle)),
                ("clReleaseCommandQueue", (api.clReleaseCommandQueue)(handle)),
                ("clFlush", (api.clFlush)(handle)),
                ("clFinish", (api.clFinish)(handle)),
                ("clGetCommandQueueInfo", (api.clGetCommandQueueInfo)(handle, 0x1092, 64, out, null_mut())),
                ("clEnqueueMarkerWithWaitList", {
                    (api.clEnqueueMarkerWithWaitList)(handle, 0, ptr::null(), null_mut())
                }),
                ("clEnqueueNDRangeKernel", {
                    let launch = api.clEnqueueNDRangeKernel;
                    launch(
                        handle,
                        world.kernel,
                        1,
                        ptr::null(),
                        &one,
                        ptr::null(),
                        0,
                        ptr::null(),
                        null_mut(),
                    )
                }),
                ("clEnqueueReadBuffer", {
                    let read = api.clEnqueueReadBuffer;
                    read(handle, world.buffer, CL_TRUE, 0, 4, out, 0, ptr::null(), null_mut())
                }),
            ],
            Kind::Memory => vec![
                ("clRetainMemObject", (api.clRetainMemObject)(handle)),
                ("clReleaseMemObject", (api.clReleaseMemObject)(handle)),
                ("clGetMemObjectInfo", (api.clGetMemObjectInfo)(handle, 0x1102, 64, out, null_mut())),
                ("clEnqueueReadBuffer", {
                    let read = api.clEnqueueReadBuffer;
                    read(world.queue, handle, CL_TRUE, 0, 4, out, 0, ptr::null(), null_mut())
                }),
                ("clEnqueueFillBuffer", {
                    let fill = api.clEnqueueFillBuffer;
                    fill(world.queue, handle, source, 1, 0, 4, 0, ptr::null(), null_mut())
                }),
                ("clEnqueueCopyBuffer", {
                    let copy = api.clEnqueueCopyBuffer;
                    copy(world.queue, handle, world.buffer, 0, 8, 4, 0, ptr::null(), null_mut())
                }),
                ("clEnqueueCopyBuffer", {
                    let copy = api.clEnqueueCopyBuffer;
                    copy(world.queue, world.buffer, handle, 0, 8, 4, 0, ptr::null(), null_mut())
                }),
                ("clEnqueueMapBuffer", {
                    let map = api.clEnqueueMapBuffer;
                    map(world.queue, handle, CL_TRUE, 1, 0, 4, 0, ptr::null(), null_mut(), &mut error);
                    error
                }),
                ("clEnqueueUnmapMemObject", {
                    (api.clEnqueueUnmapMemObject)(world.queue, handle, out, 0, ptr::null(), null_mut())
                }),
                ("clEnqueueMigrateMemObjects", {
                    (api.clEnqueueMigrateMemObjects)(world.queue, 1, &handle, 0, 0, ptr::null(), null_mut())
                }),
                ("clEnqueueReadBufferRect", {
                    let (read, region) = (api.clEnqueueReadBufferRect, [1usize; 3]);
                    let (at, region) = (zero.as_ptr(), region.as_ptr());
                    read(
                        world.queue,
                        handle,
                        CL_TRUE,
                        at,
                        at,
                        region,
                        0,
                        0,
                        0,
                        0,
                        out,
                        0,
                        ptr::null(),
                        null_mut(),
                    )
                }),
            ],
            Kind::Program => vec![
                ("clRetainProgram", (api.clRetainProgram)(handle)),
                ("clReleaseProgram", (api.clReleaseProgram)(handle)),
                (
                    "clBuildProgram",
                    (api.clBuildProgram)(handle, 0, ptr::null(), ptr::null(), None, null_mut()),
                ),
                ("clGetProgramInfo", (api.clGetProgramInfo)(handle, 0x1160, 64, out, null_mut())),
                ("clCreateKernel", {
                    (api.clCreateKernel)(handle, c"add".as_ptr(), &mut error);
                    error
                }),
            ],
            Kind::Kernel => vec![
                ("clRetainKernel", (api.clRetainKernel)(handle)),
                ("clReleaseKernel", (api.clReleaseKernel)(handle)),
                ("clSetKernelArg", (api.clSetKernelArg)(handle, 1, 4, source)),
                ("clGetKernelInfo", (api.clGetKernelInfo)(handle, 0x1191, 64, out, null_mut())),
                ("clCloneKernel", {
                    (api.clCloneKernel)(handle, &mut error);
                    error
                }),
                ("clEnqueueNDRangeKernel", {
                    let launch = api.clEnqueueNDRangeKernel;
                    launch(world.queue, handle, 1, ptr::null(), &one, ptr::null(), 0, ptr::null(), null_mut())
                }),
            ],
            Kind::Event => vec![
                ("clRetainEvent", (api.clRetainEvent)(handle)),
                ("clReleaseEvent", (api.clReleaseEvent)(handle)),
                ("clGetEventInfo", (api.clGetEventInfo)(handle, 0x11D2, 64, out, null_mut())),
                ("clWaitForEvents", (api.clWaitForEvents)(1, &handle)),
                ("clSetUserEventStatus", (api.clSetUserEventStatus)(handle, CL_COMPLETE)),
            ],
        }
    };
    for (function, found) in codes {
        code(found, kind.invalid(), &format!("{function} with {what}"))?;
    }
    Ok(())
}

pub fn null() -> Outcome {
    let world = World::new()?;
    for kind in KINDS {
        refused(&world, kind, null_mut(), "null")?;
    }
    world.works()
}

pub fn wrong_kind() -> Outcome {
    let world = World::new()?;
    for kind in KINDS {
        for (other, handle) in KINDS.into_iter().zip(handles(&world)).filter(|(other, _)| *other != kind) {
            refused(&world, kind, handle, &format!("a handle of kind {other:?}"))?;
        }
        refused(&world, kind, world.device, "a device")?;
    }
    world.works()
}

pub fn released() -> Outcome {
    let (world, gone) = (World::new()?, World::new()?);
    let gone_handles = handles(&gone);
    // SAFETY: as many releases as there are references.
    unsafe {
        let api = world.api;
        well((api.clReleaseEvent)(gone.event), "clReleaseEvent")?;
        well((api.clReleaseKernel)(gone.kernel), "clReleaseKernel")?;
        well((api.clReleaseProgram)(gone.program), "clReleaseProgram")?;
        well((api.clReleaseEvent)(gone.user), "clReleaseEvent")?;
        well((api.clReleaseMemObject)(gone.buffer), "clReleaseMemObject")?;
        well((api.clReleaseCommandQueue)(gone.queue), "clReleaseCommandQueue")?;
        well((api.clReleaseContext)(gone.context), "clReleaseContext")?;
    }
    for (kind, handle) in KINDS.into_iter().zip(gone_handles) {
        // The context may be needed a moment longer by the queue's thread, the others are gone.
        if kind != Kind::Context {
            refused(&world, kind, handle, "a released handle")?;
        }
    }
    // Its handles may be other objects' by now.
    std::mem::forget(gone);
    world.works()
}

/// Releasing more often than there are references is an error each time, and changes nothing for others.
pub fn released_too_often() -> Outcome {
    let world = World::new()?;
    let api = world.api;
    let mut error = 0;
    // SAFETY: that gencl finds what was released is what is tested.
    unsafe {
        let buffer = (api.clCreateBuffer)(world.context, CL_MEM_READ_WRITE, 64, null_mut(), &mut error);
        well((api.clRetainMemObject)(buffer), "clRetainMemObject")?;
        well((api.clReleaseMemObject)(buffer), "first release")?;
        well((api.clReleaseMemObject)(buffer), "second release")?;
        let others: Vec<_> = (0..100)
            .map(|_| (api.clCreateBuffer)(world.context, CL_MEM_READ_WRITE, 64, null_mut(), &mut error))
            .collect();
        for _ in 0..100 {
            code((api.clReleaseMemObject)(buffer), CL_INVALID_MEM_OBJECT, "too many releases")?;
        }
        for other in others {
            well((api.clReleaseMemObject)(other), "another buffer")?;
        }
    }
    world.works()
}

/// Everything is released while a command that needs it waits.
pub fn released_in_use() -> Outcome {
    let world = World::new()?;
    let api = world.api;
    let mut value = [0i32; 2];
    // SAFETY: the memory that is read to outlives the wait.
    unsafe {
        world.launch(2, &[world.user])?;
        let mut read = null_mut();
        let to = value.as_mut_ptr().cast();
        let found =
            (api.clEnqueueReadBuffer)(world.queue, world.buffer, 0, 0, 8, to, 0, ptr::null(), &mut read);
        well(found, "clEnqueueReadBuffer")?;
        let (user, mut world) = (world.user, world);
        world.user = null_mut();
        let event = std::mem::replace(&mut world.event, null_mut());
        well((api.clReleaseEvent)(event), "clReleaseEvent")?;
        well((api.clReleaseKernel)(world.kernel), "clReleaseKernel")?;
        well((api.clReleaseProgram)(world.program), "clReleaseProgram")?;
        well((api.clReleaseMemObject)(world.buffer), "clReleaseMemObject")?;
        well((api.clReleaseCommandQueue)(world.queue), "clReleaseCommandQueue")?;
        well((api.clReleaseContext)(world.context), "clReleaseContext")?;
        std::mem::forget(world);
        well((api.clSetUserEventStatus)(user, CL_COMPLETE), "clSetUserEventStatus")?;
        well((api.clWaitForEvents)(1, &read), "clWaitForEvents")?;
        well((api.clReleaseEvent)(read), "clReleaseEvent")?;
        well((api.clReleaseEvent)(user), "clReleaseEvent")?;
    }
    // The launch that made the world's event has added 1 to the first.
    if value == [2, 1] { Ok(()) } else { Err(format!("{value:?}")) }
}

pub fn argument_released() -> Outcome {
    let world = World::new()?;
    let (api, one) = (world.api, 1usize);
    let mut error = 0;
    // SAFETY: the kernel keeps no reference, and gencl knows that the buffer is gone.
    unsafe {
        let buffer = (api.clCreateBuffer)(world.context, CL_MEM_READ_WRITE, SIZE, null_mut(), &mut error);
        world.set_arguments(buffer, 1)?;
        well((api.clReleaseMemObject)(buffer), "clReleaseMemObject")?;
        let launch = api.clEnqueueNDRangeKernel;
        let found =
            launch(world.queue, world.kernel, 1, ptr::null(), &one, ptr::null(), 0, ptr::null(), null_mut());
        code(found, CL_INVALID_KERNEL_ARGS, "a launch with a released buffer")?;
        let found =
            (api.clSetKernelArg)(world.kernel, 0, size_of::<*mut c_void>(), (&raw const buffer).cast());
        code(found, CL_INVALID_MEM_OBJECT, "clSetKernelArg with a released buffer")?;
    }
    world.works()
}

/// Wait lists with null, other objects and released events, and lengths that do not fit.
pub fn in_lists() -> Outcome {
    let world = World::new()?;
    let marker = world.api.clEnqueueMarkerWithWaitList;
    for wrong in [null_mut(), world.buffer, world.queue, world.device] {
        let list = [world.event, wrong];
        // SAFETY: two handles.
        let found = unsafe { marker(world.queue, 2, list.as_ptr(), null_mut()) };
        code(found, CL_INVALID_EVENT_WAIT_LIST, "a list with something else")?;
        // SAFETY: the list has two handles.
        let found = unsafe { (world.api.clWaitForEvents)(2, list.as_ptr()) };
        code(found, CL_INVALID_EVENT, "clWaitForEvents")?;
    }
    // SAFETY: lists that are missing are not read.
    unsafe {
        code(marker(world.queue, 3, ptr::null(), null_mut()), CL_INVALID_EVENT_WAIT_LIST, "no list")?;
        code(marker(world.queue, 0, &world.event, null_mut()), CL_INVALID_EVENT_WAIT_LIST, "no length")?;
    }
    world.works()
}

/// Objects of one context in calls for another.
pub fn other_context() -> Outcome {
    let (world, other) = (World::new()?, World::new()?);
    let (api, one) = (world.api, 1usize);
    let mut value = 0i32;
    let to = (&raw mut value).cast();
    // SAFETY: all handles are alive.
    unsafe {
        let found = (api.clEnqueueMarkerWithWaitList)(world.queue, 1, &other.event, null_mut());
        code(found, CL_INVALID_CONTEXT, "an event")?;
        let read = api.clEnqueueReadBuffer;
        let found = read(world.queue, other.buffer, CL_TRUE, 0, 4, to, 0, ptr::null(), null_mut());
        code(found, CL_INVALID_CONTEXT, "a buffer")?;
        let launch = api.clEnqueueNDRangeKernel;
        let found =
            launch(world.queue, other.kernel, 1, ptr::null(), &one, ptr::null(), 0, ptr::null(), null_mut());
        code(found, CL_INVALID_CONTEXT, "a kernel")?;
        let events = [world.event, other.event];
        code((api.clWaitForEvents)(2, events.as_ptr()), CL_INVALID_CONTEXT, "two events")?;
    }
    world.works()?;
    other.works()
}
