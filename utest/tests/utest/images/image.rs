//! An image under test, and what is expected to be in it.

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use gencl_utest::raw::api;
use gencl_utest::{Gpu, Outcome};
use opencl_sys::{
    CL_MEM_OBJECT_IMAGE1D, CL_MEM_OBJECT_IMAGE1D_ARRAY, CL_MEM_OBJECT_IMAGE2D, CL_MEM_OBJECT_IMAGE2D_ARRAY,
    CL_MEM_OBJECT_IMAGE3D, CL_MEM_READ_WRITE, CL_RGBA, CL_SUCCESS, CL_TRUE, CL_UNORM_INT8, cl_image_desc,
    cl_image_format, cl_int, cl_mem, cl_mem_flags, cl_mem_object_type,
};

use crate::information::expect;
use crate::memory::same;

/// Kinds that need no other object.
pub const KINDS: [cl_mem_object_type; 5] = [
    CL_MEM_OBJECT_IMAGE1D,
    CL_MEM_OBJECT_IMAGE1D_ARRAY,
    CL_MEM_OBJECT_IMAGE2D,
    CL_MEM_OBJECT_IMAGE2D_ARRAY,
    CL_MEM_OBJECT_IMAGE3D,
];

/// Four bytes a texel.
pub const RGBA: cl_image_format =
    cl_image_format { image_channel_order: CL_RGBA, image_channel_data_type: CL_UNORM_INT8 };

/// Bytes of a texel of [`RGBA`].
pub const TEXEL: usize = 4;

/// A descriptor with these sides; those that the kind does not have are 0.
pub fn descriptor(kind: cl_mem_object_type, sides: [usize; 3]) -> cl_image_desc {
    let [width, second, third] = sides;
    let (height, depth, layers) = match kind {
        CL_MEM_OBJECT_IMAGE1D_ARRAY => (0, 0, second),
        CL_MEM_OBJECT_IMAGE2D => (second, 0, 0),
        CL_MEM_OBJECT_IMAGE2D_ARRAY => (second, 0, third),
        CL_MEM_OBJECT_IMAGE3D => (second, third, 0),
        _ => (0, 0, 0),
    };
    cl_image_desc {
        image_type: kind,
        image_width: width,
        image_height: height,
        image_depth: depth,
        image_array_size: layers,
        image_row_pitch: 0,
        image_slice_pitch: 0,
        num_mip_levels: 0,
        num_samples: 0,
        buffer: null_mut(),
    }
}

/// The sides of a kind as commands count them.
pub fn sides(kind: cl_mem_object_type, sides: [usize; 3]) -> [usize; 3] {
    match kind {
        CL_MEM_OBJECT_IMAGE2D | CL_MEM_OBJECT_IMAGE1D_ARRAY => [sides[0], sides[1], 1],
        CL_MEM_OBJECT_IMAGE2D_ARRAY | CL_MEM_OBJECT_IMAGE3D => sides,
        _ => [sides[0], 1, 1],
    }
}

/// Its handle and code of `clCreateImage`.
pub fn try_create(
    flags: cl_mem_flags,
    format: *const cl_image_format,
    descriptor: *const cl_image_desc,
    host: *mut c_void,
) -> Result<(cl_mem, cl_int), String> {
    let (api, context) = (api()?, Gpu::get()?.context.get());
    let mut code = 1;
    // SAFETY: format and descriptor are null or of the tests, and the host's memory is of the size that they
    // say.
    let image = unsafe { (api.clCreateImage)(context, flags, format, descriptor, host, &mut code) };
    Ok((image, code))
}

/// An image that is released when it is dropped.
pub struct Image {
    pub handle: cl_mem,
    /// As commands count them.
    pub sides: [usize; 3],
    /// Bytes of a texel.
    pub texel: usize,
}

