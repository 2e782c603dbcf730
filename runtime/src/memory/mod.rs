//! Memory objects.

mod buffer;
mod rect;
mod storage;
mod va;

pub use buffer::{Buffer, MapFlags, MemoryFlags};
pub use rect::BufferRect;
pub(crate) use storage::{AddressSpace, Storage, Zone};
