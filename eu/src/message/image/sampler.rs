//! Messages to the sampler.
//!
//! Skylake manual, Volume 7 "3D-Media-GPGPU", "Sampling Engine", "Messages"; descriptor: Volume 2d,
//! `MSD_SAMPLER`; parameters cross-checked with Mesa's `brw_lower_logical_sends.cpp` and what Intel's
//! compiler emits.
//!
//! Payload: optional header, then the parameters, each a dword per channel. Parameters that are missing at
//! the end are 0. Response: red, green, blue, alpha, each in separate registers; as many as fit in the
//! response length, without those that the header's write mask disables.

use super::super::Call;
use super::super::scattered::lanes;
use super::Texel;
use super::filter::{self, Filter, Tap};
use super::rules::Rules;
use super::sampler_state::{LevelFilter, SamplerState};
use super::surface::{Surface, SurfaceType};
use crate::dispatch::{GRF_SIZE, Rounding};
use crate::fault::Fault;
use crate::file;
use crate::float::to_f16;

/// A message to the sampler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Binding table index.
    pub surface: u8,
    /// Index of the sampler state.
    pub sampler: u8,
    /// The operation.
    pub kind: SampleKind,
    /// Channels of the message: 8 or 16.
    pub simd: usize,
    /// The response has 16 bits per value.
    pub half: bool,
}

/// The operation of a message to the sampler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SampleKind {
    /// `sample`: filtered, with the level of detail derived from neighbouring channels.
    Sample,
    /// `sample_b`: as `sample`, with a bias of the level of detail.
    Bias,
    /// `sample_l`: filtered, with a level of detail.
    Level,
    /// `sample_lz`: filtered, level 0.
    LevelZero,
    /// `ld`: a texel, unfiltered.
    Load,
    /// `ld_lz`: a texel of level 0, unfiltered.
    LoadLevelZero,
    /// `resinfo`: sizes.
    ResourceInfo,
}

impl SampleKind {
    /// Decodes the message type of the descriptor; `None` for those that are not simulated.
    pub fn of_type(number: u32) -> Option<SampleKind> {
        Some(match number {
            0 => SampleKind::Sample,
            1 => SampleKind::Bias,
            2 => SampleKind::Level,
            7 => SampleKind::Load,
            10 => SampleKind::ResourceInfo,
            24 => SampleKind::LevelZero,
            26 => SampleKind::LoadLevelZero,
            _ => return None,
        })
    }

    /// The parameters, in the order of the payload.
    fn parameters(self, rules: &Rules) -> &'static [Parameter] {
        use Parameter::{Level, R, U, V};
        match self {
            SampleKind::Sample | SampleKind::LevelZero | SampleKind::LoadLevelZero => &[U, V, R],
            SampleKind::Bias | SampleKind::Level => &[Level, U, V, R],
            SampleKind::Load if rules.load_level_third => &[U, V, Level, R],
            SampleKind::Load => &[U, Level, V, R],
            SampleKind::ResourceInfo => &[Level],
        }
    }

    /// Whether a generation has this message.
    fn exists(self, rules: &Rules) -> bool {
        rules.level_zero_messages || !matches!(self, SampleKind::LevelZero | SampleKind::LoadLevelZero)
    }
}

/// A parameter of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Parameter {
    U,
    V,
    R,
    /// Level of detail, or its bias.
    Level,
}

/// The parameters of one channel.
#[derive(Clone, Copy, Debug, Default)]
struct SampleCoordinates {
    /// U, V, R: floats, or integers for `ld`.
    coordinates: [u32; 3],
    level: u32,
}

/// The parts of a message that are the same for all channels.
struct Sampling {
    image: Surface,
    state: Option<SamplerState>,
    kind: SampleKind,
    /// Offsets of coordinates in texels.
    offsets: [i32; 3],
}

/// Maximum number of channels of a message.
const MAX_SIMD: usize = 16;
/// Subdivisions of a level of detail.
const LEVEL_PARTS: i64 = 256;

