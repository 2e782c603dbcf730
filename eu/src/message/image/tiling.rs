//! Tiling: offsets of bytes in a surface.
//!
//! Skylake manual, Volume 5 "Memory Views", "Tiling"; cross-checked with Mesa's `isl_tiled_memcpy.c`. Before
//! Broadwell, bit 6 of addresses depends on others where memory has two channels; the simulated memory has one,
//! and the simulated kernel driver reports no swizzling.

use super::values::{Lanes, each};

/// The order of bytes in a surface (RENDER_SURFACE_STATE, "Tile Mode").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tiling {
    /// Row by row.
    Linear,
    /// Tiles of 512 bytes x 8 rows, row by row within a tile.
    X,
    /// Tiles of 128 bytes x 32 rows, in columns of 16 bytes within a tile.
    Y,
}

impl Tiling {
    /// The offset of byte `x` of row `y`, for a pitch that is a multiple of the tile's width.
    pub fn offset(self, pitch: u64, x: u64, y: u64) -> u64 {
        match self {
            Tiling::Linear => y * pitch + x,
            Tiling::X => y / 8 * 8 * pitch + x / 512 * 4096 + y % 8 * 512 + x % 512,
            Tiling::Y => y / 32 * 32 * pitch + x / 128 * 4096 + x % 128 / 16 * 512 + y % 32 * 16 + x % 16,
        }
    }

    /// The part of [`Tiling::offset`] that depends on `x`, for all channels.
    #[inline]
    pub fn columns<const N: usize>(self, x: &Lanes<u32>) -> Lanes<u32> {
        match self {
            Tiling::Linear => *x,
            Tiling::X => each::<N, _>(|lane| x[lane] / 512 * 4096 + x[lane] % 512),
            Tiling::Y => each::<N, _>(|lane| x[lane] / 128 * 4096 + x[lane] % 128 / 16 * 512 + x[lane] % 16),
        }
    }

    /// The part of [`Tiling::offset`] that depends on `y`, for all channels.
    #[inline]
    pub fn rows<const N: usize>(self, pitch: u32, y: &Lanes<u32>) -> Lanes<u32> {
        match self {
            Tiling::Linear => each::<N, _>(|lane| y[lane].wrapping_mul(pitch)),
            Tiling::X => each::<N, _>(|lane| (y[lane] / 8 * 8).wrapping_mul(pitch) + y[lane] % 8 * 512),
            Tiling::Y => each::<N, _>(|lane| (y[lane] / 32 * 32).wrapping_mul(pitch) + y[lane] % 32 * 16),
        }
    }

    /// An upper bound of the offsets of all bytes before `end` in the rows up to `y`.
    pub fn end(self, pitch: u64, end: u64, y: u64) -> u64 {
        match self {
            Tiling::Linear => y * pitch + end,
            Tiling::X => y / 8 * 8 * pitch + end.div_ceil(512) * 4096,
            Tiling::Y => y / 32 * 32 * pitch + end.div_ceil(128) * 4096,
        }
    }

    /// Width of a tile in bytes; the pitch must be a multiple.
    pub fn width(self) -> u64 {
        match self {
            Tiling::Linear => 1,
            Tiling::X => 512,
            Tiling::Y => 128,
        }
    }
}
