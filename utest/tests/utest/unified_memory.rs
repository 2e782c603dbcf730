//! `cl_intel_unified_shared_memory`: allocations of three kinds, their commands and what kernels reach
//! through them.

use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use gencl_utest::raw::{Unified, api, unified};
use gencl_utest::{Case, Gpu, Need, Outcome, Program, all_needing};
use opencl_sys::{
    CL_COMMAND_MEMCPY_INTEL, CL_COMMAND_MEMFILL_INTEL, CL_EVENT_COMMAND_TYPE, CL_FALSE, CL_INVALID_ARG_INDEX,
    CL_INVALID_ARG_VALUE, CL_INVALID_BUFFER_SIZE, CL_INVALID_CONTEXT, CL_INVALID_DEVICE, CL_INVALID_PROPERTY,
    CL_INVALID_VALUE, CL_KERNEL_COMPILE_SUB_GROUP_SIZE_INTEL,
    CL_KERNEL_EXEC_INFO_INDIRECT_DEVICE_ACCESS_INTEL, CL_KERNEL_EXEC_INFO_INDIRECT_HOST_ACCESS_INTEL,
    CL_KERNEL_EXEC_INFO_INDIRECT_SHARED_ACCESS_INTEL, CL_KERNEL_EXEC_INFO_USM_PTRS_INTEL,
    CL_MEM_ALLOC_BASE_PTR_INTEL, CL_MEM_ALLOC_BUFFER_LOCATION_INTEL, CL_MEM_ALLOC_DEVICE_INTEL,
    CL_MEM_ALLOC_FLAGS_INTEL, CL_MEM_ALLOC_INITIAL_PLACEMENT_DEVICE_INTEL,
    CL_MEM_ALLOC_INITIAL_PLACEMENT_HOST_INTEL, CL_MEM_ALLOC_SIZE_INTEL, CL_MEM_ALLOC_TYPE_INTEL,
    CL_MEM_COPY_OVERLAP, CL_MEM_TYPE_DEVICE_INTEL, CL_MEM_TYPE_HOST_INTEL, CL_MEM_TYPE_SHARED_INTEL,
    CL_MEM_TYPE_UNKNOWN_INTEL, CL_SUCCESS, CL_TRUE, cl_context, cl_device_id, cl_event, cl_int, cl_uint,
};
use opencl3::event::{CL_COMPLETE, Event, create_user_event, set_user_event_status};
use opencl3::kernel::Kernel;

use crate::il::module::add_to_array;
use crate::il::{build, from_il};
use crate::information::{Ask, HANDLE, Query, SIZE, UINT, ULONG, ask, check_all, expect, number, queries};
use crate::memory::same;

pub fn cases() -> Vec<Case> {
    let cases = vec![
        Case::new("unified_information", information),
        Case::new("unified_kernel", kernel),
        Case::new("unified_indirect", indirect),
        Case::new("unified_by_value", by_value)
            .needing(Need::Extension("cl_khr_il_program"))
            .needing(Need::Extension("cl_intel_required_subgroup_size")),
        Case::new("unified_commands", commands),
        Case::new("unified_free", free),
        Case::of_gencl("others wait for ever behind a user event", "unified_blocking_free", blocking_free),
        Case::of_gencl("others take what is wrong", "unified_refused", refused),
    ];
    all_needing(Need::Extension("cl_intel_unified_shared_memory"), cases)
}

/// The extension's functions, which devices that report it have.
fn needed() -> Result<&'static Unified, String> {
    unified()?.ok_or_else(|| "the platform lacks functions of cl_intel_unified_shared_memory".into())
}

/// Kinds of memory, as their types.
const KINDS: [cl_uint; 3] = [CL_MEM_TYPE_HOST_INTEL, CL_MEM_TYPE_DEVICE_INTEL, CL_MEM_TYPE_SHARED_INTEL];

/// An allocation that is freed when it is dropped.
struct Memory {
    unified: &'static Unified,
    context: cl_context,
    pointer: *mut c_void,
}

