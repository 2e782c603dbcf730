//! Kernels that read and write images, compared with [`super::reference`].

#![allow(non_upper_case_globals, reason = "the API's names in patterns")]

use std::ffi::c_void;
use std::ptr::null_mut;

use gencl_utest::{Arg, Gpu, Launch, Outcome, Random};
use opencl_sys::{
    CL_A, CL_ABGR, CL_ADDRESS_CLAMP, CL_ADDRESS_NONE, CL_ARGB, CL_BGRA, CL_FLOAT, CL_HALF_FLOAT,
    CL_INTENSITY, CL_LUMINANCE, CL_MEM_KERNEL_READ_AND_WRITE, CL_MEM_OBJECT_IMAGE2D, CL_MEM_READ_ONLY,
    CL_MEM_READ_WRITE, CL_MEM_USE_HOST_PTR, CL_R, CL_RA, CL_RG, CL_RGB, CL_RGBA, CL_SIGNED_INT8,
    CL_SIGNED_INT16, CL_SNORM_INT8, CL_SNORM_INT16, CL_UNORM_INT8, CL_UNORM_SHORT_565, CL_UNSIGNED_INT16,
    CL_UNSIGNED_INT32, cl_image_format,
};
use opencl3::memory::ClMem;

use super::image::{Image, descriptor};
use super::kinds::{KINDS, Kind, OwnSampler, PLANE, SIDES, samplers, tolerance};
use super::reference::{Access, Allowed, Reference, Sampler, decode, texel_bytes};
use crate::memory::same;

/// Bytes of texels: of floats numbers from 0 to 1, of all others any but the second one that means -1.
fn random_texels(random: &mut Random, format: &cl_image_format, count: usize) -> Vec<u8> {
    let part = |random: &mut Random| f32::from(random.below::<u16>(65)) / 64.0;
    let bytes = count * texel_bytes(format);
    match format.image_channel_data_type {
        CL_FLOAT => (0..bytes / 4).flat_map(|_| part(random).to_le_bytes()).collect(),
        CL_HALF_FLOAT => {
            (0..bytes / 2).flat_map(|_| half::f16::from_f32(part(random)).to_le_bytes()).collect()
        }
        CL_SNORM_INT8 => {
            (0..bytes).map(|_| random.next_u32() as u8).map(|b| b | u8::from(b == 0x80)).collect()
        }
        CL_SNORM_INT16 => (0..bytes / 2)
            .map(|_| random.next_u32() as u16)
            .flat_map(|word| (word | u16::from(word == 0x8000)).to_le_bytes())
            .collect(),
        _ => (0..bytes).map(|_| random.next_u32() as u8).collect(),
    }
}

fn everywhere(sides: [usize; 3]) -> Launch {
    Launch { global: sides.to_vec(), ..Launch::default() }
}

/// Complains about the first texel that differs by more than a tolerance.
fn check(found: &[[u32; 4]], expected: &[Allowed], access: Access, tolerance: f64) -> Outcome {
    for (index, (found, expected)) in found.iter().zip(expected).enumerate() {
        let found = found.map(|bits| access.value(bits));
        if !expected.has(found, tolerance) {
            return Err(format!("texel {index}: {found:?}, expected {expected:?}"));
        }
    }
    Ok(())
}

/// All texels are written by a kernel.
pub fn write() -> Outcome {
    let gpu = Gpu::get()?;
    let mut random = Random::new(1);
    for kind in KINDS {
        let program = kind.program()?;
        for format in kind.formats(CL_MEM_READ_WRITE)? {
            let access = Access::of(&format);
            let made = kind.image(CL_MEM_READ_WRITE, &format)?;
            let count = kind.sides().iter().product();
            let texels = random_texels(&mut random, &format, count);
            let input: Vec<[u32; 4]> = texels
                .chunks_exact(texel_bytes(&format))
                .map(|bytes| decode(&format, bytes).map(|value| access.bits(value)))
                .collect();
            let input = gpu.buffer(&input)?;
            let args = [Arg::Memory(made.image.handle), input.arg()];
            program.run(&format!("write_{}", access.name()), &args, &everywhere(kind.sides()))?;
            same_texels(&format, &made.image.read_all()?, &texels)
                .map_err(|error| format!("{kind:?} {format:x?}: {error}"))?;
        }
    }
    Ok(())
}

