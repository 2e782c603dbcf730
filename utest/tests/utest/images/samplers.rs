//! Samplers.

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use gencl_utest::raw::api;
use gencl_utest::{Gpu, Outcome};
use opencl_sys::{
    CL_ADDRESS_CLAMP, CL_ADDRESS_CLAMP_TO_EDGE, CL_ADDRESS_MIRRORED_REPEAT, CL_ADDRESS_NONE,
    CL_ADDRESS_REPEAT, CL_FALSE, CL_FILTER_LINEAR, CL_FILTER_NEAREST, CL_INVALID_CONTEXT, CL_INVALID_SAMPLER,
    CL_INVALID_VALUE, CL_MEM_OBJECT_IMAGE2D, CL_MEM_READ_WRITE, CL_RGBA, CL_SAMPLER_ADDRESSING_MODE,
    CL_SAMPLER_FILTER_MODE, CL_SAMPLER_NORMALIZED_COORDS, CL_SAMPLER_PROPERTIES, CL_SAMPLER_REFERENCE_COUNT,
    CL_SUCCESS, CL_TRUE, CL_UNSIGNED_INT8, cl_context, cl_image_format, cl_int, cl_sampler,
    cl_sampler_properties,
};
use opencl3::kernel::Kernel;
use opencl3::memory::ClMem;

use super::image::{Image, descriptor};
use crate::memory::same;

use crate::information::{HANDLE, Query, Shape, UINT, answer, ask, check_all, expect, number, queries};

const SAMPLER: &[Query] = queries! {
    CL_SAMPLER_REFERENCE_COUNT: UINT,
    CL_SAMPLER_CONTEXT: HANDLE,
    CL_SAMPLER_NORMALIZED_COORDS: UINT,
    CL_SAMPLER_ADDRESSING_MODE: UINT,
    CL_SAMPLER_FILTER_MODE: UINT,
    CL_SAMPLER_PROPERTIES: Shape::List(8),
};

/// A handle and the code of `clCreateSampler`, from whether coordinates are normalized, addressing mode and filter mode.
pub fn create(context: cl_context, values: [u32; 3]) -> Result<(cl_sampler, cl_int), String> {
    let api = api()?;
    let mut code = 1;
    let [normalized, addressing, filter] = values;
    // SAFETY: a live context, or one that the driver has to refuse.
    let sampler = unsafe { (api.clCreateSampler)(context, normalized, addressing, filter, &mut code) };
    Ok((sampler, code))
}

fn create_with(list: Option<&[cl_sampler_properties]>) -> Result<(cl_sampler, cl_int), String> {
    let (api, context) = (api()?, Gpu::get()?.context.get());
    let mut code = 1;
    let list = list.map_or(std::ptr::null(), <[_]>::as_ptr);
    // SAFETY: the list ends with zero.
    let sampler = unsafe { (api.clCreateSamplerWithProperties)(context, list, &mut code) };
    Ok((sampler, code))
}

fn release(sampler: cl_sampler) -> Outcome {
    // SAFETY: the test's own.
    expect(unsafe { (api()?.clReleaseSampler)(sampler) }, CL_SUCCESS, "clReleaseSampler")
}

fn values(sampler: cl_sampler) -> Result<[u64; 3], String> {
    let ask = ask!(clGetSamplerInfo, sampler);
    Ok([
        number(&ask, CL_SAMPLER_NORMALIZED_COORDS)?,
        number(&ask, CL_SAMPLER_ADDRESSING_MODE)?,
        number(&ask, CL_SAMPLER_FILTER_MODE)?,
    ])
}

