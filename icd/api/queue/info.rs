//! `clGetCommandQueueInfo`

use std::ffi::c_void;
use std::ptr::null_mut;

use gencl_icd_macros::cl_entrypoint;
use gencl_runtime::{Code, Error};
use opencl_sys::{
    CL_QUEUE_CONTEXT, CL_QUEUE_DEVICE, CL_QUEUE_DEVICE_DEFAULT, CL_QUEUE_PROPERTIES,
    CL_QUEUE_PROPERTIES_ARRAY, CL_QUEUE_REFERENCE_COUNT, CL_QUEUE_SIZE, cl_command_queue,
    cl_command_queue_info,
};

use crate::CLResult;
use crate::abi::{Bytes, Out};
use crate::handle::Handle;
use crate::info::{InfoWriter, Written};
use crate::object::Queue;

#[cl_entrypoint(clGetCommandQueueInfo)]
fn get_command_queue_info(
    queue: cl_command_queue,
    name: cl_command_queue_info,
    room: usize,
    value: Bytes,
    size_ret: Out<usize>,
) -> CLResult<Written> {
    let queue = Handle::<Queue>::get(queue)?;
    let info = InfoWriter::new(room, value, size_ret);
    match name {
        CL_QUEUE_CONTEXT => info.value(queue.context.raw()),
        CL_QUEUE_DEVICE => info.value(queue.device.raw()),
        CL_QUEUE_REFERENCE_COUNT => info.value(queue.references()),
        CL_QUEUE_PROPERTIES => info.value(queue.flags),
        CL_QUEUE_PROPERTIES_ARRAY => info.values(&queue.properties),
        // There are no device-side queues.
        CL_QUEUE_DEVICE_DEFAULT => info.value(null_mut::<c_void>()),
        // CL_INVALID_COMMAND_QUEUE if command_queue is not a valid command-queue for param_name.
        CL_QUEUE_SIZE => Err(Error::new(Code::InvalidCommandQueue, "not a device-side queue")),
        _ => info.unknown(name),
    }
}
