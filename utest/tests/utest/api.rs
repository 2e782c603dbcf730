//! Objects of the API: buffers and their commands, events, programs, information.

use std::ffi::c_void;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::{Duration, Instant};

use gencl_utest::{Arg, Case, Gpu, Launch, Outcome};
use opencl3::error_codes::{
    CL_COMPILE_PROGRAM_FAILURE, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, CL_INVALID_COMPILER_OPTIONS,
    ClError,
};
use opencl3::event::{
    CL_COMPLETE, CL_QUEUED, Event, create_user_event, get_event_info, set_event_callback,
    set_user_event_status, wait_for_events,
};
use opencl3::kernel::{create_kernel, release_kernel, set_kernel_arg};
use opencl3::memory::{
    self, CL_MAP_READ, CL_MAP_WRITE, CL_MEM_COPY_HOST_PTR, CL_MEM_READ_WRITE, CL_MEM_USE_HOST_PTR, ClMem,
};
use opencl3::program::{Program, link_program, release_program};
use opencl3::types::{CL_BLOCKING, CL_NON_BLOCKING, cl_event, cl_int, cl_mem};

use crate::memory::same;

pub fn cases() -> Vec<Case> {
    vec![
        Case::new("buffer_write_read_offsets", buffer_offsets),
        Case::new("buffer_copy", buffer_copy),
        Case::new("buffer_fill_patterns", buffer_fill),
        Case::new("buffer_map", buffer_map),
        Case::of_gencl("others wait for ever", "buffer_map_that_fails", buffer_map_fails),
        Case::new("buffer_rect", buffer_rect),
        Case::new("buffer_host_pointers", buffer_host_pointers),
        Case::of_gencl("others use the memory itself", "buffer_unmap_at_once", buffer_unmap_at_once),
        Case::new("sub_buffer", sub_buffer),
        Case::new("event_profiling_order", event_profiling),
        Case::new("event_user_wait_list", event_user),
        Case::new("event_error_propagates", event_error_propagates),
        Case::new("event_callback", event_callback),
        Case::new("queue_in_order", queue_in_order),
        Case::new("program_binary_round_trip", program_binary),
        Case::of_gencl("others look at parts of it", "program_binary_damaged", program_binary_damaged),
        Case::new("program_options", program_options),
        Case::of_gencl("others report a failed build", "program_options_unknown", program_options_unknown),
        Case::new("program_compile_and_link", program_compile_and_link),
        Case::new("kernel_information", kernel_information),
        Case::new("threads_share_a_queue", threads),
    ]
}

fn failed<T>(result: opencl3::Result<T>, call: &str) -> Result<T, String> {
    result.map_err(|error| format!("{call}: {error}"))
}

fn buffer_offsets() -> Outcome {
    let gpu = Gpu::get()?;
    let queue = gpu.queue()?;
    let mut buffer = gpu.buffer(&[0u8; 300])?.into_memory();
    let data: Vec<u8> = (0..100).collect();
    // SAFETY: blocking, the slice outlives the call.
    failed(unsafe { queue.enqueue_write_buffer(&mut buffer, CL_BLOCKING, 133, &data, &[]) }, "write")?;
    let mut out = vec![9u8; 104];
    // SAFETY: blocking, the vector outlives the call.
    failed(unsafe { queue.enqueue_read_buffer(&buffer, CL_BLOCKING, 131, &mut out, &[]) }, "read")?;
    let expected: Vec<u8> = [0, 0].into_iter().chain(0..100).chain([0, 0]).collect();
    same(&out, &expected)
}

fn buffer_copy() -> Outcome {
    let gpu = Gpu::get()?;
    let queue = gpu.queue()?;
    let from = gpu.buffer(&(0..64u8).collect::<Vec<_>>())?;
    let to = gpu.buffer(&[0u8; 64])?;
    let mut target = to.into_memory();
    // SAFETY: the buffers live until the queue has finished.
    failed(unsafe { queue.enqueue_copy_buffer(from.memory(), &mut target, 10, 3, 20, &[]) }, "copy")?;
    let mut out = vec![0u8; 64];
    // SAFETY: blocking, the slice outlives the call.
    failed(unsafe { queue.enqueue_read_buffer(&target, CL_BLOCKING, 0, &mut out, &[]) }, "read")?;
    let expected: Vec<u8> = (0..64).map(|i| if (3..23).contains(&i) { i + 7 } else { 0 }).collect();
    same(&out, &expected)
}