/// Complains about the first texel in memory that differs, but for the bits of packed ones that are undefined.
fn same_texels(format: &cl_image_format, found: &[u8], expected: &[u8]) -> Outcome {
    let size = texel_bytes(format);
    let are_same = |(own, other): (&[u8], &[u8])| {
        own == other || format.image_channel_order == CL_RGB && decode(format, own) == decode(format, other)
    };
    let wrong = found.chunks(size).zip(expected.chunks(size)).position(|pair| !are_same(pair));
    wrong.map_or(Ok(()), |index| {
        let [found, expected] = [found, expected].map(|bytes| &bytes[index * size..][..size]);
        Err(format!("texel {index}: {found:x?}, expected {expected:x?}"))
    })
}

/// All texels are read by a kernel without a sampler.
pub fn read() -> Outcome {
    let gpu = Gpu::get()?;
    let mut random = Random::new(2);
    for kind in KINDS {
        let program = kind.program()?;
        for format in kind.formats(CL_MEM_READ_ONLY)? {
            let access = Access::of(&format);
            let made = kind
                .image(CL_MEM_READ_ONLY, &format)
                .map_err(|error| format!("{kind:?} {format:x?}: {error}"))?;
            let count = kind.sides().iter().product();
            let texels = random_texels(&mut random, &format, count);
            made.image.write_all(&texels)?;
            let output = gpu.buffer(&vec![[0x77u32; 4]; count])?;
            let args = [Arg::Memory(made.image.handle), output.arg()];
            program.run(&format!("read_{}", access.name()), &args, &everywhere(kind.sides()))?;
            let expected: Vec<_> = texels
                .chunks_exact(texel_bytes(&format))
                .map(|bytes| Allowed::OneOf(vec![decode(&format, bytes)]))
                .collect();
            check(&output.read()?, &expected, access, tolerance(&format))
                .map_err(|error| format!("{kind:?} {format:x?}: {error}"))?;
        }
    }
    Ok(())
}

/// Kernels read and write all texels of one image, and try to outside of it.
pub fn read_and_write() -> Outcome {
    let gpu = Gpu::get()?;
    let mut random = Random::new(4);
    for kind in KINDS {
        let program = kind.program_with("-cl-std=CL3.0 -DREAD_WRITE", None)?;
        let sides = kind.sides();
        let launched = sides.map(|side| if side > 1 { side + 1 } else { side });
        let [width, height, depth] = launched;
        let places =
            (0..depth).flat_map(|z| (0..height).flat_map(move |y| (0..width).map(move |x| [x, y, z])));
        let inside: Vec<bool> =
            places.map(|place| place.iter().zip(sides).all(|(at, side)| *at < side)).collect();
        for format in kind.formats(CL_MEM_KERNEL_READ_AND_WRITE)? {
            let access = Access::of(&format);
            let size = texel_bytes(&format);
            let made = kind.image(CL_MEM_READ_WRITE, &format)?;
            let count = sides.iter().product();
            let texels = [(); 2].map(|()| random_texels(&mut random, &format, count));
            made.image.write_all(&texels[0])?;
            // What is read of the image, and zeros around it.
            let values = texels.each_ref().map(|texels| {
                let mut texels = texels.chunks_exact(size);
                let texel = |inside: &bool| if *inside { texels.next() } else { None };
                let all = inside.iter().map(texel).collect::<Vec<_>>();
                all.into_iter().map(|bytes| decode(&format, bytes.unwrap_or(&[0; 16]))).collect::<Vec<_>>()
            });
            let input: Vec<_> = values[1].iter().map(|value| value.map(|value| access.bits(value))).collect();
            let input = gpu.buffer(&input)?;
            let outputs = [(); 2].map(|()| gpu.buffer(&vec![[0x77u32; 4]; inside.len()]));
            let [before, after] = outputs;
            let (before, after) = (before?, after?);
            let args = [Arg::Memory(made.image.handle), input.arg(), before.arg(), after.arg()];
            program.run(&format!("update_{}", access.name()), &args, &everywhere(launched))?;
            let place = |error| format!("{kind:?} {format:x?}: {error}");
            same_texels(&format, &made.image.read_all()?, &texels[1]).map_err(place)?;
            for (found, expected) in [before, after].iter().zip(values) {
                let expected: Vec<_> =
                    expected.into_iter().map(|texel| Allowed::OneOf(vec![texel])).collect();
                check(&found.read()?, &expected, access, tolerance(&format)).map_err(place)?;
            }
        }
    }
    Ok(())
}

const fn format(order: u32, ty: u32) -> cl_image_format {
    cl_image_format { image_channel_order: order, image_channel_data_type: ty }
}

