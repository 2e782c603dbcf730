//! A command-buffer, with short calls.

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use gencl_utest::raw::{Api, CommandBuffers, api, command_buffers};
use gencl_utest::{Gpu, Outcome, Program};
use opencl_sys::{
    CL_COMMAND_BUFFER_FLAGS_KHR, CL_QUEUE_PROFILING_ENABLE, CL_SUCCESS, cl_command_buffer_khr,
    cl_command_properties_khr, cl_command_queue, cl_event, cl_int, cl_kernel, cl_mem, cl_mutable_command_khr,
    cl_mutable_dispatch_arg_khr, cl_mutable_dispatch_config_khr, cl_sync_point_khr,
};
use opencl3::command_queue::CommandQueue;
use opencl3::event::Event;
use opencl3::kernel::Kernel;

use super::SOURCE;
use crate::information::expect;

/// The extension's functions, which devices that report it have.
pub fn functions() -> Result<&'static CommandBuffers, String> {
    command_buffers()?.ok_or_else(|| "the platform lacks functions of cl_khr_command_buffer".into())
}

pub fn well(code: cl_int, what: &str) -> Outcome {
    expect(code, CL_SUCCESS, what)
}

/// A queue with such `CL_QUEUE_PROPERTIES`, and profiling.
pub fn queue_with(properties: u64) -> Result<CommandQueue, String> {
    let gpu = Gpu::get()?;
    // SAFETY: context and device belong together.
    unsafe { CommandQueue::create(&gpu.context, gpu.device.id(), properties | CL_QUEUE_PROFILING_ENABLE) }
        .map_err(|error| error.to_string())
}

pub fn program() -> Result<Program, String> {
    Gpu::get()?.build_unchecked(SOURCE, "")
}

/// Sets an argument.
pub fn set<T>(kernel: &Kernel, index: u32, value: &T) -> Outcome {
    // SAFETY: tests give the kernels' types.
    let set = unsafe { kernel.set_arg(index, value) };
    set.map_err(|error| format!("clSetKernelArg({index}): {error}"))
}

/// Pointer and length of a list, null for an empty one.
fn pair<T>(list: &[T]) -> (u32, *const T) {
    (list.len() as u32, if list.is_empty() { null() } else { list.as_ptr() })
}

/// A command-buffer, which is released at the end.
pub struct List {
    pub functions: &'static CommandBuffers,
    pub api: &'static Api,
    pub handle: cl_command_buffer_khr,
}

impl Drop for List {
    fn drop(&mut self) {
        // SAFETY: the test's own reference.
        unsafe { (self.functions.clReleaseCommandBufferKHR)(self.handle) };
    }
}

impl List {
    /// With `CL_COMMAND_BUFFER_FLAGS_KHR`.
    pub fn new(queue: &CommandQueue, flags: u64) -> Result<Self, String> {
        let properties = [CL_COMMAND_BUFFER_FLAGS_KHR, flags, 0];
        Self::with(queue, &properties)
    }

    /// With properties, which end with 0.
    pub fn with(queue: &CommandQueue, properties: &[u64]) -> Result<Self, String> {
        let (functions, mut code) = (functions()?, 1);
        let queue = queue.get();
        // SAFETY: one queue, which is alive, and a list with its end.
        let handle =
            unsafe { (functions.clCreateCommandBufferKHR)(1, &queue, properties.as_ptr(), &mut code) };
        well(code, "clCreateCommandBufferKHR")?;
        Ok(Self { functions, api: api()?, handle })
    }

    /// Records a launch of so many work-items in groups of the driver's choice.
    pub fn launch(&self, kernel: &Kernel, global: usize, waits: &[u32]) -> Result<u32, String> {
        Ok(self.launch_as(kernel.get(), &[], [0, global, 0], waits)?.0)
    }

    /// Records a launch in one dimension with offset, global and local size, and gives the command's handle.
    pub fn launch_as(
        &self,
        kernel: cl_kernel,
        properties: &[cl_command_properties_khr],
        [offset, global, local]: [usize; 3],
        waits: &[u32],
    ) -> Result<(cl_sync_point_khr, cl_mutable_command_khr), String> {
        let (mut point, mut command) = (0, null_mut());
        let (count, list) = pair(waits);
        let local = if local == 0 { null() } else { &raw const local };
        // SAFETY: one dimension, lists with their lengths or ends.
        let code = unsafe {
            (self.functions.clCommandNDRangeKernelKHR)(
                self.handle,
                null_mut(),
                pair(properties).1,
                kernel,
                1,
                &offset,
                &global,
                local,
                count,
                list,
                &mut point,
                &mut command,
            )
        };
        well(code, "clCommandNDRangeKernelKHR").map(|()| (point, command))
    }

    /// Records a copy between buffers, each with an offset.
    pub fn copy(
        &self,
        from: (cl_mem, usize),
        to: (cl_mem, usize),
        size: usize,
        waits: &[u32],
    ) -> Result<u32, String> {
        let (mut point, (count, list)) = (0, pair(waits));
        // SAFETY: a list with its length.
        let code = unsafe {
            (self.functions.clCommandCopyBufferKHR)(
                self.handle,
                null_mut(),
                null(),
                from.0,
                to.0,
                from.1,
                to.1,
                size,
                count,
                list,
                &mut point,
                null_mut(),
            )
        };
        well(code, "clCommandCopyBufferKHR").map(|()| point)
    }

