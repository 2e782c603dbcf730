//! RENDER_SURFACE_STATE: where it is, and the fields that all messages need.

use gencl_isa::Generation;

use crate::dispatch::Launch;
use crate::fault::Fault;
use crate::memory::{AddressSpace, Cursor};

/// Maximum size of `RENDER_SURFACE_STATE` in dwords.
pub const SURFACE_STATE_DWORDS: usize = 16;

/// The dwords of a surface state.
pub type SurfaceState = [u32; SURFACE_STATE_DWORDS];

/// Reads the surface state of a binding table index of a launch; dwords that the generation does not have are
/// 0.
pub fn read_surface_state(
    launch: &Launch,
    generation: Generation,
    memory: &AddressSpace,
    cursor: &mut Cursor,
    index: u8,
) -> Result<SurfaceState, Fault> {
    let bases = &launch.bases;
    let entry = bases.surface + u64::from(launch.binding_table) + u64::from(index) * 4;
    let layout = SurfaceLayout::of(generation);
    let state = bases.surface + u64::from(memory.read_u32(cursor, entry)? & layout.pointer);
    let mut bytes = [0; SURFACE_STATE_DWORDS * 4];
    memory.read(cursor, state, &mut bytes[..layout.dwords * 4])?;
    Ok(bytemuck::cast(bytes))
}

/// The layout of `RENDER_SURFACE_STATE` in a generation.
pub struct SurfaceLayout {
    /// Its size in dwords.
    pub dwords: usize,
    /// Mask of the surface state's offset in a binding table entry.
    pub pointer: u32,
    /// The dword with the Surface Base Address.
    base: usize,
    /// Whether the next dword is its upper half.
    wide: bool,
}

/// Gen7, Gen7.5 (Ivy Bridge and Haswell, "SURFACE_STATE"), Gen8, Gen9 (Volume 2d). The size of a buffer is in
/// the same bits in all of them.
const SURFACES: [SurfaceLayout; Generation::ALL.len()] = {
    const NARROW: SurfaceLayout = SurfaceLayout { dwords: 8, pointer: !0x1f, base: 1, wide: false };
    const WIDE: SurfaceLayout = SurfaceLayout { dwords: 16, pointer: !0x3f, base: 8, wide: true };
    [NARROW, NARROW, WIDE, WIDE]
};

impl SurfaceLayout {
    /// The layout of a generation.
    pub fn of(generation: Generation) -> &'static SurfaceLayout {
        &SURFACES[generation.column()]
    }

    /// The Surface Base Address.
    pub fn address(&self, state: &SurfaceState) -> u64 {
        let high = if self.wide { state[self.base + 1] } else { 0 };
        u64::from(state[self.base]) | u64::from(high) << 32
    }
}
