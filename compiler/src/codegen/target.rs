//! The targets of the compiler, as data.

use gencl_isa::Generation;
use gencl_program::Profile;

/// How messages address global memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressModel {
    /// 64-bit addresses.
    A64,
    /// 32-bit offsets in the surface with this binding table index, which begins at address 0 and covers the
    /// address space.
    Surface(u8),
}

/// Limits of one instruction; operations on all lanes are split accordingly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// An instruction that writes two registers is executed as two halves of 8 channels each, of 4 with
    /// doubles: its sources must have two registers as well, except scalars and packed words that are
    /// converted to packed dwords (Ivy Bridge manual, Volume 4 Part 3, "Register Region Restrictions"; Mesa's
    /// `get_fpu_lowered_simd_width`).
    pub halves: bool,
    /// Maximum number of lanes of a three-source instruction; half as many with doubles (the same, "Align16":
    /// no 16 lanes of dwords and no 8 of doubles on Ivy Bridge; Mesa's `supports_simd16_3src`).
    pub ternary_lanes: u32,
    /// 64-bit integer types and immediates exist. Otherwise quadwords are copied as doubles, and constants as
    /// two dwords (Ivy Bridge manual, Volume 4 Part 3, "Numeric Data Types", "Immediate Operand").
    pub quadwords: bool,
    /// A double counts as two channels ([`pairs`](super::pairs)), and both registers of a result are written
    /// by the same ones.
    pub double_pairs: bool,
    /// `sends`: a message's payload in two pieces.
    pub split_sends: bool,
    /// Operations on 64-bit types and multiplications of dwords have no additional restrictions on regions;
    /// otherwise their operands must be aligned alike (Atom line).
    pub free_wide_regions: bool,
    /// A comparison without destination needs a thread switch (Mesa's `brw_CMP`:
    /// `WaCMPInstNullDstForcesThreadSwitch`).
    pub compare_switches: bool,
}

/// A target GPU for code generation. Differences between generations are expressed as capabilities.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The name that `genclc --target` takes.
    pub name: &'static str,
    /// The instruction encoding.
    pub generation: Generation,
    /// General registers that allocation may use, 32 bytes each.
    pub registers: u32,
    /// How messages address global memory.
    pub memory: AddressModel,
    /// Limits of one instruction.
    pub limits: Limits,
    /// Conversions between half and single floats are separate instructions (`f32to16`, `f16to32`), and there
    /// is no other arithmetic on half floats.
    pub half_instructions: bool,
    /// `goto` and `join`.
    pub gotos: bool,
    /// Maximum size of a thread's scratch memory in bytes (MEDIA_VFE_STATE, "Per Thread Scratch Space").
    pub scratch: u32,
    /// Bits of `g0.5` with the hardware thread's number (FFTID), on targets where private memory that exceeds
    /// scratch memory is in a buffer with a part for each thread. Beignet's `GenContext::emitStackPointer`
    /// has nine for Ivy Bridge.
    pub thread_number: Option<u32>,
    /// Maximum number of registers of constants and local ids of a thread. Without cross-thread constants
    /// (Ivy Bridge) all are per-thread constants (manual, Volume 2 Part 2, `INTERFACE_DESCRIPTOR_DATA`,
    /// Constant URB Entry Read Length); otherwise the limit leaves registers for the kernel.
    pub constants: u32,
    /// Maximum number of lanes of an A64 surface or scattered message (Skylake: 16, Broadwell: 8).
    pub a64_lanes: u32,
    /// Maximum number of lanes of an A64 atomic message.
    pub a64_atomic_lanes: u32,
    /// The integer types `Q` and `UQ`. Without them `lower_qwords` runs, and addresses are dwords.
    pub int64: bool,
    /// `mul` of two dwords without restrictions on regions. Without it products are computed from 16-bit
    /// partial products.
    pub dword_multiply: bool,
    /// Bits of `cr0.0` set at the start: denormals of half, single ([`SINGLE_DENORMALS`]) and double floats
    /// are kept.
    pub denormal_bits: u32,
    /// `sample_lz` and `ld_lz`; otherwise level 0 is a parameter (Mesa's `brw_lower_logical_sends.cpp`).
    pub sampler_level_zero: bool,
    /// The sampler has border colours of integer formats. Ivy Bridge's are floats only; Haswell's depend on the
    /// format (Mesa's `crocus_upload_border_color`), and Beignet does without them on both (`ocl_image.cl`).
    pub integer_borders: bool,
    /// Typed messages have a header (Broadwell manual, Volume 7, "Data Port", message headers; Mesa's
    /// `lower_surface_logical_send`).
    pub typed_header: bool,
    /// Bits of `g0.2` that a barrier message carries.
    pub barrier_mask: u32,
}

