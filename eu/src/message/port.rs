//! The memory that the data port accesses: shared local memory, surfaces, and the global address space.

use gencl_isa::Generation;

use super::surface_state::{SurfaceLayout, SurfaceState, read_surface_state};
use crate::device::Device;
use crate::dispatch::Launch;
use crate::fault::Fault;
use crate::memory::{AddressSpace, Cursor};

/// The kind of memory that a message accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// Shared local memory (binding table index 254).
    Local,
    /// 32-bit addresses relative to the General State Base Address (255 and 253).
    Stateless,
    /// A surface of the binding table.
    Surface(u8),
    /// 64-bit addresses.
    Global,
}

impl Space {
    /// Bytes of an address in a message with one per channel.
    pub fn address_size(self) -> usize {
        if self == Space::Global { 8 } else { 4 }
    }

    /// The memory that a binding table index refers to (Volume 2d, `MDC_BTS`).
    pub fn of_index(index: u32) -> Space {
        match index {
            254 => Space::Local,
            255 | 253 => Space::Stateless,
            other => Space::Surface(other as u8),
        }
    }
}

/// A [`Space`] with its base and size, in which a message's offset is an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryRegion {
    /// Shared local memory.
    Local,
    /// The global address space from `base` on; offsets from `size` on are out of bounds.
    Memory {
        /// GPU address of offset 0.
        base: u64,
        /// Bytes.
        size: u64,
    },
}

/// Surface types of `RENDER_SURFACE_STATE` (Volume 2d).
const SURFACE_TYPE_BUFFER: u32 = 4;
const SURFACE_TYPE_NULL: u32 = 7;

/// The memory of a buffer surface.
pub fn buffer(state: &SurfaceState, generation: Generation, index: u8) -> Result<MemoryRegion, Fault> {
    let (kind, dimensions, depth) = (state[0] >> 29, state[2], state[3] >> 21);
    let base = SurfaceLayout::of(generation).address(state);
    match kind {
        SURFACE_TYPE_BUFFER => {
            let last = dimensions & 0x7f | (dimensions >> 16 & 0x3fff) << 7 | depth << 21;
            Ok(MemoryRegion::Memory { base, size: u64::from(last) + 1 })
        }
        SURFACE_TYPE_NULL => Ok(MemoryRegion::Memory { base: 0, size: 0 }),
        other => Err(Fault::illegal(format!("surface {index} has type {other}, the message needs a buffer"))),
    }
}

/// Largest address space in which offsets of buffer surfaces reach everything, in bytes.
const WHOLE: u64 = 1 << 31;

/// Whether all these surfaces of a launch are the whole address space of at most 31 bits, so that offsets in
/// them are addresses.
pub fn are_flat(surfaces: &[u8], device: &Device, launch: &Launch, memory: &AddressSpace) -> bool {
    let is_flat = |index: &u8| {
        let state = read_surface_state(launch, device.generation, memory, &mut Cursor::default(), *index);
        let region = state.and_then(|state| buffer(&state, device.generation, *index));
        matches!(region, Ok(MemoryRegion::Memory { base: 0, size }) if size >= WHOLE)
    };
    can_be_flat(surfaces, device) && surfaces.iter().all(is_flat)
}

/// Whether [`are_flat`] holds if each of the surfaces is the whole address space.
pub fn can_be_flat(surfaces: &[u8], device: &Device) -> bool {
    1 << device.address_bits <= WHOLE && !surfaces.is_empty()
}

/// Whether an access of `bytes` at an offset is within a surface that ends at `end`.
pub fn is_inside(offset: u64, bytes: usize, end: u64) -> bool {
    offset.checked_add(bytes as u64).is_some_and(|last| last <= end)
}