/// Formats for samplers: of each class of values and of border colours one.
const NEAREST: &[cl_image_format] = &[
    format(CL_RGBA, CL_UNORM_INT8),
    format(CL_RG, CL_SIGNED_INT16),
    format(CL_RGBA, CL_UNSIGNED_INT32),
    format(CL_R, CL_FLOAT),
    format(CL_INTENSITY, CL_UNORM_INT8),
    format(CL_LUMINANCE, CL_HALF_FLOAT),
    format(CL_LUMINANCE, CL_SNORM_INT8),
    format(CL_RGB, CL_UNORM_SHORT_565),
    format(CL_RA, CL_UNSIGNED_INT16),
    format(CL_ABGR, CL_UNORM_INT8),
    format(CL_ARGB, CL_SIGNED_INT8),
];
const LINEAR: &[cl_image_format] = &[
    format(CL_RGBA, CL_UNORM_INT8),
    format(CL_BGRA, CL_UNORM_INT8),
    format(CL_RGBA, CL_HALF_FLOAT),
    format(CL_R, CL_FLOAT),
    format(CL_ARGB, CL_UNORM_INT8),
    format(CL_A, CL_SNORM_INT16),
];

/// Coordinates in an image and, where the sampler defines what is read there, around it.
fn coordinates(random: &mut Random, kind: Kind, sampler: Sampler) -> [f32; 4] {
    let sides = kind.sides();
    let mut at = [0.0; 4];
    for axis in 0..3 {
        let side = if axis < kind.dimensions && sampler.normalized { 1.0 } else { sides[axis] as f32 };
        // The linear filter also reads the neighbours.
        let inner = if sampler.linear { side / 2.0 } else { 0.0 };
        at[axis] = match sampler.addressing {
            CL_ADDRESS_NONE if axis < kind.dimensions => random.float(inner, side - inner / 2.0),
            _ => random.float(-1.5 * side, 2.5 * side),
        };
    }
    at
}

fn sampled(formats: &[cl_image_format], linear: bool) -> Outcome {
    const COUNT: usize = 160;
    let gpu = Gpu::get()?;
    let mut random = Random::new(3);
    for kind in KINDS.iter().filter(|kind| kind.is_sampled()) {
        let program = kind.program()?;
        let mut listed = kind.formats(CL_MEM_READ_ONLY)?;
        let key = |format: &cl_image_format| (format.image_channel_order, format.image_channel_data_type);
        listed.retain(|format| kind.depth || formats.iter().any(|wanted| key(wanted) == key(format)));
        for format in &listed {
            let access = Access::of(format);
            let made = kind.image(CL_MEM_READ_ONLY, format)?;
            let texels = random_texels(&mut random, format, kind.sides().iter().product());
            made.image.write_all(&texels)?;
            let (sides, dimensions, array) = (kind.sides(), kind.dimensions, kind.array);
            let reference = Reference { format: *format, sides, dimensions, array, bytes: &texels };
            let off = tolerance(format);
            for sampler in samplers(linear) {
                let own = OwnSampler::new(sampler)?;
                let handle = (own.0 as usize).to_ne_bytes();
                let at: Vec<_> = (0..COUNT).map(|_| coordinates(&mut random, *kind, sampler)).collect();
                let (input, output) = (gpu.buffer(&at)?, gpu.buffer(&vec![[0x77u32; 4]; COUNT])?);
                let args = [Arg::Memory(made.image.handle), Arg::Bytes(&handle), input.arg(), output.arg()];
                let launch = Launch { global: vec![COUNT], ..Launch::default() };
                program.run(&format!("sample_{}", access.name()), &args, &launch)?;
                let expected: Vec<_> = at.iter().map(|at| reference.sample(sampler, *at)).collect();
                let place = |error| format!("{kind:?} {format:x?} {sampler:?}: {error}");
                check(&output.read()?, &expected, access, off).map_err(place)?;
                if linear || sampler.normalized || sampler.addressing == CL_ADDRESS_NONE {
                    continue;
                }
                let at: Vec<_> = at.iter().map(|at| at.map(|c| c as i32)).collect();
                let input = gpu.buffer(&at)?;
                let args = [Arg::Memory(made.image.handle), Arg::Bytes(&handle), input.arg(), output.arg()];
                program.run(&format!("fetch_{}", access.name()), &args, &launch)?;
                let texel = |at: &[i32; 4]| reference.sample(sampler, at.map(|c| c as f32));
                let expected: Vec<_> = at.iter().map(texel).collect();
                check(&output.read()?, &expected, access, off)
                    .map_err(|error| place(format!("at integers: {error}")))?;
            }
        }
    }
    Ok(())
}

pub fn nearest() -> Outcome {
    sampled(NEAREST, false)
}

pub fn linear() -> Outcome {
    sampled(LINEAR, true)
}