pub fn information() -> Outcome {
    let context = Gpu::get()?.context.get();
    let addressing = [
        CL_ADDRESS_NONE,
        CL_ADDRESS_CLAMP_TO_EDGE,
        CL_ADDRESS_CLAMP,
        CL_ADDRESS_REPEAT,
        CL_ADDRESS_MIRRORED_REPEAT,
    ];
    for addressing in addressing {
        for filter in [CL_FILTER_NEAREST, CL_FILTER_LINEAR] {
            let (sampler, code) = create(context, [CL_TRUE, addressing, filter])?;
            expect(code, CL_SUCCESS, "clCreateSampler")?;
            let found = values(sampler)?;
            release(sampler)?;
            if found != [1, addressing.into(), filter.into()] {
                return Err(format!("{found:x?}, with {addressing:#x} and {filter:#x}"));
            }
        }
    }
    let (sampler, code) = create_with(None)?;
    expect(code, CL_SUCCESS, "clCreateSamplerWithProperties without properties")?;
    check_all("clGetSamplerInfo", SAMPLER, &ask!(clGetSamplerInfo, sampler))?;
    let found = values(sampler)?;
    let properties = answer(&ask!(clGetSamplerInfo, sampler), CL_SAMPLER_PROPERTIES)?;
    release(sampler)?;
    if found != [1, CL_ADDRESS_CLAMP.into(), CL_FILTER_NEAREST.into()] || !properties.is_empty() {
        return Err(format!("without properties: {found:x?}, {properties:?}"));
    }
    let list: [cl_sampler_properties; 5] = [
        CL_SAMPLER_FILTER_MODE.into(),
        CL_FILTER_LINEAR.into(),
        CL_SAMPLER_NORMALIZED_COORDS.into(),
        CL_FALSE.into(),
        0,
    ];
    let (sampler, code) = create_with(Some(&list))?;
    expect(code, CL_SUCCESS, "clCreateSamplerWithProperties")?;
    let found = values(sampler)?;
    let properties = answer(&ask!(clGetSamplerInfo, sampler), CL_SAMPLER_PROPERTIES)?;
    release(sampler)?;
    let bytes: Vec<u8> = list.iter().flat_map(|word| word.to_ne_bytes()).collect();
    if found != [0, CL_ADDRESS_CLAMP.into(), CL_FILTER_LINEAR.into()] || properties != bytes {
        return Err(format!("with properties: {found:x?}, {properties:?}"));
    }
    Ok(())
}

pub fn refused() -> Outcome {
    let context = Gpu::get()?.context.get();
    let good = [CL_TRUE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST];
    expect(create(null_mut(), good)?.1, CL_INVALID_CONTEXT, "no context")?;
    for (place, what) in ["normalized coordinates", "an addressing mode", "a filter"].iter().enumerate() {
        let mut values = good;
        values[place] = 0x1199;
        expect(create(context, values)?.1, CL_INVALID_VALUE, what)?;
    }
    let filter = cl_sampler_properties::from(CL_SAMPLER_FILTER_MODE);
    let nearest = cl_sampler_properties::from(CL_FILTER_NEAREST);
    let lists: [(&[cl_sampler_properties], &str); 3] = [
        (&[0x1199, 0, 0], "a property that there is not"),
        (&[filter, 0x1199, 0], "a value that there is not"),
        (&[filter, nearest, filter, nearest, 0], "a property given twice"),
    ];
    for (list, what) in lists {
        expect(create_with(Some(list))?.1, CL_INVALID_VALUE, what)?;
    }
    let ask = ask!(clGetSamplerInfo, null_mut());
    expect(ask(CL_SAMPLER_REFERENCE_COUNT, 0, null_mut(), &mut 0), CL_INVALID_SAMPLER, "no sampler")
}

pub fn references() -> Outcome {
    let api = api()?;
    let (sampler, code) = create_with(None)?;
    expect(code, CL_SUCCESS, "clCreateSamplerWithProperties")?;
    let count = || number(&ask!(clGetSamplerInfo, sampler), CL_SAMPLER_REFERENCE_COUNT);
    // SAFETY: the sampler is alive, or null.
    unsafe {
        expect((api.clRetainSampler)(sampler), CL_SUCCESS, "clRetainSampler")?;
        let two = count()?;
        release(sampler)?;
        let one = count()?;
        release(sampler)?;
        if (two, one) != (2, 1) {
            return Err(format!("{two} and {one} references"));
        }
        expect((api.clRetainSampler)(null_mut()), CL_INVALID_SAMPLER, "retaining null")?;
        expect((api.clReleaseSampler)(null_mut()), CL_INVALID_SAMPLER, "releasing null")
    }
}

/// The texels of a line at -1, 1, 9 and 2, which has 4: by a sampler of the source, and by one that is an argument.
const REPEATED: &str = "constant sampler_t own = CLK_NORMALIZED_COORDS_FALSE | CLK_FILTER_NEAREST | MODE;
    kernel void by_own(read_only image2d_t line, global uint *out) {
        int i = get_global_id(0);
        out[i] = read_imageui(line, own, (float2)((float[]){ -1, 1, 9, 2 }[i] + 0.5f, 0.5f)).x; }
    kernel void by_argument(read_only image2d_t line, global uint *out, sampler_t given) {
        int i = get_global_id(0);
        out[i] = read_imageui(line, given, (float2)((float[]){ -1, 1, 9, 2 }[i] + 0.5f, 0.5f)).x; }";

