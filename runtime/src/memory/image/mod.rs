//! Images: texels in linear memory, row by row and slice by slice.
//!
//! The texels of an image are in a [`Buffer`] of its own, or in that of the buffer or image that it was
//! created from, so commands on images are commands on rectangles in buffers.
//!
//! Pitches in memory are those that hardware takes. The application's memory is used in place if it has the same
//! pitches, otherwise its contents are copied when the image is created and, with `USE_HOST_PTR`, when a region is
//! mapped and unmapped: only for a mapped region the specification says what the application's memory holds.

mod color;
mod format;
mod layout;
mod surface_format;

use std::sync::Arc;

use gencl_i915::HostMemory;
use gencl_program::{ImageProperty, SurfaceView};

pub use color::Color;
pub use format::{ChannelOrder, ChannelType, ImageFormat};
pub use layout::{ImageDescriptor, ImageKind, ImageLayout, ImageLimits};

use super::{Buffer, BufferRect, MemoryFlags, copy_rect};
use crate::context::DeviceContext;
use crate::{Code, Context, Error, Result};

/// An image.
#[derive(Debug)]
pub struct Image {
    /// With the pitches that the application has given, or none.
    layout: ImageLayout,
    /// With the pitches in memory.
    memory: ImageLayout,
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
        check_supported(context, &layout, !flags.contains(MemoryFlags::READ_ONLY))?;
        let memory = layout.in_memory();
        let size = memory.size() as u64;
        let data = if memory == layout {
            Buffer::new(context, flags, size, host)
        } else {
            Buffer::converted(context, flags, size, host, |from, to| {
                let region = bytes(&layout, layout.extent());
                copy_rect(from, rect(&layout, [0; 3]), to, rect(&memory, [0; 3]), region);
            })
        };
        let data = data.map_err(|error| match error.code {
            Code::InvalidBufferSize => Error { code: Code::MemObjectAllocationFailure, ..error },
            _ => error,
        })?;
        Ok(Arc::new(Self { layout, memory, data }))
    }

    /// An image on the bytes of a buffer. `INVALID_VALUE` for flags that allow what those of
    /// the buffer do not, `IMAGE_FORMAT_NOT_SUPPORTED`, `INVALID_IMAGE_SIZE` when the buffer is too small.
    pub fn of_buffer(buffer: &Arc<Buffer>, flags: MemoryFlags, layout: ImageLayout) -> Result<Arc<Self>> {
        check_supported(buffer.context(), &layout, false)?;
        // One row may have any pitch: nothing is behind its texels.
        let memory = match layout.kind {
            ImageKind::Image1DBuffer => {
                ImageLayout { row_pitch: layout.width * layout.format.texel(), ..layout }
            }
            _ => layout,
        };
        let size = memory.size() as u64;
        if size > buffer.size() {
            let reason = format!("the image has {size} bytes, the buffer {}", buffer.size());
            return Err(Error::new(Code::InvalidImageSize, reason));
        }
        Ok(Arc::new(Self { layout, memory, data: buffer.view(flags, size)? }))
    }

    /// An image of another format on the bytes of this one. `INVALID_VALUE` for flags that allow what those of
    /// this one do not, `IMAGE_FORMAT_NOT_SUPPORTED`.
    pub fn view(&self, flags: MemoryFlags, format: ImageFormat) -> Result<Arc<Self>> {
        let of = |layout: ImageLayout| ImageLayout { format, ..layout };
        let (layout, memory) = (of(self.layout), of(self.memory));
        check_supported(self.data.context(), &layout, false)?;
        Ok(Arc::new(Self { layout, memory, data: self.data.view(flags, self.data.size())? }))
    }

    /// Size, format and the pitches that the application has given; without gaps if it has given none.
    pub fn layout(&self) -> &ImageLayout {
        &self.layout
    }

    /// Size, format and the pitches in memory.
    pub(crate) fn memory(&self) -> &ImageLayout {
        &self.memory
    }

    /// The layout of what is mapped: that of the application's memory where regions are copied to it.
    pub fn mapped_layout(&self) -> &ImageLayout {
        if self.data.shadow().is_some() { &self.layout } else { &self.memory }
    }

    /// `IMAGE_FORMAT_NOT_SUPPORTED` when a device of the context cannot access the image.
    pub(crate) fn check_device(&self, device: &DeviceContext) -> Result<()> {
        let selects = device.device().facts().images.channel_selects;
        let surface = self.layout.format.surface_format(SurfaceView::Sampled);
        if selects || surface.is_some_and(|surface| !surface.is_selected()) {
            return Ok(());
        }
        let reason = format!("{:?} on {}", self.layout.format, device.device().facts().name);
        Err(Error::new(Code::ImageFormatNotSupported, reason))
    }

    /// A property that kernels ask for.
    pub(crate) fn property(&self, property: ImageProperty) -> u32 {
        let ImageLayout { width, height, depth, layers, format, .. } = self.layout;
        match property {
            ImageProperty::Width => width as u32,
            ImageProperty::Height => height.max(1) as u32,
            ImageProperty::Depth => depth.max(1) as u32,
            ImageProperty::ArraySize => layers.max(1) as u32,
            ImageProperty::ChannelType => format.ty as u32,
            ImageProperty::ChannelOrder => format.order as u32,
            ImageProperty::TexelSize => format.texel() as u32,
            ImageProperty::RowPitch => self.memory.steps()[0] as u32,
            ImageProperty::SlicePitch => self.memory.steps()[1] as u32,
        }
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
        bytes(&self.layout, region)
    }

    /// The rectangle in the image's bytes that begins at a texel.
    pub(crate) fn rect(&self, origin: [usize; 3]) -> BufferRect {
        rect(&self.memory, origin)
    }

    /// The same in what is mapped.
    pub(crate) fn mapped_rect(&self, origin: [usize; 3]) -> BufferRect {
        rect(self.mapped_layout(), origin)
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

/// A region of texels in bytes, rows and slices.
fn bytes(layout: &ImageLayout, region: [usize; 3]) -> [usize; 3] {
    [region[0] * layout.format.texel(), region[1], region[2]]
}

/// The rectangle that begins at a texel.
fn rect(layout: &ImageLayout, origin: [usize; 3]) -> BufferRect {
    let [row_pitch, slice_pitch] = layout.steps();
    BufferRect { origin: bytes(layout, origin), row_pitch, slice_pitch }
}

/// `IMAGE_FORMAT_NOT_SUPPORTED` when kernels cannot access such an image on any device of the context: read it and, if
/// `written` is set, write it.
fn check_supported(context: &Context, layout: &ImageLayout, written: bool) -> Result<()> {
    let ImageLayout { kind, format, .. } = *layout;
    let selects = context.selects_channels();
    if ImageFormat::supported(kind, written, selects).any(|supported| supported == format) {
        Ok(())
    } else {
        Err(Error::new(Code::ImageFormatNotSupported, format!("{format:?}")))
    }
}
