//! Properties of devices, which follow from their model and units.

use gencl_device_info::{AddressSpaceKind, Family, Model, Threads};
use gencl_i915::kernel::PciAddress;
use gencl_program::Profile;

use super::units::Units;
use crate::ImageLimits;
use crate::launch::{CommandSet, command_set};

/// `CL_DEVICE_TYPE`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceKind {
    /// `CL_DEVICE_TYPE_CPU`: simulated.
    Cpu,
    /// `CL_DEVICE_TYPE_GPU`
    Gpu,
}

/// Properties of a device; sizes in bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceFacts {
    /// `CL_DEVICE_NAME`
    pub name: String,
    /// The family.
    pub family: Family,
    /// `CL_DEVICE_TYPE`
    pub kind: DeviceKind,
    /// Whether it is the simulator.
    pub simulated: bool,
    /// PCI vendor id.
    pub vendor_id: u32,
    /// PCI device id.
    pub pci_id: u16,
    /// Revision of the device.
    pub revision: u16,
    /// Address on the PCI bus; `None` for the simulator in this process.
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
    /// `CL_DEVICE_MAX_WORK_GROUP_SIZE`; a kernel with a required sub-group size may have a smaller limit.
    pub max_work_group_size: u32,
    /// `CL_DEVICE_MAX_WORK_ITEM_SIZES`
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
    /// Limits of images.
    pub images: ImageLimits,
    /// `CL_DRIVER_VERSION`
    pub driver_version: &'static str,
}

impl DeviceFacts {
    /// What programs may use on the device.
    pub fn profile(&self) -> Profile {
        Profile::of(self.family)
    }

    /// Whether shared virtual memory is fine-grained, with atomic operations: host and kernels see each other's stores
    /// while kernels run. The GPU's L3 cache keeps stores until a kernel ends, and the launch sets no other policy, so
    /// that is the simulator's only.
    pub fn fine_grain(&self) -> bool {
        self.simulated && self.profile().shared_memory
    }
}

/// Constant memory is read like global memory, so the hardware has no limit. This one is small enough for
/// programs that query it and fill a buffer of that size.
const MAX_CONSTANT_BUFFER: u64 = 64 << 20;

/// Limits of images on all devices: those of Gen9's surface states (Skylake manual, Volume 2d,
/// RENDER_SURFACE_STATE: Width, Height, Depth, Surface Pitch), which are also the minimum that OpenCL requires; buffers
/// have 2^27 texels. Alignments are in texels: a cache line of texels of the largest size.
const IMAGES: ImageLimits = ImageLimits {
    size_2d: 16384,
    size_3d: 2048,
    array: 2048,
    buffer: 1 << 27,
    row_pitch: 1 << 18,
    pitch_alignment: 4,
    address_alignment: 4,
    read_arguments: 128,
    write_arguments: 64,
    samplers: 16,
    channel_selects: false,
};

/// Limit of memory for buffers. An address space of 32 bits has to keep room for other allocations, one that all
/// processes share half.
fn most_memory(space: AddressSpaceKind) -> u64 {
    match space {
        AddressSpaceKind::Shared31 => 1 << 30,
        AddressSpaceKind::Own32 => 3 << 30,
        AddressSpaceKind::Own48 => u64::MAX,
    }
}

/// A device's model with its enabled units: many products have some fused off.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GpuConfig {
    pub(crate) model: &'static Model,
    pub(crate) pci_id: u16,
    /// Marketing name.
    pub(crate) name: &'static str,
    pub(crate) units: Units,
}

/// Largest number of threads of a work-group: the walker counts to 64 (Skylake, Volume 2a, `GPGPU_WALKER`,
/// Thread Width Counter Maximum).
const GROUP_THREADS: u32 = 64;

