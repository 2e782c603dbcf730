//! Memory objects: all devices see the same bytes.

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use gencl_utest::raw::{api, unified};
use gencl_utest::{Case, Outcome};
use opencl_sys::{
    CL_BUFFER_CREATE_TYPE_REGION, CL_COMMAND_MIGRATE_MEM_OBJECTS, CL_EVENT_COMMAND_TYPE,
    CL_INVALID_OPERATION, CL_INVALID_VALUE, CL_MAP_READ, CL_MAP_WRITE, CL_MEM_ALLOC_DEVICE_INTEL,
    CL_MEM_COPY_HOST_PTR, CL_MEM_COPY_OVERLAP, CL_MEM_OBJECT_IMAGE2D, CL_MEM_READ_WRITE, CL_MEM_USE_HOST_PTR,
    CL_MEM_USES_SVM_POINTER, CL_MIGRATE_MEM_OBJECT_HOST, CL_RGBA, CL_SUCCESS, CL_TRUE, CL_UNSIGNED_INT8,
    cl_buffer_region, cl_image_desc, cl_image_format,
};
use opencl3::command_queue::{
    enqueue_copy_buffer, enqueue_map_buffer, enqueue_migrate_mem_object, enqueue_svm_mem_cpy,
    enqueue_unmap_mem_object,
};
use opencl3::event::get_event_info;
use opencl3::kernel::{create_kernel, set_kernel_arg_svm_pointer};
use opencl3::memory::{create_buffer, create_sub_buffer, get_mem_object_info, svm_alloc, svm_free};
use opencl3::types::{CL_BLOCKING, CL_NON_BLOCKING, cl_event, cl_int, cl_kernel, cl_mem};

use super::{MIXED, TWINS, WIDE, World, done, equal, refused, several, wait};

pub fn cases() -> Vec<Case> {
    vec![
        several("several_devices_buffers", &[WIDE, MIXED, TWINS], buffers),
        several("several_devices_sub_buffers", &[WIDE, MIXED], sub_buffers),
        several("several_devices_host_memory", &[WIDE, MIXED], host_memory),
        several("several_devices_maps", &[WIDE, MIXED], maps),
        several("several_devices_migrate", &[WIDE, MIXED], migrate),
        several("several_devices_images", &[WIDE, MIXED], images),
        several("several_devices_shared", &[WIDE, TWINS], shared),
        several("several_devices_shared_some", &[MIXED], shared_some),
        several("several_devices_unified", &[WIDE], unified_memory),
        several("several_devices_unified_some", &[MIXED], unified_some),
    ]
}

/// Makes `3 x + id` of each number.
const STEP: &str = "kernel void step(global uint *all) {
    all[get_global_id(0)] = all[get_global_id(0)] * 3 + get_global_id(0);
}";

fn stepped(all: &[u32]) -> Vec<u32> {
    (0..).zip(all).map(|(id, x): (u32, _)| x.wrapping_mul(3).wrapping_add(id)).collect()
}

fn step(world: &World) -> Result<cl_kernel, String> {
    done("clCreateKernel", create_kernel(world.built(STEP)?, c"step"))
}

/// A buffer goes from device to device, ordered by events.
fn buffers(world: &World) -> Outcome {
    let kernel = step(world)?;
    for words in [5, 1024, 300_000] {
        let mut expected: Vec<u32> = (0..words).collect();
        let buffer = world.buffer(&expected)?;
        let mut last: Vec<cl_event> = Vec::new();
        for round in 0..6 {
            let event = world.launch(round % 2, kernel, &[buffer], words as usize, &last)?;
            (last, expected) = (vec![event], stepped(&expected));
        }
        wait(last[0])?;
        for device in [0, 1] {
            equal("buffer", world.read(device, buffer, words as usize)?, expected.clone())?;
        }
        // By one device's queue to another buffer, which the other reads.
        let copy = world.buffer(&vec![0; words as usize])?;
        let size = 4 * words as usize;
        // SAFETY: both have that many bytes.
        let event = unsafe { enqueue_copy_buffer(world.queues[1], buffer, copy, 0, 0, size, 0, null()) };
        wait(done("clEnqueueCopyBuffer", event)?)?;
        equal("copy", world.read(0, copy, words as usize)?, expected)?;
    }
    Ok(())
}