fn allocate(
    unified: &Unified,
    kind: cl_uint,
    context: cl_context,
    device: cl_device_id,
    properties: Option<&[u64]>,
    size: usize,
    alignment: cl_uint,
) -> (*mut c_void, cl_int) {
    let (mut code, list) = (1, properties.map_or(null(), <[u64]>::as_ptr));
    // SAFETY: the list ends with zero; handles are alive or the driver's to refuse.
    let pointer = unsafe {
        match kind {
            CL_MEM_TYPE_HOST_INTEL => {
                (unified.clHostMemAllocINTEL)(context, list, size, alignment, &mut code)
            }
            CL_MEM_TYPE_DEVICE_INTEL => {
                (unified.clDeviceMemAllocINTEL)(context, device, list, size, alignment, &mut code)
            }
            _ => (unified.clSharedMemAllocINTEL)(context, device, list, size, alignment, &mut code),
        }
    };
    (pointer, code)
}

impl Memory {
    fn new(unified: &'static Unified, kind: cl_uint, size: usize) -> Result<Self, String> {
        let gpu = Gpu::get()?;
        let context = gpu.context.get();
        let (pointer, code) = allocate(unified, kind, context, gpu.device.id(), None, size, 0);
        expect(code, CL_SUCCESS, "an allocation")?;
        Ok(Self { unified, context, pointer })
    }

    /// Copies to or from the host, which may not touch all kinds itself.
    fn copy(&self, to: *mut c_void, from: *const c_void, size: usize) -> Outcome {
        let queue = Gpu::get()?.queue()?;
        // SAFETY: blocking; both have the size.
        let code = unsafe {
            (self.unified.clEnqueueMemcpyINTEL)(queue.get(), CL_TRUE, to, from, size, 0, null(), null_mut())
        };
        expect(code, CL_SUCCESS, "clEnqueueMemcpyINTEL")
    }

    fn write(&self, data: &[i32]) -> Outcome {
        self.copy(self.pointer, data.as_ptr().cast(), size_of_val(data))
    }

    fn read(&self, count: usize) -> Result<Vec<i32>, String> {
        let mut data = vec![0; count];
        self.copy(data.as_mut_ptr().cast(), self.pointer, count * 4)?;
        Ok(data)
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: the test's own, and no command uses it.
        unsafe { (self.unified.clMemFreeINTEL)(self.context, self.pointer) };
    }
}

const QUERIES: &[Query] = queries! {
    CL_MEM_ALLOC_TYPE_INTEL: UINT,
    CL_MEM_ALLOC_BASE_PTR_INTEL: HANDLE,
    CL_MEM_ALLOC_SIZE_INTEL: SIZE,
    CL_MEM_ALLOC_DEVICE_INTEL: HANDLE,
    CL_MEM_ALLOC_FLAGS_INTEL: ULONG,
};

fn ask_about(unified: &'static Unified, context: cl_context, pointer: *const c_void) -> Ask {
    Box::new(move |name, room, value, size| {
        // SAFETY: the context is alive, and the checks give pointers with the room that they say.
        unsafe { (unified.clGetMemAllocInfoINTEL)(context, pointer, name, room, value, size) }
    })
}

