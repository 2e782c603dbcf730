//! Conversion of texels for all channels of a message at once; `convert.rs` does it for one.

use super::convert::{self, channel_bits, expand, registers};
use super::format::{ChannelType, SurfaceFormat};
use super::values::{Dwords, LANES, Lanes, each};
use crate::dispatch::Rounding;
use crate::float::to_f16;

/// How the values of texels become registers.
#[derive(Debug)]
pub struct Decoder {
    /// Red, green, blue, alpha in registers.
    channels: [Channel; 4],
}

/// Where the value of a channel in registers comes from.
#[derive(Clone, Debug)]
enum Channel {
    /// The format does not have it.
    Default(u32),
    /// Bits of a texel.
    Bits {
        /// Dword of the texel.
        dword: usize,
        /// First bit.
        first: u32,
        /// Number of bits.
        width: u32,
        expansion: Expansion,
    },
}

/// The conversion of a channel's bits.
#[derive(Clone, Debug)]
enum Expansion {
    Unsigned,
    Signed,
    /// Half float.
    Half,
    /// Divided by this value.
    Unorm(f32),
    /// Divided by this value, at least -1.
    Snorm(f32),
    /// The values by the bits.
    Table(Vec<u32>),
}

impl Decoder {
    /// The decoder of a format.
    pub fn of(format: &SurfaceFormat) -> Decoder {
        let mut channels = format.defaults().map(Channel::Default);
        for (component, first, width) in channel_bits(format.channels) {
            let expansion = match format.channel_type {
                ChannelType::Uint => Expansion::Unsigned,
                ChannelType::Sint => Expansion::Signed,
                ChannelType::Float if width == 32 => Expansion::Unsigned,
                ChannelType::Float => Expansion::Half,
                ChannelType::Srgb if convert::is_colour(component) => Expansion::Table(
                    (0..1 << width).map(|bits| expand(format.channel_type, component, width, bits)).collect(),
                ),
                // At most 24 bits, which are exact. The quotient is correctly rounded, as is that of `f64` when it
                // is rounded to `f32`: it is too far from the middle of two `f32` to be rounded to it.
                ChannelType::Unorm | ChannelType::Srgb => Expansion::Unorm(convert::largest(width) as f32),
                ChannelType::Snorm => Expansion::Snorm(convert::largest(width - 1) as f32),
            };
            let bits = Channel::Bits { dword: first as usize / 32, first: first % 32, width, expansion };
            for register in registers(component) {
                channels[*register] = bits.clone();
            }
        }
        Decoder { channels }
    }

    /// The value of a channel that the format does not have.
    pub fn default(&self, channel: usize) -> Option<u32> {
        match self.channels[channel] {
            Channel::Default(value) => Some(value),
            Channel::Bits { .. } => None,
        }
    }

    /// The values of a channel.
    #[inline]
    pub fn decode<const N: usize>(&self, channel: usize, texels: &Dwords) -> Lanes<u32> {
        let (dword, first, width, expansion) = match &self.channels[channel] {
            Channel::Default(value) => return [*value; LANES],
            Channel::Bits { dword, first, width, expansion } => (&texels[*dword], *first, *width, expansion),
        };
        // The channel in the upper bits; shifted down it is zero- or sign-extended.
        let (up, down) = (32 - width - first, 32 - width);
        let unsigned = |lane: usize| dword[lane] << up >> down;
        let signed = |lane: usize| (dword[lane] << up) as i32 >> down;
        match expansion {
            Expansion::Unsigned => each::<N, _>(unsigned),
            Expansion::Signed => each::<N, _>(|lane| signed(lane) as u32),
            Expansion::Half => each::<N, _>(|lane| from_half(unsigned(lane))),
            // A conversion from `i32` is one instruction; there are at most 24 bits.
            Expansion::Unorm(largest) => {
                each::<N, _>(|lane| (unsigned(lane) as i32 as f32 / largest).to_bits())
            }
            Expansion::Snorm(largest) => each::<N, _>(|lane| {
                let value = signed(lane) as f32 / largest;
                (if value < -1.0 { -1.0 } else { value }).to_bits()
            }),
            Expansion::Table(table) => each::<N, _>(|lane| table[unsigned(lane) as usize]),
        }
    }
}

/// The bits of an `f32` with the value of a half float.
#[inline(always)]
fn from_half(bits: u32) -> u32 {
    const EXPONENT: u32 = 0x7c00 << 13;
    let magnitude = (bits & 0x7fff) << 13;
    // Exact, and denormals become normal.
    let scaled = (f32::from_bits(magnitude) * f32::from_bits((127 + 127 - 15) << 23)).to_bits();
    let value = if magnitude >= EXPONENT { magnitude | 0x7f80_0000 } else { scaled };
    value | (bits & 0x8000) << 16
}

/// Converts registers to texels, all of whose channels are written.
#[inline]
pub fn encode<const N: usize>(format: &SurfaceFormat, values: &Dwords) -> Dwords {
    let mut texels = [[0; LANES]; 4];
    for (component, first, width) in channel_bits(format.channels) {
        let Some(register) = registers(component).first() else { continue };
        let bits = reduce::<N>(format.channel_type, width, &values[*register]);
        let dword = &mut texels[first as usize / 32];
        for (dword, bits) in dword[..N].iter_mut().zip(bits) {
            *dword |= (bits & convert::largest(width)) << (first % 32);
        }
    }
    texels
}

/// Converts values to the bits of a channel, which are the low ones of each result.
fn reduce<const N: usize>(channel_type: ChannelType, bits: u32, values: &Lanes<u32>) -> Lanes<u32> {
    let largest = convert::largest(bits);
    let scaled = |low: f64, scale: u32| each::<N, _>(|lane| to_integer(values[lane], low, f64::from(scale)));
    match channel_type {
        ChannelType::Uint => each::<N, _>(|lane| values[lane].min(largest)),
        ChannelType::Sint => {
            let limit = convert::largest(bits - 1) as i32;
            each::<N, _>(|lane| (values[lane] as i32).clamp(-limit - 1, limit) as u32)
        }
        ChannelType::Float if bits == 32 => *values,
        ChannelType::Float => each::<N, _>(|lane| {
            u32::from(to_f16(f64::from(f32::from_bits(values[lane])), Rounding::NearestEven))
        }),
        ChannelType::Unorm | ChannelType::Srgb => scaled(0.0, largest),
        ChannelType::Snorm => scaled(-1.0, convert::largest(bits - 1)),
    }
}

/// A value limited to `low` to 1, scaled and rounded to the nearest or even integer. NaN is 0.
#[inline(always)]
fn to_integer(bits: u32, low: f64, scale: f64) -> u32 {
    // Added to a value of less than 2^31, it leaves the integer in the low bits of the mantissa.
    const INTEGER: f64 = 1.5 * (1u64 << 52) as f64;
    let value = f64::from(f32::from_bits(bits));
    let number = if value.is_nan() { 0.0 } else { value };
    let above = if number < low { low } else { number };
    let limited = if above > 1.0 { 1.0 } else { above };
    (limited * scale + INTEGER).to_bits() as u32
}
