//! The models: numbers of units, to which PCI ids refer.
//!
//! Sources: Mesa's `intel_device_info.c` (units, L3 banks); the clock is the boost clock of the first product.

use crate::Family;
use crate::info::{DeviceInfo, Threads};

/// Devices with the same units.
#[derive(Clone, Copy, Debug)]
pub struct Model {
    /// What it shares with others.
    pub family: Family,
    /// The variant for the device's name: `GT2`; may be empty.
    pub name: &'static str,
    /// Slices.
    pub slices: u32,
    /// Subslices of each slice.
    pub subslices: u32,
    /// EUs of each subslice.
    pub eus_per_subslice: u32,
    /// Banks of the L3 cache.
    pub l3_banks: u32,
    /// Clock of the EUs.
    pub clock_mhz: u32,
    /// Hardware threads.
    pub threads: Threads,
}

impl Model {
    /// The family's description.
    pub const fn info(&self) -> &'static DeviceInfo {
        self.family.info()
    }
}

/// A model with one slice.
const fn model(
    family: Family,
    name: &'static str,
    subslices: u32,
    eus: u32,
    l3_banks: u32,
    clock_mhz: u32,
) -> Model {
    Model {
        family,
        name,
        slices: 1,
        subslices,
        eus_per_subslice: eus,
        l3_banks,
        clock_mhz,
        threads: family.info().threads,
    }
}

/// A model with several slices.
const fn large(family: Family, name: &'static str, slices: u32, clock_mhz: u32) -> Model {
    Model { slices, ..model(family, name, 3, 8, 4 * slices, clock_mhz) }
}

// Six threads for each of six EUs, numbered as if there were eight of each.
pub(super) static IVB_GT1: Model = Model {
    threads: Threads {
        per_eu: 6,
        scratch_subslices: 1,
        constant_registers: 992,
        ..Family::Ivb.info().threads
    },
    ..model(Family::Ivb, "GT1", 1, 6, 1, 1050)
};
pub(super) static IVB_GT2: Model = model(Family::Ivb, "GT2", 2, 8, 2, 1250);
pub(super) static BYT: Model = model(Family::Byt, "", 1, 4, 1, 854);
pub(super) static HSW_GT1: Model = model(Family::Hsw, "GT1", 1, 10, 1, 1000);
pub(super) static HSW_GT2: Model = model(Family::Hsw, "GT2", 2, 10, 2, 1150);
pub(super) static HSW_GT3: Model = Model { slices: 2, ..model(Family::Hsw, "GT3", 2, 10, 4, 1200) };
pub(super) static BDW_GT1: Model = model(Family::Bdw, "GT1", 2, 6, 2, 850);
pub(super) static BDW_GT2: Model = model(Family::Bdw, "GT2", 3, 8, 4, 950);
pub(super) static BDW_GT3: Model = large(Family::Bdw, "GT3", 2, 1150);
pub(super) static CHV: Model = model(Family::Chv, "", 2, 8, 2, 700);
pub(super) static SKL_GT1: Model = model(Family::Skl, "GT1", 2, 6, 2, 1000);
pub(super) static SKL_GT2: Model = model(Family::Skl, "GT2", 3, 8, 4, 1150);
pub(super) static SKL_GT3: Model = large(Family::Skl, "GT3", 2, 1050);
pub(super) static SKL_GT4: Model = large(Family::Skl, "GT4", 3, 1050);
pub(super) static KBL_GT1: Model = model(Family::Kbl, "GT1", 2, 6, 2, 1050);
pub(super) static KBL_GT1_5: Model = model(Family::Kbl, "GT1.5", 3, 6, 4, 1050);
pub(super) static KBL_GT2: Model = model(Family::Kbl, "GT2", 3, 8, 4, 1150);
pub(super) static KBL_GT3: Model = large(Family::Kbl, "GT3", 2, 1100);
pub(super) static KBL_GT4: Model = large(Family::Kbl, "GT4", 3, 1100);
pub(super) static CFL_GT1: Model = model(Family::Cfl, "GT1", 2, 6, 2, 1050);
pub(super) static CFL_GT2: Model = model(Family::Cfl, "GT2", 3, 8, 4, 1200);
pub(super) static CFL_GT3: Model = large(Family::Cfl, "GT3", 2, 1150);
pub(super) static BXT: Model = model(Family::Bxt, "", 3, 6, 2, 750);
pub(super) static BXT_2X6: Model = model(Family::Bxt, "", 2, 6, 1, 700);
pub(super) static GLK: Model = model(Family::Glk, "", 3, 6, 2, 800);
pub(super) static GLK_2X6: Model = model(Family::Glk, "", 2, 6, 2, 700);
