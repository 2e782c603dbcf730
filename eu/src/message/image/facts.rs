//! What translated code of image messages is specialised for, and what it reads at run time.

use serde::{Deserialize, Serialize};

use super::filter::Axis;

/// The properties of an image, and of the sampler with which it is read, that code is specialised for.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ImageFacts {
    /// The number of its format, which is one of [`super::SurfaceFormat`].
    pub format: u32,
    /// Number of coordinates of a texel within a slice.
    pub dimensions: u8,
    /// The coordinate after these is the slice.
    pub array: bool,
    /// Shader Channel Select of each channel: 0 and 1 for constants, 4 to 7 for red to alpha.
    pub select: [u8; 4],
    /// How messages that filter do so.
    pub filter: Option<FilterFacts>,
}

/// A filter.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FilterFacts {
    /// Whether it interpolates.
    pub linear: bool,
    /// The axes U, V, R.
    pub axes: [Axis; 3],
}

/// An image of a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageBinding {
    /// The facts.
    pub facts: ImageFacts,
    /// The GPU address of the first texel, a multiple of 4. All texels are in one buffer, and as aligned as their
    /// dwords, or as they are large.
    pub base: u64,
    /// The numbers.
    pub numbers: ImageNumbers,
}

/// The numbers of an image that code reads at run time. Offsets of texels from the first one are less than 2^31.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ImageNumbers {
    /// Size in texels: width, height, depth or slices.
    pub size: [u32; 3],
    /// Bytes from row to row.
    pub pitch: u32,
    /// Bytes from slice to slice.
    pub slice: u32,
    /// The border colour, red to alpha.
    pub border: [u32; 4],
}
