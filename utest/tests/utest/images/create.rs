//! Making images, and what they say of themselves.

use std::ptr::{null, null_mut};

use gencl_utest::raw::api;
use gencl_utest::{Gpu, Outcome};
use opencl_sys::{
    CL_BGRA, CL_FLOAT, CL_HALF_FLOAT, CL_IMAGE_ARRAY_SIZE, CL_IMAGE_BUFFER, CL_IMAGE_DEPTH,
    CL_IMAGE_ELEMENT_SIZE, CL_IMAGE_FORMAT_NOT_SUPPORTED, CL_IMAGE_HEIGHT, CL_IMAGE_ROW_PITCH,
    CL_IMAGE_SLICE_PITCH, CL_IMAGE_WIDTH, CL_INVALID_CONTEXT, CL_INVALID_HOST_PTR,
    CL_INVALID_IMAGE_DESCRIPTOR, CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, CL_INVALID_IMAGE_SIZE,
    CL_INVALID_MEM_OBJECT, CL_INVALID_VALUE, CL_MEM_ASSOCIATED_MEMOBJECT, CL_MEM_COPY_HOST_PTR,
    CL_MEM_HOST_NO_ACCESS, CL_MEM_OBJECT_BUFFER, CL_MEM_OBJECT_IMAGE1D, CL_MEM_OBJECT_IMAGE1D_ARRAY,
    CL_MEM_OBJECT_IMAGE1D_BUFFER, CL_MEM_OBJECT_IMAGE2D, CL_MEM_OBJECT_IMAGE2D_ARRAY, CL_MEM_OBJECT_IMAGE3D,
    CL_MEM_READ_ONLY, CL_MEM_READ_WRITE, CL_MEM_SIZE, CL_MEM_TYPE, CL_MEM_USE_HOST_PTR, CL_MEM_WRITE_ONLY,
    CL_RGB, CL_RGBA, CL_SIGNED_INT8, CL_SIGNED_INT16, CL_SIGNED_INT32, CL_SUCCESS, CL_UNORM_INT8,
    CL_UNORM_INT16, CL_UNSIGNED_INT8, CL_UNSIGNED_INT16, CL_UNSIGNED_INT32, cl_image_desc, cl_image_format,
    cl_int, cl_mem, cl_mem_flags,
};
use opencl3::memory::ClMem;

use super::image::{Image, KINDS, RGBA, TEXEL, copy, dense, descriptor, pattern, sides, try_create};
use crate::information::objects::MEMORY;
use crate::information::{HANDLE, Query, SIZE, Shape, UINT, ask, check_all, expect, number, queries};

const IMAGE: &[Query] = queries! {
    CL_IMAGE_FORMAT: Shape::Value(8),
    CL_IMAGE_ELEMENT_SIZE: SIZE,
    CL_IMAGE_ROW_PITCH: SIZE,
    CL_IMAGE_SLICE_PITCH: SIZE,
    CL_IMAGE_WIDTH: SIZE,
    CL_IMAGE_HEIGHT: SIZE,
    CL_IMAGE_DEPTH: SIZE,
    CL_IMAGE_ARRAY_SIZE: SIZE,
    CL_IMAGE_BUFFER: HANDLE,
    CL_IMAGE_NUM_MIP_LEVELS: UINT,
    CL_IMAGE_NUM_SAMPLES: UINT,
};

