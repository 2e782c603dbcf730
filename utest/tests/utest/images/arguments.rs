//! Images and samplers as arguments of kernels that do nothing with them.

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use gencl_utest::raw::api;
use gencl_utest::{Gpu, Outcome};
use opencl_sys::{
    CL_ADDRESS_CLAMP, CL_FILTER_NEAREST, CL_INVALID_ARG_SIZE, CL_INVALID_ARG_VALUE, CL_INVALID_MEM_OBJECT,
    CL_INVALID_SAMPLER, CL_KERNEL_ARG_ACCESS_QUALIFIER, CL_KERNEL_ARG_ACCESS_READ_ONLY,
    CL_KERNEL_ARG_ACCESS_WRITE_ONLY, CL_KERNEL_ARG_ADDRESS_GLOBAL, CL_KERNEL_ARG_ADDRESS_QUALIFIER,
    CL_KERNEL_ARG_TYPE_NAME, CL_MEM_OBJECT_IMAGE1D, CL_MEM_OBJECT_IMAGE2D, CL_MEM_WRITE_ONLY, CL_SUCCESS,
    CL_TRUE, cl_int, cl_kernel, cl_mem, cl_sampler,
};
use opencl3::memory::ClMem;

use super::image::{Image, RGBA, TEXEL, descriptor};
use crate::information::{ask, expect, number, text};
use crate::memory::same;

const SOURCE: &str =
    "kernel void k(read_only image2d_t in, write_only image1d_t out, sampler_t s, global int *p, int v) {
    p[get_global_id(0)] = v; }";

/// The same with other names of the types.
const NAMED: &str = "typedef read_only image2d_t picture; typedef sampler_t reader;
    kernel void k(picture in, write_only image1d_t out, reader s, global int *p, int v) {
    p[get_global_id(0)] = v; }";

fn set<T>(kernel: cl_kernel, index: u32, size: usize, value: *const T) -> Result<cl_int, String> {
    // SAFETY: the value has the size, or is null.
    Ok(unsafe { (api()?.clSetKernelArg)(kernel, index, size, value.cast::<c_void>()) })
}

fn set_handle(kernel: cl_kernel, index: u32, handle: *mut c_void) -> Result<cl_int, String> {
    set(kernel, index, size_of::<cl_mem>(), &handle)
}

fn sampler() -> Result<cl_sampler, String> {
    let (api, context, mut code) = (api()?, Gpu::get()?.context.get(), 1);
    // SAFETY: a live context.
    let sampler =
        unsafe { (api.clCreateSampler)(context, CL_TRUE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST, &mut code) };
    expect(code, CL_SUCCESS, "clCreateSampler")?;
    Ok(sampler)
}

