//! `clGetSupportedImageFormats`

use gencl_icd_macros::cl_entrypoint;
use gencl_runtime::{Code, Error, ImageFormat, ImageKind, MemoryFlags};
use opencl_sys::{
    CL_MEM_KERNEL_READ_AND_WRITE, CL_MEM_READ_ONLY, cl_context, cl_image_format, cl_mem_flags,
    cl_mem_object_type, cl_uint,
};

use crate::abi::{Out, OutList};
use crate::handle::Handle;
use crate::object::Context;
use crate::{CLResult, refuse_if};

#[cl_entrypoint(clGetSupportedImageFormats)]
fn get_supported_image_formats(
    context: cl_context,
    flags: cl_mem_flags,
    image_type: cl_mem_object_type,
    num_entries: cl_uint,
    image_formats: OutList<cl_image_format>,
    num_image_formats: Out<cl_uint>,
) -> CLResult<()> {
    let context = Handle::<Context>::get(context)?;
    // CL_INVALID_VALUE if flags or image_type are not valid, or if num_entries is 0 and image_formats is not
    // NULL.
    let same_kernel = flags & CL_MEM_KERNEL_READ_AND_WRITE != 0;
    MemoryFlags::from_bits_retain(flags & !CL_MEM_KERNEL_READ_AND_WRITE).check()?;
    let kind = ImageKind::from_value(image_type)
        .ok_or_else(|| Error::new(Code::InvalidValue, "unknown image type"))?;
    let nowhere = num_entries == 0 && !image_formats.is_null();
    refuse_if(nowhere, Code::InvalidValue, "num_entries is 0")?;
    let selects = context.runtime.selects_channels();
    // One kernel reads and writes what kernels can write: it converts texels in memory.
    let formats: Vec<_> = ImageFormat::supported(kind, same_kernel || flags & CL_MEM_READ_ONLY == 0, selects)
        .map(|format| cl_image_format {
            image_channel_order: format.order as u32,
            image_channel_data_type: format.ty as u32,
        })
        .collect();
    num_image_formats.write(formats.len() as cl_uint);
    // SAFETY: num_entries is what there is room for.
    unsafe { image_formats.write(&formats, num_entries as usize) }
    Ok(())
}