/// Queries of allocations, by pointers to their beginning and into them, and of other memory.
fn information() -> Outcome {
    let gpu = Gpu::get()?;
    let (context, device) = (gpu.context.get(), gpu.device.id());
    let unified = needed()?;
    let of_device = ask!(clGetDeviceInfo, device);
    for query in opencl_sys::CL_DEVICE_HOST_MEM_CAPABILITIES_INTEL
        ..=opencl_sys::CL_DEVICE_SHARED_SYSTEM_MEM_CAPABILITIES_INTEL
    {
        let access = number(&of_device, query)?;
        if access & 1 == 0
            && query != opencl_sys::CL_DEVICE_SHARED_SYSTEM_MEM_CAPABILITIES_INTEL
            && query != opencl_sys::CL_DEVICE_CROSS_DEVICE_SHARED_MEM_CAPABILITIES_INTEL
        {
            return Err(format!("query {query:#x}: no access"));
        }
    }
    for kind in KINDS {
        let memory = Memory::new(unified, kind, 1000)?;
        check_all("clGetMemAllocInfoINTEL", QUERIES, &ask_about(unified, context, memory.pointer))?;
        for offset in [0, 999] {
            let ask = ask_about(unified, context, memory.pointer.wrapping_byte_add(offset));
            let found = [
                number(&ask, CL_MEM_ALLOC_TYPE_INTEL)?,
                number(&ask, CL_MEM_ALLOC_BASE_PTR_INTEL)?,
                number(&ask, CL_MEM_ALLOC_DEVICE_INTEL)?,
            ];
            let its_device = if kind == CL_MEM_TYPE_HOST_INTEL { 0 } else { device as u64 };
            let expected = [kind.into(), memory.pointer as u64, its_device];
            if found != expected {
                return Err(format!("kind {kind:#x}, offset {offset}: {found:x?}, expected {expected:x?}"));
            }
            if number(&ask, CL_MEM_ALLOC_SIZE_INTEL)? < 1000 {
                return Err(format!("kind {kind:#x}: less than was asked for"));
            }
        }
    }
    let other = [0u8; 16];
    let ask = ask_about(unified, context, other.as_ptr().cast());
    let found = [number(&ask, CL_MEM_ALLOC_TYPE_INTEL)?, number(&ask, CL_MEM_ALLOC_BASE_PTR_INTEL)?];
    if found != [CL_MEM_TYPE_UNKNOWN_INTEL.into(), 0] {
        return Err(format!("memory of the host's own: {found:x?}"));
    }
    Ok(())
}

const SOURCE: &str = "
kernel void add(global int *p, int n) { p[get_global_id(0)] += n; }
kernel void behind(global int *global *list) { for (int i = 0; i < 3; i++) list[i][get_global_id(0)] += i + 1; }";

fn program() -> Result<Program, String> {
    Gpu::get()?.build_unchecked(SOURCE, "-cl-std=CL3.0")
}

fn launch(kernel: opencl_sys::cl_kernel, items: usize) -> Outcome {
    let (queue, size) = (Gpu::get()?.queue()?, [items]);
    // SAFETY: one dimension; the queue is finished below.
    unsafe { queue.enqueue_nd_range_kernel(kernel, 1, null(), size.as_ptr(), null(), &[]) }
        .map_err(|error| format!("clEnqueueNDRangeKernel: {error}"))?
        .wait()
        .map_err(|error| error.to_string())
}

/// A pointer into each kind as a kernel's argument.
fn kernel() -> Outcome {
    let unified = needed()?;
    let kernel = program()?.kernel("add")?;
    for kind in KINDS {
        let memory = Memory::new(unified, kind, 64 * 4)?;
        memory.write(&(0..64).collect::<Vec<_>>())?;
        let five = 5i32;
        // SAFETY: a pointer into the allocation, and a value of its size.
        unsafe {
            let inside = memory.pointer.wrapping_byte_add(16 * 4);
            let set = (unified.clSetKernelArgMemPointerINTEL)(kernel.get(), 0, inside);
            expect(set, CL_SUCCESS, "clSetKernelArgMemPointerINTEL")?;
            let value = (&raw const five).cast::<c_void>();
            expect((api()?.clSetKernelArg)(kernel.get(), 1, 4, value), CL_SUCCESS, "clSetKernelArg")?;
        }
        launch(kernel.get(), 32)?;
        let expected: Vec<i32> = (0..64).map(|i| if (16..48).contains(&i) { i + 5 } else { i }).collect();
        same(&memory.read(64)?, &expected).map_err(|error| format!("kind {kind:#x}: {error}"))?;
    }
    Ok(())
}

