//! Devices.

mod attributes;
mod identity;
pub mod ids;
mod il;
pub mod info;
pub mod sub_devices;
pub mod timer;
