//! Contexts.

use std::sync::Arc;

use gencl_runtime::{Code, Error, ImageLimits};
use opencl_sys::{cl_context_properties, cl_device_id};

use super::Device;
use crate::abi::List;
use crate::handle::{Handle, Object};
use crate::{CLResult, refuse_if};

/// A context. The runtime's contexts have one device, and so do ours.
pub struct Context {
    /// The runtime's.
    pub runtime: Arc<gencl_runtime::Context>,
    /// Its device.
    pub device: Arc<Handle<Device>>,
    /// As given to clCreateContext, with its end; empty for null.
    pub properties: Vec<cl_context_properties>,
}

impl Object for Context {
    const INVALID: Code = Code::InvalidContext;
}

impl Context {
    /// CL_INVALID_OPERATION if there are no devices in context that support images (that is, CL_DEVICE_IMAGE_SUPPORT is CL_FALSE).
    pub fn check_images(&self) -> CLResult<&ImageLimits> {
        let limits = self.device.facts().images.as_ref();
        limits.ok_or_else(|| Error::new(Code::InvalidOperation, "the device has no images"))
    }

    /// CL_INVALID_DEVICE if device is not a valid device or is not associated with context.
    pub fn check_device(&self, device: cl_device_id) -> CLResult<&Arc<Handle<Device>>> {
        let device = Handle::<Device>::get(device)?;
        refuse_if(!Arc::ptr_eq(&device, &self.device), Code::InvalidDevice, "a device of another context")?;
        Ok(&self.device)
    }

    /// Checks a list of devices that a function takes for "some of the context's devices": null and 0 mean all.
    ///
    /// CL_INVALID_VALUE if device_list is NULL and num_devices is greater than zero, or if device_list is not NULL and
    /// num_devices is zero. CL_INVALID_DEVICE if any device in device_list is not in the list of devices associated with
    /// the context.
    pub fn check_device_list(&self, count: u32, devices: List<cl_device_id>) -> CLResult<()> {
        if devices.is_null() && count == 0 {
            return Ok(());
        }
        Device::list(count, devices)?.iter().try_for_each(|device| self.check_device(device.raw()).map(drop))
    }
}
