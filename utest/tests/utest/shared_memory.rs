//! Shared virtual memory: one address for host and device.

use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicUsize, Ordering};

use gencl_utest::raw::api;
use gencl_utest::{Case, Gpu, Need, Outcome, Program, all_needing};
use opencl_sys::{CL_INVALID_BUFFER_SIZE, CL_SUCCESS};
use opencl3::command_queue::{
    CommandQueue, enqueue_svm_free, enqueue_svm_map, enqueue_svm_mem_cpy, enqueue_svm_mem_fill,
    enqueue_svm_migrate_mem, enqueue_svm_unmap,
};
use opencl3::error_codes::{
    CL_INVALID_ARG_VALUE, CL_INVALID_OPERATION, CL_INVALID_VALUE, CL_MEM_COPY_OVERLAP,
};
use opencl3::event::Event;
use opencl3::kernel::{Kernel, set_kernel_arg_svm_pointer, set_kernel_exec_info};
use opencl3::memory::{
    Buffer, CL_MAP_READ, CL_MAP_WRITE, CL_MEM_READ_WRITE, CL_MEM_USE_HOST_PTR, ClMem, svm_alloc, svm_free,
};
use opencl3::types::{CL_BLOCKING, CL_NON_BLOCKING, cl_command_queue, cl_event, cl_uint};

use crate::memory::same;

pub fn cases() -> Vec<Case> {
    let cases = vec![
        Case::new("shared_list", list),
        Case::new("shared_interior_pointer", interior_pointer),
        Case::new("shared_commands", commands),
        Case::new("shared_buffer", buffer),
        Case::of_gencl("others look at the whole range later", "shared_buffer_sizes", buffer_sizes),
        Case::of_gencl("OpenCL lets applications name it", "shared_reach_unnamed", reach_unnamed),
        Case::new("shared_free_in_turn", free_in_turn),
        Case::of_gencl("others take any pointer", "shared_faults", faults),
        Case::of_gencl("others trust the application", "shared_freed_too_early", freed_too_early),
    ];
    all_needing(Need::SharedMemory, cases)
}

const SOURCE: &str = "
typedef struct Node { global struct Node *next; long value; } Node;
kernel void walk(global Node *node, global long *sum) {
    *sum = 0;
    for (; node; node = node->next) {
        *sum += node->value;
        node->value = -node->value;
    }
}
kernel void around(global int *middle, int before) {
    int i = (int)get_global_id(0) - before;
    middle[i] = i * 3;
}";

/// An allocation of the test-suite's context.
struct Shared<T> {
    pointer: *mut T,
    len: usize,
}

impl<T: Copy> Shared<T> {
    fn new(len: usize) -> Result<Self, String> {
        let context = Gpu::get()?.context.get();
        // SAFETY: the context is alive.
        let pointer = unsafe { svm_alloc(context, CL_MEM_READ_WRITE, len * size_of::<T>(), 0) };
        let pointer = pointer.map_err(|code| format!("clSVMAlloc: {code}"))?.cast();
        Ok(Self { pointer, len })
    }

    fn raw(&self) -> *mut c_void {
        self.pointer.cast()
    }

    fn at(&self, index: usize) -> *mut T {
        assert!(index < self.len);
        // SAFETY: within the allocation.
        unsafe { self.pointer.add(index) }
    }

    fn get(&self, index: usize) -> T {
        // SAFETY: within the allocation, and no command uses it meanwhile.
        unsafe { self.at(index).read() }
    }

    fn set(&self, index: usize, value: T) {
        // SAFETY: within the allocation, and no command uses it meanwhile.
        unsafe { self.at(index).write(value) }
    }
}

impl<T> Drop for Shared<T> {
    fn drop(&mut self) {
        if let Ok(gpu) = Gpu::get() {
            // SAFETY: nothing is enqueued that uses it, as all tests wait.
            let _ = unsafe { svm_free(gpu.context.get(), self.pointer.cast()) };
        }
    }
}

fn start() -> Result<(Program, CommandQueue), String> {
    let gpu = Gpu::get()?;
    Ok((gpu.build_source(SOURCE, "-cl-std=CL1.2")?, gpu.queue()?))
}

fn status(result: Result<(), i32>, call: &str) -> Outcome {
    result.map_err(|code| format!("{call}: {code}"))
}

