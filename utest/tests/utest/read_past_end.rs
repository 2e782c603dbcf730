//! Reads up to a page beyond a buffer return zeros, as vector loads of many applications go beyond the end;
//! writes and what is further away are faults.

use std::ffi::c_void;

use gencl_utest::{Arg, Case, Gpu, Launch, Need, Outcome, Program};
use opencl3::command_queue::CommandQueue;
use opencl3::kernel::set_kernel_arg_svm_pointer;
use opencl3::memory::{Buffer, CL_MEM_READ_WRITE, CL_MEM_USE_HOST_PTR, ClMem, svm_alloc, svm_free};

use crate::memory::same;

pub fn cases() -> Vec<Case> {
    let own =
        |name: &'static str, run: fn() -> Outcome| Case::of_gencl("on others it may be anything", name, run);
    vec![
        own("read_past_end_of_elements", elements),
        own("read_past_end_of_blocks", blocks).needing(Need::Extension("cl_intel_subgroups")),
        own("read_past_end_of_kinds", kinds),
        own("read_past_end_faults", faults),
    ]
}

const PAGE: usize = 4096;

/// Work-items of a launch.
const ITEMS: usize = 64;

/// T is the type; by lanes in a row, by lanes here and there, by all lanes at once, in a loop whose lanes
/// leave it one after the other.
const SOURCE: &str = "
    kernel void row(global const T *p, uint at, global T *out) { uint i = get_global_id(0); out[i] = p[at + i]; }
    kernel void gather(global const T *p, uint at, global T *out) { uint i = get_global_id(0); out[i] = p[at + ((i * 37) & 63)]; }
    kernel void same(global const T *p, uint at, global T *out) { uint i = get_global_id(0); out[i] = p[at + get_group_id(0)]; }
    kernel void walk(global const T *p, uint at, global T *out) {
        uint i = get_global_id(0);
        T last = p[at];
        for (uint n = 0; n < i; n++) last = p[at + n + 1];
        out[i] = last;
    }";

/// Which element a work-item reads.
type Place = fn(usize) -> usize;

const KERNELS: [(&str, Place); 4] =
    [("row", |i| i), ("gather", |i| (i * 37) & 63), ("same", |i| i / 16), ("walk", |i| i)];

fn bytes(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i * 7 % 251) as u8 | 1).collect()
}

/// The elements of a size from an index on, with zeros beyond the data.
fn expected(data: &[u8], size: usize, at: usize, index: fn(usize) -> usize) -> Vec<u8> {
    let byte = |n: usize| data.get((at + index(n / size)) * size + n % size).copied().unwrap_or(0);
    (0..ITEMS * size).map(byte).collect()
}

fn build(element: &str) -> Result<Program, String> {
    Gpu::get()?.build_source(SOURCE, &format!("-DT={element}"))
}

/// All kernels on a memory, from some places on.
fn check(element: &str, size: usize, data: &[u8], memory: Arg<'_>) -> Outcome {
    let (gpu, program) = (Gpu::get()?, build(element)?);
    let end = data.len() / size;
    for (kernel, index) in KERNELS {
        for at in [end - ITEMS / 2, end - 1, end, end + PAGE / size - ITEMS] {
            let out = gpu.buffer(&vec![0xeeu8; ITEMS * size])?;
            let place = (at as u32).to_ne_bytes();
            let launch = Launch::linear(ITEMS, 16);
            let what = |error| format!("{kernel} of {element} from {at} of {end} on: {error}");
            program.run(kernel, &[memory, Arg::Bytes(&place), out.arg()], &launch).map_err(what)?;
            same(&out.read()?, &expected(data, size, at, index)).map_err(what)?;
        }
    }
    Ok(())
}

