//! Texels and weights of a filter for all channels; `filter.rs` does it for one.

use super::filter::{AddressMode, Axis};
use super::values::{Lanes, each};

/// The texels of all channels along an axis, and the channels for which they are not the border.
#[derive(Clone, Copy)]
pub struct LaneTaps {
    /// The indices, 0 for the border.
    pub index: [Lanes<u32>; 2],
    /// The weights in units of 1/256.
    pub weight: [Lanes<u32>; 2],
    /// Masks of the channels with texels.
    pub inside: [u32; 2],
}

/// An axis that a surface does not have: its only texel.
pub const ONLY: LaneTaps =
    LaneTaps { index: [[0; 16]; 2], weight: [[256; 16], [0; 16]], inside: [u32::MAX, u32::MAX] };

/// Positions are limited to this many texels on either side: outside of any surface, and positions in 1/256 texel
/// fit in an `i32`. Beyond it, all texels are the border or the one at the edge.
const FARTHEST: f64 = (1 << 22) as f64;
/// Coordinates are limited to this, as in `filter.rs`.
const LARGEST: f64 = (1 << 30) as f64;

/// Limits a value.
#[inline(always)]
fn limit(value: f64, low: f64, high: f64) -> f64 {
    let below = if value < high { value } else { high };
    if below > low { below } else { low }
}

/// Added to a value of less than 2^31, it leaves the nearest integer in the low bits of the mantissa. Unlike
/// `f64::floor` and conversions, that is a few instructions for vectors on every host.
const INTEGER: f64 = 1.5 * (1u64 << 52) as f64;

/// The largest integer that is not above a value of less than 2^31.
#[inline(always)]
fn floor(value: f64) -> i32 {
    let nearest = value + INTEGER;
    (nearest.to_bits() as i32).wrapping_sub(i32::from(nearest - INTEGER > value))
}

/// As [`floor`], as a float.
#[inline(always)]
fn whole(value: f64) -> f64 {
    let nearest = (value + INTEGER) - INTEGER;
    if nearest > value { nearest - 1.0 } else { nearest }
}

impl Axis {
    /// The nearest texels for the bits of the coordinates of all channels, 0 for the border, and the mask of the
    /// channels for which they are not. As [`Axis::taps`] for one.
    #[inline]
    pub fn nearest<const N: usize>(
        self,
        coordinates: &Lanes<u32>,
        size: u32,
        offset: i32,
    ) -> (Lanes<u32>, u32) {
        let positions = self.positions::<N>(coordinates, size, offset);
        self.mode.texels::<N>(&each::<N, _>(|lane| positions[lane] >> 8), size)
    }

    /// The texels and weights of the linear filter for the bits of the coordinates of all channels.
    pub fn linear<const N: usize>(self, coordinates: &Lanes<u32>, size: u32, offset: i32) -> LaneTaps {
        let positions = self.positions::<N>(coordinates, size, offset);
        let first = each::<N, _>(|lane| positions[lane] - 128);
        let weight = each::<N, _>(|lane| (first[lane] & 255) as u32);
        let texels = |step| self.mode.texels::<N>(&each::<N, _>(|lane| (first[lane] >> 8) + step), size);
        let [(near, near_inside), (far, far_inside)] = [texels(0), texels(1)];
        LaneTaps {
            index: [near, far],
            weight: [each::<N, _>(|lane| 256 - weight[lane]), weight],
            inside: [near_inside, far_inside],
        }
    }

    /// Positions in units of 1/256 texel.
    #[inline]
    fn positions<const N: usize>(self, coordinates: &Lanes<u32>, size: u32, offset: i32) -> Lanes<i32> {
        let width = f64::from(size);
        let (end, scale) = if self.normalized { (1.0, width) } else { (width, 1.0) };
        let coordinates = each::<N, _>(|lane| {
            let value = f64::from(f32::from_bits(coordinates[lane]));
            limit(if value.is_nan() { 0.0 } else { value }, -LARGEST, LARGEST)
        });
        let coordinate = |lane: usize| coordinates[lane];
        let folded = match self.mode {
            AddressMode::Clamp | AddressMode::Border => coordinates,
            AddressMode::Wrap => each::<N, _>(|lane| coordinate(lane) - whole(coordinate(lane) / end) * end),
            AddressMode::Mirror => each::<N, _>(|lane| {
                let twice = coordinate(lane) - whole(coordinate(lane) / (2.0 * end)) * 2.0 * end;
                if twice > end { 2.0 * end - twice } else { twice }
            }),
            AddressMode::MirrorOnce => each::<N, _>(|lane| limit(coordinate(lane).abs(), 0.0, end)),
            AddressMode::HalfBorder => each::<N, _>(|lane| limit(coordinate(lane), 0.0, end)),
        };
        let shift = f64::from(offset) * 256.0;
        let nearest = if self.rounded { 0.5 } else { 0.0 };
        each::<N, _>(|lane| {
            let texels = limit(folded[lane] * scale, -FARTHEST, FARTHEST);
            floor(texels * 256.0 + shift + nearest)
        })
    }
}

impl AddressMode {
    /// Maps indices that may be out of bounds to texels, and which of the results are not the border.
    #[inline]
    fn texels<const N: usize>(self, indices: &Lanes<i32>, size: u32) -> (Lanes<u32>, u32) {
        let size = size as i32;
        match self {
            AddressMode::Wrap => {
                let texels = each::<N, _>(|lane| match indices[lane] {
                    index if (0..size).contains(&index) => index as u32,
                    index => index.rem_euclid(size) as u32,
                });
                (texels, u32::MAX)
            }
            AddressMode::Mirror | AddressMode::Clamp | AddressMode::MirrorOnce => {
                (each::<N, _>(|lane| indices[lane].clamp(0, size - 1) as u32), u32::MAX)
            }
            AddressMode::Border | AddressMode::HalfBorder => {
                let inside = each::<N, _>(|lane| (indices[lane] as u32) < size as u32);
                (each::<N, _>(|lane| if inside[lane] { indices[lane] as u32 } else { 0 }), mask::<N>(&inside))
            }
        }
    }
}

/// The mask of the channels for which something holds.
#[inline(always)]
pub fn mask<const N: usize>(holds: &Lanes<bool>) -> u32 {
    holds[..N].iter().rev().fold(0, |mask, holds| mask << 1 | u32::from(*holds))
}
