//! Computes the texels and weights of a filter for a coordinate.
//!
//! Skylake manual, Volume 7 "3D-Media-GPGPU", "Sampling Engine", "Texel Address Generation", and Volume 2d,
//! "Texture Coordinate Mode"; the OpenCL C specification, section 8.2, has the formulas.
//!
//! A coordinate becomes a position in units of 1/256 texel: rounded to the nearest one where the sampler
//! state has "Address Rounding Enable" set, else down. So the weights of a linear filter have eight bits. The
//! product of a normalized coordinate and the size is exact before that.

use serde::{Deserialize, Serialize};

/// A filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filter {
    /// The texel that contains the position.
    Nearest,
    /// The weighted two texels with the nearest centres, in each dimension.
    Linear,
}

/// The handling of coordinates outside of the surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum AddressMode {
    /// The surface is repeated.
    Wrap,
    /// The surface is repeated, every other time mirrored.
    Mirror,
    /// The texel at the edge.
    Clamp,
    /// The border colour.
    Border,
    /// The surface is mirrored at 0; the texel at the edge beyond that.
    MirrorOnce,
    /// The coordinate is limited to the surface; linear filters use the border colour beyond the edge.
    HalfBorder,
}

impl AddressMode {
    /// Decodes "Texture Coordinate Mode"; `None` for the modes of cubes.
    pub fn of_code(code: u32) -> Option<AddressMode> {
        Some(match code {
            0 => AddressMode::Wrap,
            1 => AddressMode::Mirror,
            2 => AddressMode::Clamp,
            4 => AddressMode::Border,
            5 => AddressMode::MirrorOnce,
            6 => AddressMode::HalfBorder,
            _ => return None,
        })
    }

    /// Maps a coordinate to the range from 0 to `end`, in modes that do so.
    fn fold(self, coordinate: f64, end: f64) -> f64 {
        match self {
            AddressMode::Wrap => coordinate - (coordinate / end).floor() * end,
            AddressMode::Mirror => {
                let twice = coordinate - (coordinate / (2.0 * end)).floor() * 2.0 * end;
                if twice > end { 2.0 * end - twice } else { twice }
            }
            AddressMode::MirrorOnce => coordinate.abs().min(end),
            AddressMode::HalfBorder => coordinate.clamp(0.0, end),
            AddressMode::Clamp | AddressMode::Border => coordinate,
        }
    }

    /// Maps an index that may be out of bounds to a texel; `None` is the border.
    fn texel(self, index: i64, size: u32) -> Option<u32> {
        let size = i64::from(size);
        let texel = match self {
            AddressMode::Wrap => index.rem_euclid(size),
            AddressMode::Mirror | AddressMode::Clamp | AddressMode::MirrorOnce => index.clamp(0, size - 1),
            AddressMode::Border | AddressMode::HalfBorder if (0..size).contains(&index) => index,
            AddressMode::Border | AddressMode::HalfBorder => return None,
        };
        Some(texel as u32)
    }
}

/// The parameters of filtering along one axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Axis {
    /// Address mode.
    pub mode: AddressMode,
    /// The coordinate is normalized: from 0 to 1 instead of to the size.
    pub normalized: bool,
    /// The position is rounded to the nearest 1/256 texel, not down.
    pub rounded: bool,
}

/// A texel and its weight in units of 1/256. `None` is the border.
pub type Tap = (Option<u32>, u32);

/// Subdivisions of a texel in positions.
const PARTS: f64 = 256.0;
/// Positions are limited to this many texels on either side, far outside of any surface.
const FARTHEST: f64 = (1 << 30) as f64;

impl Axis {
    /// The texels and weights for a coordinate of an axis of `size` texels, shifted by `offset` texels. The
    /// weights add up to 256; the nearest filter has one texel, the linear filter two. NaN counts as 0.
    pub fn taps(self, filter: Filter, coordinate: f32, size: u32, offset: i32) -> [Tap; 2] {
        let coordinate = if coordinate.is_nan() { 0.0 } else { f64::from(coordinate) };
        let limited = coordinate.clamp(-FARTHEST, FARTHEST);
        let width = f64::from(size);
        let texels = if self.normalized {
            self.mode.fold(limited, 1.0) * width
        } else {
            self.mode.fold(limited, width)
        };
        let parts = texels.clamp(-FARTHEST, FARTHEST) * PARTS + f64::from(offset) * PARTS;
        let position = if self.rounded { (parts + 0.5).floor() } else { parts.floor() } as i64;
        let texel = |index| self.mode.texel(index, size);
        match filter {
            Filter::Nearest => [(texel(position >> 8), 256), (None, 0)],
            Filter::Linear => {
                let first = position - 128;
                let weight = (first & 255) as u32;
                [(texel(first >> 8), 256 - weight), (texel((first >> 8) + 1), weight)]
            }
        }
    }
}

