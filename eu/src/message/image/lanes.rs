//! Texels of all channels of a message at once: filtered, loaded and written.
//!
//! Each step is a loop over the channels, of which the compiler makes vector instructions; what differs between
//! formats, address modes and tilings is decided outside of the loops. The functions return `None` for what has to
//! be done channel by channel.

use super::channels::encode;
use super::filter::{self, Filter};
use super::positions::{LaneTaps, ONLY, mask};
use super::prepared::Prepared;
use super::sampler_state::SamplerState;
use super::source::TexelSource;
use super::surface::SurfaceType;
use super::texels::{self, Level};
use super::values::{Dwords, LANES, Lanes, Texel, each, sum};
use crate::memory::HostRange;
use crate::operand::lanes;

/// What all functions need.
pub struct LaneAccess<'a> {
    /// The states of the message.
    pub prepared: &'a Prepared,
    /// The level of detail that all channels use.
    pub level: &'a Level,
    /// The memory of the level, from the surface's base address on.
    pub range: HostRange<'a>,
    /// The enabled channels.
    pub mask: u32,
    /// The channels in registers that the result needs.
    pub needed: [bool; 4],
}

/// The offsets of two texels along each axis.
struct Corners {
    columns: [Lanes<u32>; 2],
    rows: [Lanes<u32>; 2],
}

