//! Accesses to images.
//!
//! A texel has four channels, each a dword: a float, or a signed or unsigned integer as the image's channel type
//! has it. Which of them the format has, and what the others read, is the surface's matter.

use super::Type;
use gencl_program::SamplerSource;

/// Channels of a texel.
pub const CHANNELS: usize = 4;

/// Most coordinates: those of the image's dimensions and, of arrays, the layer behind them.
pub const MAX_COORDINATES: usize = 3;

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ImageOp {
    /// dst0.. = channels, filtered, at float coordinates src0..: normalised ones go from 0 to 1, others to the size;
    /// the layer is not normalised. Level of detail 0.
    Sample(SamplerSource),
    /// dst0.. = channels of the texel at integer coordinates src0...; zeros outside of the image.
    Load,
    /// channels of the texel at integer coordinates src0.. = the four sources behind these; nothing outside of the
    /// image.
    Write,
}

/// An access to a texel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ImageAccess {
    /// What is done.
    pub op: ImageOp,
    /// The image: number of the kernel's argument.
    pub image: u32,
    /// Type of the channels in registers: `F32`, `S32` or `U32`.
    pub ty: Type,
    /// Number of coordinates, 1 to [`MAX_COORDINATES`].
    pub coordinates: u8,
}

impl ImageAccess {
    /// Whether it writes the image.
    pub fn writes(&self) -> bool {
        matches!(self.op, ImageOp::Write)
    }
}
