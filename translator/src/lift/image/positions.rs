//! From coordinates to texels along an axis, and their weights.
//!
//! Positions are in units of 1/256 texel. Normalised coordinates need doubles: their product with a size is exact then, as it is in the simulator. Others are exact as
//! they are.

use gencl_eu::message::{AddressMode, Axis};

use super::Texels;
use crate::middle::function::Value;
use crate::middle::op::{Binary, Convert, FloatRelation, Relation, Unary};
use crate::middle::types::{Scalar, Type};

/// Positions are limited to this many texels on either side.
const FARTHEST: f64 = (1 << 22) as f64;
/// Coordinates that are folded are limited to this.
const LARGEST: f64 = (1 << 30) as f64;
/// Subdivisions of a texel.
const PARTS: f64 = 256.0;
/// The number of bits of these.
const PART_BITS: u64 = 8;

/// A texel along an axis for each lane.
#[derive(Clone, Copy)]
pub(super) struct Tap {
    /// Its number, 0 for the border.
    pub index: Value,
    /// Where it is not the border; `None`: everywhere.
    pub inside: Option<Value>,
}

/// Both texels that are interpolated along an axis, and their weights, in units of 1/256.
#[derive(Clone, Copy)]
pub(super) struct Taps {
    pub taps: [Tap; 2],
    pub weights: [Value; 2],
}

