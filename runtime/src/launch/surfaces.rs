//! The binding table of kernels that access memory through one surface.

use super::commands::SurfaceState;
use super::field::MAX_LENGTH;
use super::slot::put_dwords;

/// Bytes of the binding table, which has one entry, and of the surface state behind it.
pub(crate) const SURFACES: usize = 128;

/// Offset of the surface state from the surface state base address, a multiple of 32.
pub(super) const STATE: usize = 64;

/// Bytes of the surface: all addresses of 31 bits. "Width", "Height" and "Depth" hold bits 6:0, 20:7 and
/// 30:21 of the size less one. The manual gives 2^30 as the largest size (Ivy Bridge, Volume 4 Part 1,
/// SURFACE_STATE "Height"), but the fields can hold 2^31, which Beignet's first releases used in the same
/// way.
const SIZE: u64 = 1 << 31;

/// "Surface Type": SURFTYPE_BUFFER.
const BUFFER: u64 = 4;

/// "Surface Format": RAW.
const RAW: u64 = 0x1ff;

/// "Shader Channel Select": red; green, blue and alpha follow.
pub(super) const SELECT_RED: u64 = 4;

/// Writes binding table and surface state. Returns the surface state.
pub(crate) fn write(layout: &SurfaceState, mocs: u64, bytes: &mut [u8]) -> [u32; MAX_LENGTH] {
    bytes.fill(0);
    bytes[..4].copy_from_slice(&(STATE as u32).to_le_bytes());
    let last = SIZE - 1;
    let dwords = layout.layout.pack(&[
        (layout.kind, BUFFER),
        (layout.format, RAW),
        (layout.base, 0),
        (layout.width, last & 0x7f),
        (layout.height, last >> 7 & 0x3fff),
        (layout.depth, last >> 21 & 0x3ff),
        (layout.mocs, mocs),
        (layout.red, SELECT_RED),
        (layout.green, SELECT_RED + 1),
        (layout.blue, SELECT_RED + 2),
        (layout.alpha, SELECT_RED + 3),
    ]);
    put_dwords(&mut bytes[STATE..], &dwords[..layout.layout.length]);
    dwords
}
