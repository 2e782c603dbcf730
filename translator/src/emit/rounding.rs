//! From one type of floats to a narrower one, in all rounding modes; denormals that count as zeros.

use gencl_eu::dispatch::Rounding;
use gencl_isa::Type;

use super::Emitter;
use crate::ir::{Scalar, Value};

/// Where what cannot be represented goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// As a rounding mode says.
    To(Rounding),
    /// To the neighbour whose last bit is set: what is rounded once more afterwards, to half of the bits, is as if it had been rounded once.
    Odd,
}

/// The host's type of a type of floats.
pub fn scalar(ty: Type) -> Scalar {
    match ty {
        Type::HF => Scalar::Half,
        Type::DF => Scalar::Double,
        _ => Scalar::Float,
    }
}

impl Emitter<'_> {
    /// Floats as those of another size.
    pub(super) fn narrowed(&mut self, value: &Value, to: Scalar, direction: Direction) -> Value {
        let ty = value.ty.of(to);
        if to.bits() >= value.ty.scalar.bits() {
            return self.f.convert("fpext", value, ty);
        }
        if (value.ty.scalar, to) == (Scalar::Double, Scalar::Half) {
            let single = self.narrowed(value, Scalar::Float, Direction::Odd);
            return self.narrowed(&single, to, direction);
        }
        let near = self.f.convert("fptrunc", value, ty);
        if direction == Direction::To(Rounding::NearestEven) {
            return near;
        }
        let back = self.f.convert("fpext", &near, value.ty);
        let bits = self.f.cast(&near, near.ty.as_int().scalar);
        let [zero, one, ones] = [0, 1, u64::MAX].map(|n| Value::int(bits.ty, n));
        // Bits are a sign and a magnitude: one more goes away from zero.
        let (moves, step) = match direction {
            Direction::To(Rounding::Up) => {
                let negative = self.f.compare("icmp slt", &bits, &zero);
                (self.f.compare("fcmp olt", &back, value), self.f.select(&negative, &ones, &one))
            }
            Direction::To(Rounding::Down) => {
                let negative = self.f.compare("icmp slt", &bits, &zero);
                (self.f.compare("fcmp ogt", &back, value), self.f.select(&negative, &one, &ones))
            }
            Direction::To(Rounding::Zero | Rounding::NearestEven) => (self.beyond(&back, value), ones),
            Direction::Odd => {
                let inexact = self.f.compare("fcmp one", &back, value);
                let beyond = self.beyond(&back, value);
                (self.even(&bits, &inexact), self.f.select(&beyond, &ones, &one))
            }
        };
        let moved = self.f.binary("add", &bits, &step);
        let bits = self.f.select(&moves, &moved, &bits);
        self.f.cast(&bits, to)
    }

    /// Integers as floats. Where these may become half floats, LLVM must not see what they are made of: it takes a half float made of few bits for exact, however
    /// large it is (`isKnownExactCastIntToFP` of LLVM 19), and makes no infinity of `0xff000000`.
    pub(super) fn of_integers(&mut self, integers: &Value, signed: bool, to: Scalar) -> Value {
        let operation = if signed { "sitofp" } else { "uitofp" };
        let value = self.f.convert(operation, integers, integers.ty.of(to));
        if !self.plan.halves || integers.ty.scalar.bits() <= 16 {
            return value;
        }
        self.f.function_of("arithmetic.fence", &value)
    }

    /// Is a value farther from zero than another one of its sign?
    fn beyond(&mut self, value: &Value, than: &Value) -> Value {
        let [a, b] = [value, than].map(|v| self.f.function_of("fabs", v));
        self.f.compare("fcmp ogt", &a, &b)
    }

    /// Where the last bit is 0, and a condition holds.
    fn even(&mut self, bits: &Value, holds: &Value) -> Value {
        let last = self.f.binary("and", bits, &Value::int(bits.ty, 1));
        let even = self.f.compare("icmp eq", &last, &Value::int(bits.ty, 0));
        self.f.binary("and", &even, holds)
    }

    /// `value + error`, of which `value` is the nearest, rounded to odd. An error that is NaN counts as none.
    pub(super) fn made_odd(&mut self, value: &Value, error: &Value) -> Value {
        let null = Value::float(value.ty, 0.0);
        let inexact = self.f.compare("fcmp one", error, &null);
        let bits = self.f.cast(value, value.ty.as_int().scalar);
        let moves = self.even(&bits, &inexact);
        // The same sign: away from zero.
        let signs = self.f.cast(error, error.ty.as_int().scalar);
        let signs = self.f.binary("xor", &signs, &bits);
        let shift = Value::int(bits.ty, u64::from(bits.ty.scalar.bits() - 1));
        let step = self.f.binary("ashr", &signs, &shift);
        let step = self.f.binary("or", &step, &Value::int(bits.ty, 1));
        let moved = self.f.binary("add", &bits, &step);
        let bits = self.f.select(&moves, &moved, &bits);
        self.f.cast(&bits, value.ty.scalar)
    }

    /// The sum, rounded to odd.
    pub(super) fn sum_to_odd(&mut self, a: &Value, b: &Value) -> Value {
        let (sum, error) = self.sum_and_error(a, b);
        self.made_odd(&sum, &error)
    }

    /// The sum, and what is missing to the exact one (Knuth's "TwoSum").
    pub(super) fn sum_and_error(&mut self, a: &Value, b: &Value) -> (Value, Value) {
        let sum = self.f.binary("fadd", a, b);
        let other = self.f.binary("fsub", &sum, a);
        let own = self.f.binary("fsub", &sum, &other);
        let [a, b] = [(a, own), (b, other)].map(|(whole, part)| self.f.binary("fsub", whole, &part));
        (sum, self.f.binary("fadd", &a, &b))
    }

    /// `nearest + error`, of which `nearest` is the nearest, rounded as a mode says. An error that is NaN counts as none.
    pub(super) fn moved(&mut self, nearest: &Value, error: &Value, rounding: Rounding) -> Value {
        let null = Value::float(nearest.ty, 0.0);
        let bits = self.f.cast(nearest, nearest.ty.as_int().scalar);
        let [zero, one, ones] = [0, 1, u64::MAX].map(|n| Value::int(bits.ty, n));
        let [above, below] = ["ogt", "olt"].map(|than| self.f.compare(&format!("fcmp {than}"), error, &null));
        let negative = self.f.compare("icmp slt", &bits, &zero);
        let (moves, step) = match rounding {
            Rounding::NearestEven => return nearest.clone(),
            Rounding::Up => (above, self.f.select(&negative, &ones, &one)),
            Rounding::Down => (below, self.f.select(&negative, &one, &ones)),
            Rounding::Zero => (self.f.select(&negative, &above, &below), ones),
        };
        let moved = self.f.binary("add", &bits, &step);
        let bits = self.f.select(&moves, &moved, &bits);
        self.f.cast(&bits, nearest.ty.scalar)
    }

    /// Denormals, by their bits, become zeros of their sign.
    pub(super) fn flushed(&mut self, bits: &Value) -> Value {
        let (exponent, width) = match bits.ty.scalar.bits() {
            16 => (0x7c00, 16),
            64 => (0x7ff0_0000_0000_0000, 64),
            _ => (0x7f80_0000, 32),
        };
        let magnitude = self.f.binary("and", bits, &Value::int(bits.ty, exponent));
        let is_small = self.f.compare("icmp eq", &magnitude, &Value::int(bits.ty, 0));
        let sign = self.f.binary("and", bits, &Value::int(bits.ty, 1 << (width - 1)));
        self.f.select(&is_small, &sign, bits)
    }
}
