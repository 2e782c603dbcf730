//! `clGetKernelWorkGroupInfo`, `clGetKernelSuggestedLocalWorkSize`

use std::sync::Arc;

use gencl_icd_macros::cl_entrypoint;
use gencl_runtime::{Code, Error};
use opencl_sys::{
    CL_KERNEL_COMPILE_WORK_GROUP_SIZE, CL_KERNEL_GLOBAL_WORK_SIZE, CL_KERNEL_LOCAL_MEM_SIZE,
    CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, CL_KERNEL_PRIVATE_MEM_SIZE, CL_KERNEL_SPILL_MEM_SIZE_INTEL,
    CL_KERNEL_WORK_GROUP_SIZE, cl_command_queue, cl_device_id, cl_kernel, cl_kernel_work_group_info, cl_uint,
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
    let build = kernel.on(device)?;
    let info = InfoWriter::new(room, value, size_ret);
    match name {
        CL_KERNEL_WORK_GROUP_SIZE => info.value(build.work_group_size() as usize),
        CL_KERNEL_COMPILE_WORK_GROUP_SIZE => {
            let required = build.info().required_work_group_size.unwrap_or([0; 3]);
            info.values(&required.map(|size| size as usize))
        }
        CL_KERNEL_LOCAL_MEM_SIZE => info.value(kernel.runtime.local_memory_size(build)),
        CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE => info.value(build.preferred_multiple() as usize),
        CL_KERNEL_PRIVATE_MEM_SIZE => info.value(build.private_memory_size()),
        // cl_intel_required_subgroup_size
        CL_KERNEL_SPILL_MEM_SIZE_INTEL => info.value(build.spill_memory_size()),
        // CL_INVALID_VALUE if param_name is CL_KERNEL_GLOBAL_WORK_SIZE and device is not a custom device and
        // kernel is not a built-in kernel.
        CL_KERNEL_GLOBAL_WORK_SIZE => {
            Err(Error::new(Code::InvalidValue, "neither custom device nor built-in kernel"))
        }
        _ => info.unknown(name),
    }
}

#[cl_entrypoint(clGetKernelSuggestedLocalWorkSize)]
fn get_kernel_suggested_local_work_size(
    queue: cl_command_queue,
    kernel: cl_kernel,
    work_dim: cl_uint,
    global_work_offset: List<usize>,
    global_work_size: List<usize>,
    suggested: OutList<usize>,
) -> CLResult<()> {
    let queue = Handle::<Queue>::get(queue)?;
    let kernel = Handle::<Kernel>::get(kernel)?;
    // CL_INVALID_CONTEXT if context associated with kernel is not the same as the context associated with
    // command_queue.
    let other = !Arc::ptr_eq(&queue.context, &kernel.program.context);
    refuse_if(other, Code::InvalidContext, "queue and kernel are of different contexts")?;
    let range = nd_range(work_dim, global_work_offset, global_work_size, List::none())?;
    // CL_INVALID_GLOBAL_WORK_SIZE if global_work_size is NULL or if any of the values specified in
    // global_work_size are 0.
    refuse_if(range.global.contains(&0), Code::InvalidGlobalWorkSize, "the index space is empty")?;
    // CL_INVALID_VALUE if suggested_local_work_size is NULL.
    refuse_if(suggested.is_null(), Code::InvalidValue, "suggested_local_work_size is null")?;
    let size = queue.runtime.suggested_local_size(&kernel.runtime, &range)?.map(|size| size as usize);
    // SAFETY: work_dim is what there is room for.
    unsafe { suggested.write(&size, work_dim as usize) }
    Ok(())
}