/// `get_image_*`
pub fn properties() -> Outcome {
    let gpu = Gpu::get()?;
    for kind in KINDS {
        let program = kind.program()?;
        let format = *kind.formats(CL_MEM_READ_WRITE)?.last().ok_or("no formats")?;
        let (made, other) =
            (kind.image(CL_MEM_READ_WRITE, &format)?, kind.image(CL_MEM_READ_WRITE, &format)?);
        let output = gpu.buffer(&[-1i32; 8])?;
        let args = [Arg::Memory(made.image.handle), Arg::Memory(other.image.handle), output.arg()];
        program.run("properties", &args, &Launch::linear(1, 1))?;
        let [width, ..] = SIDES.map(|side| side as i32);
        let [ty, order] = [format.image_channel_data_type, format.image_channel_order].map(|v| v as i32);
        let has = |option: &str, side: usize| {
            if kind.options.split(' ').any(|word| word == option) { SIDES[side] as i32 } else { -1 }
        };
        let layer_side = if kind.dimensions == 1 { 1 } else { 2 };
        let height = has("-DHEIGHT", 1);
        let slices = has("-DSLICES", 2);
        let layers = has("-DLAYERS", layer_side);
        let expected = [width, ty, order, width, height, height, slices, layers];
        same(&output.read()?, &expected).map_err(|error| format!("{kind:?}: {error}"))?;
    }
    Ok(())
}

/// Divergent reads, reads in loops, images and samplers handed to functions.
pub fn control_flow() -> Outcome {
    const SIDES: [usize; 3] = [9, 7, 1];
    const ITEMS: usize = 48;
    let gpu = Gpu::get()?;
    let format = format(CL_R, CL_UNSIGNED_INT32);
    let image = || -> Result<Image, String> {
        let wanted = descriptor(CL_MEM_OBJECT_IMAGE2D, SIDES);
        let handle = Image::create(CL_MEM_READ_WRITE, &format, &wanted, null_mut())?;
        Ok(Image { handle, sides: SIDES, texel: 4 })
    };
    let texels = |first: u32| (first..).take(SIDES[0] * SIDES[1]).collect::<Vec<u32>>();
    let bytes = |texels: &[u32]| texels.iter().flat_map(|texel| texel.to_le_bytes()).collect::<Vec<u8>>();
    let (images, values) = ([image()?, image()?], [texels(1), texels(500)]);
    for (image, values) in images.iter().zip(&values) {
        image.write_all(&bytes(values))?;
    }
    let [width, height, _] = SIDES.map(|side| side as i32);
    let texel = |values: &[u32], x: i32, y: i32| values[(y * width + x) as usize];
    let edge =
        |which: usize, x: i32, y: i32| texel(&values[which], x.clamp(0, width - 1), y.clamp(0, height - 1));
    let border = |which: usize, x: i32, y: i32| {
        let inside = (0..width).contains(&x) && (0..height).contains(&y);
        if inside { texel(&values[which], x, y) } else { 0 }
    };
    let program = gpu.build("images_flow", None)?;
    let output = gpu.buffer(&[0u32; ITEMS])?;
    let launch = Launch { global: vec![ITEMS], ..Launch::default() };
    program.run("loops", &[Arg::Memory(images[0].handle), output.arg()], &launch)?;
    let sum = |id| (0..id).map(|i| edge(0, i % 9 - 1, i / 9)).sum::<u32>();
    same(&output.read()?, &(0..ITEMS as i32).map(sum).collect::<Vec<_>>())
        .map_err(|e| format!("loops: {e}"))?;

    let own = OwnSampler::new(Sampler { normalized: false, addressing: CL_ADDRESS_CLAMP, linear: false })?;
    let handle = (own.0 as usize).to_ne_bytes();
    let [first, second] = [Arg::Memory(images[0].handle), Arg::Memory(images[1].handle)];
    program.run("branches", &[first, second, Arg::Bytes(&handle), output.arg()], &launch)?;
    let value = |id: i32| {
        let (x, y) = (id - 2, id & 3);
        match id % 3 {
            0 => edge(0, x, y),
            1 => border(1, x, y) + 1000,
            _ if id & 4 != 0 => border(0, x, y) + 2000 + edge(1, y, x),
            _ => border(0, x, y) + 2000,
        }
    };
    let expected: Vec<_> = (0..ITEMS as i32).map(value).collect();
    same(&output.read()?, &expected).map_err(|error| format!("branches: {error}"))?;

    let sums = gpu.buffer(&[0u32; 3])?;
    program.run("joined", &[first, second, output.arg(), sums.arg()], &launch)?;
    let value = |id: i32| {
        let sum = match id {
            31.. => edge(0, id, 1),
            16.. => edge(1, id, 2),
            _ => edge(0, 3, id),
        };
        sum + edge(0, id, id)
    };
    let expected: Vec<_> = (0..ITEMS as i32).map(value).collect();
    same(&output.read()?, &expected).map_err(|error| format!("joined: {error}"))?;

    program.run("writes", &[first], &launch)?;
    let mut expected = values[0].clone();
    for (index, texel) in (0i32..).zip(&mut expected) {
        let (x, y) = (index % width, index / width);
        if x & 1 == 1 && y < x {
            *texel = (x + 100 * y) as u32;
        }
    }
    images[0].expect(&bytes(&expected)).map_err(|error| format!("writes: {error}"))
}

