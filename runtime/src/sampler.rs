//! Samplers: addressing and filtering of image reads.

use std::sync::Arc;

use crate::Context;
use crate::values::values;

values! {
    /// `cl_addressing_mode`
    AddressingMode {
        None = 0x1130,
        ClampToEdge = 0x1131,
        Clamp = 0x1132,
        Repeat = 0x1133,
        MirroredRepeat = 0x1134,
    }
}

values! {
    /// `cl_filter_mode`
    FilterMode {
        Nearest = 0x1140,
        Linear = 0x1141,
    }
}

/// A sampler.
#[derive(Debug)]
pub struct Sampler {
    context: Arc<Context>,
    /// Whether coordinates are normalised to the range from 0 to 1.
    pub normalized: bool,
    /// Coordinates outside the image.
    pub addressing: AddressingMode,
    /// Coordinates between texels.
    pub filter: FilterMode,
}

impl Sampler {
    /// Makes a sampler.
    pub fn new(
        context: &Arc<Context>,
        normalized: bool,
        addressing: AddressingMode,
        filter: FilterMode,
    ) -> Arc<Self> {
        Arc::new(Self { context: context.clone(), normalized, addressing, filter })
    }

    /// Fields of a sampler's number in OpenCL C, with the values of `CLK_*` in clang's `opencl-c-base.h`.
    pub(crate) const NORMALIZED: u32 = 1;
    pub(crate) const ADDRESSING: u32 = 0xe;
    pub(crate) const CLAMP_TO_EDGE: u32 = 2;
    pub(crate) const CLAMP: u32 = 4;
    pub(crate) const REPEAT: u32 = 6;
    pub(crate) const MIRRORED_REPEAT: u32 = 8;
    pub(crate) const NEAREST: u32 = 0x10;
    pub(crate) const LINEAR: u32 = 0x20;

    /// The number that the source of a kernel would have for this sampler.
    pub(crate) fn number(&self) -> u32 {
        let addressing = match self.addressing {
            AddressingMode::None => 0,
            AddressingMode::ClampToEdge => Self::CLAMP_TO_EDGE,
            AddressingMode::Clamp => Self::CLAMP,
            AddressingMode::Repeat => Self::REPEAT,
            AddressingMode::MirroredRepeat => Self::MIRRORED_REPEAT,
        };
        let filter = match self.filter {
            FilterMode::Nearest => Self::NEAREST,
            FilterMode::Linear => Self::LINEAR,
        };
        (u32::from(self.normalized) * Self::NORMALIZED) | addressing | filter
    }

    /// Its context.
    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }
}