pub fn information() -> Outcome {
    let gpu = Gpu::get()?;
    for kind in KINDS {
        let wanted = [20, 10, 3];
        let image = Image::new(kind, wanted)?;
        let handle = image.handle;
        let ask = ask!(clGetImageInfo, handle);
        check_all("clGetImageInfo", IMAGE, &ask)?;
        let of_memory = ask!(clGetMemObjectInfo, handle);
        check_all("clGetMemObjectInfo", MEMORY, &of_memory)?;
        let given = descriptor(kind, wanted);
        let expected = [
            (CL_IMAGE_WIDTH, given.image_width),
            (CL_IMAGE_HEIGHT, given.image_height),
            (CL_IMAGE_DEPTH, given.image_depth),
            (CL_IMAGE_ARRAY_SIZE, given.image_array_size),
            (CL_IMAGE_ELEMENT_SIZE, TEXEL),
            (CL_IMAGE_BUFFER, 0),
        ];
        for (query, expected) in expected {
            let found = number(&ask, query)?;
            if found != expected as u64 {
                return Err(format!("kind {kind:#x}, query {query:#x}: {found}, expected {expected}"));
            }
        }
        if number(&of_memory, CL_MEM_TYPE)? != u64::from(kind) {
            return Err(format!("kind {kind:#x} has another CL_MEM_TYPE"));
        }
        if number(&of_memory, CL_MEM_SIZE)? < image.bytes() as u64 {
            return Err(format!("kind {kind:#x} has no room for its texels"));
        }
        // Without host memory the pitches are the driver's, but for what has none.
        let (row, slice) = (number(&ask, CL_IMAGE_ROW_PITCH)?, number(&ask, CL_IMAGE_SLICE_PITCH)?);
        let has_slices = image.sides[2] > 1 || kind == CL_MEM_OBJECT_IMAGE1D_ARRAY;
        let rows = given.image_height.max(1) as u64;
        if row < 80 || (has_slices && slice < row * rows) || (!has_slices && slice != 0) {
            return Err(format!("kind {kind:#x}: pitches {row}, {slice}"));
        }
        if gpu.foreign_platform().is_none() && (row != 80 || (has_slices && slice != 80 * rows)) {
            return Err(format!("kind {kind:#x}: pitches {row}, {slice}, with gaps"));
        }
    }
    let buffer = gpu.buffer(&[0u8; 64])?;
    let code = ask!(clGetImageInfo, buffer.memory().get())(CL_IMAGE_WIDTH, 0, null_mut(), &mut 0);
    expect(code, CL_INVALID_MEM_OBJECT, "clGetImageInfo of a buffer")
}

/// Formats that every device has whose kernels can both read and write images (OpenCL 3.0, minimum list), and
/// their texels in bytes.
const FORMATS: &[(u32, u32, u64)] = &[
    (CL_RGBA, CL_UNORM_INT8, 4),
    (CL_RGBA, CL_UNORM_INT16, 8),
    (CL_RGBA, CL_SIGNED_INT8, 4),
    (CL_RGBA, CL_SIGNED_INT16, 8),
    (CL_RGBA, CL_SIGNED_INT32, 16),
    (CL_RGBA, CL_UNSIGNED_INT8, 4),
    (CL_RGBA, CL_UNSIGNED_INT16, 8),
    (CL_RGBA, CL_UNSIGNED_INT32, 16),
    (CL_RGBA, CL_HALF_FLOAT, 8),
    (CL_RGBA, CL_FLOAT, 16),
    (CL_BGRA, CL_UNORM_INT8, 4),
];

pub fn formats_of(flags: cl_mem_flags, kind: u32) -> Result<Vec<cl_image_format>, String> {
    let (api, context) = (api()?, Gpu::get()?.context.get());
    let mut count = 0;
    // SAFETY: no room is given, then as much as was asked for.
    unsafe {
        let code = (api.clGetSupportedImageFormats)(context, flags, kind, 0, null_mut(), &mut count);
        expect(code, CL_SUCCESS, "the number of formats")?;
        let mut list =
            vec![cl_image_format { image_channel_order: 0, image_channel_data_type: 0 }; count as usize];
        if count == 0 {
            return Ok(list);
        }
        let code =
            (api.clGetSupportedImageFormats)(context, flags, kind, count, list.as_mut_ptr(), null_mut());
        expect(code, CL_SUCCESS, "the formats")?;
        Ok(list)
    }
}

