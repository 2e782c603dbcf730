//! Conversion between texels in a surface format and in registers.
//!
//! Skylake manual, Volume 7 "3D-Media-GPGPU", "Surface Formats" and "Data Type Conversions"; the same rules
//! are in the OpenCL C specification, section 8.3.

use super::format::{ChannelType, Channels, Component, SurfaceFormat};
use super::values::Texel;
use crate::dispatch::Rounding;
use crate::float::{from_f16, to_f16};

/// Largest unsigned value of `bits` bits.
pub fn largest(bits: u32) -> u32 {
    u32::MAX >> (32 - bits)
}

/// Sign-extends a value of `bits` bits.
fn signed(value: u32, bits: u32) -> i32 {
    (value << (32 - bits)) as i32 >> (32 - bits)
}

/// The value of the sRGB encoding of `v`, both 0 to 1 (IEC 61966-2-1).
fn from_srgb(v: f64) -> f64 {
    if v <= 0.04045 { v / 12.92 } else { ((v + 0.055) / 1.055).powf(2.4) }
}

/// Whether a component is encoded in sRGB formats.
pub fn is_colour(component: Component) -> bool {
    component != Component::Alpha
}

/// Converts the bits of a channel to a register's value.
pub fn expand(channel_type: ChannelType, component: Component, bits: u32, value: u32) -> u32 {
    let unorm = || f64::from(value) / f64::from(largest(bits));
    let float = match channel_type {
        ChannelType::Uint => return value,
        ChannelType::Sint => return signed(value, bits) as u32,
        ChannelType::Float if bits == 32 => return value,
        ChannelType::Float => from_f16(value as u16),
        ChannelType::Srgb if is_colour(component) => from_srgb(unorm()),
        ChannelType::Unorm | ChannelType::Srgb => unorm(),
        ChannelType::Snorm => (f64::from(signed(value, bits)) / f64::from(largest(bits - 1))).max(-1.0),
    };
    (float as f32).to_bits()
}

/// Converts a register's value to the bits of a channel. Floats are rounded to nearest, and NaN becomes 0 in
/// normalised formats; integers are limited to the channel's range.
fn reduce(channel_type: ChannelType, bits: u32, value: u32) -> u32 {
    let float = f64::from(f32::from_bits(value));
    let scaled = |low: f64, scale: u32| {
        let limited = if float.is_nan() { 0.0 } else { float.clamp(low, 1.0) };
        (limited * f64::from(scale)).round_ties_even() as i32
    };
    let reduced = match channel_type {
        ChannelType::Uint => value.min(largest(bits)),
        ChannelType::Sint => {
            let limit = largest(bits - 1) as i32;
            (value as i32).clamp(-limit - 1, limit) as u32
        }
        ChannelType::Float if bits == 32 => value,
        ChannelType::Float => u32::from(to_f16(float, Rounding::NearestEven)),
        // No typed write converts to sRGB.
        ChannelType::Unorm | ChannelType::Srgb => scaled(0.0, largest(bits)) as u32,
        ChannelType::Snorm => scaled(-1.0, largest(bits - 1)) as u32,
    };
    reduced & largest(bits)
}

/// The channels in registers that a component is read to.
pub fn registers(component: Component) -> &'static [usize] {
    match component {
        Component::Red => &[0],
        Component::Green => &[1],
        Component::Blue => &[2],
        Component::Alpha => &[3],
        Component::Luminance => &[0, 1, 2],
        Component::Intensity => &[0, 1, 2, 3],
        Component::Unused => &[],
    }
}

/// The channels of a format, each with its first bit and its width.
pub fn channel_bits(channels: Channels) -> impl Iterator<Item = (Component, u32, u32)> {
    channels.iter().scan(0, |next, (component, bits)| {
        let first = *next;
        *next += bits;
        Some((*component, first, *bits))
    })
}

impl SurfaceFormat {
    /// The value 1 in registers: an integer or a float.
    pub fn one(&self) -> u32 {
        if self.is_integer() { 1 } else { 1f32.to_bits() }
    }

    /// The values of channels that the format does not have: 0, and 1 for alpha.
    pub fn defaults(&self) -> Texel {
        [0, 0, 0, self.one()]
    }

    /// Replaces the channels of `texel` that the format does not have by their defaults.
    pub fn mask(&self, texel: Texel) -> Texel {
        let mut masked = self.defaults();
        for register in self.channels.iter().flat_map(|(component, _)| registers(*component)) {
            masked[*register] = texel[*register];
        }
        masked
    }

    /// Converts a texel's bits to registers.
    pub fn decode(&self, bits: u128) -> Texel {
        let mut texel = self.defaults();
        for (component, first, width) in channel_bits(self.channels) {
            let value = (bits >> first) as u32 & largest(width);
            for register in registers(component) {
                texel[*register] = expand(self.channel_type, component, width, value);
            }
        }
        texel
    }

    /// Converts registers to a texel's bits. `written` is the mask of the channels in registers that are
    /// written; others keep their bits in `old`. Unused bits become 0.
    pub fn encode(&self, texel: &Texel, written: u8, old: u128) -> u128 {
        let mut bits = 0;
        for (component, first, width) in channel_bits(self.channels) {
            let Some(register) = registers(component).first() else { continue };
            let value = if written >> register & 1 != 0 {
                reduce(self.channel_type, width, texel[*register])
            } else {
                (old >> first) as u32 & largest(width)
            };
            bits |= u128::from(value) << first;
        }
        bits
    }

