//! Sizes that overflow, pointers that are not aligned or null.

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use gencl_utest::Outcome;
use opencl_sys::{
    CL_INVALID_BUFFER_SIZE, CL_INVALID_GLOBAL_OFFSET, CL_INVALID_HOST_PTR, CL_INVALID_VALUE,
    CL_INVALID_WORK_GROUP_SIZE, CL_INVALID_WORK_ITEM_SIZE, CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE,
    CL_MAP_READ, CL_MEM_READ_WRITE, CL_MEM_USE_HOST_PTR, CL_SUCCESS, CL_TRUE, cl_buffer_region, cl_event,
    cl_int,
};

use super::World;
use super::world::{SIZE, code, well};

const MAX: usize = usize::MAX;

pub fn ranges() -> Outcome {
    let world = World::new()?;
    let (api, queue, buffer) = (world.api, world.queue, world.buffer);
    let mut bytes = [0u8; 64];
    let to = bytes.as_mut_ptr().cast();
    let mut error = 0;
    // Offset and size of which the sum is too large, or more than a number can be.
    for (offset, size) in
        [(0, SIZE + 1), (SIZE, 1), (MAX, 1), (1, MAX), (MAX, MAX), (MAX - 3, 8), (MAX / 2 + 1, MAX / 2 + 1)]
    {
        let what = format!("{size} bytes from {offset} on");
        // SAFETY: what is out of bounds has to be refused before memory is touched.
        unsafe {
            let found =
                (api.clEnqueueReadBuffer)(queue, buffer, CL_TRUE, offset, size, to, 0, null(), null_mut());
            code(found, CL_INVALID_VALUE, &format!("clEnqueueReadBuffer, {what}"))?;
            let found =
                (api.clEnqueueWriteBuffer)(queue, buffer, CL_TRUE, offset, size, to, 0, null(), null_mut());
            code(found, CL_INVALID_VALUE, &format!("clEnqueueWriteBuffer, {what}"))?;
            let found =
                (api.clEnqueueCopyBuffer)(queue, buffer, buffer, offset, 0, size, 0, null(), null_mut());
            code(found, CL_INVALID_VALUE, &format!("clEnqueueCopyBuffer, {what}"))?;
            let found = (api.clEnqueueFillBuffer)(queue, buffer, to, 1, offset, size, 0, null(), null_mut());
            code(found, CL_INVALID_VALUE, &format!("clEnqueueFillBuffer, {what}"))?;
            let map = api.clEnqueueMapBuffer;
            let mapped =
                map(queue, buffer, CL_TRUE, CL_MAP_READ, offset, size, 0, null(), null_mut(), &mut error);
            code(error, CL_INVALID_VALUE, &format!("clEnqueueMapBuffer, {what}"))?;
            if !mapped.is_null() {
                return Err("an address beside an error".into());
            }
            let region = cl_buffer_region { origin: offset & !0xfff, size };
            let part = (api.clCreateSubBuffer)(buffer, 0, 0x1220, (&raw const region).cast(), &mut error);
            if !part.is_null() || error == 0 {
                return Err(format!("clCreateSubBuffer, {what}: {error}"));
            }
        }
    }
    for size in [MAX, MAX - 4095, 1 << 62] {
        // SAFETY: no host pointer.
        unsafe { (api.clCreateBuffer)(world.context, CL_MEM_READ_WRITE, size, null_mut(), &mut error) };
        code(error, CL_INVALID_BUFFER_SIZE, &format!("a buffer of {size} bytes"))?;
    }
    world.works()
}

