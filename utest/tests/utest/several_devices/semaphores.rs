//! Semaphores are for one device of their context.

use std::ptr::{null, null_mut};

use gencl_utest::raw::semaphores;
use gencl_utest::{Case, Outcome};
use opencl_sys::{
    CL_INVALID_COMMAND_QUEUE, CL_INVALID_CONTEXT, CL_INVALID_DEVICE, CL_INVALID_PROPERTY,
    CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR, CL_SEMAPHORE_TYPE_BINARY_KHR, CL_SEMAPHORE_TYPE_KHR, CL_SUCCESS,
};
use opencl3::types::cl_context;

use super::{MIXED, TWINS, WIDE, World, context, done, equal, queue, several, wait};

pub fn cases() -> Vec<Case> {
    vec![several("several_devices_semaphores", &[WIDE, MIXED, TWINS], each_device)]
}

/// One of each device. Only queues of the device, and of the context, take it.
fn each_device(world: &World) -> Outcome {
    let functions = semaphores()?.ok_or("no semaphores")?;
    let kind = [CL_SEMAPHORE_TYPE_KHR.into(), u64::from(CL_SEMAPHORE_TYPE_BINARY_KHR)];
    let create = |context: cl_context, devices: &[u64], expected| {
        let list = [CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR.into()];
        let list = if devices.is_empty() { vec![] } else { [&list, devices, &[0]].concat() };
        let (properties, mut code) = ([&kind[..], &list, &[0]].concat(), 1);
        // SAFETY: the list has its end.
        let handle = unsafe {
            (functions.clCreateSemaphoreWithPropertiesKHR)(context, properties.as_ptr(), &mut code)
        };
        equal("clCreateSemaphoreWithPropertiesKHR", code, expected).map(|()| handle)
    };
    let devices = world.devices.map(|device| device as u64);
    create(world.context, &[], CL_INVALID_PROPERTY)?;
    create(world.context, &devices, CL_INVALID_DEVICE)?;
    for device in [0, 1] {
        let alone = done("clCreateContext", context(&world.devices[device..][..1]))?;
        create(alone, &[devices[1 - device]], CL_INVALID_DEVICE)?;
        let of_alone = done("clCreateCommandQueue", queue(alone, world.devices[device]))?;
        let handle = create(world.context, &[devices[device]], CL_SUCCESS)?;
        let own = create(alone, &[], CL_SUCCESS)?;
        let calls = [
            ("signal", functions.clEnqueueSignalSemaphoresKHR),
            ("wait", functions.clEnqueueWaitSemaphoresKHR),
        ];
        for (what, function) in calls {
            let mut event = null_mut();
            let mut enqueue = |queue, handle, expected| {
                // SAFETY: a list of one.
                let code = unsafe { function(queue, 1, &raw const handle, null(), 0, null(), &mut event) };
                equal(what, code, expected)
            };
            enqueue(world.queues[1 - device], handle, CL_INVALID_COMMAND_QUEUE)?;
            enqueue(world.queues[1 - device], own, CL_INVALID_COMMAND_QUEUE)?;
            enqueue(of_alone, handle, CL_INVALID_CONTEXT)?;
            enqueue(world.queues[device], handle, CL_SUCCESS)?;
            wait(event)?;
        }
    }
    Ok(())
}
