//! The table of simulated devices.
//!
//! What `gencl_device_info` says of the same devices is not used here: code that was made by that description is tested
//! on these devices, and the test below compares both.

use gencl_device_info::Family;
use gencl_i915::uapi::engine_class;
use gencl_isa::Generation;

/// A device: one row of the table. What differs between devices is a column; what differs between generations
/// is in the tables of the instruction set (`gencl_isa`) and of the command streamer.
#[derive(Debug)]
pub struct Device {
    /// The family of which it is a product.
    pub family: Family,
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
    /// Shared local memory of a subslice in bytes, which is also the maximum of a work-group.
    pub slm_size: u32,
    /// Ticks of the timestamp per second.
    pub timestamp_frequency: u64,
    /// EU clocks per second.
    pub clock_frequency: u64,
    /// Registers that MEDIA_VFE_STATE may allocate for constants. Beignet, `intel_gpgpu_get_max_curbe_size`.
    pub constant_registers: u32,
    /// Bits of the PPGTT's addresses.
    pub address_bits: u32,
    /// The last level cache is shared with the CPU.
    pub llc: bool,
    /// The properties of i915 on this device.
    pub driver: &'static Driver,
    /// Size of the range of thread numbers (FFTID) of each subslice, if they are bit fields with three bits
    /// for the thread within its EU, so that some numbers are unused; 0 where they are consecutive. Scratch
    /// memory is indexed by them. Mesa, `init_max_scratch_ids` (WaCSScratchSize:hsw).
    pub scratch_ids: u32,
    /// The kernel reports slices, subslices and EUs.
    pub topology: bool,
    /// Smallest number of EUs in a pool (`I915_PARAM_MIN_EU_IN_POOL`); 0 where EUs cannot be pooled.
    pub eu_pool: u32,
    /// It has the restrictions of the Atom line on 64-bit types and dword multiplication
    /// ([`gencl_isa::validate_atom`]).
    pub atom: bool,
}

/// Properties of i915 (Linux 6.1) that depend on its submission backend.
#[derive(Debug, PartialEq, Eq)]
pub struct Driver {
    /// Contexts have address spaces of their own ("full PPGTT"). Otherwise all share one that mirrors the
    /// global GTT ("aliasing PPGTT"), and others cannot be created.
    pub full_ppgtt: bool,
    /// `I915_PARAM_HAS_SCHEDULER`, without preemption and semaphores. 0: batches run in the order of
    /// submission, and priorities cannot be set.
    pub scheduler: i32,
    /// Bit set of engine classes with isolated contexts (`I915_PARAM_HAS_CONTEXT_ISOLATION`).
    pub isolated_engines: i32,
    /// `I915_EXEC_GEN7_SOL_RESET` has an effect.
    pub stream_output_reset: bool,
    /// Bytes that a relocation writes.
    pub relocation_size: u64,
    /// Bytes of the global GTT.
    pub global_gtt: u64,
}

/// Execution lists: Gen8 and later.
static EXECLISTS: Driver = Driver {
    full_ppgtt: true,
    scheduler: 3,
    isolated_engines: 1 << engine_class::RENDER | 1 << engine_class::COPY,
    stream_output_reset: false,
    relocation_size: 8,
    global_gtt: 4 << 30,
};

/// Legacy ring submission, with one ring for all contexts: Gen7 and Gen7.5. The blitter has no contexts.
static RING: Driver = Driver {
    full_ppgtt: false,
    scheduler: 0,
    isolated_engines: 1 << engine_class::RENDER,
    stream_output_reset: true,
    relocation_size: 4,
    global_gtt: 2 << 30,
};

/// The values that most rows have.
const GT2: Device = Device {
    family: Family::Skl,
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
    constant_registers: 2016,
    address_bits: 48,
    llc: true,
    driver: &EXECLISTS,
    scratch_ids: 0,
    topology: true,
    eu_pool: 0,
    atom: false,
};

/// The values of Gen7, whose topology i915 does not report.
const GEN7: Device = Device {
    generation: Generation::Gen7,
    subslices: 2,
    threads: 8,
    timestamp_frequency: 12_500_000,
    address_bits: 31,
    driver: &RING,
    topology: false,
    ..GT2
};

/// The values of the Atom line of Gen9.
const GEN9_ATOM: Device =
    Device { eus: 6, threads: 6, timestamp_frequency: 19_200_000, llc: false, eu_pool: 9, atom: true, ..GT2 };

