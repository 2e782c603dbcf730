//! Optional features of devices.

use gencl_device_info::{AddressModel, AddressSpaceKind, Family};

/// The optional features of OpenCL in which devices differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Profile {
    /// Bits of a pointer: `CL_DEVICE_ADDRESS_BITS`.
    pub address_bits: u32,
    /// SIMD widths, which are the sizes of sub-groups.
    pub widths: &'static [u32],
    /// Arithmetic on `half`: `cl_khr_fp16`.
    pub half: bool,
    /// `double`: `cl_khr_fp64`.
    pub double: bool,
    /// Atomic operations on 64-bit integers: `cl_khr_int64_base_atomics` and the extended ones.
    pub long_atomics: bool,
    /// Pointers to any address space: `__opencl_c_generic_address_space`.
    pub generic_pointers: bool,
    /// Shared virtual memory and `cl_intel_unified_shared_memory`.
    pub shared_memory: bool,
}

/// The name of a feature, and whether a profile has it.
pub type Optional = (&'static str, fn(&Profile) -> bool);

impl Profile {
    /// The profile of a family.
    #[must_use]
    pub fn of(family: Family) -> Profile {
        let info = family.info();
        Profile {
            address_bits: info.pointer_bits(),
            widths: info.execution.simd_widths,
            half: info.execution.half,
            double: info.execution.float64,
            long_atomics: info.messages.int64_atomics,
            // Stateless messages reach all memory but local memory, whose addresses are windows in 64 bits.
            generic_pointers: info.messages.global == AddressModel::A64,
            shared_memory: info.address_space == AddressSpaceKind::Own48,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn haswell_has_narrow_pointers_and_broadwell_wide_ones() {
        assert_eq!(Profile::of(Family::Hsw).address_bits, 32);
        assert_eq!(Profile::of(Family::Bdw).address_bits, 64);
    }

    #[test]
    fn cherryview_lacks_shared_memory_only() {
        let [chv, bdw] = [Family::Chv, Family::Bdw].map(Profile::of);
        assert_eq!(chv, Profile { shared_memory: false, ..bdw });
    }
}