fn buffer_fill() -> Outcome {
    let gpu = Gpu::get()?;
    let queue = gpu.queue()?;
    for size in [1usize, 2, 4, 8, 16, 32, 64, 128] {
        let mut buffer = gpu.buffer(&[0xffu8; 512])?.into_memory();
        let pattern: Vec<u8> = (1..=size as u8).collect();
        // SAFETY: the pattern is copied by the call.
        failed(unsafe { queue.enqueue_fill_buffer(&mut buffer, &pattern, 128, 256, &[]) }, "fill")?;
        let mut out = vec![0u8; 512];
        // SAFETY: blocking, the slice outlives the call.
        failed(unsafe { queue.enqueue_read_buffer(&buffer, CL_BLOCKING, 0, &mut out, &[]) }, "read")?;
        let expected: Vec<u8> = (0..512)
            .map(|i| if (128..384).contains(&i) { pattern[(i - 128) % size] } else { 0xff })
            .collect();
        same(&out, &expected).map_err(|error| format!("pattern of {size} bytes: {error}"))?;
    }
    Ok(())
}

fn buffer_map() -> Outcome {
    let gpu = Gpu::get()?;
    let queue = gpu.queue()?;
    let data: Vec<u8> = (0..=255).collect();
    let buffer = gpu.buffer(&data)?.into_memory();
    let mut pointer: cl_mem = std::ptr::null_mut();
    // SAFETY: the mapping is used between map and unmap only, within its 100 bytes.
    unsafe {
        failed(
            queue.enqueue_map_buffer(
                &buffer,
                CL_BLOCKING,
                CL_MAP_READ | CL_MAP_WRITE,
                50,
                100,
                &mut pointer,
                &[],
            ),
            "map",
        )?;
        let mapped = std::slice::from_raw_parts_mut(pointer.cast::<u8>(), 100);
        same(mapped, &data[50..150])?;
        mapped.iter_mut().for_each(|byte| *byte ^= 0xff);
        failed(queue.enqueue_unmap_mem_object(buffer.get(), pointer, &[]), "unmap")?;
    }
    let mut out = vec![0u8; 256];
    // SAFETY: blocking, the slice outlives the call.
    failed(unsafe { queue.enqueue_read_buffer(&buffer, CL_BLOCKING, 0, &mut out, &[]) }, "read")?;
    let expected: Vec<u8> = (0..=255u8).map(|i| if (50..150).contains(&i) { i ^ 0xff } else { i }).collect();
    same(&out, &expected)
}

/// A blocking map that fails returns no pointer, so it must not count as a mapping either.
fn buffer_map_fails() -> Outcome {
    let gpu = Gpu::get()?;
    let queue = gpu.queue()?;
    let buffer = gpu.buffer(&[1u8; 64])?.into_memory();
    let gate = create_user_event(gpu.context.get()).map_err(|code| ClError(code).to_string())?;
    set_user_event_status(gate, -5).map_err(|code| ClError(code).to_string())?;
    let mut pointer = std::ptr::null_mut();
    // SAFETY: blocking, and the pointer is not used.
    let mapped =
        unsafe { queue.enqueue_map_buffer(&buffer, CL_BLOCKING, CL_MAP_READ, 0, 64, &mut pointer, &[gate]) };
    drop(Event::new(gate));
    match mapped.map(drop) {
        Err(ClError(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST)) => {}
        other => return Err(format!("mapping behind an event that failed: {other:?}")),
    }
    match failed(buffer.map_count(), "map count")? {
        0 => Ok(()),
        count => Err(format!("{count} regions are mapped")),
    }
}

