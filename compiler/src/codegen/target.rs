//! The targets of the compiler, as data.

use gencl_isa::Generation;
use gencl_program::Profile;

/// How messages reach global memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// By addresses of 64 bits.
    A64,
    /// By offsets of 32 bits in the surface of this binding table index, which begins at address 0 and is as
    /// large as the address space.
    Surface(u8),
}

/// Limits of one instruction, by which operations on all lanes are cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// An instruction that writes two registers runs as two halves of 8 channels each, of 4 if it computes
    /// with doubles: its sources have two registers as well, but for scalars and packed words that become
    /// packed dwords (Ivy Bridge manual, Volume 4 Part 3, "Register Region Restrictions"; Mesa's
    /// `get_fpu_lowered_simd_width`).
    pub halves: bool,
    /// Most lanes of an instruction with three sources; of doubles half as many (the same, "Align16": no 16
    /// lanes of dwords and no 8 of doubles on Ivy Bridge; Mesa's `supports_simd16_3src`).
    pub ternary_lanes: u32,
    /// Integers of 64 bits, and immediates: otherwise what is copied are doubles, and constants by their
    /// halves (Ivy Bridge manual, Volume 4 Part 3, "Numeric Data Types", "Immediate Operand").
    pub quadwords: bool,
    /// A double is two channels ([`pairs`](super::pairs)), and both registers of a result get the same ones.
    pub double_pairs: bool,
    /// `sends`: a message's payload in two pieces.
    pub split_sends: bool,
    /// Operations on 64-bit types and multiplications of dwords take operands as others do; otherwise they
    /// must lie alike (Atom line).
    pub wide_as_they_lie: bool,
    /// A comparison without destination needs a thread switch (Mesa's `brw_CMP`:
    /// `WaCMPInstNullDstForcesThreadSwitch`).
    pub compare_switches: bool,
}

/// What code generation has to know of a GPU. Differences between generations are capabilities here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The name that `genclc --target` takes.
    pub name: &'static str,
    /// Which encoding.
    pub generation: Generation,
    /// General registers that allocation may use, 32 bytes each.
    pub registers: u32,
    /// How messages reach memory.
    pub memory: Memory,
    /// Limits of one instruction.
    pub limits: Limits,
    /// Conversions between half and single floats are instructions of their own, and there is no other
    /// arithmetic on half floats.
    pub half_instructions: bool,
    /// `goto` and `join`.
    pub gotos: bool,
    /// Most bytes of scratch memory of a thread (MEDIA_VFE_STATE, "Per Thread Scratch Space").
    pub scratch: u32,
    /// Bits of `g0.5` that number the hardware threads (FFTID), where private memory beyond scratch memory is
    /// a part of a buffer for each number. Beignet's `GenContext::emitStackPointer` has nine for Ivy Bridge.
    pub thread_number: Option<u32>,
    /// Most registers of constants and local ids of a thread. Without cross-thread constants (Ivy Bridge) all
    /// are the thread's own (manual, Volume 2 Part 2, `INTERFACE_DESCRIPTOR_DATA`, Constant URB Entry Read
    /// Length); otherwise there is to be room for a kernel.
    pub constants: u32,
    /// Most lanes of an A64 surface or scattered message (Skylake: 16, Broadwell: 8).
    pub a64_lanes: u32,
    /// Most lanes of an A64 atomic message.
    pub a64_atomic_lanes: u32,
    /// The integer types `Q` and `UQ`. Without them `lower_qwords` runs, and addresses are dwords.
    pub int64: bool,
    /// `mul` of two dwords that lie as others do. Without it products are put together of those with words.
    pub dword_multiply: bool,
    /// Bits of `cr0.0` set at the start: denormals of half, single ([`SINGLE_DENORMALS`]) and double floats
    /// are kept.
    pub denormal_bits: u32,
    /// `sample_lz` and `ld_lz`; otherwise level 0 is a parameter (Mesa's `brw_lower_logical_sends.cpp`).
    pub sampler_level_zero: bool,
    /// Typed messages have a header (Broadwell manual, Volume 7, "Data Port", message headers; Mesa's
    /// `lower_surface_logical_send`).
    pub typed_header: bool,
    /// Bits of `g0.2` that a barrier message carries.
    pub barrier_mask: u32,
}

/// The bit of `cr0.0` that keeps denormals of single floats (manual, Volume 7, "Control Register").
pub const SINGLE_DENORMALS: u32 = 1 << 7;

/// What the targets of Gen9 have.
const GEN9: Target = Target {
    name: "skl",
    generation: Generation::Gen9,
    registers: 128,
    memory: Memory::A64,
    limits: Limits {
        halves: false,
        ternary_lanes: 16,
        quadwords: true,
        double_pairs: false,
        split_sends: true,
        wide_as_they_lie: true,
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
    typed_header: false,
    barrier_mask: 0x8f00_0000,
};

/// What the targets of Gen8 have (Broadwell manual, Volume 7: "A64 Messages", "Message Gateway, BarrierMsg").
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

/// What Gen7.5 has. Barrier: Mesa's `fs_visitor::emit_barrier`.
const GEN75: Target = Target {
    name: "hsw",
    generation: Generation::Gen75,
    memory: Memory::Surface(0),
    limits: Limits {
        halves: true,
        ternary_lanes: 16,
        quadwords: false,
        double_pairs: false,
        split_sends: false,
        wide_as_they_lie: true,
        compare_switches: true,
    },
    half_instructions: true,
    gotos: false,
    int64: false,
    dword_multiply: false,
    denormal_bits: 0xc0,
    sampler_level_zero: false,
    typed_header: true,
    barrier_mask: 0x0f00_0000,
    ..GEN9
};

/// What Gen7 has.
const GEN7: Target = Target {
    name: "ivb",
    generation: Generation::Gen7,
    limits: Limits { ternary_lanes: 8, double_pairs: true, ..GEN75.limits },
    scratch: 12 << 10,
    thread_number: Some(0x1ff),
    constants: 63,
    ..GEN75
};

/// What the Atom line's targets of Gen9 have.
const GEN9_ATOM: Target =
    Target { name: "bxt", limits: Limits { wide_as_they_lie: false, ..GEN9.limits }, ..GEN9 };

/// All targets, oldest first.
const TARGETS: &[Target] = &[
    GEN7,
    Target { name: "byt", ..GEN7 },
    GEN75,
    GEN8,
    Target { name: "chv", limits: Limits { wide_as_they_lie: false, ..GEN8.limits }, ..GEN8 },
    GEN9,
    GEN9_ATOM,
    Target { name: "kbl", ..GEN9 },
    Target { name: "glk", ..GEN9_ATOM },
    Target { name: "cfl", ..GEN9 },
];

impl Target {
    /// What programs for it may use.
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