pub fn rectangles() -> Outcome {
    let world = World::new()?;
    let (api, queue, buffer) = (world.api, world.queue, world.buffer);
    let mut bytes = [0u8; 64];
    let to = bytes.as_mut_ptr().cast();
    let origins = [[MAX, 0, 0], [0, MAX, 0], [0, 0, MAX], [1, MAX / 2, MAX / 2]];
    let regions = [[MAX, 1, 1], [1, MAX, 1], [1, 1, MAX], [0, 1, 1], [1 << 32, 1 << 32, 2], [MAX, MAX, MAX]];
    let pitches = [(0, 0), (MAX, 0), (0, MAX), (MAX, MAX), (1 << 40, 1 << 62), (3, 5)];
    let zero = [0usize; 3];
    for (row, slice) in pitches {
        let cases = origins
            .iter()
            .map(|origin| (origin, &[1usize, 2, 2]))
            .chain(regions.iter().map(|region| (&zero, region)));
        for (origin, region) in cases {
            let what = format!("{region:?} at {origin:?}, pitches {row}, {slice}");
            let (at, zero, region) = (origin.as_ptr(), zero.as_ptr(), region.as_ptr());
            // SAFETY: what is out of bounds has to be refused before memory is touched.
            let codes = unsafe {
                [
                    (api.clEnqueueReadBufferRect)(
                        queue,
                        buffer,
                        CL_TRUE,
                        at,
                        zero,
                        region,
                        row,
                        slice,
                        0,
                        0,
                        to,
                        0,
                        null(),
                        null_mut(),
                    ),
                    (api.clEnqueueWriteBufferRect)(
                        queue,
                        buffer,
                        CL_TRUE,
                        at,
                        zero,
                        region,
                        row,
                        slice,
                        0,
                        0,
                        to,
                        0,
                        null(),
                        null_mut(),
                    ),
                    (api.clEnqueueCopyBufferRect)(
                        queue,
                        buffer,
                        buffer,
                        at,
                        zero,
                        region,
                        row,
                        slice,
                        row,
                        slice,
                        0,
                        null(),
                        null_mut(),
                    ),
                ]
            };
            if codes.iter().any(|found| *found >= 0) {
                return Err(format!("{what}: {codes:?}"));
            }
        }
    }
    world.works()
}

/// Local sizes with more work-items than numbers reach have very many sub-groups.
pub fn sub_group_counts() -> Outcome {
    let world = World::new()?;
    for local in [[1 << 62, 4, 1], [1 << 32, 1 << 32, 1], [MAX; 3]] {
        let (mut count, bytes) = (0usize, size_of_val(&local));
        let (input, to, room): (_, *mut c_void, _) =
            (local.as_ptr().cast(), (&raw mut count).cast(), size_of::<usize>());
        let (ask, name) = (world.api.clGetKernelSubGroupInfo, CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE);
        // SAFETY: three numbers, and room for one.
        let found = unsafe { ask(world.kernel, world.device, name, bytes, input, room, to, null_mut()) };
        code(found, CL_SUCCESS, &format!("{local:?}"))?;
        if count < 1 << 56 {
            return Err(format!("{local:?} has {count} sub-groups"));
        }
    }
    world.works()
}

pub fn index_spaces() -> Outcome {
    let world = World::new()?;
    let launch = |dimensions: u32, offset: &[usize; 3], global: &[usize; 3], local: Option<&[usize; 3]>| {
        let local = local.map_or(null(), |local| local.as_ptr());
        let (offset, global) = (offset.as_ptr(), global.as_ptr());
        let call = world.api.clEnqueueNDRangeKernel;
        // SAFETY: three numbers each.
        unsafe { call(world.queue, world.kernel, dimensions, offset, global, local, 0, null(), null_mut()) }
    };
    let (none, one) = ([0; 3], [1; 3]);
    code(launch(1, &[MAX, 0, 0], &one, None), CL_INVALID_GLOBAL_OFFSET, "the offset")?;
    for local in [[MAX, 1, 1], [1 << 32, 1, 1], [1 << 31, 1 << 31, 4]] {
        code(launch(3, &none, &one, Some(&local)), CL_INVALID_WORK_ITEM_SIZE, &format!("{local:?}"))?;
    }
    code(launch(3, &none, &one, Some(&[0, 1, 1])), CL_INVALID_WORK_GROUP_SIZE, "a group of nothing")?;
    code(launch(3, &none, &[256; 3], Some(&[256; 3])), CL_INVALID_WORK_GROUP_SIZE, "a cube")?;
    for global in [[MAX, MAX, MAX], [MAX, 1, 1], [1, 1, MAX]] {
        let found = launch(3, &none, &global, None);
        if found >= 0 {
            return Err(format!("{global:?}: {found}"));
        }
    }
    for dimensions in [0, 4, u32::MAX] {
        code(launch(dimensions, &none, &one, None), -53, "dimensions")?;
    }
    world.works()
}

