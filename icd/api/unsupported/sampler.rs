//! Samplers: `clCreateSampler…`, `cl…Sampler…`

use gencl_icd_macros::cl_entrypoint;
use gencl_runtime::{Code, Error};
use opencl_sys::{
    cl_addressing_mode, cl_bool, cl_context, cl_filter_mode, cl_sampler, cl_sampler_info,
    cl_sampler_properties,
};

use super::of_context;
use crate::CLResult;
use crate::abi::{Bytes, Out, ZeroTerminated};

// CL_INVALID_OPERATION if images are not supported by any device associated with context.
const NO_SAMPLERS: &str = "the device has no images";

// CL_INVALID_SAMPLER if sampler is not a valid sampler object; there are none.
fn no_sampler(_sampler: cl_sampler) -> CLResult<()> {
    Err(Error::new(Code::InvalidSampler, NO_SAMPLERS))
}

#[cl_entrypoint(clCreateSampler)]
fn create_sampler(
    context: cl_context,
    _normalized_coords: cl_bool,
    _addressing_mode: cl_addressing_mode,
    _filter_mode: cl_filter_mode,
) -> CLResult<cl_sampler> {
    of_context(context, NO_SAMPLERS)
}

#[cl_entrypoint(clCreateSamplerWithProperties)]
fn create_sampler_with_properties(
    context: cl_context,
    _sampler_properties: ZeroTerminated<cl_sampler_properties>,
) -> CLResult<cl_sampler> {
    of_context(context, NO_SAMPLERS)
}

#[cl_entrypoint(clRetainSampler)]
fn retain_sampler(sampler: cl_sampler) -> CLResult<()> {
    no_sampler(sampler)
}

#[cl_entrypoint(clReleaseSampler)]
fn release_sampler(sampler: cl_sampler) -> CLResult<()> {
    no_sampler(sampler)
}

#[cl_entrypoint(clGetSamplerInfo)]
fn get_sampler_info(
    sampler: cl_sampler,
    _name: cl_sampler_info,
    _room: usize,
    _value: Bytes,
    _size_ret: Out<usize>,
) -> CLResult<()> {
    no_sampler(sampler)
}
