//! `clGetImageRequirementsInfoEXT`

use std::ptr::{null, null_mut};

use gencl_utest::raw::{api, image_requirements};
use gencl_utest::{Gpu, Outcome};
use opencl_sys::{
    CL_DEVICE_IMAGE_BASE_ADDRESS_ALIGNMENT, CL_DEVICE_IMAGE_MAX_ARRAY_SIZE, CL_DEVICE_IMAGE_PITCH_ALIGNMENT,
    CL_DEVICE_IMAGE2D_MAX_HEIGHT, CL_DEVICE_IMAGE2D_MAX_WIDTH, CL_DEVICE_IMAGE3D_MAX_DEPTH,
    CL_IMAGE_REQUIREMENTS_BASE_ADDRESS_ALIGNMENT_EXT, CL_IMAGE_REQUIREMENTS_MAX_ARRAY_SIZE_EXT,
    CL_IMAGE_REQUIREMENTS_MAX_DEPTH_EXT, CL_IMAGE_REQUIREMENTS_MAX_HEIGHT_EXT,
    CL_IMAGE_REQUIREMENTS_MAX_WIDTH_EXT, CL_IMAGE_REQUIREMENTS_ROW_PITCH_ALIGNMENT_EXT,
    CL_IMAGE_REQUIREMENTS_SIZE_EXT, CL_INVALID_CONTEXT, CL_INVALID_IMAGE_DESCRIPTOR,
    CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, CL_INVALID_VALUE, CL_MEM_OBJECT_BUFFER, CL_MEM_OBJECT_IMAGE1D,
    CL_MEM_OBJECT_IMAGE2D, CL_MEM_OBJECT_IMAGE2D_ARRAY, CL_MEM_OBJECT_IMAGE3D, CL_MEM_READ_WRITE,
    CL_MEM_SIZE, CL_SUCCESS, cl_context, cl_image_desc, cl_image_format, cl_int, cl_mem_flags,
};

use super::image::{Image, KINDS, RGBA, TEXEL, descriptor};
use crate::information::{ask, expect, number};

type Answer = (cl_int, u64, usize);

/// Code, value and size of an answer.
fn ask_for(
    context: cl_context,
    flags: cl_mem_flags,
    format: *const cl_image_format,
    wanted: *const cl_image_desc,
    name: u32,
    room: usize,
) -> Result<Answer, String> {
    let function = image_requirements()?.ok_or("the extension is missing")?.clGetImageRequirementsInfoEXT;
    let (mut value, mut size) = (0u64, 0);
    let place = (&raw mut value).cast();
    // SAFETY: format and descriptor are null or of the tests, and the value has the room.
    let code = unsafe { function(context, null(), flags, format, wanted, name, room, place, &mut size) };
    Ok((code, value, size))
}

