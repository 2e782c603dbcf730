//! `clGetCommandBufferInfoKHR`

use gencl_icd_macros::cl_entrypoint;
use opencl_sys::{
    CL_COMMAND_BUFFER_CONTEXT_KHR, CL_COMMAND_BUFFER_NUM_QUEUES_KHR, CL_COMMAND_BUFFER_PROPERTIES_ARRAY_KHR,
    CL_COMMAND_BUFFER_QUEUES_KHR, CL_COMMAND_BUFFER_REFERENCE_COUNT_KHR,
    CL_COMMAND_BUFFER_STATE_EXECUTABLE_KHR, CL_COMMAND_BUFFER_STATE_FINALIZED_KHR,
    CL_COMMAND_BUFFER_STATE_KHR, CL_COMMAND_BUFFER_STATE_RECORDING_KHR, cl_command_buffer_info_khr,
    cl_command_buffer_khr,
};

use crate::CLResult;
use crate::abi::{Bytes, Out};
use crate::handle::Handle;
use crate::info::{InfoWriter, Written};
use crate::object::CommandBuffer;

#[cl_entrypoint(clGetCommandBufferInfoKHR)]
fn get_command_buffer_info(
    buffer: cl_command_buffer_khr,
    name: cl_command_buffer_info_khr,
    room: usize,
    value: Bytes,
    size_ret: Out<usize>,
) -> CLResult<Written> {
    let buffer = Handle::<CommandBuffer>::get(buffer)?;
    let info = InfoWriter::new(room, value, size_ret);
    match name {
        CL_COMMAND_BUFFER_QUEUES_KHR => info.values(&[buffer.queue.raw()]),
        CL_COMMAND_BUFFER_NUM_QUEUES_KHR => info.value(1u32),
        CL_COMMAND_BUFFER_REFERENCE_COUNT_KHR => info.value(buffer.references()),
        CL_COMMAND_BUFFER_STATE_KHR => info.value(match &buffer.runtime {
            runtime if runtime.is_executable() => CL_COMMAND_BUFFER_STATE_EXECUTABLE_KHR,
            runtime if runtime.is_finalized() => CL_COMMAND_BUFFER_STATE_FINALIZED_KHR,
            _ => CL_COMMAND_BUFFER_STATE_RECORDING_KHR,
        }),
        CL_COMMAND_BUFFER_PROPERTIES_ARRAY_KHR => info.values(&buffer.properties),
        CL_COMMAND_BUFFER_CONTEXT_KHR => info.value(buffer.queue.context.raw()),
        _ => info.unknown(name),
    }
}
