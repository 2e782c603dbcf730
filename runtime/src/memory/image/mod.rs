//! Images: texels in linear memory, row by row and slice by slice.
//!
//! The texels of an image are in a [`Buffer`] of its own, or in that of the buffer or image that it was
//! created from, so commands on images are commands on rectangles in buffers.

mod color;
mod format;
mod layout;

use std::sync::Arc;

use gencl_i915::HostMemory;

pub use color::Color;
pub use format::{ChannelOrder, ChannelType, ImageFormat};
pub use layout::{ImageDescriptor, ImageKind, ImageLayout, ImageLimits};

use super::{Buffer, BufferRect, MemoryFlags};
use crate::{Code, Context, Error, Result};

/// An image.
#[derive(Debug)]
pub struct Image {
    layout: ImageLayout,
    data: Arc<Buffer>,
}

impl Image {
    /// An image. `host` is the application's memory as for [`Buffer::new`], [`ImageLayout::size`] bytes.
    ///
    /// `INVALID_VALUE`, `INVALID_HOST_PTR`, `IMAGE_FORMAT_NOT_SUPPORTED`, `MEM_OBJECT_ALLOCATION_FAILURE`.
    pub fn new(
        context: &Arc<Context>,
        flags: MemoryFlags,
        layout: ImageLayout,
        host: Option<HostMemory>,
    ) -> Result<Arc<Self>> {
        check_supported(layout.format)?;
        let data =
            Buffer::new(context, flags, layout.size() as u64, host).map_err(|error| match error.code {
                Code::InvalidBufferSize => Error { code: Code::MemObjectAllocationFailure, ..error },
                _ => error,
            })?;
        Ok(Arc::new(Self { layout, data }))
    }

    /// An image on the bytes of a buffer or another image. `INVALID_VALUE` for flags that allow what those of
    /// the buffer do not, `IMAGE_FORMAT_NOT_SUPPORTED`, `INVALID_IMAGE_SIZE` when the buffer is too small.
    pub fn of_buffer(buffer: &Arc<Buffer>, flags: MemoryFlags, layout: ImageLayout) -> Result<Arc<Self>> {
        check_supported(layout.format)?;
        let size = layout.size() as u64;
        if size > buffer.size() {
            let reason = format!("the image has {size} bytes, the buffer {}", buffer.size());
            return Err(Error::new(Code::InvalidImageSize, reason));
        }
        Ok(Arc::new(Self { layout, data: buffer.view(flags, size)? }))
    }

    /// Size, format and pitches.
    pub fn layout(&self) -> &ImageLayout {
        &self.layout
    }

    /// Its texels.
    pub fn data(&self) -> &Arc<Buffer> {
        &self.data
    }

    /// `INVALID_VALUE` when a region of texels is empty or not within the image.
    pub fn check_region(&self, origin: [usize; 3], region: [usize; 3]) -> Result<()> {
        let extent = self.layout.extent();
        let within = |axis: usize| {
            let end = origin[axis].checked_add(region[axis]);
            region[axis] > 0 && end.is_some_and(|end| end <= extent[axis])
        };
        if (0..3).all(within) {
            return Ok(());
        }
        let reason = format!("{region:?} texels from {origin:?} on are not within {extent:?}");
        Err(Error::new(Code::InvalidValue, reason))
    }

    /// A region of texels in bytes, rows and slices.
    pub fn bytes(&self, region: [usize; 3]) -> [usize; 3] {
        [region[0] * self.layout.format.texel(), region[1], region[2]]
    }

    /// The rectangle in the image's bytes that begins at a texel.
    pub(crate) fn rect(&self, origin: [usize; 3]) -> BufferRect {
        let [row_pitch, slice_pitch] = self.layout.steps();
        BufferRect { origin: self.bytes(origin), row_pitch, slice_pitch }
    }

    /// The rectangle of a region of the image in the application's memory; pitches of 0 mean no gaps.
    /// `INVALID_VALUE` when the region is not within the image, a pitch is too small, or a slice pitch is
    /// given for an image without slices.
    pub fn host_rect(
        &self,
        origin: [usize; 3],
        region: [usize; 3],
        row_pitch: usize,
        slice_pitch: usize,
    ) -> Result<BufferRect> {
        self.check_region(origin, region)?;
        let bad = |reason: String| Err(Error::new(Code::InvalidValue, reason));
        let [row, rows, _] = self.bytes(region);
        if row_pitch != 0 && row_pitch < row {
            return bad(format!("row pitch {row_pitch} is below {row} bytes of a row"));
        }
        let row_pitch = if row_pitch == 0 { row } else { row_pitch };
        if !self.layout.kind.has_slices() && slice_pitch != 0 {
            return bad("a slice pitch for an image without slices".to_owned());
        }
        // Each image of a one-dimensional array is a row; its slice pitch is the distance of rows.
        let rows = if self.layout.kind == ImageKind::Image1DArray { 1 } else { rows };
        let slice = row_pitch.checked_mul(rows).ok_or(Code::InvalidValue)?;
        if slice_pitch != 0 && slice_pitch < slice {
            return bad(format!("slice pitch {slice_pitch} is below {slice} bytes of a slice"));
        }
        let slice_pitch = if slice_pitch == 0 { slice } else { slice_pitch };
        let row_pitch = if self.layout.kind == ImageKind::Image1DArray { slice_pitch } else { row_pitch };
        Ok(BufferRect { origin: [0; 3], row_pitch, slice_pitch })
    }
}

fn check_supported(format: ImageFormat) -> Result<()> {
    if format.is_supported() {
        Ok(())
    } else {
        Err(Error::new(Code::ImageFormatNotSupported, format!("{format:?}")))
    }
}
