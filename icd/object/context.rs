//! Contexts.

use std::ptr::null_mut;
use std::sync::Arc;

use gencl_runtime::{Code, Error, ImageLimits};
use opencl_sys::{cl_context_properties, cl_device_id};

use super::Device;
use crate::CLResult;
use crate::handle::{Handle, Object};

/// A context of one or several devices.
pub struct Context {
    /// The runtime's object.
    pub runtime: Arc<gencl_runtime::Context>,
    /// Its devices, each once.
    pub devices: Vec<Arc<Handle<Device>>>,
    /// As given to clCreateContext, including its terminating 0; empty for null.
    pub properties: Vec<cl_context_properties>,
}

impl Object for Context {
    const INVALID: Code = Code::InvalidContext;
    const NAME: &'static str = "context";
}

impl Context {
    /// Limits of images, which all devices share; whether samplers select channels is asked of the runtime's context.
    pub fn image_limits(&self) -> &ImageLimits {
        &self.devices[0].facts().images
    }

    /// CL_INVALID_DEVICE if device is not a valid device or is not associated with context.
    pub fn check_device(&self, device: cl_device_id) -> CLResult<&Arc<Handle<Device>>> {
        let device = Handle::<Device>::get(device)?;
        let own = self.devices.iter().find(|own| Arc::ptr_eq(own, &device));
        own.ok_or_else(|| Error::new(Code::InvalidDevice, "a device of another context"))
    }

    /// The handle of a device of the runtime's context.
    pub fn handle(&self, device: &Arc<gencl_runtime::Device>) -> cl_device_id {
        let handle = self.devices.iter().find(|handle| Arc::ptr_eq(&handle.runtime, device));
        handle.map_or(null_mut(), |handle| handle.raw())
    }
}
