//! Contexts of several devices. The environment selects the devices, so the cases run this program again.

mod command_buffers;
mod contexts;
mod events;
mod memory;
mod programs;
mod semaphores;

use std::ffi::CStr;
use std::ptr::{null, null_mut};

use gencl_utest::{Case, Need, Outcome};
use opencl_sys::{CL_DEVICE_TYPE_ALL, CL_QUEUE_PROFILING_ENABLE, CL_QUEUE_PROPERTIES};
use opencl3::command_queue::{
    create_command_queue_with_properties, enqueue_nd_range_kernel, enqueue_read_buffer,
};
use opencl3::context::context::create_context;
use opencl3::event::wait_for_events;
use opencl3::kernel::{create_kernel, release_kernel, set_kernel_arg};
use opencl3::memory::{CL_MEM_COPY_HOST_PTR, CL_MEM_READ_WRITE, create_buffer};
use opencl3::platform::get_platforms;
use opencl3::program::{build_program, create_program_with_source};
use opencl3::types::{
    CL_BLOCKING, cl_command_queue, cl_context, cl_device_id, cl_event, cl_int, cl_kernel, cl_mem, cl_program,
    cl_uint,
};

use crate::child::is_child;
use crate::engine::output_of_child;

pub fn cases() -> Vec<Case> {
    let cases = [
        contexts::cases(),
        programs::cases(),
        memory::cases(),
        events::cases(),
        command_buffers::cases(),
        semaphores::cases(),
    ];
    cases.into_iter().flatten().collect()
}

/// Devices that know memory by the host's addresses.
const WIDE: &str = "sim:skl,sim:bdw";

/// The second has addresses of 31 bits, no shared virtual memory, and buffers that the kernel driver places.
const MIXED: &str = "sim:skl,sim:ivb";

/// Two of a kind.
const TWINS: &str = "sim:bdw,sim:bdw";

/// A case that is run with each of some lists of devices.
fn several(name: &'static str, lists: &'static [&'static str], run: fn(&World) -> Outcome) -> Case {
    several_that_say(name, lists, run, |_| Ok(()))
}

/// The same; `check` gets what is printed.
fn several_that_say(
    name: &'static str,
    lists: &'static [&'static str],
    run: fn(&World) -> Outcome,
    check: fn(&str) -> Outcome,
) -> Case {
    let case = move || {
        if is_child() {
            return run(&World::new()?);
        }
        lists.iter().try_for_each(|devices| {
            let said = output_of_child(name, &[("GENCL_DEVICE", devices), ("GENCL_DEVICE_TYPE", "cpu")]);
            let checked = said.and_then(|[output, _]| match output.contains("1 passed") {
                true => check(&output),
                false => Err(output),
            });
            checked.map_err(|error| format!("{devices}: {error}"))
        })
    };
    Case::of_gencl("its own simulator", name, case).needing(Need::Simulator)
}

/// Two devices in a context, and a queue of each. Whatever cases make goes with the process.
struct World {
    devices: [cl_device_id; 2],
    context: cl_context,
    queues: [cl_command_queue; 2],
}

/// The result of a function, or its error code with its name.
fn done<T>(what: &str, result: Result<T, cl_int>) -> Result<T, String> {
    result.map_err(|code| format!("{what}: {code}"))
}

/// A call has to fail with a code.
fn refused<T>(what: &str, result: Result<T, cl_int>, code: cl_int) -> Outcome {
    match result {
        Err(error) if error == code => Ok(()),
        Err(error) => Err(format!("{what}: {error}, expected {code}")),
        Ok(_) => Err(format!("{what} succeeded, expected {code}")),
    }
}

fn equal<T: PartialEq + std::fmt::Debug>(what: &str, result: T, expected: T) -> Outcome {
    if result == expected { Ok(()) } else { Err(format!("{what}: {result:?}, expected {expected:?}")) }
}

fn context(devices: &[cl_device_id]) -> Result<cl_context, cl_int> {
    create_context(devices, null(), None, null_mut())
}

fn queue(context: cl_context, device: cl_device_id) -> Result<cl_command_queue, cl_int> {
    let properties = [CL_QUEUE_PROPERTIES.into(), CL_QUEUE_PROFILING_ENABLE, 0];
    // SAFETY: the list of properties has an end.
    unsafe { create_command_queue_with_properties(context, device, properties.as_ptr()) }
}