pub fn formats() -> Outcome {
    let (api, context) = (api()?, Gpu::get()?.context.get());
    for kind in KINDS.into_iter().chain([CL_MEM_OBJECT_IMAGE1D_BUFFER]) {
        for flags in [CL_MEM_READ_ONLY, CL_MEM_WRITE_ONLY, CL_MEM_READ_WRITE] {
            let list = formats_of(flags, kind)?;
            for &(order, ty, _) in FORMATS {
                let has =
                    list.iter().any(|f| f.image_channel_order == order && f.image_channel_data_type == ty);
                if !has {
                    return Err(format!("kind {kind:#x} lacks order {order:#x} with type {ty:#x}"));
                }
            }
        }
    }
    // What is listed can be made.
    let wanted = descriptor(CL_MEM_OBJECT_IMAGE2D, [8, 4, 1]);
    for format in formats_of(CL_MEM_READ_WRITE, CL_MEM_OBJECT_IMAGE2D)? {
        let handle = Image::create(CL_MEM_READ_WRITE, &format, &wanted, null_mut())
            .map_err(|error| format!("{format:x?}: {error}"))?;
        let image = Image { handle, sides: [8, 4, 1], texel: TEXEL };
        let size = number(&ask!(clGetImageInfo, handle), CL_IMAGE_ELEMENT_SIZE)?;
        let key = (format.image_channel_order, format.image_channel_data_type);
        if FORMATS.iter().any(|(order, ty, texel)| key == (*order, *ty) && size != *texel) {
            return Err(format!("{format:x?}: texels of {size} bytes"));
        }
        drop(image);
    }
    let refused = |context, flags, kind, room, list, expected, what: &str| -> Outcome {
        // SAFETY: the list is null, or there is no room in it.
        let code = unsafe { (api.clGetSupportedImageFormats)(context, flags, kind, room, list, null_mut()) };
        expect(code, expected, what)
    };
    let mut one = [RGBA];
    let flat = CL_MEM_OBJECT_IMAGE2D;
    refused(null_mut(), CL_MEM_READ_WRITE, flat, 0, null_mut(), CL_INVALID_CONTEXT, "no context")?;

    if Gpu::get()?.foreign_platform().is_some() {
        // Others look neither at the kind nor at the flags nor at the room.
        return Ok(());
    }
    refused(context, CL_MEM_READ_WRITE, flat, 0, one.as_mut_ptr(), CL_INVALID_VALUE, "a list without room")?;
    refused(context, CL_MEM_READ_WRITE, CL_MEM_OBJECT_BUFFER, 0, null_mut(), CL_INVALID_VALUE, "buffers")?;
    let both = CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY;
    refused(context, both, flat, 0, null_mut(), CL_INVALID_VALUE, "flags that exclude each other")
}

/// Creates an image that cannot be.
fn refuse(
    flags: cl_mem_flags,
    format: *const cl_image_format,
    wanted: *const cl_image_desc,
    host: bool,
    expected: cl_int,
    what: &str,
) -> Outcome {
    let mut memory = vec![0u8; 1 << 16];
    let host = if host { memory.as_mut_ptr().cast() } else { null_mut() };
    let (image, code) = try_create(flags, format, wanted, host)?;
    if !image.is_null() {
        return Err(format!("{what}: an image was made"));
    }
    expect(code, expected, what)
}

