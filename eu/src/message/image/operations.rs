//! Messages that access images: typed messages and media blocks of the data port, and those to the sampler.

use super::sample_kind::SampleKind;
use crate::message::atomic::AtomicOperation;

/// The half of the header's sample mask that applies ("Slot Group").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlotGroup {
    /// Samples 7:0.
    Low,
    /// Samples 15:8.
    High,
}

impl SlotGroup {
    /// The first of the header's samples.
    pub fn first_sample(self) -> u32 {
        match self {
            SlotGroup::Low => 0,
            SlotGroup::High => 8,
        }
    }
}

/// A typed surface read or write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Typed {
    /// Binding table index.
    pub surface: u8,
    /// Whether it is a write.
    pub write: bool,
    /// Mask of the texel's channels that are transferred, red in bit 0.
    pub components: u8,
    /// Slot group.
    pub slots: SlotGroup,
}

/// A typed atomic operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TypedAtomic {
    /// Binding table index.
    pub surface: u8,
    /// Operation.
    pub operation: AtomicOperation,
    /// Whether it returns the old value.
    pub returns: bool,
    /// Slot group.
    pub slots: SlotGroup,
}

/// The descriptor's override of interlacing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowOverride {
    /// None: that of the surface state applies.
    None,
    /// Whole frames.
    Frames,
    /// Fields of frames: every other row.
    Fields,
}

/// A media block read or write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MediaBlock {
    /// Binding table index.
    pub surface: u8,
    /// Whether it is a write.
    pub write: bool,
    /// Interlacing.
    pub rows: RowOverride,
}

/// A message to the sampler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Binding table index.
    pub surface: u8,
    /// Index of the sampler state.
    pub sampler: u8,
    /// The operation.
    pub kind: SampleKind,
    /// Channels of the message: 8 or 16.
    pub simd: usize,
    /// The response has 16 bits per value.
    pub half: bool,
}
