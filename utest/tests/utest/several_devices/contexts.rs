//! Queries of a context's devices, and properties that it derives from them.

use std::ptr::{null, null_mut};

use gencl_utest::{Case, Outcome};
use opencl_sys::{
    CL_CONTEXT_DEVICES, CL_CONTEXT_NUM_DEVICES, CL_DEVICE_MAX_MEM_ALLOC_SIZE, CL_DEVICE_NOT_FOUND,
    CL_DEVICE_TYPE_ALL, CL_DEVICE_TYPE_CPU, CL_DEVICE_TYPE_GPU, CL_INVALID_BUFFER_SIZE, CL_INVALID_DEVICE,
    CL_QUEUE_CONTEXT, CL_QUEUE_DEVICE,
};
use opencl3::command_queue::get_command_queue_info;
use opencl3::context::context::{create_context_from_type, get_context_info};
use opencl3::device::get_device_info;
use opencl3::memory::{CL_MEM_READ_WRITE, create_buffer};
use opencl3::program::create_program_with_source;
use opencl3::types::{cl_context, cl_device_id};

use super::{MIXED, TWINS, WIDE, World, build, context, done, equal, queue, refused, several};

pub fn cases() -> Vec<Case> {
    vec![
        several("several_devices_context", &[WIDE, MIXED, TWINS], devices),
        several("several_devices_strangers", &[WIDE], strangers),
        several("several_devices_limits", &[MIXED], limits),
    ]
}

fn devices_of(context: cl_context) -> Result<Vec<isize>, String> {
    let count: u32 = done("devices", get_context_info(context, CL_CONTEXT_NUM_DEVICES))?.into();
    let devices: Vec<isize> = done("devices", get_context_info(context, CL_CONTEXT_DEVICES))?.into();
    equal("CL_CONTEXT_NUM_DEVICES", count as usize, devices.len())?;
    Ok(devices)
}

fn devices(world: &World) -> Outcome {
    let [a, b] = world.devices;
    let handles =
        |devices: &[cl_device_id]| devices.iter().map(|device| *device as isize).collect::<Vec<_>>();
    for given in [vec![a, b], vec![b, a], vec![b, a, b, b], vec![b]] {
        let mut expected = given.clone();
        expected.truncate(2);
        let context = done("clCreateContext", context(&given))?;
        equal("CL_CONTEXT_DEVICES", devices_of(context)?, handles(&expected))?;
    }
    for types in [CL_DEVICE_TYPE_ALL, CL_DEVICE_TYPE_CPU] {
        let context =
            done("clCreateContextFromType", create_context_from_type(types, null(), None, null_mut()))?;
        equal("devices of the type", devices_of(context)?, handles(&[a, b]))?;
    }
    let none = create_context_from_type(CL_DEVICE_TYPE_GPU, null(), None, null_mut());
    refused("a context of no devices", none, CL_DEVICE_NOT_FOUND)?;
    refused("a context of something else", context(&[a, null_mut()]), CL_INVALID_DEVICE)?;
    for (queue, device) in world.queues.into_iter().zip(world.devices) {
        let own: isize = done("device", get_command_queue_info(queue, CL_QUEUE_DEVICE))?.into();
        equal("CL_QUEUE_DEVICE", own, device as isize)?;
        let own: isize = done("context", get_command_queue_info(queue, CL_QUEUE_CONTEXT))?.into();
        equal("CL_QUEUE_CONTEXT", own, world.context as isize)?;
    }
    Ok(())
}

/// Devices of the platform that are not the context's.
fn strangers(world: &World) -> Outcome {
    let [a, b] = world.devices;
    let context = done("clCreateContext", context(&[a]))?;
    refused("a queue of another device", queue(context, b), CL_INVALID_DEVICE)?;
    let program = done("program", create_program_with_source(context, &["kernel void f() {}"]))?;
    refused("a build for another device", build(program, &[b], c""), CL_INVALID_DEVICE)?;
    refused("a build for another one, too", build(program, &[a, b], c""), CL_INVALID_DEVICE)?;
    done("clBuildProgram", build(program, &[a], c""))
}

/// All devices have all memory objects, so the least of them sets the limit.
fn limits(world: &World) -> Outcome {
    let most = |device| -> Result<u64, String> {
        Ok(done("limit", get_device_info(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE))?.into())
    };
    let least = most(world.devices[0])?.min(most(world.devices[1])?) as usize;
    // SAFETY: no host memory is given.
    let buffer = |size| unsafe { create_buffer(world.context, CL_MEM_READ_WRITE, size, null_mut()) };
    done("clCreateBuffer", buffer(least))?;
    refused("a buffer that is too large for one", buffer(least + 1), CL_INVALID_BUFFER_SIZE)
}