impl GpuConfig {
    /// Commands and state structures.
    pub(crate) fn commands(&self) -> &'static CommandSet {
        command_set(self.model.family)
    }

    /// Hardware threads of the whole device.
    pub(crate) fn threads(&self) -> u32 {
        self.units.eus * self.model.threads.per_eu
    }

    /// Hardware threads that a work-group may have: it runs within one subslice, where its local memory and
    /// barrier are.
    fn threads_per_group(&self) -> u32 {
        (self.units.eus_of_smallest * self.model.threads.per_eu).min(GROUP_THREADS)
    }

    /// Largest work-group in work-items: a power of two, as programs expect, at the largest SIMD width, which
    /// every kernel can be compiled for.
    fn max_work_group_size(&self) -> u32 {
        let widest = self.model.info().execution.simd_widths.iter().max().expect("there are widths");
        1 << (self.threads_per_group() * widest).ilog2()
    }

    /// Number of threads that scratch memory is allocated for.
    pub(crate) fn scratch_threads(&self) -> u32 {
        let Threads { scratch_subslices, scratch_per_subslice, .. } = self.model.threads;
        self.units.slices * scratch_subslices * scratch_per_subslice
    }

    /// The images of the device.
    fn images(&self) -> ImageLimits {
        let channel_selects = self.commands().surface_state.red.is_there();
        ImageLimits { channel_selects, ..IMAGES }
    }

    /// The properties of the device, with `memory` bytes for buffers.
    pub(crate) fn facts(&self, kind: DeviceKind, simulated: bool, memory: u64) -> DeviceFacts {
        let GpuConfig { model, units, .. } = *self;
        let (family, info) = (model.family, model.info());
        let place = [family.codename(), model.name].join(" ");
        let memory = memory.min(most_memory(info.address_space));
        let simulation = if simulated { ", simulated" } else { "" };
        DeviceFacts {
            name: format!("{} ({}){simulation}", self.name, place.trim_end()),
            family,
            kind,
            simulated,
            vendor_id: 0x8086,
            pci_id: self.pci_id,
            revision: 0,
            pci_address: None,
            slices: units.slices,
            subslices: units.subslices,
            compute_units: units.eus,
            threads_per_eu: model.threads.per_eu,
            clock_mhz: model.clock_mhz,
            threads_per_group: self.threads_per_group(),
            max_work_group_size: self.max_work_group_size(),
            max_work_item_sizes: [self.max_work_group_size(); 3],
            global_memory: memory,
            max_allocation: (memory / 2).min(gencl_program::LARGEST_OBJECT),
            max_constant_buffer: (memory / 2).min(MAX_CONSTANT_BUFFER),
            max_constant_args: 8,
            local_memory: info.local_memory,
            cache_size: u64::from(model.l3_banks) * info.l3_bank,
            cache_line: 64,
            base_address_alignment: 128,
            max_parameter_size: 1024,
            address_bits: info.pointer_bits(),
            timestamp_hz: info.timestamp_hz,
            timer_resolution_ns: 1_000_000_000u64.div_ceil(info.timestamp_hz),
            images: self.images(),
            driver_version: env!("CARGO_PKG_VERSION"),
        }
    }
}

#[cfg(test)]
mod tests {
    use gencl_device_info::by_pci_id;

    use super::*;

    fn facts(pci_id: u16) -> DeviceFacts {
        let (name, model) = by_pci_id(pci_id).unwrap();
        let hardware = GpuConfig { model, pci_id, name, units: Units::of_model(model) };
        hardware.facts(DeviceKind::Gpu, false, 8 << 30)
    }

    #[test]
    fn skylake_gt2() {
        let facts = facts(0x1912);
        assert_eq!((facts.compute_units, facts.timer_resolution_ns), (24, 84));
        assert_eq!(facts.max_allocation, 2 << 30);
        assert_eq!(facts.max_constant_buffer, 64 << 20);
        assert_eq!(facts.name, "Intel(R) HD Graphics 530 (Skylake GT2)");
        assert!(by_pci_id(0).is_none());
    }

    #[test]
    fn group_sizes_are_for_the_largest_width() {
        let apollo_lake = facts(0x5a85);
        assert_eq!((apollo_lake.compute_units, apollo_lake.max_work_group_size), (12, 1024));
        assert_eq!(apollo_lake.name, "Intel(R) HD Graphics 500 (Apollo Lake)");
        // 32 threads of 16 lanes.
        let bay_trail = facts(0x0f31);
        assert_eq!((bay_trail.compute_units, bay_trail.max_work_group_size), (4, 512));
    }
}