/// Waits for everything and for the event of a command.
fn done(queue: &CommandQueue, event: Result<cl_event, i32>, call: &str) -> Outcome {
    let event = event.map_err(|code| format!("{call}: {code}"))?;
    let event = Event::new(event);
    event.wait().map_err(|error| format!("{call} failed: {error}"))?;
    queue.finish().map_err(|error| error.to_string())
}

pub fn pointer_argument(kernel: &Kernel, index: u32, pointer: *const c_void) -> Result<(), i32> {
    // SAFETY: the driver says whether the pointer is one of its own.
    unsafe { set_kernel_arg_svm_pointer(kernel.get(), index, pointer) }
}

pub fn value_argument(kernel: &Kernel, index: u32, value: i32) -> Outcome {
    // SAFETY: the kernel has an int there.
    unsafe { kernel.set_arg(index, &value) }.map_err(|error| error.to_string())
}

fn launch(queue: &CommandQueue, kernel: &Kernel, global: usize) -> Outcome {
    enqueue(queue, kernel, global)?.wait().map_err(|error| error.to_string())
}

pub fn enqueue(queue: &CommandQueue, kernel: &Kernel, global: usize) -> Result<Event, String> {
    // SAFETY: arguments are set, the sizes live until the call returns.
    let event =
        unsafe { queue.enqueue_nd_range_kernel(kernel.get(), 1, null(), [global].as_ptr(), null(), &[]) };
    event.map_err(|error| error.to_string())
}

#[derive(Clone, Copy)]
struct Node {
    _next: *mut Node,
    value: i64,
}

/// The device follows pointers that the host has written, through allocations that the kernel has no argument
/// for.
fn list() -> Outcome {
    let (program, queue) = start()?;
    let parts = [Shared::<Node>::new(50)?, Shared::new(70)?, Shared::new(3000)?];
    let sum = Shared::<i64>::new(1)?;
    let nodes: Vec<(usize, usize)> = (0..120).map(|k| (k * 7 % 3, k * 11 % 50)).collect();
    let mut unique = nodes;
    unique.sort_unstable();
    unique.dedup();
    unique.sort_by_key(|(part, at)| (at * 13 % 17, *part));
    for (k, &(part, at)) in unique.iter().enumerate() {
        let next = unique.get(k + 1).map_or(null_mut(), |&(part, at)| parts[part].at(at));
        parts[part].set(at, Node { _next: next, value: (k * k) as i64 });
    }
    let kernel = program.kernel("walk")?;
    let first = unique[0];
    status(pointer_argument(&kernel, 0, parts[first.0].at(first.1).cast()), "clSetKernelArgSVMPointer")?;
    status(pointer_argument(&kernel, 1, sum.raw()), "clSetKernelArgSVMPointer")?;
    let reached: Vec<*mut c_void> = parts.iter().map(Shared::raw).collect();
    const SVM_PTRS: cl_uint = 0x11B6;
    // SAFETY: the list is as long as its size says.
    let told = unsafe {
        set_kernel_exec_info(kernel.get(), SVM_PTRS, size_of_val(&reached[..]), reached.as_ptr().cast())
    };
    status(told, "clSetKernelExecInfo")?;
    launch(&queue, &kernel, 1)?;
    let expected: i64 = (0..unique.len() as i64).map(|k| k * k).sum();
    same(&[sum.get(0)], &[expected])?;
    let values: Vec<i64> = unique.iter().map(|&(part, at)| parts[part].get(at).value).collect();
    same(&values, &(0..unique.len() as i64).map(|k| -k * k).collect::<Vec<_>>())
}

/// A pointer into the middle of an allocation, and accesses before it.
fn interior_pointer() -> Outcome {
    let (program, queue) = start()?;
    let values = Shared::<i32>::new(3000)?;
    let kernel = program.kernel("around")?;
    status(pointer_argument(&kernel, 0, values.at(1000).cast()), "clSetKernelArgSVMPointer")?;
    value_argument(&kernel, 1, 1000)?;
    launch(&queue, &kernel, 3000)?;
    let found: Vec<i32> = (0..3000).map(|i| values.get(i)).collect();
    same(&found, &(0..3000).map(|i| (i - 1000) * 3).collect::<Vec<_>>())
}

