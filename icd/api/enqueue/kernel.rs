//! `clEnqueueNDRangeKernel`, `clEnqueueTask`, `clEnqueueNativeKernel`

use std::ffi::c_void;

use gencl_icd_macros::cl_entrypoint;
use gencl_runtime::{Code, CommandKind, Error, NdRange};
use opencl_sys::{cl_command_queue, cl_event, cl_kernel, cl_mem, cl_uint};

use super::Enqueue;
use crate::CLResult;
use crate::abi::{HostPointer, List, NativeFunction, Out, Unused};
use crate::handle::Handle;
use crate::object::{Kernel, Queue};

#[cl_entrypoint(clEnqueueNDRangeKernel)]
fn enqueue_nd_range_kernel(
    queue: cl_command_queue,
    kernel: cl_kernel,
    work_dim: cl_uint,
    global_work_offset: List<usize>,
    global_work_size: List<usize>,
    local_work_size: List<usize>,
    num_events: cl_uint,
    wait_events: List<cl_event>,
    event: Out<cl_event>,
) -> CLResult<()> {
    let enqueue = Enqueue::new(queue, num_events, wait_events, event)?;
    let kernel = Handle::<Kernel>::get(kernel)?;
    let range = nd_range(work_dim, global_work_offset, global_work_size, local_work_size)?;
    // The other conditions on kernel and sizes are checked by the runtime.
    let command =
        enqueue.queue.runtime.launch(CommandKind::NdRangeKernel, &kernel.runtime, &range, &enqueue.waits)?;
    enqueue.done(command)
}

/// The index space by the four parameters.
pub fn nd_range(
    work_dim: cl_uint,
    offset: List<usize>,
    global: List<usize>,
    local: List<usize>,
) -> CLResult<NdRange> {
    // CL_INVALID_WORK_DIMENSION if work_dim is not a valid value (i.e. a value between 1 and 3).
    if !(1..=3).contains(&work_dim) {
        return Err(Error::new(Code::InvalidWorkDimension, format!("{work_dim} dimensions")));
    }
    let read = |list: List<usize>, unused: usize| {
        let mut values = [unused; 3];
        // SAFETY: work_dim is the length of the lists, which is at most 3.
        unsafe { list.copy_to(&mut values[..work_dim as usize]) };
        values.map(|value| value as u64)
    };
    let local = if local.is_null() {
        None
    } else {
        // CL_INVALID_WORK_ITEM_SIZE if the number of work-items specified in any of local_work_size is
        // greater than the corresponding values specified by CL_DEVICE_MAX_WORK_ITEM_SIZES.
        let too_large =
            |_| Error::new(Code::InvalidWorkItemSize, "a work-group of more than 2^32 work-items");
        let [x, y, z] = read(local, 1).map(u32::try_from);
        Some([x.map_err(too_large)?, y.map_err(too_large)?, z.map_err(too_large)?])
    };
    // If global_work_size is NULL, or the value in any passed dimension is 0 then the kernel command will
    // trivially succeed after its event dependencies are satisfied.
    let global = if global.is_null() { [0, 1, 1] } else { read(global, 1) };
    Ok(NdRange { dimensions: work_dim, offset: read(offset, 0), global, local })
}

#[cl_entrypoint(clEnqueueTask)]
fn enqueue_task(
    queue: cl_command_queue,
    kernel: cl_kernel,
    num_events: cl_uint,
    wait_events: List<cl_event>,
    event: Out<cl_event>,
) -> CLResult<()> {
    let enqueue = Enqueue::new(queue, num_events, wait_events, event)?;
    let kernel = Handle::<Kernel>::get(kernel)?;
    let range = NdRange { dimensions: 1, offset: [0; 3], global: [1; 3], local: Some([1; 3]) };
    let command = enqueue.queue.runtime.launch(CommandKind::Task, &kernel.runtime, &range, &enqueue.waits)?;
    enqueue.done(command)
}

// CL_INVALID_OPERATION if the device associated with command_queue cannot execute the native kernel
// (CL_DEVICE_EXECUTION_CAPABILITIES).
#[cl_entrypoint(clEnqueueNativeKernel)]
fn enqueue_native_kernel(
    queue: cl_command_queue,
    _function: Unused<NativeFunction>,
    _arguments: HostPointer<*mut c_void>,
    _arguments_size: usize,
    _num_objects: cl_uint,
    _objects: List<cl_mem>,
    _object_locations: Out<*const c_void>,
    _num_events: cl_uint,
    _wait_events: List<cl_event>,
    _event: Out<cl_event>,
) -> CLResult<()> {
    Handle::<Queue>::get(queue)?;
    Err(Error::new(Code::InvalidOperation, "the device does not support native kernels"))
}
