//! Memory objects.

mod buffer;
mod rect;
mod shared;
mod storage;
mod va;

pub use buffer::{Buffer, MapFlags, MemoryFlags};
pub use rect::BufferRect;
pub(crate) use shared::SharedMemories;
pub use shared::{MAX_ALIGNMENT, SharedMemory};
pub(crate) use storage::{AddressSpace, Storage, Zone};
