//! The targets of the compiler, as data.

use gencl_isa::Generation;
use gencl_program::Profile;

/// What code generation has to know of a GPU. Differences between generations are capabilities here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The name that `genclc --target` takes.
    pub name: &'static str,
    /// Which encoding.
    pub generation: Generation,
    /// General registers that allocation may use, 32 bytes each.
    pub registers: u32,
    /// `sends`: a message's payload in two pieces.
    pub split_sends: bool,
    /// Most lanes of an A64 surface or scattered message (Skylake: 16, Broadwell: 8).
    pub a64_lanes: u32,
    /// Most lanes of an A64 atomic message.
    pub a64_atomic_lanes: u32,
    /// The integer types `Q` and `UQ`. Without them `lower_qwords` runs, and addresses are dwords.
    pub int64: bool,
    /// Bits of `cr0.0` set at the start: denormals of half, single and double floats are kept.
    pub denormal_bits: u32,
    /// Bits of `g0.2` that a barrier message carries.
    pub barrier_mask: u32,
}

/// What the targets of Gen9 have.
const GEN9: Target = Target {
    name: "skl",
    generation: Generation::Gen9,
    registers: 128,
    split_sends: true,
    a64_lanes: 16,
    a64_atomic_lanes: 8,
    int64: true,
    denormal_bits: 0x4c0,
    barrier_mask: 0x8f00_0000,
};

/// What the targets of Gen8 have (Broadwell manual, Volume 7: "A64 Messages", "Message Gateway, BarrierMsg").
const GEN8: Target = Target {
    name: "bdw",
    generation: Generation::Gen8,
    split_sends: false,
    a64_lanes: 8,
    barrier_mask: 0x0f00_0000,
    ..GEN9
};

/// All targets, oldest first.
const TARGETS: &[Target] = &[GEN8, GEN9, Target { name: "kbl", ..GEN9 }, Target { name: "cfl", ..GEN9 }];

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
