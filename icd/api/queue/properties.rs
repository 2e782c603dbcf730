//! `clSetCommandQueueProperty`, `clSetDefaultDeviceCommandQueue`

use gencl_icd_macros::cl_entrypoint;
use gencl_runtime::{Code, Error};
use opencl_sys::{cl_bool, cl_command_queue, cl_command_queue_properties, cl_context, cl_device_id};

use crate::CLResult;
use crate::abi::Out;
use crate::handle::Handle;
use crate::object::{Context, Queue};

// Deprecated by OpenCL 1.1: CL_INVALID_OPERATION if no devices associated with command_queue support
// modifying the properties of a command-queue.
#[cl_entrypoint(clSetCommandQueueProperty)]
fn set_command_queue_property(
    queue: cl_command_queue,
    _properties: cl_command_queue_properties,
    _enable: cl_bool,
    _old_properties: Out<cl_command_queue_properties>,
) -> CLResult<()> {
    Handle::<Queue>::get(queue)?;
    Err(Error::new(Code::InvalidOperation, "properties of a command-queue cannot be changed"))
}

// CL_INVALID_OPERATION if device does not support a replaceable default on-device queue.
#[cl_entrypoint(clSetDefaultDeviceCommandQueue)]
fn set_default_device_command_queue(
    context: cl_context,
    device: cl_device_id,
    _queue: cl_command_queue,
) -> CLResult<()> {
    Handle::<Context>::get(context)?.check_device(device)?;
    Err(Error::new(Code::InvalidOperation, "device-side queues are not supported"))
}
