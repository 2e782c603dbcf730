//! What modules may require: capabilities (SPIR-V 1.6, 3.2.30 "Capability"), extensions, sets of extended
//! instructions.

use std::ffi::CStr;

use Kind::{Tolerated, Whole};
use rspirv::spirv::Capability as C;

use crate::environment::Features;

/// Whether a capability is among those that the device reports.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// All that it allows is supported.
    Whole,
    /// Producers declare it although the module does without it, or a part of what it allows is not
    /// supported. The instructions behind it are looked at one by one.
    Tolerated,
}

/// Which devices have something.
type Has = fn(&Features) -> bool;

const ALL: Has = |_| true;

/// What modules may require, and the devices that have it.
#[rustfmt::skip]
const CAPABILITIES: &[(C, Kind, Has)] = &[
    (C::Matrix, Tolerated, ALL),
    (C::Shader, Tolerated, ALL),
    (C::Addresses, Whole, ALL),
    (C::Linkage, Whole, ALL),
    (C::Kernel, Whole, ALL),
    (C::Vector16, Whole, ALL),
    (C::Float16Buffer, Whole, ALL),
    (C::Float16, Whole, |f| f.half),
    (C::Float64, Whole, |f| f.double),
    (C::Int64, Whole, ALL),
    (C::Int64Atomics, Whole, |f| f.long_atomics),
    (C::Int16, Whole, ALL),
    (C::Int8, Whole, ALL),
    (C::ImageBasic, Whole, ALL),
    (C::ImageReadWrite, Whole, ALL),
    (C::LiteralSampler, Whole, ALL),
    (C::Sampled1D, Whole, ALL),
    (C::Image1D, Whole, ALL),
    (C::SampledBuffer, Whole, ALL),
    (C::ImageBuffer, Whole, ALL),
    (C::Groups, Whole, ALL),
    (C::GenericPointer, Whole, |f| f.generic_pointers),
    (C::SubgroupDispatch, Whole, ALL),
    (C::UniformDecoration, Whole, ALL),
    (C::GroupNonUniform, Whole, ALL),
    (C::GroupNonUniformVote, Whole, ALL),
    (C::GroupNonUniformArithmetic, Whole, ALL),
    (C::GroupNonUniformBallot, Whole, ALL),
    (C::GroupNonUniformShuffle, Whole, ALL),
    (C::GroupNonUniformShuffleRelative, Whole, ALL),
    (C::GroupNonUniformClustered, Whole, ALL),
    (C::GroupNonUniformRotateKHR, Whole, ALL),
    (C::GroupUniformArithmeticKHR, Whole, ALL),
    (C::SubgroupBallotKHR, Tolerated, ALL),
    (C::SubgroupVoteKHR, Tolerated, ALL),
    (C::BitInstructions, Whole, ALL),
    (C::DotProduct, Whole, ALL),
    (C::DotProductInput4x8Bit, Whole, ALL),
    (C::DotProductInput4x8BitPacked, Whole, ALL),
    (C::DotProductInputAll, Whole, ALL),
    (C::ExpectAssumeKHR, Whole, ALL),
    (C::ShaderClockKHR, Whole, ALL),
    (C::SplitBarrierINTEL, Whole, ALL),
    (C::OptNoneEXT, Whole, ALL),
    (C::AtomicFloat32AddEXT, Whole, ALL),
    (C::AtomicFloat64AddEXT, Whole, |f| f.double && f.long_atomics),
    (C::AtomicFloat32MinMaxEXT, Whole, ALL),
    (C::AtomicFloat64MinMaxEXT, Whole, |f| f.double && f.long_atomics),
    (C::FPMaxErrorINTEL, Whole, ALL),
    (C::UnstructuredLoopControlsINTEL, Whole, ALL),
    (C::SubgroupShuffleINTEL, Whole, ALL),
    (C::SubgroupBufferBlockIOINTEL, Whole, ALL),
    (C::SubgroupImageBlockIOINTEL, Whole, ALL),
    (C::SubgroupImageMediaBlockIOINTEL, Whole, ALL),
    (C::FPFastMathModeINTEL, Whole, ALL),
    (C::MemoryAccessAliasingINTEL, Whole, ALL),
    (C::ArbitraryPrecisionIntegersALTERA, Tolerated, ALL),
];

