//! Images that are sampled by constant samplers, and queries of images.

use gencl_utest::{Arg, Gpu, Launch, Outcome};
use opencl_sys::{
    CL_DEPTH, CL_FLOAT, CL_MEM_COPY_HOST_PTR, CL_MEM_OBJECT_IMAGE2D, CL_MEM_READ_ONLY, CL_R, CL_RGBA,
    cl_image_format,
};
use opencl3::kernel::Kernel;

use super::module::{channels as channels_of, sampled};
use super::{bits, build, from_il, text};
use crate::images::{Image, descriptor};
use crate::memory::same;

/// A row of two texels of floats.
fn image(order: u32, texels: &mut [f32]) -> Result<Image, String> {
    let format = cl_image_format { image_channel_order: order, image_channel_data_type: CL_FLOAT };
    let (flags, sides) = (CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, [2, 1, 1]);
    let descriptor = descriptor(CL_MEM_OBJECT_IMAGE2D, sides);
    let handle = Image::create(flags, &format, &descriptor, texels.as_mut_ptr().cast())?;
    Ok(Image { handle, sides, texel: size_of_val(texels) / 2 })
}

/// A sampler may go through memory. A depth is the first of four elements.
pub fn constant_samplers() -> Outcome {
    let gpu = Gpu::get()?;
    let mut program = from_il(&sampled(bits()?))?;
    build(&mut program)?;
    let kernel = Kernel::create(&program, "sampled").map_err(text("clCreateKernel"))?;
    let mut colors = [0.0f32, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0];
    let mut depths = [0.25f32, 0.75];
    let (color, depth) = (image(CL_RGBA, &mut colors)?, image(CL_DEPTH, &mut depths)?);
    let out = gpu.buffer(&[0.0f32; 8])?;
    let list = [Arg::Memory(color.handle), Arg::Memory(depth.handle), out.arg()];
    gencl_utest::run(&kernel, &list, &Launch::linear(1, 1))?;
    same(&out.read()?, &[4.0, 5.0, 6.0, 7.0, 0.75, 0.75, 0.75, 0.75])
}

/// Types and orders of channels are numbers of SPIR-V, not of OpenCL's headers.
pub fn channels() -> Outcome {
    const FLOAT: u32 = 14;
    let gpu = Gpu::get()?;
    let mut program = from_il(&channels_of(bits()?))?;
    build(&mut program)?;
    let kernel = Kernel::create(&program, "channels").map_err(text("clCreateKernel"))?;
    for (order, number, texels) in [(CL_RGBA, 5, 8), (CL_R, 0, 2)] {
        let image = image(order, &mut vec![0.0; texels])?;
        let out = gpu.buffer(&[0u32; 2])?;
        gencl_utest::run(&kernel, &[Arg::Memory(image.handle), out.arg()], &Launch::linear(1, 1))?;
        same(&out.read()?, &[FLOAT, number])?;
    }
    Ok(())
}
