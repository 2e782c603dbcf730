//! `CL_DEVICE_UUID`, `CL_DRIVER_UUID`: `cl_khr_device_uuid`.

use gencl_runtime::DeviceFacts;
use opencl_sys::CL_UUID_SIZE;

/// A universally unique identifier.
pub type Uuid = [u8; CL_UUID_SIZE as usize];

/// Of a device: what it is and where it is on the bus, so that no two devices on a machine's buses have the
/// same and each keeps its own; simulated ones, which are on none, have one for each PCI id. The layout is
/// the one that Intel's driver teams have agreed on (compute-runtime, `Device::generateUuidFromPciBusInfo`),
/// so that other interfaces tell the same.
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
        // The bytes that are reserved: no device on a bus has them.
        None => uuid[11..15].copy_from_slice(b"none"),
    }
    uuid
}

/// Of the driver: its name and version.
pub fn driver(facts: &DeviceFacts) -> Uuid {
    let mut uuid = Uuid::default();
    for (byte, character) in uuid.iter_mut().zip(b"gencl ".iter().chain(facts.driver_version.as_bytes())) {
        *byte = *character;
    }
    uuid
}
