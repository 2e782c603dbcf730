//! `clGetExtensionFunctionAddress`, `clGetExtensionFunctionAddressForPlatform`

use std::ffi::c_void;
use std::ptr::null_mut;

use gencl_icd_macros::cl_entrypoint;
use opencl_sys::cl_platform_id;

use crate::abi::Text;
use crate::api::platform::{ids, info};
use crate::api::{command_buffer, enqueue, image, kernel, memory, program, queue, semaphore, unsupported};
use crate::handle::Handle;
use crate::object::Platform;

/// The functions of supported extensions.
fn address(name: &str) -> *mut c_void {
    let function: *const () = match name {
        // cl_khr_icd
        "clIcdGetPlatformIDsKHR" => ids::clIcdGetPlatformIDsKHR as *const (),
        // Loaders query the suffix with it before they have a dispatch table.
        "clGetPlatformInfo" => info::clGetPlatformInfo as *const (),
        // cl_khr_create_command_queue
        "clCreateCommandQueueWithPropertiesKHR" => {
            queue::create::clCreateCommandQueueWithProperties as *const ()
        }
        // cl_khr_il_program
        "clCreateProgramWithILKHR" => program::il::clCreateProgramWithIL as *const (),
        // cl_khr_suggested_local_work_size
        "clGetKernelSuggestedLocalWorkSizeKHR" => {
            kernel::work_group_info::clGetKernelSuggestedLocalWorkSize as *const ()
        }
        // cl_khr_subgroups
        "clGetKernelSubGroupInfoKHR" => kernel::sub_group_info::clGetKernelSubGroupInfoKHR as *const (),
        // cl_ext_image_requirements_info
        "clGetImageRequirementsInfoEXT" => image::requirements::clGetImageRequirementsInfoEXT as *const (),
        // cl_intel_unified_shared_memory
        "clHostMemAllocINTEL" => memory::unified::clHostMemAllocINTEL as *const (),
        "clDeviceMemAllocINTEL" => memory::unified::clDeviceMemAllocINTEL as *const (),
        "clSharedMemAllocINTEL" => memory::unified::clSharedMemAllocINTEL as *const (),
        "clMemFreeINTEL" => memory::unified::clMemFreeINTEL as *const (),
        "clMemBlockingFreeINTEL" => memory::unified::clMemBlockingFreeINTEL as *const (),
        "clGetMemAllocInfoINTEL" => memory::unified::clGetMemAllocInfoINTEL as *const (),
        "clSetKernelArgMemPointerINTEL" => kernel::argument::clSetKernelArgMemPointerINTEL as *const (),
        "clEnqueueMemFillINTEL" => enqueue::unified::clEnqueueMemFillINTEL as *const (),
        "clEnqueueMemcpyINTEL" => enqueue::unified::clEnqueueMemcpyINTEL as *const (),
        "clEnqueueMigrateMemINTEL" => enqueue::unified::clEnqueueMigrateMemINTEL as *const (),
        "clEnqueueMemAdviseINTEL" => enqueue::unified::clEnqueueMemAdviseINTEL as *const (),
        // cl_khr_command_buffer
        "clCreateCommandBufferKHR" => command_buffer::create::clCreateCommandBufferKHR as *const (),
        "clFinalizeCommandBufferKHR" => command_buffer::create::clFinalizeCommandBufferKHR as *const (),
        "clRetainCommandBufferKHR" => command_buffer::references::clRetainCommandBufferKHR as *const (),
        "clReleaseCommandBufferKHR" => command_buffer::references::clReleaseCommandBufferKHR as *const (),
        "clEnqueueCommandBufferKHR" => command_buffer::enqueue::clEnqueueCommandBufferKHR as *const (),
        "clCommandBarrierWithWaitListKHR" => {
            command_buffer::synchronize::clCommandBarrierWithWaitListKHR as *const ()
        }
        "clCommandCopyBufferKHR" => command_buffer::copy::clCommandCopyBufferKHR as *const (),
        "clCommandCopyBufferRectKHR" => command_buffer::copy::clCommandCopyBufferRectKHR as *const (),
        "clCommandCopyBufferToImageKHR" => {
            command_buffer::image_copy::clCommandCopyBufferToImageKHR as *const ()
        }
        "clCommandCopyImageKHR" => command_buffer::image_copy::clCommandCopyImageKHR as *const (),
        "clCommandCopyImageToBufferKHR" => {
            command_buffer::image_copy::clCommandCopyImageToBufferKHR as *const ()
        }
        "clCommandFillBufferKHR" => command_buffer::fill::clCommandFillBufferKHR as *const (),
        "clCommandFillImageKHR" => command_buffer::fill::clCommandFillImageKHR as *const (),
        "clCommandNDRangeKernelKHR" => command_buffer::kernel::clCommandNDRangeKernelKHR as *const (),
        "clCommandSVMMemcpyKHR" => command_buffer::shared::clCommandSVMMemcpyKHR as *const (),
        "clCommandSVMMemFillKHR" => command_buffer::shared::clCommandSVMMemFillKHR as *const (),
        "clGetCommandBufferInfoKHR" => command_buffer::info::clGetCommandBufferInfoKHR as *const (),
        // cl_khr_command_buffer_mutable_dispatch
        "clUpdateMutableCommandsKHR" => command_buffer::update::clUpdateMutableCommandsKHR as *const (),
        "clGetMutableCommandInfoKHR" => command_buffer::mutable_info::clGetMutableCommandInfoKHR as *const (),
        // cl_khr_semaphore
        "clCreateSemaphoreWithPropertiesKHR" => {
            semaphore::create::clCreateSemaphoreWithPropertiesKHR as *const ()
        }
        "clRetainSemaphoreKHR" => semaphore::references::clRetainSemaphoreKHR as *const (),
        "clReleaseSemaphoreKHR" => semaphore::references::clReleaseSemaphoreKHR as *const (),
        "clGetSemaphoreInfoKHR" => semaphore::info::clGetSemaphoreInfoKHR as *const (),
        "clEnqueueWaitSemaphoresKHR" => enqueue::semaphore::clEnqueueWaitSemaphoresKHR as *const (),
        "clEnqueueSignalSemaphoresKHR" => enqueue::semaphore::clEnqueueSignalSemaphoresKHR as *const (),
        // cl_khr_external_semaphore is not reported, but conformance tests of cl_khr_semaphore want its function.
        "clGetSemaphoreHandleForTypeKHR" => {
            unsupported::semaphore::clGetSemaphoreHandleForTypeKHR as *const ()
        }
        _ => std::ptr::null(),
    };
    function.cast_mut().cast()
}

#[cl_entrypoint(clGetExtensionFunctionAddress)]
fn get_extension_function_address(name: Text) -> *mut c_void {
    name.get().map_or(null_mut(), |name| address(&name))
}

#[cl_entrypoint(clGetExtensionFunctionAddressForPlatform)]
fn get_extension_function_address_for_platform(platform: cl_platform_id, name: Text) -> *mut c_void {
    // NULL if platform is not a valid platform, which null is not here.
    if Handle::<Platform>::get(platform).is_err() {
        return null_mut();
    }
    get_extension_function_address(name)
}
