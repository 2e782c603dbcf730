//! Images of kernels' arguments.

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use gencl_utest::raw::api;
use gencl_utest::{Arg, Gpu};
use opencl_sys::{
    CL_BLOCKING, CL_FLOAT, CL_MEM_COPY_HOST_PTR, CL_MEM_OBJECT_IMAGE2D, CL_MEM_OBJECT_IMAGE3D,
    CL_MEM_READ_WRITE, CL_RGBA, CL_SUCCESS, CL_UNORM_INT8, cl_image_desc, cl_image_format, cl_mem,
};
use opencl3::command_queue::CommandQueue;

/// Channels of a texel.
pub const CHANNELS: usize = 4;

/// The texels of an image, four channels each.
#[derive(Clone, Debug)]
pub enum Texels {
    /// Bytes that are numbers from 0 to 1.
    Bytes(Vec<u8>),
    /// Floats.
    Floats(Vec<f32>),
}

/// The contents of an image.
#[derive(Clone, Debug)]
pub struct Picture {
    /// Width, height, depth: 1 of an image of two dimensions.
    pub size: [usize; 3],
    /// Texels.
    pub texels: Texels,
}

impl Picture {
    /// A channel of a texel.
    pub fn channel(&self, [x, y, z]: [usize; 3], channel: usize) -> f64 {
        let [width, height, _] = self.size;
        let at = ((z * height + y) * width + x) * CHANNELS + channel;
        match &self.texels {
            Texels::Bytes(values) => f64::from(values[at]) / 255.0,
            Texels::Floats(values) => f64::from(values[at]),
        }
    }
}

/// An image on the device.
pub struct Image {
    memory: cl_mem,
    size: [usize; 3],
}

impl Image {
    /// An image with a picture's texels, given as bytes too.
    pub fn new(picture: &Picture, bytes: &[u8]) -> Result<Image, String> {
        let [width, height, depth] = picture.size;
        let channels = match picture.texels {
            Texels::Bytes(_) => CL_UNORM_INT8,
            Texels::Floats(_) => CL_FLOAT,
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
        let flags = CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR;
        let host = bytes.as_ptr().cast::<c_void>().cast_mut();
        // SAFETY: the memory has as many bytes as format and descriptor say, and is copied.
        let memory = unsafe { (api.clCreateImage)(context, flags, &format, &descriptor, host, &mut code) };
        if code == CL_SUCCESS {
            Ok(Image { memory, size: picture.size })
        } else {
            Err(format!("clCreateImage: {code}"))
        }
    }

    /// Reads all texels, `bytes` of them.
    pub fn read(&self, queue: &CommandQueue, bytes: usize) -> Result<Vec<u8>, String> {
        let (api, mut contents, origin) = (api()?, vec![0; bytes], [0; 3]);
        let host = contents.as_mut_ptr().cast();
        let (queue, size) = (queue.get(), self.size.as_ptr());
        // SAFETY: the memory has as many bytes as the image, and the command has ended when it returns.
        let code = unsafe {
            (api.clEnqueueReadImage)(
                queue,
                self.memory,
                CL_BLOCKING,
                origin.as_ptr(),
                size,
                0,
                0,
                host,
                0,
                null(),
                null_mut(),
            )
        };
        if code == CL_SUCCESS { Ok(contents) } else { Err(format!("clEnqueueReadImage: {code}")) }
    }

    /// As a kernel's argument.
    pub fn arg(&self) -> Arg<'_> {
        Arg::Memory(self.memory)
    }
}

impl Drop for Image {
    fn drop(&mut self) {
        if let Ok(api) = api() {
            // SAFETY: it is the image's own reference; launches that use it have ended.
            unsafe { (api.clReleaseMemObject)(self.memory) };
        }
    }
}
