//! One wrong argument in each call, and the code that the specification has for it.

use std::ptr::{null, null_mut};

use gencl_utest::{Gpu, Outcome};
use opencl_sys::{
    CL_COMMAND_BUFFER_FLAGS_KHR, CL_IMAGE_FORMAT_MISMATCH, CL_INVALID_COMMAND_BUFFER_KHR,
    CL_INVALID_COMMAND_QUEUE, CL_INVALID_CONTEXT, CL_INVALID_EVENT_WAIT_LIST, CL_INVALID_KERNEL,
    CL_INVALID_KERNEL_ARGS, CL_INVALID_MEM_OBJECT, CL_INVALID_OPERATION, CL_INVALID_SYNC_POINT_WAIT_LIST_KHR,
    CL_INVALID_VALUE, CL_INVALID_WORK_DIMENSION, CL_INVALID_WORK_GROUP_SIZE, CL_MEM_COPY_OVERLAP,
    CL_MUTABLE_DISPATCH_ASSERT_NO_ADDITIONAL_WORK_GROUPS_KHR, CL_MUTABLE_DISPATCH_ASSERTS_KHR,
    CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR, cl_command_buffer_khr, cl_command_queue, cl_int, cl_kernel,
    cl_mem, cl_mutable_command_khr, cl_sync_point_khr,
};
use opencl3::command_queue::CommandQueue;
use opencl3::context::Context;
use opencl3::event::create_user_event;
use opencl3::memory::{Buffer, CL_MEM_READ_WRITE, ClMem};

use super::list::{List, program, queue_with, set};
use crate::information::expect;

/// The parameters that all calls share.
#[derive(Clone, Copy)]
struct Shared {
    buffer: cl_command_buffer_khr,
    queue: cl_command_queue,
    properties: *const u64,
    count: u32,
    waits: *const cl_sync_point_khr,
    handle: *mut cl_mutable_command_khr,
}

/// Objects of calls.
struct Scene {
    list: List,
    from: cl_mem,
    to: cl_mem,
    kernel: cl_kernel,
}

const ZERO: [usize; 3] = [0; 3];
const ONE: [usize; 3] = [1; 3];

type Call = fn(&Scene, Shared) -> cl_int;

/// Each function, with what else it takes right.
const CALLS: &[(&str, Call)] = &[
    // SAFETY: as of the following: lists have their lengths or are the driver's to refuse.
    ("clCommandBarrierWithWaitListKHR", |s, p| unsafe {
        (s.list.functions.clCommandBarrierWithWaitListKHR)(
            p.buffer,
            p.queue,
            p.properties,
            p.count,
            p.waits,
            null_mut(),
            p.handle,
        )
    }),
    ("clCommandCopyBufferKHR", |s, p| copy(s, p, (s.from, 0), (s.to, 0), 4)),
    ("clCommandCopyBufferRectKHR", |s, p| copy_rect(s, p, ONE, 0)),
    ("clCommandFillBufferKHR", |s, p| fill(s, p, s.to, 4, [0, 4])),
    ("clCommandNDRangeKernelKHR", |s, p| launch(s, p, s.kernel, 1, 1)),
];

fn copy(s: &Scene, p: Shared, from: (cl_mem, usize), to: (cl_mem, usize), size: usize) -> cl_int {
    // SAFETY: lists have their lengths or are the driver's to refuse.
    unsafe {
        (s.list.functions.clCommandCopyBufferKHR)(
            p.buffer,
            p.queue,
            p.properties,
            from.0,
            to.0,
            from.1,
            to.1,
            size,
            p.count,
            p.waits,
            null_mut(),
            p.handle,
        )
    }
}

fn copy_rect(s: &Scene, p: Shared, region: [usize; 3], row_pitch: usize) -> cl_int {
    // SAFETY: three numbers each; lists have their lengths or are the driver's to refuse.
    unsafe {
        (s.list.functions.clCommandCopyBufferRectKHR)(
            p.buffer,
            p.queue,
            p.properties,
            s.from,
            s.to,
            ZERO.as_ptr(),
            ZERO.as_ptr(),
            region.as_ptr(),
            row_pitch,
            0,
            0,
            0,
            p.count,
            p.waits,
            null_mut(),
            p.handle,
        )
    }
}

fn fill(s: &Scene, p: Shared, to: cl_mem, pattern_size: usize, [offset, size]: [usize; 2]) -> cl_int {
    let pattern = [0u8; 128];
    // SAFETY: as large as any pattern; lists have their lengths or are the driver's to refuse.
    unsafe {
        (s.list.functions.clCommandFillBufferKHR)(
            p.buffer,
            p.queue,
            p.properties,
            to,
            pattern.as_ptr().cast(),
            pattern_size,
            offset,
            size,
            p.count,
            p.waits,
            null_mut(),
            p.handle,
        )
    }
}