pub fn refused() -> Outcome {
    let flat = descriptor(CL_MEM_OBJECT_IMAGE2D, [16, 8, 1]);
    let write = CL_MEM_READ_WRITE;
    let format = |order, ty| cl_image_format { image_channel_order: order, image_channel_data_type: ty };
    {
        let (api, mut code) = (api()?, 1);
        // SAFETY: null is the driver's to refuse.
        unsafe { (api.clCreateImage)(null_mut(), write, &RGBA, &flat, null_mut(), &mut code) };
        expect(code, CL_INVALID_CONTEXT, "no context")?;
    }
    let both = CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY;
    refuse(both, &RGBA, &flat, false, CL_INVALID_VALUE, "flags that exclude each other")?;
    refuse(1 << 40, &RGBA, &flat, false, CL_INVALID_VALUE, "flags that there are not")?;
    refuse(write, null(), &flat, false, CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, "no format")?;
    let wrong = format(0x1000, CL_UNORM_INT8);
    refuse(write, &wrong, &flat, false, CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, "an order that there is not")?;
    let wrong = format(CL_RGB, CL_UNORM_INT8);
    refuse(write, &wrong, &flat, false, CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, "bytes in threes")?;
    let wrong = cl_image_desc { image_row_pitch: 64, ..flat };
    refuse(write, &RGBA, &wrong, false, CL_INVALID_IMAGE_DESCRIPTOR, "a row pitch without host memory")?;
    for (pitch, what) in [(60, "a row pitch of less than a row"), (66, "a row pitch that splits texels")] {
        let wrong = cl_image_desc { image_row_pitch: pitch, ..flat };
        let copied = write | CL_MEM_COPY_HOST_PTR;
        refuse(copied, &RGBA, &wrong, true, CL_INVALID_IMAGE_DESCRIPTOR, what)?;
    }
    for (wrong, what) in [
        (cl_image_desc { image_width: 1 << 30, ..flat }, "too wide"),
        (cl_image_desc { image_height: 1 << 30, ..flat }, "too high"),
    ] {
        refuse(write, &RGBA, &wrong, false, CL_INVALID_IMAGE_SIZE, what)?;
    }
    for flag in [CL_MEM_USE_HOST_PTR, CL_MEM_COPY_HOST_PTR] {
        refuse(write | flag, &RGBA, &flat, false, CL_INVALID_HOST_PTR, "no host memory")?;
    }
    refuse(write, &RGBA, &flat, true, CL_INVALID_HOST_PTR, "host memory that is not asked for")?;
    Ok(())
}

/// Calls that Intel's driver accepts, returns another code for, or crashes on.
pub fn refused_strictly() -> Outcome {
    let flat = descriptor(CL_MEM_OBJECT_IMAGE2D, [16, 8, 1]);
    let deep = descriptor(CL_MEM_OBJECT_IMAGE3D, [16, 8, 4]);
    let (write, copied) = (CL_MEM_READ_WRITE, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR);
    refuse(write, &RGBA, null(), false, CL_INVALID_IMAGE_DESCRIPTOR, "no descriptor")?;
    for (wrong, what) in [
        (cl_image_desc { image_type: CL_MEM_OBJECT_BUFFER, ..flat }, "a buffer"),
        (cl_image_desc { num_mip_levels: 2, ..flat }, "mipmaps"),
        (cl_image_desc { num_samples: 4, ..flat }, "samples"),
        (cl_image_desc { image_slice_pitch: 64 * 8, ..deep }, "a slice pitch without host memory"),
    ] {
        refuse(write, &RGBA, &wrong, false, CL_INVALID_IMAGE_DESCRIPTOR, what)?;
    }
    for (pitch, what) in
        [(64 * 7, "a slice pitch of less than a slice"), (64 * 8 + 4, "one that splits rows")]
    {
        let wrong = cl_image_desc { image_slice_pitch: pitch, ..deep };
        refuse(copied, &RGBA, &wrong, true, CL_INVALID_IMAGE_DESCRIPTOR, what)?;
    }
    for (wrong, what) in [
        (cl_image_desc { image_width: 0, ..flat }, "no width"),
        (cl_image_desc { image_height: 0, ..flat }, "no height"),
        (cl_image_desc { image_depth: 0, ..deep }, "no depth"),
        (cl_image_desc { image_depth: 1 << 30, ..deep }, "too deep"),
        (descriptor(CL_MEM_OBJECT_IMAGE1D_ARRAY, [16, 0, 1]), "no images in the array"),
        (descriptor(CL_MEM_OBJECT_IMAGE2D_ARRAY, [16, 8, 1 << 30]), "too many images in the array"),
        (descriptor(CL_MEM_OBJECT_IMAGE1D, [0, 1, 1]), "a line of no texels"),
    ] {
        refuse(write, &RGBA, &wrong, false, CL_INVALID_IMAGE_SIZE, what)?;
    }
    let packed = cl_image_format {
        image_channel_order: CL_RGBA,
        image_channel_data_type: opencl_sys::CL_UNORM_INT_101010_2,
    };
    refuse(write, &packed, &flat, false, CL_IMAGE_FORMAT_NOT_SUPPORTED, "packed texels")?;
    let (api, context, mut code) = (api()?, Gpu::get()?.context.get(), 1);
    let properties = [0x1234, 1, 0];
    // SAFETY: the list ends with zero.
    unsafe {
        (api.clCreateImageWithProperties)(
            context,
            properties.as_ptr(),
            write,
            &RGBA,
            &flat,
            null_mut(),
            &mut code,
        )
    };
    expect(code, opencl_sys::CL_INVALID_PROPERTY, "a property that there is not")
}

