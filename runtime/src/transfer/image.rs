//! Commands on images: those on rectangles of their bytes.

use std::sync::Arc;

use super::buffer::fill;
use super::{Transfer, accesses};
use crate::conflicts::AccessKind;
use crate::event::CommandKind;
use crate::memory::{PlacedRect, copy_rect};
use crate::{Buffer, BufferRect, Code, Color, Context, Error, Image, ImageKind, Result};

impl Transfer {
    /// Fills a region of texels with a color. `INVALID_VALUE` out of bounds.
    pub fn fill_image(
        context: &Arc<Context>,
        image: &Arc<Image>,
        color: Color,
        origin: [usize; 3],
        region: [usize; 3],
    ) -> Result<Self> {
        let (rect, bytes) = image_rect(context, image, origin, region)?;
        let texel = image.layout().format.pack(color);
        let data = image.data().clone();
        let accesses = accesses(context, || [data.access(AccessKind::Write, rect, bytes)]);
        Ok(Self::new(CommandKind::FillImage, accesses, move || {
            for z in 0..bytes[2] {
                for y in 0..bytes[1] {
                    fill(&data.memory(), &texel, rect.row(y, z), bytes[0]);
                }
            }
        }))
    }

    /// Copies a region of texels from image to image. `IMAGE_FORMAT_MISMATCH`, `INVALID_VALUE` out of bounds,
    /// `MEM_COPY_OVERLAP`.
    pub fn copy_image(
        context: &Arc<Context>,
        from: (&Arc<Image>, [usize; 3]),
        to: (&Arc<Image>, [usize; 3]),
        region: [usize; 3],
    ) -> Result<Self> {
        if from.0.layout().format != to.0.layout().format {
            return Err(Code::ImageFormatMismatch.into());
        }
        let (from_rect, bytes) = image_rect(context, from.0, from.1, region)?;
        let (to_rect, _) = image_rect(context, to.0, to.1, region)?;
        let (from, to) = (from.0.data().clone(), to.0.data().clone());
        if Arc::ptr_eq(from.storage(), to.storage()) {
            let placed = |data: &Buffer, rect| PlacedRect { begin: data.begin(), rect, region: bytes };
            if placed(&from, from_rect).overlaps(placed(&to, to_rect)) {
                return Err(Code::MemCopyOverlap.into());
            }
        }
        let accesses = accesses(context, || {
            [from.access(AccessKind::Read, from_rect, bytes), to.access(AccessKind::Write, to_rect, bytes)]
        });
        Ok(Self::new(CommandKind::CopyImage, accesses, move || {
            copy_rect(&from.memory(), from_rect, &to.memory(), to_rect, bytes);
        }))
    }

    /// Copies a region of texels to a buffer, one after the other from `offset` on. `INVALID_VALUE` out of
    /// bounds, `INVALID_MEM_OBJECT` when the image is one of one dimension and made of the buffer.
    pub fn copy_image_to_buffer(
        context: &Arc<Context>,
        from: &Arc<Image>,
        origin: [usize; 3],
        region: [usize; 3],
        to: &Arc<Buffer>,
        offset: usize,
    ) -> Result<Self> {
        let (from_rect, bytes) = image_rect(context, from, origin, region)?;
        let to_rect = buffer_rect(context, from, to, offset, bytes)?;
        let (from, to) = (from.data().clone(), to.clone());
        let accesses = accesses(context, || {
            [from.access(AccessKind::Read, from_rect, bytes), to.access(AccessKind::Write, to_rect, bytes)]
        });
        Ok(Self::new(CommandKind::CopyImageToBuffer, accesses, move || {
            copy_rect(&from.memory(), from_rect, &to.memory(), to_rect, bytes);
            to.define(to_rect, bytes);
        }))
    }

    /// Copies texels from a buffer to a region. Errors as [`Transfer::copy_image_to_buffer`].
    pub fn copy_buffer_to_image(
        context: &Arc<Context>,
        from: &Arc<Buffer>,
        offset: usize,
        to: &Arc<Image>,
        origin: [usize; 3],
        region: [usize; 3],
    ) -> Result<Self> {
        let (to_rect, bytes) = image_rect(context, to, origin, region)?;
        let from_rect = buffer_rect(context, to, from, offset, bytes)?;
        let (from, to) = (from.clone(), to.data().clone());
        let accesses = accesses(context, || {
            [from.access(AccessKind::Read, from_rect, bytes), to.access(AccessKind::Write, to_rect, bytes)]
        });
        Ok(Self::new(CommandKind::CopyBufferToImage, accesses, move || {
            copy_rect(&from.memory(), from_rect, &to.memory(), to_rect, bytes);
        }))
    }
}

/// Where a region of texels is in an image's bytes.
pub(crate) fn image_rect(
    context: &Arc<Context>,
    image: &Arc<Image>,
    origin: [usize; 3],
    region: [usize; 3],
) -> Result<(BufferRect, [usize; 3])> {
    context.check_same(image.data().context())?;
    image.check_region(origin, region)?;
    Ok((image.rect(origin), image.bytes(region)))
}

/// Where the bytes of a region are in a buffer that has them one after the other.
fn buffer_rect(
    context: &Arc<Context>,
    image: &Arc<Image>,
    buffer: &Arc<Buffer>,
    offset: usize,
    bytes: [usize; 3],
) -> Result<BufferRect> {
    context.check_same(buffer.context())?;
    let parent = image.data().parent().filter(|_| image.layout().kind == ImageKind::Image1DBuffer);
    if parent.is_some_and(|parent| Arc::ptr_eq(parent, buffer)) {
        return Err(Error::new(Code::InvalidMemObject, "the image is made of the buffer"));
    }
    buffer.check_range(offset, bytes.iter().product())?;
    BufferRect { origin: [offset, 0, 0], ..BufferRect::default() }.resolve(bytes)
}
