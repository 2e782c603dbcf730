//! What commands on images move.

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use gencl_utest::raw::api;
use gencl_utest::{Gpu, Outcome};
use opencl_sys::{
    CL_BGRA, CL_FLOAT, CL_HALF_FLOAT, CL_MAP_READ, CL_MAP_WRITE, CL_MEM_MAP_COUNT, CL_MEM_OBJECT_IMAGE1D,
    CL_MEM_OBJECT_IMAGE1D_ARRAY, CL_MEM_OBJECT_IMAGE2D, CL_MEM_OBJECT_IMAGE3D, CL_MEM_READ_WRITE,
    CL_MEM_USE_HOST_PTR, CL_R, CL_RG, CL_RGBA, CL_SIGNED_INT8, CL_SIGNED_INT16, CL_SIGNED_INT32,
    CL_SNORM_INT8, CL_SNORM_INT16, CL_SUCCESS, CL_TRUE, CL_UNORM_INT8, CL_UNORM_INT16, CL_UNSIGNED_INT8,
    CL_UNSIGNED_INT16, CL_UNSIGNED_INT32, cl_image_format, cl_map_flags,
};
use opencl3::memory::ClMem;

use super::image::{Image, KINDS, RGBA, TEXEL, copy as copy_texels, dense, descriptor, pattern, sides};
use crate::information::{ask, expect, number};
use crate::memory::same;

/// A part of each kind, with pitches of the host's own.
pub fn read_write() -> Outcome {
    let (api, queue) = (api()?, Gpu::get()?.queue()?);
    for kind in KINDS {
        let image = Image::new(kind, [23, 9, 5])?;
        let mut texels = pattern(image.bytes());
        image.write_all(&texels)?;
        image.expect(&texels).map_err(|error| format!("kind {kind:#x}: {error}"))?;
        let (origin, region) = (sides(kind, [3, 2, 1]), sides(kind, [11, 4, 3]));
        let origin = [
            origin[0],
            if origin[1] == 1 { 0 } else { origin[1] },
            if image.sides[2] == 1 { 0 } else { origin[2] },
        ];
        // Rows with gaps; the images of an array of one dimension are slices.
        let array = kind == CL_MEM_OBJECT_IMAGE1D_ARRAY;
        let row = 13 * TEXEL;
        let slice = if array { 2 * row } else { row * (region[1] + 2) };
        let has_slices = array || image.sides[2] > 1;
        let steps = if array { [slice, 0] } else { [row, slice] };
        let mut host = vec![0xeeu8; slice * region[1].max(region[2])];
        // SAFETY: blocking, and the host's memory is of the size that pitches and region say.
        let code = unsafe {
            (api.clEnqueueReadImage)(
                queue.get(),
                image.handle,
                CL_TRUE,
                origin.as_ptr(),
                region.as_ptr(),
                row,
                if has_slices { slice } else { 0 },
                host.as_mut_ptr().cast(),
                0,
                null(),
                null_mut(),
            )
        };
        expect(code, CL_SUCCESS, "clEnqueueReadImage")?;
        let mut expected = vec![0xeeu8; host.len()];
        copy_texels((&texels, origin, dense(image.sides)), (&mut expected, [0; 3], steps), region);
        same(&host, &expected).map_err(|error| format!("reading of kind {kind:#x}: {error}"))?;
        host.iter_mut().for_each(|byte| *byte ^= 0x5a);
        // SAFETY: blocking, and the host's memory is of the size that pitches and region say.
        let code = unsafe {
            (api.clEnqueueWriteImage)(
                queue.get(),
                image.handle,
                CL_TRUE,
                origin.as_ptr(),
                region.as_ptr(),
                row,
                if has_slices { slice } else { 0 },
                host.as_ptr().cast(),
                0,
                null(),
                null_mut(),
            )
        };
        expect(code, CL_SUCCESS, "clEnqueueWriteImage")?;
        copy_texels((&host, [0; 3], steps), (&mut texels, origin, dense(image.sides)), region);
        image.expect(&texels).map_err(|error| format!("writing of kind {kind:#x}: {error}"))?;
    }
    Ok(())
}

