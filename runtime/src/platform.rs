//! The platform: the devices, or the reason why there are none.

use std::sync::{Arc, OnceLock};

use gencl_program::report;

use crate::Device;

/// The OpenCL platform.
#[derive(Debug)]
pub struct Platform {
    devices: Vec<Arc<Device>>,
    reason: Option<String>,
}

impl Platform {
    /// The one platform of the process. The first call discovers the devices.
    pub fn get() -> &'static Self {
        static PLATFORM: OnceLock<Platform> = OnceLock::new();
        PLATFORM.get_or_init(|| match crate::device::discover() {
            Ok(devices) => Self { devices: devices.into_iter().map(Arc::new).collect(), reason: None },
            Err(reason) => {
                report::once("no device", &format!("no device is found: {reason}"));
                Self { devices: Vec::new(), reason: Some(reason) }
            }
        })
    }

    /// The devices; may be empty, see [`Platform::no_devices_reason`].
    pub fn devices(&self) -> &[Arc<Device>] {
        &self.devices
    }

    /// Why there are no devices, `None` when there are some.
    pub fn no_devices_reason(&self) -> Option<&str> {
        self.reason.as_deref()
    }
}
