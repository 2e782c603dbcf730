//! Layout of images in memory.

use super::format::{ChannelOrder, ImageFormat};
use crate::values::values;
use crate::{Code, Error, Result};

values! {
    /// Kinds of images by their `CL_MEM_OBJECT_IMAGE*` values.
    ImageKind {
        Image2D = 0x10F1,
        Image3D = 0x10F2,
        Image2DArray = 0x10F3,
        Image1D = 0x10F4,
        Image1DArray = 0x10F5,
        Image1DBuffer = 0x10F6,
    }
}

impl ImageKind {
    /// Whether there are depth images of this kind.
    pub(crate) fn has_depths(self) -> bool {
        matches!(self, Self::Image2D | Self::Image2DArray)
    }

    /// Whether the images of the kind have rows.
    pub fn has_rows(self) -> bool {
        matches!(self, Self::Image2D | Self::Image2DArray | Self::Image3D)
    }

    /// Whether it is a kind of arrays.
    pub fn is_array(self) -> bool {
        matches!(self, Self::Image1DArray | Self::Image2DArray)
    }

    /// Whether the kind has a slice pitch.
    pub fn has_slices(self) -> bool {
        matches!(self, Self::Image3D | Self::Image2DArray | Self::Image1DArray)
    }
}

/// The images of a device; sizes in texels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageLimits {
    /// Width and height of images of one and two dimensions.
    pub size_2d: usize,
    /// Each side of images of three dimensions.
    pub size_3d: usize,
    /// Images of an array.
    pub array: usize,
    /// Width of images of one dimension on buffers.
    pub buffer: usize,
    /// Largest row pitch in bytes of an image of two dimensions on a buffer.
    pub row_pitch: usize,
    /// Alignment of that pitch.
    pub pitch_alignment: usize,
    /// Alignment of the address of such a buffer.
    pub address_alignment: usize,
    /// Number of images that a kernel may read.
    pub read_arguments: u32,
    /// Number of images that a kernel may write.
    pub write_arguments: u32,
    /// Number of samplers that a kernel may use.
    pub samplers: u32,
    /// Whether the sampler selects the channels that it returns, which some formats need.
    pub channel_selects: bool,
}

impl ImageLimits {
    /// The largest [`ImageLayout::extent`] of a kind.
    pub fn extent(&self, kind: ImageKind) -> [usize; 3] {
        match kind {
            ImageKind::Image1D => [self.size_2d, 1, 1],
            ImageKind::Image1DArray => [self.size_2d, self.array, 1],
            ImageKind::Image1DBuffer => [self.buffer, 1, 1],
            ImageKind::Image2D => [self.size_2d, self.size_2d, 1],
            ImageKind::Image2DArray => [self.size_2d, self.size_2d, self.array],
            ImageKind::Image3D => [self.size_3d; 3],
        }
    }
}

/// The sizes of `cl_image_desc`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageDescriptor {
    /// Kind.
    pub kind: ImageKind,
    /// Texels of a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Slices of an image of three dimensions.
    pub depth: usize,
    /// Images of an array.
    pub layers: usize,
    /// Bytes from row to row; 0: no gap.
    pub row_pitch: usize,
    /// Bytes from slice to slice, or from image to image of an array; 0: no gap.
    pub slice_pitch: usize,
}

/// A checked descriptor, with all pitches. Sizes that a kind does not have are 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageLayout {
    /// Kind.
    pub kind: ImageKind,
    /// Format.
    pub format: ImageFormat,
    /// Texels of a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Slices of an image of three dimensions.
    pub depth: usize,
    /// Images of an array.
    pub layers: usize,
    /// Bytes from row to row.
    pub row_pitch: usize,
    /// Bytes from slice to slice, or from image to image of an array.
    pub slice_pitch: usize,
}

/// Bytes that the pitches of rows in memory are a multiple of: a cache line.
const ROW_ALIGNMENT: usize = 64;

/// Rows that slices and layers in memory are a multiple of (RENDER_SURFACE_STATE, "Surface Vertical Alignment").
const SLICE_ALIGNMENT: usize = 4;

