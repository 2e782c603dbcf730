//! Surface formats of the hardware for the formats of OpenCL.
//!
//! Numbers: Skylake manual, Volume 2d, SURFACE_FORMAT; Mesa's `isl.h`. What the sampler and typed writes convert:
//! Mesa's `isl_format.c`, the same on all generations for these.

use gencl_program::SurfaceView;

use super::format::{ChannelOrder as Order, ChannelType as Type, ImageFormat};
use super::layout::ImageKind;

/// A format, the sampler's surface format, and that of typed writes, which take red from the first channel; `None`:
/// kernels cannot write it.
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
    both(Order::Rgb, Type::UnormShort565, 0x100),
    both(Order::Rgb, Type::UnormShort555, 0x11a),
    // The bits that are undefined get alpha.
    (Order::Rgb, Type::UnormInt101010, 0x0ee, Some(0x0d1)),
];

/// Formats of depth images.
#[rustfmt::skip]
const DEPTHS: &[Row] = &[
    both(Order::Depth, Type::UnormInt16, 0x10a),
    both(Order::Depth, Type::Float, 0x0d8),
];

/// The channel of a surface format that the sampler returns as a channel of a texel ("Shader Channel Select").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChannelSelect {
    Zero = 0,
    One = 1,
    Red = 4,
    Green = 5,
    Blue = 6,
    Alpha = 7,
}

use ChannelSelect::{Alpha, Blue, Green, One, Red, Zero};

/// Red, green, blue, alpha.
type Selects = [ChannelSelect; 4];

const IN_ORDER: Selects = [Red, Green, Blue, Alpha];

/// Orders that lack some surface formats. Where the sampler selects channels, the surface format of another order
/// serves, and these channels of it are red, green, blue and alpha. The last column: typed writes, which do not select
/// channels, store the right ones.
#[rustfmt::skip]
const SELECTED: &[(Order, Order, Selects, bool)] = &[
    (Order::A, Order::R, [Zero, Zero, Zero, Red], false),
    (Order::Intensity, Order::R, [Red, Red, Red, Red], true),
    (Order::Luminance, Order::R, [Red, Red, Red, One], true),
    (Order::Ra, Order::Rg, [Red, Zero, Zero, Green], false),
    (Order::Bgra, Order::Rgba, [Blue, Green, Red, Alpha], false),
    (Order::Argb, Order::Rgba, [Green, Blue, Alpha, Red], false),
    (Order::Abgr, Order::Rgba, [Alpha, Blue, Green, Red], false),
];

/// What a surface state has for a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SurfaceFormat {
    pub(crate) number: u16,
    pub(crate) selects: Selects,
}

impl SurfaceFormat {
    /// Whether the surface needs channel selects.
    pub(crate) fn is_selected(self) -> bool {
        self.selects != IN_ORDER
    }
}

fn rows() -> impl Iterator<Item = &'static Row> {
    COLOURS.iter().chain(DEPTHS)
}

impl ImageFormat {
    /// The formats of a kind of images that kernels can read and, if `written` is set, write; on a device whose sampler
    /// selects channels or does not.
    pub fn supported(kind: ImageKind, written: bool, selects: bool) -> impl Iterator<Item = Self> {
        let own = rows().map(|&(order, ty, ..)| Self { order, ty });
        let others = SELECTED.iter().flat_map(move |&(order, of, ..)| {
            let types = COLOURS.iter().filter(move |row| row.0 == of).map(|row| row.1);
            types.filter_map(move |ty| Self::from_values(order as u32, ty as u32))
        });
        let others = others.filter(|format| rows().all(|row| (row.0, row.1) != (format.order, format.ty)));
        own.chain(others).filter(move |format| {
            let can = |view| {
                let surface = format.surface_format(view);
                surface.is_some_and(|surface| selects || !surface.is_selected())
            };
            (kind.has_depths() || format.order != Order::Depth)
                && can(SurfaceView::Sampled)
                && (!written || can(SurfaceView::Written))
        })
    }

    /// The hardware's format; `None` where kernels cannot access this one so.
    pub(crate) fn surface_format(self, view: SurfaceView) -> Option<SurfaceFormat> {
        let of = |order| rows().find(|row| (row.0, row.1) == (order, self.ty));
        let number = |row: &Row| match view {
            SurfaceView::Sampled => Some(row.2),
            SurfaceView::Written => row.3,
        };
        if let Some(row) = of(self.order) {
            return Some(SurfaceFormat { number: number(row)?, selects: IN_ORDER });
        }
        let &(_, other, selects, writes) = SELECTED.iter().find(|row| row.0 == self.order)?;
        let number = number(of(other)?)?;
        match view {
            SurfaceView::Sampled => Some(SurfaceFormat { number, selects }),
            SurfaceView::Written => writes.then_some(SurfaceFormat { number, selects: IN_ORDER }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_valid_and_listed_once() {
        let formats: Vec<_> = ImageFormat::supported(ImageKind::Image2D, false, true).collect();
        for (index, format) in formats.iter().enumerate() {
            assert_eq!(ImageFormat::from_values(format.order as u32, format.ty as u32), Some(*format));
            assert!(format.texel().is_power_of_two());
            assert!(!formats[..index].contains(format), "{format:?}");
        }
        let mut deep = ImageFormat::supported(ImageKind::Image3D, false, true);
        assert!(deep.all(|format| format.order != Order::Depth));
    }

    #[test]
    fn formats_with_selected_channels() {
        let listed = |order, ty, written, selects| {
            let format = ImageFormat { order, ty };
            ImageFormat::supported(ImageKind::Image1D, written, selects).any(|listed| listed == format)
        };
        assert!(listed(Order::Abgr, Type::UnormInt8, false, true));
        assert!(!listed(Order::Abgr, Type::UnormInt8, false, false));
        assert!(!listed(Order::Abgr, Type::UnormInt8, true, true));
        assert!(listed(Order::Luminance, Type::SnormInt8, true, true));
        assert!(listed(Order::Luminance, Type::UnormInt8, true, false));
        assert!(listed(Order::Ra, Type::Float, false, true));
        assert!(!listed(Order::Abgr, Type::Float, false, true));
        let format = ImageFormat { order: Order::Bgra, ty: Type::SignedInt8 };
        let surface = format.surface_format(SurfaceView::Sampled).unwrap();
        assert_eq!(surface, SurfaceFormat { number: 0x0ca, selects: [Blue, Green, Red, Alpha] });
    }
}
