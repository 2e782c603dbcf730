//! Formats of texels.

use crate::values::values;

values! {
    /// `cl_channel_order`
    ChannelOrder {
        R = 0x10B0,
        A = 0x10B1,
        Rg = 0x10B2,
        Ra = 0x10B3,
        Rgb = 0x10B4,
        Rgba = 0x10B5,
        Bgra = 0x10B6,
        Argb = 0x10B7,
        Intensity = 0x10B8,
        Luminance = 0x10B9,
        Rx = 0x10BA,
        Rgx = 0x10BB,
        Rgbx = 0x10BC,
        Depth = 0x10BD,
        SRgb = 0x10BF,
        SRgbx = 0x10C0,
        SRgba = 0x10C1,
        SBgra = 0x10C2,
        Abgr = 0x10C3,
    }
}

values! {
    /// `cl_channel_type`
    ChannelType {
        SnormInt8 = 0x10D0,
        SnormInt16 = 0x10D1,
        UnormInt8 = 0x10D2,
        UnormInt16 = 0x10D3,
        UnormShort565 = 0x10D4,
        UnormShort555 = 0x10D5,
        UnormInt101010 = 0x10D6,
        SignedInt8 = 0x10D7,
        SignedInt16 = 0x10D8,
        SignedInt32 = 0x10D9,
        UnsignedInt8 = 0x10DA,
        UnsignedInt16 = 0x10DB,
        UnsignedInt32 = 0x10DC,
        HalfFloat = 0x10DD,
        Float = 0x10DE,
        UnormInt101010_2 = 0x10E0,
    }
}

use ChannelOrder as Order;
use ChannelType as Type;

/// `cl_image_format`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ImageFormat {
    /// The channels of a texel and their order.
    pub order: ChannelOrder,
    /// Type of each channel.
    pub ty: ChannelType,
}

/// Types that are valid with any order of one, two or four channels.
const PLAIN: &[Type] = &[
    Type::UnormInt8,
    Type::UnormInt16,
    Type::SnormInt8,
    Type::SnormInt16,
    Type::SignedInt8,
    Type::SignedInt16,
    Type::SignedInt32,
    Type::UnsignedInt8,
    Type::UnsignedInt16,
    Type::UnsignedInt32,
    Type::HalfFloat,
    Type::Float,
];

const BYTES: &[Type] = &[Type::UnormInt8, Type::SnormInt8, Type::SignedInt8, Type::UnsignedInt8];
const NORMALISED: &[Type] =
    &[Type::UnormInt8, Type::UnormInt16, Type::SnormInt8, Type::SnormInt16, Type::HalfFloat, Type::Float];
const PACKED: &[Type] = &[Type::UnormShort565, Type::UnormShort555, Type::UnormInt101010];

/// Valid combinations of orders and types (OpenCL 3.0, 5.3.1.1; the restrictions of orders are those of
/// OpenCL 1.2, table 5.6).
const VALID: &[(&[Order], &[Type])] = &[
    (&[Order::R, Order::A, Order::Rg, Order::Ra, Order::Rx, Order::Rgba], PLAIN),
    (&[Order::Rgba], &[Type::UnormInt101010_2]),
    (&[Order::Rgb, Order::Rgx, Order::Rgbx], PACKED),
    (&[Order::Bgra, Order::Argb, Order::Abgr], BYTES),
    (&[Order::Intensity, Order::Luminance], NORMALISED),
    (&[Order::Depth], &[Type::UnormInt16, Type::Float]),
    (&[Order::SRgb, Order::SRgbx, Order::SRgba, Order::SBgra], &[Type::UnormInt8]),
];

/// Channel orders of an image of two dimensions and of the image that it may be created from (table
/// "Compatible image channel orders").
const COMPATIBLE: &[(Order, Order)] = &[
    (Order::SBgra, Order::Bgra),
    (Order::Bgra, Order::SBgra),
    (Order::SRgba, Order::Rgba),
    (Order::Rgba, Order::SRgba),
    (Order::SRgb, Order::Rgb),
    (Order::Rgb, Order::SRgb),
    (Order::SRgbx, Order::Rgbx),
    (Order::Rgbx, Order::SRgbx),
    (Order::Depth, Order::R),
];

