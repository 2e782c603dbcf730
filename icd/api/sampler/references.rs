//! `clRetainSampler`, `clReleaseSampler`

use gencl_icd_macros::cl_entrypoint;
use opencl_sys::cl_sampler;

use crate::CLResult;
use crate::handle::Handle;
use crate::object::Sampler;

#[cl_entrypoint(clRetainSampler)]
fn retain_sampler(sampler: cl_sampler) -> CLResult<()> {
    Handle::<Sampler>::retain(sampler)
}

#[cl_entrypoint(clReleaseSampler)]
fn release_sampler(sampler: cl_sampler) -> CLResult<()> {
    Handle::<Sampler>::release(sampler)
}
