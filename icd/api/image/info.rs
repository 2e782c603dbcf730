//! `clGetImageInfo`

use std::ptr::null_mut;

use gencl_icd_macros::cl_entrypoint;
use opencl_sys::{
    CL_IMAGE_ARRAY_SIZE, CL_IMAGE_BUFFER, CL_IMAGE_DEPTH, CL_IMAGE_ELEMENT_SIZE, CL_IMAGE_FORMAT,
    CL_IMAGE_HEIGHT, CL_IMAGE_NUM_MIP_LEVELS, CL_IMAGE_NUM_SAMPLES, CL_IMAGE_ROW_PITCH, CL_IMAGE_SLICE_PITCH,
    CL_IMAGE_WIDTH, cl_image_info, cl_mem,
};

use crate::CLResult;
use crate::abi::{Bytes, Out};
use crate::handle::Handle;
use crate::info::{InfoWriter, Written};
use crate::object::Memory;

#[cl_entrypoint(clGetImageInfo)]
fn get_image_info(
    image: cl_mem,
    name: cl_image_info,
    room: usize,
    value: Bytes,
    size_ret: Out<usize>,
) -> CLResult<Written> {
    let memory = Handle::<Memory>::get(image)?;
    let image = Memory::image(image)?;
    let layout = image.layout();
    let info = InfoWriter::new(room, value, size_ret);
    match name {
        // A cl_image_format: two numbers.
        CL_IMAGE_FORMAT => info.value([layout.format.order as u32, layout.format.ty as u32]),
        CL_IMAGE_ELEMENT_SIZE => info.value(layout.format.texel()),
        CL_IMAGE_ROW_PITCH => info.value(layout.row_pitch),
        CL_IMAGE_SLICE_PITCH => info.value(layout.slice_pitch),
        CL_IMAGE_WIDTH => info.value(layout.width),
        CL_IMAGE_HEIGHT => info.value(layout.height),
        CL_IMAGE_DEPTH => info.value(layout.depth),
        CL_IMAGE_ARRAY_SIZE => info.value(layout.layers),
        CL_IMAGE_BUFFER => {
            let buffer = memory.parent.as_ref().filter(|parent| parent.image.is_none());
            info.value(buffer.map_or(null_mut(), |buffer| buffer.raw()))
        }
        // There are no mipmaps and no multisampling.
        CL_IMAGE_NUM_MIP_LEVELS | CL_IMAGE_NUM_SAMPLES => info.value(0u32),
        _ => info.unknown(name),
    }
}