/// Within an image, and between images of all kinds.
pub fn copy() -> Outcome {
    let (api, queue) = (api()?, Gpu::get()?.queue()?);
    let between = |from: &Image, to: &Image, at: ([usize; 3], [usize; 3]), region: [usize; 3]| -> Outcome {
        let texels = pattern(from.bytes());
        from.write_all(&texels)?;
        let mut expected = if from.handle == to.handle { texels.clone() } else { vec![9; to.bytes()] };
        to.write_all(&expected)?;
        // SAFETY: handles are alive.
        let code = unsafe {
            (api.clEnqueueCopyImage)(
                queue.get(),
                from.handle,
                to.handle,
                at.0.as_ptr(),
                at.1.as_ptr(),
                region.as_ptr(),
                0,
                null(),
                null_mut(),
            )
        };
        expect(code, CL_SUCCESS, "clEnqueueCopyImage")?;
        queue.finish().map_err(|error| error.to_string())?;
        copy_texels((&texels, at.0, dense(from.sides)), (&mut expected, at.1, dense(to.sides)), region);
        to.expect(&expected)
    };
    let flat = Image::new(CL_MEM_OBJECT_IMAGE2D, [20, 16, 1])?;
    let deep = Image::new(CL_MEM_OBJECT_IMAGE3D, [17, 12, 4])?;
    let line = Image::new(CL_MEM_OBJECT_IMAGE1D, [30, 1, 1])?;
    between(&flat, &deep, ([2, 3, 0], [1, 1, 2]), [10, 7, 1]).map_err(|e| format!("plane to slice: {e}"))?;
    between(&deep, &flat, ([4, 0, 3], [0, 5, 0]), [13, 11, 1]).map_err(|e| format!("slice to plane: {e}"))?;
    between(&line, &flat, ([5, 0, 0], [1, 15, 0]), [19, 1, 1]).map_err(|e| format!("line to row: {e}"))?;
    between(&flat, &flat, ([0, 0, 0], [10, 8, 0]), [10, 8, 1]).map_err(|e| format!("within: {e}"))
}

/// To and from the middle of a buffer.
pub fn copy_buffer() -> Outcome {
    let (api, gpu) = (api()?, Gpu::get()?);
    let queue = gpu.queue()?;
    for kind in KINDS {
        let image = Image::new(kind, [15, 6, 4])?;
        let mut texels = pattern(image.bytes());
        image.write_all(&texels)?;
        let region = sides(kind, [7, 3, 2]);
        let origin = [5, if region[1] == 1 { 0 } else { 2 }, if region[2] == 1 { 0 } else { 1 }];
        let bytes = region.iter().product::<usize>() * TEXEL;
        let offset = 64;
        let buffer = gpu.buffer(&vec![3u8; offset + bytes + 10])?;
        // SAFETY: handles are alive.
        let code = unsafe {
            (api.clEnqueueCopyImageToBuffer)(
                queue.get(),
                image.handle,
                buffer.memory().get(),
                origin.as_ptr(),
                region.as_ptr(),
                offset,
                0,
                null(),
                null_mut(),
            )
        };
        expect(code, CL_SUCCESS, "clEnqueueCopyImageToBuffer")?;
        queue.finish().map_err(|error| error.to_string())?;
        let mut expected = vec![3u8; offset + bytes + 10];
        copy_texels(
            (&texels, origin, dense(image.sides)),
            (&mut expected[offset..], [0; 3], dense(region)),
            region,
        );
        same(&buffer.read()?, &expected).map_err(|error| format!("kind {kind:#x} to a buffer: {error}"))?;
        let data = pattern(expected.len());
        let mut buffer = buffer;
        buffer.write(&data)?;
        // SAFETY: handles are alive; origin and region have three elements.
        let code = unsafe {
            (api.clEnqueueCopyBufferToImage)(
                queue.get(),
                buffer.memory().get(),
                image.handle,
                offset,
                origin.as_ptr(),
                region.as_ptr(),
                0,
                null(),
                null_mut(),
            )
        };
        expect(code, CL_SUCCESS, "clEnqueueCopyBufferToImage")?;
        queue.finish().map_err(|error| error.to_string())?;
        copy_texels(
            (&data[offset..], [0; 3], dense(region)),
            (&mut texels, origin, dense(image.sides)),
            region,
        );
        image.expect(&texels).map_err(|error| format!("a buffer to kind {kind:#x}: {error}"))?;
    }
    Ok(())
}