    /// Mask of the channels in registers that the format has.
    pub fn components(&self) -> u8 {
        self.channels.iter().flat_map(|(component, _)| registers(*component)).fold(0, |all, n| all | 1 << n)
    }
}

#[cfg(test)]
mod tests {
    use gencl_isa::Generations;

    use super::super::format::{FORMATS, SurfaceFormat};

    fn named(name: &str) -> &'static SurfaceFormat {
        FORMATS.iter().find(|f| f.name == name).unwrap()
    }

    #[test]
    fn rows_are_in_order_and_whole_bytes() {
        assert!(FORMATS.windows(2).all(|w| w[0].number < w[1].number));
        for format in FORMATS {
            let bits: u32 = format.channels.iter().map(|(_, bits)| bits).sum();
            assert!(matches!(bits, 8 | 16 | 32 | 64 | 96 | 128), "{}", format.name);
            assert_eq!(SurfaceFormat::numbered(format.number), Some(format));
            let read = format.typed_read != Generations::NONE;
            assert!(format.typed_write || !read, "{}", format.name);
        }
        assert_eq!(SurfaceFormat::numbered(0x3), None);
    }

    #[test]
    fn written_texels_are_read_back() {
        // Exact in every format: 0, 1 and -1.
        for format in FORMATS.iter().filter(|f| f.typed_write) {
            let (one, minus) = match format.is_integer() {
                true => (1, u32::MAX),
                false => (1f32.to_bits(), (-1f32).to_bits()),
            };
            for texel in [[0, one, 0, one], [one, 0, one, 0], [minus, minus, minus, one]] {
                let back = format.decode(format.encode(&texel, 0xf, 0));
                let limited = texel.map(|v| match format.channel_type {
                    super::ChannelType::Unorm if v == minus => 0,
                    super::ChannelType::Uint => v.min(match format.channels[0].1 {
                        32 => u32::MAX,
                        bits => (1 << bits) - 1,
                    }),
                    _ => v,
                });
                assert_eq!(back, format.mask(limited), "{}", format.name);
            }
        }
    }

    #[test]
    fn small_formats_survive_a_round_trip() {
        for format in FORMATS.iter().filter(|f| f.typed_write && f.bytes() <= 2) {
            for bits in 0..1u128 << (8 * format.bytes()) {
                let texel = format.decode(bits);
                let back = format.encode(&texel, 0xf, 0);
                assert_eq!(format.decode(back), texel, "{} {bits:#x}", format.name);
            }
        }
    }

    #[test]
    fn conversions() {
        let f = f32::to_bits;
        let rgba8 = named("R8G8B8A8_UNORM");
        assert_eq!(rgba8.decode(0xff00_8001), [f(1.0 / 255.0), f(128.0 / 255.0), 0, f(1.0)]);
        assert_eq!(rgba8.encode(&[f(0.5), f(-1.0), f(2.0), f(f32::NAN)], 0xf, 0), 0x00ff_0080);
        assert_eq!(rgba8.encode(&[f(1.0); 4], 0b0010, 0x1122_3344), 0x1122_ff44);
        assert_eq!(named("B8G8R8A8_UNORM").decode(0xff), [0, 0, f(1.0), 0]);
        let rgb565 = named("B5G6R5_UNORM");
        assert_eq!(rgb565.decode(0xf81f), [f(1.0), 0, f(1.0), f(1.0)]);
        assert_eq!(rgb565.decode(1 << 5), [0, f(1.0 / 63.0), 0, f(1.0)]);
        assert_eq!(rgb565.encode(&[f(1.0), 0, 0, 0], 0xf, 0), 0xf800);
        assert_eq!(named("B5G5R5A1_UNORM").decode(0x8001), [0, 0, f(1.0 / 31.0), f(1.0)]);
        assert_eq!(named("R10G10B10A2_UNORM").decode(0x4000_03ff), [f(1.0), 0, 0, f(1.0 / 3.0)]);
        let snorm = named("R8_SNORM");
        assert_eq!(snorm.decode(0x80)[0], f(-1.0));
        assert_eq!(snorm.decode(0x81)[0], f(-1.0));
        assert_eq!(snorm.encode(&[f(-1.0), 0, 0, 0], 0xf, 0), 0x81);
        let half = named("R16_FLOAT");
        assert_eq!(half.decode(0x3c01)[0], f(1.0 + 1.0 / 1024.0));
        assert_eq!(half.encode(&[f(65520.0), 0, 0, 0], 0xf, 0), 0x7c00);
        assert_eq!(named("R8_SINT").encode(&[-200i32 as u32, 0, 0, 0], 0xf, 0), 0x80);
        assert_eq!(named("R8_UINT").encode(&[300, 0, 0, 0], 0xf, 0), 0xff);
        assert_eq!(named("R16G16_SINT").decode(0xffff), [u32::MAX, 0, 0, 1]);
        assert_eq!(named("A8_UNORM").decode(0xff), [0, 0, 0, f(1.0)]);
        assert_eq!(named("L8_UNORM").decode(0xff), [f(1.0); 4]);
        assert_eq!(named("I8_UNORM").decode(0), [0; 4]);
        assert_eq!(named("L8_UNORM").decode(0), [0, 0, 0, f(1.0)]);
        let srgb = named("R8G8B8A8_UNORM_SRGB").decode(0x80_00_ff_bc);
        assert!((f32::from_bits(srgb[0]) - 0.502_886).abs() < 1e-5);
        assert_eq!(srgb[1..], [f(1.0), 0, f(128.0 / 255.0)], "alpha is linear");
    }
}
