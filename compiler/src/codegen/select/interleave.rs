//! How the private memory of a thread's lanes lies.
//!
//! Where all lanes access the same element of a private array, which is what loops do, it had better be one
//! row in memory: lane by lane the first granule of each, then the second of each. One lane after the other,
//! each element would be in a cache line of its own for each lane. A granule is what all accesses have in
//! common, so that none is cut more than its message would be anyway.

use super::machine_type;
use crate::ir::{Function, Op, Space, Type};

/// The most bytes that a message has side by side for each lane.
pub const LARGEST: u32 = 16;

/// Elements that are smaller take a message for each byte or word when they are cut.
const DWORD: u32 = 4;

/// Bytes of a granule of a kernel's private memory, a power of two; `None` where lanes have theirs one after
/// the other, because bytes or words of it are accessed as well as more at once.
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
    let common = |(bytes, align): (u32, u32)| 1 << (bytes | align | LARGEST).trailing_zeros();
    let granule = accesses().map(common).min()?;
    let whole = accesses().all(|(bytes, _)| bytes == granule);
    (granule >= DWORD || whole).then_some(granule)
}

/// Bytes of an element; a type that has none in memory is refused where it is accessed.
fn size(ty: Type) -> u32 {
    machine_type(ty).map_or(0, |ty| ty.size())
}
