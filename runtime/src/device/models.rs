//! Families and models, to which PCI ids refer.
//!
//! Sources: Mesa's `intel_device_info.c` (units, threads, L3 banks, timestamp; threads for scratch memory:
//! `init_max_scratch_ids`), NEO's `hw_info_*.inl` (L3 cache), Beignet's `intel_gpgpu_get_max_curbe_size`; the
//! clock is the boost clock of the first product.

use std::sync::Arc;

use gencl_i915::RenderNode;

use super::needs::{self, DriverFeature};
use crate::launch::CommandSet;
use crate::launch::gen7::{BAY_TRAIL, GEN7, GEN75};
use crate::launch::gen8::GEN8;
use crate::launch::gen9::GEN9;
use crate::memory::AddressSpace;

/// Properties that all devices of a target share.
#[derive(Debug)]
pub(crate) struct Family {
    /// As `genclc --target` takes it.
    pub(crate) target: &'static str,
    /// For the device's name.
    pub(crate) name: &'static str,
    pub(crate) threads_per_eu: u32,
    pub(crate) local_memory: u32,
    /// Bytes for data in a bank of the L3 cache.
    pub(crate) l3_bank: u64,
    pub(crate) timestamp_hz: u64,
    /// Subslices per slice that scratch memory is allocated for. It may exceed the subslices that exist: the
    /// hardware computes a thread's offset as if all were there.
    pub(crate) scratch_subslices: u32,
    /// Threads per subslice that scratch memory is allocated for.
    pub(crate) scratch_threads: u32,
    /// Registers of constants that a walker may load (MEDIA_VFE_STATE, CURBE Allocation Size: the URB without
    /// its 32 entries).
    pub(crate) constant_registers: u32,
    /// Constructor of the address space.
    pub(crate) addresses: fn(Arc<dyn RenderNode>) -> AddressSpace,
    /// Features that the kernel driver must have.
    pub(crate) needs: &'static [DriverFeature],
    /// Limit of memory for buffers. An address space of 32 bits has to keep room for other allocations, one
    /// that all processes share half.
    pub(crate) max_memory: u64,
    /// Commands and state structures.
    pub(crate) commands: &'static CommandSet,
}

/// Devices with the same units: one row of the table of models.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Model {
    pub(crate) family: &'static Family,
    /// The variant for the device's name: `GT2`; may be empty.
    pub(crate) name: &'static str,
    pub(crate) slices: u32,
    /// Per slice.
    pub(crate) subslices: u32,
    pub(crate) eus_per_subslice: u32,
    pub(crate) l3_banks: u32,
    pub(crate) clock_mhz: u32,
}

/// Gen9 of the Core line.
const SKL_FAMILY: Family = Family {
    target: "skl",
    name: "Skylake",
    threads_per_eu: 7,
    local_memory: 64 << 10,
    l3_bank: 128 << 10,
    timestamp_hz: 12_000_000,
    // "Scratch Space per slice is computed based on 4 sub-slices" (3DSTATE_PS).
    scratch_subslices: 4,
    scratch_threads: 8 * 7,
    constant_registers: 2016,
    max_memory: u64::MAX,
    addresses: AddressSpace::wide,
    needs: needs::OWN_ADDRESSES,
    commands: &GEN9,
};

/// Gen9 of the Atom line.
const BXT_FAMILY: Family = Family {
    target: "bxt",
    name: "Apollo Lake",
    threads_per_eu: 6,
    timestamp_hz: 19_200_000,
    scratch_threads: 6 * 6,
    ..SKL_FAMILY
};

/// Gen8 of the Core line.
const BDW_FAMILY: Family = Family {
    target: "bdw",
    name: "Broadwell",
    timestamp_hz: 12_500_000,
    scratch_subslices: 3,
    commands: &GEN8,
    ..SKL_FAMILY
};

static SKL: Family = SKL_FAMILY;
static KBL: Family = Family { target: "kbl", name: "Kaby Lake", ..SKL_FAMILY };
static CFL: Family = Family { target: "cfl", name: "Coffee Lake", ..SKL_FAMILY };
static APL: Family = BXT_FAMILY;
static GEMINI_LAKE: Family = Family { target: "glk", name: "Gemini Lake", ..BXT_FAMILY };
static BDW: Family = BDW_FAMILY;
// Devices with 6 EUs in a subslice number threads as if there were 8.
static BRASWELL: Family = Family {
    target: "chv",
    name: "Cherryview",
    scratch_subslices: 2,
    max_memory: 3 << 30,
    addresses: AddressSpace::near,
    ..BDW_FAMILY
};