/// Pointers of the application need no alignment: for bytes that are copied, numbers that are read or
/// written, handles.
pub fn unaligned() -> Outcome {
    let world = World::new()?;
    let (api, queue, buffer) = (world.api, world.queue, world.buffer);
    let mut memory = [0u8; 256];
    let odd = memory.as_mut_ptr().wrapping_add(1);
    // SAFETY: everything is within the array, and lives until the calls have returned or the commands have
    // been waited for.
    unsafe {
        odd.copy_from([7u8, 0, 0, 0].as_ptr(), 4);
        let found =
            (api.clEnqueueWriteBuffer)(queue, buffer, CL_TRUE, 0, 4, odd.cast(), 0, null(), null_mut());
        well(found, "a write from an odd address")?;
        let to = odd.add(16);
        let found = (api.clEnqueueReadBuffer)(queue, buffer, CL_TRUE, 0, 4, to.cast(), 0, null(), null_mut());
        well(found, "a read to an odd address")?;
        if to.read() != 7 {
            return Err("the bytes did not arrive".into());
        }
        // Sizes, a wait list, the event and an error code.
        let size = odd.add(32).cast::<usize>();
        size.write_unaligned(1);
        let list = odd.add(48).cast::<cl_event>();
        list.write_unaligned(world.event);
        let event = odd.add(64).cast::<cl_event>();
        let launch = api.clEnqueueNDRangeKernel;
        well(launch(queue, world.kernel, 1, null(), size, size, 1, list, event), "a launch")?;
        well((api.clWaitForEvents)(1, event), "clWaitForEvents")?;
        well((api.clReleaseEvent)(event.read_unaligned()), "clReleaseEvent")?;
        let error = odd.add(80).cast::<cl_int>();
        let made = (api.clCreateBuffer)(world.context, CL_MEM_USE_HOST_PTR, 100, odd.add(100).cast(), error);
        well(error.read_unaligned(), "a buffer at an odd address")?;
        let pattern = [3u8, 4];
        let fill =
            (api.clEnqueueFillBuffer)(queue, made, pattern.as_ptr().cast(), 2, 0, 100, 0, null(), null_mut());
        well(fill, "clEnqueueFillBuffer")?;
        let map = api.clEnqueueMapBuffer;
        let mapped = map(queue, made, CL_TRUE, CL_MAP_READ, 2, 10, 0, null(), null_mut(), error);
        if mapped != odd.add(102).cast() || odd.add(102).read() != 3 {
            return Err("the mapping is elsewhere, or has something else".into());
        }
        well((api.clEnqueueUnmapMemObject)(queue, made, mapped, 0, null(), null_mut()), "unmap")?;
        world.finish()?;
        well((api.clReleaseMemObject)(made), "clReleaseMemObject")?;
        let info = odd.add(90).cast();
        well((api.clGetMemObjectInfo)(buffer, 0x1102, 8, info, null_mut()), "clGetMemObjectInfo")?;
    }
    world.works()
}

