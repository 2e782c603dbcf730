//! Optional features of targets.

/// The optional features of OpenCL in which targets differ.
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

/// Devices with A64 messages and 48-bit address spaces.
const WIDE: Profile = Profile {
    address_bits: 64,
    widths: &[8, 16, 32],
    half: true,
    double: true,
    long_atomics: true,
    generic_pointers: true,
    shared_memory: true,
};

/// Devices that access memory through surfaces and have no 64-bit integers. There is no SIMD32, as the
/// execution mask of the lower 16 lanes would enable the upper ones (Ivy Bridge manual, Volume 4 Part 3,
/// "Execution Masking").
const NARROW: Profile = Profile {
    address_bits: 32,
    widths: &[8, 16],
    half: false,
    double: true,
    long_atomics: false,
    generic_pointers: false,
    shared_memory: false,
};

/// Devices with A64 messages and 32-bit address spaces, which exclude the host's addresses.
const NEAR: Profile = Profile { shared_memory: false, ..WIDE };

/// Targets whose address spaces have 32 bits (i915's `i915_pci.c`: `ppgtt_size`).
const NEAR_TARGETS: &[&str] = &["chv"];

/// Targets without 64-bit addresses (Gen7 and Gen7.5: their data ports have no A64 messages, Volume 4 Part 1
/// of the Ivy Bridge manual, Volume 7 of Haswell's).
const NARROW_TARGETS: &[&str] = &["ivb", "byt", "hsw"];

impl Profile {
    /// The profile of a target, by the name that `genclc --target` takes.
    #[must_use]
    pub fn of(target: &str) -> &'static Profile {
        match target {
            _ if NARROW_TARGETS.contains(&target) => &NARROW,
            _ if NEAR_TARGETS.contains(&target) => &NEAR,
            _ => &WIDE,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn haswell_has_narrow_pointers_and_broadwell_wide_ones() {
        assert_eq!(Profile::of("hsw").address_bits, 32);
        assert_eq!(Profile::of("bdw").address_bits, 64);
    }
}
