//! `clGetSemaphoreInfoKHR`

use gencl_icd_macros::cl_entrypoint;
use opencl_sys::{
    CL_SEMAPHORE_CONTEXT_KHR, CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR, CL_SEMAPHORE_PAYLOAD_KHR,
    CL_SEMAPHORE_PROPERTIES_KHR, CL_SEMAPHORE_REFERENCE_COUNT_KHR, CL_SEMAPHORE_TYPE_BINARY_KHR,
    CL_SEMAPHORE_TYPE_KHR, cl_semaphore_info_khr, cl_semaphore_khr, cl_semaphore_payload_khr,
};

use crate::CLResult;
use crate::abi::{Bytes, Out};
use crate::handle::Handle;
use crate::info::{InfoWriter, Written};
use crate::object::Semaphore;

#[cl_entrypoint(clGetSemaphoreInfoKHR)]
fn get_semaphore_info(
    semaphore: cl_semaphore_khr,
    name: cl_semaphore_info_khr,
    room: usize,
    value: Bytes,
    size_ret: Out<usize>,
) -> CLResult<Written> {
    let semaphore = Handle::<Semaphore>::get(semaphore)?;
    let info = InfoWriter::new(room, value, size_ret);
    match name {
        CL_SEMAPHORE_CONTEXT_KHR => info.value(semaphore.context.raw()),
        CL_SEMAPHORE_REFERENCE_COUNT_KHR => info.value(semaphore.references()),
        CL_SEMAPHORE_PROPERTIES_KHR => info.values(&semaphore.properties),
        CL_SEMAPHORE_TYPE_KHR => info.value(CL_SEMAPHORE_TYPE_BINARY_KHR),
        CL_SEMAPHORE_PAYLOAD_KHR => {
            info.value(cl_semaphore_payload_khr::from(semaphore.runtime.is_signaled()))
        }
        CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR => {
            info.value(semaphore.context.handle(semaphore.runtime.device()))
        }
        _ => info.unknown(name),
    }
}
