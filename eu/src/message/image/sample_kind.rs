//! The operations of messages to the sampler, and their parameters.
//!
//! Sources as in `shared_function/sampler.rs`.

use gencl_isa::Generation;

use super::rules::{self, Rules};

/// The operation of a message to the sampler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SampleKind {
    /// `sample`: filtered, with the level of detail derived from neighbouring channels.
    Sample,
    /// `sample_b`: as `sample`, with a bias of the level of detail.
    Bias,
    /// `sample_l`: filtered, with a level of detail.
    Level,
    /// `sample_lz`: filtered, level 0.
    LevelZero,
    /// `ld`: a texel, unfiltered.
    Load,
    /// `ld_lz`: a texel of level 0, unfiltered.
    LoadLevelZero,
    /// `resinfo`: sizes.
    ResourceInfo,
}

impl SampleKind {
    /// Decodes the message type of the descriptor; `None` for those that are not simulated.
    pub fn of_type(number: u32) -> Option<SampleKind> {
        Some(match number {
            0 => SampleKind::Sample,
            1 => SampleKind::Bias,
            2 => SampleKind::Level,
            7 => SampleKind::Load,
            10 => SampleKind::ResourceInfo,
            24 => SampleKind::LevelZero,
            26 => SampleKind::LoadLevelZero,
            _ => return None,
        })
    }

    /// The parameters, in the order of the payload.
    pub fn parameters(self, rules: &Rules) -> &'static [Parameter] {
        use Parameter::{Level, R, U, V};
        match self {
            SampleKind::Sample | SampleKind::LevelZero | SampleKind::LoadLevelZero => &[U, V, R],
            SampleKind::Bias | SampleKind::Level => &[Level, U, V, R],
            SampleKind::Load if rules.load_level_third => &[U, V, Level, R],
            SampleKind::Load => &[U, Level, V, R],
            SampleKind::ResourceInfo => &[Level],
        }
    }

    /// As [`SampleKind::parameters`], for a generation.
    pub fn parameters_in(self, generation: Generation) -> &'static [Parameter] {
        self.parameters(rules::of(generation))
    }

    /// Whether it uses a sampler.
    pub fn is_filtered(self) -> bool {
        !matches!(self, SampleKind::Load | SampleKind::LoadLevelZero | SampleKind::ResourceInfo)
    }

    /// Whether a generation has this message.
    pub fn exists(self, rules: &Rules) -> bool {
        rules.level_zero_messages || !matches!(self, SampleKind::LevelZero | SampleKind::LoadLevelZero)
    }
}

/// A parameter of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parameter {
    /// First coordinate.
    U,
    /// Second coordinate.
    V,
    /// Third coordinate.
    R,
    /// Level of detail, or its bias.
    Level,
}