/// Parts of a buffer on different devices at the same time.
fn sub_buffers(world: &World) -> Outcome {
    let kernel = step(world)?;
    let whole: Vec<u32> = (0..2048).collect();
    let buffer = world.buffer(&whole)?;
    let part = |origin| {
        let region = cl_buffer_region { origin, size: 4096 };
        let (kind, region) = (CL_BUFFER_CREATE_TYPE_REGION, (&raw const region).cast());
        // SAFETY: the region is read during the call.
        done("clCreateSubBuffer", unsafe { create_sub_buffer(buffer, CL_MEM_READ_WRITE, kind, region) })
    };
    let parts = [part(0)?, part(4096)?];
    let events =
        [world.launch(0, kernel, &[parts[0]], 1024, &[])?, world.launch(1, kernel, &[parts[1]], 1024, &[])?];
    events.into_iter().try_for_each(wait)?;
    let expected = [stepped(&whole[..1024]), stepped(&whole[1024..])].concat();
    equal("buffer", world.read(0, buffer, 2048)?, expected)?;
    // SAFETY: a refused call does nothing.
    let overlap = unsafe { enqueue_copy_buffer(world.queues[1], parts[1], buffer, 0, 4000, 512, 0, null()) };
    refused("a copy onto itself", overlap, CL_MEM_COPY_OVERLAP)
}

/// Memory with the alignment of pages.
#[repr(align(4096))]
struct Pages([u32; 2048]);

fn map(
    world: &World,
    device: usize,
    buffer: cl_mem,
    flags: u64,
    words: usize,
) -> Result<*mut c_void, String> {
    let (queue, mut pointer, size) = (world.queues[device], null_mut(), 4 * words);
    // SAFETY: the call blocks.
    let event =
        unsafe { enqueue_map_buffer(queue, buffer, CL_BLOCKING, flags, 0, size, &mut pointer, 0, null()) };
    done("clEnqueueMapBuffer", event)?;
    Ok(pointer)
}

fn unmap(world: &World, device: usize, buffer: cl_mem, pointer: *mut c_void) -> Outcome {
    // SAFETY: what is not mapped is refused.
    let event = unsafe { enqueue_unmap_mem_object(world.queues[device], buffer, pointer, 0, null()) };
    wait(done("clEnqueueUnmapMemObject", event)?)
}

/// The application's own memory: whole pages, which devices use as they are, and others.
fn host_memory(world: &World) -> Outcome {
    let kernel = step(world)?;
    let mut pages = Box::new(Pages(std::array::from_fn(|index| index as u32)));
    for skipped in [0, 1] {
        let words = 2048 - skipped;
        let memory = &raw mut pages.0;
        let pointer = memory.cast::<u32>().wrapping_add(skipped);
        // SAFETY: the memory outlives the buffer's use.
        let buffer = unsafe { create_buffer(world.context, CL_MEM_USE_HOST_PTR, 4 * words, pointer.cast()) };
        let buffer = done("clCreateBuffer", buffer)?;
        // SAFETY: no command runs.
        let before: Vec<u32> = (0..words).map(|index| unsafe { pointer.add(index).read() }).collect();
        wait(world.launch(0, kernel, &[buffer], words, &[])?)?;
        wait(world.launch(1, kernel, &[buffer], words, &[])?)?;
        let mapped = map(world, 0, buffer, CL_MAP_READ, words)?;
        equal("where it is mapped", mapped, pointer.cast())?;
        // SAFETY: it is mapped.
        let after: Vec<u32> = (0..words).map(|index| unsafe { pointer.add(index).read() }).collect();
        equal("host memory", after, stepped(&stepped(&before)))?;
        unmap(world, 1, buffer, mapped)?;
    }
    Ok(())
}

