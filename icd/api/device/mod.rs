//! Devices.

mod identity;
pub mod ids;
pub mod info;
pub mod sub_devices;
pub mod timer;