/// Performs a message for all enabled channels.
pub fn sample(call: &mut Call<'_, '_>, message: &Sample) -> Result<(), Fault> {
    let Sample { surface, sampler, kind, simd, half } = *message;
    let rules = call.rules();
    if !kind.exists(rules) {
        return Err(Fault::illegal(format!("sampler message {kind:?}, which the generation does not have")));
    }
    let image = call.image(surface)?;
    let state = match kind {
        SampleKind::Load | SampleKind::LoadLevelZero | SampleKind::ResourceInfo => None,
        _ => Some(call.sampler_state(sampler)?),
    };
    if let Some(state) = &state {
        check(&image, state, kind, call.context.strict)?;
    }
    let control = if call.lengths.header { call.header(2)? } else { 0 };
    // Offsets of U, V, R in four bits each, from bit 11 down.
    let offsets = [8, 4, 0].map(|first| (control >> first << 28) as i32 >> 28);
    let per_parameter = simd * 4 / GRF_SIZE;
    let per_channel = if half { 1 } else { per_parameter };
    let channels = (0..4).filter(|channel| control >> (12 + channel) & 1 == 0);
    let channels: Vec<usize> = channels.take(call.lengths.response_length / per_channel).collect();
    let response = call.response(channels.len() * per_channel)?;
    let count = (call.lengths.length + call.lengths.second_length - call.first()) / per_parameter;
    let parameters = kind.parameters(rules);
    if count == 0 || count > parameters.len() + 1 {
        return Err(Fault::illegal(format!("{count} parameters in a message to the sampler")));
    }
    let mask = call.channels(simd)?;
    let sampling = Sampling { image, state, kind, offsets };
    // Read first, as the response may overlap the payload.
    let mut coordinates = [SampleCoordinates::default(); MAX_SIMD];
    for (index, parameter) in parameters.iter().take(count).enumerate() {
        let at = call.payload_range(call.first() + index * per_parameter, per_parameter)?;
        for lane in lanes(mask) {
            let value = file::dword(&call.thread.file, at + lane * 4);
            match parameter {
                Parameter::U => coordinates[lane].coordinates[0] = value,
                Parameter::V => coordinates[lane].coordinates[1] = value,
                Parameter::R => coordinates[lane].coordinates[2] = value,
                Parameter::Level => coordinates[lane].level = value,
            }
        }
    }
    for lane in lanes(mask) {
        let texel = sampling.texel(call, coordinates[lane]).map_err(|fault| fault.in_lane(lane as u32))?;
        for (index, channel) in channels.iter().enumerate() {
            let at = response + index * per_channel * GRF_SIZE;
            let value = texel[*channel];
            if half {
                let integer = sampling.image.format.is_integer() || kind == SampleKind::ResourceInfo;
                let short = if integer {
                    value as u16
                } else {
                    to_f16(f64::from(f32::from_bits(value)), Rounding::NearestEven)
                };
                call.thread.file[at + lane * 2..at + lane * 2 + 2].copy_from_slice(&short.to_le_bytes());
            } else {
                file::set_dword(&mut call.thread.file, at + lane * 4, value);
            }
        }
    }
    Ok(())
}

/// Checks that a sampler can be used with a surface.
fn check(image: &Surface, state: &SamplerState, kind: SampleKind, strict: bool) -> Result<(), Fault> {
    if image.ty == SurfaceType::Buffer {
        return Err(Fault::illegal("a buffer surface is sampled"));
    }
    let linear = state.smaller == Filter::Linear || state.larger == Filter::Linear;
    if strict && linear && image.format.is_integer() {
        return Err(Fault::illegal(format!("a linear filter on format {}", image.format.name)));
    }
    // The level of detail only matters where there are several, or two filters to choose from.
    let one = image.last_level == 0 && state.smaller == state.larger && state.axes(false) == state.axes(true);
    if matches!(kind, SampleKind::Sample | SampleKind::Bias) && !one {
        return Err(Fault::unsupported("a level of detail from the coordinates of neighbouring channels"));
    }
    Ok(())
}

/// Adds a weighted texel to a sum.
fn weigh(sum: &mut [f64; 4], texel: Texel, weight: f64) {
    for (sum, value) in sum.iter_mut().zip(texel) {
        *sum += f64::from(f32::from_bits(value)) * weight;
    }
}

fn round(values: [f64; 4]) -> Texel {
    values.map(|value| (value as f32).to_bits())
}

impl Sampling {
    /// The result of one channel.
    fn texel(&self, call: &mut Call<'_, '_>, at: SampleCoordinates) -> Result<Texel, Fault> {
        if self.image.ty == SurfaceType::Null {
            return Ok([0; 4]);
        }
        match (self.kind, &self.state) {
            (SampleKind::ResourceInfo, _) => Ok(self.sizes(at.level)),
            (_, Some(state)) => Ok(self.image.select(self.filtered(call, state, at)?)),
            (_, None) => Ok(self.image.select(self.loaded(call, at)?)),
        }
    }

    /// `resinfo`: width, height, depth or slices, number of levels; all but the last are 0 for a level that
    /// does not exist.
    fn sizes(&self, level: u32) -> Texel {
        let image = &self.image;
        let levels = image.last_level + 1;
        if level >= levels {
            return [0, 0, 0, levels];
        }
        let [width, height, depth] = image.level_size(image.first_level + level);
        let slices = if image.array { depth } else { 0 };
        match image.ty {
            SurfaceType::OneDimensional => [width, slices, 0, levels],
            SurfaceType::TwoDimensional => [width, height, slices, levels],
            SurfaceType::ThreeDimensional => [width, height, depth, levels],
            SurfaceType::Buffer | SurfaceType::Null => [width, 0, 0, 0],
        }
    }

