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
    /// Are coordinates normalised to the range from 0 to 1?
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

    /// Its context.
    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }
}