/// The bit of `cr0.0` that keeps denormals of single floats (manual, Volume 7, "Control Register").
pub const SINGLE_DENORMALS: u32 = 1 << 7;

/// Gen9.
const GEN9: Target = Target {
    name: "skl",
    generation: Generation::Gen9,
    registers: 128,
    memory: AddressModel::A64,
    limits: Limits {
        halves: false,
        ternary_lanes: 16,
        quadwords: true,
        double_pairs: false,
        split_sends: true,
        free_wide_regions: true,
        compare_switches: false,
    },
    half_instructions: false,
    gotos: true,
    scratch: 2 << 20,
    thread_number: None,
    constants: 99,
    a64_lanes: 16,
    a64_atomic_lanes: 8,
    int64: true,
    dword_multiply: true,
    denormal_bits: 0x4c0,
    sampler_level_zero: true,
    integer_borders: true,
    typed_header: false,
    barrier_mask: 0x8f00_0000,
};

/// Gen8 (Broadwell manual, Volume 7: "A64 Messages", "Message Gateway, BarrierMsg").
const GEN8: Target = Target {
    name: "bdw",
    generation: Generation::Gen8,
    limits: Limits { split_sends: false, ..GEN9.limits },
    a64_lanes: 8,
    sampler_level_zero: false,
    typed_header: true,
    barrier_mask: 0x0f00_0000,
    ..GEN9
};

/// Gen7.5. Barrier: Mesa's `fs_visitor::emit_barrier`.
const GEN75: Target = Target {
    name: "hsw",
    generation: Generation::Gen75,
    memory: AddressModel::Surface(0),
    limits: Limits {
        halves: true,
        ternary_lanes: 16,
        quadwords: false,
        double_pairs: false,
        split_sends: false,
        free_wide_regions: true,
        compare_switches: true,
    },
    half_instructions: true,
    gotos: false,
    int64: false,
    dword_multiply: false,
    denormal_bits: 0xc0,
    sampler_level_zero: false,
    integer_borders: false,
    typed_header: true,
    barrier_mask: 0x0f00_0000,
    ..GEN9
};

/// Gen7.
const GEN7: Target = Target {
    name: "ivb",
    generation: Generation::Gen7,
    limits: Limits { ternary_lanes: 8, double_pairs: true, ..GEN75.limits },
    scratch: 12 << 10,
    thread_number: Some(0x1ff),
    constants: 63,
    ..GEN75
};

/// Gen9 of the Atom line.
const GEN9_ATOM: Target =
    Target { name: "bxt", limits: Limits { free_wide_regions: false, ..GEN9.limits }, ..GEN9 };

/// All targets, oldest first.
const TARGETS: &[Target] = &[
    GEN7,
    Target { name: "byt", ..GEN7 },
    GEN75,
    GEN8,
    Target { name: "chv", limits: Limits { free_wide_regions: false, ..GEN8.limits }, ..GEN8 },
    GEN9,
    GEN9_ATOM,
    Target { name: "kbl", ..GEN9 },
    Target { name: "glk", ..GEN9_ATOM },
    Target { name: "cfl", ..GEN9 },
];

impl Target {
    /// The OpenCL features and limits of the target.
    pub fn profile(&self) -> &'static Profile {
        Profile::of(self.name)
    }

    /// All targets.
    pub fn all() -> &'static [Target] {
        TARGETS
    }

    /// The target of a name, if there is one.
    pub fn by_name(name: &str) -> Option<&'static Target> {
        TARGETS.iter().find(|t| t.name == name)
    }
}
