//! `clCreateCommandQueue`, `clCreateCommandQueueWithProperties`

use gencl_icd_macros::cl_entrypoint;
use gencl_runtime::{Code, Error, QueueFlags};
use opencl_sys::{
    CL_QUEUE_ON_DEVICE, CL_QUEUE_ON_DEVICE_DEFAULT, CL_QUEUE_PRIORITY_HIGH_KHR, CL_QUEUE_PRIORITY_KHR,
    CL_QUEUE_PRIORITY_LOW_KHR, CL_QUEUE_PRIORITY_MED_KHR, CL_QUEUE_PROPERTIES, CL_QUEUE_SIZE,
    CL_QUEUE_THROTTLE_HIGH_KHR, CL_QUEUE_THROTTLE_KHR, CL_QUEUE_THROTTLE_LOW_KHR, CL_QUEUE_THROTTLE_MED_KHR,
    cl_command_queue, cl_command_queue_properties, cl_context, cl_device_id, cl_queue_properties, cl_uint,
};

use crate::abi::ZeroTerminated;
use crate::handle::Handle;
use crate::object::{Context, Queue};
use crate::{CLResult, refuse_if};

/// Properties that are hints, and their values. They have no effect, as the hardware executes batches in
/// order of submission.
const HINTS: [(cl_queue_properties, [cl_uint; 3]); 2] = [
    (
        CL_QUEUE_PRIORITY_KHR,
        [CL_QUEUE_PRIORITY_HIGH_KHR, CL_QUEUE_PRIORITY_MED_KHR, CL_QUEUE_PRIORITY_LOW_KHR],
    ),
    (
        CL_QUEUE_THROTTLE_KHR,
        [CL_QUEUE_THROTTLE_HIGH_KHR, CL_QUEUE_THROTTLE_MED_KHR, CL_QUEUE_THROTTLE_LOW_KHR],
    ),
];

#[cl_entrypoint(clCreateCommandQueue)]
fn create_command_queue(
    context: cl_context,
    device: cl_device_id,
    flags: cl_command_queue_properties,
) -> CLResult<cl_command_queue> {
    create(context, device, flags, Vec::new())
}

#[cl_entrypoint(clCreateCommandQueueWithProperties)]
fn create_command_queue_with_properties(
    context: cl_context,
    device: cl_device_id,
    properties: ZeroTerminated<cl_queue_properties>,
) -> CLResult<cl_command_queue> {
    let properties = properties.raw();
    let mut flags = 0;
    for pair in properties.chunks_exact(2) {
        if let Some((_, values)) = HINTS.iter().find(|(name, _)| *name == pair[0]) {
            // CL_INVALID_VALUE if values specified in properties are not valid.
            let known = values.iter().any(|&value| cl_queue_properties::from(value) == pair[1]);
            refuse_if(!known, Code::InvalidValue, "unknown priority or throttle")?;
            continue;
        }
        match u32::try_from(pair[0]).unwrap_or(u32::MAX) {
            CL_QUEUE_PROPERTIES => flags = pair[1],
            // CL_INVALID_QUEUE_PROPERTIES if values specified in properties are valid but are not supported
            // by the device. Only queues on the device have a size.
            CL_QUEUE_SIZE => {
                return Err(Error::new(Code::InvalidQueueProperties, "device-side queues are not supported"));
            }
            // CL_INVALID_VALUE if values specified in properties are not valid.
            name => return Err(Error::new(Code::InvalidValue, format!("unknown property {name:#x}"))),
        }
    }
    create(context, device, flags, properties)
}

fn create(
    context: cl_context,
    device: cl_device_id,
    flags: cl_command_queue_properties,
    properties: Vec<cl_queue_properties>,
) -> CLResult<cl_command_queue> {
    let context = Handle::<Context>::get(context)?;
    let device = context.check_device(device)?.clone();
    // CL_INVALID_VALUE if values specified in properties are not valid.
    let known = Queue::SUPPORTED | CL_QUEUE_ON_DEVICE | CL_QUEUE_ON_DEVICE_DEFAULT;
    refuse_if(flags & !known != 0, Code::InvalidValue, "unknown queue properties")?;
    // CL_INVALID_QUEUE_PROPERTIES if values specified in properties are valid but are not supported by the
    // device.
    let unsupported = flags & !Queue::SUPPORTED != 0;
    refuse_if(unsupported, Code::InvalidQueueProperties, "device-side queues are not supported")?;
    let known = QueueFlags::from_bits_truncate(flags);
    let runtime = gencl_runtime::Queue::new(&context.runtime, &device.runtime, known)?;
    Ok(Handle::create(Queue { runtime, context, device, flags, properties }))
}
