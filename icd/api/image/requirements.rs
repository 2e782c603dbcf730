//! `clGetImageRequirementsInfoEXT` (`cl_ext_image_requirements_info`)

use gencl_icd_macros::cl_entrypoint;
use gencl_runtime::{Code, Error, ImageFormat, ImageKind, ImageLayout, MemoryFlags};
use opencl_sys::{
    CL_IMAGE_REQUIREMENTS_BASE_ADDRESS_ALIGNMENT_EXT, CL_IMAGE_REQUIREMENTS_MAX_ARRAY_SIZE_EXT,
    CL_IMAGE_REQUIREMENTS_MAX_DEPTH_EXT, CL_IMAGE_REQUIREMENTS_MAX_HEIGHT_EXT,
    CL_IMAGE_REQUIREMENTS_MAX_WIDTH_EXT, CL_IMAGE_REQUIREMENTS_ROW_PITCH_ALIGNMENT_EXT,
    CL_IMAGE_REQUIREMENTS_SIZE_EXT, CL_MEM_KERNEL_READ_AND_WRITE, cl_context, cl_image_desc, cl_image_format,
    cl_image_requirements_info_ext, cl_mem_flags, cl_mem_properties,
};

use super::descriptor;
use crate::abi::{Bytes, Fixed, Out, ZeroTerminated};
use crate::handle::Handle;
use crate::info::{InfoWriter, Written};
use crate::object::Context;
use crate::{CLResult, refuse_if};

#[cl_entrypoint(clGetImageRequirementsInfoEXT)]
fn get_image_requirements_info(
    context: cl_context,
    properties: ZeroTerminated<cl_mem_properties>,
    flags: cl_mem_flags,
    image_format: Fixed<cl_image_format, 1>,
    image_desc: Fixed<cl_image_desc, 1>,
    name: cl_image_requirements_info_ext,
    room: usize,
    value: Bytes,
    size_ret: Out<usize>,
) -> CLResult<Written> {
    let context = Handle::<Context>::get(context)?;
    let limits = *context.image_limits();
    // CL_INVALID_PROPERTY if a property name in properties is not a supported property name. There is none.
    refuse_if(properties.raw().len() > 1, Code::InvalidProperty, "images have no properties")?;
    // CL_INVALID_VALUE if values specified in flags are not valid, if param_name is not one of the supported
    // values, if param_value_size is too small, or if a parameter that the query needs is NULL.
    MemoryFlags::from_bits_retain(flags & !CL_MEM_KERNEL_READ_AND_WRITE).check()?;
    let missing = |what| move || Error::new(Code::InvalidValue, format!("the query needs {what}"));
    // CL_INVALID_IMAGE_FORMAT_DESCRIPTOR if values specified in image_format are not valid.
    let format = image_format.get().map(|_| descriptor::format(image_format)).transpose()?;
    // CL_INVALID_IMAGE_DESCRIPTOR if values specified in image_desc are not valid.
    let invalid = |error: Error| Error { code: Code::InvalidImageDescriptor, ..error };
    let sizes = image_desc.get().map(|_| descriptor::sizes(image_desc)).transpose()?;
    let any = ImageFormat::from_values(opencl_sys::CL_R, opencl_sys::CL_UNORM_INT8);
    let layout = match (sizes, format.or(any)) {
        (Some(sizes), Some(format)) => Some(ImageLayout::new(&limits, format, &sizes).map_err(invalid)?),
        _ => None,
    };
    let layout = layout.ok_or_else(missing("a descriptor"));
    let texel = format.map(ImageFormat::texel).ok_or_else(missing("a format"));
    // CL_INVALID_IMAGE_DESCRIPTOR for the limit of a size that the type does not have.
    let most = |wanted: fn(ImageKind) -> bool, side: fn([usize; 3]) -> usize| {
        let kind = layout.as_ref().map_err(Clone::clone)?.kind;
        refuse_if(!wanted(kind), Code::InvalidImageDescriptor, "the type has no such size")?;
        Ok::<_, Error>(side(limits.extent(kind)) as u32)
    };
    let info = InfoWriter::new(room, value, size_ret);
    match name {
        CL_IMAGE_REQUIREMENTS_ROW_PITCH_ALIGNMENT_EXT => info.value(limits.pitch_alignment * texel?),
        CL_IMAGE_REQUIREMENTS_BASE_ADDRESS_ALIGNMENT_EXT => info.value(limits.address_alignment * texel?),
        CL_IMAGE_REQUIREMENTS_SIZE_EXT => {
            texel?;
            info.value(layout?.memory_size())
        }
        CL_IMAGE_REQUIREMENTS_MAX_WIDTH_EXT => info.value(most(|_| true, |extent| extent[0])?),
        CL_IMAGE_REQUIREMENTS_MAX_HEIGHT_EXT => info.value(most(ImageKind::has_rows, |extent| extent[1])?),
        CL_IMAGE_REQUIREMENTS_MAX_DEPTH_EXT => {
            info.value(most(|kind| kind == ImageKind::Image3D, |extent| extent[2])?)
        }
        CL_IMAGE_REQUIREMENTS_MAX_ARRAY_SIZE_EXT => {
            info.value(most(ImageKind::is_array, |_| 0).map(|_| limits.array as u32)?)
        }
        _ => info.unknown(name),
    }
}
