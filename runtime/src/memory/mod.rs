//! Memory objects.

mod allocation;
mod buffer;
mod image;
mod rect;
mod shadow;
mod shared;
mod storage;
mod va;

pub(crate) use allocation::Allocation;
pub use buffer::{Buffer, HostAccess, MapFlags, MemoryFlags};
pub use image::{
    ChannelOrder, ChannelType, Color, Image, ImageDescriptor, ImageFormat, ImageKind, ImageLayout,
    ImageLimits,
};
pub use rect::BufferRect;
pub(crate) use rect::{PlacedRect, copy_rect};
pub use shared::{MAX_ALIGNMENT, SharedKind, SharedMemory};
pub(crate) use shared::{SharedList, SharedMemories};
pub(crate) use storage::{AddressSpace, Storage, Zone};
