//! `clGetSamplerInfo`

use gencl_icd_macros::cl_entrypoint;
use opencl_sys::{
    CL_SAMPLER_ADDRESSING_MODE, CL_SAMPLER_CONTEXT, CL_SAMPLER_FILTER_MODE, CL_SAMPLER_NORMALIZED_COORDS,
    CL_SAMPLER_PROPERTIES, CL_SAMPLER_REFERENCE_COUNT, cl_sampler, cl_sampler_info,
};

use crate::CLResult;
use crate::abi::{Bytes, Out};
use crate::handle::Handle;
use crate::info::{InfoWriter, Written};
use crate::object::Sampler;

#[cl_entrypoint(clGetSamplerInfo)]
fn get_sampler_info(
    sampler: cl_sampler,
    name: cl_sampler_info,
    room: usize,
    value: Bytes,
    size_ret: Out<usize>,
) -> CLResult<Written> {
    let sampler = Handle::<Sampler>::get(sampler)?;
    let info = InfoWriter::new(room, value, size_ret);
    match name {
        CL_SAMPLER_REFERENCE_COUNT => info.value(sampler.references()),
        CL_SAMPLER_CONTEXT => info.value(sampler.context.raw()),
        CL_SAMPLER_NORMALIZED_COORDS => info.boolean(sampler.runtime.normalized),
        CL_SAMPLER_ADDRESSING_MODE => info.value(sampler.runtime.addressing as u32),
        CL_SAMPLER_FILTER_MODE => info.value(sampler.runtime.filter as u32),
        CL_SAMPLER_PROPERTIES => info.values(&sampler.properties),
        _ => info.unknown(name),
    }
}
