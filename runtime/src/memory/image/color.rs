//! Conversion of a color to the bytes of a texel, for `clEnqueueFillImage`.

use half::f16;

use super::format::{ChannelType, ImageFormat};
use crate::{Code, Result};

/// Four components, red, green, blue, alpha, as bits: floats, or signed or unsigned integers for channel
/// types that are integers and not normalised.
pub type Color = [u32; 4];

impl ImageFormat {
    /// The bytes of a texel of this color. Values are clamped to the range of the channel type (OpenCL C,
    /// 8.3, conversion rules of `write_image`). `IMAGE_FORMAT_NOT_SUPPORTED` for packed formats.
    pub(crate) fn pack(self, color: Color) -> Result<Vec<u8>> {
        let color = if self.order.is_srgb() { encoded(color) } else { color };
        let channels = self.order.components().iter().map(|&component| channel(self.ty, color[component]));
        let channels = channels.collect::<Option<Vec<_>>>();
        Ok(channels.ok_or(Code::ImageFormatNotSupported)?.concat())
    }
}

/// A linear colour in the encoding of sRGB, which alpha does not have.
fn encoded([red, green, blue, alpha]: Color) -> Color {
    let encode = |bits| {
        let linear = f32::from_bits(bits);
        let value =
            if linear < 0.003_130_8 { 12.92 * linear } else { 1.055 * linear.powf(1.0 / 2.4) - 0.055 };
        value.to_bits()
    };
    [encode(red), encode(green), encode(blue), alpha]
}

fn channel(ty: ChannelType, bits: u32) -> Option<Vec<u8>> {
    let (float, signed) = (f32::from_bits(bits), bits.cast_signed());
    // Rounded to nearest even. Casts saturate, and convert NaN to 0.
    let scaled = |most: f32| (float * most).round_ties_even();
    let bytes = match ty {
        ChannelType::UnormInt8 => vec![scaled(255.0) as u8],
        ChannelType::UnormInt16 => (scaled(65535.0) as u16).to_ne_bytes().into(),
        // -1.0 is -127, not -128.
        ChannelType::SnormInt8 => (scaled(127.0) as i8).max(-127).to_ne_bytes().into(),
        ChannelType::SnormInt16 => (scaled(32767.0) as i16).max(-32767).to_ne_bytes().into(),
        ChannelType::SignedInt8 => (signed.clamp(-128, 127) as i8).to_ne_bytes().into(),
        ChannelType::SignedInt16 => (signed.clamp(-32768, 32767) as i16).to_ne_bytes().into(),
        ChannelType::UnsignedInt8 => vec![bits.min(255) as u8],
        ChannelType::UnsignedInt16 => (bits.min(65535) as u16).to_ne_bytes().into(),
        ChannelType::HalfFloat => f16::from_f32(float).to_ne_bytes().into(),
        ChannelType::SignedInt32 | ChannelType::UnsignedInt32 | ChannelType::Float => {
            bits.to_ne_bytes().into()
        }
        ChannelType::UnormShort565
        | ChannelType::UnormShort555
        | ChannelType::UnormInt101010
        | ChannelType::UnormInt101010_2 => return None,
    };
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::super::format::ChannelOrder;
    use super::*;

    fn packed(order: ChannelOrder, ty: ChannelType, color: [f32; 4]) -> Vec<u8> {
        ImageFormat { order, ty }.pack(color.map(f32::to_bits)).unwrap()
    }

    #[test]
    fn floats_are_normalised_and_clamped() {
        let color = [0.5, 2.0, -1.0, f32::NAN];
        assert_eq!(packed(ChannelOrder::Rgba, ChannelType::UnormInt8, color), [128, 255, 0, 0]);
        assert_eq!(packed(ChannelOrder::Rgba, ChannelType::SnormInt8, color), [64, 127, 0x81, 0]);
        assert_eq!(
            packed(ChannelOrder::Bgra, ChannelType::UnormInt8, [0.0, 1.0, 0.2, 0.4]),
            [51, 255, 0, 102]
        );
        assert_eq!(packed(ChannelOrder::R, ChannelType::SnormInt16, [-2.0; 4]), (-32767i16).to_ne_bytes());
        assert_eq!(
            packed(ChannelOrder::A, ChannelType::HalfFloat, [0.0, 0.0, 0.0, 1.5]),
            0x3e00u16.to_ne_bytes()
        );
    }

    #[test]
    fn srgb_is_encoded_but_for_alpha() {
        let color = [0.5, 0.001, 1.0, 0.5];
        assert_eq!(packed(ChannelOrder::SRgba, ChannelType::UnormInt8, color), [188, 3, 255, 128]);
    }

    #[test]
    fn integers_are_clamped() {
        let format = |ty| ImageFormat { order: ChannelOrder::Rg, ty };
        let color = [300, (-300i32).cast_unsigned(), 0, 0];
        assert_eq!(format(ChannelType::SignedInt8).pack(color).unwrap(), [127, 0x80]);
        assert_eq!(format(ChannelType::UnsignedInt8).pack(color).unwrap(), [255, 255]);
        assert_eq!(format(ChannelType::SignedInt16).pack(color).unwrap()[2..], (-300i16).to_ne_bytes());
    }
}
