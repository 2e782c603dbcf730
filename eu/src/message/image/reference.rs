//! The sampler for one channel: its result from the definition, one texel after the other.

use super::filter::{self, Filter, Tap};
use super::prepared::{Levels, Prepared};
use super::sample_kind::SampleKind;
use super::sampler_state::SamplerState;
use super::source::TexelSource;
use super::surface::SurfaceType;
use super::values::Texel;
use crate::fault::Fault;

/// The parameters of one channel.
#[derive(Clone, Copy, Debug, Default)]
pub struct SampleCoordinates {
    /// U, V, R: floats, or integers for `ld`.
    pub coordinates: [u32; 3],
    /// Level of detail.
    pub level: u32,
}

/// The parts of a message that are the same for all channels.
pub struct Sampling<'a> {
    /// States.
    pub prepared: &'a Prepared,
    /// Operation.
    pub kind: SampleKind,
    /// Offsets of coordinates in texels.
    pub offsets: [i32; 3],
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

impl Sampling<'_> {
    /// The result of one channel.
    pub fn texel(&self, source: &mut dyn TexelSource, at: SampleCoordinates) -> Result<Texel, Fault> {
        let Prepared { image, sampler, .. } = self.prepared;
        if image.ty == SurfaceType::Null {
            return Ok([0; 4]);
        }
        match (self.kind, sampler) {
            (SampleKind::ResourceInfo, _) => Ok(self.sizes(at.level)),
            (_, Some(state)) => Ok(image.select(self.filtered(source, state, at)?)),
            (_, None) => Ok(image.select(self.loaded(source, at)?)),
        }
    }

    /// `resinfo`: width, height, depth or slices, number of levels; all but the last are 0 for a level that
    /// does not exist.
    fn sizes(&self, level: u32) -> Texel {
        let image = &self.prepared.image;
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
    fn loaded(&self, source: &mut dyn TexelSource, at: SampleCoordinates) -> Result<Texel, Fault> {
        let image = &self.prepared.image;
        let mut coordinates = at.coordinates;
        for (coordinate, offset) in coordinates.iter_mut().zip(self.offsets).take(image.dimensions()) {
            *coordinate = coordinate.wrapping_add_signed(offset);
        }
        let address = match at.level {
            level if level <= image.last_level => image.texel(image.first_level + level, coordinates),
            _ => None,
        };
        match address {
            Some(address) => source.texel(address, image),
            None => Ok(image.format.mask([0; 4])),
        }
    }

    /// A filtered value.
    fn filtered(
        &self,
        source: &mut dyn TexelSource,
        state: &SamplerState,
        at: SampleCoordinates,
    ) -> Result<Texel, Fault> {
        let requested = match self.kind {
            SampleKind::Level => f32::from_bits(at.level),
            SampleKind::Sample
            | SampleKind::Bias
            | SampleKind::LevelZero
            | SampleKind::Load
            | SampleKind::LoadLevelZero
            | SampleKind::ResourceInfo => 0.0,
        };
        let coordinates = at.coordinates.map(f32::from_bits);
        let Levels { smaller, levels: [first, second], weight } = self.prepared.levels(state, requested);
        let near = self.of_level(source, state, smaller, first, coordinates)?;
        if weight == 0.0 {
            return Ok(near);
        }
        let far = self.of_level(source, state, smaller, second, coordinates)?;
        let mut sum = [0.0; 4];
        weigh(&mut sum, near, 1.0 - weight);
        weigh(&mut sum, far, weight);
        Ok(round(sum))
    }

    /// The filtered value of one level (0 is the surface's first).
    fn of_level(
        &self,
        source: &mut dyn TexelSource,
        state: &SamplerState,
        smaller: bool,
        level: u32,
        coordinates: [f32; 3],
    ) -> Result<Texel, Fault> {
        let image = &self.prepared.image;
        let filter = self.prepared.filter(state, smaller);
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
            return self.tap(source, state, level, [taps[0][0].0, taps[1][0].0, taps[2][0].0]);
        }
        let mut sum = [0.0; 4];
        for corner in 0..8 {
            let chosen: [Tap; 3] = std::array::from_fn(|axis| taps[axis][corner >> axis & 1]);
            let weight = chosen.iter().map(|(_, weight)| f64::from(*weight) / 256.0).product::<f64>();
            // A texel with weight 0 is skipped, as it may be infinite.
            if weight > 0.0 {
                let texel = self.tap(source, state, level, chosen.map(|(texel, _)| texel))?;
                weigh(&mut sum, texel, weight);
            }
        }
        Ok(round(sum))
    }

    /// A texel, or the border colour in the channels that the format has.
    fn tap(
        &self,
        source: &mut dyn TexelSource,
        state: &SamplerState,
        level: u32,
        place: [Option<u32>; 3],
    ) -> Result<Texel, Fault> {
        let image = &self.prepared.image;
        match place {
            [Some(x), Some(y), Some(z)] => {
                let address = image.address(level, [x, y, z]);
                source.texel(address, image)
            }
            _ => Ok(image.format.mask(source.border(state.border, image)?)),
        }
    }
}
