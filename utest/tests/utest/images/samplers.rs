//! Samplers.

use std::ptr::null_mut;

use gencl_utest::raw::api;
use gencl_utest::{Gpu, Outcome};
use opencl_sys::{
    CL_ADDRESS_CLAMP, CL_ADDRESS_CLAMP_TO_EDGE, CL_ADDRESS_MIRRORED_REPEAT, CL_ADDRESS_NONE,
    CL_ADDRESS_REPEAT, CL_FALSE, CL_FILTER_LINEAR, CL_FILTER_NEAREST, CL_INVALID_CONTEXT, CL_INVALID_SAMPLER,
    CL_INVALID_VALUE, CL_SAMPLER_ADDRESSING_MODE, CL_SAMPLER_FILTER_MODE, CL_SAMPLER_NORMALIZED_COORDS,
    CL_SAMPLER_PROPERTIES, CL_SAMPLER_REFERENCE_COUNT, CL_SUCCESS, CL_TRUE, cl_context, cl_int, cl_sampler,
    cl_sampler_properties,
};

use crate::information::{HANDLE, Query, Shape, UINT, answer, ask, check_all, expect, number, queries};

const SAMPLER: &[Query] = queries! {
    CL_SAMPLER_REFERENCE_COUNT: UINT,
    CL_SAMPLER_CONTEXT: HANDLE,
    CL_SAMPLER_NORMALIZED_COORDS: UINT,
    CL_SAMPLER_ADDRESSING_MODE: UINT,
    CL_SAMPLER_FILTER_MODE: UINT,
    CL_SAMPLER_PROPERTIES: Shape::List(8),
};

fn create(context: cl_context, values: [u32; 3]) -> Result<(cl_sampler, cl_int), String> {
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
    for addressing in [CL_ADDRESS_REPEAT, CL_ADDRESS_MIRRORED_REPEAT] {
        let (_, code) = create(context, [CL_FALSE, addressing, CL_FILTER_NEAREST])?;
        expect(code, CL_INVALID_VALUE, "a repeated image with coordinates in texels")?;
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