fn buffer_rect() -> Outcome {
    let gpu = Gpu::get()?;
    let queue = gpu.queue()?;
    // 3 slices of 4 rows of 10 bytes in the buffer; a box of 5 x 2 x 2 in it.
    let data: Vec<u8> = (0..120).collect();
    let buffer = gpu.buffer(&data)?.into_memory();
    let mut out = vec![0u8; 7 * 3 * 2];
    let (origin, host_origin, region) = ([2usize, 1, 1], [1usize, 1, 0], [5usize, 2, 2]);
    // SAFETY: blocking; the box ends at byte 41 of 42 of the host's memory.
    let read = unsafe {
        queue.enqueue_read_buffer_rect(
            &buffer,
            CL_BLOCKING,
            origin.as_ptr(),
            host_origin.as_ptr(),
            region.as_ptr(),
            10,
            40,
            7,
            21,
            out.as_mut_ptr().cast(),
            &[],
        )
    };
    failed(read, "read rect")?;
    let mut expected = vec![0u8; 42];
    for z in 0..2 {
        for y in 0..2 {
            for x in 0..5 {
                expected[z * 21 + (y + 1) * 7 + x + 1] = data[(z + 1) * 40 + (y + 1) * 10 + x + 2];
            }
        }
    }
    same(&out, &expected)
}

fn buffer_host_pointers() -> Outcome {
    let gpu = Gpu::get()?;
    let queue = gpu.queue()?;
    let program = gpu.build_source("kernel void inc(global uchar *p) { p[get_global_id(0)] += 1; }", "")?;
    for flag in [CL_MEM_USE_HOST_PTR, CL_MEM_COPY_HOST_PTR] {
        // An odd address: nothing about host memory is aligned.
        let mut host: Vec<u8> = (0..200).collect();
        // SAFETY: the host's memory outlives the buffer, which is dropped first.
        let buffer = failed(
            unsafe {
                memory::Buffer::<u8>::create(
                    &gpu.context,
                    CL_MEM_READ_WRITE | flag,
                    100,
                    host.as_mut_ptr().add(3).cast::<c_void>(),
                )
            },
            "clCreateBuffer",
        )?;
        program.run("inc", &[Arg::Memory(buffer.get())], &Launch::linear(100, 10))?;
        let mut pointer: cl_mem = std::ptr::null_mut();
        // SAFETY: the mapping is used between map and unmap only.
        unsafe {
            failed(
                queue.enqueue_map_buffer(&buffer, CL_BLOCKING, CL_MAP_READ, 0, 100, &mut pointer, &[]),
                "map",
            )?;
            let mapped = std::slice::from_raw_parts(pointer.cast::<u8>(), 100);
            same(mapped, &(4..104).collect::<Vec<u8>>())?;
            if flag == CL_MEM_USE_HOST_PTR && pointer.cast::<u8>() != host.as_mut_ptr().add(3) {
                return Err("a USE_HOST_PTR buffer is not mapped at its host pointer".into());
            }
            failed(queue.enqueue_unmap_mem_object(buffer.get(), pointer, &[]), "unmap")?;
        }
        failed(queue.finish(), "clFinish")?;
    }
    Ok(())
}