/// A color's components as they are given, the format's channel order and type, and the bytes of a texel.
type Filled = ([u32; 4], u32, u32, Vec<u8>);

fn words(words: [u16; 4]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_ne_bytes()).collect()
}

fn all(numbers: [u32; 4]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_ne_bytes()).collect()
}

/// Colors that channels have exactly.
fn exact() -> Vec<Filled> {
    let shares = [0.0f32, 1.0, 0.2, 0.6].map(f32::to_bits);
    let signs = [1.0f32, -1.0, 0.0, 1.0].map(f32::to_bits);
    let floats = [0.25f32, 1.0, -1.0, 2.0].map(f32::to_bits);
    let numbers = [5u32, 100, 0, 127];
    vec![
        (shares, CL_RGBA, CL_UNORM_INT8, vec![0, 255, 51, 153]),
        (shares, CL_BGRA, CL_UNORM_INT8, vec![51, 255, 0, 153]),
        (shares, CL_RG, CL_UNORM_INT8, vec![0, 255]),
        (shares, CL_RG, CL_UNORM_INT16, words([0, 65535, 0, 0])[..4].to_vec()),
        (signs, CL_RGBA, CL_SNORM_INT8, vec![127, 0x81, 0, 127]),
        (signs, CL_RGBA, CL_SNORM_INT16, words([32767, 0x8001, 0, 32767])),
        (floats, CL_RGBA, CL_HALF_FLOAT, words([0x3400, 0x3c00, 0xbc00, 0x4000])),
        (floats, CL_RGBA, CL_FLOAT, all(floats)),
        (floats, CL_R, CL_FLOAT, all(floats)[..4].to_vec()),
        (numbers, CL_RGBA, CL_UNSIGNED_INT8, vec![5, 100, 0, 127]),
        (numbers, CL_RGBA, CL_SIGNED_INT8, vec![5, 100, 0, 127]),
        (numbers, CL_RGBA, CL_UNSIGNED_INT16, words([5, 100, 0, 127])),
        (numbers, CL_RGBA, CL_SIGNED_INT16, words([5, 100, 0, 127])),
        (numbers, CL_RGBA, CL_UNSIGNED_INT32, all(numbers)),
        (numbers, CL_R, CL_SIGNED_INT32, all(numbers)[..4].to_vec()),
    ]
}

/// Colors that are rounded to the nearest and kept in range, as kernels that write images do it (OpenCL C,
/// 8.3). Intel's driver and pocl cut them off.
fn nearest() -> Vec<Filled> {
    let floats = [0.25f32, 1.0, -1.0, 2.0].map(f32::to_bits);
    let numbers = [5u32, 70_000, (-70_000i32).cast_unsigned(), 0x1234_5678];
    vec![
        (floats, CL_RGBA, CL_UNORM_INT8, vec![64, 255, 0, 255]),
        (floats, CL_R, CL_UNORM_INT16, words([16384, 0, 0, 0])[..2].to_vec()),
        (floats, CL_RGBA, CL_SNORM_INT8, vec![32, 127, 0x81, 127]),
        (floats, CL_RGBA, CL_SNORM_INT16, words([8192, 32767, 0x8001, 32767])),
        (numbers, CL_RGBA, CL_UNSIGNED_INT8, vec![5, 255, 255, 255]),
        (numbers, CL_RGBA, CL_SIGNED_INT8, vec![5, 127, 0x80, 127]),
        (numbers, CL_RGBA, CL_UNSIGNED_INT16, words([5, 0xffff, 0xffff, 0xffff])),
        (numbers, CL_RGBA, CL_SIGNED_INT16, words([5, 0x7fff, 0x8000, 0x7fff])),
    ]
}

/// Colors in all types of channels.
pub fn fill() -> Outcome {
    filled(exact())
}

pub fn fill_rounded() -> Outcome {
    filled(nearest())
}