/// Two-dimensional images on a buffer and on memory of the application, with gaps between rows.
pub fn of_memory() -> Outcome {
    const ROW: usize = 80;
    let gpu = Gpu::get()?;
    let program = PLANE.program()?;
    let format = format(CL_RGBA, CL_UNORM_INT8);
    let sides = PLANE.sides();
    let mut memory: Vec<u8> = super::image::pattern(ROW * sides[1]);
    let buffer = gpu.buffer(&memory)?;
    let mut wanted = descriptor(CL_MEM_OBJECT_IMAGE2D, SIDES);
    wanted.image_row_pitch = ROW;
    let of_host = Image::create(
        CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR,
        &format,
        &wanted,
        memory.as_mut_ptr().cast::<c_void>(),
    )?;
    wanted.buffer = buffer.memory().get();
    let of_buffer = Image::create(0, &format, &wanted, null_mut())?;
    let count = sides[0] * sides[1];
    let bytes = memory.clone();
    let expected = |index: usize| {
        let at = index / sides[0] * ROW + index % sides[0] * 4;
        Allowed::OneOf(vec![decode(&format, &bytes[at..at + 4])])
    };
    for (handle, what) in [(of_host, "host memory"), (of_buffer, "a buffer")] {
        let image = Image { handle, sides, texel: 4 };
        let output = gpu.buffer(&vec![[0u32; 4]; count])?;
        program.run("read_f", &[Arg::Memory(image.handle), output.arg()], &everywhere(sides))?;
        let expected: Vec<_> = (0..count).map(expected).collect();
        check(&output.read()?, &expected, Access::Float, 1e-6).map_err(|error| format!("{what}: {error}"))?;
        let zeros = gpu.buffer(&vec![[0u32; 4]; count])?;
        program.run("write_f", &[Arg::Memory(image.handle), zeros.arg()], &everywhere(sides))?;
        image.expect(&vec![0; count * 4]).map_err(|error| format!("{what}, written: {error}"))?;
    }
    // Gaps stay.
    let left = buffer.read()?;
    let gap = |at: usize| at % ROW >= 4 * sides[0];
    let wrong = (0..left.len()).find(|at| left[*at] != if gap(*at) { bytes[*at] } else { 0 });
    wrong.map_or(Ok(()), |at| Err(format!("byte {at} of the buffer is {}", left[at])))
}

/// Many launches that differ from the ones before them, each of which reads what the one before has written.
pub fn many_launches() -> Outcome {
    const SIDES: [usize; 3] = [64, 8, 1];
    const STEPS: usize = 200;
    let gpu = Gpu::get()?;
    let program = gpu.build("images_flow", None)?;
    let format = format(CL_R, CL_UNSIGNED_INT32);
    let image = || -> Result<Image, String> {
        let wanted = descriptor(CL_MEM_OBJECT_IMAGE2D, SIDES);
        let handle = Image::create(CL_MEM_READ_WRITE, &format, &wanted, null_mut())?;
        Ok(Image { handle, sides: SIDES, texel: 4 })
    };
    let images = [image()?, image()?];
    let texels = |first: usize| {
        let numbers = (0..SIDES[0] * SIDES[1]).map(|index| (first + index) as u32);
        numbers.flat_map(u32::to_le_bytes).collect::<Vec<u8>>()
    };
    images[0].write_all(&texels(0))?;
    let queue = gpu.queue()?;
    let launch = Launch { global: SIDES[..2].to_vec(), ..Launch::default() };
    for step in 0..STEPS {
        let args = [step % 2, (step + 1) % 2].map(|which| Arg::Memory(images[which].handle));
        program.enqueue(&queue, "step", &args, &launch)?;
    }
    queue.finish().map_err(|error| error.to_string())?;
    images[STEPS % 2].expect(&texels(STEPS))
}