/// The functions of OpenCL 1.1.
pub fn refused_2d_3d() -> Outcome {
    let (api, context) = (api()?, Gpu::get()?.context.get());
    let mut memory = vec![0u8; 1 << 16];
    let copied = CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR;
    let mut flat = |width, height, pitch, host: bool| {
        let (flags, host) =
            if host { (copied, memory.as_mut_ptr().cast()) } else { (CL_MEM_READ_WRITE, null_mut()) };
        let mut code = 1;
        // SAFETY: there is more host memory than the images have.
        let image =
            unsafe { (api.clCreateImage2D)(context, flags, &RGBA, width, height, pitch, host, &mut code) };
        if !image.is_null() {
            // SAFETY: the image was made here.
            unsafe { (api.clReleaseMemObject)(image) };
        }
        code
    };
    expect(flat(16, 8, 0, false), CL_SUCCESS, "clCreateImage2D")?;
    expect(flat(16, 8, 80, true), CL_SUCCESS, "clCreateImage2D with a pitch")?;
    expect(flat(0, 8, 0, false), CL_INVALID_IMAGE_SIZE, "no width")?;
    expect(flat(16, 0, 0, false), CL_INVALID_IMAGE_SIZE, "no height")?;
    expect(flat(1 << 30, 8, 0, false), CL_INVALID_IMAGE_SIZE, "too wide")?;
    let deep = |depth| {
        let mut code = 1;
        // SAFETY: no host memory.
        let image = unsafe {
            (api.clCreateImage3D)(
                context,
                CL_MEM_READ_WRITE,
                &RGBA,
                16,
                8,
                depth,
                0,
                0,
                null_mut(),
                &mut code,
            )
        };
        if !image.is_null() {
            // SAFETY: the image was made here.
            unsafe { (api.clReleaseMemObject)(image) };
        }
        code
    };
    expect(deep(4), CL_SUCCESS, "clCreateImage3D")?;
    expect(deep(0), CL_INVALID_IMAGE_SIZE, "no depth")?;
    expect(deep(1), CL_INVALID_IMAGE_SIZE, "one slice")?;
    expect(flat(16, 8, 60, true), CL_INVALID_IMAGE_SIZE, "a pitch of less than a row")?;
    expect(flat(16, 8, 64, false), CL_INVALID_IMAGE_SIZE, "a pitch without host memory")?;

    Ok(())
}

