//! Faults have the right error and a reason, and the process survives.

use std::ffi::{CStr, c_char, c_void};
use std::sync::Mutex;

use gencl_utest::{Arg, Case, Gpu, Launch, Outcome};
use opencl3::command_queue::CommandQueue;
use opencl3::context::Context;
use opencl3::error_codes::{
    CL_INVALID_ARG_INDEX, CL_INVALID_ARG_SIZE, CL_INVALID_BUFFER_SIZE, CL_INVALID_KERNEL_ARGS,
    CL_INVALID_KERNEL_NAME, CL_INVALID_WORK_DIMENSION, CL_INVALID_WORK_GROUP_SIZE, CL_INVALID_WORK_ITEM_SIZE,
    CL_OUT_OF_RESOURCES, ClError,
};
use opencl3::kernel::{Kernel, set_kernel_arg};
use opencl3::memory::{Buffer, CL_MEM_READ_WRITE, ClMem};
use opencl3::program::Program;

use crate::child::{self, is_child};

pub fn cases() -> Vec<Case> {
    vec![
        Case::new("fault_syntax_error", syntax_error),
        Case::of_gencl("others link later", "fault_undefined_function", undefined_function),
        Case::new("fault_missing_kernel_name", missing_kernel_name),
        Case::of_gencl("a value may be too long for others", "fault_wrong_arguments", wrong_arguments),
        Case::new("fault_work_sizes", work_sizes),
        Case::of_gencl("Intel's driver accepts it", "fault_no_dimension", no_dimension),
        Case::new("fault_buffer_sizes", buffer_sizes),
        Case::of_gencl("the context is told why", "fault_wild_pointer", wild_pointer),
        Case::of_gencl("others lose the queue", "fault_among_equal_launches", among_equal_launches),
        Case::of_gencl("the context is told why", "fault_endless_loop", endless_loop),
        Case::of_gencl("the context is told why", "fault_endless_barriers", endless_barriers),
        Case::of_gencl("the context is told why", "fault_wild_gather", wild_gather),
        Case::of_gencl("the context is told why", "fault_endless_gather", endless_gather),
    ]
}

/// Checks the code of an error.
fn refused<T>(result: opencl3::Result<T>, expected: i32, what: &str) -> Outcome {
    match result {
        Err(ClError(code)) if code == expected => Ok(()),
        Err(other) => Err(format!("{what}: {other}, expected {}", ClError(expected))),
        Ok(_) => Err(format!("{what} was accepted, expected {}", ClError(expected))),
    }
}

fn log_of(source: &str) -> Result<String, String> {
    match Gpu::get()?.build_source(source, "") {
        Err(log) if log.contains("CL_BUILD_PROGRAM_FAILURE") => Ok(log),
        Err(log) => Err(format!("not a build failure: {log}")),
        Ok(_) => Err("a wrong program was built".into()),
    }
}

fn syntax_error() -> Outcome {
    let log = log_of("kernel void k(global int *p)\n{\n    p[0] = 1 +;\n}\n")?;
    // Line and column, and clang's message.
    if log.contains(":3:15:") && log.contains("expected expression") {
        Ok(())
    } else {
        Err(format!("the log does not say where and what: {log}"))
    }
}

fn undefined_function() -> Outcome {
    let log = log_of("int nowhere(int);\nkernel void k(global int *p) { p[0] = nowhere(1); }\n")?;
    if log.contains("nowhere") { Ok(()) } else { Err(format!("the log does not name the function: {log}")) }
}

const TWO: &str = "kernel void two(global int *p, int n) { p[get_global_id(0)] = n; }";

fn build(source: &str) -> Result<Program, String> {
    let gpu = Gpu::get()?;
    Program::create_and_build_from_source(&gpu.context, source, "")
}

fn missing_kernel_name() -> Outcome {
    refused(Kernel::create(&build(TWO)?, "three"), CL_INVALID_KERNEL_NAME, "a kernel that is not there")
}

fn wrong_arguments() -> Outcome {
    let gpu = Gpu::get()?;
    let kernel = Kernel::create(&build(TWO)?, "two").map_err(|error| error.to_string())?;
    let queue = gpu.queue()?;
    let set = |index, size| {
        let value = [0u64; 4];
        // SAFETY: the value has 32 bytes, more than any size given here.
        unsafe { set_kernel_arg(kernel.get(), index, size, value.as_ptr().cast::<c_void>()) }.map_err(ClError)
    };
    refused(set(1, 2), CL_INVALID_ARG_SIZE, "an int of 2 bytes")?;
    refused(set(0, 4), CL_INVALID_ARG_SIZE, "a pointer of 4 bytes")?;
    refused(set(2, 4), CL_INVALID_ARG_INDEX, "a third argument of two")?;
    set(1, 4).map_err(|error| error.to_string())?;
    refused(enqueue(&queue, &kernel, &[16], &[]), CL_INVALID_KERNEL_ARGS, "a launch without argument 0")
}