impl Texels<'_> {
    /// The nearest texel along an axis.
    pub(super) fn nearest_tap(&mut self, axis: usize, coordinate: Value) -> Tap {
        let own = self.axis(axis);
        let texels = self.texel_position(own, axis, coordinate);
        let index = if own.rounded {
            let position = self.position(own, texels);
            let bits = self.builder.int(self.integers(), PART_BITS);
            self.builder.binary(Binary::AShr, position, bits)
        } else {
            self.floor(texels)
        };
        self.tap(own.mode, axis, index)
    }

    /// The texels that are interpolated along an axis.
    pub(super) fn linear_taps(&mut self, axis: usize, coordinate: Value) -> Taps {
        let own = self.axis(axis);
        let texels = self.texel_position(own, axis, coordinate);
        let position = self.position(own, texels);
        let ty = self.integers();
        let [half, one, mask, bits, whole] =
            [128, 1, 255, PART_BITS, 256].map(|value| self.builder.int(ty, value));
        let first = self.builder.binary(Binary::Sub, position, half);
        let far_weight = self.builder.binary(Binary::And, first, mask);
        let near_weight = self.builder.binary(Binary::Sub, whole, far_weight);
        let near = self.builder.binary(Binary::AShr, first, bits);
        let far = self.builder.binary(Binary::Add, near, one);
        let taps = [near, far].map(|index| self.tap(own.mode, axis, index));
        Taps { taps, weights: [near_weight, far_weight] }
    }

    /// The slice of an array that a coordinate chooses: the nearest there is.
    pub(super) fn slice(&mut self, coordinate: Value) -> Value {
        let value = self.number_of(coordinate);
        let value = self.builder.unary(Unary::RoundEven, value);
        let size = self.size(2);
        let slices = self.builder.convert(Convert::SIToFP, size, Scalar::Float);
        let one = self.builder.float(self.builder.ty(slices), 1.0);
        let last = self.builder.binary(Binary::FSub, slices, one);
        let last = self.builder.splat(last, self.lanes);
        let zero = self.builder.float(self.builder.ty(value), 0.0);
        let limited = self.limited(value, zero, last);
        self.builder.convert(Convert::FPToSI, limited, Scalar::Int(32))
    }

    fn axis(&self, axis: usize) -> Axis {
        match &self.facts.filter {
            Some(filter) => filter.axes[axis],
            None => Axis { mode: AddressMode::Clamp, normalized: false, rounded: false },
        }
    }

    /// A coordinate as a float; NaN is 0.
    fn number_of(&mut self, coordinate: Value) -> Value {
        let value = self.builder.cast(coordinate, Scalar::Float);
        let is_nan = self.builder.compare_floats(FloatRelation::Uno, value, value);
        let zero = self.builder.float(self.builder.ty(value), 0.0);
        self.builder.select(is_nan, zero, value)
    }

    fn limited(&mut self, value: Value, low: Value, high: Value) -> Value {
        let is_below = self.builder.compare_floats(FloatRelation::Olt, value, high);
        let below = self.builder.select(is_below, value, high);
        let is_above = self.builder.compare_floats(FloatRelation::Ogt, below, low);
        self.builder.select(is_above, below, low)
    }

    fn limited_to(&mut self, value: Value, most: f64) -> Value {
        let [low, high] = [-most, most].map(|limit| self.builder.float(self.builder.ty(value), limit));
        self.limited(value, low, high)
    }

    /// `value - floor(value / period) * period`
    fn repeated(&mut self, value: Value, period: Value) -> Value {
        let quotient = self.builder.binary(Binary::FDiv, value, period);
        let whole = self.builder.unary(Unary::Floor, quotient);
        let multiple = self.builder.binary(Binary::FMul, whole, period);
        self.builder.binary(Binary::FSub, value, multiple)
    }

    /// The position of a coordinate in texels, limited.
    fn texel_position(&mut self, own: Axis, axis: usize, coordinate: Value) -> Value {
        let value = self.number_of(coordinate);
        let is_folded = matches!(own.mode, AddressMode::Wrap | AddressMode::Mirror);
        let scalar = if own.normalized || is_folded { Scalar::Double } else { Scalar::Float };
        let value = self.builder.convert(Convert::FPExt, value, scalar);
        let ty = Type { scalar, lanes: self.lanes as u16 };
        let size = self.size(axis);
        let width = self.builder.convert(Convert::SIToFP, size, scalar);
        let width = self.builder.splat(width, self.lanes);
        let [zero, one, two] = [0.0, 1.0, 2.0].map(|value| self.builder.float(ty, value));
        let end = if own.normalized { one } else { width };
        let folded = match own.mode {
            AddressMode::Clamp | AddressMode::Border => value,
            AddressMode::Wrap => {
                let value = self.limited_to(value, LARGEST);
                self.repeated(value, end)
            }
            AddressMode::Mirror => {
                let value = self.limited_to(value, LARGEST);
                let both = self.builder.binary(Binary::FMul, end, two);
                let twice = self.repeated(value, both);
                let back = self.builder.binary(Binary::FSub, both, twice);
                let is_back = self.builder.compare_floats(FloatRelation::Ogt, twice, end);
                self.builder.select(is_back, back, twice)
            }
            AddressMode::MirrorOnce => {
                let value = self.builder.unary(Unary::FAbs, value);
                self.limited(value, zero, end)
            }
            AddressMode::HalfBorder => self.limited(value, zero, end),
        };
        let texels = if own.normalized { self.builder.binary(Binary::FMul, folded, width) } else { folded };
        match own.mode {
            AddressMode::Clamp | AddressMode::Border => self.limited_to(texels, FARTHEST),
            _ => texels,
        }
    }

    /// A position in units of 1/256 texel.
    fn position(&mut self, own: Axis, texels: Value) -> Value {
        let ty = self.builder.ty(texels);
        let parts = self.builder.float(ty, PARTS);
        let fine = self.builder.binary(Binary::FMul, texels, parts);
        if !own.rounded {
            return self.floor(fine);
        }
        let half = self.builder.float(ty, 0.5);
        if ty.scalar == Scalar::Double {
            let sum = self.builder.binary(Binary::FAdd, fine, half);
            return self.floor(sum);
        }
        // The sum may be rounded to the next integer; the difference is exact where that matters.
        let below = self.builder.unary(Unary::Floor, fine);
        let part = self.builder.binary(Binary::FSub, fine, below);
        let is_more = self.builder.compare_floats(FloatRelation::Oge, part, half);
        let below = self.builder.convert(Convert::FPToSI, below, Scalar::Int(32));
        let more = self.builder.convert(Convert::ZExt, is_more, Scalar::Int(32));
        self.builder.binary(Binary::Add, below, more)
    }

    fn floor(&mut self, value: Value) -> Value {
        let whole = self.builder.unary(Unary::Floor, value);
        self.builder.convert(Convert::FPToSI, whole, Scalar::Int(32))
    }

    /// The texel of a number that may be outside.
    fn tap(&mut self, mode: AddressMode, axis: usize, index: Value) -> Tap {
        let size = self.size(axis);
        let one = self.builder.int(Type::int(32, 1), 1);
        let last = self.builder.binary(Binary::Sub, size, one);
        let [size, last] = [size, last].map(|own| self.builder.splat(own, self.lanes));
        let none = self.none();
        match mode {
            AddressMode::Wrap => {
                // Folded, at most one texel is outside on either side.
                let is_below = self.builder.compare(Relation::Slt, index, none);
                let above = self.builder.binary(Binary::Add, index, size);
                let index = self.builder.select(is_below, above, index);
                let is_above = self.builder.compare(Relation::Sge, index, size);
                let below = self.builder.binary(Binary::Sub, index, size);
                Tap { index: self.builder.select(is_above, below, index), inside: None }
            }
            AddressMode::Mirror | AddressMode::Clamp | AddressMode::MirrorOnce => {
                let above = self.builder.binary(Binary::SMax, index, none);
                Tap { index: self.builder.binary(Binary::SMin, above, last), inside: None }
            }
            AddressMode::Border | AddressMode::HalfBorder => {
                let inside = self.builder.compare(Relation::Ult, index, size);
                Tap { index: self.builder.select(inside, index, none), inside: Some(inside) }
            }
        }
    }
}
