//! Floats with their errors: exact sums, and what is rounded to odd, so that rounding once more is as if it had been rounded once.

use super::Builder;
use crate::middle::function::Value;
use crate::middle::op::{Binary, Convert, FloatRelation, Relation};
use crate::middle::types::Scalar;

impl Builder {
    /// `a * b + c` of floats with one rounding, for hosts without an instruction. The product is exact in doubles (Boldo and Melquiond, "Emulation of a FMA and
    /// correctly rounded sums").
    pub(super) fn emulated_fma(&mut self, operands: [Value; 3]) -> Value {
        let [a, b, c] = operands.map(|value| self.convert(Convert::FPExt, value, Scalar::Double));
        let product = self.binary(Binary::FMul, a, b);
        let sum = self.sum_to_odd(product, c);
        self.convert(Convert::FPTrunc, sum, Scalar::Float)
    }

    /// The bits of floats.
    pub fn bits_of(&mut self, value: Value) -> Value {
        self.bitcast(value, self.ty(value).as_int())
    }

    /// Where the last bit is 0, and a condition holds.
    pub fn even(&mut self, bits: Value, holds: Value) -> Value {
        let ty = self.ty(bits);
        let [zero, one] = [0, 1].map(|n| self.int(ty, n));
        let last = self.binary(Binary::And, bits, one);
        let even = self.compare(Relation::Eq, last, zero);
        self.binary(Binary::And, even, holds)
    }

    /// `value + error`, of which `value` is the nearest, rounded to odd. An error that is NaN counts as none.
    pub fn made_odd(&mut self, value: Value, error: Value) -> Value {
        let null = self.float(self.ty(value), 0.0);
        let inexact = self.compare_floats(FloatRelation::One, error, null);
        let bits = self.bits_of(value);
        let moves = self.even(bits, inexact);
        // The same sign: away from zero.
        let signs = self.bits_of(error);
        let signs = self.binary(Binary::Xor, signs, bits);
        let ty = self.ty(bits);
        let shift = self.int(ty, u64::from(ty.scalar.bits() - 1));
        let step = self.binary(Binary::AShr, signs, shift);
        let one = self.int(ty, 1);
        let step = self.binary(Binary::Or, step, one);
        let moved = self.binary(Binary::Add, bits, step);
        let bits = self.select(moves, moved, bits);
        self.cast(bits, self.ty(value).scalar)
    }

    /// The sum, rounded to odd.
    pub fn sum_to_odd(&mut self, a: Value, b: Value) -> Value {
        let (sum, error) = self.sum_and_error(a, b);
        self.made_odd(sum, error)
    }

    /// The sum, and what is missing to the exact one (Knuth's "TwoSum").
    pub fn sum_and_error(&mut self, a: Value, b: Value) -> (Value, Value) {
        let sum = self.binary(Binary::FAdd, a, b);
        let other = self.binary(Binary::FSub, sum, a);
        let own = self.binary(Binary::FSub, sum, other);
        let [a, b] = [(a, own), (b, other)].map(|(whole, part)| self.binary(Binary::FSub, whole, part));
        (sum, self.binary(Binary::FAdd, a, b))
    }
}