impl LaneAccess<'_> {
    /// The filtered values at coordinates U, V, R, which are the bits of floats; `source` has the border colour.
    pub fn filtered<const N: usize>(
        &self,
        source: &mut dyn TexelSource,
        state: &SamplerState,
        smaller: bool,
        coordinates: &[Lanes<u32>; 3],
        offsets: [i32; 3],
    ) -> Option<Dwords> {
        match self.prepared.filter(state, smaller) {
            Filter::Nearest => {
                let (places, inside) = self.nearest::<N>(state, smaller, coordinates, offsets);
                let border = match self.mask & !inside {
                    0 => [0; 4],
                    _ => source.border(state.border, &self.prepared.image).ok()?,
                };
                let dwords = self.texels::<N>(&places);
                Some(self.of_channels(|channel| self.values::<N>(channel, &dwords, inside, &border)))
            }
            Filter::Linear => {
                let taps = self.taps::<N>(state, smaller, coordinates, offsets);
                let border = self.border::<N>(source, state, &taps)?;
                Some(self.interpolated::<N>(&taps, &border))
            }
        }
    }

    /// Calls `access` with the GPU address of each texel that [`LaneAccess::filtered`] reads.
    pub fn filtered_texels<const N: usize>(
        &self,
        state: &SamplerState,
        smaller: bool,
        coordinates: &[Lanes<u32>; 3],
        offsets: [i32; 3],
        mut access: impl FnMut(u64),
    ) {
        let mut add = |places: &Lanes<u32>, channels: u32| {
            for lane in lanes(channels & self.mask) {
                access(self.prepared.image.base + u64::from(places[lane]));
            }
        };
        match self.prepared.filter(state, smaller) {
            Filter::Nearest => {
                let (places, inside) = self.nearest::<N>(state, smaller, coordinates, offsets);
                add(&places, inside);
            }
            Filter::Linear => {
                let taps = self.taps::<N>(state, smaller, coordinates, offsets);
                self.each_corner::<N>(&taps, |places, weights, inside| {
                    add(places, inside & mask::<N>(&each::<N, _>(|lane| weights[lane] > 0.0)));
                });
            }
        }
    }

    /// The slices of an array that the coordinates choose.
    fn slices<const N: usize>(&self, coordinates: &[Lanes<u32>; 3]) -> Option<Lanes<u32>> {
        let dimensions = self.prepared.image.dimensions();
        (self.prepared.image.array && dimensions < 3).then(|| {
            let slice = |lane: usize| f32::from_bits(coordinates[dimensions][lane]);
            each::<N, _>(|lane| filter::slice(slice(lane), self.level.size[2]))
        })
    }

    /// The offsets of the nearest texels, and the mask of those within bounds.
    fn nearest<const N: usize>(
        &self,
        state: &SamplerState,
        smaller: bool,
        coordinates: &[Lanes<u32>; 3],
        offsets: [i32; 3],
    ) -> (Lanes<u32>, u32) {
        let (mut places, mut inside) = ([[0; LANES]; 3], u32::MAX);
        let axes = &state.axes(smaller)[..self.prepared.image.dimensions()];
        for (n, axis) in axes.iter().enumerate() {
            let (texels, there) = axis.nearest::<N>(&coordinates[n], self.level.size[n], offsets[n]);
            places[n] = texels;
            inside &= there;
        }
        places[2] = self.slices::<N>(coordinates).unwrap_or(places[2]);
        (self.offsets::<N>(&places), inside)
    }

    /// The two texels along each axis, and their weights.
    fn taps<const N: usize>(
        &self,
        state: &SamplerState,
        smaller: bool,
        coordinates: &[Lanes<u32>; 3],
        offsets: [i32; 3],
    ) -> [LaneTaps; 3] {
        let mut taps = [ONLY; 3];
        let axes = &state.axes(smaller)[..self.prepared.image.dimensions()];
        for (n, axis) in axes.iter().enumerate() {
            taps[n] = axis.linear::<N>(&coordinates[n], self.level.size[n], offsets[n]);
        }
        taps[2].index[0] = self.slices::<N>(coordinates).unwrap_or(taps[2].index[0]);
        taps
    }

    /// Calls `corner` with the offsets, weights and mask of those within bounds of the texels that are filtered.
    #[inline]
    fn each_corner<const N: usize>(
        &self,
        taps: &[LaneTaps; 3],
        mut corner: impl FnMut(&Lanes<u32>, &Lanes<f64>, u32),
    ) {
        let used = |axis: usize| if self.prepared.image.dimensions() > axis { 2 } else { 1 };
        for z in 0..used(2) {
            let corners = self.corners::<N>(taps, z);
            for y in 0..used(1) {
                for x in 0..2 {
                    let chosen = [x, y, z];
                    let weights = corner_weights::<N>(taps, chosen);
                    if weights[..N].iter().all(|weight| *weight == 0.0) {
                        continue;
                    }
                    let places = sum::<N>(&corners.columns[x], &corners.rows[y]);
                    corner(&places, &weights, corner_inside(taps, chosen));
                }
            }
        }
    }

    /// The weighted sums of all texels.
    fn interpolated<const N: usize>(&self, taps: &[LaneTaps; 3], border: &Texel) -> Dwords {
        let mut sums = [[0.0; LANES]; 4];
        self.each_corner::<N>(taps, |places, weights, inside| {
            let dwords = self.texels::<N>(places);
            for (channel, sums) in sums.iter_mut().enumerate() {
                if self.is_read(channel) {
                    weigh::<N>(sums, &self.values::<N>(channel, &dwords, inside, border), weights);
                }
            }
        });
        self.of_channels(|channel| each::<N, _>(|lane| (sums[channel][lane] as f32).to_bits()))
    }

    /// The texels at integer coordinates, and 0 out of bounds in the channels that the format has. `levels` are the
    /// levels of detail, of which only 0 exists.
    pub fn loaded<const N: usize>(
        &self,
        coordinates: &[Lanes<u32>; 3],
        offsets: [i32; 3],
        levels: &Lanes<u32>,
    ) -> (Dwords, u32) {
        let places: [Lanes<u32>; 3] = std::array::from_fn(|n| {
            if n >= self.prepared.image.dimensions() {
                return coordinates[n];
            }
            each::<N, _>(|lane| coordinates[n][lane].wrapping_add_signed(offsets[n]))
        });
        let (offsets, inside) = self.places::<N>(&places, levels);
        let dwords = self.texels::<N>(&offsets);
        (self.of_channels(|channel| self.values::<N>(channel, &dwords, inside, &[0; 4])), inside)
    }

    /// Writes texels at integer coordinates, all of whose channels are given; those out of bounds are dropped.
    pub fn written<const N: usize>(&self, coordinates: &[Lanes<u32>; 3], values: &Dwords) {
        let (offsets, inside) = self.places::<N>(coordinates, &[0; LANES]);
        let format = self.prepared.image.format;
        let texels = encode::<N>(format, values);
        texels::write(&self.range, format.bytes(), &offsets, &texels, self.mask & inside);
    }

    /// The offsets of texels at integer coordinates, and the mask of those within bounds. As
    /// [`super::surface::Surface::texel`] for one.
    fn places<const N: usize>(
        &self,
        coordinates: &[Lanes<u32>; 3],
        levels: &Lanes<u32>,
    ) -> (Lanes<u32>, u32) {
        let image = &self.prepared.image;
        let dimensions = image.dimensions();
        let mut inside = each::<N, _>(|lane| levels[lane] == 0);
        let mut texels = [[0; LANES]; 3];
        // In an array, the coordinate after the dimensions is the slice.
        let slice = (image.array && dimensions < 3).then_some((dimensions, 2));
        for (from, axis) in (0..dimensions).map(|n| (n, n)).chain(slice) {
            let (places, size) = (&coordinates[from], self.level.size[axis]);
            inside = each::<N, _>(|lane| inside[lane] & (places[lane] < size));
            texels[axis] = each::<N, _>(|lane| if places[lane] < size { places[lane] } else { 0 });
        }
        (self.offsets::<N>(&texels), mask::<N>(&inside))
    }

    /// The offsets of texels.
    #[inline]
    fn offsets<const N: usize>(&self, [x, y, z]: &[Lanes<u32>; 3]) -> Lanes<u32> {
        let image = &self.prepared.image;
        if image.ty == SurfaceType::Buffer {
            return image.columns::<N>(x);
        }
        let [first_x, first_y] = self.level.origins::<N>(image, z);
        let columns = image.columns::<N>(&sum::<N>(x, &first_x));
        sum::<N>(&columns, &image.rows::<N>(&sum::<N>(y, &first_y)))
    }

    /// The offsets of the texels in the slices that are tap `z` of the third axis.
    fn corners<const N: usize>(&self, taps: &[LaneTaps; 3], z: usize) -> Corners {
        let image = &self.prepared.image;
        let [x, y] = self.level.origins::<N>(image, &taps[2].index[z]);
        let column = |n: usize| image.columns::<N>(&sum::<N>(&taps[0].index[n], &x));
        let row = |n: usize| image.rows::<N>(&sum::<N>(&taps[1].index[n], &y));
        Corners { columns: [column(0), column(1)], rows: [row(0), row(1)] }
    }

    /// The bits of texels.
    #[inline]
    fn texels<const N: usize>(&self, offsets: &Lanes<u32>) -> Dwords {
        texels::read::<N>(&self.range, self.prepared.image.format.bytes(), offsets)
    }

    /// The values of a channel: of texels where `inside` says so, else `outside`.
    #[inline]
    fn values<const N: usize>(
        &self,
        channel: usize,
        dwords: &Dwords,
        inside: u32,
        outside: &Texel,
    ) -> Lanes<u32> {
        let values = self.prepared.decoder.decode::<N>(channel, dwords);
        if inside & self.mask == self.mask {
            return values;
        }
        let other = self.prepared.decoder.default(channel).unwrap_or(outside[channel]);
        each::<N, _>(|lane| if inside >> lane & 1 != 0 { values[lane] } else { other })
    }

    /// Whether the result needs a channel that the format has.
    fn is_read(&self, channel: usize) -> bool {
        self.needed[channel] && self.prepared.decoder.default(channel).is_none()
    }

    /// The result, with the values of channels that it needs and the format has.
    #[inline]
    fn of_channels(&self, values: impl Fn(usize) -> Lanes<u32>) -> Dwords {
        std::array::from_fn(|channel| match self.prepared.decoder.default(channel) {
            _ if !self.needed[channel] => [0; LANES],
            Some(default) => [default; LANES],
            None => values(channel),
        })
    }

    /// The border colour; 0 where no enabled channel uses it. `None` if it cannot be read.
    fn border<const N: usize>(
        &self,
        source: &mut dyn TexelSource,
        state: &SamplerState,
        taps: &[LaneTaps; 3],
    ) -> Option<Texel> {
        if taps.iter().all(|taps| taps.inside.iter().all(|inside| self.mask & !inside == 0)) {
            return Some([0; 4]);
        }
        let outside = (0..8).any(|corner: usize| {
            let chosen = std::array::from_fn(|axis| corner >> axis & 1);
            let weights = corner_weights::<N>(taps, chosen);
            let weighted = mask::<N>(&each::<N, _>(|lane| weights[lane] > 0.0));
            weighted & self.mask & !corner_inside(taps, chosen) != 0
        });
        if outside { source.border(state.border, &self.prepared.image).ok() } else { Some([0; 4]) }
    }
}

/// The channels for which a corner is not the border.
fn corner_inside(taps: &[LaneTaps; 3], [x, y, z]: [usize; 3]) -> u32 {
    taps[0].inside[x] & taps[1].inside[y] & taps[2].inside[z]
}

/// The weights of a corner; these products are exact.
#[inline(always)]
fn corner_weights<const N: usize>(taps: &[LaneTaps; 3], [x, y, z]: [usize; 3]) -> Lanes<f64> {
    const PARTS: f64 = (1 << 24) as f64;
    let [x, y, z] = [&taps[0].weight[x], &taps[1].weight[y], &taps[2].weight[z]];
    each::<N, _>(|lane| f64::from((x[lane] * y[lane] * z[lane]) as i32) / PARTS)
}

/// Adds weighted values. One with weight 0 is skipped, as it may be infinite.
#[inline(always)]
fn weigh<const N: usize>(sums: &mut Lanes<f64>, values: &Lanes<u32>, weights: &Lanes<f64>) {
    for lane in 0..N {
        let product = f64::from(f32::from_bits(values[lane])) * weights[lane];
        sums[lane] += if weights[lane] > 0.0 { product } else { 0.0 };
    }
}
