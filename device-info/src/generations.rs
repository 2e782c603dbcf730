//! One complete row for each generation: that of the first family of its Core line.
//!
//! No row continues another one, so that each value of a new generation is looked up.

use gencl_isa::Generation;

use crate::Family;
use crate::info::{
    AddressModel, AddressSpaceKind, DeviceInfo, Execution, IpVersion, Messages, Payload, Threads,
};

/// Ivy Bridge.
pub(crate) const GEN7: DeviceInfo = DeviceInfo {
    family: Family::Ivb,
    generation: Generation::Gen7,
    execution: Execution {
        // No 32: the execution mask of the lower 16 lanes would enable the upper ones (Ivy Bridge manual, Volume 4
        // Part 3, "Execution Masking").
        simd_widths: &[8, 16],
        registers: 128,
        int64: false,
        float64: true,
        half: false,
        halves: true,
        ternary_lanes: 8,
        double_pairs: true,
        free_wide_regions: true,
        dword_multiply: false,
        compare_switches: true,
        split_sends: false,
        gotos: false,
        denormal_bits: 0xc0,
    },
    messages: Messages {
        // The data port has no A64 messages (Ivy Bridge manual, Volume 4 Part 1).
        global: AddressModel::Surface(0),
        a64_lanes: 0,
        a64_atomic_lanes: 0,
        int64_atomics: false,
        typed_header: true,
        sampler_level_zero: false,
        integer_borders: false,
        barrier_mask: 0x0f00_0000,
    },
    payload: Payload { constants: 63, scratch: 12 << 10, thread_number: Some(0x1ff) },
    threads: Threads {
        per_eu: 8,
        scratch_subslices: 2,
        scratch_per_subslice: 8 * 8,
        constant_registers: 2016,
    },
    address_space: AddressSpaceKind::Shared31,
    local_memory: 64 << 10,
    l3_bank: 128 << 10,
    timestamp_hz: 12_500_000,
    ip_version: None,
};

/// Haswell.
pub(crate) const GEN75: DeviceInfo = DeviceInfo {
    family: Family::Hsw,
    generation: Generation::Gen75,
    execution: Execution {
        // As on Ivy Bridge.
        simd_widths: &[8, 16],
        registers: 128,
        int64: false,
        float64: true,
        half: false,
        halves: true,
        ternary_lanes: 16,
        double_pairs: false,
        free_wide_regions: true,
        dword_multiply: false,
        compare_switches: true,
        split_sends: false,
        gotos: false,
        denormal_bits: 0xc0,
    },
    messages: Messages {
        // The data port has no A64 messages (Haswell manual, Volume 7).
        global: AddressModel::Surface(0),
        a64_lanes: 0,
        a64_atomic_lanes: 0,
        int64_atomics: false,
        typed_header: true,
        sampler_level_zero: false,
        integer_borders: false,
        barrier_mask: 0x0f00_0000,
    },
    payload: Payload { constants: 99, scratch: 2 << 20, thread_number: None },
    // "WaCSScratchSize:hsw": scratch memory as if a subslice had 16 EUs of 8 threads.
    threads: Threads {
        per_eu: 7,
        scratch_subslices: 2,
        scratch_per_subslice: 16 * 8,
        constant_registers: 2016,
    },
    address_space: AddressSpaceKind::Shared31,
    local_memory: 64 << 10,
    l3_bank: 128 << 10,
    timestamp_hz: 12_500_000,
    ip_version: None,
};

/// Broadwell.
pub(crate) const GEN8: DeviceInfo = DeviceInfo {
    family: Family::Bdw,
    generation: Generation::Gen8,
    execution: Execution {
        simd_widths: &[8, 16, 32],
        registers: 128,
        int64: true,
        float64: true,
        half: true,
        halves: false,
        ternary_lanes: 16,
        double_pairs: false,
        free_wide_regions: true,
        dword_multiply: true,
        compare_switches: false,
        split_sends: false,
        gotos: true,
        denormal_bits: 0x4c0,
    },
    messages: Messages {
        global: AddressModel::A64,
        a64_lanes: 8,
        a64_atomic_lanes: 8,
        int64_atomics: true,
        typed_header: true,
        sampler_level_zero: false,
        integer_borders: true,
        barrier_mask: 0x0f00_0000,
    },
    payload: Payload { constants: 99, scratch: 2 << 20, thread_number: None },
    // Devices with 6 EUs in a subslice number threads as if there were 8.
    threads: Threads {
        per_eu: 7,
        scratch_subslices: 3,
        scratch_per_subslice: 8 * 7,
        constant_registers: 2016,
    },
    address_space: AddressSpaceKind::Own48,
    local_memory: 64 << 10,
    l3_bank: 128 << 10,
    timestamp_hz: 12_500_000,
    ip_version: Some(IpVersion { architecture: 8, release: 0, revision: 0 }),
};

/// Skylake.
pub(crate) const GEN9: DeviceInfo = DeviceInfo {
    family: Family::Skl,
    generation: Generation::Gen9,
    execution: Execution {
        simd_widths: &[8, 16, 32],
        registers: 128,
        int64: true,
        float64: true,
        half: true,
        halves: false,
        ternary_lanes: 16,
        double_pairs: false,
        free_wide_regions: true,
        dword_multiply: true,
        compare_switches: false,
        split_sends: true,
        gotos: true,
        denormal_bits: 0x4c0,
    },
    messages: Messages {
        global: AddressModel::A64,
        a64_lanes: 16,
        a64_atomic_lanes: 8,
        int64_atomics: true,
        typed_header: false,
        sampler_level_zero: true,
        integer_borders: true,
        barrier_mask: 0x8f00_0000,
    },
    payload: Payload { constants: 99, scratch: 2 << 20, thread_number: None },
    // "Scratch Space per slice is computed based on 4 sub-slices" (3DSTATE_PS).
    threads: Threads {
        per_eu: 7,
        scratch_subslices: 4,
        scratch_per_subslice: 8 * 7,
        constant_registers: 2016,
    },
    address_space: AddressSpaceKind::Own48,
    local_memory: 64 << 10,
    l3_bank: 128 << 10,
    timestamp_hz: 12_000_000,
    ip_version: Some(IpVersion { architecture: 9, release: 0, revision: 9 }),
};
