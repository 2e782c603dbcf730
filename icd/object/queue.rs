//! Command-queues.

use std::sync::Arc;

use gencl_runtime::Code;
use opencl_sys::{
    CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, CL_QUEUE_PROFILING_ENABLE, cl_command_queue_properties,
    cl_queue_properties,
};

use super::{Context, Device};
use crate::handle::{Handle, Object};

/// A command-queue on the host.
pub struct Queue {
    /// The runtime's object.
    pub runtime: Arc<gencl_runtime::Queue>,
    /// Its context.
    pub context: Arc<Handle<Context>>,
    /// Its device.
    pub device: Arc<Handle<Device>>,
    /// `CL_QUEUE_PROPERTIES`
    pub flags: cl_command_queue_properties,
    /// As given to clCreateCommandQueueWithProperties, including its terminating 0; empty for null and for
    /// clCreateCommandQueue.
    pub properties: Vec<cl_queue_properties>,
}

impl Queue {
    /// `CL_DEVICE_QUEUE_ON_HOST_PROPERTIES`
    pub const SUPPORTED: cl_command_queue_properties =
        CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE;
}

impl Object for Queue {
    const INVALID: Code = Code::InvalidCommandQueue;
    const NAME: &'static str = "queue";

    // clReleaseCommandQueue performs an implicit flush.
    fn released(&self) {
        self.runtime.flush();
    }
}