pub fn null_pointers() -> Outcome {
    let world = World::new()?;
    let (api, queue, buffer) = (world.api, world.queue, world.buffer);
    let mut error = 0;
    // SAFETY: null is what has to be refused, or ignored.
    unsafe {
        let read = api.clEnqueueReadBuffer;
        let found = read(queue, buffer, CL_TRUE, 0, 4, null_mut(), 0, null(), null_mut());
        code(found, CL_INVALID_VALUE, "clEnqueueReadBuffer to null")?;
        let found = (api.clEnqueueFillBuffer)(queue, buffer, null(), 4, 0, 4, 0, null(), null_mut());
        code(found, CL_INVALID_VALUE, "clEnqueueFillBuffer of null")?;
        (api.clCreateBuffer)(world.context, CL_MEM_USE_HOST_PTR, 64, null_mut(), &mut error);
        code(error, CL_INVALID_HOST_PTR, "CL_MEM_USE_HOST_PTR of null")?;
        let rect = api.clEnqueueReadBufferRect;
        let found = rect(
            queue,
            buffer,
            CL_TRUE,
            null(),
            null(),
            null(),
            0,
            0,
            0,
            0,
            null_mut(),
            0,
            null(),
            null_mut(),
        );
        code(found, CL_INVALID_VALUE, "clEnqueueReadBufferRect of null")?;
        (api.clCreateKernel)(world.program, null(), &mut error);
        code(error, CL_INVALID_VALUE, "clCreateKernel of null")?;
        (api.clCreateProgramWithSource)(world.context, 1, null_mut(), null(), &mut error);
        code(error, CL_INVALID_VALUE, "clCreateProgramWithSource of null")?;
        code((api.clWaitForEvents)(1, null()), CL_INVALID_VALUE, "clWaitForEvents of null")?;
        code((api.clSetEventCallback)(world.event, 0, None, null_mut()), CL_INVALID_VALUE, "no callback")?;
        // Error codes that are not requested.
        let kernel = (api.clCreateKernel)(world.program, c"none".as_ptr(), null_mut());
        if !kernel.is_null() {
            return Err("a kernel that there is not".into());
        }
    }
    world.works()
}

pub fn unmap() -> Outcome {
    let world = World::new()?;
    let (api, queue, buffer) = (world.api, world.queue, world.buffer);
    let mut error = 0;
    // SAFETY: mapped memory is not touched.
    unsafe {
        let map = api.clEnqueueMapBuffer;
        let mapped = map(queue, buffer, CL_TRUE, CL_MAP_READ, 0, 64, 0, null(), null_mut(), &mut error);
        well(error, "clEnqueueMapBuffer")?;
        let unmap = |pointer| (api.clEnqueueUnmapMemObject)(queue, buffer, pointer, 0, null(), null_mut());
        code(unmap(null_mut()), CL_INVALID_VALUE, "null")?;
        code(unmap(mapped.wrapping_byte_add(1)), CL_INVALID_VALUE, "another address")?;
        well(unmap(mapped), "clEnqueueUnmapMemObject")?;
        code(unmap(mapped), CL_INVALID_VALUE, "a second time")?;
        // A buffer that is released while it is mapped.
        let other = (api.clCreateBuffer)(world.context, CL_MEM_READ_WRITE, SIZE, null_mut(), &mut error);
        let mapped = map(queue, other, CL_TRUE, CL_MAP_READ, 0, 64, 0, null(), null_mut(), &mut error);
        well(error, "clEnqueueMapBuffer")?;
        well((api.clReleaseMemObject)(other), "clReleaseMemObject")?;
        let found = (api.clEnqueueUnmapMemObject)(queue, other, mapped, 0, null(), null_mut());
        code(found, -38, "unmapping what was released")?;
    }
    world.works()
}

/// An event may be in a list as often as one likes.
pub fn event_twice() -> Outcome {
    let world = World::new()?;
    let api = world.api;
    let list = [world.user; 100];
    let mut event = null_mut();
    // SAFETY: a hundred events.
    unsafe {
        let marker = api.clEnqueueMarkerWithWaitList;
        well(marker(world.queue, 100, list.as_ptr(), &mut event), "clEnqueueMarkerWithWaitList")?;
        well((api.clSetUserEventStatus)(world.user, 0), "clSetUserEventStatus")?;
        well((api.clWaitForEvents)(100, list.as_ptr()), "clWaitForEvents")?;
        well((api.clWaitForEvents)(1, &event), "clWaitForEvents")?;
        well((api.clReleaseEvent)(event), "clReleaseEvent")?;
    }
    world.works()
}
