//! Handles of other APIs for semaphores: `clGetSemaphoreHandleForTypeKHR`

use std::ffi::c_void;

use gencl_icd_macros::cl_entrypoint;
use gencl_runtime::{Code, Error};
use opencl_sys::{cl_device_id, cl_external_semaphore_handle_type_khr, cl_semaphore_khr};

use crate::CLResult;
use crate::abi::{HostPointer, Out};
use crate::handle::Handle;
use crate::object::Semaphore;

#[cl_entrypoint(clGetSemaphoreHandleForTypeKHR)]
fn get_semaphore_handle_for_type(
    semaphore: cl_semaphore_khr,
    device: cl_device_id,
    _kind: cl_external_semaphore_handle_type_khr,
    _size: usize,
    _handle: HostPointer<*mut c_void>,
    _size_ret: Out<usize>,
) -> CLResult<()> {
    // CL_INVALID_SEMAPHORE_KHR if sema_object is not a valid semaphore.
    let semaphore = Handle::<Semaphore>::get(semaphore)?;
    // CL_INVALID_DEVICE if device is not a valid device, or if sema_object belongs to a context that is not associated
    // with device.
    semaphore.context.check_device(device)?;
    // CL_INVALID_VALUE if the requested external semaphore handle type was not specified when sema_object was created.
    Err(Error::new(Code::InvalidValue, "semaphores have no handles of other APIs"))
}
