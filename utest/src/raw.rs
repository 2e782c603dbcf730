//! The functions of the loader's library with C's types, for calls that `opencl3` would not make: too small a
//! buffer, a handle of the wrong kind, a null pointer.

use std::ffi::{CString, c_void};
use std::sync::OnceLock;

use dlopen2::raw::Library;
use opencl_sys::cl_function_types as types;

use crate::Gpu;

/// The function in a nullable function pointer.
pub trait Nullable {
    /// Its type.
    type Function: Copy;
}

impl<F: Copy> Nullable for Option<F> {
    type Function = F;
}

macro_rules! functions {
    ($(#[$doc:meta])* $table:ident { $($name:ident: $ty:ty,)* }) => {
        $(#[$doc])*
        #[allow(non_snake_case, missing_docs, reason = "named as in C")]
        pub struct $table {
            $(pub $name: <$ty as Nullable>::Function,)*
        }

        impl $table {
            /// Looks for all of them.
            fn load(find: impl Fn(&str) -> Result<*mut c_void, String>) -> Result<Self, String> {
                Ok(Self {
                    $($name: {
                        let address = find(stringify!($name))?;
                        // SAFETY: the address is that of OpenCL's function of this name, and a function
                        // pointer has its size.
                        unsafe { std::mem::transmute_copy(&address) }
                    },)*
                })
            }
        }
    };
}

functions! {
    /// Functions of the loader by their names.
    Api {
        clGetExtensionFunctionAddressForPlatform: types::clGetExtensionFunctionAddressForPlatform_t,
        clGetPlatformIDs: types::clGetPlatformIDs_t,
        clGetPlatformInfo: types::clGetPlatformInfo_t,
        clGetDeviceIDs: types::clGetDeviceIDs_t,
        clGetDeviceInfo: types::clGetDeviceInfo_t,
        clCreateSubDevices: types::clCreateSubDevices_t,
        clCreateContext: types::clCreateContext_t,
        clRetainContext: types::clRetainContext_t,
        clReleaseContext: types::clReleaseContext_t,
        clSetContextDestructorCallback: types::clSetContextDestructorCallback_t,
        clGetContextInfo: types::clGetContextInfo_t,
        clCreateCommandQueueWithProperties: types::clCreateCommandQueueWithProperties_t,
        clRetainCommandQueue: types::clRetainCommandQueue_t,
        clReleaseCommandQueue: types::clReleaseCommandQueue_t,
        clGetCommandQueueInfo: types::clGetCommandQueueInfo_t,
        clFlush: types::clFlush_t,
        clFinish: types::clFinish_t,
        clCreateBuffer: types::clCreateBuffer_t,
        clCreateImage: types::clCreateImage_t,
        clCreateImage2D: types::clCreateImage2D_t,
        clCreateImage3D: types::clCreateImage3D_t,
        clCreateImageWithProperties: types::clCreateImageWithProperties_t,
        clGetSupportedImageFormats: types::clGetSupportedImageFormats_t,
        clGetImageInfo: types::clGetImageInfo_t,
        clReleaseMemObject: types::clReleaseMemObject_t,
        clSetMemObjectDestructorCallback: types::clSetMemObjectDestructorCallback_t,
        clGetMemObjectInfo: types::clGetMemObjectInfo_t,
        clCreateSampler: types::clCreateSampler_t,
        clCreateSamplerWithProperties: types::clCreateSamplerWithProperties_t,
        clRetainSampler: types::clRetainSampler_t,
        clReleaseSampler: types::clReleaseSampler_t,
        clGetSamplerInfo: types::clGetSamplerInfo_t,
        clSetKernelArg: types::clSetKernelArg_t,
        clEnqueueReadBuffer: types::clEnqueueReadBuffer_t,
        clEnqueueReadImage: types::clEnqueueReadImage_t,
        clEnqueueWriteImage: types::clEnqueueWriteImage_t,
        clEnqueueFillImage: types::clEnqueueFillImage_t,
        clEnqueueCopyImage: types::clEnqueueCopyImage_t,
        clEnqueueCopyImageToBuffer: types::clEnqueueCopyImageToBuffer_t,
        clEnqueueCopyBufferToImage: types::clEnqueueCopyBufferToImage_t,
        clEnqueueMapImage: types::clEnqueueMapImage_t,
        clEnqueueUnmapMemObject: types::clEnqueueUnmapMemObject_t,
        clCreateSubBuffer: types::clCreateSubBuffer_t,
        clRetainMemObject: types::clRetainMemObject_t,
        clCreateProgramWithSource: types::clCreateProgramWithSource_t,
        clBuildProgram: types::clBuildProgram_t,
        clRetainProgram: types::clRetainProgram_t,
        clReleaseProgram: types::clReleaseProgram_t,
        clSetProgramReleaseCallback: types::clSetProgramReleaseCallback_t,
        clGetProgramInfo: types::clGetProgramInfo_t,
        clGetProgramBuildInfo: types::clGetProgramBuildInfo_t,
        clCreateKernel: types::clCreateKernel_t,
        clCloneKernel: types::clCloneKernel_t,
        clRetainKernel: types::clRetainKernel_t,
        clReleaseKernel: types::clReleaseKernel_t,
        clGetKernelInfo: types::clGetKernelInfo_t,
        clGetKernelArgInfo: types::clGetKernelArgInfo_t,
        clGetKernelWorkGroupInfo: types::clGetKernelWorkGroupInfo_t,
        clGetKernelSubGroupInfo: types::clGetKernelSubGroupInfo_t,
        clCreateUserEvent: types::clCreateUserEvent_t,
        clSetUserEventStatus: types::clSetUserEventStatus_t,
        clSetEventCallback: types::clSetEventCallback_t,
        clWaitForEvents: types::clWaitForEvents_t,
        clRetainEvent: types::clRetainEvent_t,
        clReleaseEvent: types::clReleaseEvent_t,
        clGetEventInfo: types::clGetEventInfo_t,
        clGetEventProfilingInfo: types::clGetEventProfilingInfo_t,
        clEnqueueWriteBuffer: types::clEnqueueWriteBuffer_t,
        clEnqueueCopyBuffer: types::clEnqueueCopyBuffer_t,
        clEnqueueFillBuffer: types::clEnqueueFillBuffer_t,
        clEnqueueReadBufferRect: types::clEnqueueReadBufferRect_t,
        clEnqueueWriteBufferRect: types::clEnqueueWriteBufferRect_t,
        clEnqueueCopyBufferRect: types::clEnqueueCopyBufferRect_t,
        clEnqueueMapBuffer: types::clEnqueueMapBuffer_t,
        clEnqueueMigrateMemObjects: types::clEnqueueMigrateMemObjects_t,
        clEnqueueNDRangeKernel: types::clEnqueueNDRangeKernel_t,
        clEnqueueTask: types::clEnqueueTask_t,
        clEnqueueMarkerWithWaitList: types::clEnqueueMarkerWithWaitList_t,
        clEnqueueBarrierWithWaitList: types::clEnqueueBarrierWithWaitList_t,
        clSVMAlloc: types::clSVMAlloc_t,
        clSVMFree: types::clSVMFree_t,
        clEnqueueSVMFree: types::clEnqueueSVMFree_t,
        clEnqueueSVMMemcpy: types::clEnqueueSVMMemcpy_t,
        clEnqueueSVMMemFill: types::clEnqueueSVMMemFill_t,
        clEnqueueSVMMap: types::clEnqueueSVMMap_t,
        clEnqueueSVMUnmap: types::clEnqueueSVMUnmap_t,
        clSetKernelArgSVMPointer: types::clSetKernelArgSVMPointer_t,
        clSetKernelExecInfo: types::clSetKernelExecInfo_t,
        clUnloadCompiler: types::clUnloadCompiler_t,
        clUnloadPlatformCompiler: types::clUnloadPlatformCompiler_t,
        clGetExtensionFunctionAddress: types::clGetExtensionFunctionAddress_t,
        clGetDeviceAndHostTimer: types::clGetDeviceAndHostTimer_t,
        clGetHostTimer: types::clGetHostTimer_t,
        clRetainDevice: types::clRetainDevice_t,
        clReleaseDevice: types::clReleaseDevice_t,
        clCreateSubDevicesEXT: opencl_sys::clCreateSubDevicesEXT_t,
        clRetainDeviceEXT: opencl_sys::clRetainDeviceEXT_t,
        clReleaseDeviceEXT: opencl_sys::clReleaseDeviceEXT_t,
        clCreateContextFromType: types::clCreateContextFromType_t,
        clCreateCommandQueue: types::clCreateCommandQueue_t,
        clSetCommandQueueProperty: types::clSetCommandQueueProperty_t,
        clSetDefaultDeviceCommandQueue: types::clSetDefaultDeviceCommandQueue_t,
        clCreateBufferWithProperties: types::clCreateBufferWithProperties_t,
        clEnqueueSVMMigrateMem: types::clEnqueueSVMMigrateMem_t,
        clEnqueueNativeKernel: types::clEnqueueNativeKernel_t,
        clEnqueueMarker: types::clEnqueueMarker_t,
        clEnqueueWaitForEvents: types::clEnqueueWaitForEvents_t,
        clEnqueueBarrier: types::clEnqueueBarrier_t,
        clCreateProgramWithBinary: types::clCreateProgramWithBinary_t,
        clCreateProgramWithBuiltInKernels: types::clCreateProgramWithBuiltInKernels_t,
        clCreateProgramWithIL: types::clCreateProgramWithIL_t,
        clSetProgramSpecializationConstant: types::clSetProgramSpecializationConstant_t,
        clCompileProgram: types::clCompileProgram_t,
        clLinkProgram: types::clLinkProgram_t,
        clCreateKernelsInProgram: types::clCreateKernelsInProgram_t,
        clGetKernelSubGroupInfoKHR: opencl_sys::clGetKernelSubGroupInfoKHR_t,
        clCreatePipe: types::clCreatePipe_t,
        clGetPipeInfo: types::clGetPipeInfo_t,
        clCreateFromGLBuffer: opencl_sys::clCreateFromGLBuffer_t,
        clCreateFromGLTexture: opencl_sys::clCreateFromGLTexture_t,
        clCreateFromGLTexture2D: opencl_sys::clCreateFromGLTexture2D_t,
        clCreateFromGLTexture3D: opencl_sys::clCreateFromGLTexture3D_t,
        clCreateFromGLRenderbuffer: opencl_sys::clCreateFromGLRenderbuffer_t,
        clGetGLObjectInfo: opencl_sys::clGetGLObjectInfo_t,
        clGetGLTextureInfo: opencl_sys::clGetGLTextureInfo_t,
        clEnqueueAcquireGLObjects: opencl_sys::clEnqueueAcquireGLObjects_t,
        clEnqueueReleaseGLObjects: opencl_sys::clEnqueueReleaseGLObjects_t,
        clGetGLContextInfoKHR: opencl_sys::clGetGLContextInfoKHR_t,
        clCreateEventFromGLsyncKHR: opencl_sys::clCreateEventFromGLsyncKHR_t,
        clCreateFromEGLImageKHR: opencl_sys::cl_egl::clCreateFromEGLImageKHR_t,
        clEnqueueAcquireEGLObjectsKHR: opencl_sys::cl_egl::clEnqueueAcquireEGLObjectsKHR_t,
        clEnqueueReleaseEGLObjectsKHR: opencl_sys::cl_egl::clEnqueueReleaseEGLObjectsKHR_t,
        clCreateEventFromEGLSyncKHR: opencl_sys::cl_egl::clCreateEventFromEGLSyncKHR_t,
    }
}

functions! {
    /// Functions of `cl_intel_unified_shared_memory`, which only drivers have.
    Unified {
        clHostMemAllocINTEL: opencl_sys::clHostMemAllocINTEL_t,
        clDeviceMemAllocINTEL: opencl_sys::clDeviceMemAllocINTEL_t,
        clSharedMemAllocINTEL: opencl_sys::clSharedMemAllocINTEL_t,
        clMemFreeINTEL: opencl_sys::clMemFreeINTEL_t,
        clMemBlockingFreeINTEL: opencl_sys::clMemBlockingFreeINTEL_t,
        clGetMemAllocInfoINTEL: opencl_sys::clGetMemAllocInfoINTEL_t,
        clSetKernelArgMemPointerINTEL: opencl_sys::clSetKernelArgMemPointerINTEL_t,
        clEnqueueMemFillINTEL: opencl_sys::clEnqueueMemFillINTEL_t,
        clEnqueueMemcpyINTEL: opencl_sys::clEnqueueMemcpyINTEL_t,
        clEnqueueMemAdviseINTEL: opencl_sys::clEnqueueMemAdviseINTEL_t,
        clEnqueueMigrateMemINTEL: opencl_sys::clEnqueueMigrateMemINTEL_t,
    }
}

functions! {
    /// Functions of `cl_ext_image_requirements_info`.
    ImageRequirements {
        clGetImageRequirementsInfoEXT: opencl_sys::clGetImageRequirementsInfoEXT_t,
    }
}

functions! {
    /// Functions of `cl_khr_command_buffer` and `cl_khr_command_buffer_mutable_dispatch`.
    CommandBuffers {
        clCreateCommandBufferKHR: opencl_sys::clCreateCommandBufferKHR_t,
        clFinalizeCommandBufferKHR: opencl_sys::clFinalizeCommandBufferKHR_t,
        clRetainCommandBufferKHR: opencl_sys::clRetainCommandBufferKHR_t,
        clReleaseCommandBufferKHR: opencl_sys::clReleaseCommandBufferKHR_t,
        clEnqueueCommandBufferKHR: opencl_sys::clEnqueueCommandBufferKHR_t,
        clCommandBarrierWithWaitListKHR: opencl_sys::clCommandBarrierWithWaitListKHR_t,
        clCommandCopyBufferKHR: opencl_sys::clCommandCopyBufferKHR_t,
        clCommandCopyBufferRectKHR: opencl_sys::clCommandCopyBufferRectKHR_t,
        clCommandCopyBufferToImageKHR: opencl_sys::clCommandCopyBufferToImageKHR_t,
        clCommandCopyImageKHR: opencl_sys::clCommandCopyImageKHR_t,
        clCommandCopyImageToBufferKHR: opencl_sys::clCommandCopyImageToBufferKHR_t,
        clCommandFillBufferKHR: opencl_sys::clCommandFillBufferKHR_t,
        clCommandFillImageKHR: opencl_sys::clCommandFillImageKHR_t,
        clCommandNDRangeKernelKHR: opencl_sys::clCommandNDRangeKernelKHR_t,
        clCommandSVMMemcpyKHR: opencl_sys::clCommandSVMMemcpyKHR_t,
        clCommandSVMMemFillKHR: opencl_sys::clCommandSVMMemFillKHR_t,
        clGetCommandBufferInfoKHR: opencl_sys::clGetCommandBufferInfoKHR_t,
        clUpdateMutableCommandsKHR: opencl_sys::clUpdateMutableCommandsKHR_t,
        clGetMutableCommandInfoKHR: opencl_sys::clGetMutableCommandInfoKHR_t,
    }
}

functions! {
    /// Functions of `cl_khr_semaphore`, and the one of `cl_khr_external_semaphore`.
    Semaphores {
        clCreateSemaphoreWithPropertiesKHR: opencl_sys::clCreateSemaphoreWithPropertiesKHR_t,
        clEnqueueWaitSemaphoresKHR: opencl_sys::clEnqueueWaitSemaphoresKHR_t,
        clEnqueueSignalSemaphoresKHR: opencl_sys::clEnqueueSignalSemaphoresKHR_t,
        clGetSemaphoreInfoKHR: opencl_sys::clGetSemaphoreInfoKHR_t,
        clRetainSemaphoreKHR: opencl_sys::clRetainSemaphoreKHR_t,
        clReleaseSemaphoreKHR: opencl_sys::clReleaseSemaphoreKHR_t,
        clGetSemaphoreHandleForTypeKHR: opencl_sys::clGetSemaphoreHandleForTypeKHR_t,
    }
}

/// The loader's functions, loaded once.
///
/// # Errors
/// There is no loader, or it lacks a function.
pub fn api() -> Result<&'static Api, String> {
    static API: OnceLock<Result<(Library, Api), String>> = OnceLock::new();
    let load = || {
        let library = Library::open("libOpenCL.so.1").map_err(|error| error.to_string())?;
        // SAFETY: only the address is taken.
        let find = |name: &str| unsafe { library.symbol(name) }.map_err(|error| format!("{name}: {error}"));
        let api = Api::load(find)?;
        Ok((library, api))
    };
    API.get_or_init(load).as_ref().map(|(_, api)| api).map_err(Clone::clone)
}

/// The functions of `cl_intel_unified_shared_memory`, loaded once; `None` for drivers without.
///
/// # Errors
/// The driver says that it has the extension, and lacks a function.
pub fn unified() -> Result<Option<&'static Unified>, String> {
    static UNIFIED: OnceLock<Result<Option<Unified>, String>> = OnceLock::new();
    let load = || of_extension("cl_intel_unified_shared_memory", |find| Unified::load(find));
    UNIFIED.get_or_init(load).as_ref().map(Option::as_ref).map_err(Clone::clone)
}

