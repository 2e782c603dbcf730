//! Tiling: offsets of bytes in a surface.
//!
//! Skylake manual, Volume 5 "Memory Views", "Tiling"; cross-checked with Mesa's `isl_tiled_memcpy.c`. Before
//! Broadwell, bit 6 of addresses depends on others where memory has two channels; the simulated memory has one,
//! and the simulated kernel driver reports no swizzling.

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

    /// Width of a tile in bytes; the pitch must be a multiple.
    pub fn width(self) -> u64 {
        match self {
            Tiling::Linear => 1,
            Tiling::X => 512,
            Tiling::Y => 128,
        }
    }
}