fn commands() -> Outcome {
    let (_, queue) = start()?;
    let (a, b) = (Shared::<u32>::new(5000)?, Shared::<u32>::new(5000)?);
    let mut host = [0u32; 100];
    let size = size_of_val(&host);
    let pattern = [1u32, 2, 3, 4];
    // SAFETY: memory and pattern live until the command has ended, which the test waits for.
    let fill =
        unsafe { enqueue_svm_mem_fill(queue.get(), a.raw(), pattern.as_ptr().cast(), 16, 20_000, 0, null()) };
    done(&queue, fill, "clEnqueueSVMMemFill")?;
    b.set(9, 5);
    b.set(110, 6);
    // SAFETY: both allocations are larger than that, and live until the command has ended.
    let copy = unsafe {
        enqueue_svm_mem_cpy(queue.get(), CL_NON_BLOCKING, b.at(10).cast(), a.at(1).cast(), 400, 0, null())
    };
    done(&queue, copy, "clEnqueueSVMMemcpy")?;
    // SAFETY: `host` has that many bytes, the allocation more; both live until the command has ended.
    let read = unsafe {
        enqueue_svm_mem_cpy(
            queue.get(),
            CL_BLOCKING,
            host.as_mut_ptr().cast(),
            b.at(10).cast(),
            size,
            0,
            null(),
        )
    };
    done(&queue, read, "clEnqueueSVMMemcpy")?;
    same(&host, &(0..100).map(|i| pattern[(i + 1) % 4]).collect::<Vec<_>>())?;
    same(&[b.get(9), b.get(110)], &[5, 6])?;
    let flags = CL_MAP_READ | CL_MAP_WRITE;
    // SAFETY: the allocation has that many bytes and lives until the command has ended.
    let map = unsafe { enqueue_svm_map(queue.get(), CL_BLOCKING, flags, a.raw(), 20_000, 0, null()) };
    done(&queue, map, "clEnqueueSVMMap")?;
    a.set(4999, 77);
    // SAFETY: the allocation is mapped and lives until the command has ended.
    done(&queue, unsafe { enqueue_svm_unmap(queue.get(), a.raw(), 0, null()) }, "clEnqueueSVMUnmap")?;
    let pointers = [a.raw().cast_const(), b.at(3).cast::<c_void>().cast_const()];
    let sizes = [0, 4];
    let migrate =
        // SAFETY: both lists have two elements and outlive the call.
        unsafe { enqueue_svm_migrate_mem(queue.get(), 2, pointers.as_ptr(), sizes.as_ptr(), 0, 0, null()) };
    done(&queue, migrate, "clEnqueueSVMMigrateMem")?;
    same(&[a.get(4998), a.get(4999)], &[3, 77])
}

/// A buffer made of shared virtual memory is that memory, at its address.
fn buffer() -> Outcome {
    let gpu = Gpu::get()?;
    let (program, queue) = start()?;
    let nodes = Shared::<Node>::new(1000)?;
    for k in 0..1000 {
        let next = if k == 0 { null_mut() } else { nodes.at(k - 1) };
        nodes.set(k, Node { _next: next, value: k as i64 });
    }
    let bytes = 1000 * size_of::<Node>();
    // SAFETY: the memory outlives the buffer.
    let made = unsafe {
        Buffer::<u8>::create(&gpu.context, CL_MEM_USE_HOST_PTR | CL_MEM_READ_WRITE, bytes, nodes.raw())
    };
    let made = made.map_err(|error| error.to_string())?;
    let uses = made.uses_svm_pointer().map_err(|error| error.to_string())?;
    same(&[uses], &[1])?;
    let sum = Shared::<i64>::new(1)?;
    let kernel = program.kernel("walk")?;
    status(pointer_argument(&kernel, 0, nodes.at(999).cast()), "clSetKernelArgSVMPointer")?;
    status(pointer_argument(&kernel, 1, sum.raw()), "clSetKernelArgSVMPointer")?;
    launch(&queue, &kernel, 1)?;
    same(&[sum.get(0)], &[499_500])?;
    let mut first = [0u8; 32];
    // SAFETY: blocking.
    let read = unsafe { queue.enqueue_read_buffer(&made, CL_BLOCKING, bytes - 16, &mut first[..16], &[]) };
    read.map_err(|error| error.to_string())?;
    same(&first[8..16], &(-999i64).to_ne_bytes())
}

