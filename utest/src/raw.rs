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
    clGetPlatformIDs: clGetPlatformIDs_t,
    clGetPlatformInfo: clGetPlatformInfo_t,
    clGetDeviceIDs: clGetDeviceIDs_t,
    clGetDeviceInfo: clGetDeviceInfo_t,
    clCreateSubDevices: clCreateSubDevices_t,
    clCreateContext: clCreateContext_t,
    clRetainContext: clRetainContext_t,
    clReleaseContext: clReleaseContext_t,
    clSetContextDestructorCallback: clSetContextDestructorCallback_t,
    clGetContextInfo: clGetContextInfo_t,
    clCreateCommandQueueWithProperties: clCreateCommandQueueWithProperties_t,
    clRetainCommandQueue: clRetainCommandQueue_t,
    clReleaseCommandQueue: clReleaseCommandQueue_t,
    clGetCommandQueueInfo: clGetCommandQueueInfo_t,
    clFlush: clFlush_t,
    clFinish: clFinish_t,
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
    clCreateSubBuffer: clCreateSubBuffer_t,
    clRetainMemObject: clRetainMemObject_t,
    clCreateProgramWithSource: clCreateProgramWithSource_t,
    clBuildProgram: clBuildProgram_t,
    clRetainProgram: clRetainProgram_t,
    clReleaseProgram: clReleaseProgram_t,
    clSetProgramReleaseCallback: clSetProgramReleaseCallback_t,
    clGetProgramInfo: clGetProgramInfo_t,
    clGetProgramBuildInfo: clGetProgramBuildInfo_t,
    clCreateKernel: clCreateKernel_t,
    clCloneKernel: clCloneKernel_t,
    clRetainKernel: clRetainKernel_t,
    clReleaseKernel: clReleaseKernel_t,
    clGetKernelInfo: clGetKernelInfo_t,
    clGetKernelArgInfo: clGetKernelArgInfo_t,
    clGetKernelWorkGroupInfo: clGetKernelWorkGroupInfo_t,
    clGetKernelSubGroupInfo: clGetKernelSubGroupInfo_t,
    clCreateUserEvent: clCreateUserEvent_t,
    clSetUserEventStatus: clSetUserEventStatus_t,
    clSetEventCallback: clSetEventCallback_t,
    clWaitForEvents: clWaitForEvents_t,
    clRetainEvent: clRetainEvent_t,
    clReleaseEvent: clReleaseEvent_t,
    clGetEventInfo: clGetEventInfo_t,
    clGetEventProfilingInfo: clGetEventProfilingInfo_t,
    clEnqueueWriteBuffer: clEnqueueWriteBuffer_t,
    clEnqueueCopyBuffer: clEnqueueCopyBuffer_t,
    clEnqueueFillBuffer: clEnqueueFillBuffer_t,
    clEnqueueReadBufferRect: clEnqueueReadBufferRect_t,
    clEnqueueWriteBufferRect: clEnqueueWriteBufferRect_t,
    clEnqueueCopyBufferRect: clEnqueueCopyBufferRect_t,
    clEnqueueMapBuffer: clEnqueueMapBuffer_t,
    clEnqueueMigrateMemObjects: clEnqueueMigrateMemObjects_t,
    clEnqueueNDRangeKernel: clEnqueueNDRangeKernel_t,
    clEnqueueTask: clEnqueueTask_t,
    clEnqueueMarkerWithWaitList: clEnqueueMarkerWithWaitList_t,
    clEnqueueBarrierWithWaitList: clEnqueueBarrierWithWaitList_t,
    clSVMAlloc: clSVMAlloc_t,
    clSVMFree: clSVMFree_t,
    clEnqueueSVMFree: clEnqueueSVMFree_t,
    clEnqueueSVMMemcpy: clEnqueueSVMMemcpy_t,
    clEnqueueSVMMemFill: clEnqueueSVMMemFill_t,
    clEnqueueSVMMap: clEnqueueSVMMap_t,
    clEnqueueSVMUnmap: clEnqueueSVMUnmap_t,
    clSetKernelArgSVMPointer: clSetKernelArgSVMPointer_t,
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
