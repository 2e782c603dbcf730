//! The devices that are simulated, as a table.

use gencl_isa::Generation;

use crate::streamer::{Command, GEN9_COMMANDS};

/// A device: one row of the table. What differs between devices and generations is a column.
#[derive(Debug)]
pub struct Device {
    /// The name that targets have too.
    pub name: &'static str,
    /// PCI device id.
    pub pci_id: u16,
    /// PCI revision (stepping).
    pub revision: u8,
    /// The instruction set.
    pub generation: Generation,
    /// Slices.
    pub slices: u32,
    /// Subslices of each slice.
    pub subslices: u32,
    /// EUs of each subslice.
    pub eus: u32,
    /// Hardware threads of each EU.
    pub threads: u32,
    /// Shared local memory of a subslice in bytes, also the most that a work-group has.
    pub slm_size: u32,
    /// Ticks of the timestamp per second.
    pub timestamp_frequency: u64,
    /// EU clocks per second.
    pub clock_frequency: u64,
    /// Bits of the PPGTT's addresses.
    pub address_bits: u32,
    /// What the command streamer understands.
    pub commands: &'static [Command],
}

/// All devices. Figures: Mesa's `intel_device_info.c` and Intel's "The Compute Architecture of Intel
/// Processor Graphics Gen9"; the clock is the boost clock of the first product with the id.
#[rustfmt::skip]
static DEVICES: &[Device] = &[
    Device {
        name: "skl", pci_id: 0x1912, revision: 6, generation: Generation::Gen9,
        slices: 1, subslices: 3, eus: 8, threads: 7, slm_size: 64 << 10,
        timestamp_frequency: 12_000_000, clock_frequency: 1_150_000_000, address_bits: 48,
        commands: GEN9_COMMANDS,
    },
];

impl Device {
    /// The device of a name (`skl`).
    pub fn named(name: &str) -> Option<&'static Device> {
        DEVICES.iter().find(|d| d.name == name)
    }

    /// All devices.
    pub fn all() -> &'static [Device] {
        DEVICES
    }

    /// EUs of the whole device.
    pub const fn total_eus(&self) -> u32 {
        self.slices * self.subslices * self.eus
    }

    /// Hardware threads of the whole device.
    pub const fn total_threads(&self) -> u32 {
        self.total_eus() * self.threads
    }

    /// Hardware threads of a subslice, the most that a work-group with barriers or shared local
    /// memory has.
    pub const fn subslice_threads(&self) -> u32 {
        self.eus * self.threads
    }
}