impl ChannelOrder {
    /// Whether colours are encoded as sRGB.
    pub(super) fn is_srgb(self) -> bool {
        matches!(self, Self::SRgb | Self::SRgbx | Self::SRgba | Self::SBgra)
    }

    /// The components of a texel in memory order, of a packed one from the highest bits on: 0 red, 1 green, 2 blue, 3
    /// alpha.
    pub(super) fn components(self) -> &'static [usize] {
        match self {
            Self::R | Self::Intensity | Self::Luminance | Self::Depth => &[0],
            Self::A => &[3],
            Self::Rg | Self::Rx => &[0, 1],
            Self::Ra => &[0, 3],
            Self::Rgb | Self::Rgx | Self::SRgb => &[0, 1, 2],
            Self::Rgba | Self::Rgbx | Self::SRgba | Self::SRgbx => &[0, 1, 2, 3],
            Self::Bgra | Self::SBgra => &[2, 1, 0, 3],
            Self::Argb => &[3, 0, 1, 2],
            Self::Abgr => &[3, 2, 1, 0],
        }
    }
}

impl ChannelType {
    /// The lowest bit and the width of each channel of a packed format, from the first on; `None` for other formats.
    pub(super) fn fields(self) -> Option<&'static [(u32, u32)]> {
        match self {
            Self::UnormShort565 => Some(&[(11, 5), (5, 6), (0, 5)]),
            Self::UnormShort555 => Some(&[(10, 5), (5, 5), (0, 5)]),
            Self::UnormInt101010 => Some(&[(20, 10), (10, 10), (0, 10)]),
            Self::UnormInt101010_2 => Some(&[(22, 10), (12, 10), (2, 10), (0, 2)]),
            _ => None,
        }
    }

    /// Bytes of a channel, or of a whole texel of a packed format, and whether it is packed.
    fn bytes(self) -> (usize, bool) {
        match self {
            Self::SnormInt8 | Self::UnormInt8 | Self::SignedInt8 | Self::UnsignedInt8 => (1, false),
            Self::SnormInt16
            | Self::UnormInt16
            | Self::SignedInt16
            | Self::UnsignedInt16
            | Self::HalfFloat => (2, false),
            Self::SignedInt32 | Self::UnsignedInt32 | Self::Float => (4, false),
            Self::UnormShort565 | Self::UnormShort555 => (2, true),
            Self::UnormInt101010 | Self::UnormInt101010_2 => (4, true),
        }
    }
}

impl ImageFormat {
    /// The format for two values of the C API; `None` for unknown values and invalid combinations.
    pub fn from_values(order: u32, ty: u32) -> Option<Self> {
        let (order, ty) = (ChannelOrder::from_value(order)?, ChannelType::from_value(ty)?);
        let valid = VALID.iter().any(|(orders, types)| orders.contains(&order) && types.contains(&ty));
        valid.then_some(Self { order, ty })
    }

    /// Whether an image of this format may be created from another image of the format `of`.
    pub fn views(self, of: Self) -> bool {
        self.ty == of.ty && COMPATIBLE.contains(&(self.order, of.order))
    }

    /// Bytes of a texel.
    pub fn texel(self) -> usize {
        match self.ty.bytes() {
            (bytes, true) => bytes,
            (bytes, false) => bytes * self.order.components().len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_and_types_go_together() {
        let format = |order: Order, ty: Type| ImageFormat::from_values(order as u32, ty as u32);
        assert!(format(Order::Rgba, Type::Float).is_some());
        assert!(format(Order::Rgb, Type::UnormShort565).is_some());
        assert!(format(Order::Rgb, Type::UnormInt8).is_none());
        assert!(format(Order::Bgra, Type::Float).is_none());
        assert!(ImageFormat::from_values(0, 0).is_none());
    }

    #[test]
    fn texels_have_a_power_of_two_of_bytes() {
        let texel = |order, ty| ImageFormat { order, ty }.texel();
        assert_eq!(texel(Order::Rgba, Type::Float), 16);
        assert_eq!(texel(Order::Bgra, Type::UnormInt8), 4);
        assert_eq!(texel(Order::Rg, Type::HalfFloat), 4);
        assert_eq!(texel(Order::Rgb, Type::UnormInt101010), 4);
    }
}
