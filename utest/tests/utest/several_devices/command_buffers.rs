//! Command-buffers are for the device of their queue.

use std::ptr::{null, null_mut};

use gencl_utest::raw::command_buffers;
use gencl_utest::{Case, Outcome};
use opencl_sys::{CL_INVALID_DEVICE, CL_SUCCESS};
use opencl3::kernel::{create_kernel, set_kernel_arg};
use opencl3::types::cl_mem;

use super::{MIXED, WIDE, World, done, equal, several, wait};

pub fn cases() -> Vec<Case> {
    vec![several("several_devices_command_buffers", &[WIDE, MIXED], each_device)]
}

/// One of each device, recorded with one kernel. Only queues of the device take it.
fn each_device(world: &World) -> Outcome {
    let functions = command_buffers()?.ok_or("no command-buffers")?;
    let program = world.built("kernel void put(global uint *p, uint n) { p[get_global_id(0)] += n; }")?;
    let kernel = done("clCreateKernel", create_kernel(program, c"put"))?;
    let (buffer, items) = (world.buffer(&[0; 8])?, 8usize);
    for device in [0, 1] {
        let number = 3 + device as u32;
        let (mut code, mut event) = (1, null_mut());
        // SAFETY: the kernel's arguments are a buffer and a number; one queue and one dimension.
        unsafe {
            let handle = std::ptr::from_ref(&buffer).cast();
            done("clSetKernelArg", set_kernel_arg(kernel, 0, size_of::<cl_mem>(), handle))?;
            done("clSetKernelArg", set_kernel_arg(kernel, 1, 4, (&raw const number).cast()))?;
            let mut queues = [world.queues[device], world.queues[1 - device]];
            let list = (functions.clCreateCommandBufferKHR)(1, queues.as_ptr(), null(), &mut code);
            equal("clCreateCommandBufferKHR", code, CL_SUCCESS)?;
            let (none, handles) = (null_mut(), null_mut());
            let record = functions.clCommandNDRangeKernelKHR;
            let code =
                record(list, none, null(), kernel, 1, null(), &items, null(), 0, null(), null_mut(), handles);
            equal("clCommandNDRangeKernelKHR", code, CL_SUCCESS)?;
            equal("clFinalizeCommandBufferKHR", (functions.clFinalizeCommandBufferKHR)(list), CL_SUCCESS)?;
            let enqueue = functions.clEnqueueCommandBufferKHR;
            let other = enqueue(1, &mut queues[1], list, 0, null(), &mut event);
            equal("a queue of the other device", other, CL_INVALID_DEVICE)?;
            equal("its queue", enqueue(1, &mut queues[0], list, 0, null(), &mut event), CL_SUCCESS)?;
            wait(event)?;
            equal("clReleaseCommandBufferKHR", (functions.clReleaseCommandBufferKHR)(list), CL_SUCCESS)?;
        }
    }
    equal("sums", world.read(0, buffer, 8)?, vec![7; 8])
}
