//! The functions of the loader's library with C's types, for calls that `opencl3` would not make: too small a buffer, a handle of the
//! wrong kind, a null pointer.

use std::sync::OnceLock;

use dlopen2::raw::Library;
use opencl_sys::cl_function_types as types;

/// The function in a nullable function pointer.
pub trait Nullable {
    /// Its type.
    type Function: Copy;
}

impl<F: Copy> Nullable for Option<F> {
    type Function = F;
}

macro_rules! functions {
    ($($name:ident: $ty:ident,)*) => {
        /// Functions of OpenCL by their names.
        #[allow(non_snake_case, missing_docs, reason = "named as in cl.h")]
        pub struct Api {
            $(pub $name: <types::$ty as Nullable>::Function,)*
        }

        impl Api {
            fn load(library: &Library) -> Result<Self, String> {
                Ok(Self {
                    $(
                        // SAFETY: the library is OpenCL's, and the type is that of its function with this name.
                        $name: unsafe { library.symbol(stringify!($name)) }
                            .map_err(|error| format!("{}: {error}", stringify!($name)))?,
                    )*
                })
            }
        }
    };
}

functions! {
    clGetPlatformInfo: clGetPlatformInfo_t,
    clGetDeviceInfo: clGetDeviceInfo_t,
    clCreateSubDevices: clCreateSubDevices_t,
    clCreateContext: clCreateContext_t,
    clReleaseContext: clReleaseContext_t,
    clSetContextDestructorCallback: clSetContextDestructorCallback_t,
    clGetContextInfo: clGetContextInfo_t,
    clCreateCommandQueueWithProperties: clCreateCommandQueueWithProperties_t,
    clReleaseCommandQueue: clReleaseCommandQueue_t,
    clGetCommandQueueInfo: clGetCommandQueueInfo_t,
    clCreateBuffer: clCreateBuffer_t,
    clCreateImage: clCreateImage_t,
    clCreateImage2D: clCreateImage2D_t,
    clCreateImage3D: clCreateImage3D_t,
    clCreateImageWithProperties: clCreateImageWithProperties_t,
    clGetSupportedImageFormats: clGetSupportedImageFormats_t,
    clGetImageInfo: clGetImageInfo_t,
    clReleaseMemObject: clReleaseMemObject_t,
    clSetMemObjectDestructorCallback: clSetMemObjectDestructorCallback_t,
    clGetMemObjectInfo: clGetMemObjectInfo_t,
    clCreateSampler: clCreateSampler_t,
    clCreateSamplerWithProperties: clCreateSamplerWithProperties_t,
    clRetainSampler: clRetainSampler_t,
    clReleaseSampler: clReleaseSampler_t,
    clGetSamplerInfo: clGetSamplerInfo_t,
    clSetKernelArg: clSetKernelArg_t,
    clEnqueueReadBuffer: clEnqueueReadBuffer_t,
    clEnqueueReadImage: clEnqueueReadImage_t,
    clEnqueueWriteImage: clEnqueueWriteImage_t,
    clEnqueueFillImage: clEnqueueFillImage_t,
    clEnqueueCopyImage: clEnqueueCopyImage_t,
    clEnqueueCopyImageToBuffer: clEnqueueCopyImageToBuffer_t,
    clEnqueueCopyBufferToImage: clEnqueueCopyBufferToImage_t,
    clEnqueueMapImage: clEnqueueMapImage_t,
    clEnqueueUnmapMemObject: clEnqueueUnmapMemObject_t,
    clSetProgramReleaseCallback: clSetProgramReleaseCallback_t,
    clGetProgramInfo: clGetProgramInfo_t,
    clGetProgramBuildInfo: clGetProgramBuildInfo_t,
    clGetKernelInfo: clGetKernelInfo_t,
    clGetKernelArgInfo: clGetKernelArgInfo_t,
    clGetKernelWorkGroupInfo: clGetKernelWorkGroupInfo_t,
    clGetKernelSubGroupInfo: clGetKernelSubGroupInfo_t,
    clGetEventInfo: clGetEventInfo_t,
    clGetEventProfilingInfo: clGetEventProfilingInfo_t,
}

/// The loader's functions, loaded once.
///
/// # Errors
/// There is no loader, or it lacks a function.
pub fn api() -> Result<&'static Api, String> {
    static API: OnceLock<Result<(Library, Api), String>> = OnceLock::new();
    let load = || {
        let library = Library::open("libOpenCL.so.1").map_err(|error| error.to_string())?;
        let api = Api::load(&library)?;
        Ok((library, api))
    };
    API.get_or_init(load).as_ref().map(|(_, api)| api).map_err(Clone::clone)
}