fn launch(s: &Scene, p: Shared, kernel: cl_kernel, dimensions: u32, local: usize) -> cl_int {
    let (global, local) = ([1usize, 1, 1], [local, 1, 1]);
    let local = if local[0] == 0 { null() } else { local.as_ptr() };
    // SAFETY: sizes of three dimensions; lists have their lengths or are the driver's to refuse.
    unsafe {
        (s.list.functions.clCommandNDRangeKernelKHR)(
            p.buffer,
            p.queue,
            p.properties,
            kernel,
            dimensions,
            null(),
            global.as_ptr(),
            local,
            p.count,
            p.waits,
            null_mut(),
            p.handle,
        )
    }
}

fn other_context() -> Result<Context, String> {
    Context::from_device(&Gpu::get()?.device).map_err(|error| error.to_string())
}

/// Runs `check` with a command-buffer, objects, and right parameters.
fn with_scene(check: impl Fn(&Scene, Shared, &CommandQueue) -> Outcome) -> Outcome {
    let (gpu, queue, program) = (Gpu::get()?, queue_with(0)?, program()?);
    let (from, to) = (gpu.buffer(&[0i32; 16])?, gpu.buffer(&[0i32; 16])?);
    let kernel = program.kernel("add")?;
    set(&kernel, 0, &from.memory().get())?;
    set(&kernel, 1, &0i32)?;
    let list = List::new(&queue, 0)?;
    let buffer = list.handle;
    let scene = Scene { list, from: from.memory().get(), to: to.memory().get(), kernel: kernel.get() };
    let (properties, waits, handle) = (null(), null(), null_mut());
    let right = Shared { buffer, queue: null_mut(), properties, count: 0, waits, handle };
    check(&scene, right, &queue)
}

/// What is wrong with the parameters that all calls share, and with others.
pub fn errors() -> Outcome {
    with_scene(|scene, right, queue| {
        let nothing = [0];
        let unknown = [0x1234, 0, 0];
        let mut command = null_mut();
        for (name, call) in CALLS {
            let check = |what: &str, wrong: Shared, code: cl_int| {
                expect(call(scene, wrong), code, &format!("{name}: {what}"))
            };
            check("nothing", right, 0)?;
            check("an empty list of properties", Shared { properties: nothing.as_ptr(), ..right }, 0)?;
            let invalid = CL_INVALID_COMMAND_BUFFER_KHR;
            check("no command-buffer", Shared { buffer: null_mut(), ..right }, invalid)?;
            check("a queue instead", Shared { buffer: queue.get(), ..right }, invalid)?;
            check("its queue", Shared { queue: queue.get(), ..right }, CL_INVALID_COMMAND_QUEUE)?;
            let properties = unknown.as_ptr();
            check("an unknown property", Shared { properties, ..right }, CL_INVALID_VALUE)?;
            if *name != "clCommandNDRangeKernelKHR" {
                check("a handle", Shared { handle: &mut command, ..right }, CL_INVALID_VALUE)?;
            }
        }
        buffers(scene, right)?;
        kernels(scene, right)?;
        created(scene, queue)
    })
}

/// Errors of the calls that enqueue the same commands.
fn buffers(s: &Scene, right: Shared) -> Outcome {
    let other = other_context()?;
    // SAFETY: no pointer of the host.
    let foreign = unsafe { Buffer::<u8>::create(&other, CL_MEM_READ_WRITE, 64, null_mut()) };
    let foreign = foreign.map_err(|error| error.to_string())?;
    let overlapping = copy(s, right, (s.from, 0), (s.from, 8), 16);
    expect(overlapping, CL_MEM_COPY_OVERLAP, "overlapping ranges")?;
    expect(copy(s, right, (s.from, 0), (s.to, 60), 8), CL_INVALID_VALUE, "a copy beyond the end")?;
    expect(copy(s, right, (null_mut(), 0), (s.to, 0), 8), CL_INVALID_MEM_OBJECT, "no buffer")?;
    let copied = copy(s, right, (foreign.get(), 0), (s.to, 0), 8);
    expect(copied, CL_INVALID_CONTEXT, "a buffer of another context")?;
    expect(copy_rect(s, right, [4, 0, 1], 0), CL_INVALID_VALUE, "an empty region")?;
    expect(copy_rect(s, right, [4, 2, 1], 3), CL_INVALID_VALUE, "a row pitch below the region")?;
    expect(fill(s, right, s.to, 3, [0, 6]), CL_INVALID_VALUE, "a pattern of three bytes")?;
    expect(fill(s, right, s.to, 4, [2, 4]), CL_INVALID_VALUE, "an offset that is no multiple")?;
    expect(fill(s, right, s.to, 4, [64, 4]), CL_INVALID_VALUE, "a fill beyond the end")?;
    expect(fill(s, right, foreign.get(), 4, [0, 4]), CL_INVALID_CONTEXT, "a fill in another context")?;
    let image = {
        let f = s.list.functions.clCommandCopyImageKHR;
        let (zero, one) = (ZERO.as_ptr(), ONE.as_ptr());
        let list = (right.buffer, null_mut(), null());
        // SAFETY: origins and region have three numbers.
        unsafe { f(list.0, list.1, list.2, s.from, s.to, zero, zero, one, 0, null(), null_mut(), null_mut()) }
    };
    if image == CL_INVALID_MEM_OBJECT || image == CL_IMAGE_FORMAT_MISMATCH {
        Ok(())
    } else {
        Err(format!("a buffer as an image: {image}"))
    }
}