/// Haswell. "WaCSScratchSize:hsw": scratch memory as if a subslice had 16 EUs of 8 threads.
const HSW_FAMILY: Family = Family {
    target: "hsw",
    name: "Haswell",
    timestamp_hz: 12_500_000,
    scratch_subslices: 2,
    scratch_threads: 16 * 8,
    addresses: AddressSpace::narrow,
    needs: needs::SHARED_ADDRESSES,
    max_memory: 1 << 30,
    commands: &GEN75,
    ..SKL_FAMILY
};

/// Ivy Bridge.
const IVB_FAMILY: Family = Family {
    target: "ivb",
    name: "Ivy Bridge",
    threads_per_eu: 8,
    scratch_threads: 8 * 8,
    commands: &GEN7,
    ..HSW_FAMILY
};

static HSW: Family = HSW_FAMILY;
static IVB: Family = IVB_FAMILY;
// Six threads for each of six EUs, numbered as if there were eight of each.
static IVB_SMALL: Family =
    Family { threads_per_eu: 6, scratch_subslices: 1, constant_registers: 992, ..IVB_FAMILY };
static VALLEYVIEW: Family = Family {
    target: "byt",
    name: "Bay Trail",
    scratch_subslices: 1,
    constant_registers: 992,
    commands: &BAY_TRAIL,
    ..IVB_FAMILY
};

/// A model with one slice.
const fn model(
    family: &'static Family,
    name: &'static str,
    subslices: u32,
    eus: u32,
    l3_banks: u32,
    clock_mhz: u32,
) -> Model {
    Model { family, name, slices: 1, subslices, eus_per_subslice: eus, l3_banks, clock_mhz }
}

/// A model with several slices.
const fn large(family: &'static Family, name: &'static str, slices: u32, clock_mhz: u32) -> Model {
    Model { family, name, slices, subslices: 3, eus_per_subslice: 8, l3_banks: 4 * slices, clock_mhz }
}

pub(super) static IVB_GT1: Model = model(&IVB_SMALL, "GT1", 1, 6, 1, 1050);
pub(super) static IVB_GT2: Model = model(&IVB, "GT2", 2, 8, 2, 1250);
pub(super) static BYT: Model = model(&VALLEYVIEW, "", 1, 4, 1, 854);
pub(super) static HSW_GT1: Model = model(&HSW, "GT1", 1, 10, 1, 1000);
pub(super) static HSW_GT2: Model = model(&HSW, "GT2", 2, 10, 2, 1150);
pub(super) static HSW_GT3: Model = Model { slices: 2, ..model(&HSW, "GT3", 2, 10, 4, 1200) };
pub(super) static BDW_GT1: Model = model(&BDW, "GT1", 2, 6, 2, 850);
pub(super) static BDW_GT2: Model = model(&BDW, "GT2", 3, 8, 4, 950);
pub(super) static BDW_GT3: Model = large(&BDW, "GT3", 2, 1150);
pub(super) static CHV: Model = model(&BRASWELL, "", 2, 8, 2, 700);
pub(super) static SKL_GT1: Model = model(&SKL, "GT1", 2, 6, 2, 1000);
pub(super) static SKL_GT2: Model = model(&SKL, "GT2", 3, 8, 4, 1150);
pub(super) static SKL_GT3: Model = large(&SKL, "GT3", 2, 1050);
pub(super) static SKL_GT4: Model = large(&SKL, "GT4", 3, 1050);
pub(super) static KBL_GT1: Model = model(&KBL, "GT1", 2, 6, 2, 1050);
pub(super) static KBL_GT1_5: Model = model(&KBL, "GT1.5", 3, 6, 4, 1050);
pub(super) static KBL_GT2: Model = model(&KBL, "GT2", 3, 8, 4, 1150);
pub(super) static KBL_GT3: Model = large(&KBL, "GT3", 2, 1100);
pub(super) static KBL_GT4: Model = large(&KBL, "GT4", 3, 1100);
pub(super) static CFL_GT1: Model = model(&CFL, "GT1", 2, 6, 2, 1050);
pub(super) static CFL_GT2: Model = model(&CFL, "GT2", 3, 8, 4, 1200);
pub(super) static CFL_GT3: Model = large(&CFL, "GT3", 2, 1150);
pub(super) static BXT: Model = model(&APL, "", 3, 6, 2, 750);
pub(super) static BXT_2X6: Model = model(&APL, "", 2, 6, 1, 700);
pub(super) static GLK: Model = model(&GEMINI_LAKE, "", 3, 6, 2, 800);
pub(super) static GLK_2X6: Model = model(&GEMINI_LAKE, "", 2, 6, 2, 700);