/// Allocations that a kernel finds in memory: named one by one, or all of a kind allowed.
fn indirect() -> Outcome {
    let unified = needed()?;
    for named in [true, false] {
        let kernel = program()?.kernel("behind")?;
        let memories = KINDS.map(|kind| Memory::new(unified, kind, 32 * 4));
        let memories = memories.into_iter().collect::<Result<Vec<_>, _>>()?;
        for memory in &memories {
            memory.write(&[100; 32])?;
        }
        let pointers: Vec<*mut c_void> = memories.iter().map(|memory| memory.pointer).collect();
        let list = Memory::new(unified, CL_MEM_TYPE_SHARED_INTEL, size_of_val(&pointers[..]))?;
        list.copy(list.pointer, pointers.as_ptr().cast(), size_of_val(&pointers[..]))?;
        let tell = |name, size, value: *const c_void| -> Outcome {
            // SAFETY: the value has the size.
            let code = unsafe { (api()?.clSetKernelExecInfo)(kernel.get(), name, size, value) };
            expect(code, CL_SUCCESS, "clSetKernelExecInfo")
        };
        if named {
            let size = size_of_val(&pointers[..]);
            tell(CL_KERNEL_EXEC_INFO_USM_PTRS_INTEL, size, pointers.as_ptr().cast())?;
        } else {
            for name in [
                CL_KERNEL_EXEC_INFO_INDIRECT_HOST_ACCESS_INTEL,
                CL_KERNEL_EXEC_INFO_INDIRECT_DEVICE_ACCESS_INTEL,
                CL_KERNEL_EXEC_INFO_INDIRECT_SHARED_ACCESS_INTEL,
            ] {
                tell(name, size_of_val(&CL_TRUE), (&raw const CL_TRUE_VALUE).cast())?;
            }
        }
        // SAFETY: a pointer of this test.
        let set = unsafe { (unified.clSetKernelArgMemPointerINTEL)(kernel.get(), 0, list.pointer) };
        expect(set, CL_SUCCESS, "clSetKernelArgMemPointerINTEL")?;
        launch(kernel.get(), 32)?;
        for (memory, added) in memories.iter().zip(1..) {
            same(&memory.read(32)?, &[100 + added; 32]).map_err(|error| format!("named {named}: {error}"))?;
        }
    }
    Ok(())
}

static CL_TRUE_VALUE: cl_uint = CL_TRUE;

/// A pointer in a structure that is passed by value to a kernel of SPIR-V with a required sub-group size, which is how
/// the arrays of OpenCL.jl reach their kernels.
fn by_value() -> Outcome {
    let unified = needed()?;
    let device = Gpu::get()?.device.id();
    let mut program = from_il(&add_to_array(16))?;
    build(&mut program)?;
    let kernel = Kernel::create(&program, "add").map_err(|error| error.to_string())?;
    let handle = kernel.get();
    let sub_group = ask!(clGetKernelSubGroupInfo, handle, device; 0, null());
    same(&[number(&sub_group, CL_KERNEL_COMPILE_SUB_GROUP_SIZE_INTEL)?], &[16])?;
    let allowed = [
        CL_KERNEL_EXEC_INFO_INDIRECT_HOST_ACCESS_INTEL,
        CL_KERNEL_EXEC_INFO_INDIRECT_DEVICE_ACCESS_INTEL,
        CL_KERNEL_EXEC_INFO_INDIRECT_SHARED_ACCESS_INTEL,
    ];
    for (kind, allowed) in KINDS.into_iter().zip(allowed) {
        let memory = Memory::new(unified, kind, 64 * 4)?;
        memory.write(&(0..64).collect::<Vec<_>>())?;
        let (number, array) = (7u32, (memory.pointer, 48u64));
        // SAFETY: values of these sizes.
        unsafe {
            let set = api()?.clSetKernelArg;
            expect(set(handle, 0, 4, (&raw const number).cast()), CL_SUCCESS, "clSetKernelArg")?;
            expect(set(handle, 1, 16, (&raw const array).cast()), CL_SUCCESS, "clSetKernelArg")?;
            let tell = api()?.clSetKernelExecInfo;
            let told = tell(handle, allowed, size_of_val(&CL_TRUE), (&raw const CL_TRUE_VALUE).cast());
            expect(told, CL_SUCCESS, "clSetKernelExecInfo")?;
            let list = [memory.pointer];
            let told =
                tell(handle, CL_KERNEL_EXEC_INFO_USM_PTRS_INTEL, size_of_val(&list), list.as_ptr().cast());
            expect(told, CL_SUCCESS, "clSetKernelExecInfo")?;
        }
        launch(handle, 64)?;
        let expected: Vec<i32> = (0..64).map(|i| if i < 48 { i + 7 } else { i }).collect();
        same(&memory.read(64)?, &expected).map_err(|error| format!("kind {kind:#x}: {error}"))?;
    }
    Ok(())
}

