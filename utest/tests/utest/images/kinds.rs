//! Kinds of images, images of them, and samplers.

use std::ptr::null_mut;

use gencl_utest::raw::api;
use gencl_utest::{Gpu, Program};
use opencl_sys::{
    CL_ADDRESS_CLAMP, CL_ADDRESS_CLAMP_TO_EDGE, CL_ADDRESS_MIRRORED_REPEAT, CL_ADDRESS_NONE,
    CL_ADDRESS_REPEAT, CL_DEPTH, CL_FILTER_LINEAR, CL_FILTER_NEAREST, CL_MEM_OBJECT_IMAGE1D,
    CL_MEM_OBJECT_IMAGE1D_ARRAY, CL_MEM_OBJECT_IMAGE1D_BUFFER, CL_MEM_OBJECT_IMAGE2D,
    CL_MEM_OBJECT_IMAGE2D_ARRAY, CL_MEM_OBJECT_IMAGE3D, CL_MEM_READ_ONLY, CL_SUCCESS, cl_image_format,
    cl_mem_flags, cl_sampler,
};
use opencl3::memory::ClMem;

use super::create::formats_of;
use super::image::{Image, descriptor, sides};
use super::reference::{Sampler, has_order, is_normalized, is_srgb, texel_bytes};
use crate::information::expect;

/// A kind of images.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    pub object: u32,
    /// Build options for `utest/kernels/images.cl`.
    pub options: &'static str,
    pub dimensions: usize,
    pub array: bool,
    pub depth: bool,
}

const fn kind(object: u32, options: &'static str, dimensions: usize, array: bool) -> Kind {
    Kind { object, options, dimensions, array, depth: false }
}

const BUFFER: Kind =
    kind(CL_MEM_OBJECT_IMAGE1D_BUFFER, "-DIMAGE=image1d_buffer_t -DCOORDINATES=1 -DBUFFER", 1, false);
pub const PLANE: Kind = kind(CL_MEM_OBJECT_IMAGE2D, "-DIMAGE=image2d_t -DCOORDINATES=2 -DHEIGHT", 2, false);
pub const KINDS: &[Kind] = &[
    PLANE,
    kind(CL_MEM_OBJECT_IMAGE1D, "-DIMAGE=image1d_t -DCOORDINATES=1", 1, false),
    kind(CL_MEM_OBJECT_IMAGE1D_ARRAY, "-DIMAGE=image1d_array_t -DCOORDINATES=2 -DLAYERS", 1, true),
    BUFFER,
    kind(CL_MEM_OBJECT_IMAGE2D_ARRAY, "-DIMAGE=image2d_array_t -DCOORDINATES=4 -DHEIGHT -DLAYERS", 2, true),
    kind(CL_MEM_OBJECT_IMAGE3D, "-DIMAGE=image3d_t -DCOORDINATES=4 -DHEIGHT -DSLICES", 3, false),
    Kind {
        depth: true,
        ..kind(CL_MEM_OBJECT_IMAGE2D, "-DIMAGE=image2d_depth_t -DCOORDINATES=2 -DHEIGHT -DDEPTH", 2, false)
    },
    Kind {
        depth: true,
        ..kind(
            CL_MEM_OBJECT_IMAGE2D_ARRAY,
            "-DIMAGE=image2d_array_depth_t -DCOORDINATES=4 -DHEIGHT -DLAYERS -DDEPTH",
            2,
            true,
        )
    },
];

/// Texels of the images under test, fewer for kinds that have fewer sides.
pub const SIDES: [usize; 3] = [13, 5, 3];

impl Kind {
    /// The sides of the images of tests that choose none, as commands count them.
    pub fn sides(self) -> [usize; 3] {
        sides(self.object, SIDES)
    }

    /// Whether samplers read the images.
    pub fn is_sampled(self) -> bool {
        self.object != CL_MEM_OBJECT_IMAGE1D_BUFFER
    }

