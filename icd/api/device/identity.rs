//! `CL_DEVICE_UUID`, `CL_DRIVER_UUID`: `cl_khr_device_uuid`.

use gencl_runtime::DeviceFacts;
use opencl_sys::CL_UUID_SIZE;

/// A universally unique identifier.
pub type Uuid = [u8; CL_UUID_SIZE as usize];

/// The UUID of a device, from its PCI id and address, so that all devices of a machine have different and
/// constant ones. Simulated devices, which are on no bus, have one per PCI id. The layout is that of Intel's
/// drivers (compute-runtime, `Device::generateUuidFromPciBusInfo`), so that other interfaces report the same.
pub fn device(facts: &DeviceFacts) -> Uuid {
    let mut uuid = Uuid::default();
    uuid[0..2].copy_from_slice(&(facts.vendor_id as u16).to_le_bytes());
    uuid[2..4].copy_from_slice(&facts.pci_id.to_le_bytes());
    uuid[4..6].copy_from_slice(&facts.revision.to_le_bytes());
    match facts.pci_address {
        Some(address) => {
            uuid[6..8].copy_from_slice(&(address.domain as u16).to_le_bytes());
            uuid[8..11].copy_from_slice(&[address.bus, address.device, address.function].map(|n| n as u8));
        }
        // Reserved bytes, which are 0 for devices on a bus.
        None => uuid[11..15].copy_from_slice(b"none"),
    }
    uuid
}

/// The UUID of the driver: its name and version.
pub fn driver(facts: &DeviceFacts) -> Uuid {
    let mut uuid = Uuid::default();
    for (byte, character) in uuid.iter_mut().zip(b"gencl ".iter().chain(facts.driver_version.as_bytes())) {
        *byte = *character;
    }
    uuid
}
