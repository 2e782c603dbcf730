//! A row for each family; what it does not say is as in its generation's row.

use crate::Family;
use crate::generations::{GEN7, GEN8, GEN9, GEN75};
use crate::info::{AddressSpaceKind, DeviceInfo, Execution, IpVersion, Threads};

/// Gen9 of the Atom line.
const GEN9_ATOM: DeviceInfo = DeviceInfo {
    execution: Execution { free_wide_regions: false, ..GEN9.execution },
    threads: Threads { per_eu: 6, scratch_per_subslice: 6 * 6, ..GEN9.threads },
    timestamp_hz: 19_200_000,
    ..GEN9
};

/// A device of Gen9.
const fn gen9(release: u32, revision: u32) -> Option<IpVersion> {
    Some(IpVersion { architecture: 9, release, revision })
}

/// In the order of [`Family`].
static FAMILIES: [DeviceInfo; Family::ALL.len()] = [
    GEN7,
    DeviceInfo {
        family: Family::Byt,
        threads: Threads { scratch_subslices: 1, constant_registers: 992, ..GEN7.threads },
        ..GEN7
    },
    GEN75,
    GEN8,
    DeviceInfo {
        family: Family::Chv,
        ip_version: None,
        execution: Execution { free_wide_regions: false, ..GEN8.execution },
        threads: Threads { scratch_subslices: 2, ..GEN8.threads },
        address_space: AddressSpaceKind::Own32,
        ..GEN8
    },
    GEN9,
    DeviceInfo { family: Family::Bxt, ip_version: gen9(3, 0), ..GEN9_ATOM },
    DeviceInfo { family: Family::Kbl, ip_version: gen9(1, 9), ..GEN9 },
    DeviceInfo { family: Family::Glk, ip_version: gen9(4, 0), ..GEN9_ATOM },
    DeviceInfo { family: Family::Cfl, ip_version: gen9(2, 9), ..GEN9 },
];

const _: () = {
    let mut row = 0;
    while row < FAMILIES.len() {
        assert!(FAMILIES[row].family as usize == row, "rows are in the order of families");
        row += 1;
    }
};

impl Family {
    /// The description.
    pub const fn info(self) -> &'static DeviceInfo {
        &FAMILIES[self as usize]
    }
}