    /// `ld`: the texel at integer coordinates; out of bounds, the channels that the format has are 0.
    fn loaded(&self, call: &mut Call<'_, '_>, at: SampleCoordinates) -> Result<Texel, Fault> {
        let image = &self.image;
        let mut coordinates = at.coordinates;
        for (coordinate, offset) in coordinates.iter_mut().zip(self.offsets).take(image.dimensions()) {
            *coordinate = coordinate.wrapping_add_signed(offset);
        }
        let address = match at.level {
            level if level <= image.last_level => image.texel(image.first_level + level, coordinates),
            _ => None,
        };
        match address {
            Some(address) => Ok(image.format.decode(call.read_texel(address, image.format.bytes())?)),
            None => Ok(image.format.mask([0; 4])),
        }
    }

    /// A filtered value.
    fn filtered(
        &self,
        call: &mut Call<'_, '_>,
        state: &SamplerState,
        at: SampleCoordinates,
    ) -> Result<Texel, Fault> {
        let requested = match self.kind {
            SampleKind::Level => f32::from_bits(at.level),
            _ => 0.0,
        };
        let [lowest, highest] = state.level_limits.map(i64::from);
        let parts = (f64::from(requested) * LEVEL_PARTS as f64).floor() as i64 + i64::from(state.level_bias);
        let lowest = lowest.max(i64::from(self.image.minimum_level));
        let level = parts.max(lowest).min(highest.max(lowest));
        let smaller = level > 0;
        let coordinates = at.coordinates.map(f32::from_bits);
        let last = i64::from(self.image.last_level);
        let at = |level: i64| level.clamp(0, last) as u32;
        match state.levels {
            LevelFilter::None => self.of_level(call, state, smaller, 0, coordinates),
            LevelFilter::Nearest => {
                let nearest = at((level + LEVEL_PARTS / 2).div_euclid(LEVEL_PARTS));
                self.of_level(call, state, smaller, nearest, coordinates)
            }
            LevelFilter::Linear => {
                let first = level.div_euclid(LEVEL_PARTS);
                let weight = level.rem_euclid(LEVEL_PARTS) as f64 / LEVEL_PARTS as f64;
                let near = self.of_level(call, state, smaller, at(first), coordinates)?;
                if at(first) == at(first + 1) || weight == 0.0 {
                    return Ok(near);
                }
                let far = self.of_level(call, state, smaller, at(first + 1), coordinates)?;
                let mut sum = [0.0; 4];
                weigh(&mut sum, near, 1.0 - weight);
                weigh(&mut sum, far, weight);
                Ok(round(sum))
            }
        }
    }

    /// The filtered value of one level (0 is the surface's first).
    fn of_level(
        &self,
        call: &mut Call<'_, '_>,
        state: &SamplerState,
        smaller: bool,
        level: u32,
        coordinates: [f32; 3],
    ) -> Result<Texel, Fault> {
        let image = &self.image;
        let filter = match if smaller { state.smaller } else { state.larger } {
            _ if image.format.is_integer() => Filter::Nearest,
            filter => filter,
        };
        let level = image.first_level + level;
        let size = image.level_size(level);
        let dimensions = image.dimensions();
        // The only texel in a dimension that the surface does not have.
        let mut taps: [[Tap; 2]; 3] = [[(Some(0), 256), (None, 0)]; 3];
        for n in 0..dimensions {
            taps[n] = state.axes(smaller)[n].taps(filter, coordinates[n], size[n], self.offsets[n]);
        }
        if image.array && dimensions < 3 {
            taps[2][0].0 = Some(filter::slice(coordinates[dimensions], size[2]));
        }
        if filter == Filter::Nearest {
            return self.tap(call, state, level, [taps[0][0].0, taps[1][0].0, taps[2][0].0]);
        }
        let mut sum = [0.0; 4];
        for corner in 0..8 {
            let chosen: [Tap; 3] = std::array::from_fn(|axis| taps[axis][corner >> axis & 1]);
            let weight = chosen.iter().map(|(_, weight)| f64::from(*weight) / 256.0).product::<f64>();
            // A texel with weight 0 is skipped, as it may be infinite.
            if weight > 0.0 {
                let texel = self.tap(call, state, level, chosen.map(|(texel, _)| texel))?;
                weigh(&mut sum, texel, weight);
            }
        }
        Ok(round(sum))
    }

    /// A texel, or the border colour in the channels that the format has.
    fn tap(
        &self,
        call: &mut Call<'_, '_>,
        state: &SamplerState,
        level: u32,
        place: [Option<u32>; 3],
    ) -> Result<Texel, Fault> {
        let format = self.image.format;
        match place {
            [Some(x), Some(y), Some(z)] => {
                let address = self.image.address(level, [x, y, z]);
                Ok(format.decode(call.read_texel(address, format.bytes())?))
            }
            _ => Ok(format.mask(call.border_colour(state.border, &self.image)?)),
        }
    }
}
