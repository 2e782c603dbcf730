//! Kernels.

use std::sync::Arc;

use gencl_runtime::{BuiltKernel, Code};
use opencl_sys::cl_device_id;

use super::{Device, Program};
use crate::CLResult;
use crate::handle::{Handle, Object};

/// A kernel with its arguments.
pub struct Kernel {
    /// The runtime's object.
    pub runtime: Arc<gencl_runtime::Kernel>,
    /// Its program.
    pub program: Arc<Handle<Program>>,
}

impl Object for Kernel {
    const INVALID: Code = Code::InvalidKernel;
    const NAME: &'static str = "kernel";
}

impl Kernel {
    /// The kernel on a device.
    ///
    /// CL_INVALID_DEVICE if device is not in the list of devices associated with kernel or if device is NULL
    /// but there is more than one device associated with kernel.
    pub fn on(&self, device: cl_device_id) -> CLResult<&BuiltKernel> {
        match self.runtime.builds() {
            [only] if device.is_null() => Ok(only),
            _ => self.runtime.on(&Handle::<Device>::get(device)?.runtime),
        }
    }
}