/// Fills, copies, and hints that do nothing; their events say what they are.
fn commands() -> Outcome {
    let unified = needed()?;
    let queue = Gpu::get()?.queue()?;
    let (first, second) = (
        Memory::new(unified, CL_MEM_TYPE_DEVICE_INTEL, 256)?,
        Memory::new(unified, CL_MEM_TYPE_HOST_INTEL, 256)?,
    );
    let kind = |event: cl_event| -> Result<u64, String> {
        let event = Event::new(event);
        event.wait().map_err(|error| error.to_string())?;
        let handle = event.get();
        number(&ask!(clGetEventInfo, handle), CL_EVENT_COMMAND_TYPE)
    };
    let mut event = null_mut();
    let pattern = [1i32, 2];
    // SAFETY: sizes are within the allocations, which outlive the commands: all are waited for.
    unsafe {
        let filled = (unified.clEnqueueMemFillINTEL)(
            queue.get(),
            first.pointer,
            pattern.as_ptr().cast(),
            8,
            256,
            0,
            null(),
            &mut event,
        );
        expect(filled, CL_SUCCESS, "clEnqueueMemFillINTEL")?;
        expect(kind(event)? as cl_int, CL_COMMAND_MEMFILL_INTEL as cl_int, "the kind of a fill")?;
        let copied = (unified.clEnqueueMemcpyINTEL)(
            queue.get(),
            CL_FALSE,
            second.pointer,
            first.pointer,
            256,
            0,
            null(),
            &mut event,
        );
        expect(copied, CL_SUCCESS, "clEnqueueMemcpyINTEL")?;
        expect(kind(event)? as cl_int, CL_COMMAND_MEMCPY_INTEL as cl_int, "the kind of a copy")?;
        let migrated =
            (unified.clEnqueueMigrateMemINTEL)(queue.get(), first.pointer, 256, 0, 0, null(), &mut event);
        expect(migrated, CL_SUCCESS, "clEnqueueMigrateMemINTEL")?;
        kind(event)?;
        let advised =
            (unified.clEnqueueMemAdviseINTEL)(queue.get(), first.pointer, 256, 0, 0, null(), &mut event);
        expect(advised, CL_SUCCESS, "clEnqueueMemAdviseINTEL")?;
        kind(event)?;
    }
    // SAFETY: host memory of this size that no command uses now.
    let found = unsafe { std::slice::from_raw_parts(second.pointer.cast::<i32>(), 64) };
    same(found, &[1, 2].repeat(32))
}

fn free() -> Outcome {
    let unified = needed()?;
    let gpu = Gpu::get()?;
    let context = gpu.context.get();
    for kind in KINDS {
        for blocking in [false, true] {
            let (pointer, code) = allocate(unified, kind, context, gpu.device.id(), None, 100, 64);
            expect(code, CL_SUCCESS, "an allocation")?;
            if !(pointer as usize).is_multiple_of(64) {
                return Err(format!("{pointer:?} is not aligned to 64 bytes"));
            }
            let function = if blocking { unified.clMemBlockingFreeINTEL } else { unified.clMemFreeINTEL };
            // SAFETY: the test's own.
            expect(unsafe { function(context, pointer) }, CL_SUCCESS, "freeing")?;
            // SAFETY: null is nothing.
            expect(unsafe { function(context, null_mut()) }, CL_SUCCESS, "freeing null")?;
            let ask = ask_about(unified, context, pointer);
            expect(
                number(&ask, CL_MEM_ALLOC_TYPE_INTEL)? as cl_int,
                CL_MEM_TYPE_UNKNOWN_INTEL as cl_int,
                "its type",
            )?;
        }
    }
    Ok(())
}