/// What was written to a mapped region of the application's memory counts, also if the application uses the memory
/// otherwise before the unmapping has been waited for: nothing is before it in the queue.
fn buffer_unmap_at_once() -> Outcome {
    let gpu = Gpu::get()?;
    let queue = gpu.queue()?;
    let mut host = vec![1u8; 4096];
    // An address that no device takes, so that the bytes are copied.
    // SAFETY: the host's memory outlives the buffer.
    let at = unsafe { host.as_mut_ptr().add(5) };
    // SAFETY: as above; 4000 bytes are within it.
    let buffer = failed(
        unsafe {
            let flags = CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR;
            memory::Buffer::<u8>::create(&gpu.context, flags, 4000, at.cast())
        },
        "clCreateBuffer",
    )?;
    for round in 2..50u8 {
        let mut pointer: cl_mem = std::ptr::null_mut();
        let flags = CL_MAP_READ | CL_MAP_WRITE;
        // SAFETY: the region is used between map and unmap only; then the memory is overwritten.
        unsafe {
            let mapped = queue.enqueue_map_buffer(&buffer, CL_BLOCKING, flags, 0, 4000, &mut pointer, &[]);
            failed(mapped, "map")?;
            pointer.cast::<u8>().write_bytes(round, 4000);
            failed(queue.enqueue_unmap_mem_object(buffer.get(), pointer, &[]), "unmap")?;
            at.write_bytes(0xee, 4000);
        }
        let mut out = vec![0u8; 4000];
        // SAFETY: blocking, the slice outlives the call.
        failed(unsafe { queue.enqueue_read_buffer(&buffer, CL_BLOCKING, 0, &mut out, &[]) }, "read")?;
        same(&out, &[round; 4000])?;
    }
    // Behind a command that waits for the application, the call must not.
    let gate = failed(create_user_event(gpu.context.get()).map_err(ClError), "clCreateUserEvent")?;
    let mut pointer: cl_mem = std::ptr::null_mut();
    // SAFETY: the region is not used.
    let unmapped = unsafe {
        let mapped = queue.enqueue_map_buffer(&buffer, CL_BLOCKING, CL_MAP_WRITE, 0, 4000, &mut pointer, &[]);
        failed(mapped, "map")?;
        failed(queue.enqueue_unmap_mem_object(buffer.get(), pointer, &[gate]), "unmap")?
    };
    let waits = failed(unmapped.command_execution_status(), "clGetEventInfo")?.0 != CL_COMPLETE;
    failed(set_user_event_status(gate, CL_COMPLETE).map_err(ClError), "clSetUserEventStatus")?;
    failed(unmapped.wait(), "clWaitForEvents")?;
    if waits { Ok(()) } else { Err("an unmapping did not wait".into()) }
}

fn sub_buffer() -> Outcome {
    let gpu = Gpu::get()?;
    let whole = gpu.buffer(&[1u8; 8192])?;
    // SAFETY: the parent outlives the sub-buffer.
    let part = failed(
        unsafe { whole.memory().create_sub_buffer(CL_MEM_READ_WRITE, 4096, 1000) },
        "clCreateSubBuffer",
    )?;
    let program = gpu.build_source("kernel void add(global uchar *p) { p[get_global_id(0)] += 5; }", "")?;
    program.run("add", &[Arg::Memory(part.get())], &Launch::linear(1000, 100))?;
    let expected: Vec<u8> = (0..8192).map(|i| if (4096..5096).contains(&i) { 6 } else { 1 }).collect();
    same(&whole.read()?, &expected)
}

const SPIN: &str = "kernel void spin(global int *p, int n) {
    int x = get_global_id(0);
    for (int i = 0; i < n; i++) x = x * 3 + i;
    p[get_global_id(0)] = x; }";

fn event_profiling() -> Outcome {
    let gpu = Gpu::get()?;
    let queue = gpu.queue()?;
    let program = gpu.build_source(SPIN, "")?;
    let buffer = gpu.buffer(&[0i32; 256])?;
    let count = 20_000i32.to_ne_bytes();
    let event =
        program.enqueue(&queue, "spin", &[buffer.arg(), Arg::Bytes(&count)], &Launch::linear(256, 64))?;
    failed(event.wait(), "clWaitForEvents")?;
    let times = [
        failed(event.profiling_command_queued(), "queued")?,
        failed(event.profiling_command_submit(), "submit")?,
        failed(event.profiling_command_start(), "start")?,
        failed(event.profiling_command_end(), "end")?,
    ];
    // 20,000 turns of three instructions take more than a microsecond on anything.
    if times.is_sorted() && times[3] - times[2] > 1000 {
        Ok(())
    } else {
        Err(format!("{times:?} ns are not queued, submitted, started and ended"))
    }
}

fn status(event: cl_event) -> Result<cl_int, String> {
    // CL_EVENT_COMMAND_EXECUTION_STATUS
    get_event_info(event, 0x11D3).map(|value| value.into()).map_err(|code| ClError(code).to_string())
}