/// Mapped by one device's queue, given back by the other's.
fn maps(world: &World) -> Outcome {
    let kernel = step(world)?;
    let buffer = world.buffer(&[0; 100])?;
    let pointer = map(world, 0, buffer, CL_MAP_WRITE, 100)?.cast::<u32>();
    for index in 0..100 {
        // SAFETY: it is mapped.
        unsafe { pointer.add(index).write(7 * index as u32) };
    }
    unmap(world, 1, buffer, pointer.cast())?;
    wait(world.launch(1, kernel, &[buffer], 100, &[])?)?;
    let expected = stepped(&(0..100).map(|index| 7 * index).collect::<Vec<_>>());
    equal("buffer", world.read(0, buffer, 100)?, expected)
}

fn migrate(world: &World) -> Outcome {
    let kernel = step(world)?;
    let mut expected: Vec<u32> = (0..64).collect();
    let buffers = [world.buffer(&expected)?, world.buffer(&expected)?];
    let migrate = |device: usize, flags: u64, waits: &[cl_event]| {
        let (queue, list) = (world.queues[device], if waits.is_empty() { null() } else { waits.as_ptr() });
        // SAFETY: both lists have as many elements as is said.
        unsafe { enqueue_migrate_mem_object(queue, 2, buffers.as_ptr(), flags, waits.len() as u32, list) }
    };
    for flags in [0, CL_MIGRATE_MEM_OBJECT_HOST] {
        let launched = world.launch(0, kernel, &buffers[..1], 64, &[])?;
        let migrated = done("clEnqueueMigrateMemObjects", migrate(1, flags, &[launched]))?;
        let kind: u32 = done("type", get_event_info(migrated, CL_EVENT_COMMAND_TYPE))?.into();
        equal("CL_EVENT_COMMAND_TYPE", kind, CL_COMMAND_MIGRATE_MEM_OBJECTS)?;
        wait(world.launch(1, kernel, &buffers[..1], 64, &[migrated])?)?;
        expected = stepped(&stepped(&expected));
        equal("buffer", world.read(1, buffers[0], 64)?, expected.clone())?;
    }
    refused("other flags", migrate(1, 1 << 5, &[]), CL_INVALID_VALUE)
}

/// Images are written by one device's queue and read by the other's.
fn images(world: &World) -> Outcome {
    let format = cl_image_format { image_channel_order: CL_RGBA, image_channel_data_type: CL_UNSIGNED_INT8 };
    // SAFETY: zeros are valid in all its fields.
    let zeros: cl_image_desc = unsafe { std::mem::zeroed() };
    let descriptor =
        cl_image_desc { image_type: CL_MEM_OBJECT_IMAGE2D, image_width: 32, image_height: 8, ..zeros };
    let (mut code, flags) = (CL_SUCCESS, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR);
    let texels: Vec<u32> = (0..256).map(|index| index * 0x0103_0507).collect();
    let (pointer, mut read) = (texels.as_ptr().cast_mut().cast(), vec![0u32; 256]);
    let (origin, region, api) = ([0; 3], [32, 8, 1], api()?);
    // SAFETY: the texels are copied during the call.
    let image = unsafe {
        (api.clCreateImage)(
            world.context,
            flags,
            &raw const format,
            &raw const descriptor,
            pointer,
            &raw mut code,
        )
    };
    done("clCreateImage", if code == CL_SUCCESS { Ok(()) } else { Err(code) })?;
    let color = [1u32, 2, 3, 4];
    let (corner, part) = ([4, 2, 0], [2, 1, 1]);
    // SAFETY: the lists have three elements, the color four; reading blocks.
    let codes = unsafe {
        let mut event = null_mut();
        let fill = (api.clEnqueueFillImage)(
            world.queues[0],
            image,
            color.as_ptr().cast(),
            corner.as_ptr(),
            part.as_ptr(),
            0,
            null(),
            &raw mut event,
        );
        let read = (api.clEnqueueReadImage)(
            world.queues[1],
            image,
            CL_TRUE,
            origin.as_ptr(),
            region.as_ptr(),
            0,
            0,
            read.as_mut_ptr().cast(),
            1,
            &raw const event,
            null_mut(),
        );
        [fill, read]
    };
    equal("commands on images", codes, [CL_SUCCESS; 2])?;
    let mut expected = texels;
    expected[68..70].fill(0x0403_0201);
    equal("texels", read, expected)
}

