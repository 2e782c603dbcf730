//! Parameters of `clCreateImage`: `cl_image_format`, `cl_image_desc`.

use std::ptr::null_mut;

use gencl_runtime::{Code, Error, ImageDescriptor, ImageFormat, ImageKind};
use opencl_sys::{cl_image_desc, cl_image_format, cl_mem};

use crate::abi::Fixed;
use crate::{CLResult, refuse_if};

/// CL_INVALID_IMAGE_FORMAT_DESCRIPTOR if values specified in image_format are not valid or if image_format is
/// NULL.
pub fn format(format: Fixed<cl_image_format, 1>) -> CLResult<ImageFormat> {
    let invalid = |why| Error::new(Code::InvalidImageFormatDescriptor, why);
    let [format] = format.get().ok_or_else(|| invalid("no format"))?;
    let (order, ty) = (format.image_channel_order, format.image_channel_data_type);
    ImageFormat::from_values(order, ty)
        .ok_or_else(|| invalid("unknown channel order or type, or an invalid combination"))
}

/// A descriptor, and the memory object to create the image from, or null.
///
/// CL_INVALID_IMAGE_DESCRIPTOR if values specified in image_desc are not valid or if image_desc is NULL.
/// Sizes and pitches are checked by the runtime.
pub fn descriptor(descriptor: Fixed<cl_image_desc, 1>) -> CLResult<(ImageDescriptor, cl_mem)> {
    let sizes = sizes(descriptor)?;
    // mem_object can be a buffer if image_type is CL_MEM_OBJECT_IMAGE1D_BUFFER or CL_MEM_OBJECT_IMAGE2D, and
    // an image if it is CL_MEM_OBJECT_IMAGE2D. Otherwise it must be NULL.
    let memory = descriptor.get().map_or(null_mut(), |[given]| given.buffer);
    let fits = match sizes.kind {
        ImageKind::Image1DBuffer => !memory.is_null(),
        ImageKind::Image2D => true,
        _ => memory.is_null(),
    };
    refuse_if(
        !fits,
        Code::InvalidImageDescriptor,
        "mem_object must be given for images on buffers, and for no other type",
    )?;
    Ok((sizes, memory))
}

/// A descriptor without the memory object. Errors as [`descriptor`].
pub fn sizes(descriptor: Fixed<cl_image_desc, 1>) -> CLResult<ImageDescriptor> {
    let invalid = |why| Error::new(Code::InvalidImageDescriptor, why);
    let [given] = descriptor.get().ok_or_else(|| invalid("no descriptor"))?;
    let kind = ImageKind::from_value(given.image_type).ok_or_else(|| invalid("unknown image type"))?;
    // num_mip_levels and num_samples must be 0.
    let several = given.num_mip_levels != 0 || given.num_samples != 0;
    refuse_if(several, Code::InvalidImageDescriptor, "mipmaps and multisampling are not supported")?;
    Ok(ImageDescriptor {
        kind,
        width: given.image_width,
        height: given.image_height,
        depth: given.image_depth,
        layers: given.image_array_size,
        row_pitch: given.image_row_pitch,
        slice_pitch: given.image_slice_pitch,
    })
}