/// Samplers that repeat an image in texels exist, and clamp. They are released before the launch, which has their value.
pub fn repeated_texels() -> Outcome {
    let (gpu, queue) = (Gpu::get()?, Gpu::get()?.queue()?);
    let format = cl_image_format { image_channel_order: CL_RGBA, image_channel_data_type: CL_UNSIGNED_INT8 };
    let wanted = descriptor(CL_MEM_OBJECT_IMAGE2D, [4, 1, 1]);
    let handle = Image::create(CL_MEM_READ_WRITE, &format, &wanted, null_mut())?;
    let image = Image { handle, sides: [4, 1, 1], texel: 4 };
    image.write_all(&[[11; 4], [22; 4], [33; 4], [44; 4]].concat())?;
    let modes = [(CL_ADDRESS_REPEAT, "REPEAT"), (CL_ADDRESS_MIRRORED_REPEAT, "MIRRORED_REPEAT")];
    for (addressing, name) in modes {
        let program = gpu.build_unchecked(REPEATED, &format!("-DMODE=CLK_ADDRESS_{name}"))?;
        let list: [cl_sampler_properties; 5] = [
            CL_SAMPLER_NORMALIZED_COORDS.into(),
            CL_FALSE.into(),
            CL_SAMPLER_ADDRESSING_MODE.into(),
            addressing.into(),
            0,
        ];
        let by_list = create_with(Some(&list))?;
        let by_values = create(gpu.context.get(), [CL_FALSE, addressing, CL_FILTER_NEAREST])?;
        for (sampler, code) in [by_list, by_values] {
            expect(code, CL_SUCCESS, name)?;
            let found = values(sampler)?;
            if found != [0, addressing.into(), CL_FILTER_NEAREST.into()] {
                return Err(format!("{name}: {found:x?}"));
            }
        }
        for (kernel, sampler) in
            [("by_own", None), ("by_argument", Some(by_list.0)), ("by_argument", Some(by_values.0))]
        {
            let (kernel, out) = (program.kernel(kernel)?, gpu.buffer(&[0u32; 4])?);
            set_handle(&kernel, 0, image.handle)?;
            set_handle(&kernel, 1, out.memory().get())?;
            if let Some(sampler) = sampler {
                set_handle(&kernel, 2, sampler)?;
                release(sampler)?;
            }
            // SAFETY: one dimension, and the memory is alive until the queue has finished.
            let launched = unsafe {
                queue.enqueue_nd_range_kernel(kernel.get(), 1, null(), [4usize].as_ptr(), null(), &[])
            };
            launched.map_err(|error| format!("{name}: clEnqueueNDRangeKernel: {error}"))?;
            queue.finish().map_err(|error| error.to_string())?;
            same(&out.read()?, &[11, 22, 44, 33]).map_err(|error| format!("{name}: {error}"))?;
        }
    }
    Ok(())
}

/// A launch has the value of a sampler that was released after it was set, and of no other that is created meanwhile.
pub fn released_before_launch() -> Outcome {
    let (gpu, queue) = (Gpu::get()?, Gpu::get()?.queue()?);
    let source = "kernel void k(read_only image2d_t plane, global float *out, sampler_t given) {
        out[0] = read_imagef(plane, given, (float2)(-0.25f, 0.5f)).x; }";
    let program = gpu.build_unchecked(source, "")?;
    let image = Image::new(CL_MEM_OBJECT_IMAGE2D, [4, 1, 1])?;
    image.write_all(&[[51u8; 4], [102; 4], [153; 4], [255; 4]].concat())?;
    let (kernel, out) = (program.kernel("k")?, gpu.buffer(&[0f32])?);
    set_handle(&kernel, 0, image.handle)?;
    set_handle(&kernel, 1, out.memory().get())?;
    for (addressing, expected) in
        [(CL_ADDRESS_CLAMP, 0.0), (CL_ADDRESS_CLAMP_TO_EDGE, 0.2f32), (CL_ADDRESS_REPEAT, 1.0)]
    {
        let (sampler, code) = create(gpu.context.get(), [CL_TRUE, addressing, CL_FILTER_NEAREST])?;
        expect(code, CL_SUCCESS, "clCreateSampler")?;
        set_handle(&kernel, 2, sampler)?;
        release(sampler)?;
        let (other, _) = create(gpu.context.get(), [CL_TRUE, CL_ADDRESS_NONE, CL_FILTER_LINEAR])?;
        // SAFETY: one dimension, and the memory is alive until the queue has finished.
        let launched =
            unsafe { queue.enqueue_nd_range_kernel(kernel.get(), 1, null(), [1usize].as_ptr(), null(), &[]) };
        launched.map_err(|error| format!("clEnqueueNDRangeKernel: {error}"))?;
        queue.finish().map_err(|error| error.to_string())?;
        release(other)?;
        same(&out.read()?, &[expected]).map_err(|error| format!("{addressing:#x}: {error}"))?;
    }
    Ok(())
}

fn set_handle(kernel: &Kernel, index: u32, handle: *mut c_void) -> Outcome {
    // SAFETY: an object's handle.
    let code = unsafe {
        (api()?.clSetKernelArg)(kernel.get(), index, size_of_val(&handle), (&raw const handle).cast())
    };
    expect(code, CL_SUCCESS, "clSetKernelArg")
}