/// Fills a part of an image with each of the colors.
fn filled(colors: Vec<Filled>) -> Outcome {
    let (api, queue) = (api()?, Gpu::get()?.queue()?);
    for (color, order, ty, texel) in colors {
        let format = cl_image_format { image_channel_order: order, image_channel_data_type: ty };
        let size = [9usize, 5, 1];
        let handle =
            Image::create(CL_MEM_READ_WRITE, &format, &descriptor(CL_MEM_OBJECT_IMAGE2D, size), null_mut())?;
        // Only to be released.
        let image = Image { handle, sides: size, texel: TEXEL };
        let mut data = vec![0x11u8; size.iter().product::<usize>() * texel.len()];
        let (origin, region, zero) = ([2usize, 1, 0], [4usize, 3, 1], [0usize; 3]);
        // SAFETY: blocking where memory is the host's, and that has the size of the image.
        let codes = unsafe {
            [
                (api.clEnqueueWriteImage)(
                    queue.get(),
                    image.handle,
                    CL_TRUE,
                    zero.as_ptr(),
                    size.as_ptr(),
                    0,
                    0,
                    data.as_ptr().cast(),
                    0,
                    null(),
                    null_mut(),
                ),
                (api.clEnqueueFillImage)(
                    queue.get(),
                    image.handle,
                    color.as_ptr().cast(),
                    origin.as_ptr(),
                    region.as_ptr(),
                    0,
                    null(),
                    null_mut(),
                ),
                (api.clEnqueueReadImage)(
                    queue.get(),
                    image.handle,
                    CL_TRUE,
                    zero.as_ptr(),
                    size.as_ptr(),
                    0,
                    0,
                    data.as_mut_ptr().cast(),
                    0,
                    null(),
                    null_mut(),
                ),
            ]
        };
        if codes != [CL_SUCCESS; 3] {
            return Err(format!("order {order:#x}, type {ty:#x}: {codes:?}"));
        }
        for (index, found) in data.chunks_exact(texel.len()).enumerate() {
            let (x, y) = (index % size[0], index / size[0]);
            let within = (2..6).contains(&x) && (1..4).contains(&y);
            let expected = if within { texel.clone() } else { vec![0x11; texel.len()] };
            if found != expected {
                return Err(format!(
                    "order {order:#x}, type {ty:#x}, texel {x} {y}: {found:x?}, expected {expected:x?}"
                ));
            }
        }
    }
    Ok(())
}

/// A region that is mapped: where it is, and its pitches.
struct Mapped {
    pointer: *mut u8,
    row: usize,
    slice: usize,
}

fn map_region(
    image: &Image,
    flags: cl_map_flags,
    origin: [usize; 3],
    region: [usize; 3],
) -> Result<Mapped, String> {
    let (api, queue) = (api()?, Gpu::get()?.queue()?);
    let (mut row, mut slice, mut code) = (0, 77, 1);
    // SAFETY: blocking; handles are alive.
    let pointer = unsafe {
        (api.clEnqueueMapImage)(
            queue.get(),
            image.handle,
            CL_TRUE,
            flags,
            origin.as_ptr(),
            region.as_ptr(),
            &mut row,
            &mut slice,
            0,
            null(),
            null_mut(),
            &mut code,
        )
    };
    expect(code, CL_SUCCESS, "clEnqueueMapImage")?;
    Ok(Mapped { pointer: pointer.cast(), row, slice })
}

fn unmap(image: &Image, pointer: *mut u8) -> Outcome {
    let (api, queue) = (api()?, Gpu::get()?.queue()?);
    // SAFETY: the image is alive; a wrong pointer is the driver's to refuse.
    let code = unsafe {
        (api.clEnqueueUnmapMemObject)(
            queue.get(),
            image.handle,
            pointer.cast::<c_void>(),
            0,
            null(),
            null_mut(),
        )
    };
    expect(code, CL_SUCCESS, "clEnqueueUnmapMemObject")?;
    queue.finish().map_err(|error| error.to_string())
}

