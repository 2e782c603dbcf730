//! What differs from GPU to GPU, found by PCI id: families, their models, and the facts that follow from
//! them.

use std::sync::Arc;

use gencl_i915::RenderNode;
use gencl_i915::kernel::PciAddress;
use gencl_program::Profile;

use super::needs::Need;
use super::pci_ids::PCI_IDS;
use super::units::Units;
use crate::ImageLimits;
use crate::launch::CommandSet;
use crate::memory::AddressSpace;

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
    /// Most work-items of a work-group; a kernel that requires sub-groups of few lanes may have less.
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
    /// The largest images, if there are images: as kernels cannot use them yet, only for tests of the objects
    /// (`GENCL_DEBUG=images`).
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

/// What the devices of a target have in common.
#[derive(Debug)]
pub(crate) struct Family {
    /// As `genclc --target` takes it.
    pub(crate) target: &'static str,
    /// For people.
    pub(crate) name: &'static str,
    pub(crate) threads_per_eu: u32,
    pub(crate) local_memory: u32,
    /// Bytes of a bank of the L3 cache, as far as they are for data.
    pub(crate) l3_bank: u64,
    pub(crate) timestamp_hz: u64,
    /// Subslices of each slice that scratch memory has to be there for: where there are more than there are,
    /// the hardware computes a thread's place in it as if all were there.
    pub(crate) scratch_subslices: u32,
    /// Threads of each subslice that scratch memory has to be there for.
    pub(crate) scratch_threads: u32,
    /// Registers of constants that one launch may load (MEDIA_VFE_STATE, CURBE Allocation Size: what the URB
    /// has beside 32 entries).
    pub(crate) constant_registers: u32,
    /// Makes an address space of its kind.
    pub(crate) addresses: fn(Arc<dyn RenderNode>) -> AddressSpace,
    /// What its launches need of the kernel driver.
    pub(crate) needs: &'static [Need],
    /// Most memory that buffers may take: of addresses of 32 bits something is left for all else, of those
    /// that all processes share half.
    pub(crate) most_memory: u64,
    /// Commands and state structures.
    pub(crate) commands: &'static CommandSet,
}

/// One row of the table: devices with the same units.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Model {
    pub(crate) family: &'static Family,
    /// Which of the family, for people; may be empty.
    pub(crate) name: &'static str,
    pub(crate) slices: u32,
    /// Of each slice.
    pub(crate) subslices: u32,
    pub(crate) eus_per_subslice: u32,
    pub(crate) l3_banks: u32,
    pub(crate) clock_mhz: u32,
}

/// The name and row of a PCI id, `None` when the device is not supported.
pub(crate) fn by_pci_id(pci_id: u16) -> Option<(&'static str, &'static Model)> {
    PCI_IDS.iter().find(|(id, ..)| *id == pci_id).map(|(_, name, model)| (*name, *model))
}

/// Constant memory is read as global memory is, so no hardware limits it. What is promised is a size that
/// programs which ask for the limit, and then fill it, get done.
const MAX_CONSTANT_BUFFER: u64 = 64 << 20;

/// Images of all devices: the sides that surface states of Gen9 can have (Skylake manual, volume 2d,
/// RENDER_SURFACE_STATE: Width, Height, Depth), of which OpenCL asks for no less than these; buffers have
/// 2^27 texels. Alignments are those of a cache line, for texels of the largest size.
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

/// A device's model with the units that it really has: some are switched off in many products.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hardware {
    pub(crate) model: &'static Model,
    pub(crate) pci_id: u16,
    /// As it is sold.
    pub(crate) name: &'static str,
    pub(crate) units: Units,
}

/// Most threads of a work-group: the walker counts to 64 (Skylake, Volume 2a, `GPGPU_WALKER`, Thread Width
/// Counter Maximum).
const GROUP_THREADS: u32 = 64;

impl Hardware {
    /// Hardware threads of the whole device.
    pub(crate) fn threads(&self) -> u32 {
        self.units.eus * self.model.family.threads_per_eu
    }