impl World {
    fn new() -> Result<Self, String> {
        let platform = get_platforms().map_err(|error| error.to_string())?.remove(0);
        let devices = platform.get_devices(CL_DEVICE_TYPE_ALL).map_err(|error| error.to_string())?;
        let devices = <[_; 2]>::try_from(devices).map_err(|all| format!("{} devices", all.len()))?;
        let context = done("clCreateContext", context(&devices))?;
        let queues = devices.map(|device| done("clCreateCommandQueue", queue(context, device)));
        let [first, second] = queues;
        Ok(Self { devices, context, queues: [first?, second?] })
    }

    fn source(&self, source: &str) -> Result<cl_program, String> {
        done("clCreateProgramWithSource", create_program_with_source(self.context, &[source]))
    }

    /// A program that is built for all devices.
    fn built(&self, source: &str) -> Result<cl_program, String> {
        let program = self.source(source)?;
        done("clBuildProgram", build(program, &[], c"-cl-std=CL3.0"))?;
        Ok(program)
    }

    fn buffer(&self, contents: &[u32]) -> Result<cl_mem, String> {
        let (flags, pointer) = (CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, contents.as_ptr());
        // SAFETY: the contents are copied.
        let buffer =
            unsafe { create_buffer(self.context, flags, size_of_val(contents), pointer.cast_mut().cast()) };
        done("clCreateBuffer", buffer)
    }

    /// Reads the beginning of a buffer by a device's queue.
    fn read(&self, device: usize, buffer: cl_mem, words: usize) -> Result<Vec<u32>, String> {
        let mut read = vec![0u32; words];
        let (size, pointer) = (4 * words, read.as_mut_ptr().cast());
        // SAFETY: there is room, and the call blocks.
        let event = unsafe {
            enqueue_read_buffer(self.queues[device], buffer, CL_BLOCKING, 0, size, pointer, 0, null())
        };
        done("clEnqueueReadBuffer", event)?;
        Ok(read)
    }

    /// Launches a kernel with buffers as arguments.
    fn launch(
        &self,
        device: usize,
        kernel: cl_kernel,
        buffers: &[cl_mem],
        items: usize,
        waits: &[cl_event],
    ) -> Result<cl_event, String> {
        for (index, buffer) in (0..).zip(buffers) {
            let pointer = std::ptr::from_ref(buffer).cast();
            // SAFETY: a handle is there.
            done("clSetKernelArg", unsafe { set_kernel_arg(kernel, index, size_of::<cl_mem>(), pointer) })?;
        }
        done("clEnqueueNDRangeKernel", self.enqueue(device, kernel, items, waits))
    }

    /// Launches a kernel with the arguments that it has.
    fn enqueue(
        &self,
        device: usize,
        kernel: cl_kernel,
        items: usize,
        waits: &[cl_event],
    ) -> Result<cl_event, cl_int> {
        let list = if waits.is_empty() { null() } else { waits.as_ptr() };
        let (queue, count) = (self.queues[device], waits.len() as cl_uint);
        // SAFETY: there is one dimension, and what arguments refer to outlives the launch.
        unsafe { enqueue_nd_range_kernel(queue, kernel, 1, null(), &raw const items, null(), count, list) }
    }

    /// The result of a kernel that writes one number on a device.
    fn number(&self, device: usize, program: cl_program, name: &CStr) -> Result<u32, String> {
        let kernel = done("clCreateKernel", create_kernel(program, name))?;
        let out = self.buffer(&[0])?;
        wait(self.launch(device, kernel, &[out], 1, &[])?)?;
        // SAFETY: it is released once.
        done("clReleaseKernel", unsafe { release_kernel(kernel) })?;
        Ok(self.read(device, out, 1)?[0])
    }
}

fn build(program: cl_program, devices: &[cl_device_id], options: &CStr) -> Result<(), cl_int> {
    build_program(program, devices, options, None, null_mut())
}

/// Waits for a command, which has to end well.
fn wait(event: cl_event) -> Outcome {
    done("clWaitForEvents", wait_for_events(&[event]))
}
