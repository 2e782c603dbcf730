//! `clGetKernelWorkGroupInfo`, `clGetKernelSuggestedLocalWorkSize`

use gencl_icd_macros::cl_entrypoint;
use gencl_runtime::{Code, Error};
use opencl_sys::{
    CL_KERNEL_COMPILE_WORK_GROUP_SIZE, CL_KERNEL_GLOBAL_WORK_SIZE, CL_KERNEL_LOCAL_MEM_SIZE,
    CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, CL_KERNEL_PRIVATE_MEM_SIZE, CL_KERNEL_WORK_GROUP_SIZE,
    cl_command_queue, cl_device_id, cl_kernel, cl_kernel_work_group_info, cl_uint,
};

use crate::abi::{Bytes, List, Out, OutList};
use crate::api::enqueue::kernel::nd_range;
use crate::handle::Handle;
use crate::info::{InfoWriter, Written};
use crate::object::{Kernel, Queue};
use crate::{CLResult, refuse_if};

#[cl_entrypoint(clGetKernelWorkGroupInfo)]
fn get_kernel_work_group_info(
    kernel: cl_kernel,
    device: cl_device_id,
    name: cl_kernel_work_group_info,
    room: usize,
    value: Bytes,
    size_ret: Out<usize>,
) -> CLResult<Written> {
    let kernel = Handle::<Kernel>::get(kernel)?;
    kernel.check_device(device)?;
    let info = InfoWriter::new(room, value, size_ret);
    match name {
        CL_KERNEL_WORK_GROUP_SIZE => info.value(kernel.runtime.work_group_size() as usize),
        CL_KERNEL_COMPILE_WORK_GROUP_SIZE => {
            let required = kernel.runtime.info().required_work_group_size.unwrap_or([0; 3]);
            info.values(&required.map(|size| size as usize))
        }
        CL_KERNEL_LOCAL_MEM_SIZE => info.value(kernel.runtime.local_memory_size()),
        CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE => {
            info.value(kernel.runtime.preferred_multiple() as usize)
        }
        CL_KERNEL_PRIVATE_MEM_SIZE => info.value(kernel.runtime.private_memory_size()),
        // CL_INVALID_VALUE if param_name is CL_KERNEL_GLOBAL_WORK_SIZE and device is not a custom device and kernel is
        // not a built-in kernel.
        CL_KERNEL_GLOBAL_WORK_SIZE => {
            Err(Error::new(Code::InvalidValue, "neither custom device nor built-in kernel"))
        }
        _ => info.unknown(name),
    }
}