/// A buffer over shared virtual memory has at most what is left of the allocation behind its first byte.
fn buffer_sizes() -> Outcome {
    let (api, context) = (api()?, Gpu::get()?.context.get());
    let flags = CL_MEM_USE_HOST_PTR | CL_MEM_READ_WRITE;
    let memory = Shared::<u8>::new(1024)?;
    for (begin, size, expected) in [
        (0, 1024, CL_SUCCESS),
        (0, 1025, CL_INVALID_BUFFER_SIZE),
        (0, 2048, CL_INVALID_BUFFER_SIZE),
        (0, 1 << 20, CL_INVALID_BUFFER_SIZE),
        (128, 896, CL_SUCCESS),
        (128, 897, CL_INVALID_BUFFER_SIZE),
        (1023, 1, CL_SUCCESS),
        (1023, 2, CL_INVALID_BUFFER_SIZE),
    ] {
        let mut codes = [0; 2];
        // SAFETY: the memory outlives the buffers, and has the size where they are made.
        unsafe {
            let at = memory.at(begin).cast();
            let made = [
                (api.clCreateBuffer)(context, flags, size, at, &mut codes[0]),
                (api.clCreateBufferWithProperties)(context, null(), flags, size, at, &mut codes[1]),
            ];
            made.into_iter().filter(|buffer| !buffer.is_null()).for_each(|buffer| {
                (api.clReleaseMemObject)(buffer);
            });
        }
        same(&codes, &[expected; 2]).map_err(|error| format!("{size} bytes from {begin} on: {error}"))?;
    }
    Ok(())
}

/// A kernel follows pointers to allocations that nobody has named; lists of pointers, and taking them back, change
/// nothing. There are more allocations than other buffers fit into a batch.
fn reach_unnamed() -> Outcome {
    const LISTS: [cl_uint; 2] = [0x11B6, 0x4203];
    const COUNT: usize = 400;
    let (program, queue) = start()?;
    let kernel = program.kernel("walk")?;
    let sum = Shared::<i64>::new(1)?;
    let nodes = (0..COUNT).map(|_| Shared::<Node>::new(1)).collect::<Result<Vec<_>, _>>()?;
    for (k, node) in nodes.iter().enumerate() {
        let next = nodes.get(k + 1).map_or(null_mut(), |next| next.at(0));
        node.set(0, Node { _next: next, value: k as i64 + 1 });
    }
    status(pointer_argument(&kernel, 0, nodes[0].raw()), "clSetKernelArgSVMPointer")?;
    status(pointer_argument(&kernel, 1, sum.raw()), "clSetKernelArgSVMPointer")?;
    let total = (COUNT * (COUNT + 1) / 2) as i64;
    // The kernel inverts signs.
    let mut expected = total;
    let mut walk = |count: usize, what: &str| {
        for _ in 0..count {
            launch(&queue, &kernel, 1).map_err(|error| format!("{what}: {error}"))?;
            same(&[sum.get(0)], &[expected]).map_err(|error| format!("{what}: {error}"))?;
            expected = -expected;
        }
        Ok::<(), String>(())
    };
    walk(2, "no list")?;
    for name in LISTS {
        let list = [nodes[COUNT - 1].raw()];
        let tell = |size: usize| {
            // SAFETY: the list is as long as its size says.
            let told = unsafe { set_kernel_exec_info(kernel.get(), name, size, list.as_ptr().cast()) };
            status(told, "clSetKernelExecInfo")
        };
        tell(size_of_val(&list))?;
        walk(1, "a list of one")?;
        tell(0)?;
        walk(1, "an empty list")?;
    }
    // Allocations that come and go, and launches that nobody waits for, each with what there was when it was enqueued.
    let last = &nodes[COUNT - 1];
    for sign in [1, -1, 1] {
        let next = Shared::<Node>::new(1)?;
        next.set(0, Node { _next: null_mut(), value: 1000 });
        last.set(0, Node { _next: next.at(0), value: last.get(0).value });
        for _ in 0..2 {
            enqueue(&queue, &kernel, 1)?;
        }
        let _other = Shared::<Node>::new(1)?;
        launch(&queue, &kernel, 1)?;
        same(&[sum.get(0)], &[sign * total + 1000])?;
        last.set(0, Node { _next: null_mut(), value: last.get(0).value });
    }
    Ok(())
}

