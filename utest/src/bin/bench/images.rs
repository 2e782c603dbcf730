//! Kernels with images.

use std::ffi::c_void;
use std::ptr::null_mut;

use gencl_utest::raw::api;
use gencl_utest::{Arg, Gpu, Launch, Program, Random};
use opencl_sys::{
    CL_FLOAT, CL_MEM_COPY_HOST_PTR, CL_MEM_OBJECT_IMAGE2D, CL_MEM_OBJECT_IMAGE3D, CL_MEM_READ_WRITE, CL_RGBA,
    CL_SUCCESS, CL_UNORM_INT8, cl_image_desc, cl_image_format, cl_mem,
};

const SOURCE: &str = include_str!("../../../kernels/bench_images.cl");

/// Texels of a row and of a column, if the command line does not say another number.
pub const SIDE: usize = 1024;
/// Texels of a volume in each direction.
const VOLUME: usize = 64;

/// Measures all kernels with `time`, which is given names, arguments and launches, on images with `side` texels
/// in each direction, a multiple of 16.
pub fn measure(
    gpu: &Gpu,
    side: usize,
    time: impl Fn(&str, &Program, &str, &[Arg<'_>], &Launch) -> Result<(), String>,
) -> Result<(), String> {
    let program = gpu.build_unchecked(SOURCE, "")?;
    let number = |value: i32| value.to_ne_bytes();
    let float = |value: f32| value.to_ne_bytes();
    let launch = Launch { global: vec![side, side], local: vec![16, 16], ..Launch::default() };
    let time =
        |name: &str, kernel: &str, arguments: &[Arg<'_>]| time(name, &program, kernel, arguments, &launch);
    let bytes = Image::new(CL_UNORM_INT8, [side, side, 1])?;
    let out = Image::new(CL_UNORM_INT8, [side, side, 1])?;
    let [from, to] = [bytes.arg(), out.arg()];
    time("boxblur", "boxblur", &[from, to, Arg::Bytes(&number(2))])?;
    let half = Image::new(CL_UNORM_INT8, [side / 2, side / 2, 1])?;
    time("resize", "resize", &[half.arg(), out.arg()])?;
    let (sine, cosine) = (float(0.5), float(0.866));
    let turned = [bytes.arg(), out.arg(), Arg::Bytes(&sine), Arg::Bytes(&cosine)];
    time("rotate", "rotate_image", &turned)?;
    let volume = Image::new(CL_UNORM_INT8, [VOLUME; 3])?;
    time("slice", "slice", &[volume.arg(), out.arg(), Arg::Bytes(&float(0.3))])?;
    let (floats, sums) = (Image::new(CL_FLOAT, [side, side, 1])?, Image::new(CL_FLOAT, [side, side, 1])?);
    let rows = [floats.arg(), sums.arg(), Arg::Bytes(&number(1)), Arg::Bytes(&number(0))];
    time("gauss_rows", "gauss", &rows)?;
    let columns = [sums.arg(), floats.arg(), Arg::Bytes(&number(0)), Arg::Bytes(&number(1))];
    time("gauss_columns", "gauss", &columns)
}

/// An image of four channels.
struct Image(cl_mem);

impl Image {
    /// An image with random values from 0 to 1, of two dimensions if the third is 1.
    fn new(channels: u32, [width, height, depth]: [usize; 3]) -> Result<Image, String> {
        let mut random = Random::new(7);
        let count = width * height * depth * 4;
        let mut texels: Vec<u8> = match channels {
            CL_FLOAT => (0..count)
                .flat_map(|_| ((random.next_u32() & 0xffff) as f32 / 65536.0).to_ne_bytes())
                .collect(),
            _ => (0..count).map(|_| random.next_u32() as u8).collect(),
        };
        let format = cl_image_format { image_channel_order: CL_RGBA, image_channel_data_type: channels };
        let descriptor = cl_image_desc {
            image_type: if depth > 1 { CL_MEM_OBJECT_IMAGE3D } else { CL_MEM_OBJECT_IMAGE2D },
            image_width: width,
            image_height: height,
            image_depth: if depth > 1 { depth } else { 0 },
            image_array_size: 0,
            image_row_pitch: 0,
            image_slice_pitch: 0,
            num_mip_levels: 0,
            num_samples: 0,
            buffer: null_mut(),
        };
        let (api, context, mut code) = (api()?, Gpu::get()?.context.get(), 1);
        let (flags, host) = (CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, texels.as_mut_ptr().cast::<c_void>());
        // SAFETY: the memory has as many bytes as format and descriptor say, and is copied.
        let image = unsafe { (api.clCreateImage)(context, flags, &format, &descriptor, host, &mut code) };
        if code == CL_SUCCESS { Ok(Image(image)) } else { Err(format!("clCreateImage: {code}")) }
    }

    fn arg(&self) -> Arg<'_> {
        Arg::Memory(self.0)
    }
}

impl Drop for Image {
    fn drop(&mut self) {
        if let Ok(api) = api() {
            // SAFETY: it is the image's own reference; launches that use it have ended.
            unsafe { (api.clReleaseMemObject)(self.0) };
        }
    }
}
