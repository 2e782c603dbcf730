//! `clCreateSampler`, `clCreateSamplerWithProperties`

use gencl_icd_macros::cl_entrypoint;
use gencl_runtime::{AddressingMode, Code, Error, FilterMode};
use opencl_sys::{
    CL_ADDRESS_CLAMP, CL_FALSE, CL_FILTER_NEAREST, CL_SAMPLER_ADDRESSING_MODE, CL_SAMPLER_FILTER_MODE,
    CL_SAMPLER_NORMALIZED_COORDS, CL_TRUE, cl_addressing_mode, cl_bool, cl_context, cl_filter_mode,
    cl_sampler, cl_sampler_properties,
};

use crate::abi::ZeroTerminated;
use crate::handle::Handle;
use crate::object::{Context, Sampler};
use crate::{CLResult, refuse_if};

#[cl_entrypoint(clCreateSampler)]
fn create_sampler(
    context: cl_context,
    normalized_coords: cl_bool,
    addressing_mode: cl_addressing_mode,
    filter_mode: cl_filter_mode,
) -> CLResult<cl_sampler> {
    create(context, Vec::new(), [normalized_coords, addressing_mode, filter_mode])
}

/// Properties and their default values.
const PROPERTIES: [(u32, u32); 3] = [
    (CL_SAMPLER_NORMALIZED_COORDS, CL_TRUE),
    (CL_SAMPLER_ADDRESSING_MODE, CL_ADDRESS_CLAMP),
    (CL_SAMPLER_FILTER_MODE, CL_FILTER_NEAREST),
];

#[cl_entrypoint(clCreateSamplerWithProperties)]
fn create_sampler_with_properties(
    context: cl_context,
    properties: ZeroTerminated<cl_sampler_properties>,
) -> CLResult<cl_sampler> {
    // CL_INVALID_CONTEXT comes before errors of the properties.
    Handle::<Context>::get(context)?;
    let properties = properties.raw();
    let mut seen = [false; 3];
    let mut values = PROPERTIES.map(|(_, value)| value);
    for pair in properties.chunks_exact(2) {
        // CL_INVALID_VALUE if the property name in sampler_properties is not a supported property name, if
        // the value specified for a supported property name is not valid, or if the same property name is
        // specified more than once.
        let place = PROPERTIES.iter().position(|(name, _)| cl_sampler_properties::from(*name) == pair[0]);
        let unknown = || Error::new(Code::InvalidValue, format!("unknown property {:#x}", pair[0]));
        let place = place.ok_or_else(unknown)?;
        refuse_if(seen[place], Code::InvalidValue, "a property is given twice")?;
        seen[place] = true;
        values[place] = u32::try_from(pair[1]).unwrap_or(u32::MAX);
    }
    create(context, properties, values)
}

/// A sampler by the values of [`PROPERTIES`].
fn create(
    context: cl_context,
    properties: Vec<cl_sampler_properties>,
    [normalized, addressing, filter]: [u32; 3],
) -> CLResult<cl_sampler> {
    let context = Handle::<Context>::get(context)?;
    // CL_INVALID_VALUE if addressing_mode, filter_mode, normalized_coords or a combination of these arguments
    // are not valid.
    refuse_if(
        ![CL_FALSE, CL_TRUE].contains(&normalized),
        Code::InvalidValue,
        "neither CL_TRUE nor CL_FALSE",
    )?;
    let invalid = |what| move || Error::new(Code::InvalidValue, what);
    let addressing = AddressingMode::from_value(addressing).ok_or_else(invalid("unknown addressing mode"))?;
    let filter = FilterMode::from_value(filter).ok_or_else(invalid("unknown filter mode"))?;
    // CL_ADDRESS_REPEAT and CL_ADDRESS_MIRRORED_REPEAT "can only be used with normalized coordinates": results are
    // undefined otherwise, and other drivers create such samplers, too.
    let runtime = gencl_runtime::Sampler::new(&context.runtime, normalized == CL_TRUE, addressing, filter);
    Ok(Handle::create(Sampler { runtime, context, properties }))
}