fn event_user() -> Outcome {
    let gpu = Gpu::get()?;
    let (first, second) = (gpu.queue()?, gpu.queue()?);
    let mut buffer = gpu.buffer(&[0u8; 4])?.into_memory();
    let gate = create_user_event(gpu.context.get()).map_err(|code| ClError(code).to_string())?;
    let data = [1u8, 2, 3, 4];
    let mut out = [0u8; 4];
    // SAFETY: data and out outlive the commands, which are waited for below.
    let (write, read) = unsafe {
        let write =
            failed(first.enqueue_write_buffer(&mut buffer, CL_NON_BLOCKING, 0, &data, &[gate]), "write")?;
        let read = failed(
            second.enqueue_read_buffer(&buffer, CL_NON_BLOCKING, 0, &mut out, &[write.get()]),
            "read",
        )?;
        (write, read)
    };
    failed(first.flush(), "flush")?;
    failed(second.flush(), "flush")?;
    std::thread::sleep(Duration::from_millis(30));
    if status(write.get())? <= CL_COMPLETE || status(read.get())? <= CL_COMPLETE {
        return Err("a command ran before the user event that it waits for".into());
    }
    set_user_event_status(gate, CL_COMPLETE).map_err(|code| ClError(code).to_string())?;
    failed(read.wait(), "wait")?;
    drop(Event::new(gate));
    same(&out, &data)
}

fn event_error_propagates() -> Outcome {
    let gpu = Gpu::get()?;
    let queue = gpu.queue()?;
    let mut buffer = gpu.buffer(&[7u8; 4])?.into_memory();
    let gate = create_user_event(gpu.context.get()).map_err(|code| ClError(code).to_string())?;
    let data = [1u8, 2, 3, 4];
    // SAFETY: the slice outlives the command, which is waited for below.
    let write = failed(
        unsafe { queue.enqueue_write_buffer(&mut buffer, CL_NON_BLOCKING, 0, &data, &[gate]) },
        "write",
    )?;
    set_user_event_status(gate, -5).map_err(|code| ClError(code).to_string())?;
    let waited = wait_for_events(&[write.get()]);
    if waited != Err(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST) {
        return Err(format!("waiting for a command whose predecessor failed: {waited:?}"));
    }
    if status(write.get())? >= 0 {
        return Err("the dependent command did not fail".into());
    }
    drop(Event::new(gate));
    // The context still works.
    let mut out = [0u8; 4];
    // SAFETY: blocking, the slice outlives the call.
    failed(unsafe { gpu.queue()?.enqueue_read_buffer(&buffer, CL_BLOCKING, 0, &mut out, &[]) }, "read")?;
    same(&out, &[7; 4])
}

static CALLED_WITH: AtomicI32 = AtomicI32::new(CL_QUEUED + 100);

extern "C" fn notify(_event: cl_event, status: cl_int, _data: *mut c_void) {
    CALLED_WITH.store(status, Ordering::SeqCst);
}