/// A part of each kind is read and written where it is mapped; what is around stays.
pub fn map() -> Outcome {
    for kind in KINDS {
        let image = Image::new(kind, [12, 7, 3])?;
        let mut texels = pattern(image.bytes());
        image.write_all(&texels)?;
        let region = sides(kind, [5, 3, 2]);
        let origin = [4, if region[1] == 1 { 0 } else { 2 }, if region[2] == 1 { 0 } else { 1 }];
        let mapped = map_region(&image, CL_MAP_READ | CL_MAP_WRITE, origin, region)?;
        let handle = image.handle;
        if number(&ask!(clGetMemObjectInfo, handle), CL_MEM_MAP_COUNT)? != 1 {
            return Err(format!("kind {kind:#x}: the region does not count as mapped"));
        }
        let array = kind == CL_MEM_OBJECT_IMAGE1D_ARRAY;
        if !array && image.sides[2] == 1 && mapped.slice != 0 {
            return Err(format!("kind {kind:#x}: a slice pitch of {}", mapped.slice));
        }
        let steps = if array { [mapped.slice, 0] } else { [mapped.row, mapped.slice] };
        let last = (region[1] - 1) * steps[0] + (region[2] - 1) * steps[1] + region[0] * TEXEL;
        // SAFETY: the region is mapped from its first byte to its last.
        let memory = unsafe { std::slice::from_raw_parts_mut(mapped.pointer, last) };
        let mut found = vec![0; region.iter().product::<usize>() * TEXEL];
        let mut expected = found.clone();
        copy_texels((memory, [0; 3], steps), (&mut found, [0; 3], dense(region)), region);
        copy_texels((&texels, origin, dense(image.sides)), (&mut expected, [0; 3], dense(region)), region);
        same(&found, &expected).map_err(|error| format!("kind {kind:#x}, mapped: {error}"))?;
        found.iter_mut().for_each(|byte| *byte ^= 0xff);
        copy_texels((&found, [0; 3], dense(region)), (memory, [0; 3], steps), region);
        unmap(&image, mapped.pointer)?;
        copy_texels((&found, [0; 3], dense(region)), (&mut texels, origin, dense(image.sides)), region);
        image.expect(&texels).map_err(|error| format!("kind {kind:#x}, unmapped: {error}"))?;
        if number(&ask!(clGetMemObjectInfo, handle), CL_MEM_MAP_COUNT)? != 0 {
            return Err(format!("kind {kind:#x}: the region still counts as mapped"));
        }
    }
    Ok(())
}

/// An image of host memory is mapped there, with the host's pitches.
pub fn map_host_pointer() -> Outcome {
    let size = [10usize, 6, 1];
    // Rows of 64 bytes at an address that nothing else is to be expected of.
    let row = 64;
    let mut host = pattern(row * size[1] + 4);
    let mut wanted = descriptor(CL_MEM_OBJECT_IMAGE2D, size);
    wanted.image_row_pitch = row;
    // SAFETY: four bytes from the beginning on there are six rows, for longer than the image lives.
    let pointer = unsafe { host.as_mut_ptr().add(4) };
    let handle = Image::create(CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, &RGBA, &wanted, pointer.cast())?;
    let image = Image { handle, sides: size, texel: TEXEL };
    let mut texels = vec![0; image.bytes()];
    copy_texels((&host[4..], [0; 3], [row, 0]), (&mut texels, [0; 3], dense(size)), size);
    image.expect(&texels)?;
    texels.iter_mut().for_each(|byte| *byte = !*byte);
    image.write_all(&texels)?;
    let mapped = map_region(&image, CL_MAP_READ, [2, 3, 0], [8, 3, 1])?;
    if mapped.pointer != pointer.wrapping_add(3 * row + 2 * TEXEL) || mapped.row != row {
        let offset = mapped.pointer as isize - pointer as isize;
        return Err(format!("mapped {offset} bytes behind the host pointer, row pitch {}", mapped.row));
    }
    let mut found = vec![0; 8 * 3 * TEXEL];
    // SAFETY: three rows are mapped there.
    let memory = unsafe { std::slice::from_raw_parts(mapped.pointer, 2 * row + 8 * TEXEL) };
    copy_texels((memory, [0; 3], [row, 0]), (&mut found, [0; 3], dense([8, 3, 1])), [8, 3, 1]);
    unmap(&image, mapped.pointer)?;
    let mut expected = found.clone();
    copy_texels((&texels, [2, 3, 0], dense(size)), (&mut expected, [0; 3], dense([8, 3, 1])), [8, 3, 1]);
    same(&found, &expected)
}
