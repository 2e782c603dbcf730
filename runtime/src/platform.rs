//! The platform: the devices, or the reason why there are none.

use std::sync::{Arc, OnceLock};

use gencl_program::report;

use crate::Device;

/// The OpenCL platform.
#[derive(Debug)]
pub struct Platform {
    devices: Vec<Arc<Device>>,
    refused: Vec<(String, String)>,
    reason: Option<String>,
}

impl Platform {
    /// The one platform of the process. The first call discovers the devices.
    pub fn get() -> &'static Self {
        static PLATFORM: OnceLock<Platform> = OnceLock::new();
        PLATFORM.get_or_init(|| {
            let found = crate::device::discover();
            if let Some(reason) = &found.failure {
                report::once("no device", &format!("no device is found: {reason}"));
            }
            let devices = found.devices.into_iter().map(Arc::new).collect();
            Self { devices, refused: found.refused, reason: found.failure }
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

    /// Devices that are not used, by path or name, with reasons.
    pub(crate) fn refused(&self) -> &[(String, String)] {
        &self.refused
    }
}
