//! Commands on images: those on rectangles of their bytes.

use std::sync::Arc;

use gencl_i915::HostMemory;

use super::Queue;
use super::transfer::fill;
use crate::event::CommandKind;
use crate::memory::{PlacedRect, copy_rect};
use crate::{Buffer, BufferRect, Code, Color, Error, Event, HostAccess, Image, ImageKind, MapFlags, Result};

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
        let (rect, bytes) = self.image_rect(image, origin, region)?;
        let kind = match access {
            HostAccess::Read => CommandKind::ReadImage,
            HostAccess::Write => CommandKind::WriteImage,
        };
        self.transfer_rect((access, kind), (image.data(), rect), host, bytes, waits)
    }

    /// Fills a region of texels with a color. `INVALID_VALUE` out of bounds.
    pub fn fill_image(
        &self,
        image: &Arc<Image>,
        color: Color,
        origin: [usize; 3],
        region: [usize; 3],
        waits: &[Arc<Event>],
    ) -> Result<Arc<Event>> {
        let (rect, bytes) = self.image_rect(image, origin, region)?;
        let texel = image.layout().format.pack(color);
        let data = image.data().clone();
        self.push_copy(CommandKind::FillImage, waits, move || {
            for z in 0..bytes[2] {
                for y in 0..bytes[1] {
                    fill(&data.memory(), &texel, rect.row(y, z), bytes[0]);
                }
            }
        })
    }

    /// Copies a region of texels from image to image. `IMAGE_FORMAT_MISMATCH`, `INVALID_VALUE` out of bounds,
    /// `MEM_COPY_OVERLAP`.
    pub fn copy_image(
        &self,
        from: (&Arc<Image>, [usize; 3]),
        to: (&Arc<Image>, [usize; 3]),
        region: [usize; 3],
        waits: &[Arc<Event>],
    ) -> Result<Arc<Event>> {
        if from.0.layout().format != to.0.layout().format {
            return Err(Code::ImageFormatMismatch.into());
        }
        let (from_rect, bytes) = self.image_rect(from.0, from.1, region)?;
        let (to_rect, _) = self.image_rect(to.0, to.1, region)?;
        let (from, to) = (from.0.data().clone(), to.0.data().clone());
        if Arc::ptr_eq(from.storage(), to.storage()) {
            let placed = |data: &Buffer, rect| PlacedRect { begin: data.begin(), rect, region: bytes };
            if placed(&from, from_rect).overlaps(placed(&to, to_rect)) {
                return Err(Code::MemCopyOverlap.into());
            }
        }
        self.push_copy(CommandKind::CopyImage, waits, move || {
            copy_rect(&from.memory(), from_rect, &to.memory(), to_rect, bytes);
        })
    }

    /// Copies a region of texels to a buffer, one after the other from `offset` on. `INVALID_VALUE` out of
    /// bounds, `INVALID_MEM_OBJECT` when the image is one of one dimension and made of the buffer.
    pub fn copy_image_to_buffer(
        &self,
        from: &Arc<Image>,
        origin: [usize; 3],
        region: [usize; 3],
        to: &Arc<Buffer>,
        offset: usize,
        waits: &[Arc<Event>],
    ) -> Result<Arc<Event>> {
        let (from_rect, bytes) = self.image_rect(from, origin, region)?;
        let to_rect = self.buffer_rect(from, to, offset, bytes)?;
        let (from, to) = (from.data().clone(), to.clone());
        self.push_copy(CommandKind::CopyImageToBuffer, waits, move || {
            copy_rect(&from.memory(), from_rect, &to.memory(), to_rect, bytes);
        })
    }

    /// Copies texels from a buffer to a region. Errors as [`Queue::copy_image_to_buffer`].
    pub fn copy_buffer_to_image(
        &self,
        from: &Arc<Buffer>,
        offset: usize,
        to: &Arc<Image>,
        origin: [usize; 3],
        region: [usize; 3],
        waits: &[Arc<Event>],
    ) -> Result<Arc<Event>> {
        let (to_rect, bytes) = self.image_rect(to, origin, region)?;
        let from_rect = self.buffer_rect(to, from, offset, bytes)?;
        let (from, to) = (from.clone(), to.data().clone());
        self.push_copy(CommandKind::CopyBufferToImage, waits, move || {
            copy_rect(&from.memory(), from_rect, &to.memory(), to_rect, bytes);
        })
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
        let (rect, bytes) = self.image_rect(image, origin, region)?;
        let rects = (rect, image.mapped_rect(origin));
        self.map_rect(CommandKind::MapImage, image.data(), flags, rects, bytes, waits)
    }

    /// Where a region of texels is in an image's bytes.
    fn image_rect(
        &self,
        image: &Arc<Image>,
        origin: [usize; 3],
        region: [usize; 3],
    ) -> Result<(BufferRect, [usize; 3])> {
        self.same_context(image.data().context())?;
        image.check_region(origin, region)?;
        Ok((image.rect(origin), image.bytes(region)))
    }

    /// Where the bytes of a region are in a buffer that has them one after the other.
    fn buffer_rect(
        &self,
        image: &Arc<Image>,
        buffer: &Arc<Buffer>,
        offset: usize,
        bytes: [usize; 3],
    ) -> Result<BufferRect> {
        self.same_context(buffer.context())?;
        let parent = image.data().parent().filter(|_| image.layout().kind == ImageKind::Image1DBuffer);
        if parent.is_some_and(|parent| Arc::ptr_eq(parent, buffer)) {
            return Err(Error::new(Code::InvalidMemObject, "the image is made of the buffer"));
        }
        buffer.check_range(offset, bytes.iter().product())?;
        BufferRect { origin: [offset, 0, 0], ..BufferRect::default() }.resolve(bytes)
    }
}
