//! One object of each kind, and calls that tests make often.

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use gencl_utest::Outcome;
use gencl_utest::raw::{Api, api};
use opencl_sys::{
    CL_DEVICE_TYPE_ALL, CL_MEM_READ_WRITE, CL_SUCCESS, CL_TRUE, cl_command_queue, cl_context, cl_device_id,
    cl_event, cl_int, cl_kernel, cl_mem, cl_program, cl_queue_properties,
};

/// Bytes of [`World::buffer`].
pub const SIZE: usize = 4096;

const SOURCE: &std::ffi::CStr = c"kernel void add(global int *p, int n) { p[get_global_id(0)] += n; }";

/// Objects of a context of its own, released at the end as far as they are still there.
pub struct World {
    pub api: &'static Api,
    pub device: cl_device_id,
    pub context: cl_context,
    pub queue: cl_command_queue,
    pub buffer: cl_mem,
    pub program: cl_program,
    /// Adds its second argument, an int, to the ints of its first; set to the buffer and 1.
    pub kernel: cl_kernel,
    /// Of a command that has ended.
    pub event: cl_event,
    /// Not ended.
    pub user: cl_event,
}

/// Complains about another code than the expected one.
pub fn code(found: cl_int, expected: cl_int, what: &str) -> Outcome {
    if found == expected { Ok(()) } else { Err(format!("{what}: {found}, expected {expected}")) }
}

/// Complains about an error.
pub fn well(found: cl_int, what: &str) -> Outcome {
    code(found, CL_SUCCESS, what)
}

impl World {
    /// An in-order queue.
    pub fn new() -> Result<Self, String> {
        Self::with_queue(0)
    }

    /// A queue with such `CL_QUEUE_PROPERTIES`.
    pub fn with_queue(properties: cl_queue_properties) -> Result<Self, String> {
        let api = api()?;
        let (mut platform, mut device, mut error) = (null_mut(), null_mut(), 0);
        // SAFETY: all pointers are to variables that outlive the calls, lists have the lengths given.
        unsafe {
            well((api.clGetPlatformIDs)(1, &mut platform, null_mut()), "clGetPlatformIDs")?;
            let found = (api.clGetDeviceIDs)(platform, CL_DEVICE_TYPE_ALL, 1, &mut device, null_mut());
            well(found, "clGetDeviceIDs")?;
            let context = (api.clCreateContext)(null(), 1, &device, None, null_mut(), &mut error);
            well(error, "clCreateContext")?;
            let list = [0x1093, properties, 0];
            let queue = (api.clCreateCommandQueueWithProperties)(context, device, list.as_ptr(), &mut error);
            well(error, "clCreateCommandQueueWithProperties")?;
            let buffer = (api.clCreateBuffer)(context, CL_MEM_READ_WRITE, SIZE, null_mut(), &mut error);
            well(error, "clCreateBuffer")?;
            let zero = 0u8;
            let fill = (api.clEnqueueFillBuffer)(
                queue,
                buffer,
                (&raw const zero).cast(),
                1,
                0,
                SIZE,
                0,
                null(),
                null_mut(),
            );
            well(fill, "clEnqueueFillBuffer")?;
            let mut source = SOURCE.as_ptr();
            let program = (api.clCreateProgramWithSource)(context, 1, &mut source, null(), &mut error);
            well(error, "clCreateProgramWithSource")?;
            well((api.clBuildProgram)(program, 0, null(), null(), None, null_mut()), "clBuildProgram")?;
            let kernel = (api.clCreateKernel)(program, c"add".as_ptr(), &mut error);
            well(error, "clCreateKernel")?;
            let user = (api.clCreateUserEvent)(context, &mut error);
            well(error, "clCreateUserEvent")?;
            let event = null_mut();
            let mut world = Self { api, device, context, queue, buffer, program, kernel, event, user };
            world.set_arguments(buffer, 1)?;
            world.event = world.launch(1, &[])?;
            well((api.clFinish)(queue), "clFinish")?;
            Ok(world)
        }
    }

    /// Sets the kernel's arguments.
    pub fn set_arguments(&self, buffer: cl_mem, number: i32) -> Outcome {
        let api = self.api;
        // SAFETY: a handle and an int, as the kernel declares them.
        unsafe {
            let set = (api.clSetKernelArg)(self.kernel, 0, size_of::<cl_mem>(), (&raw const buffer).cast());
            well(set, "clSetKernelArg 0")?;
            well((api.clSetKernelArg)(self.kernel, 1, 4, (&raw const number).cast()), "clSetKernelArg 1")
        }
    }

    /// Enqueues the kernel.
    pub fn launch(&self, items: usize, waits: &[cl_event]) -> Result<cl_event, String> {
        let mut event = null_mut();
        let list = if waits.is_empty() { null() } else { waits.as_ptr() };
        // SAFETY: one dimension, a list of the given length.
        let found = unsafe {
            (self.api.clEnqueueNDRangeKernel)(
                self.queue,
                self.kernel,
                1,
                null(),
                &items,
                null(),
                waits.len() as u32,
                list,
                &mut event,
            )
        };
        well(found, "clEnqueueNDRangeKernel")?;
        Ok(event)
    }

    /// The first int of the buffer, read by a blocking call.
    pub fn first(&self) -> Result<i32, String> {
        let mut value = 0;
        well(self.read(&mut value), "clEnqueueReadBuffer")?;
        Ok(value)
    }

    /// Reads the first int of the buffer by a blocking call; returns its code.
    pub fn read(&self, value: &mut i32) -> cl_int {
        let to: *mut c_void = std::ptr::from_mut(value).cast();
        // SAFETY: four bytes, and the call blocks.
        unsafe {
            (self.api.clEnqueueReadBuffer)(self.queue, self.buffer, CL_TRUE, 0, 4, to, 0, null(), null_mut())
        }
    }

    /// Waits for the queue.
    pub fn finish(&self) -> Outcome {
        // SAFETY: no pointers but the handle.
        well(unsafe { (self.api.clFinish)(self.queue) }, "clFinish")
    }

    /// The status of an event.
    pub fn status(&self, event: cl_event) -> Result<cl_int, String> {
        const STATUS: u32 = 0x11D3;
        let mut status = 0i32;
        // SAFETY: an int, and its size.
        let found =
            unsafe { (self.api.clGetEventInfo)(event, STATUS, 4, (&raw mut status).cast(), null_mut()) };
        well(found, "clGetEventInfo")?;
        Ok(status)
    }

    /// Everything that works must still work: the world's own objects compute what they should.
    pub fn works(&self) -> Outcome {
        let before = self.first()?;
        self.set_arguments(self.buffer, 5)?;
        let event = self.launch(1, &[])?;
        // SAFETY: one event, which is ours.
        unsafe {
            well((self.api.clWaitForEvents)(1, &event), "clWaitForEvents")?;
            well((self.api.clReleaseEvent)(event), "clReleaseEvent")?;
        }
        let after = self.first()?;
        if after == before + 5 { Ok(()) } else { Err(format!("{before} + 5 = {after}")) }
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let api = self.api;
        // SAFETY: handles, released ones among them perhaps, which is what gencl promises to find. Tests of
        // other drivers release none.
        unsafe {
            (api.clReleaseEvent)(self.user);
            (api.clReleaseEvent)(self.event);
            (api.clReleaseKernel)(self.kernel);
            (api.clReleaseProgram)(self.program);
            (api.clReleaseMemObject)(self.buffer);
            (api.clReleaseCommandQueue)(self.queue);
            (api.clReleaseContext)(self.context);
        }
    }
}