pub fn requirements() -> Outcome {
    let gpu = Gpu::get()?;
    if image_requirements()?.is_none() {
        return Ok(());
    }
    let (context, write) = (gpu.context.get(), CL_MEM_READ_WRITE);
    let device = ask!(clGetDeviceInfo, gpu.device.id());
    let of = |name| number(&device, name);
    let texel = TEXEL as u64;
    let flat = descriptor(CL_MEM_OBJECT_IMAGE2D, [20, 10, 1]);
    let deep = descriptor(CL_MEM_OBJECT_IMAGE3D, [20, 10, 3]);
    let array = descriptor(CL_MEM_OBJECT_IMAGE2D_ARRAY, [20, 10, 3]);
    let row = CL_IMAGE_REQUIREMENTS_ROW_PITCH_ALIGNMENT_EXT;
    for (name, wanted, expected, size) in [
        (row, &flat, of(CL_DEVICE_IMAGE_PITCH_ALIGNMENT)? * texel, 8),
        (
            CL_IMAGE_REQUIREMENTS_BASE_ADDRESS_ALIGNMENT_EXT,
            &flat,
            of(CL_DEVICE_IMAGE_BASE_ADDRESS_ALIGNMENT)? * texel,
            8,
        ),
        (CL_IMAGE_REQUIREMENTS_MAX_WIDTH_EXT, &flat, of(CL_DEVICE_IMAGE2D_MAX_WIDTH)?, 4),
        (CL_IMAGE_REQUIREMENTS_MAX_HEIGHT_EXT, &array, of(CL_DEVICE_IMAGE2D_MAX_HEIGHT)?, 4),
        (CL_IMAGE_REQUIREMENTS_MAX_DEPTH_EXT, &deep, of(CL_DEVICE_IMAGE3D_MAX_DEPTH)?, 4),
        (CL_IMAGE_REQUIREMENTS_MAX_ARRAY_SIZE_EXT, &array, of(CL_DEVICE_IMAGE_MAX_ARRAY_SIZE)?, 4),
    ] {
        let found = ask_for(context, write, &RGBA, wanted, name, 8)?;
        if found != (CL_SUCCESS, expected, size) {
            return Err(format!("query {name:#x}: {found:?}, expected {expected} of {size} bytes"));
        }
    }
    for kind in KINDS {
        let image = Image::new(kind, [20, 10, 3])?;
        let wanted = descriptor(kind, [20, 10, 3]);
        let found = ask_for(context, write, &RGBA, &wanted, CL_IMAGE_REQUIREMENTS_SIZE_EXT, 8)?;
        let size = number(&ask!(clGetMemObjectInfo, image.handle), CL_MEM_SIZE)?;
        if found != (CL_SUCCESS, size, 8) {
            return Err(format!("kind {kind:#x}: {found:?}, the image has {size} bytes"));
        }
    }
    // Limits do not depend on the format.
    let most = CL_IMAGE_REQUIREMENTS_MAX_WIDTH_EXT;
    expect(ask_for(context, write, null(), &flat, most, 8)?.0, CL_SUCCESS, "no format")?;

    let refused = |flags, format, wanted, name, room, expected, what: &str| -> Outcome {
        expect(ask_for(context, flags, format, wanted, name, room)?.0, expected, what)
    };
    expect(ask_for(null_mut(), write, &RGBA, &flat, row, 8)?.0, CL_INVALID_CONTEXT, "no context")?;
    let size = CL_IMAGE_REQUIREMENTS_SIZE_EXT;
    refused(write, null(), &flat, size, 8, CL_INVALID_VALUE, "a size without a format")?;
    refused(write, &RGBA, null(), size, 8, CL_INVALID_VALUE, "a size without a descriptor")?;
    refused(u64::MAX, &RGBA, &flat, row, 8, CL_INVALID_VALUE, "flags that there are not")?;
    refused(write, &RGBA, &flat, 0x1110, 8, CL_INVALID_VALUE, "a query that there is not")?;
    refused(write, &RGBA, &flat, row, 7, CL_INVALID_VALUE, "too little room")?;
    let wrong = cl_image_format { image_channel_order: 0x1000, ..RGBA };
    refused(write, &wrong, &flat, row, 8, CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, "an order that there is not")?;
    let line = descriptor(CL_MEM_OBJECT_IMAGE1D, [20, 1, 1]);
    let empty = descriptor(CL_MEM_OBJECT_IMAGE1D, [0, 1, 1]);
    let buffer = cl_image_desc { image_type: CL_MEM_OBJECT_BUFFER, ..flat };
    for (wanted, name, what) in [
        (&empty, row, "no width"),
        (&buffer, row, "a buffer"),
        (&line, CL_IMAGE_REQUIREMENTS_MAX_HEIGHT_EXT, "the height of a line"),
        (&array, CL_IMAGE_REQUIREMENTS_MAX_DEPTH_EXT, "the depth of an array"),
        (&deep, CL_IMAGE_REQUIREMENTS_MAX_ARRAY_SIZE_EXT, "the layers of a volume"),
    ] {
        refused(write, &RGBA, wanted, name, 8, CL_INVALID_IMAGE_DESCRIPTOR, what)?;
    }
    Ok(())
}