fn event_callback() -> Outcome {
    let gpu = Gpu::get()?;
    let queue = gpu.queue()?;
    let marker = failed(unsafe_marker(&queue), "marker")?;
    set_event_callback(marker.get(), CL_COMPLETE, notify, std::ptr::null_mut())
        .map_err(|code| ClError(code).to_string())?;
    failed(marker.wait(), "wait")?;
    let begin = Instant::now();
    while CALLED_WITH.load(Ordering::SeqCst) != CL_COMPLETE {
        if begin.elapsed() > Duration::from_secs(10) {
            return Err("the callback was not called".into());
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    Ok(())
}

fn unsafe_marker(queue: &opencl3::command_queue::CommandQueue) -> opencl3::Result<Event> {
    // SAFETY: the wait list is empty.
    unsafe { queue.enqueue_marker_with_wait_list(&[]) }
}

fn queue_in_order() -> Outcome {
    let gpu = Gpu::get()?;
    let queue = gpu.queue()?;
    let program = gpu.build_source(
        "kernel void advance(global int *p, int k) { int i = get_global_id(0); p[i] = p[i] * 3 + k; }",
        "",
    )?;
    let buffer = gpu.buffer(&(0..100).collect::<Vec<i32>>())?;
    let mut expected: Vec<i32> = (0..100).collect();
    for k in 0..50i32 {
        program.enqueue(
            &queue,
            "advance",
            &[buffer.arg(), Arg::Bytes(&k.to_ne_bytes())],
            &Launch::linear(100, 20),
        )?;
        expected.iter_mut().for_each(|x| *x = x.wrapping_mul(3).wrapping_add(k));
    }
    failed(queue.finish(), "clFinish")?;
    same(&buffer.read()?, &expected)
}

/// The binary of a program.
fn binary_of(source: &str) -> Result<Vec<u8>, String> {
    let built = Gpu::get()?.build_source(source, "-DUNUSED=1")?;
    let binaries = failed(built.program().get_binaries(), "CL_PROGRAM_BINARIES")?;
    binaries.into_iter().next().filter(|bytes| !bytes.is_empty()).ok_or("no binary".into())
}

fn program_binary() -> Outcome {
    let gpu = Gpu::get()?;
    let binary = binary_of(SPIN)?;
    // SAFETY: the binary is what the driver gave.
    let mut again = failed(
        unsafe { Program::create_from_binary(&gpu.context, &[gpu.device.id()], &[binary.as_slice()]) },
        "clCreateProgramWithBinary",
    )?;
    failed(again.build(&[gpu.device.id()], ""), "clBuildProgram")?;
    if failed(again.get_kernel_names(), "CL_PROGRAM_KERNEL_NAMES")? != "spin" {
        return Err("the kernel's name was lost".into());
    }
    Ok(())
}

/// A damaged binary is refused, wherever it is damaged.
fn program_binary_damaged() -> Outcome {
    let gpu = Gpu::get()?;
    let binary = binary_of(SPIN)?;
    for position in [0, 20, binary.len() / 2, binary.len() - 1] {
        let mut damaged = binary.clone();
        damaged[position] ^= 0x55;
        // SAFETY: the slice is valid; its contents are the driver's to judge.
        let refused =
            unsafe { Program::create_from_binary(&gpu.context, &[gpu.device.id()], &[damaged.as_slice()]) };
        if refused.is_ok() {
            return Err(format!("a binary with a changed byte {position} of {} was accepted", binary.len()));
        }
    }
    Ok(())
}

fn program_options() -> Outcome {
    let gpu = Gpu::get()?;
    let source = "kernel void k(global int *p) { p[0] = VALUE + 0x10; p[1] = __OPENCL_C_VERSION__; }";
    let buffer = gpu.buffer(&[0i32; 2])?;
    for (options, version) in
        [("-D VALUE=26 -cl-std=CL1.2", 120), ("-DVALUE=26 -cl-std=CL3.0 -cl-fast-relaxed-math -w", 300)]
    {
        gpu.build_source(source, options)?.run("k", &[buffer.arg()], &Launch::linear(1, 1))?;
        same(&buffer.read()?, &[42, version])?;
    }
    Ok(())
}

fn program_options_unknown() -> Outcome {
    let gpu = Gpu::get()?;
    let source = "kernel void k(global int *p) { p[0] = 1; }";
    match gpu.build_source(source, "--no-such-option") {
        Err(text) if text.contains("CL_INVALID_BUILD_OPTIONS") => {}
        Err(text) => return Err(format!("an unknown option: {text}")),
        Ok(_) => return Err("an unknown option was accepted".into()),
    }
    let mut program = failed(Program::create_from_source(&gpu.context, source), "create")?;
    match program.compile(&[gpu.device.id()], "--no-such-option", &[], &[]) {
        Err(ClError(CL_INVALID_COMPILER_OPTIONS)) => Ok(()),
        other => Err(format!("compiling with an unknown option: {other:?}")),
    }
}

fn program_compile_and_link() -> Outcome {
    let gpu = Gpu::get()?;
    let devices = [gpu.device.id()];
    let source = |text| failed(Program::create_from_source(&gpu.context, text), "create");
    let mut bad = source("kernel void k(global int *p) { p[0] = nothing; }")?;
    match bad.compile(&devices, "", &[], &[]) {
        Err(ClError(CL_COMPILE_PROGRAM_FAILURE)) => {}
        other => return Err(format!("compiling a source with a fault: {other:?}")),
    }
    let log = failed(bad.get_build_log(devices[0]), "log")?;
    if !log.contains("nothing") {
        return Err(format!("the log does not name the fault: {log}"));
    }
    let header = source("#define VALUE 42\n")?;
    let mut good = source("#include <value.h>\nkernel void k(global int *p) { p[0] = VALUE; }")?;
    failed(good.compile(&devices, "", &[header.get()], &[c"value.h"]), "compile")?;
    // SAFETY: the device is the context's, and nobody is to be called.
    let linked =
        unsafe { link_program(gpu.context.get(), &devices, c"", &[good.get()], None, std::ptr::null_mut()) };
    let linked = linked.map_err(|code| format!("link: {}", ClError(code)))?;
    let kernel = create_kernel(linked, c"k").map_err(|code| format!("create: {}", ClError(code)))?;
    let buffer = gpu.buffer(&[0i32; 1])?;
    let argument = buffer.memory().get();
    let queue = gpu.queue()?;
    let one = [1usize];
    // SAFETY: the argument is a handle, and the sizes have as many elements as there are dimensions.
    unsafe {
        set_kernel_arg(kernel, 0, size_of::<cl_mem>(), std::ptr::from_ref(&argument).cast())
            .map_err(|code| format!("argument: {}", ClError(code)))?;
        let launched =
            queue.enqueue_nd_range_kernel(kernel, 1, std::ptr::null(), one.as_ptr(), one.as_ptr(), &[]);
        failed(failed(launched, "launch")?.wait(), "wait")?;
        release_kernel(kernel).map_err(|code| format!("release: {}", ClError(code)))?;
        release_program(linked).map_err(|code| format!("release: {}", ClError(code)))?;
    }
    same(&buffer.read()?, &[42])
}

fn kernel_information() -> Outcome {
    let gpu = Gpu::get()?;
    let program = gpu.build_source(
        "kernel __attribute__((reqd_work_group_size(8, 4, 1)))
         void k(global const float *restrict a, local int *b, constant char *c, uint4 d) {
             b[get_local_id(0)] = c[0]; barrier(CLK_LOCAL_MEM_FENCE); ((global uint4 *)a)[0] = d + b[1]; }",
        "-cl-kernel-arg-info",
    )?;
    let kernel = program.kernel("k")?;
    let id = gpu.device.id();
    let facts = (
        failed(kernel.function_name(), "name")?,
        failed(kernel.num_args(), "arguments")?,
        failed(kernel.get_compile_work_group_size(id), "compile work-group size")?,
        failed(kernel.get_arg_name(0), "argument name")?,
        failed(kernel.get_arg_type_name(3), "argument type")?,
        [0, 1, 2, 3].map(|k| kernel.get_arg_address_qualifier(k).unwrap_or(0)),
    );
    let expected = (
        "k".to_string(),
        4,
        vec![8, 4, 1],
        "a".to_string(),
        "uint4".to_string(),
        [0x119B, 0x119C, 0x119D, 0x119E],
    );
    if facts == expected { Ok(()) } else { Err(format!("{facts:?}, expected {expected:?}")) }
}

fn threads() -> Outcome {
    let gpu = Gpu::get()?;
    let queue = gpu.queue()?;
    let program = gpu
        .build_source("kernel void add(global int *p, int k) { atomic_add(p + get_global_id(0), k); }", "")?;
    let buffer = gpu.buffer(&[0i32; 64])?;
    std::thread::scope(|scope| {
        let workers: Vec<_> = (1..=8i32)
            .map(|k| {
                let (queue, program, buffer) = (&queue, &program, &buffer);
                scope.spawn(move || -> Outcome {
                    for _ in 0..25 {
                        program.enqueue(
                            queue,
                            "add",
                            &[buffer.arg(), Arg::Bytes(&k.to_ne_bytes())],
                            &Launch::linear(64, 32),
                        )?;
                    }
                    failed(queue.finish(), "clFinish")
                })
            })
            .collect();
        workers.into_iter().try_for_each(|worker| worker.join().map_err(|_| "a thread panicked")?)
    })?;
    same(&buffer.read()?, &[25 * 36; 64])
}