fn elements() -> Outcome {
    for (element, size) in [
        ("uchar", 1),
        ("ushort", 2),
        ("uint", 4),
        ("ulong", 8),
        ("uint4", 16),
        ("uchar16", 16),
        ("ulong4", 32),
    ] {
        let data = bytes(2 * PAGE);
        check(element, size, &data, Gpu::get()?.buffer(&data)?.arg())?;
    }
    // Loads without alignment, some of which begin in the buffer and end beyond it.
    let gpu = Gpu::get()?;
    let source = "kernel void k(global const uchar *p, uint at, global uchar16 *out) {
        uint i = get_global_id(0); out[i] = vload16(0, p + at + i); }";
    let (data, program) = (bytes(PAGE), gpu.build_source(source, "")?);
    let (memory, out) = (gpu.buffer(&data)?, gpu.empty::<u8>(16 * ITEMS)?);
    let place = (PAGE as u32 - 24).to_ne_bytes();
    program.run("k", &[memory.arg(), Arg::Bytes(&place), out.arg()], &Launch::linear(ITEMS, 16))?;
    let byte = |n: usize| data.get(PAGE - 24 + n / 16 + n % 16).copied().unwrap_or(0);
    same(&out.read()?, &(0..16 * ITEMS).map(byte).collect::<Vec<u8>>())
}

/// Blocks of a sub-group, which one message reads.
fn blocks() -> Outcome {
    let gpu = Gpu::get()?;
    let source = "
        kernel void k(global const uint *p, uint at, global uint *out) {
            uint i = get_global_id(0) - get_sub_group_local_id();
            intel_sub_group_block_write(out + i, intel_sub_group_block_read(p + at + i)); }
        kernel void k4(global const uint *p, uint at, global uint *out) {
            uint i = 4 * (get_global_id(0) - get_sub_group_local_id());
            intel_sub_group_block_write4(out + i, intel_sub_group_block_read4(p + at + i)); }";
    let (data, program) = (bytes(PAGE), gpu.build_source(source, "")?);
    let memory = gpu.buffer(&data)?;
    for (kernel, each) in [("k", 1), ("k4", 4)] {
        // Beginnings are multiples of 16 bytes.
        for before in [4, 36, 64 * each] {
            let at = PAGE / 4 - before;
            let out = gpu.empty::<u8>(4 * each * ITEMS)?;
            let place = (at as u32).to_ne_bytes();
            program.run(
                kernel,
                &[memory.arg(), Arg::Bytes(&place), out.arg()],
                &Launch::linear(ITEMS, ITEMS),
            )?;
            let byte = |n: usize| data.get(4 * at + n).copied().unwrap_or(0);
            same(&out.read()?, &(0..4 * each * ITEMS).map(byte).collect::<Vec<u8>>())
                .map_err(|error| format!("{kernel}, {before} before the end: {error}"))?;
        }
    }
    Ok(())
}

/// Pages of the application.
#[repr(align(4096))]
struct Pages([u8; 3 * PAGE]);