impl ImageLayout {
    /// The type of OpenCL C for such images.
    pub(crate) fn type_name(&self) -> &'static str {
        match (self.kind, self.format.order) {
            (ImageKind::Image1D, _) => "image1d_t",
            (ImageKind::Image1DArray, _) => "image1d_array_t",
            (ImageKind::Image1DBuffer, _) => "image1d_buffer_t",
            (ImageKind::Image2D, ChannelOrder::Depth) => "image2d_depth_t",
            (ImageKind::Image2D, _) => "image2d_t",
            (ImageKind::Image2DArray, ChannelOrder::Depth) => "image2d_array_depth_t",
            (ImageKind::Image2DArray, _) => "image2d_array_t",
            (ImageKind::Image3D, _) => "image3d_t",
        }
    }

    /// The same with pitches that all generations take for linear surfaces. Slices of three dimensions have no
    /// pitch of their own on Gen8, so there are no gaps between them. Layers of one-dimensional arrays are rows of
    /// two-dimensional slices before Gen9.
    pub(crate) fn in_memory(self) -> Self {
        let row_pitch = (self.width * self.format.texel()).next_multiple_of(ROW_ALIGNMENT);
        let rows = self.height.max(1).next_multiple_of(SLICE_ALIGNMENT);
        Self { row_pitch, slice_pitch: if self.kind.has_slices() { row_pitch * rows } else { 0 }, ..self }
    }

    /// Checks a descriptor and fills in pitches of 0. `INVALID_IMAGE_SIZE` for sizes of 0 or above the
    /// device's limits, `INVALID_IMAGE_DESCRIPTOR` for pitches that are too small or not aligned.
    pub fn new(limits: &ImageLimits, format: ImageFormat, descriptor: &ImageDescriptor) -> Result<Self> {
        let ImageDescriptor { kind, width, height, depth, layers, row_pitch, slice_pitch } = *descriptor;
        // Sizes that the kind does not have are ignored.
        let (height, depth, layers) = match kind {
            ImageKind::Image1D | ImageKind::Image1DBuffer => (0, 0, 0),
            ImageKind::Image1DArray => (0, 0, layers),
            ImageKind::Image2D => (height, 0, 0),
            ImageKind::Image2DArray => (height, 0, layers),
            ImageKind::Image3D => (height, depth, 0),
        };
        let mut layout = Self { kind, format, width, height, depth, layers, row_pitch, slice_pitch };
        let sides = layout.extent();
        let most = limits.extent(kind);
        if (0..3).any(|axis| sides[axis] == 0 || sides[axis] > most[axis]) {
            let reason = format!("{sides:?} texels, at most {most:?}");
            return Err(Error::new(Code::InvalidImageSize, reason));
        }
        layout.complete_pitches()?;
        Ok(layout)
    }

    fn complete_pitches(&mut self) -> Result<()> {
        let bad = |reason: String| Err(Error::new(Code::InvalidImageDescriptor, reason));
        let texel = self.format.texel();
        // Sizes are within limits by now, pitches are not.
        let row = self.width * texel;
        if self.row_pitch == 0 {
            self.row_pitch = row;
        } else if self.row_pitch < row || !self.row_pitch.is_multiple_of(texel) {
            return bad(format!("row pitch {} of {row} bytes in texels of {texel}", self.row_pitch));
        }
        let slice = self.row_pitch.checked_mul(self.height.max(1));
        let slice = slice.ok_or_else(|| Error::from(Code::InvalidImageDescriptor))?;
        if !self.kind.has_slices() {
            self.slice_pitch = 0;
        } else if self.slice_pitch == 0 {
            self.slice_pitch = slice;
        } else if self.slice_pitch < slice || !self.slice_pitch.is_multiple_of(self.row_pitch) {
            return bad(format!("slice pitch {} of {slice} bytes", self.slice_pitch));
        }
        let size = match self.kind {
            ImageKind::Image1DArray | ImageKind::Image2DArray => self.slice_pitch.checked_mul(self.layers),
            ImageKind::Image3D => self.slice_pitch.checked_mul(self.depth),
            ImageKind::Image1D | ImageKind::Image1DBuffer | ImageKind::Image2D => Some(slice),
        };
        match size {
            Some(size) if isize::try_from(size).is_ok() => Ok(()),
            _ => bad("the image exceeds the address space".to_owned()),
        }
    }

    /// Texels, rows and slices as commands count them; the last dimension of an array counts images.
    pub fn extent(&self) -> [usize; 3] {
        match self.kind {
            ImageKind::Image1D | ImageKind::Image1DBuffer => [self.width, 1, 1],
            ImageKind::Image1DArray => [self.width, self.layers, 1],
            ImageKind::Image2D => [self.width, self.height, 1],
            ImageKind::Image2DArray => [self.width, self.height, self.layers],
            ImageKind::Image3D => [self.width, self.height, self.depth],
        }
    }

    /// Pitches in bytes of the second and third dimension of [`ImageLayout::extent`].
    pub(crate) fn steps(&self) -> [usize; 2] {
        match self.kind {
            ImageKind::Image1DArray => [self.slice_pitch, self.slice_pitch * self.layers],
            ImageKind::Image3D | ImageKind::Image2DArray => [self.row_pitch, self.slice_pitch],
            ImageKind::Image2D | ImageKind::Image1D | ImageKind::Image1DBuffer => {
                [self.row_pitch, self.row_pitch * self.height.max(1)]
            }
        }
    }

    /// Bytes of an image with this layout that is not made of another memory object.
    pub fn memory_size(&self) -> usize {
        self.in_memory().size()
    }

    /// Bytes of all rows and slices.
    pub fn size(&self) -> usize {
        self.steps()[1] * self.extent()[2]
    }
}

