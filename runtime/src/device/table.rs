//! The device table: facts that differ from GPU to GPU, found by PCI id.

use gencl_i915::kernel::PciAddress;
use gencl_program::Profile;

use crate::ImageLimits;
use crate::launch::{CommandSet, gen9::GEN9};

/// What a device says it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceKind {
    /// `CL_DEVICE_TYPE_CPU`: simulated.
    Cpu,
    /// `CL_DEVICE_TYPE_GPU`
    Gpu,
}

/// What is known about a device; sizes in bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceFacts {
    /// `CL_DEVICE_NAME`
    pub name: String,
    /// Name of the target, as `genclc --target` takes it: `skl`.
    pub target: &'static str,
    /// Type.
    pub kind: DeviceKind,
    /// Is it the simulator?
    pub simulated: bool,
    /// PCI vendor id.
    pub vendor_id: u32,
    /// PCI device id.
    pub pci_id: u16,
    /// Revision of the device.
    pub revision: u16,
    /// Where it is on the PCI bus; `None` for the simulator in this process.
    pub pci_address: Option<PciAddress>,
    /// Slices.
    pub slices: u32,
    /// Subslices of all slices.
    pub subslices: u32,
    /// Execution units: `CL_DEVICE_MAX_COMPUTE_UNITS`.
    pub compute_units: u32,
    /// Hardware threads of each EU.
    pub threads_per_eu: u32,
    /// `CL_DEVICE_MAX_CLOCK_FREQUENCY` in MHz.
    pub clock_mhz: u32,
    /// Hardware threads that a work-group may have.
    pub threads_per_group: u32,
    /// Most work-items of a work-group; a kernel with 8 lanes in a thread may have less.
    pub max_work_group_size: u32,
    /// The same per dimension.
    pub max_work_item_sizes: [u32; 3],
    /// `CL_DEVICE_GLOBAL_MEM_SIZE`
    pub global_memory: u64,
    /// `CL_DEVICE_MAX_MEM_ALLOC_SIZE`
    pub max_allocation: u64,
    /// `CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE`
    pub max_constant_buffer: u64,
    /// `CL_DEVICE_MAX_CONSTANT_ARGS`
    pub max_constant_args: u32,
    /// Shared local memory of a work-group.
    pub local_memory: u32,
    /// `CL_DEVICE_GLOBAL_MEM_CACHE_SIZE`: the L3 cache's part for data.
    pub cache_size: u64,
    /// `CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE`
    pub cache_line: u32,
    /// Alignment of sub-buffers in bytes (`CL_DEVICE_MEM_BASE_ADDR_ALIGN` is in bits).
    pub base_address_alignment: u32,
    /// `CL_DEVICE_MAX_PARAMETER_SIZE`
    pub max_parameter_size: u32,
    /// Bits of an address in kernels.
    pub address_bits: u32,
    /// Ticks of the GPU's timestamp per second.
    pub timestamp_hz: u64,
    /// `CL_DEVICE_PROFILING_TIMER_RESOLUTION` in nanoseconds, rounded up.
    pub timer_resolution_ns: u64,
    /// The largest images, if there are images: as kernels cannot use them yet, only for tests of the objects (`GENCL_DEBUG=images`).
    pub images: Option<ImageLimits>,
    /// `CL_DRIVER_VERSION`
    pub driver_version: &'static str,
}

impl DeviceFacts {
    /// What programs may use on it.
    pub fn profile(&self) -> &'static Profile {
        Profile::of(self.target)
    }
}

/// One row of the table.
#[derive(Debug)]
pub(crate) struct Model {
    pub(crate) pci_id: u16,
    pub(crate) name: &'static str,
    pub(crate) target: &'static str,
    pub(crate) slices: u32,
    /// Of each slice.
    pub(crate) subslices: u32,
    pub(crate) eus_per_subslice: u32,
    pub(crate) threads_per_eu: u32,
    pub(crate) clock_mhz: u32,
    pub(crate) local_memory: u32,
    pub(crate) l3_data: u64,
    pub(crate) timestamp_hz: u64,
    /// Subslices of each slice that scratch memory has to be there for: more than there are, as the hardware computes a
    /// thread's place in it as if all were there (Mesa, `intel_device_info.c`, `init_max_scratch_ids`).
    pub(crate) scratch_subslices: u32,
    /// Commands and state structures.
    pub(crate) commands: &'static CommandSet,
}