static FREED: AtomicUsize = AtomicUsize::new(0);

unsafe extern "C" fn count_freed(
    _queue: cl_command_queue,
    count: cl_uint,
    pointers: *mut *mut c_void,
    user: *mut c_void,
) {
    for index in 0..count as usize {
        // SAFETY: the list has `count` pointers, allocated by the test, which gave its context.
        let _ = unsafe { svm_free(user, *pointers.add(index)) };
    }
    FREED.fetch_add(count as usize, Ordering::SeqCst);
}

fn free_in_turn() -> Outcome {
    let (_, queue) = start()?;
    let context = Gpu::get()?.context.get();
    let allocate = || -> Result<*const c_void, String> {
        let shared = std::mem::ManuallyDrop::new(Shared::<u8>::new(100_000)?);
        Ok(shared.raw().cast_const())
    };
    let by_callback = [allocate()?, allocate()?];
    let by_driver = [allocate()?];
    // SAFETY: nobody uses the memory afterwards.
    let (first, second) = unsafe {
        let queue = queue.get();
        let callback =
            enqueue_svm_free(queue, 2, by_callback.as_ptr(), Some(count_freed), context, 0, null());
        (callback, enqueue_svm_free(queue, 1, by_driver.as_ptr(), None, null_mut(), 0, null()))
    };
    done(&queue, first, "clEnqueueSVMFree")?;
    done(&queue, second, "clEnqueueSVMFree")?;
    same(&[FREED.load(Ordering::SeqCst)], &[2])
}

fn refused(code: Result<cl_event, i32>, expected: i32, what: &str) -> Outcome {
    match code {
        Err(code) if code == expected => Ok(()),
        Err(code) => Err(format!("{what}: {code}, expected {expected}")),
        Ok(_) => Err(format!("{what} was accepted")),
    }
}