#[cfg(test)]
mod tests {
    use super::super::format::{ChannelOrder, ChannelType};
    use super::*;

    const LIMITS: ImageLimits = ImageLimits {
        size_2d: 16384,
        size_3d: 2048,
        array: 2048,
        buffer: 1 << 27,
        row_pitch: 1 << 18,
        pitch_alignment: 4,
        address_alignment: 4,
        read_arguments: 128,
        write_arguments: 64,
        samplers: 16,
        channel_selects: true,
    };
    const FORMAT: ImageFormat = ImageFormat { order: ChannelOrder::Rgba, ty: ChannelType::UnormInt8 };

    fn descriptor(kind: ImageKind) -> ImageDescriptor {
        ImageDescriptor { kind, width: 10, height: 5, depth: 3, layers: 7, row_pitch: 0, slice_pitch: 0 }
    }

    fn sizes(kind: ImageKind) -> (usize, usize, usize, [usize; 3]) {
        let layout = ImageLayout::new(&LIMITS, FORMAT, &descriptor(kind)).unwrap();
        (layout.row_pitch, layout.slice_pitch, layout.size(), layout.extent())
    }

    #[test]
    fn pitches_without_gaps() {
        assert_eq!(sizes(ImageKind::Image1D), (40, 0, 40, [10, 1, 1]));
        assert_eq!(sizes(ImageKind::Image1DArray), (40, 40, 280, [10, 7, 1]));
        assert_eq!(sizes(ImageKind::Image2D), (40, 0, 200, [10, 5, 1]));
        assert_eq!(sizes(ImageKind::Image2DArray), (40, 200, 1400, [10, 5, 7]));
        assert_eq!(sizes(ImageKind::Image3D), (40, 200, 600, [10, 5, 3]));
    }

    #[test]
    fn pitches_in_memory() {
        let sizes = |kind| {
            let layout = ImageLayout::new(&LIMITS, FORMAT, &descriptor(kind)).unwrap().in_memory();
            (layout.row_pitch, layout.slice_pitch, layout.size())
        };
        assert_eq!(sizes(ImageKind::Image1D), (64, 0, 64));
        assert_eq!(sizes(ImageKind::Image1DArray), (64, 256, 256 * 7));
        assert_eq!(sizes(ImageKind::Image2D), (64, 0, 320));
        assert_eq!(sizes(ImageKind::Image2DArray), (64, 512, 512 * 7));
        assert_eq!(sizes(ImageKind::Image3D), (64, 512, 512 * 3));
    }

    #[test]
    fn sizes_have_limits() {
        let code =
            |descriptor: ImageDescriptor| ImageLayout::new(&LIMITS, FORMAT, &descriptor).map_err(|e| e.code);
        let flat = descriptor(ImageKind::Image2D);
        assert_eq!(code(ImageDescriptor { width: 0, ..flat }), Err(Code::InvalidImageSize));
        assert_eq!(code(ImageDescriptor { height: 16385, ..flat }), Err(Code::InvalidImageSize));
        assert!(code(ImageDescriptor { depth: 0, layers: 0, ..flat }).is_ok());
        let deep = descriptor(ImageKind::Image3D);
        assert_eq!(code(ImageDescriptor { depth: 2049, ..deep }), Err(Code::InvalidImageSize));
        assert_eq!(code(ImageDescriptor { row_pitch: 36, ..flat }), Err(Code::InvalidImageDescriptor));
        assert_eq!(code(ImageDescriptor { row_pitch: 42, ..flat }), Err(Code::InvalidImageDescriptor));
        assert_eq!(code(ImageDescriptor { slice_pitch: 210, ..deep }), Err(Code::InvalidImageDescriptor));
        let large = ImageDescriptor { row_pitch: usize::MAX & !3, ..deep };
        assert_eq!(code(large), Err(Code::InvalidImageDescriptor));
    }
}
