//! The layout of the private memory of a thread's lanes.
//!
//! Private memory is interleaved by granules: the first granule of each lane, then the second of each. If all
//! lanes access the same element of a private array, as loops do, they access contiguous memory. With the
//! memory of each lane contiguous, each lane would access its own cache line. The granule divides all
//! accesses, so that none needs more messages than it would otherwise.

use super::machine_type;
use crate::ir::{Function, Op, Space, Type};

/// Maximum number of contiguous bytes for each lane in a message.
pub const MAX_GRANULE: u32 = 16;

/// Accesses that are split into granules below this need a message for each byte or word.
const DWORD: u32 = 4;

/// Size in bytes of a granule of a kernel's private memory, a power of two. `None`: it is not interleaved,
/// because it is accessed as bytes or words as well as in larger units.
pub fn granule(function: &Function) -> Option<u32> {
    let accesses = || {
        function.instructions().filter_map(|i| {
            let (space, ty, align, elements) = match i.op {
                Op::Load { space, ty, align } => (space, ty, align, i.dsts.len()),
                Op::Store { space, ty, align } => (space, ty, align, i.values().len()),
                _ => return None,
            };
            (space == Space::Private).then(|| (size(ty) * elements as u32, align))
        })
    };
    let common = |(bytes, align): (u32, u32)| 1 << (bytes | align | MAX_GRANULE).trailing_zeros();
    let granule = accesses().map(common).min()?;
    let whole = accesses().all(|(bytes, _)| bytes == granule);
    (granule >= DWORD || whole).then_some(granule)
}

/// Size of an element in bytes. Types that memory does not have are rejected where they are accessed.
fn size(ty: Type) -> u32 {
    machine_type(ty).map_or(0, |ty| ty.size())
}