fn faults() -> Outcome {
    let (program, queue) = start()?;
    let context = Gpu::get()?.context.get();
    let shared = Shared::<u32>::new(1000)?;
    let raw = queue.get();
    for (flags, size, alignment) in
        [(1, 0, 0), (1, usize::MAX, 0), (1, 64, 3), (1, 64, 256), (3, 64, 0), (1 << 11, 64, 0)]
    {
        // SAFETY: the call is refused or makes memory that nobody uses.
        if unsafe { svm_alloc(context, flags, size, alignment) }.is_ok() {
            return Err(format!("clSVMAlloc took flags {flags:#x}, {size} bytes, alignment {alignment}"));
        }
    }
    // SAFETY: nothing is accessed, as the calls are refused.
    unsafe {
        let copy = |to: *mut u32, from: *const u32, size| {
            enqueue_svm_mem_cpy(raw, CL_BLOCKING, to.cast(), from.cast(), size, 0, null())
        };
        refused(copy(null_mut(), shared.at(0), 4), CL_INVALID_VALUE, "a copy to null")?;
        refused(copy(shared.at(0), null(), 4), CL_INVALID_VALUE, "a copy from null")?;
        refused(copy(shared.at(0), shared.at(1), 8), CL_MEM_COPY_OVERLAP, "a copy over itself")?;
        let pattern = 0u64;
        let fill = |to: *mut u32, pattern: *const u64, step, size| {
            enqueue_svm_mem_fill(raw, to.cast(), pattern.cast(), step, size, 0, null())
        };
        refused(fill(null_mut(), &raw const pattern, 4, 4), CL_INVALID_VALUE, "a fill of null")?;
        refused(fill(shared.at(0), null(), 4, 4), CL_INVALID_VALUE, "a fill with null")?;
        refused(fill(shared.at(0), &raw const pattern, 3, 3), CL_INVALID_VALUE, "a pattern of 3 bytes")?;
        refused(fill(shared.at(1), &raw const pattern, 8, 8), CL_INVALID_VALUE, "a fill off its alignment")?;
        refused(fill(shared.at(0), &raw const pattern, 4, 6), CL_INVALID_VALUE, "a fill of half a pattern")?;
        let map = |pointer, flags, size| enqueue_svm_map(raw, CL_BLOCKING, flags, pointer, size, 0, null());
        refused(map(null_mut(), CL_MAP_READ, 4), CL_INVALID_VALUE, "a map of null")?;
        refused(map(shared.raw(), CL_MAP_READ, 0), CL_INVALID_VALUE, "a map of nothing")?;
        refused(map(shared.raw(), 1 << 20, 4), CL_INVALID_VALUE, "a map with flags that there are not")?;
        refused(enqueue_svm_unmap(raw, null_mut(), 0, null()), CL_INVALID_VALUE, "an unmap of null")?;
        let outside = (&raw const pattern).cast::<c_void>();
        let migrate = |pointer: *const c_void, size: usize, flags| {
            enqueue_svm_migrate_mem(raw, 1, [pointer].as_ptr(), [size].as_ptr(), flags, 0, null())
        };
        refused(migrate(outside, 4, 0), CL_INVALID_VALUE, "a migration of other memory")?;
        refused(migrate(shared.raw(), 5000, 0), CL_INVALID_VALUE, "a migration of too much")?;
        refused(migrate(shared.at(1).cast(), usize::MAX, 0), CL_INVALID_VALUE, "a migration beyond all")?;
        refused(migrate(shared.raw(), 4, 1 << 9), CL_INVALID_VALUE, "migration flags that there are not")?;
        let free = |count, list: *const *const c_void| {
            enqueue_svm_free(raw, count, list, None, null_mut(), 0, null())
        };
        refused(free(1, null()), CL_INVALID_VALUE, "no list of one")?;
        refused(free(0, [outside].as_ptr()), CL_INVALID_VALUE, "a list of none")?;
        let kernel = program.kernel("walk")?;
        let event = |result: Result<(), i32>| result.map(|()| null_mut());
        let argument = event(pointer_argument(&kernel, 0, outside));
        refused(argument, CL_INVALID_ARG_VALUE, "an argument that is other memory")?;
        let info =
            |name, size, value: *const c_void| event(set_kernel_exec_info(kernel.get(), name, size, value));
        refused(info(0x11B6, 8, null()), CL_INVALID_VALUE, "execution information without a value")?;
        refused(info(0x11B6, 7, [outside].as_ptr().cast()), CL_INVALID_VALUE, "seven bytes of pointers")?;
        refused(info(0x11B6, 8, [outside].as_ptr().cast()), CL_INVALID_VALUE, "a pointer to other memory")?;
        refused(info(0x11B7, 4, [1u32].as_ptr().cast()), CL_INVALID_OPERATION, "fine-grained memory")?;
        refused(info(0x9999, 4, [1u32].as_ptr().cast()), CL_INVALID_VALUE, "a name that there is not")?;
        svm_free(context, outside.cast_mut()).map_err(|code| code.to_string())
    }
}

/// Memory that is freed while commands that use it are queued is kept until they have ended.
fn freed_too_early() -> Outcome {
    let (program, queue) = start()?;
    let gate =
        opencl3::event::create_user_event(Gpu::get()?.context.get()).map_err(|code| code.to_string())?;
    let values = std::mem::ManuallyDrop::new(Shared::<i32>::new(100_000)?);
    let kernel = program.kernel("around")?;
    status(pointer_argument(&kernel, 0, values.raw()), "clSetKernelArgSVMPointer")?;
    value_argument(&kernel, 1, 0)?;
    // SAFETY: freeing too early is what is tested.
    unsafe {
        let global = [100_000usize];
        let range = queue.enqueue_nd_range_kernel(kernel.get(), 1, null(), global.as_ptr(), null(), &[gate]);
        range.map_err(|error| error.to_string())?;
        let pattern = 1u32;
        let pattern = (&raw const pattern).cast();
        let fill = enqueue_svm_mem_fill(queue.get(), values.raw(), pattern, 4, 400_000, 1, [gate].as_ptr());
        fill.map_err(|code| code.to_string())?;
        svm_free(Gpu::get()?.context.get(), values.raw()).map_err(|code| code.to_string())?;
    }
    opencl3::event::set_user_event_status(gate, 0).map_err(|code| code.to_string())?;
    queue.finish().map_err(|error| error.to_string())?;
    let next = launch(&queue, &kernel, 100);
    if next.is_ok() { Err("a launch with memory that was freed was accepted".into()) } else { Ok(()) }
}