impl Image {
    /// An image of [`RGBA`].
    pub fn new(kind: cl_mem_object_type, wanted: [usize; 3]) -> Result<Self, String> {
        let handle = Self::create(CL_MEM_READ_WRITE, &RGBA, &descriptor(kind, wanted), null_mut())?;
        Ok(Self { handle, sides: sides(kind, wanted), texel: TEXEL })
    }

    /// A handle, which is the caller's to release.
    pub fn create(
        flags: cl_mem_flags,
        format: &cl_image_format,
        descriptor: &cl_image_desc,
        host: *mut c_void,
    ) -> Result<cl_mem, String> {
        let (image, code) = try_create(flags, format, descriptor, host)?;
        expect(code, CL_SUCCESS, "clCreateImage")?;
        Ok(image)
    }

    /// Bytes of all texels.
    pub fn bytes(&self) -> usize {
        self.sides.iter().product::<usize>() * self.texel
    }

    /// Overwrites a region with texels one after the other.
    pub fn write(&self, origin: [usize; 3], region: [usize; 3], data: &[u8]) -> Outcome {
        let (api, queue) = (api()?, Gpu::get()?.queue()?);
        assert_eq!(data.len(), region.iter().product::<usize>() * self.texel, "the test's data");
        // SAFETY: blocking, and the data have the size of the region.
        let code = unsafe {
            (api.clEnqueueWriteImage)(
                queue.get(),
                self.handle,
                CL_TRUE,
                origin.as_ptr(),
                region.as_ptr(),
                0,
                0,
                data.as_ptr().cast(),
                0,
                null(),
                null_mut(),
            )
        };
        expect(code, CL_SUCCESS, "clEnqueueWriteImage")
    }

    /// Overwrites all texels.
    pub fn write_all(&self, data: &[u8]) -> Outcome {
        self.write([0; 3], self.sides, data)
    }

    /// All texels.
    pub fn read_all(&self) -> Result<Vec<u8>, String> {
        let (api, queue) = (api()?, Gpu::get()?.queue()?);
        let mut data = vec![0; self.bytes()];
        // SAFETY: blocking, and the data have the size of the image.
        let code = unsafe {
            (api.clEnqueueReadImage)(
                queue.get(),
                self.handle,
                CL_TRUE,
                [0usize; 3].as_ptr(),
                self.sides.as_ptr(),
                0,
                0,
                data.as_mut_ptr().cast(),
                0,
                null(),
                null_mut(),
            )
        };
        expect(code, CL_SUCCESS, "clEnqueueReadImage")?;
        Ok(data)
    }

    /// Complains unless the texels are these.
    pub fn expect(&self, texels: &[u8]) -> Outcome {
        same(&self.read_all()?, texels)
    }
}

impl Drop for Image {
    fn drop(&mut self) {
        if let Ok(api) = api() {
            // SAFETY: the handle is the test's.
            unsafe { (api.clReleaseMemObject)(self.handle) };
        }
    }
}

/// Bytes that are different in all places.
pub fn pattern(length: usize) -> Vec<u8> {
    (0..length).map(|i| (i * 7 + i / 251) as u8).collect()
}

/// Copies a region between texels that lie one after the other and memory with pitches; what the host would
/// do.
pub fn copy(
    from: (&[u8], [usize; 3], [usize; 2]),
    to: (&mut [u8], [usize; 3], [usize; 2]),
    region: [usize; 3],
) {
    let at = |origin: [usize; 3], pitches: [usize; 2], y: usize, z: usize| {
        origin[0] * TEXEL + (origin[1] + y) * pitches[0] + (origin[2] + z) * pitches[1]
    };
    for z in 0..region[2] {
        for y in 0..region[1] {
            let (source, target) = (at(from.1, from.2, y, z), at(to.1, to.2, y, z));
            let length = region[0] * TEXEL;
            to.0[target..target + length].copy_from_slice(&from.0[source..source + length]);
        }
    }
}

/// Pitches of texels one after the other.
pub fn dense(sides: [usize; 3]) -> [usize; 2] {
    [sides[0] * TEXEL, sides[0] * sides[1] * TEXEL]
}
