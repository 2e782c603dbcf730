//! `clGetMutableCommandInfoKHR`

use std::ffi::c_void;

use gencl_icd_macros::cl_entrypoint;
use gencl_runtime::CommandKind;
use opencl_sys::{
    CL_MUTABLE_COMMAND_COMMAND_BUFFER_KHR, CL_MUTABLE_COMMAND_COMMAND_QUEUE_KHR,
    CL_MUTABLE_COMMAND_COMMAND_TYPE_KHR, CL_MUTABLE_COMMAND_PROPERTIES_ARRAY_KHR,
    CL_MUTABLE_DISPATCH_DIMENSIONS_KHR, CL_MUTABLE_DISPATCH_GLOBAL_WORK_OFFSET_KHR,
    CL_MUTABLE_DISPATCH_GLOBAL_WORK_SIZE_KHR, CL_MUTABLE_DISPATCH_KERNEL_KHR,
    CL_MUTABLE_DISPATCH_LOCAL_WORK_SIZE_KHR, cl_mutable_command_info_khr, cl_mutable_command_khr,
};

use crate::CLResult;
use crate::abi::{Bytes, Out};
use crate::handle::Handle;
use crate::info::{InfoWriter, Written};
use crate::object::MutableCommand;

// All commands with a handle are launches.
#[cl_entrypoint(clGetMutableCommandInfoKHR)]
fn get_mutable_command_info(
    command: cl_mutable_command_khr,
    name: cl_mutable_command_info_khr,
    room: usize,
    value: Bytes,
    size_ret: Out<usize>,
) -> CLResult<Written> {
    let command = Handle::<MutableCommand>::get(command)?;
    let info = InfoWriter::new(room, value, size_ret);
    let range = command.runtime.range(command.number)?;
    let sizes = |sizes: [u64; 3]| sizes.map(|size| size as usize);
    let used = range.dimensions as usize;
    match name {
        CL_MUTABLE_COMMAND_COMMAND_QUEUE_KHR => info.value(command.queue.raw()),
        CL_MUTABLE_COMMAND_COMMAND_BUFFER_KHR => info.value(command.buffer as *mut c_void),
        CL_MUTABLE_COMMAND_COMMAND_TYPE_KHR => info.value(CommandKind::NdRangeKernel as u32),
        CL_MUTABLE_COMMAND_PROPERTIES_ARRAY_KHR => info.values(&command.properties),
        CL_MUTABLE_DISPATCH_KERNEL_KHR => info.value(command.kernel.raw()),
        CL_MUTABLE_DISPATCH_DIMENSIONS_KHR => info.value(range.dimensions),
        CL_MUTABLE_DISPATCH_GLOBAL_WORK_OFFSET_KHR => info.values(&sizes(range.offset)[..used]),
        CL_MUTABLE_DISPATCH_GLOBAL_WORK_SIZE_KHR => info.values(&sizes(range.global)[..used]),
        CL_MUTABLE_DISPATCH_LOCAL_WORK_SIZE_KHR => {
            info.values(&sizes(range.local.unwrap_or_default().map(u64::from))[..used])
        }
        _ => info.unknown(name),
    }
}
