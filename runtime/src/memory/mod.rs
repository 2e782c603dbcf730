//! Memory objects.

mod allocation;
mod buffer;
mod image;
mod rect;
mod shared;
mod storage;
mod va;

pub(crate) use allocation::Allocation;
pub use buffer::{Buffer, HostAccess, MapFlags, MemoryFlags};
pub use image::{
    ChannelOrder, ChannelType, Color, Image, ImageDescriptor, ImageFormat, ImageKind, ImageLimits,
    Layout as ImageLayout,
};
pub use rect::BufferRect;
pub(crate) use rect::{Placed, copy_rect};
pub(crate) use shared::SharedMemories;
pub use shared::{MAX_ALIGNMENT, SharedKind, SharedMemory};
pub(crate) use storage::{AddressSpace, Storage, Zone};