fn kernels(s: &Scene, right: Shared) -> Outcome {
    let bare = program()?.kernel("add")?;
    let check = |what: &str, code: cl_int, expected: cl_int| expect(code, expected, what);
    check("no kernel", launch(s, right, null_mut(), 1, 1), CL_INVALID_KERNEL)?;
    check("arguments that are not set", launch(s, right, bare.get(), 1, 1), CL_INVALID_KERNEL_ARGS)?;
    check("four dimensions", launch(s, right, s.kernel, 4, 1), CL_INVALID_WORK_DIMENSION)?;
    check("groups of no fitting size", launch(s, right, s.kernel, 1, 2), CL_INVALID_WORK_GROUP_SIZE)?;
    let other = other_context()?;
    let foreign = opencl3::program::Program::create_and_build_from_source(&other, super::SOURCE, "")?;
    let foreign = opencl3::kernel::Kernel::create(&foreign, "nothing").map_err(|error| error.to_string())?;
    check("a kernel of another context", launch(s, right, foreign.get(), 1, 1), CL_INVALID_CONTEXT)?;
    let twice = [CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR, 1, CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR, 1, 0];
    let unknown = [CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR, 1 << 40, 0];
    let asserts =
        [CL_MUTABLE_DISPATCH_ASSERTS_KHR, CL_MUTABLE_DISPATCH_ASSERT_NO_ADDITIONAL_WORK_GROUPS_KHR, 0];
    let with = |properties: &[u64]| Shared { properties: properties.as_ptr(), ..right };
    check("fields twice", launch(s, with(&twice), s.kernel, 1, 1), CL_INVALID_VALUE)?;
    check("unknown fields", launch(s, with(&unknown), s.kernel, 1, 1), CL_INVALID_VALUE)?;
    check("asserted groups of no size", launch(s, with(&asserts), s.kernel, 1, 0), CL_INVALID_VALUE)?;
    check("asserted groups", launch(s, with(&asserts), s.kernel, 1, 1), 0)
}

