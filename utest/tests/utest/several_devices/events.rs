//! Commands that wait for those of other devices, what they tell, and what happens when one fails.

use std::ptr::null_mut;

use gencl_utest::raw::api;
use gencl_utest::{Case, Outcome};
use opencl_sys::{
    CL_COMPLETE, CL_EVENT_COMMAND_EXECUTION_STATUS, CL_EVENT_COMMAND_QUEUE,
    CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, CL_OUT_OF_RESOURCES, CL_PROFILING_COMMAND_END,
    CL_PROFILING_COMMAND_START, CL_QUEUED, CL_SUCCESS,
};
use opencl3::command_queue::finish;
use opencl3::event::{
    create_user_event, get_event_info, get_event_profiling_info, set_user_event_status, wait_for_events,
};
use opencl3::kernel::create_kernel;
use opencl3::types::{cl_event, cl_kernel};

use super::{MIXED, TWINS, WIDE, World, done, equal, refused, several, several_that_say, wait};

pub fn cases() -> Vec<Case> {
    vec![
        several("several_devices_events", &[WIDE, MIXED, TWINS], events),
        several("several_devices_profiling", &[WIDE, MIXED], profiling),
        several("several_devices_failures", &[WIDE, MIXED], failures),
        several_that_say("several_devices_printf", &[WIDE, MIXED], printf, |said| {
            for line in ["work-item 0 says ten", "work-item 1 says twenty"] {
                equal(line, said.matches(line).count(), 2)?;
            }
            Ok(())
        }),
    ]
}

/// Appends a number to those that are there; the first word counts them.
const APPEND: &str = "
    kernel void append0(global uint *all) { all[0]++; all[all[0]] = 10; }
    kernel void append1(global uint *all) { all[0]++; all[all[0]] = 11; }";

fn appending(world: &World) -> Result<[cl_kernel; 2], String> {
    let program = world.built(APPEND)?;
    let [first, second] =
        [c"append0", c"append1"].map(|name| done("clCreateKernel", create_kernel(program, name)));
    Ok([first?, second?])
}

/// Commands wait for a user event, and each for one of the other device.
fn events(world: &World) -> Outcome {
    let kernels = appending(world)?;
    let buffer = world.buffer(&[0; 40])?;
    let start = done("clCreateUserEvent", create_user_event(world.context))?;
    let (mut last, mut expected) = (start, vec![9]);
    for device in [0, 1, 1, 0, 1, 0, 0, 1, 0] {
        last = world.launch(device, kernels[device], &[buffer], 1, &[last])?;
        expected.push(10 + device as u32);
        let queue: isize = done("queue", get_event_info(last, CL_EVENT_COMMAND_QUEUE))?.into();
        equal("CL_EVENT_COMMAND_QUEUE", queue, world.queues[device] as isize)?;
    }
    let status: i32 = done("status", get_event_info(last, CL_EVENT_COMMAND_EXECUTION_STATUS))?.into();
    equal("status before", status, CL_QUEUED)?;
    done("clSetUserEventStatus", set_user_event_status(start, CL_COMPLETE))?;
    wait(last)?;
    equal("order", world.read(0, buffer, 10)?, expected)?;

    // Both devices at the same time, and a marker that waits for both.
    let buffers = [world.buffer(&[0; 4])?, world.buffer(&[0; 4])?];
    let both = [
        world.launch(0, kernels[0], &buffers[..1], 1, &[])?,
        world.launch(1, kernels[1], &buffers[1..], 1, &[])?,
    ];
    let mut marker = null_mut();
    // SAFETY: the list has two events.
    let code =
        unsafe { (api()?.clEnqueueMarkerWithWaitList)(world.queues[0], 2, both.as_ptr(), &raw mut marker) };
    equal("clEnqueueMarkerWithWaitList", code, CL_SUCCESS)?;
    done("clWaitForEvents", wait_for_events(&[both[1], marker, both[0]]))?;
    for device in [0, 1] {
        let found = world.read(1 - device, buffers[device], 2)?;
        equal("numbers", found, vec![1, 10 + device as u32])?;
    }
    Ok(())
}

/// Times of all devices are on one clock.
fn profiling(world: &World) -> Outcome {
    let kernels = appending(world)?;
    let buffer = world.buffer(&[0; 40])?;
    let mut before = 0;
    let mut waits: Vec<cl_event> = Vec::new();
    for device in [0, 1, 0, 1] {
        let event = world.launch(device, kernels[device], &[buffer], 1, &waits)?;
        wait(event)?;
        let time = |what| -> Result<u64, String> {
            Ok(done("clGetEventProfilingInfo", get_event_profiling_info(event, what))?.into())
        };
        let [start, end] = [time(CL_PROFILING_COMMAND_START)?, time(CL_PROFILING_COMMAND_END)?];
        if start < before || end < start {
            return Err(format!("from {start} to {end}, after {before}"));
        }
        (before, waits) = (end, vec![event]);
    }
    Ok(())
}

/// What fails on one device fails what waits for it on the other, and nothing else.
fn failures(world: &World) -> Outcome {
    let kernels = appending(world)?;
    let wild =
        world.built("kernel void wild(global uint *all) { all[get_global_id(0) + (512 << 20) / 4] = 1; }")?;
    let wild = done("clCreateKernel", create_kernel(wild, c"wild"))?;
    for device in [0, 1] {
        let other = 1 - device;
        let buffers = [world.buffer(&[0; 4])?, world.buffer(&[0; 4])?];
        let failing = world.launch(device, wild, &buffers[..1], 1, &[])?;
        let beside = world.launch(other, kernels[other], &buffers[1..], 1, &[])?;
        let waiting = world.launch(other, kernels[other], &buffers[..1], 1, &[failing])?;
        wait(beside)?;
        for (event, expected) in
            [(failing, CL_OUT_OF_RESOURCES), (waiting, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST)]
        {
            let waited = wait_for_events(&[event]);
            refused("a command that fails", waited, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST)?;
            let status: i32 =
                done("status", get_event_info(event, CL_EVENT_COMMAND_EXECUTION_STATUS))?.into();
            equal("its status", status, expected)?;
        }
        // Each queue reports its own failures, and works afterwards.
        for queue in world.queues {
            refused("clFinish", finish(queue), CL_OUT_OF_RESOURCES)?;
        }
        wait(world.launch(device, kernels[device], &buffers[1..], 1, &[])?)?;
        let expected = vec![2, 10 + other as u32, 10 + device as u32, 0];
        equal("numbers", world.read(device, buffers[1], 4)?, expected)?;
    }
    Ok(())
}

fn printf(world: &World) -> Outcome {
    let program = world.built(
        r#"kernel void talk() {
            printf("work-item %u says %s\n", (uint)get_global_id(0), get_global_id(0) ? "twenty" : "ten");
        }"#,
    )?;
    let kernel = done("clCreateKernel", create_kernel(program, c"talk"))?;
    for device in [0, 1] {
        wait(done("launch", world.enqueue(device, kernel, 2, &[]))?)?;
    }
    Ok(())
}
