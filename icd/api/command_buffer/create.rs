//! `clCreateCommandBufferKHR`, `clFinalizeCommandBufferKHR`

use gencl_icd_macros::cl_entrypoint;
use gencl_runtime::Code;
use opencl_sys::{
    CL_COMMAND_BUFFER_FLAGS_KHR, CL_COMMAND_BUFFER_MUTABLE_KHR, CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR,
    cl_command_buffer_khr, cl_command_buffer_properties_khr, cl_command_queue, cl_uint,
};

use super::{check_asserts, check_name};
use crate::abi::{List, ZeroTerminated};
use crate::handle::Handle;
use crate::object::{CommandBuffer, Queue};
use crate::{CLResult, refuse_if};

/// `cl_ext.h`; opencl-sys 0.6.5 has another number.
const CL_COMMAND_BUFFER_MUTABLE_DISPATCH_ASSERTS_KHR: cl_command_buffer_properties_khr = 0x12B7;

#[cl_entrypoint(clCreateCommandBufferKHR)]
fn create_command_buffer(
    num_queues: cl_uint,
    queues: List<cl_command_queue>,
    properties: ZeroTerminated<cl_command_buffer_properties_khr>,
) -> CLResult<cl_command_buffer_khr> {
    // CL_INVALID_VALUE if the cl_khr_command_buffer_multi_device extension is not supported and num_queues is not one.
    // CL_INVALID_VALUE if queues is NULL.
    let one = num_queues == 1 && !queues.is_null();
    refuse_if(!one, Code::InvalidValue, "a command-buffer has one queue")?;
    // CL_INVALID_COMMAND_QUEUE if any command-queue in queues is not a valid command-queue.
    let mut queue = [std::ptr::null_mut()];
    // SAFETY: num_queues is the length of the list.
    unsafe { queues.copy_to(&mut queue) };
    let queue = Handle::<Queue>::get(queue[0])?;
    let (mut flags, mut asserts, mut before) = (0, 0, Vec::new());
    // CL_INVALID_VALUE if values specified in properties are not valid, or if the same property name is specified more
    // than once.
    let properties = properties.checked(|name, value| {
        let names = [CL_COMMAND_BUFFER_FLAGS_KHR, CL_COMMAND_BUFFER_MUTABLE_DISPATCH_ASSERTS_KHR];
        check_name(name, &names, &mut before)?;
        if name == CL_COMMAND_BUFFER_FLAGS_KHR {
            flags = value;
            let known = CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR | CL_COMMAND_BUFFER_MUTABLE_KHR;
            return refuse_if(value & !known != 0, Code::InvalidValue, "unknown flags");
        }
        asserts = value;
        check_asserts(value)
    })?;
    let runtime = gencl_runtime::CommandBuffer::new(&queue.context.runtime, &queue.device.runtime)?;
    let commands = Default::default();
    Ok(Handle::create(CommandBuffer { runtime, queue, flags, asserts, properties, commands }))
}

#[cl_entrypoint(clFinalizeCommandBufferKHR)]
fn finalize_command_buffer(buffer: cl_command_buffer_khr) -> CLResult<()> {
    // CL_INVALID_COMMAND_BUFFER_KHR if command_buffer is not a valid command-buffer.
    // CL_INVALID_OPERATION if command_buffer is not in the Recording state.
    Handle::<CommandBuffer>::get(buffer)?.runtime.finalize()
}