/// Extensions that work, and the devices that have them. Modules may name others: what is behind them is
/// looked at.
#[rustfmt::skip]
const EXTENSIONS: &[(&CStr, Has)] = &[
    (c"SPV_KHR_no_integer_wrap_decoration", ALL),
    (c"SPV_KHR_linkonce_odr", ALL),
    (c"SPV_KHR_expect_assume", ALL),
    (c"SPV_KHR_subgroup_rotate", ALL),
    (c"SPV_KHR_uniform_group_instructions", ALL),
    (c"SPV_KHR_non_semantic_info", ALL),
    (c"SPV_KHR_bit_instructions", ALL),
    (c"SPV_KHR_integer_dot_product", ALL),
    (c"SPV_KHR_shader_clock", ALL),
    (c"SPV_EXT_optnone", ALL),
    (c"SPV_EXT_shader_atomic_float_add", ALL),
    (c"SPV_EXT_shader_atomic_float_min_max", ALL),
    (c"SPV_INTEL_subgroups", ALL),
    (c"SPV_INTEL_split_barrier", ALL),
    (c"SPV_INTEL_media_block_io", ALL),
    (c"SPV_INTEL_unstructured_loop_controls", ALL),
    (c"SPV_INTEL_memory_access_aliasing", ALL),
    (c"SPV_INTEL_fp_fast_math_mode", ALL),
    (c"SPV_INTEL_fp_max_error", ALL),
];

/// What the instructions of a set are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Set {
    /// OpenCL C's built-in functions.
    OpenCl,
    /// Functions and scopes of the source; numbers are literals.
    DebugInfo,
    /// The same, and lines; numbers are ids of constants.
    ShaderDebugInfo,
    /// What changes no meaning.
    Ignored,
}

/// Sets of extended instructions by their names.
const SETS: &[(&CStr, Set)] = &[
    (c"OpenCL.std", Set::OpenCl),
    (c"OpenCL.DebugInfo.100", Set::DebugInfo),
    (c"DebugInfo", Set::DebugInfo),
    (c"NonSemantic.Shader.DebugInfo.100", Set::ShaderDebugInfo),
];

/// The numbers of the capabilities that devices with these features support completely.
pub fn capabilities(features: Features) -> impl Iterator<Item = u32> {
    let rows = CAPABILITIES.iter().filter(move |(_, kind, has)| *kind == Whole && has(&features));
    rows.map(|(capability, ..)| *capability as u32)
}

/// The names of the extensions of SPIR-V that devices with these features support.
pub fn extensions(features: Features) -> impl Iterator<Item = &'static CStr> {
    EXTENSIONS.iter().filter(move |(_, has)| has(&features)).map(|(name, _)| *name)
}

/// The names of the sets of extended instructions that modules may import.
pub fn instruction_sets() -> impl Iterator<Item = &'static CStr> {
    SETS.iter().map(|(name, _)| *name)
}

/// Whether modules for devices with these features may require a capability.
///
/// # Errors
/// What is wrong with it, by its name.
pub(crate) fn check(number: u32, features: Features) -> Result<(), String> {
    let capability = C::from_u32(number);
    let name = capability.map_or(number.to_string(), |capability| format!("{capability:?}"));
    match CAPABILITIES.iter().find(|row| Some(row.0) == capability) {
        None => Err(format!("capability {name} is not supported")),
        Some((.., has)) if !has(&features) => Err(format!("the device lacks the capability {name}")),
        Some(_) => Ok(()),
    }
}

/// The set with a name.
pub(crate) fn set(name: &str) -> Option<Set> {
    let known = SETS.iter().find(|row| row.0.to_bytes() == name.as_bytes()).map(|row| row.1);
    known.or_else(|| name.starts_with("NonSemantic.").then_some(Set::Ignored))
}