fn enqueue(queue: &CommandQueue, kernel: &Kernel, global: &[usize], local: &[usize]) -> opencl3::Result<()> {
    let local = if local.is_empty() { std::ptr::null() } else { local.as_ptr() };
    // SAFETY: the size arrays have as many elements as there are dimensions, or are null.
    unsafe {
        queue.enqueue_nd_range_kernel(
            kernel.get(),
            global.len() as u32,
            std::ptr::null(),
            global.as_ptr(),
            local,
            &[],
        )
    }
    .map(drop)
}

fn work_sizes() -> Outcome {
    let gpu = Gpu::get()?;
    let queue = gpu.queue()?;
    let program = build(TWO)?;
    let kernel = Kernel::create(&program, "two").map_err(|error| error.to_string())?;
    let memory = gpu.buffer(&[0i32; 64])?;
    // SAFETY: an int and a buffer's handle, as the kernel declares them.
    unsafe {
        kernel.set_arg(0, &memory.memory().get()).map_err(|error| error.to_string())?;
        kernel.set_arg(1, &5i32).map_err(|error| error.to_string())?;
    }
    refused(
        enqueue(&queue, &kernel, &[256, 256], &[128, 128]),
        CL_INVALID_WORK_GROUP_SIZE,
        "a group of 16384 work-items",
    )?;
    // Both codes describe it.
    let long = |code| refused(enqueue(&queue, &kernel, &[1 << 20], &[1 << 19]), code, "a long group");
    long(CL_INVALID_WORK_ITEM_SIZE).or_else(|_| long(CL_INVALID_WORK_GROUP_SIZE))?;
    refused(enqueue(&queue, &kernel, &[1; 4], &[]), CL_INVALID_WORK_DIMENSION, "four dimensions")
}

fn no_dimension() -> Outcome {
    let kernel = Kernel::create(&build(TWO)?, "two").map_err(|error| error.to_string())?;
    refused(enqueue(&Gpu::get()?.queue()?, &kernel, &[], &[]), CL_INVALID_WORK_DIMENSION, "no dimension")
}

fn buffer_sizes() -> Outcome {
    let gpu = Gpu::get()?;
    for size in [0, usize::MAX, 1 << 50] {
        // SAFETY: no host pointer is given.
        let result =
            unsafe { Buffer::<u8>::create(&gpu.context, CL_MEM_READ_WRITE, size, std::ptr::null_mut()) };
        refused(result, CL_INVALID_BUFFER_SIZE, &format!("a buffer of {size} bytes"))?;
    }
    Ok(())
}

/// A card has one error state: of two faults at the same time one is lost.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// The messages of context callbacks.
static REASONS: Mutex<Vec<String>> = Mutex::new(Vec::new());

unsafe extern "C" fn on_error(text: *const c_char, _info: *const c_void, _size: usize, _user: *mut c_void) {
    // SAFETY: the specification says that the text is a string.
    let text = unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned();
    if let Ok(mut reasons) = REASONS.lock() {
        reasons.push(text);
    }
}

/// Runs a kernel that can't end well in a context of its own; the reason given must contain `words`. Then
/// another queue of the same context and another context still work.
pub fn fails(source: &str, words: &str) -> Outcome {
    let _turn = ONE_AT_A_TIME.lock();
    let gpu = Gpu::get()?;
    let context = Context::from_devices(&[gpu.device.id()], &[], Some(on_error), std::ptr::null_mut())
        .map_err(|error| error.to_string())?;
    let text = |error: ClError| error.to_string();
    // SAFETY: context and device belong together; no host pointer; a buffer's handle as the argument.
    let (queue, kernel, buffer) = unsafe {
        let queue = CommandQueue::create(&context, gpu.device.id(), 0).map_err(text)?;
        let program = Program::create_and_build_from_source(&context, source, "")?;
        let kernel = Kernel::create(&program, "bad").map_err(text)?;
        let buffer =
            Buffer::<u8>::create(&context, CL_MEM_READ_WRITE, 4096, std::ptr::null_mut()).map_err(text)?;
        kernel.set_arg(0, &buffer.get()).map_err(text)?;
        (queue, kernel, buffer)
    };
    // SAFETY: one dimension, no local size.
    let event = unsafe {
        queue.enqueue_nd_range_kernel(
            kernel.get(),
            1,
            std::ptr::null(),
            [32usize].as_ptr(),
            std::ptr::null(),
            &[],
        )
    }
    .map_err(text)?;
    if event.wait().is_ok() {
        return Err("the kernel ended well".into());
    }
    let status = event.command_execution_status().map_err(text)?.0;
    if status >= 0 {
        return Err(format!("the event's status is {status}"));
    }
    let reasons = REASONS.lock().map_err(|_| "poisoned")?.join("\n");
    if !reasons.contains(words) {
        return Err(format!("the context was not told of \"{words}\": {reasons:?}"));
    }
    drop(buffer);
    // The same context, another queue, a good kernel.
    // SAFETY: context and device belong together; no host pointer; a buffer's handle as the argument.
    unsafe {
        let queue = CommandQueue::create(&context, gpu.device.id(), 0).map_err(text)?;
        let program = Program::create_and_build_from_source(&context, TWO, "")?;
        let kernel = Kernel::create(&program, "two").map_err(text)?;
        let buffer =
            Buffer::<u8>::create(&context, CL_MEM_READ_WRITE, 4096, std::ptr::null_mut()).map_err(text)?;
        kernel.set_arg(0, &buffer.get()).map_err(text)?;
        kernel.set_arg(1, &7i32).map_err(text)?;
        enqueue(&queue, &kernel, &[64], &[]).map_err(text)?;
        queue.finish().map_err(text)?;
    }
    let memory = gpu.buffer(&[0i32; 16])?;
    let value = 9i32.to_ne_bytes();
    gpu.build_source(TWO, "")?.run("two", &[memory.arg(), Arg::Bytes(&value)], &Launch::linear(16, 16))?;
    crate::memory::same(&memory.read()?, &[9; 16])
}

