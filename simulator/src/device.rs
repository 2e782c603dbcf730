//! The devices that are simulated, as a table.

use gencl_isa::Generation;

/// A device: one row of the table. What differs between devices is a column; what differs between generations
/// is in the tables of the instruction set (`gencl_isa`) and of the command streamer.
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
    /// The last level cache is shared with the CPU.
    pub llc: bool,
    /// Smallest number of EUs in a pool (`I915_PARAM_MIN_EU_IN_POOL`); 0 where EUs cannot be pooled.
    pub eu_pool: u32,
    /// The Atom line's restrictions of 64-bit types and of the multiplication of dwords hold
    /// ([`gencl_isa::validate_atom`]).
    pub atom: bool,
}

/// What most rows have.
const GT2: Device = Device {
    name: "",
    pci_id: 0,
    revision: 0,
    generation: Generation::Gen9,
    slices: 1,
    subslices: 3,
    eus: 8,
    threads: 7,
    slm_size: 64 << 10,
    timestamp_frequency: 12_000_000,
    clock_frequency: 0,
    address_bits: 48,
    llc: true,
    eu_pool: 0,
    atom: false,
};

/// What the Atom line's Gen9 has.
const GEN9_ATOM: Device =
    Device { eus: 6, threads: 6, timestamp_frequency: 19_200_000, llc: false, eu_pool: 9, atom: true, ..GT2 };

/// All devices. Figures: Mesa's `intel_device_info.c`, i915's `i915_pci.c` (bits of the PPGTT, LLC) and
/// `intel_sseu.c` (pools), Intel's "The Compute Architecture of Intel Processor Graphics" of each generation; the clock is
/// the boost clock of a product with the id, the revision that of its `lspci`.
#[rustfmt::skip]
static DEVICES: &[Device] = &[
    // HD Graphics 5500, Core i7-5500U
    Device { name: "bdw", pci_id: 0x1616, revision: 0x09, generation: Generation::Gen8, timestamp_frequency: 12_500_000, clock_frequency: 950_000_000, ..GT2 },
    // HD Graphics 405, Pentium N3700. The PPGTT has three levels.
    Device { name: "chv", pci_id: 0x22b0, revision: 0x21, generation: Generation::Gen8, subslices: 2, timestamp_frequency: 12_500_000, clock_frequency: 700_000_000, address_bits: 32, llc: false, atom: true, ..GT2 },
    // HD Graphics 530, Core i7-6700
    Device { name: "skl", pci_id: 0x1912, revision: 0x06, clock_frequency: 1_150_000_000, ..GT2 },
    // HD Graphics 505, Pentium N4200
    Device { name: "bxt", pci_id: 0x5a84, revision: 0x0b, clock_frequency: 750_000_000, ..GEN9_ATOM },
    // HD Graphics 630, Core i7-7700
    Device { name: "kbl", pci_id: 0x5912, revision: 0x04, clock_frequency: 1_150_000_000, ..GT2 },
    // UHD Graphics 605, Pentium Silver J5005
    Device { name: "glk", pci_id: 0x3184, revision: 0x03, clock_frequency: 800_000_000, ..GEN9_ATOM },
    // UHD Graphics 630, Core i7-8700
    Device { name: "cfl", pci_id: 0x3e92, revision: 0x00, clock_frequency: 1_200_000_000, ..GT2 },
];

impl Device {
    /// The device of a name (`skl`).
    pub fn named(name: &str) -> Option<&'static Device> {
        DEVICES.iter().find(|d| d.name == name)
    }

    /// All devices, oldest first.
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
