//! What programs may use on a target, beyond what all targets have.

/// Optional parts of OpenCL C, as far as targets differ in them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Profile {
    /// Bits of a pointer: `CL_DEVICE_ADDRESS_BITS`.
    pub address_bits: u32,
    /// Lanes that threads may have, which are the sizes of sub-groups.
    pub widths: &'static [u32],
    /// Arithmetic on `half`: `cl_khr_fp16`.
    pub half: bool,
    /// `double`: `cl_khr_fp64`.
    pub double: bool,
    /// Atomic operations on 64-bit integers: `cl_khr_int64_base_atomics` and the extended ones.
    pub long_atomics: bool,
    /// Pointers to any address space: `__opencl_c_generic_address_space`.
    pub generic_pointers: bool,
    /// Memory that host and device know by one address: shared virtual memory and
    /// `cl_intel_unified_shared_memory`.
    pub shared_memory: bool,
}

/// A name, and which targets have what it stands for.
pub type Optional = (&'static str, fn(&Profile) -> bool);

/// A64 messages reach all memory by its address.
const WIDE: Profile = Profile {
    address_bits: 64,
    widths: &[8, 16, 32],
    half: true,
    double: true,
    long_atomics: true,
    generic_pointers: true,
    shared_memory: true,
};

/// Memory is reached through surfaces, and 64-bit integers are pairs of registers. The upper 16 of 32 lanes
/// would be enabled by the execution mask of the lower ones (Ivy Bridge manual, Volume 4 Part 3, "Execution
/// Masking").
const NARROW: Profile = Profile {
    address_bits: 32,
    widths: &[8, 16],
    half: false,
    double: true,
    long_atomics: false,
    generic_pointers: false,
    shared_memory: false,
};

/// Addresses of 64 bits of which 32 count, so that the host's are out of reach.
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
