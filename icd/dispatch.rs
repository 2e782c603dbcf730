//! The ICD dispatch table.

use opencl_sys::cl_icd::cl_icd_dispatch;

use crate::api;

/// Makes the table from function names, grouped by the module that has them.
macro_rules! dispatch {
    (null: $($null:ident)+; $($group:ident::$module:ident: $($name:ident)+;)*) => {
        /// The dispatch table, in the order of `cl_icd.h`. Every handle points to it.
        pub static TABLE: cl_icd_dispatch = cl_icd_dispatch {
            $($($name: Some(api::$group::$module::$name),)+)*
            $($null: None,)+
        };
    };
}

dispatch! {
    // cl_icd.h has these as untyped pointers outside of Windows.
    null: clGetDeviceIDsFromD3D10KHR clCreateFromD3D10BufferKHR clCreateFromD3D10Texture2DKHR
        clCreateFromD3D10Texture3DKHR clEnqueueAcquireD3D10ObjectsKHR clEnqueueReleaseD3D10ObjectsKHR
        clGetDeviceIDsFromD3D11KHR clCreateFromD3D11BufferKHR clCreateFromD3D11Texture2DKHR
        clCreateFromD3D11Texture3DKHR clCreateFromDX9MediaSurfaceKHR clEnqueueAcquireD3D11ObjectsKHR
        clEnqueueReleaseD3D11ObjectsKHR clGetDeviceIDsFromDX9MediaAdapterKHR
        clEnqueueAcquireDX9MediaSurfacesKHR clEnqueueReleaseDX9MediaSurfacesKHR;

    platform::ids: clGetPlatformIDs;
    platform::info: clGetPlatformInfo;
    platform::compiler: clUnloadCompiler clUnloadPlatformCompiler;
    platform::extension: clGetExtensionFunctionAddress clGetExtensionFunctionAddressForPlatform;

    device::ids: clGetDeviceIDs;
    device::info: clGetDeviceInfo;
    device::timer: clGetDeviceAndHostTimer clGetHostTimer;
    device::sub_devices: clCreateSubDevices clRetainDevice clReleaseDevice
        clCreateSubDevicesEXT clRetainDeviceEXT clReleaseDeviceEXT;

    context::create: clCreateContext clCreateContextFromType;
    context::references: clRetainContext clReleaseContext clSetContextDestructorCallback;
    context::info: clGetContextInfo;

    queue::create: clCreateCommandQueue clCreateCommandQueueWithProperties;
    queue::properties: clSetCommandQueueProperty clSetDefaultDeviceCommandQueue;
    queue::references: clRetainCommandQueue clReleaseCommandQueue;
    queue::info: clGetCommandQueueInfo;
    queue::flush: clFlush clFinish;

    memory::buffer: clCreateBuffer clCreateBufferWithProperties;
    memory::sub_buffer: clCreateSubBuffer;
    memory::references: clRetainMemObject clReleaseMemObject clSetMemObjectDestructorCallback;
    memory::info: clGetMemObjectInfo;
    memory::shared: clSVMAlloc clSVMFree;

    image::create: clCreateImage clCreateImageWithProperties clCreateImage2D clCreateImage3D;
    image::formats: clGetSupportedImageFormats;
    image::info: clGetImageInfo;

    sampler::create: clCreateSampler clCreateSamplerWithProperties;
    sampler::references: clRetainSampler clReleaseSampler;
    sampler::info: clGetSamplerInfo;

    enqueue::read_write: clEnqueueReadBuffer clEnqueueWriteBuffer;
    enqueue::read_write_rect: clEnqueueReadBufferRect clEnqueueWriteBufferRect;
    enqueue::copy: clEnqueueCopyBuffer clEnqueueCopyBufferRect;
    enqueue::fill: clEnqueueFillBuffer;
    enqueue::map: clEnqueueMapBuffer clEnqueueMapImage clEnqueueUnmapMemObject;
    enqueue::image_read_write: clEnqueueReadImage clEnqueueWriteImage clEnqueueFillImage;
    enqueue::image_copy: clEnqueueCopyImage clEnqueueCopyImageToBuffer clEnqueueCopyBufferToImage;
    enqueue::migrate: clEnqueueMigrateMemObjects;
    enqueue::shared: clEnqueueSVMFree clEnqueueSVMMemcpy clEnqueueSVMMemFill clEnqueueSVMMap clEnqueueSVMUnmap
        clEnqueueSVMMigrateMem;
    enqueue::kernel: clEnqueueNDRangeKernel clEnqueueTask clEnqueueNativeKernel;
    enqueue::synchronize: clEnqueueMarker clEnqueueWaitForEvents clEnqueueBarrier
        clEnqueueMarkerWithWaitList clEnqueueBarrierWithWaitList;

    event::user: clCreateUserEvent clSetUserEventStatus;
    event::wait: clWaitForEvents;
    event::callback: clSetEventCallback;
    event::references: clRetainEvent clReleaseEvent;
    event::info: clGetEventInfo clGetEventProfilingInfo;

    program::source: clCreateProgramWithSource;
    program::binary: clCreateProgramWithBinary;
    program::il: clCreateProgramWithIL clSetProgramSpecializationConstant;
    program::other: clCreateProgramWithBuiltInKernels clSetProgramReleaseCallback;
    program::references: clRetainProgram clReleaseProgram;
    program::build: clBuildProgram;
    program::compile: clCompileProgram;
    program::link: clLinkProgram;
    program::info: clGetProgramInfo;
    program::build_info: clGetProgramBuildInfo;

    kernel::create: clCreateKernel clCreateKernelsInProgram clCloneKernel;
    kernel::references: clRetainKernel clReleaseKernel;
    kernel::argument: clSetKernelArg clSetKernelArgSVMPointer clSetKernelExecInfo;
    kernel::info: clGetKernelInfo;
    kernel::argument_info: clGetKernelArgInfo;
    kernel::work_group_info: clGetKernelWorkGroupInfo clGetKernelSuggestedLocalWorkSize;
    kernel::sub_group_info: clGetKernelSubGroupInfo clGetKernelSubGroupInfoKHR;

    unsupported::pipe: clCreatePipe clGetPipeInfo;
    unsupported::gl: clCreateFromGLBuffer clCreateFromGLTexture clCreateFromGLTexture2D clCreateFromGLTexture3D
        clCreateFromGLRenderbuffer clGetGLObjectInfo clGetGLTextureInfo clEnqueueAcquireGLObjects
        clEnqueueReleaseGLObjects clGetGLContextInfoKHR clCreateEventFromGLsyncKHR;
    unsupported::egl: clCreateFromEGLImageKHR clEnqueueAcquireEGLObjectsKHR clEnqueueReleaseEGLObjectsKHR
        clCreateEventFromEGLSyncKHR;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Entries that are null: those of Windows.
    const WINDOWS_ENTRIES: usize = 16;

    #[test]
    fn every_entry_that_linux_has_is_filled() {
        const ENTRIES: usize = size_of::<cl_icd_dispatch>() / size_of::<usize>();
        // SAFETY: the table is a C structure of nothing but nullable pointers.
        let entries = unsafe { &*(&raw const TABLE).cast::<[usize; ENTRIES]>() };
        assert_eq!(entries.iter().filter(|&&entry| entry == 0).count(), WINDOWS_ENTRIES);
    }
}
