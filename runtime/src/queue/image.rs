//! Commands between images and the host: those on rectangles of their bytes.

use std::sync::Arc;

use gencl_i915::HostMemory;

use super::Queue;
use crate::event::CommandKind;
use crate::transfer::image_rect;
use crate::{BufferRect, Event, HostAccess, Image, MapFlags, Result};

impl Queue {
    /// Copies a region of texels between the image and `rect` of the host, which [`Image::host_rect`] has made.
    /// `INVALID_VALUE` out of bounds, `INVALID_OPERATION` when the host may not.
    pub fn transfer_image(
        &self,
        access: HostAccess,
        (image, origin): (&Arc<Image>, [usize; 3]),
        host: (&HostMemory, BufferRect),
        region: [usize; 3],
        waits: &[Arc<Event>],
    ) -> Result<Arc<Event>> {
        let (rect, bytes) = image_rect(self.context(), image, origin, region)?;
        let kind = match access {
            HostAccess::Read => CommandKind::ReadImage,
            HostAccess::Write => CommandKind::WriteImage,
        };
        self.transfer_rect((access, kind), (image.data(), rect), host, bytes, waits)
    }

    /// Maps a region of texels; the memory has the pitches of [`Image::mapped_layout`]. [`Queue::unmap_buffer`] of the image's
    /// bytes gives it back. Errors as [`Queue::map_buffer`].
    pub fn map_image(
        &self,
        image: &Arc<Image>,
        flags: MapFlags,
        origin: [usize; 3],
        region: [usize; 3],
        waits: &[Arc<Event>],
    ) -> Result<(HostMemory, Arc<Event>)> {
        let (rect, bytes) = image_rect(self.context(), image, origin, region)?;
        let rects = (rect, image.mapped_rect(origin));
        self.map_rect(CommandKind::MapImage, image.data(), flags, rects, bytes, waits)
    }
}
