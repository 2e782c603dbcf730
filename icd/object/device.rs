//! Devices.

use std::sync::{Arc, LazyLock};

use gencl_runtime::{Code, DeviceFacts, DeviceKind, Error};
use opencl_sys::{
    CL_DEVICE_TYPE_ACCELERATOR, CL_DEVICE_TYPE_ALL, CL_DEVICE_TYPE_CPU, CL_DEVICE_TYPE_CUSTOM,
    CL_DEVICE_TYPE_DEFAULT, CL_DEVICE_TYPE_GPU, cl_device_id, cl_device_type,
};

use crate::abi::List;
use crate::handle::{Handle, Object};
use crate::{CLResult, refuse_if};

/// A root device; there are no others.
pub struct Device {
    /// The runtime's object.
    pub runtime: Arc<gencl_runtime::Device>,
}

impl Object for Device {
    const INVALID: Code = Code::InvalidDevice;
    const NAME: &'static str = "device";
    const COUNTED: bool = false;
}

impl Device {
    /// All devices. The first call discovers them.
    pub fn all() -> &'static [Arc<Handle<Self>>] {
        static DEVICES: LazyLock<Vec<Arc<Handle<Device>>>> = LazyLock::new(|| {
            let platform = gencl_runtime::Platform::get();
            platform.devices().iter().map(|device| Handle::new(Device { runtime: device.clone() })).collect()
        });
        &DEVICES
    }

    /// The devices of the given types. `CL_INVALID_DEVICE_TYPE` if `types` is not a valid value,
    /// `CL_DEVICE_NOT_FOUND` if none matches.
    pub fn of_type(types: cl_device_type) -> CLResult<Vec<Arc<Handle<Self>>>> {
        let known = CL_DEVICE_TYPE_DEFAULT
            | CL_DEVICE_TYPE_CPU
            | CL_DEVICE_TYPE_GPU
            | CL_DEVICE_TYPE_ACCELERATOR
            | CL_DEVICE_TYPE_CUSTOM;
        let valid = types == CL_DEVICE_TYPE_ALL || (types != 0 && types & !known == 0);
        refuse_if(!valid, Code::InvalidDeviceType, "no such device type")?;
        let mut found: Vec<_> =
            Self::all().iter().filter(|device| device.device_type() & types != 0).cloned().collect();
        if found.is_empty()
            && types & CL_DEVICE_TYPE_DEFAULT != 0
            && let Some(first) = Self::all().first()
        {
            found.push(first.clone());
        }
        if found.is_empty() {
            let reason = gencl_runtime::Platform::get().no_devices_reason();
            return Err(Error::new(Code::DeviceNotFound, reason.unwrap_or("no device of this type")));
        }
        Ok(found)
    }

    /// The devices of a list parameter, without duplicates.
    /// `CL_INVALID_VALUE` if the list is empty, `CL_INVALID_DEVICE` if it has something else.
    pub fn list(count: u32, devices: List<cl_device_id>) -> CLResult<Vec<Arc<Handle<Self>>>> {
        refuse_if(devices.is_null() || count == 0, Code::InvalidValue, "no devices")?;
        let mut list: Vec<Arc<Handle<Self>>> = Vec::new();
        // SAFETY: every function with a list of devices has their number as its parameter before.
        for device in unsafe { devices.to_vec(count as usize) } {
            let device = Handle::<Self>::get(device)?;
            if !list.iter().any(|other| Arc::ptr_eq(other, &device)) {
                list.push(device);
            }
        }
        Ok(list)
    }

    /// As [`Device::list`], for a list that may be null for all devices: then it is empty.
    ///
    /// CL_INVALID_VALUE if device_list is NULL and num_devices is greater than zero, or if device_list is not
    /// NULL and num_devices is zero.
    pub fn some(count: u32, devices: List<cl_device_id>) -> CLResult<Vec<Arc<gencl_runtime::Device>>> {
        if devices.is_null() && count == 0 {
            return Ok(Vec::new());
        }
        Ok(Self::list(count, devices)?.iter().map(|device| device.runtime.clone()).collect())
    }

    /// `CL_DEVICE_TYPE`
    pub fn device_type(&self) -> cl_device_type {
        match self.facts().kind {
            DeviceKind::Cpu => CL_DEVICE_TYPE_CPU,
            DeviceKind::Gpu => CL_DEVICE_TYPE_GPU,
        }
    }

    /// Properties of the device.
    pub fn facts(&self) -> &DeviceFacts {
        self.runtime.facts()
    }
}