const LIST: &str = "
    typedef struct Node { global struct Node *next; ulong value; } Node;
    kernel void link(global Node *nodes, uint count) {
        uint id = get_global_id(0);
        nodes[id].next = id + 1 < count ? &nodes[id + 1] : 0;
        nodes[id].value = id + 1;
    }
    kernel void sum(global Node *nodes) {
        ulong sum = 0;
        for (global Node *node = nodes; node; node = node->next) sum += node->value;
        nodes->value = sum;
    }";

fn set_pointer(kernel: cl_kernel, pointer: *const c_void) -> Result<(), cl_int> {
    // SAFETY: the driver says whether the pointer is one of its own.
    unsafe { set_kernel_arg_svm_pointer(kernel, 0, pointer) }
}

/// A list that one device links, and the other and the host walk through.
fn walk_list(world: &World, nodes: *mut u64) -> Outcome {
    const COUNT: u32 = 100;
    let program = world.built(LIST)?;
    let kernels = [c"link", c"sum"].map(|name| done("clCreateKernel", create_kernel(program, name)));
    let [link, sum] = kernels;
    let (link, sum) = (link?, sum?);
    for (linking, summing) in [(0, 1), (1, 0)] {
        done("clSetKernelArgSVMPointer", set_pointer(link, nodes.cast()))?;
        done("clSetKernelArgSVMPointer", set_pointer(sum, nodes.cast()))?;
        let count = std::ptr::from_ref(&COUNT).cast();
        // SAFETY: a number is there.
        done("clSetKernelArg", unsafe { opencl3::kernel::set_kernel_arg(link, 1, 4, count) })?;
        let linked = done("launch", world.enqueue(linking, link, COUNT as usize, &[]))?;
        wait(done("launch", world.enqueue(summing, sum, 1, &[linked]))?)?;
        // SAFETY: the list has two words for each node, and no command runs.
        let [next, value] = unsafe { [nodes.read(), nodes.add(1).read()] };
        equal("the host's pointer", next, nodes as u64 + 16)?;
        equal("sum", value, 5050)?;
    }
    Ok(())
}

fn shared(world: &World) -> Outcome {
    // SAFETY: the context is alive.
    let nodes = unsafe { svm_alloc(world.context, CL_MEM_READ_WRITE, 1600, 0) };
    let nodes = done("clSVMAlloc", nodes)?;
    walk_list(world, nodes.cast())?;
    // A buffer that is made of it is at the same place on all devices.
    // SAFETY: the memory outlives the buffer's use.
    let buffer = unsafe { create_buffer(world.context, CL_MEM_USE_HOST_PTR, 1600, nodes) };
    let buffer = done("clCreateBuffer", buffer)?;
    let place = world.built("kernel void place(global uint *a, global ulong *out) { *out = (ulong)a; }")?;
    let place = done("clCreateKernel", create_kernel(place, c"place"))?;
    for device in [0, 1] {
        let out = world.buffer(&[0; 2])?;
        wait(world.launch(device, place, &[buffer, out], 1, &[])?)?;
        let words = world.read(device, out, 2)?;
        equal("address", u64::from(words[0]) | u64::from(words[1]) << 32, nodes as u64)?;
    }
    // SAFETY: nothing uses it any more.
    done("clSVMFree", unsafe { svm_free(world.context, nodes) })
}