/// The same of `cl_ext_image_requirements_info`.
///
/// # Errors
/// As of [`unified`].
pub fn image_requirements() -> Result<Option<&'static ImageRequirements>, String> {
    static REQUIREMENTS: OnceLock<Result<Option<ImageRequirements>, String>> = OnceLock::new();
    let load = || of_extension("cl_ext_image_requirements_info", |find| ImageRequirements::load(find));
    REQUIREMENTS.get_or_init(load).as_ref().map(Option::as_ref).map_err(Clone::clone)
}

/// The same of `cl_khr_command_buffer`, with `cl_khr_command_buffer_mutable_dispatch`.
///
/// # Errors
/// As of [`unified`].
pub fn command_buffers() -> Result<Option<&'static CommandBuffers>, String> {
    static BUFFERS: OnceLock<Result<Option<CommandBuffers>, String>> = OnceLock::new();
    let load = || of_extension("cl_khr_command_buffer_mutable_dispatch", |find| CommandBuffers::load(find));
    BUFFERS.get_or_init(load).as_ref().map(Option::as_ref).map_err(Clone::clone)
}

/// The same of `cl_khr_semaphore`.
///
/// # Errors
/// As of [`unified`].
pub fn semaphores() -> Result<Option<&'static Semaphores>, String> {
    static SEMAPHORES: OnceLock<Result<Option<Semaphores>, String>> = OnceLock::new();
    let load = || of_extension("cl_khr_semaphore", |find| Semaphores::load(find));
    SEMAPHORES.get_or_init(load).as_ref().map(Option::as_ref).map_err(Clone::clone)
}

/// The functions of an extension, if the device has it.
fn of_extension<T>(
    extension: &str,
    load: impl Fn(&dyn Fn(&str) -> Result<*mut c_void, String>) -> Result<T, String>,
) -> Result<Option<T>, String> {
    let (api, device) = (api()?, &Gpu::get()?.device);
    let extensions = device.extensions().map_err(|error| error.to_string())?;
    if !extensions.split(' ').any(|name| name == extension) {
        return Ok(None);
    }
    let platform = device.platform().map_err(|error| error.to_string())?;
    let find = |name: &str| {
        let text = CString::new(name).map_err(|error| error.to_string())?;
        // SAFETY: the platform is alive, and the text has its end.
        let address = unsafe { (api.clGetExtensionFunctionAddressForPlatform)(platform, text.as_ptr()) };
        if address.is_null() { Err(format!("there is no {name}")) } else { Ok(address) }
    };
    load(&find).map(Some)
}