/// The blocking free returns after the commands that use the memory.
fn blocking_free() -> Outcome {
    let unified = needed()?;
    let gpu = Gpu::get()?;
    let (queue, context) = (gpu.queue()?, gpu.context.get());
    let (pointer, code) = allocate(unified, CL_MEM_TYPE_DEVICE_INTEL, context, gpu.device.id(), None, 256, 0);
    expect(code, CL_SUCCESS, "an allocation")?;
    let gate = Event::new(create_user_event(context).map_err(|code| code.to_string())?);
    let (waits, mut data) = ([gate.get()], vec![0u8; 256]);
    // SAFETY: the data outlive the command, which has ended when the free returns.
    let code = unsafe {
        (unified.clEnqueueMemcpyINTEL)(
            queue.get(),
            CL_FALSE,
            data.as_mut_ptr().cast(),
            pointer,
            256,
            1,
            waits.as_ptr(),
            null_mut(),
        )
    };
    expect(code, CL_SUCCESS, "clEnqueueMemcpyINTEL")?;
    queue.flush().map_err(|error| error.to_string())?;
    let opened = AtomicBool::new(false);
    let freed = std::thread::scope(|scope| {
        let (opened, gate) = (&opened, &gate);
        scope.spawn(move || {
            std::thread::sleep(Duration::from_millis(50));
            opened.store(true, Ordering::SeqCst);
            set_user_event_status(gate.get(), CL_COMPLETE)
        });
        // SAFETY: the test's own.
        let code = unsafe { (unified.clMemBlockingFreeINTEL)(context, pointer) };
        (code, opened.load(Ordering::SeqCst))
    });
    queue.finish().map_err(|error| error.to_string())?;
    expect(freed.0, CL_SUCCESS, "clMemBlockingFreeINTEL")?;
    if freed.1 { Ok(()) } else { Err("the memory was free before the command could begin".into()) }
}

