//! From one type of floats to a narrower one, in all rounding modes; denormals that count as zeros.

use gencl_eu::dispatch::Rounding;
use gencl_isa::Type as GenType;

use super::Lift;
use crate::middle::function::Value;
use crate::middle::op::{Binary, Convert, FloatRelation, Op, Relation, Unary};
use crate::middle::types::Scalar;

/// Where what cannot be represented goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// As a rounding mode says.
    To(Rounding),
    /// To the neighbour whose last bit is set: what is rounded once more afterwards, to half of the bits, is as if it had been rounded once.
    Odd,
}

/// The scalar of a type of floats.
pub fn scalar(ty: GenType) -> Scalar {
    match ty {
        GenType::HF => Scalar::Half,
        GenType::DF => Scalar::Double,
        _ => Scalar::Float,
    }
}

impl Lift<'_> {
    /// Floats as those of another size.
    pub fn narrowed(&mut self, value: Value, to: Scalar, direction: Direction) -> Value {
        let from = self.builder.ty(value);
        if to.bits() >= from.scalar.bits() {
            return self.builder.convert(Convert::FPExt, value, to);
        }
        if (from.scalar, to) == (Scalar::Double, Scalar::Half) {
            let single = self.narrowed(value, Scalar::Float, Direction::Odd);
            return self.narrowed(single, to, direction);
        }
        let near = self.builder.convert(Convert::FPTrunc, value, to);
        if direction == Direction::To(Rounding::NearestEven) {
            return near;
        }
        let back = self.builder.convert(Convert::FPExt, near, from.scalar);
        let bits = self.builder.bits_of(near);
        let ty = self.builder.ty(bits);
        let [zero, one, ones] = [0, 1, -1].map(|n| self.builder.signed(ty, n));
        // Bits are a sign and a magnitude: one more goes away from zero.
        let negative = self.builder.compare(Relation::Slt, bits, zero);
        let (moves, step) = match direction {
            Direction::To(Rounding::Up) => {
                let below = self.builder.compare_floats(FloatRelation::Olt, back, value);
                (below, self.builder.select(negative, ones, one))
            }
            Direction::To(Rounding::Down) => {
                let above = self.builder.compare_floats(FloatRelation::Ogt, back, value);
                (above, self.builder.select(negative, one, ones))
            }
            Direction::To(Rounding::Zero | Rounding::NearestEven) => (self.beyond(back, value), ones),
            Direction::Odd => {
                let inexact = self.builder.compare_floats(FloatRelation::One, back, value);
                let beyond = self.beyond(back, value);
                (self.builder.even(bits, inexact), self.builder.select(beyond, ones, one))
            }
        };
        let moved = self.builder.binary(Binary::Add, bits, step);
        let bits = self.builder.select(moves, moved, bits);
        self.builder.cast(bits, to)
    }

    /// Integers as floats. Where these may become half floats, LLVM must not see what they are made of: it takes a half float made of few bits for exact, however
    /// large it is (`isKnownExactCastIntToFP` of LLVM 19), and makes no infinity of `0xff000000`.
    pub fn of_integers(&mut self, integers: Value, signed: bool, to: Scalar) -> Value {
        let convert = if signed { Convert::SIToFP } else { Convert::UIToFP };
        let value = self.builder.convert(convert, integers, to);
        if !self.plan.halves || self.builder.ty(integers).scalar.bits() <= 16 {
            return value;
        }
        self.builder.pure(Op::Fence, &[value], self.builder.ty(value))
    }

    /// Whether a value is farther from zero than another one of its sign.
    fn beyond(&mut self, value: Value, than: Value) -> Value {
        let [a, b] = [value, than].map(|v| self.builder.unary(Unary::FAbs, v));
        self.builder.compare_floats(FloatRelation::Ogt, a, b)
    }

    /// `nearest + error`, of which `nearest` is the nearest, rounded as a mode says. An error that is NaN counts as none.
    pub fn moved(&mut self, nearest: Value, error: Value, rounding: Rounding) -> Value {
        let null = self.builder.float(self.builder.ty(nearest), 0.0);
        let bits = self.builder.bits_of(nearest);
        let ty = self.builder.ty(bits);
        let [zero, one, ones] = [0, 1, -1].map(|n| self.builder.signed(ty, n));
        let [above, below] = [FloatRelation::Ogt, FloatRelation::Olt]
            .map(|relation| self.builder.compare_floats(relation, error, null));
        let negative = self.builder.compare(Relation::Slt, bits, zero);
        let (moves, step) = match rounding {
            Rounding::NearestEven => return nearest,
            Rounding::Up => (above, self.builder.select(negative, ones, one)),
            Rounding::Down => (below, self.builder.select(negative, one, ones)),
            Rounding::Zero => (self.builder.select(negative, above, below), ones),
        };
        let moved = self.builder.binary(Binary::Add, bits, step);
        let bits = self.builder.select(moves, moved, bits);
        self.builder.cast(bits, self.builder.ty(nearest).scalar)
    }

    /// Denormals, by their bits, become zeros of their sign.
    pub fn flushed(&mut self, bits: Value) -> Value {
        let ty = self.builder.ty(bits);
        let (exponent, width) = match ty.scalar.bits() {
            16 => (0x7c00, 16),
            64 => (0x7ff0_0000_0000_0000, 64),
            _ => (0x7f80_0000, 32),
        };
        let [exponent, zero, sign] = [exponent, 0, 1 << (width - 1)].map(|n| self.builder.int(ty, n));
        let magnitude = self.builder.binary(Binary::And, bits, exponent);
        let is_small = self.builder.compare(Relation::Eq, magnitude, zero);
        let sign = self.builder.binary(Binary::And, bits, sign);
        self.builder.select(is_small, sign, bits)
    }
}