fn wild_pointer() -> Outcome {
    fails(
        "kernel void bad(global int *p) { *(global int *)((ulong)p + 0x123456780000UL + get_global_id(0) * 4) = 1; }",
        "page fault",
    )
}

/// Of equal launches in a row, some of which share a batch, one fails: those before it have run, those behind
/// it have not.
fn among_equal_launches() -> Outcome {
    const LAUNCHES: u32 = 9;
    let gpu = Gpu::get()?;
    let source = "kernel void next(global uint *count, uint bad) {
        uint n = count[0]++;
        if (n == bad) *(global int *)((ulong)count + 0x123456780000UL) = 1;
        count[n + 1] = n; }";
    let (program, queue) = (gpu.build_source(source, "")?, gpu.queue()?);
    for bad in 0..LAUNCHES {
        let count = gpu.buffer(&[0_u32; LAUNCHES as usize + 1])?;
        let arguments = [count.arg(), Arg::Bytes(&bad.to_ne_bytes())];
        let enqueue = |_| program.enqueue(&queue, "next", &arguments, &Launch::linear(1, 1));
        let events = (0..LAUNCHES).map(enqueue).collect::<Result<Vec<_>, _>>()?;
        for (number, event) in (0..).zip(&events) {
            if event.wait().is_ok() != (number < bad) {
                return Err(format!("number {bad} was to fail, {number} did not end as expected"));
            }
        }
        let expected: Vec<u32> = (0..LAUNCHES).map(|n| if n < bad { n } else { 0 }).collect();
        crate::memory::same(&count.read()?, &[&[bad + 1], &expected[..]].concat())?;
        refused(queue.finish(), CL_OUT_OF_RESOURCES, "clFinish after a fault")?;
    }
    Ok(())
}

/// A kernel that never ends, in a process of its own: the others would wait for the device meanwhile.
fn hangs(name: &str, source: &str) -> Outcome {
    if is_child() {
        return fails(source, "too long");
    }
    let output = child::run(name, "hang", &[("GENCL_HANG_LIMIT", "1")])?;
    if output.status.success() { Ok(()) } else { Err(format!("the process failed: {output:?}")) }
}

fn endless_loop() -> Outcome {
    hangs(
        "fault_endless_loop",
        "kernel void bad(global volatile int *p) { while (p[get_global_id(0)] != 12345) p[512] = 0; }",
    )
}

/// Threads that wait for each other again and again: none has a long turn.
fn endless_barriers() -> Outcome {
    hangs(
        "fault_endless_barriers",
        "kernel void bad(global volatile int *p) { while (p[0] != 12345) barrier(CLK_GLOBAL_MEM_FENCE); }",
    )
}

/// Divergent lanes, one of which accesses memory out of bounds.
fn wild_gather() -> Outcome {
    fails(
        "kernel void bad(global int *p) {
            uint at = get_global_id(0) & 3, step = get_global_id(0) == 5 ? 0x10000000 : 3, sum = 0;
            while (at < 0x70000000) { sum += p[at]; at += step + p[at & 63]; if (step == 3 && at > 900) break; }
            p[0] = sum;
        }",
        "page fault",
    )
}

fn endless_gather() -> Outcome {
    hangs(
        "fault_endless_gather",
        "kernel void bad(global int *p) {
            uint at = get_global_id(0) & 7;
            while (at != 12345) at = p[at & 63] & 0x3fff;
            p[0] = at;
        }",
    )
}