/// Buffers of the application's memory, parts of buffers, shared memory.
fn kinds() -> Outcome {
    let gpu = Gpu::get()?;
    let text = |error: opencl3::error_codes::ClError| error.to_string();
    let data = bytes(2 * PAGE);
    // The process's memory beyond the allocation is not visible.
    let mut pages = Box::new(Pages([0xff; 3 * PAGE]));
    pages.0[..2 * PAGE].copy_from_slice(&data);
    let pointer: *mut c_void = pages.0.as_mut_ptr().cast();
    // SAFETY: the pages outlive the buffer.
    let used = unsafe {
        Buffer::<u8>::create(&gpu.context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, 2 * PAGE, pointer)
    };
    check("uint", 4, &data, Arg::Memory(used.map_err(text)?.get()))?;
    // A sub-buffer reads the rest of its buffer beyond its end, and zeros beyond the buffer's end.
    let whole = gpu.buffer(&bytes(3 * PAGE))?;
    // SAFETY: the part is within the whole.
    let part = unsafe { whole.memory().create_sub_buffer(CL_MEM_READ_WRITE, PAGE, 2 * PAGE) };
    let part = part.map_err(text)?;
    check("uint", 4, &bytes(3 * PAGE)[PAGE..], Arg::Memory(part.get()))?;
    // A size that is not a multiple of the page size: the rest of the page is mapped, and one more page.
    let odd = gpu.buffer(&bytes(PAGE + 128))?;
    check("uint", 4, &bytes(PAGE + 128), odd.arg())?;
    if !Need::SharedMemory.is_there(gpu) {
        return Ok(());
    }
    // SAFETY: the memory is written before it is used, and freed when nothing uses it.
    unsafe {
        let shared = svm_alloc(gpu.context.get(), CL_MEM_READ_WRITE, 2 * PAGE, 0);
        let shared = shared.map_err(|code| format!("clSVMAlloc: {code}"))?;
        shared.cast::<u8>().copy_from(data.as_ptr(), data.len());
        let (program, out) = (build("uint")?, gpu.empty::<u8>(4 * ITEMS)?);
        let kernel = program.kernel("row")?;
        let at = data.len() / 4 - 10;
        set_kernel_arg_svm_pointer(kernel.get(), 0, shared).map_err(|code| format!("argument: {code}"))?;
        kernel.set_arg(1, &(at as u32)).map_err(text)?;
        kernel.set_arg(2, &out.memory().get()).map_err(text)?;
        run(&gpu.queue()?, &kernel)?;
        same(&out.read()?, &expected(&data, 4, at, |i| i))?;
        svm_free(gpu.context.get(), shared).map_err(|code| format!("clSVMFree: {code}"))
    }
}

fn run(queue: &CommandQueue, kernel: &opencl3::kernel::Kernel) -> Outcome {
    let (global, local) = ([ITEMS], [16]);
    // SAFETY: one dimension.
    let event = unsafe {
        queue.enqueue_nd_range_kernel(kernel.get(), 1, std::ptr::null(), global.as_ptr(), local.as_ptr(), &[])
    };
    event.and_then(|event| event.wait()).map_err(|error| error.to_string())
}

/// Writes and atomic operations behind the end, reads behind the page, and what begins before an end and goes
/// beyond it.
fn faults() -> Outcome {
    let source = "
        kernel void read(global uint *p, uint at, global uint *out) { out[0] = p[at + get_global_id(0)]; }
        kernel void bytes(global uint *p, uint at, global uint *out) { out[0] = vload4(0, (global uchar *)(p + at) - 1).w; }
        kernel void write(global uint *p, uint at, global uint *out) { p[at + get_global_id(0)] = 1; }
        kernel void wide(global uint *p, uint at, global uint *out) { vstore4((uint4)(1), 0, p + at); }
        kernel void add(global uint *p, uint at, global uint *out) { atomic_add(p + at, 1); }
        kernel void both(global uint *p, uint at, global uint *out) { out[0] = p[at]; p[at] = 1; }";
    let gpu = Gpu::get()?;
    let (program, end) = (gpu.build_source(source, "")?, PAGE as u32 / 4);
    let behind = 2 * end;
    for (kernel, at, is_fault) in [
        ("read", behind - 16, false),
        ("read", behind - 8, true),
        ("read", behind, true),
        ("read", behind + 4096, true),
        ("bytes", behind - 1, false),
        ("bytes", behind, true),
        ("write", end - 16, false),
        ("write", end - 8, true),
        ("write", end, true),
        ("wide", end - 4, false),
        ("wide", end - 2, true),
        ("add", end - 1, false),
        ("add", end, true),
        ("both", end - 1, false),
        ("both", end, true),
    ] {
        let (memory, out, queue) =
            (gpu.buffer(&vec![7u32; end as usize])?, gpu.empty::<u32>(1)?, gpu.queue()?);
        let arguments = [memory.arg(), Arg::Bytes(&at.to_ne_bytes()), out.arg()];
        let ended = program.enqueue(&queue, kernel, &arguments, &Launch::linear(16, 16))?.wait();
        if ended.is_err() != is_fault {
            return Err(format!("{kernel} at {at} of {end}: {ended:?}"));
        }
    }
    Ok(())
}
