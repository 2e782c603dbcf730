//! Surface formats of the hardware for the formats of OpenCL.
//!
//! Numbers: Skylake manual, Volume 2d, SURFACE_FORMAT; Mesa's `isl.h`. What the sampler and typed writes convert:
//! Mesa's `isl_format.c`, the same on all generations for these.

use gencl_program::SurfaceView;

use super::format::{ChannelOrder as Order, ChannelType as Type, ImageFormat};
use super::layout::ImageKind;

/// A format, what the sampler takes it for, and what typed writes do. The latter take red from the first channel;
/// `None`: kernels cannot write it.
type Row = (Order, Type, u16, Option<u16>);

const fn both(order: Order, ty: Type, format: u16) -> Row {
    (order, ty, format, Some(format))
}

/// Formats of all images that are not depth images.
#[rustfmt::skip]
const COLOURS: &[Row] = &[
    both(Order::Rgba, Type::UnormInt8, 0x0c7),
    both(Order::Rgba, Type::UnormInt16, 0x080),
    both(Order::Rgba, Type::SnormInt8, 0x0c9),
    both(Order::Rgba, Type::SnormInt16, 0x081),
    both(Order::Rgba, Type::SignedInt8, 0x0ca),
    both(Order::Rgba, Type::SignedInt16, 0x082),
    both(Order::Rgba, Type::SignedInt32, 0x001),
    both(Order::Rgba, Type::UnsignedInt8, 0x0cb),
    both(Order::Rgba, Type::UnsignedInt16, 0x083),
    both(Order::Rgba, Type::UnsignedInt32, 0x002),
    both(Order::Rgba, Type::HalfFloat, 0x084),
    both(Order::Rgba, Type::Float, 0x000),
    both(Order::Bgra, Type::UnormInt8, 0x0c0),
    (Order::SRgba, Type::UnormInt8, 0x0c8, None),
    (Order::SBgra, Type::UnormInt8, 0x0c1, None),
    both(Order::R, Type::UnormInt8, 0x140),
    both(Order::R, Type::UnormInt16, 0x10a),
    both(Order::R, Type::SnormInt8, 0x141),
    both(Order::R, Type::SnormInt16, 0x10b),
    both(Order::R, Type::SignedInt8, 0x142),
    both(Order::R, Type::SignedInt16, 0x10c),
    both(Order::R, Type::SignedInt32, 0x0d6),
    both(Order::R, Type::UnsignedInt8, 0x143),
    both(Order::R, Type::UnsignedInt16, 0x10d),
    both(Order::R, Type::UnsignedInt32, 0x0d7),
    both(Order::R, Type::HalfFloat, 0x10e),
    both(Order::R, Type::Float, 0x0d8),
    both(Order::Rg, Type::UnormInt8, 0x106),
    both(Order::Rg, Type::UnormInt16, 0x0cc),
    both(Order::Rg, Type::SnormInt8, 0x107),
    both(Order::Rg, Type::SnormInt16, 0x0cd),
    both(Order::Rg, Type::SignedInt8, 0x108),
    both(Order::Rg, Type::SignedInt16, 0x0ce),
    both(Order::Rg, Type::SignedInt32, 0x086),
    both(Order::Rg, Type::UnsignedInt8, 0x109),
    both(Order::Rg, Type::UnsignedInt16, 0x0cf),
    both(Order::Rg, Type::UnsignedInt32, 0x087),
    both(Order::Rg, Type::HalfFloat, 0x0d0),
    both(Order::Rg, Type::Float, 0x085),
    both(Order::A, Type::UnormInt8, 0x144),
    (Order::A, Type::UnormInt16, 0x113, None),
    (Order::A, Type::HalfFloat, 0x117, None),
    (Order::A, Type::Float, 0x0e5, None),
    (Order::Intensity, Type::UnormInt8, 0x145, Some(0x140)),
    (Order::Intensity, Type::UnormInt16, 0x111, Some(0x10a)),
    (Order::Intensity, Type::HalfFloat, 0x115, Some(0x10e)),
    (Order::Intensity, Type::Float, 0x0e3, Some(0x0d8)),
    (Order::Luminance, Type::UnormInt8, 0x146, Some(0x140)),
    (Order::Luminance, Type::UnormInt16, 0x112, Some(0x10a)),
    (Order::Luminance, Type::HalfFloat, 0x116, Some(0x10e)),
    (Order::Luminance, Type::Float, 0x0e4, Some(0x0d8)),
];

/// Formats of depth images.
#[rustfmt::skip]
const DEPTHS: &[Row] = &[
    both(Order::Depth, Type::UnormInt16, 0x10a),
    both(Order::Depth, Type::Float, 0x0d8),
];

fn format((order, ty, ..): &Row) -> ImageFormat {
    ImageFormat { order: *order, ty: *ty }
}

impl ImageFormat {
    /// The formats of a kind of images that kernels can read and, if `written` is set, write.
    pub fn supported(kind: ImageKind, written: bool) -> impl Iterator<Item = Self> {
        let depths = if kind.has_depths() { DEPTHS } else { &[] };
        COLOURS.iter().chain(depths).filter(move |row| !written || row.3.is_some()).map(format)
    }

    /// The number of the hardware's format; `None` where kernels cannot access this one so.
    pub(crate) fn surface_format(self, view: SurfaceView) -> Option<u16> {
        let row = COLOURS.iter().chain(DEPTHS).find(|row| format(row) == self)?;
        match view {
            SurfaceView::Sampled => Some(row.2),
            SurfaceView::Written => row.3,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_valid_and_listed_once() {
        let formats: Vec<_> = ImageFormat::supported(ImageKind::Image2D, false).collect();
        for (index, format) in formats.iter().enumerate() {
            assert_eq!(ImageFormat::from_values(format.order as u32, format.ty as u32), Some(*format));
            assert!(format.texel().is_power_of_two());
            assert!(!formats[..index].contains(format), "{format:?}");
        }
        assert!(ImageFormat::supported(ImageKind::Image3D, false).all(|format| format.order != Order::Depth));
    }
}