/// Texels from memory with gaps.
pub fn host_pointers() -> Outcome {
    for kind in KINDS {
        for flag in [CL_MEM_COPY_HOST_PTR, CL_MEM_USE_HOST_PTR] {
            let wanted = [11usize, 6, 3];
            let sides = sides(kind, wanted);
            let array = kind == CL_MEM_OBJECT_IMAGE1D_ARRAY;
            let row = 64;
            let slice = if array { row } else { row * (sides[1] + 1) };
            let mut given = descriptor(kind, wanted);
            given.image_row_pitch = row;
            given.image_slice_pitch = if array || sides[2] > 1 { slice } else { 0 };
            let mut host = pattern(slice * sides[1].max(sides[2]));
            let handle = Image::create(CL_MEM_READ_WRITE | flag, &RGBA, &given, host.as_mut_ptr().cast())
                .map_err(|error| format!("kind {kind:#x}: {error}"))?;
            let image = Image { handle, sides, texel: TEXEL };
            let ask = ask!(clGetImageInfo, handle);
            let pitches = (number(&ask, CL_IMAGE_ROW_PITCH)?, number(&ask, CL_IMAGE_SLICE_PITCH)?);
            if pitches != (row as u64, given.image_slice_pitch as u64) {
                return Err(format!(
                    "kind {kind:#x}: pitches {pitches:?}, expected {row}, {}",
                    given.image_slice_pitch
                ));
            }
            let mut texels = vec![0; image.bytes()];
            let steps = if array { [slice, 0] } else { [row, slice] };
            copy((&host, [0; 3], steps), (&mut texels, [0; 3], dense(sides)), sides);
            image.expect(&texels).map_err(|error| format!("kind {kind:#x}: {error}"))?;
        }
    }
    Ok(())
}

fn of(kind: u32, width: usize, height: usize, buffer: cl_mem) -> cl_image_desc {
    cl_image_desc {
        image_type: kind,
        image_height: height,
        buffer,
        ..descriptor(CL_MEM_OBJECT_IMAGE1D, [width, 1, 1])
    }
}

/// An image is the buffer's bytes.
pub fn of_buffer() -> Outcome {
    let gpu = Gpu::get()?;
    let data = pattern(64 * TEXEL * 8);
    let extensions = gpu.device.extensions().map_err(|error| error.to_string())?;
    let planes = extensions.contains("cl_khr_image2d_from_buffer");
    let line = |pitch: usize| Some((CL_MEM_OBJECT_IMAGE1D_BUFFER, [64usize, 1, 1], pitch));
    let plane = planes.then_some((CL_MEM_OBJECT_IMAGE2D, [64, 8, 1], 64 * TEXEL));
    // A line may have a pitch, of which nothing but the texels has to be in the buffer.
    let lines = [0, 64 * TEXEL, 67 * TEXEL, 4096 * TEXEL].map(line);
    for (kind, sides, pitch) in lines.into_iter().chain([plane]).flatten() {
        let mut buffer = gpu.buffer(&data)?;
        let parent = buffer.memory().get();
        let mut given = of(kind, sides[0], if sides[1] > 1 { sides[1] } else { 0 }, parent);
        given.image_row_pitch = pitch;
        let handle = Image::create(0, &RGBA, &given, null_mut())
            .map_err(|error| format!("kind {kind:#x}: {error}"))?;
        let image = Image { handle, sides, texel: TEXEL };
        image.expect(&data[..image.bytes()])?;
        let inverted: Vec<u8> = data.iter().map(|byte| !*byte).collect();
        image.write_all(&inverted[..image.bytes()])?;
        if buffer.read()?[..image.bytes()] != inverted[..image.bytes()] {
            return Err(format!("kind {kind:#x}: the buffer has not changed"));
        }
        buffer.write(&data)?;
        image.expect(&data[..image.bytes()])?;
        let found = number(&ask!(clGetImageInfo, handle), CL_IMAGE_ROW_PITCH)?;
        let expected = if pitch == 0 { sides[0] * TEXEL } else { pitch };
        if found != expected as u64 {
            return Err(format!("kind {kind:#x}: rows of {found} bytes, expected {expected}"));
        }
        let of_memory = ask!(clGetMemObjectInfo, handle);
        let parents = [
            number(&ask!(clGetImageInfo, handle), CL_IMAGE_BUFFER)?,
            number(&of_memory, CL_MEM_ASSOCIATED_MEMOBJECT)?,
        ];
        if parents != [parent as u64; 2] {
            return Err(format!("kind {kind:#x}: made of {parents:x?}, not of {parent:?}"));
        }
    }
    Ok(())
}