/// Only the first device has shared virtual memory.
fn shared_some(world: &World) -> Outcome {
    // SAFETY: the context is alive.
    let memory = done("clSVMAlloc", unsafe { svm_alloc(world.context, CL_MEM_READ_WRITE, 400, 0) })?;
    let numbers = memory.cast::<u32>();
    for index in 0..100 {
        // SAFETY: within the allocation, and no command runs.
        unsafe { numbers.add(index).write(index as u32) };
    }
    let kernel = step(world)?;
    done("clSetKernelArgSVMPointer", set_pointer(kernel, memory))?;
    wait(done("launch", world.enqueue(0, kernel, 100, &[]))?)?;
    refused("a launch without", world.enqueue(1, kernel, 100, &[]), CL_INVALID_OPERATION)?;
    let copy = |device: usize| {
        let (queue, to) = (world.queues[device], numbers.wrapping_add(50).cast());
        // SAFETY: within the allocation.
        unsafe { enqueue_svm_mem_cpy(queue, CL_NON_BLOCKING, to, memory, 40, 0, null()) }
    };
    refused("a copy without", copy(1), CL_INVALID_OPERATION)?;
    let mut expected = stepped(&(0..100).collect::<Vec<_>>());
    wait(done("clEnqueueSVMMemcpy", copy(0))?)?;
    expected.copy_within(..10, 50);

    // As a buffer it is for all.
    // SAFETY: the memory outlives the buffer's use.
    let buffer = unsafe { create_buffer(world.context, CL_MEM_USE_HOST_PTR, 400, memory) };
    let buffer = done("clCreateBuffer", buffer)?;
    let uses: u32 = done("use", get_mem_object_info(buffer, CL_MEM_USES_SVM_POINTER))?.into();
    equal("CL_MEM_USES_SVM_POINTER", uses, CL_TRUE)?;
    for device in [1, 0] {
        wait(world.launch(device, kernel, &[buffer], 100, &[])?)?;
        expected = stepped(&expected);
    }
    // SAFETY: no command runs.
    let numbers: Vec<u32> = (0..100).map(|index| unsafe { numbers.add(index).read() }).collect();
    equal("numbers", numbers, expected)
}

/// Allocations of all kinds, for each device and for none.
fn unified_memory(world: &World) -> Outcome {
    let unified = unified()?.ok_or("there is no unified shared memory")?;
    let [a, b] = world.devices;
    for (device, by) in [(a, 0), (b, 0), (a, 1), (b, 1), (null_mut(), 1), (null_mut(), 2)] {
        let mut code = CL_SUCCESS;
        // SAFETY: the context is alive.
        let memory = unsafe {
            match by {
                0 => (unified.clDeviceMemAllocINTEL)(world.context, device, null(), 1600, 0, &raw mut code),
                1 => (unified.clSharedMemAllocINTEL)(world.context, device, null(), 1600, 0, &raw mut code),
                _ => (unified.clHostMemAllocINTEL)(world.context, null(), 1600, 0, &raw mut code),
            }
        };
        done("an allocation", if code == CL_SUCCESS { Ok(()) } else { Err(code) })?;
        let mut own = null_mut::<c_void>();
        // SAFETY: there is room for a handle.
        let code = unsafe {
            (unified.clGetMemAllocInfoINTEL)(
                world.context,
                memory,
                CL_MEM_ALLOC_DEVICE_INTEL,
                size_of_val(&own),
                (&raw mut own).cast(),
                null_mut(),
            )
        };
        equal("clGetMemAllocInfoINTEL", code, CL_SUCCESS)?;
        equal("CL_MEM_ALLOC_DEVICE_INTEL", own, device)?;
        walk_list(world, memory.cast())?;
        // SAFETY: it is not used any more.
        equal("clMemFreeINTEL", unsafe { (unified.clMemFreeINTEL)(world.context, memory) }, CL_SUCCESS)?;
    }
    Ok(())
}

/// No memory for a device that does not know it by the host's address.
fn unified_some(world: &World) -> Outcome {
    let unified = unified()?.ok_or("there is no unified shared memory")?;
    for (device, expected) in [(0, CL_SUCCESS), (1, CL_INVALID_OPERATION)] {
        let mut code = CL_SUCCESS;
        // SAFETY: the context is alive.
        unsafe {
            let device = world.devices[device];
            (unified.clDeviceMemAllocINTEL)(world.context, device, null(), 64, 0, &raw mut code)
        };
        equal("clDeviceMemAllocINTEL", code, expected)?;
    }
    Ok(())
}