/// All devices. Figures: Mesa's `intel_device_info.c`, i915's `i915_pci.c` (bits of the PPGTT, LLC) and
/// `intel_sseu.c` (pools, topology), `intel_ring_submission.c` and `i915_gem_gtt.h`, Intel's "The Compute
/// Architecture of Intel Processor Graphics" of each generation; the clock is the boost clock of a product
/// with the id, the revision that of its `lspci`.
#[rustfmt::skip]
static DEVICES: [Device; Family::ALL.len()] = [
    // HD Graphics 4000, Core i7-3520M
    Device { family: Family::Ivb, pci_id: 0x0166, revision: 0x09, clock_frequency: 1_250_000_000, ..GEN7 },
    // HD Graphics, Celeron J1900
    Device { family: Family::Byt, pci_id: 0x0f31, revision: 0x0e, subslices: 1, eus: 4, clock_frequency: 854_000_000, constant_registers: 992, llc: false, ..GEN7 },
    // HD Graphics 4600, Core i7-4700MQ
    Device { family: Family::Hsw, pci_id: 0x0416, revision: 0x06, generation: Generation::Gen75, eus: 10, threads: 7, clock_frequency: 1_150_000_000, scratch_ids: 16 * 8, topology: true, ..GEN7 },
    // HD Graphics 5500, Core i7-5500U
    Device { family: Family::Bdw, pci_id: 0x1616, revision: 0x09, generation: Generation::Gen8, timestamp_frequency: 12_500_000, clock_frequency: 950_000_000, ..GT2 },
    // HD Graphics 405, Pentium N3700. The PPGTT has three levels.
    Device { family: Family::Chv, pci_id: 0x22b0, revision: 0x21, generation: Generation::Gen8, subslices: 2, timestamp_frequency: 12_500_000, clock_frequency: 700_000_000, address_bits: 32, llc: false, atom: true, ..GT2 },
    // HD Graphics 530, Core i7-6700
    Device { family: Family::Skl, pci_id: 0x1912, revision: 0x06, clock_frequency: 1_150_000_000, ..GT2 },
    // HD Graphics 505, Pentium N4200
    Device { family: Family::Bxt, pci_id: 0x5a84, revision: 0x0b, clock_frequency: 750_000_000, ..GEN9_ATOM },
    // HD Graphics 630, Core i7-7700
    Device { family: Family::Kbl, pci_id: 0x5912, revision: 0x04, clock_frequency: 1_150_000_000, ..GT2 },
    // UHD Graphics 605, Pentium Silver J5005
    Device { family: Family::Glk, pci_id: 0x3184, revision: 0x03, clock_frequency: 800_000_000, ..GEN9_ATOM },
    // UHD Graphics 630, Core i7-8700
    Device { family: Family::Cfl, pci_id: 0x3e92, revision: 0x00, clock_frequency: 1_200_000_000, ..GT2 },
];

const _: () = {
    let mut row = 0;
    while row < Family::ALL.len() {
        assert!(DEVICES[row].family as usize == row, "rows are in the order of families");
        row += 1;
    }
};

impl Device {
    /// The device of a family.
    pub fn of(family: Family) -> &'static Device {
        &DEVICES[family as usize]
    }

    /// The device with the name of a family (`skl`).
    pub fn named(name: &str) -> Option<&'static Device> {
        Family::from_name(name).map(Device::of)
    }

    /// All devices, oldest first.
    pub fn all() -> &'static [Device] {
        &DEVICES
    }

    /// The name of its family.
    pub fn name(&self) -> &'static str {
        self.family.name()
    }

    /// EUs of the whole device.
    pub const fn total_eus(&self) -> u32 {
        self.slices * self.subslices * self.eus
    }

    /// Hardware threads of the whole device.
    pub const fn total_threads(&self) -> u32 {
        self.total_eus() * self.threads
    }

    /// Hardware threads of a subslice, the maximum of a work-group with barriers or shared local memory.
    pub const fn subslice_threads(&self) -> u32 {
        self.eus * self.threads
    }
}

#[cfg(test)]
mod tests {
    use gencl_device_info::{AddressSpaceKind, by_pci_id};

    use super::*;

    #[test]
    fn devices_are_as_their_families_are_described() {
        for device in Device::all() {
            let info = device.family.info();
            assert_eq!(device.generation, info.generation, "{}", info.family);
            assert_eq!(device.slm_size, info.local_memory, "{}", info.family);
            assert_eq!(device.timestamp_frequency, info.timestamp_hz, "{}", info.family);
            assert_eq!(device.address_bits, info.address_space.bits(), "{}", info.family);
            assert_eq!(device.atom, !info.execution.free_wide_regions, "{}", info.family);
            assert_eq!(device.driver.full_ppgtt, info.address_space != AddressSpaceKind::Shared31);
            let (_, model) = by_pci_id(device.pci_id).expect("the device is described");
            let threads = model.threads;
            assert_eq!(model.family, device.family);
            assert_eq!((device.slices, device.subslices), (model.slices, model.subslices), "{}", info.family);
            assert_eq!(device.eus, model.eus_per_subslice, "{}", info.family);
            assert_eq!(device.threads, threads.per_eu, "{}", info.family);
            assert_eq!(device.constant_registers, threads.constant_registers, "{}", info.family);
            assert!(threads.scratch_per_subslice >= device.subslice_threads(), "{}", info.family);
            if device.scratch_ids != 0 {
                assert_eq!(device.scratch_ids, threads.scratch_per_subslice, "{}", info.family);
            }
        }
    }
}
