//! `SAMPLER_STATE` and border colours.
//!
//! Fields: Skylake manual, Volume 2d "Command Reference: Structures"; the same bits in Mesa's `gen7.xml` to
//! `gen9.xml`.

use super::filter::{AddressMode, Axis, Filter};
use super::format::{ChannelType, SurfaceFormat};
use super::rules::Rules;
use super::values::{Texel, bits};
use crate::fault::Fault;

/// The filter between levels of detail ("Mip Mode Filter").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LevelFilter {
    /// Only the first level is used.
    None,
    /// The nearest level.
    Nearest,
    /// Interpolates between two levels.
    Linear,
}

/// A sampler.
#[derive(Clone, Debug)]
pub struct SamplerState {
    /// Minification filter.
    pub smaller: Filter,
    /// Magnification filter.
    pub larger: Filter,
    /// Filter between levels.
    pub levels: LevelFilter,
    /// The axes U, V, R, with the rounding of each filter.
    smaller_axes: [Axis; 3],
    larger_axes: [Axis; 3],
    /// Limits of the level of detail, in units of 1/256.
    pub level_limits: [u32; 2],
    /// Added to the level of detail, in units of 1/256.
    pub level_bias: i32,
    /// Offset of the border colour from the Dynamic State Base Address.
    pub border: u32,
}

impl SamplerState {
    /// The axes for a filter: U, V, R.
    pub fn axes(&self, smaller: bool) -> &[Axis; 3] {
        if smaller { &self.smaller_axes } else { &self.larger_axes }
    }

    /// Decodes a sampler state.
    ///
    /// # Errors
    /// Filters and address modes that are not simulated.
    pub fn decode(state: [u32; 4], rules: &Rules) -> Result<SamplerState, Fault> {
        let field = |first, last| bits(&state, first, last);
        let filter = |code| match code {
            0 => Ok(Filter::Nearest),
            1 => Ok(Filter::Linear),
            other => Err(Fault::unsupported(format!("sampler filter {other}"))),
        };
        if field(31, 31) != 0 {
            return Err(Fault::unsupported("a sampler that is disabled"));
        }
        let normalized = field(106, 106) == 0;
        let mut modes = [AddressMode::Clamp; 3];
        for (mode, first) in modes.iter_mut().zip([102, 99, 96]) {
            let code = field(first, first + 2);
            *mode = AddressMode::of_code(code)
                .ok_or_else(|| Fault::unsupported(format!("texture coordinate mode {code}")))?;
        }
        let axes = |rounding: [u32; 3]| {
            std::array::from_fn(|n| Axis {
                mode: modes[n],
                normalized,
                rounded: field(rounding[n], rounding[n]) != 0,
            })
        };
        Ok(SamplerState {
            smaller: filter(field(14, 16))?,
            larger: filter(field(17, 19))?,
            levels: match field(20, 21) {
                0 => LevelFilter::None,
                1 => LevelFilter::Nearest,
                3 => LevelFilter::Linear,
                other => return Err(Fault::illegal(format!("mip mode filter {other}"))),
            },
            smaller_axes: axes([113, 111, 109]),
            larger_axes: axes([114, 112, 110]),
            level_limits: [field(52, 63), field(40, 51)],
            level_bias: (field(1, 13) << 19) as i32 >> 19,
            border: rules.border_pointer.offset(&state),
        })
    }
}

/// The channels of a border colour of [`IntegerBorder::Packed`]. The places of those of 8 bits are bytes of the
/// first dword; of narrower ones than 32 bits, halves of the first and the third; the green of two channels of
/// 32 bits is where blue is (`gen75.xml`, SAMPLER_BORDER_COLOR_STATE; Mesa's `crocus_upload_border_color`).
pub fn unpack_border(format: &SurfaceFormat, dwords: [u32; 4]) -> Texel {
    let (places, bits): ([u32; 4], u32) = match (format.channels[0].1, format.channels.len()) {
        (8, _) => ([0, 8, 16, 24], 8),
        (32, 2) => ([0, 64, 32, 96], 32),
        (32, _) => ([0, 32, 64, 96], 32),
        _ => ([0, 16, 64, 80], 16),
    };
    places.map(|place| {
        let value = dwords[place as usize / 32] >> (place % 32) << (32 - bits);
        match format.channel_type {
            ChannelType::Sint => (value as i32 >> (32 - bits)) as u32,
            ChannelType::Unorm
            | ChannelType::Snorm
            | ChannelType::Srgb
            | ChannelType::Uint
            | ChannelType::Float => value >> (32 - bits),
        }
    })
}