    /// Formats of the kind, without those that are for the other kernel type.
    pub fn formats(self, flags: cl_mem_flags) -> Result<Vec<cl_image_format>, String> {
        let mut formats = formats_of(flags, self.object)?;
        if Gpu::get()?.foreign_platform().is_some() {
            // Intel's lists INTENSITY for images on buffers, and refuses it.
            formats.retain(|format| has_order(format) && self.image(CL_MEM_READ_ONLY, format).is_ok());
        }
        formats.retain(|format| (format.image_channel_order == CL_DEPTH) == self.depth);
        if formats.is_empty() { Err(format!("{self:?} has no formats")) } else { Ok(formats) }
    }

    pub fn program(self) -> Result<Program, String> {
        self.program_with("-cl-std=CL1.2", None)
    }

    /// The kernels of `images.cl` for the kind, with build options, and of a SIMD width if one is given.
    pub fn program_with(self, options: &str, width: Option<u32>) -> Result<Program, String> {
        let program = Gpu::get()?.build_with("images", width, &format!("{} {options}", self.options));
        program.map_err(|error| format!("{self:?}: {error}"))
    }

    pub fn image(self, flags: cl_mem_flags, format: &cl_image_format) -> Result<Made, String> {
        self.image_of(flags, format, SIDES)
    }

    /// An image of some sides, those that the kind has.
    pub fn image_of(
        self,
        flags: cl_mem_flags,
        format: &cl_image_format,
        wanted: [usize; 3],
    ) -> Result<Made, String> {
        let (texel, counted) = (texel_bytes(format), sides(self.object, wanted));
        let mut wanted = descriptor(self.object, wanted);
        let bytes = counted.iter().product::<usize>() * texel;
        let buffer = if self.is_sampled() { None } else { Some(Gpu::get()?.empty::<u8>(bytes)?) };
        wanted.buffer = buffer.as_ref().map_or(null_mut(), |buffer| buffer.memory().get());
        let flags = if buffer.is_some() { 0 } else { flags };
        let handle = Image::create(flags, format, &wanted, null_mut())?;
        Ok(Made { image: Image { handle, sides: counted, texel }, _buffer: buffer })
    }
}

/// An image and the buffer that it is made of.
pub struct Made {
    pub image: Image,
    _buffer: Option<gencl_utest::Buffer<u8>>,
}

/// A sampler that is released when it is dropped.
pub struct OwnSampler(pub cl_sampler);

impl OwnSampler {
    pub fn new(Sampler { normalized, addressing, linear }: Sampler) -> Result<Self, String> {
        let (api, context, mut code) = (api()?, Gpu::get()?.context.get(), 1);
        let filter = if linear { CL_FILTER_LINEAR } else { CL_FILTER_NEAREST };
        // SAFETY: a live context.
        let sampler =
            unsafe { (api.clCreateSampler)(context, normalized.into(), addressing, filter, &mut code) };
        expect(code, CL_SUCCESS, "clCreateSampler")?;
        Ok(Self(sampler))
    }
}

impl Drop for OwnSampler {
    fn drop(&mut self) {
        if let Ok(api) = api() {
            // SAFETY: the sampler is the test's.
            unsafe { (api.clReleaseSampler)(self.0) };
        }
    }
}

pub fn samplers(linear: bool) -> Vec<Sampler> {
    let sampler = |normalized, addressing| Sampler { normalized, addressing, linear };
    let everywhere = [CL_ADDRESS_NONE, CL_ADDRESS_CLAMP_TO_EDGE, CL_ADDRESS_CLAMP];
    let repeated = [CL_ADDRESS_REPEAT, CL_ADDRESS_MIRRORED_REPEAT].map(|mode| sampler(true, mode));
    let all =
        [false, true].into_iter().flat_map(|normalized| everywhere.map(|mode| sampler(normalized, mode)));
    all.chain(repeated).collect()
}

/// How far a read without a linear filter may be off.
pub fn tolerance(format: &cl_image_format) -> f64 {
    match format {
        // Half a step of the encoded value.
        _ if is_srgb(format) => 0.002,
        // "<= 1.5 ulp"
        _ if is_normalized(format) => 1.5 * f64::from(f32::EPSILON) / 2.0,
        _ => 0.0,
    }
}