/// What the kernel says of them, and a launch that has them.
pub fn set_and_launch() -> Outcome {
    let (api, gpu) = (api()?, Gpu::get()?);
    let kernel = gpu.build_unchecked(SOURCE, "-cl-kernel-arg-info")?.kernel("k")?;
    let handle = kernel.get();
    let expected = [
        ("image2d_t", CL_KERNEL_ARG_ACCESS_READ_ONLY),
        ("image1d_t", CL_KERNEL_ARG_ACCESS_WRITE_ONLY),
        ("sampler_t", opencl_sys::CL_KERNEL_ARG_ACCESS_NONE),
    ];
    for (index, expected) in (0u32..).zip(expected) {
        let ask = ask!(clGetKernelArgInfo, handle, index);
        let found =
            (text(&ask, CL_KERNEL_ARG_TYPE_NAME)?, number(&ask, CL_KERNEL_ARG_ACCESS_QUALIFIER)? as u32);
        if (found.0.as_str(), found.1) != expected {
            return Err(format!("argument {index}: {found:x?}, expected {expected:x?}"));
        }
    }
    let space = number(&ask!(clGetKernelArgInfo, handle, 0), CL_KERNEL_ARG_ADDRESS_QUALIFIER)? as u32;
    expect(space as cl_int, CL_KERNEL_ARG_ADDRESS_GLOBAL as cl_int, "the address space of an image")?;
    let flat = Image::new(CL_MEM_OBJECT_IMAGE2D, [8, 4, 1])?;
    let line = Image::new(CL_MEM_OBJECT_IMAGE1D, [8, 1, 1])?;
    let (sampler, buffer) = (sampler()?, gpu.buffer(&[0i32; 16])?);
    expect(set_handle(handle, 0, flat.handle)?, CL_SUCCESS, "an image to read")?;
    expect(set_handle(handle, 1, line.handle)?, CL_SUCCESS, "an image to write")?;
    expect(set_handle(handle, 2, sampler)?, CL_SUCCESS, "a sampler")?;
    expect(set_handle(handle, 3, buffer.memory().get())?, CL_SUCCESS, "a buffer")?;
    expect(set(handle, 4, 4, &42i32)?, CL_SUCCESS, "a value")?;
    let (queue, sixteen) = (gpu.queue()?, [16usize]);
    // SAFETY: one dimension, and all objects are alive until the queue has finished.
    let launched = unsafe { queue.enqueue_nd_range_kernel(handle, 1, null(), sixteen.as_ptr(), null(), &[]) };
    launched.map_err(|error| format!("clEnqueueNDRangeKernel: {error}"))?;
    queue.finish().map_err(|error| error.to_string())?;
    let result = buffer.read();
    // SAFETY: the test's own.
    expect(unsafe { (api.clReleaseSampler)(sampler) }, CL_SUCCESS, "clReleaseSampler")?;
    same(&result?, &[42; 16])
}

pub fn refused() -> Outcome {
    for source in [SOURCE, NAMED] {
        refused_by(source)?;
    }
    Ok(())
}

fn refused_by(source: &str) -> Outcome {
    let gpu = Gpu::get()?;
    let kernel = gpu.build_unchecked(source, "")?.kernel("k")?;
    let handle = kernel.get();
    let flat = Image::new(CL_MEM_OBJECT_IMAGE2D, [8, 4, 1])?;
    let line = Image::new(CL_MEM_OBJECT_IMAGE1D, [8, 1, 1])?;
    let given = descriptor(CL_MEM_OBJECT_IMAGE2D, [8, 4, 1]);
    let written = Image::create(CL_MEM_WRITE_ONLY, &RGBA, &given, null_mut())?;
    let written = Image { handle: written, sides: [8, 4, 1], texel: TEXEL };
    let buffer = gpu.buffer(&[0i32; 16])?;
    let memory = buffer.memory().get();
    expect(set_handle(handle, 0, memory)?, CL_INVALID_MEM_OBJECT, "a buffer for an image")?;
    expect(set_handle(handle, 0, null_mut())?, CL_INVALID_MEM_OBJECT, "null for an image")?;
    expect(set(handle, 0, 8, null::<u8>())?, CL_INVALID_MEM_OBJECT, "no image")?;
    expect(set(handle, 0, 4, &flat.handle)?, CL_INVALID_ARG_SIZE, "half an image")?;
    expect(set_handle(handle, 0, line.handle)?, CL_INVALID_MEM_OBJECT, "a line for a plane")?;
    expect(set_handle(handle, 0, written.handle)?, CL_INVALID_ARG_VALUE, "an image that is only written")?;
    expect(set_handle(handle, 3, flat.handle)?, CL_INVALID_MEM_OBJECT, "an image for a buffer")?;
    expect(set_handle(handle, 2, memory)?, CL_INVALID_SAMPLER, "a buffer for a sampler")?;
    expect(set_handle(handle, 2, null_mut())?, CL_INVALID_SAMPLER, "null for a sampler")?;
    expect(set(handle, 2, 8, null::<u8>())?, CL_INVALID_SAMPLER, "no sampler")?;
    expect(set(handle, 2, 9, &memory)?, CL_INVALID_ARG_SIZE, "more than a sampler")
}