fn refused() -> Outcome {
    let Some(unified) = unified()? else { return Err("the extension is missing".into()) };
    let gpu = Gpu::get()?;
    let (context, device, queue) = (gpu.context.get(), gpu.device.id(), gpu.queue()?);
    let flags = CL_MEM_ALLOC_FLAGS_INTEL;
    let placed = CL_MEM_ALLOC_INITIAL_PLACEMENT_DEVICE_INTEL;
    for kind in KINDS {
        let code = |context, properties: Option<&[u64]>, size, alignment| {
            allocate(unified, kind, context, device, properties, size, alignment).1
        };
        expect(code(null_mut(), None, 64, 0), CL_INVALID_CONTEXT, "no context")?;
        expect(code(context, None, 0, 0), CL_INVALID_BUFFER_SIZE, "no bytes")?;
        expect(code(context, None, usize::MAX / 2, 0), CL_INVALID_BUFFER_SIZE, "too many bytes")?;
        expect(code(context, None, 64, 48), CL_INVALID_VALUE, "an alignment that is no power of two")?;
        expect(code(context, None, 64, 4096), CL_INVALID_VALUE, "more than the alignment of a type")?;
        expect(code(context, Some(&[0x1234, 0, 0]), 64, 0), CL_INVALID_PROPERTY, "an unknown property")?;
        let location = [CL_MEM_ALLOC_BUFFER_LOCATION_INTEL, 0, 0];
        expect(
            code(context, Some(&location), 64, 0),
            CL_INVALID_PROPERTY,
            "a property of another extension",
        )?;
        expect(code(context, Some(&[flags, 1 << 40, 0]), 64, 0), CL_INVALID_PROPERTY, "unknown flags")?;
        expect(code(context, Some(&[flags, 0, flags, 0, 0]), 64, 0), CL_INVALID_PROPERTY, "flags twice")?;
        let both = placed | CL_MEM_ALLOC_INITIAL_PLACEMENT_HOST_INTEL;
        expect(code(context, Some(&[flags, both, 0]), 64, 0), CL_INVALID_PROPERTY, "two placements")?;
        if kind != CL_MEM_TYPE_SHARED_INTEL {
            expect(code(context, Some(&[flags, placed, 0]), 64, 0), CL_INVALID_PROPERTY, "a placement")?;
        }
    }
    let no_device = allocate(unified, CL_MEM_TYPE_DEVICE_INTEL, context, null_mut(), None, 64, 0).1;
    expect(no_device, CL_INVALID_DEVICE, "no device")?;
    let memory = Memory::new(unified, CL_MEM_TYPE_SHARED_INTEL, 256)?;
    let inside = memory.pointer.wrapping_byte_add(64);
    let kernel = program()?.kernel("add")?;
    let mut host = [0u8; 64];
    // SAFETY: nothing of this is done.
    unsafe {
        for function in [unified.clMemFreeINTEL, unified.clMemBlockingFreeINTEL] {
            expect(function(null_mut(), memory.pointer), CL_INVALID_CONTEXT, "freeing without a context")?;
            expect(function(context, inside), CL_INVALID_VALUE, "freeing what is within")?;
            expect(function(context, host.as_mut_ptr().cast()), CL_INVALID_VALUE, "freeing the host's own")?;
        }
        let set = unified.clSetKernelArgMemPointerINTEL;
        expect(set(kernel.get(), 7, memory.pointer), CL_INVALID_ARG_INDEX, "no such argument")?;
        expect(set(kernel.get(), 1, memory.pointer), CL_INVALID_ARG_VALUE, "a pointer for a value")?;
        expect(set(kernel.get(), 0, host.as_ptr().cast()), CL_INVALID_ARG_VALUE, "a pointer of the host's")?;
        let fill = |to, pattern: *const c_void, pattern_size, size| {
            (unified.clEnqueueMemFillINTEL)(
                queue.get(),
                to,
                pattern,
                pattern_size,
                size,
                0,
                null(),
                null_mut(),
            )
        };
        let pattern = host.as_ptr().cast::<c_void>();
        expect(fill(null_mut(), pattern, 4, 16), CL_INVALID_VALUE, "filling of nothing")?;
        expect(fill(memory.pointer, null(), 4, 16), CL_INVALID_VALUE, "no pattern")?;
        expect(fill(memory.pointer, pattern, 3, 15), CL_INVALID_VALUE, "a pattern of three bytes")?;
        expect(fill(memory.pointer, pattern, 8, 20), CL_INVALID_VALUE, "a part of a pattern")?;
        expect(fill(memory.pointer.wrapping_byte_add(4), pattern, 8, 16), CL_INVALID_VALUE, "not aligned")?;
        let copy = |to, from: *const c_void| {
            (unified.clEnqueueMemcpyINTEL)(queue.get(), CL_TRUE, to, from, 128, 0, null(), null_mut())
        };
        expect(copy(null_mut(), memory.pointer), CL_INVALID_VALUE, "a copy to nowhere")?;
        expect(copy(memory.pointer, null()), CL_INVALID_VALUE, "a copy of nothing")?;
        expect(copy(inside, memory.pointer), CL_MEM_COPY_OVERLAP, "a copy that overlaps")?;
        let migrate =
            (unified.clEnqueueMigrateMemINTEL)(queue.get(), inside, 4, 1 << 20, 0, null(), null_mut());
        expect(migrate, CL_INVALID_VALUE, "unknown migration")?;
        let advise = (unified.clEnqueueMemAdviseINTEL)(queue.get(), inside, 4, 77, 0, null(), null_mut());
        expect(advise, CL_INVALID_VALUE, "unknown advice")
    }
}