/// Errors of creating one, and of the queues that it is enqueued in.
fn created(s: &Scene, queue: &CommandQueue) -> Outcome {
    let create = |count: u32, queues: &[cl_command_queue], properties: &[u64]| {
        let list = if queues.is_empty() { null() } else { queues.as_ptr() };
        let properties = if properties.is_empty() { null() } else { properties.as_ptr() };
        let mut code = 1;
        // SAFETY: lists with their lengths and ends; what is created is released.
        unsafe {
            let made = (s.list.functions.clCreateCommandBufferKHR)(count, list, properties, &mut code);
            if !made.is_null() {
                (s.list.functions.clReleaseCommandBufferKHR)(made);
            }
        }
        code
    };
    let (own, flags) = (queue.get(), CL_COMMAND_BUFFER_FLAGS_KHR);
    // CL_COMMAND_BUFFER_MUTABLE_DISPATCH_ASSERTS_KHR
    let asserts = 0x12B7;
    for (what, code, expected) in [
        ("no properties", create(1, &[own], &[]), 0),
        ("an empty list of properties", create(1, &[own], &[0]), 0),
        ("all properties", create(1, &[own], &[flags, 3, asserts, 1, 0]), 0),
        ("no queues", create(0, &[], &[]), CL_INVALID_VALUE),
        ("no list of queues", create(1, &[], &[]), CL_INVALID_VALUE),
        ("two queues", create(2, &[own, own], &[]), CL_INVALID_VALUE),
        ("a queue that is none", create(1, &[null_mut()], &[]), CL_INVALID_COMMAND_QUEUE),
        ("an unknown property", create(1, &[own], &[0x1234, 0, 0]), CL_INVALID_VALUE),
        ("unknown flags", create(1, &[own], &[flags, 1 << 40, 0]), CL_INVALID_VALUE),
        ("flags of several devices", create(1, &[own], &[flags, 4, 0]), CL_INVALID_VALUE),
        ("flags twice", create(1, &[own], &[flags, 0, flags, 0, 0]), CL_INVALID_VALUE),
        ("unknown assertions", create(1, &[own], &[asserts, 2, 0]), CL_INVALID_VALUE),
    ] {
        expect(code, expected, what)?;
    }
    let list = List::new(queue, 0)?;
    list.finalize()?;
    // SAFETY: context and device belong together.
    let other = unsafe { CommandQueue::create(&other_context()?, Gpu::get()?.device.id(), 0) };
    let other = other.map_err(|error| error.to_string())?;
    let event = create_user_event(other_context()?.get()).map(opencl3::event::Event::new);
    let event = event.map_err(|code| format!("clCreateUserEvent: {code}"))?;
    let enqueue = |queues: &[cl_command_queue], waits: &[_]| list.try_enqueue(queues, waits, null_mut());
    let f = s.list.functions.clEnqueueCommandBufferKHR;
    // SAFETY: lists that the driver is to refuse by their lengths.
    let (no_queues, no_waits, no_events, no_buffer) = unsafe {
        (
            f(1, null_mut(), list.handle, 0, null(), null_mut()),
            f(0, [own].as_mut_ptr(), list.handle, 0, null(), null_mut()),
            f(0, null_mut(), list.handle, 1, null(), null_mut()),
            f(0, null_mut(), own, 0, null(), null_mut()),
        )
    };
    for (what, code, expected) in [
        ("its queue", enqueue(&[own], &[]), 0),
        ("two queues", enqueue(&[own, own], &[]), CL_INVALID_VALUE),
        ("a queue that is none", enqueue(&[list.handle], &[]), CL_INVALID_COMMAND_QUEUE),
        ("a queue of another context", enqueue(&[other.get()], &[]), CL_INVALID_CONTEXT),
        ("an event of another context", enqueue(&[], &[event.get()]), CL_INVALID_CONTEXT),
        ("an event that is none", enqueue(&[], &[own]), CL_INVALID_EVENT_WAIT_LIST),
        ("no list of queues to enqueue in", no_queues, CL_INVALID_VALUE),
        ("a list of no queues", no_waits, CL_INVALID_VALUE),
        ("no list of events", no_events, CL_INVALID_EVENT_WAIT_LIST),
        ("a queue as a command-buffer", no_buffer, CL_INVALID_COMMAND_BUFFER_KHR),
    ] {
        expect(code, expected, what)?;
    }
    queue.finish().map_err(|error| error.to_string())
}

/// Lists of sync points that do not match their lengths, or have what is no sync point.
pub fn wait_lists() -> Outcome {
    with_scene(|scene, right, queue| {
        let other = List::new(queue, 0)?;
        (0..40).try_for_each(|_| other.barrier(&[]).map(drop))?;
        let foreign = other.barrier(&[])?;
        let (own, zero) = (scene.list.barrier(&[])?, 0);
        for (name, call) in CALLS {
            for (what, count, waits, code) in [
                ("its own", 1, &raw const own, 0),
                ("no list", 1, null(), CL_INVALID_SYNC_POINT_WAIT_LIST_KHR),
                ("a list of none", 0, &raw const own, CL_INVALID_SYNC_POINT_WAIT_LIST_KHR),
                ("0", 1, &raw const zero, CL_INVALID_SYNC_POINT_WAIT_LIST_KHR),
                ("another's", 1, &raw const foreign, CL_INVALID_SYNC_POINT_WAIT_LIST_KHR),
            ] {
                let found = call(scene, Shared { count, waits, ..right });
                expect(found, code, &format!("{name}: {what}"))?;
            }
        }
        Ok(())
    })
}

/// What is refused before and after it is finalized.
pub fn states() -> Outcome {
    with_scene(|scene, right, _| {
        let list = &scene.list;
        list.barrier(&[])?;
        expect(
            list.try_enqueue(&[], &[], null_mut()),
            CL_INVALID_OPERATION,
            "enqueued while it is recorded",
        )?;
        list.finalize()?;
        // SAFETY: the handle is alive.
        let again = unsafe { (list.functions.clFinalizeCommandBufferKHR)(list.handle) };
        expect(again, CL_INVALID_OPERATION, "finalized again")?;
        for (name, call) in CALLS {
            expect(call(scene, right), CL_INVALID_OPERATION, &format!("{name} when it is finalized"))?;
        }
        list.run()
    })
}
