//! Command-buffers and their commands.

use std::sync::Arc;

use gencl_runtime::Code;
use opencl_sys::{
    cl_command_buffer_flags_khr, cl_command_buffer_properties_khr, cl_command_properties_khr,
    cl_mutable_dispatch_asserts_khr, cl_mutable_dispatch_fields_khr,
};
use parking_lot::Mutex;

use super::{Kernel, Queue};
use crate::handle::{Handle, Object};

/// A command-buffer.
pub struct CommandBuffer {
    /// The runtime's object.
    pub runtime: Arc<gencl_runtime::CommandBuffer>,
    /// The queue that it was created for.
    pub queue: Arc<Handle<Queue>>,
    /// `CL_COMMAND_BUFFER_FLAGS_KHR`
    pub flags: cl_command_buffer_flags_khr,
    /// `CL_COMMAND_BUFFER_MUTABLE_DISPATCH_ASSERTS_KHR`
    pub asserts: cl_mutable_dispatch_asserts_khr,
    /// As given to clCreateCommandBufferKHR, including its terminating 0; empty for null.
    pub properties: Vec<cl_command_buffer_properties_khr>,
    /// The commands whose handles the application has, which end with the command-buffer.
    pub commands: Mutex<Vec<Arc<Handle<MutableCommand>>>>,
}

impl Object for CommandBuffer {
    const INVALID: Code = Code::InvalidCommandBuffer;
    const NAME: &'static str = "command-buffer";
}

/// A launch of a command-buffer, whose handle the application has.
pub struct MutableCommand {
    /// The runtime's command-buffer.
    pub runtime: Arc<gencl_runtime::CommandBuffer>,
    /// The command-buffer's handle, as an integer.
    pub buffer: usize,
    /// The command-buffer's queue.
    pub queue: Arc<Handle<Queue>>,
    /// Number of the command.
    pub number: usize,
    /// Its kernel.
    pub kernel: Arc<Handle<Kernel>>,
    /// What may be changed.
    pub fields: cl_mutable_dispatch_fields_khr,
    /// As given to clCommandNDRangeKernelKHR, including its terminating 0; empty for null.
    pub properties: Vec<cl_command_properties_khr>,
}

impl Object for MutableCommand {
    const INVALID: Code = Code::InvalidMutableCommand;
    const NAME: &'static str = "mutable command";
    const COUNTED: bool = false;
}