/// Devices that are supported. Sources: Mesa's `intel_device_info.c` and `i965_pci_ids.h` for ids, units, threads and timestamp;
/// the clock is the boost clock of the first product with the id; L3: 768 KB, of which SLM and URB take their part.
#[rustfmt::skip]
const MODELS: &[Model] = &[
    Model { pci_id: 0x1912, name: "Intel(R) HD Graphics 530 (Skylake GT2)", target: "skl", slices: 1, subslices: 3, eus_per_subslice: 8, threads_per_eu: 7, clock_mhz: 1150, local_memory: 64 << 10, l3_data: 512 << 10, timestamp_hz: 12_000_000, scratch_subslices: 4, commands: &GEN9 },
    Model { pci_id: 0x191b, name: "Intel(R) HD Graphics 530 (Skylake GT2)", target: "skl", slices: 1, subslices: 3, eus_per_subslice: 8, threads_per_eu: 7, clock_mhz: 1050, local_memory: 64 << 10, l3_data: 512 << 10, timestamp_hz: 12_000_000, scratch_subslices: 4, commands: &GEN9 },
    Model { pci_id: 0x1916, name: "Intel(R) HD Graphics 520 (Skylake GT2)", target: "skl", slices: 1, subslices: 3, eus_per_subslice: 8, threads_per_eu: 7, clock_mhz: 1000, local_memory: 64 << 10, l3_data: 512 << 10, timestamp_hz: 12_000_000, scratch_subslices: 4, commands: &GEN9 },
    Model { pci_id: 0x191e, name: "Intel(R) HD Graphics 515 (Skylake GT2)", target: "skl", slices: 1, subslices: 3, eus_per_subslice: 8, threads_per_eu: 7, clock_mhz: 1000, local_memory: 64 << 10, l3_data: 512 << 10, timestamp_hz: 12_000_000, scratch_subslices: 4, commands: &GEN9 },
];

/// The row of a PCI id, `None` when the device is not supported.
pub(crate) fn by_pci_id(pci_id: u16) -> Option<&'static Model> {
    MODELS.iter().find(|model| model.pci_id == pci_id)
}

/// The first row with a target's name.
pub(crate) fn by_target(target: &str) -> Option<&'static Model> {
    MODELS.iter().find(|model| model.target == target)
}

/// Constant memory is read as global memory is, so no hardware limits it. What is promised is a size that programs
/// which ask for the limit, and then fill it, get done.
const MAX_CONSTANT_BUFFER: u64 = 64 << 20;

/// Images of all devices: the sides that surface states of Gen9 can have (Skylake manual, volume 2d, RENDER_SURFACE_STATE: Width, Height, Depth), of which
/// OpenCL asks for no less than these; buffers have 2^27 texels. Alignments are those of a cache line, for texels of the largest size.
pub(super) const IMAGES: ImageLimits = ImageLimits {
    size_2d: 16384,
    size_3d: 2048,
    array: 2048,
    buffer: 1 << 27,
    pitch_alignment: 4,
    address_alignment: 4,
    arguments: 128,
    samplers: 16,
};

impl Model {
    /// Hardware threads of the whole device.
    pub(crate) fn threads(&self) -> u32 {
        self.slices * self.subslices * self.eus_per_subslice * self.threads_per_eu
    }

    /// Hardware threads that a work-group may have: it runs within one subslice, where its local memory and barrier are, and the walker counts
    /// to 64 (Skylake, Volume 2a, `GPGPU_WALKER`, Thread Width Counter Maximum).
    fn threads_per_group(&self) -> u32 {
        (self.eus_per_subslice * self.threads_per_eu).min(64)
    }

    /// Most work-items of a group: a power of two that fits with 16 lanes, as programs like it. With 8 lanes less may fit.
    fn max_work_group_size(&self) -> u32 {
        let fits = self.threads_per_group() * 16;
        1 << fits.ilog2()
    }

    /// Threads that scratch memory has to be there for.
    pub(crate) fn scratch_threads(&self) -> u32 {
        self.slices * self.scratch_subslices * self.eus_per_subslice * self.threads_per_eu
    }

    /// The facts on a device of this model that may use `memory` bytes of the host's.
    pub(crate) fn facts(&self, kind: DeviceKind, simulated: bool, memory: u64) -> DeviceFacts {
        DeviceFacts {
            name: if simulated { format!("{}, simulated", self.name) } else { self.name.to_owned() },
            target: self.target,
            kind,
            simulated,
            vendor_id: 0x8086,
            pci_id: self.pci_id,
            revision: 0,
            pci_address: None,
            slices: self.slices,
            subslices: self.slices * self.subslices,
            compute_units: self.slices * self.subslices * self.eus_per_subslice,
            threads_per_eu: self.threads_per_eu,
            clock_mhz: self.clock_mhz,
            threads_per_group: self.threads_per_group(),
            max_work_group_size: self.max_work_group_size(),
            max_work_item_sizes: [self.max_work_group_size(); 3],
            global_memory: memory,
            max_allocation: (memory / 2).min(gencl_program::LARGEST_OBJECT),
            max_constant_buffer: (memory / 2).min(MAX_CONSTANT_BUFFER),
            max_constant_args: 8,
            local_memory: self.local_memory,
            cache_size: self.l3_data,
            cache_line: 64,
            base_address_alignment: 128,
            max_parameter_size: 1024,
            address_bits: 64,
            timestamp_hz: self.timestamp_hz,
            timer_resolution_ns: 1_000_000_000u64.div_ceil(self.timestamp_hz),
            images: None,
            driver_version: env!("CARGO_PKG_VERSION"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skylake_gt2() {
        let facts = by_pci_id(0x1912).unwrap().facts(DeviceKind::Gpu, false, 8 << 30);
        assert_eq!((facts.compute_units, facts.timer_resolution_ns), (24, 84));
        assert_eq!(facts.max_allocation, 2 << 30);
        assert_eq!(facts.max_constant_buffer, 64 << 20);
        assert!(by_pci_id(0).is_none());
    }
}