    /// Records a fill of a buffer with a number.
    pub fn fill(
        &self,
        to: cl_mem,
        value: i32,
        [offset, size]: [usize; 2],
        waits: &[u32],
    ) -> Result<u32, String> {
        let (mut point, (count, list)) = (0, pair(waits));
        // SAFETY: a pattern of four bytes, and a list with its length.
        let code = unsafe {
            (self.functions.clCommandFillBufferKHR)(
                self.handle,
                null_mut(),
                null(),
                to,
                (&raw const value).cast(),
                4,
                offset,
                size,
                count,
                list,
                &mut point,
                null_mut(),
            )
        };
        well(code, "clCommandFillBufferKHR").map(|()| point)
    }

    pub fn barrier(&self, waits: &[u32]) -> Result<u32, String> {
        let (mut point, (count, list)) = (0, pair(waits));
        // SAFETY: a list with its length.
        let code = unsafe {
            (self.functions.clCommandBarrierWithWaitListKHR)(
                self.handle,
                null_mut(),
                null(),
                count,
                list,
                &mut point,
                null_mut(),
            )
        };
        well(code, "clCommandBarrierWithWaitListKHR").map(|()| point)
    }

    pub fn finalize(&self) -> Outcome {
        // SAFETY: the handle is alive.
        well(
            unsafe { (self.functions.clFinalizeCommandBufferKHR)(self.handle) },
            "clFinalizeCommandBufferKHR",
        )
    }

    /// The code of enqueuing it in these queues.
    pub fn try_enqueue(
        &self,
        queues: &[cl_command_queue],
        waits: &[cl_event],
        event: *mut cl_event,
    ) -> cl_int {
        let ((count, list), mut queues) = (pair(waits), queues.to_vec());
        let (queue_count, queue_list) = match queues.len() as u32 {
            0 => (0, null_mut()),
            count => (count, queues.as_mut_ptr()),
        };
        // SAFETY: lists with their lengths.
        unsafe {
            (self.functions.clEnqueueCommandBufferKHR)(
                queue_count,
                queue_list,
                self.handle,
                count,
                list,
                event,
            )
        }
    }

    /// Enqueues it in its own queue or another one.
    pub fn enqueue(&self, queue: Option<&CommandQueue>, waits: &[cl_event]) -> Result<Event, String> {
        let queues: Vec<_> = queue.iter().map(|queue| queue.get()).collect();
        let mut event = null_mut();
        well(self.try_enqueue(&queues, waits, &mut event), "clEnqueueCommandBufferKHR")?;
        Ok(Event::new(event))
    }

    /// Enqueues it in its own queue, and waits for it.
    pub fn run(&self) -> Outcome {
        self.enqueue(None, &[])?.wait().map_err(|error| format!("it failed: {error}"))
    }

    /// The code of changing commands.
    pub fn try_update(&self, configs: &[cl_mutable_dispatch_config_khr]) -> cl_int {
        let types = vec![0; configs.len()];
        let mut pointers: Vec<*const c_void> =
            configs.iter().map(|config| std::ptr::from_ref(config).cast()).collect();
        let configs = if pointers.is_empty() { null_mut() } else { pointers.as_mut_ptr() };
        let (count, types) = pair(&types);
        // SAFETY: lists with their length, of structures of the type.
        unsafe { (self.functions.clUpdateMutableCommandsKHR)(self.handle, count, types, configs) }
    }

    pub fn update(&self, configs: &[cl_mutable_dispatch_config_khr]) -> Outcome {
        well(self.try_update(configs), "clUpdateMutableCommandsKHR")
    }
}

/// A change of a command that changes nothing.
pub fn no_change(command: cl_mutable_command_khr) -> cl_mutable_dispatch_config_khr {
    cl_mutable_dispatch_config_khr {
        command,
        num_args: 0,
        num_svm_args: 0,
        num_exec_infos: 0,
        work_dim: 0,
        arg_list: null(),
        arg_svm_list: null(),
        exec_info_list: null(),
        global_work_offset: null(),
        global_work_size: null(),
        local_work_size: null(),
    }
}

/// A change of arguments of a command.
pub fn new_arguments(
    command: cl_mutable_command_khr,
    arguments: &[cl_mutable_dispatch_arg_khr],
) -> cl_mutable_dispatch_config_khr {
    let (num_args, arg_list) = pair(arguments);
    cl_mutable_dispatch_config_khr { num_args, arg_list, ..no_change(command) }
}

/// A value of an argument.
pub fn argument<T>(arg_index: u32, value: &T) -> cl_mutable_dispatch_arg_khr {
    let arg_value = std::ptr::from_ref(value).cast();
    cl_mutable_dispatch_arg_khr { arg_index, arg_size: size_of::<T>(), arg_value }
}

/// Runs a kernel of which arguments are set, without a command-buffer.
pub fn launch_now(queue: &CommandQueue, kernel: &Kernel, size: usize) -> Outcome {
    // SAFETY: one dimension, and arguments that are set.
    let event = unsafe { queue.enqueue_nd_range_kernel(kernel.get(), 1, null(), &size, null(), &[]) };
    event.and_then(|event| event.wait()).map_err(|error| error.to_string())
}
