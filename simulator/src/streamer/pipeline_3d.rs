//! State of the 3D pipeline with which drivers begin a context, GPGPU work or not.
//!
//! Nothing is drawn, so it has no effect, and fields have no names: only the bits count that may be set. Sources as
//! of `layouts.rs`; a test compares.

use super::Streamer;
use super::command::Flow;
use super::field::{Field, Packet, Positions, all, from7, from8, from9, from75};
use gencl_eu::fault::Fault;

/// Fields without names.
const fn bits(positions: Positions) -> Field {
    Field { name: "", positions }
}

pub const WM_CHROMAKEY: &[Field] = &[bits(from8(63, 63))];
pub const WM_HZ_OP: &[Field] = &[bits(from8(45, 55)), HZ_OPERATIONS, bits(from8(64, 143))];
pub const DRAWING_RECTANGLE: &[Field] = &[bits(from75(14, 15)), bits(all(32, 127))];
pub const POLY_STIPPLE_OFFSET: &[Field] = &[bits(all(32, 36)), bits(all(40, 44))];
pub const AA_LINE_PARAMETERS: &[Field] = &[
    bits(from7(32, 39).from8(32, 63)),
    bits(all(48, 55)),
    bits(from7(64, 71).from8(64, 95)),
    bits(all(80, 87)),
];
pub const PUSH_CONSTANT_ALLOC: &[Field] =
    &[bits(from7(32, 36).from75(32, 37)), bits(from7(48, 51).from75(48, 52))];
pub const SAMPLE_PATTERN: &[Field] = &[bits(from9(32, 159)), bits(from8(160, 279))];

/// Clears and resolves of depth and stencil buffers, and how.
const HZ_OPERATIONS: Field = bits(from8(57, 63));

/// 3DSTATE_WM_HZ_OP: with any of its enables it begins to draw (Volume 2a).
pub fn wm_hz_op(_: &mut Streamer<'_>, packet: Packet<'_>) -> Result<Flow, Fault> {
    if packet.is_set(HZ_OPERATIONS) {
        return Err(Fault::unsupported("3DSTATE_WM_HZ_OP with an operation on depth or stencil buffers"));
    }
    Ok(Flow::Next)
}