pub fn of_buffer_refused() -> Outcome {
    let gpu = Gpu::get()?;
    let buffer = gpu.buffer(&[0u8; 4096])?;
    let memory = buffer.memory().get();
    let line = CL_MEM_OBJECT_IMAGE1D_BUFFER;
    let good = of(line, 64, 0, memory);
    let used = CL_MEM_USE_HOST_PTR;
    refuse(used, &RGBA, &good, false, CL_INVALID_VALUE, "host pointer flags")?;
    // SAFETY: no host memory.
    let read_only = unsafe {
        opencl3::memory::Buffer::<u8>::create(
            &gpu.context,
            CL_MEM_READ_ONLY | CL_MEM_HOST_NO_ACCESS,
            4096,
            null_mut(),
        )
    };
    let read_only = read_only.map_err(|error| error.to_string())?;
    let given = of(line, 64, 0, read_only.get());
    refuse(
        CL_MEM_WRITE_ONLY,
        &RGBA,
        &given,
        false,
        CL_INVALID_VALUE,
        "writing where the buffer is only read",
    )?;
    let flag = opencl_sys::CL_MEM_HOST_READ_ONLY;
    refuse(flag, &RGBA, &given, false, CL_INVALID_VALUE, "host access where the buffer has none")?;
    if gpu.foreign_platform().is_some() {
        return Ok(());
    }
    let nothing = of(line, 64, 0, null_mut());
    refuse(0, &RGBA, &nothing, false, CL_INVALID_IMAGE_DESCRIPTOR, "a line of no buffer")?;
    refuse(0, &RGBA, &of(line, 0, 0, memory), false, CL_INVALID_IMAGE_SIZE, "no width")?;
    refuse(0, &RGBA, &of(line, 1025, 0, memory), false, CL_INVALID_IMAGE_SIZE, "more than the buffer has")?;
    for pitch in [63 * TEXEL, 64 * TEXEL + 2] {
        let line = cl_image_desc { image_row_pitch: pitch, ..of(line, 64, 0, memory) };
        refuse(0, &RGBA, &line, false, CL_INVALID_IMAGE_DESCRIPTOR, "a pitch that is no row of texels")?;
    }
    let plane = |width, height, pitch| cl_image_desc {
        image_row_pitch: pitch,
        ..of(CL_MEM_OBJECT_IMAGE2D, width, height, memory)
    };
    let format = CL_INVALID_IMAGE_FORMAT_DESCRIPTOR;
    refuse(0, &RGBA, &plane(15, 8, 0), false, format, "a row pitch that is not aligned")?;
    refuse(
        0,
        &RGBA,
        &plane(4, 1, (256 << 10) + 64),
        false,
        CL_INVALID_IMAGE_DESCRIPTOR,
        "too long a row pitch",
    )?;
    refuse(0, &RGBA, &plane(16, 100, 0), false, CL_INVALID_IMAGE_SIZE, "more rows than the buffer has")?;
    let image = Image::new(CL_MEM_OBJECT_IMAGE2D, [16, 8, 1])?;
    let view = of(CL_MEM_OBJECT_IMAGE2D, 16, 8, image.handle);
    refuse(0, &RGBA, &view, false, format, "an image of an image of the same order")?;
    let other = of(CL_MEM_OBJECT_IMAGE2D, 8, 8, image.handle);
    refuse(0, &RGBA, &other, false, CL_INVALID_IMAGE_DESCRIPTOR, "an image of a part of an image")?;
    let deep = cl_image_desc { buffer: memory, ..descriptor(CL_MEM_OBJECT_IMAGE3D, [4, 4, 4]) };
    refuse(0, &RGBA, &deep, false, CL_INVALID_IMAGE_DESCRIPTOR, "three dimensions of a buffer")
}