    /// Hardware threads that a work-group may have: it runs within one subslice, where its local memory and
    /// barrier are.
    fn threads_per_group(&self) -> u32 {
        (self.units.eus_of_smallest * self.model.family.threads_per_eu).min(GROUP_THREADS)
    }

    /// Most work-items of a group: a power of two, as programs expect, that fits with the widest threads,
    /// which every kernel can be compiled to.
    fn max_work_group_size(&self) -> u32 {
        let widest = Profile::of(self.model.family.target).widths.iter().max().expect("there are widths");
        1 << (self.threads_per_group() * widest).ilog2()
    }

    /// Threads that scratch memory has to be there for.
    pub(crate) fn scratch_threads(&self) -> u32 {
        let Family { scratch_subslices, scratch_threads, .. } = *self.model.family;
        self.units.slices * scratch_subslices * scratch_threads
    }

    /// The facts on this device, which may use `memory` bytes of the host's.
    pub(crate) fn facts(&self, kind: DeviceKind, simulated: bool, memory: u64) -> DeviceFacts {
        let Hardware { model, units, .. } = *self;
        let family = model.family;
        let place = [family.name, model.name].join(" ");
        let address_bits = Profile::of(family.target).address_bits;
        let memory = memory.min(family.most_memory);
        let simulation = if simulated { ", simulated" } else { "" };
        DeviceFacts {
            name: format!("{} ({}){simulation}", self.name, place.trim_end()),
            target: family.target,
            kind,
            simulated,
            vendor_id: 0x8086,
            pci_id: self.pci_id,
            revision: 0,
            pci_address: None,
            slices: units.slices,
            subslices: units.subslices,
            compute_units: units.eus,
            threads_per_eu: family.threads_per_eu,
            clock_mhz: model.clock_mhz,
            threads_per_group: self.threads_per_group(),
            max_work_group_size: self.max_work_group_size(),
            max_work_item_sizes: [self.max_work_group_size(); 3],
            global_memory: memory,
            max_allocation: (memory / 2).min(gencl_program::LARGEST_OBJECT),
            max_constant_buffer: (memory / 2).min(MAX_CONSTANT_BUFFER),
            max_constant_args: 8,
            local_memory: family.local_memory,
            cache_size: u64::from(model.l3_banks) * family.l3_bank,
            cache_line: 64,
            base_address_alignment: 128,
            max_parameter_size: 1024,
            address_bits,
            timestamp_hz: family.timestamp_hz,
            timer_resolution_ns: 1_000_000_000u64.div_ceil(family.timestamp_hz),
            images: None,
            driver_version: env!("CARGO_PKG_VERSION"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(pci_id: u16) -> DeviceFacts {
        let (name, model) = by_pci_id(pci_id).unwrap();
        let hardware = Hardware { model, pci_id, name, units: Units::of_model(model) };
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
    fn groups_fit_with_the_widest_threads() {
        let apollo_lake = facts(0x5a85);
        assert_eq!((apollo_lake.compute_units, apollo_lake.max_work_group_size), (12, 1024));
        assert_eq!(apollo_lake.name, "Intel(R) HD Graphics 500 (Apollo Lake)");
        // 32 threads of 16 lanes.
        let bay_trail = facts(0x0f31);
        assert_eq!((bay_trail.compute_units, bay_trail.max_work_group_size), (4, 512));
    }

    #[test]
    fn ids_stand_once() {
        let mut ids: Vec<u16> = PCI_IDS.iter().map(|(id, ..)| *id).collect();
        ids.sort_unstable();
        assert!(ids.windows(2).all(|pair| pair[0] < pair[1]));
    }

    #[test]
    fn what_is_simulated_is_here() {
        for simulated in gencl_eu::device::Device::all() {
            let Some((_, model)) = by_pci_id(simulated.pci_id) else { continue };
            assert_eq!(model.family.target, simulated.name);
            assert_eq!(model.family.timestamp_hz, simulated.timestamp_frequency);
            let units = (model.slices, model.subslices, model.eus_per_subslice);
            assert_eq!(units, (simulated.slices, simulated.subslices, simulated.eus), "{}", simulated.name);
            assert_eq!(model.family.threads_per_eu, simulated.threads);
        }
    }
}