/// The slice of an array for a coordinate: the nearest, limited to existing slices.
pub fn slice(coordinate: f32, slices: u32) -> u32 {
    f64::from(coordinate).round_ties_even().clamp(0.0, f64::from(slices) - 1.0) as u32
}

#[cfg(test)]
mod tests {
    use super::{AddressMode as M, Axis, Filter, slice};

    /// The index of the nearest texel of four, -1 for the border.
    fn nearest(mode: M, normalized: bool, coordinate: f32) -> i64 {
        let axis = Axis { mode, normalized, rounded: false };
        axis.taps(Filter::Nearest, coordinate, 4, 0)[0].0.map_or(-1, i64::from)
    }

    #[test]
    fn nearest_texels_of_all_modes() {
        let row =
            |mode| [-1.3, -0.25, -0.1, 0.0, 0.24, 0.25, 0.99, 1.0, 1.1, 2.3].map(|c| nearest(mode, true, c));
        assert_eq!(row(M::Wrap), [2, 3, 3, 0, 0, 1, 3, 0, 0, 1]);
        assert_eq!(row(M::Mirror), [2, 1, 0, 0, 0, 1, 3, 3, 3, 1]);
        assert_eq!(row(M::Clamp), [0, 0, 0, 0, 0, 1, 3, 3, 3, 3]);
        assert_eq!(row(M::Border), [-1, -1, -1, 0, 0, 1, 3, -1, -1, -1]);
        assert_eq!(row(M::MirrorOnce), [3, 1, 0, 0, 0, 1, 3, 3, 3, 3]);
        let texels = |mode| {
            [-0.1, 0.0, 3.99, 4.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN]
                .map(|c| nearest(mode, false, c))
        };
        assert_eq!(texels(M::Clamp), [0, 0, 3, 3, 3, 0, 0]);
        assert_eq!(texels(M::Border), [-1, 0, 3, -1, -1, -1, 0]);
    }

    #[test]
    fn linear_weights_have_eight_bits() {
        let axis = |mode| Axis { mode, normalized: false, rounded: true };
        let taps = |mode, c| axis(mode).taps(Filter::Linear, c, 4, 0);
        assert_eq!(taps(M::Clamp, 1.0), [(Some(0), 128), (Some(1), 128)]);
        assert_eq!(taps(M::Clamp, 1.5), [(Some(1), 256), (Some(2), 0)]);
        assert_eq!(taps(M::Clamp, 0.25), [(Some(0), 64), (Some(0), 192)]);
        assert_eq!(taps(M::Border, 0.25), [(None, 64), (Some(0), 192)]);
        assert_eq!(taps(M::Border, 4.0), [(Some(3), 128), (None, 128)]);
        assert_eq!(taps(M::HalfBorder, 9.0), [(Some(3), 128), (None, 128)]);
        assert_eq!(taps(M::Clamp, 1.5 + 0.4 / 256.0)[1].1, 0);
        assert_eq!(taps(M::Clamp, 1.5 + 0.6 / 256.0)[1].1, 1);
        let down = Axis { rounded: false, ..axis(M::Clamp) };
        assert_eq!(down.taps(Filter::Linear, 1.5 + 0.9 / 256.0, 4, 0)[1].1, 0);
        let wrap = Axis { mode: M::Wrap, normalized: true, rounded: true };
        assert_eq!(wrap.taps(Filter::Linear, 0.0, 4, 0), [(Some(3), 128), (Some(0), 128)]);
        assert_eq!(wrap.taps(Filter::Linear, 0.0, 4, 2), [(Some(1), 128), (Some(2), 128)]);
        let mirror = Axis { mode: M::Mirror, ..wrap };
        assert_eq!(mirror.taps(Filter::Linear, 1.0, 4, 0), [(Some(3), 128), (Some(3), 128)]);
    }

    #[test]
    fn slices_are_the_nearest() {
        let row = [-1.0, 0.5, 0.51, 1.5, 2.4, 9.0].map(|c| slice(c, 3));
        assert_eq!(row, [0, 0, 1, 2, 2, 2]);
    }
}
