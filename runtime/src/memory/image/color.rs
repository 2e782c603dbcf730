//! Conversion of a color to the bytes of a texel, for `clEnqueueFillImage`.

use half::f16;

use super::format::{ChannelType, ImageFormat};

/// Four components, red, green, blue, alpha, as bits: floats, or signed or unsigned integers for channel
/// types that are integers and not normalised.
pub type Color = [u32; 4];

impl ImageFormat {
    /// The bytes of a texel of this color. Values are clamped to the range of the channel type (OpenCL C,
    /// 8.3, conversion rules of `write_image`).
    pub(crate) fn pack(self, color: Color) -> Vec<u8> {
        let color = if self.order.is_srgb() { encoded(color) } else { color };
        let components = self.order.components().iter().map(|&component| color[component]);
        if let Some(fields) = self.ty.fields() {
            let channels = components.zip(fields).map(|(bits, &(first, width))| {
                let largest = ((1 << width) - 1) as f32;
                (scaled(f32::from_bits(bits), largest).clamp(0.0, largest) as u32) << first
            });
            let bits = channels.fold(0, std::ops::BitOr::bitor);
            return bits.to_le_bytes()[..self.texel()].to_vec();
        }
        components.flat_map(|bits| channel(self.ty, bits)).collect()
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

/// Rounded to nearest even. Casts of it saturate, and convert NaN to 0.
fn scaled(value: f32, largest: f32) -> f32 {
    (value * largest).round_ties_even()
}

fn channel(ty: ChannelType, bits: u32) -> Vec<u8> {
    let (float, signed) = (f32::from_bits(bits), bits.cast_signed());
    match ty {
        ChannelType::UnormInt8 => vec![scaled(float, 255.0) as u8],
        ChannelType::UnormInt16 => (scaled(float, 65535.0) as u16).to_ne_bytes().into(),
        // -1.0 is -127, not -128.
        ChannelType::SnormInt8 => (scaled(float, 127.0) as i8).max(-127).to_ne_bytes().into(),
        ChannelType::SnormInt16 => (scaled(float, 32767.0) as i16).max(-32767).to_ne_bytes().into(),
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
        | ChannelType::UnormInt101010_2 => unreachable!("packed"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::format::ChannelOrder;
    use super::*;

    fn packed(order: ChannelOrder, ty: ChannelType, color: [f32; 4]) -> Vec<u8> {
        ImageFormat { order, ty }.pack(color.map(f32::to_bits))
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
    fn packed_channels() {
        let color = [1.0, 0.5, f32::NAN, 0.0];
        let packed = |ty| packed(ChannelOrder::Rgb, ty, color);
        assert_eq!(packed(ChannelType::UnormShort565), (0x1f << 11 | 0x20u16 << 5).to_le_bytes());
        assert_eq!(packed(ChannelType::UnormShort555), (0x1f << 10 | 0x10u16 << 5).to_le_bytes());
        assert_eq!(packed(ChannelType::UnormInt101010), (0x3ff << 20 | 0x200u32 << 10).to_le_bytes());
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
        assert_eq!(format(ChannelType::SignedInt8).pack(color), [127, 0x80]);
        assert_eq!(format(ChannelType::UnsignedInt8).pack(color), [255, 255]);
        assert_eq!(format(ChannelType::SignedInt16).pack(color)[2..], (-300i16).to_ne_bytes());
    }
}
