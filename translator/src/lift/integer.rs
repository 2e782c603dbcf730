//! Arithmetic of integers, moves, comparisons.

use gencl_eu::operand::Target;
use gencl_isa::{Condition, Type as GenType};

use super::Lift;
use super::rounding::{Direction, scalar};
use crate::middle::function::Value;
use crate::middle::op::{Binary, Convert, FloatRelation, Relation, Unary};
use crate::middle::types::{Scalar, Type};
use crate::native::{Integer, Native, Number};

impl Lift<'_> {
    /// Lifts an arithmetic instruction.
    pub fn native(&mut self, index: usize, native: Native) {
        self.check_destination(index);
        let mask = self.mask(index);
        match native {
            Native::Copy => {
                let bits = self.source_bits(index, 0);
                self.result(index, bits, mask);
            }
            Native::Convert { from, to } => self.conversion(index, from, to, mask),
            Native::Choose => {
                let [a, b] = [0, 1].map(|n| self.source_bits(index, n));
                let bits = self.chosen(index, a, b);
                self.result(index, bits, mask);
            }
            Native::Limit => self.limited_move(index, mask),
            Native::Select { number } => {
                let [a, b] = [0, 1].map(|n| self.number(index, n, number));
                let value = self.chosen(index, a, b);
                self.selected(index, number, value, mask);
            }
            Native::Extreme { number, maximum } => self.extreme(index, number, maximum, mask),
            Native::Compare { number, condition } => self.comparison(index, number, condition, mask),
            Native::Integer { function, bits } => self.integer(index, function, bits, mask),
            Native::Whole { function, bits } => self.whole(index, function, bits, mask),
            Native::WholeCompare { bits } => self.whole_comparison(index, bits, mask),
            Native::Dot => self.dot_product(index, mask),
            Native::ChooseFloat { double } => self.float_choice(index, double, mask),
            Native::CompareFloats { condition } => self.float_comparison(index, condition, mask),
            Native::Float { function, double } => self.float(index, function, double, mask),
            Native::Exact(function) => self.exact(index, function, mask),
            Native::Interpolate => self.interpolation(index, mask),
            Native::ToHalf => {
                let value = self.number(index, 0, Number::Float);
                let rounding = Direction::To(self.plan.modes[index].rounding);
                let half = self.narrowed(value, Scalar::Half, rounding);
                let bits = self.builder.cast(half, Scalar::Int(16));
                self.result(index, bits, mask);
            }
            Native::FromHalf => {
                let bits = self.source_bits(index, 0);
                let half = self.builder.cast(bits, Scalar::Half);
                let value = self.builder.convert(Convert::FPExt, half, Scalar::Float);
                self.finish_float(index, value, mask);
            }
        }
    }

    /// `sel`: one source or the other by the predicate.
    pub fn chosen(&mut self, index: usize, a: Value, b: Value) -> Value {
        match self.plan.ops[index].predicate {
            Some(predicate) => {
                let mask = self.predicate(index, predicate);
                self.builder.select(mask, a, b)
            }
            None => a,
        }
    }

    fn conversion(&mut self, index: usize, from: Number, to: Number, mask: Value) {
        let mut a = self.number(index, 0, from);
        match (from.is_float(), to.is_float()) {
            (true, true) => self.finish_float(index, a, mask),
            (true, false) => {
                let bits = self.integers_of(index, a);
                self.result(index, bits, mask);
            }
            (false, true) => {
                let to = scalar(self.plan.ops[index].dst.ty);
                if to == Scalar::Half {
                    a = self.limited(a, from.is_signed());
                }
                let to = if to == Scalar::Double { to } else { Scalar::Float };
                let float = self.of_integers(a, from.is_signed(), to);
                self.finish_float(index, float, mask);
            }
            (false, false) => self.finish_integer(index, a, mask),
        }
    }

    /// Integers beyond the half floats become others beyond them, which floats hold exactly.
    fn limited(&mut self, a: Value, signed: bool) -> Value {
        const LIMIT: i128 = 1 << 20;
        let ty = self.builder.ty(a);
        let limit = self.builder.signed(ty, LIMIT);
        if !signed {
            return self.builder.binary(Binary::UMin, a, limit);
        }
        let limited = self.builder.binary(Binary::SMin, a, limit);
        let limit = self.builder.signed(ty, -LIMIT);
        self.builder.binary(Binary::SMax, limited, limit)
    }

    /// Cuts a result to the destination's size, writes it, and sets the flags of `.z` and `.nz`.
    pub fn finish_integer(&mut self, index: usize, value: Value, mask: Value) {
        let op = &self.plan.ops[index];
        let bits = self.builder.resize(value, op.dst.ty.size() * 8, false);
        if let Some(condition) = op.condition {
            let zero = self.builder.int(self.builder.ty(bits), 0);
            let relation = if condition == Condition::Equal { Relation::Eq } else { Relation::Ne };
            let holds = self.builder.compare(relation, bits, zero);
            self.merge_flags(op.flag_bit.into(), holds, mask);
        }
        self.result(index, bits, mask);
    }

    fn extreme(&mut self, index: usize, number: Number, maximum: bool, mask: Value) {
        let [a, b] = [0, 1].map(|n| self.number(index, n, number));
        let first = if number.is_float() {
            let relation = if maximum { FloatRelation::Oge } else { FloatRelation::Olt };
            let first = self.builder.compare_floats(relation, a, b);
            // A number wins over NaN.
            let nan = self.builder.compare_floats(FloatRelation::Uno, b, b);
            self.builder.binary(Binary::Or, first, nan)
        } else {
            let relation = match (number.is_signed(), maximum) {
                (false, true) => Relation::Uge,
                (false, false) => Relation::Ult,
                (true, true) => Relation::Sge,
                (true, false) => Relation::Slt,
            };
            self.builder.compare(relation, a, b)
        };
        let value = self.builder.select(first, a, b);
        self.selected(index, number, value, mask);
    }

    /// Writes one of the sources of `sel`, which sets no flags.
    pub fn selected(&mut self, index: usize, number: Number, value: Value, mask: Value) {
        let bits = if number.is_float() {
            self.float_bits(index, value)
        } else {
            self.builder.resize(value, self.plan.ops[index].dst.ty.size() * 8, number.is_signed())
        };
        self.result(index, bits, mask);
    }

    /// Integers that are limited to the destination's type.
    fn limited_move(&mut self, index: usize, mask: Value) {
        let op = &self.plan.ops[index];
        let (from, to) = (op.src[0].ty, op.dst.ty);
        let highest = u64::MAX >> (64 - to.size() * 8 + u32::from(to.is_signed()));
        let value = if from == GenType::UQ {
            let value = self.number(index, 0, Number::Unsigned64);
            let highest = self.builder.int(self.builder.ty(value), highest);
            self.builder.binary(Binary::UMin, value, highest)
        } else {
            let value = self.number(index, 0, Number::Signed64);
            let ty = self.builder.ty(value);
            let lowest = self.builder.int(ty, if to.is_signed() { !highest } else { 0 });
            let value = self.builder.binary(Binary::SMax, value, lowest);
            // All are below the highest of unsigned qwords.
            let highest = self.builder.int(ty, highest);
            if to == GenType::UQ { value } else { self.builder.binary(Binary::SMin, value, highest) }
        };
        self.finish_integer(index, value, mask);
    }

    fn comparison(&mut self, index: usize, number: Number, condition: Condition, mask: Value) {
        let [a, b] = [0, 1].map(|n| self.number(index, n, number));
        let holds = if number.is_float() {
            self.floats_compared(condition, a, b)
        } else {
            let relation = match (condition, number.is_signed()) {
                (Condition::Less, true) => Relation::Slt,
                (Condition::Less, false) => Relation::Ult,
                (Condition::LessEqual, true) => Relation::Sle,
                (Condition::LessEqual, false) => Relation::Ule,
                (Condition::Greater, true) => Relation::Sgt,
                (Condition::Greater, false) => Relation::Ugt,
                (Condition::GreaterEqual, true) => Relation::Sge,
                (Condition::GreaterEqual, false) => Relation::Uge,
                (Condition::Equal, _) => Relation::Eq,
                _ => Relation::Ne,
            };
            self.builder.compare(relation, a, b)
        };
        self.compared_to(index, holds, mask);
    }

    /// Writes what a comparison has found.
    pub fn compared_to(&mut self, index: usize, holds: Value, mask: Value) {
        let op = &self.plan.ops[index];
        self.merge_flags(op.flag_bit.into(), holds, mask);
        if op.dst.target != Target::Null {
            let ones = self.builder.convert(Convert::SExt, holds, Scalar::Int((op.dst.ty.size() * 8) as u8));
            self.result(index, ones, mask);
        }
    }

    fn integer(&mut self, index: usize, function: Integer, bits: u32, mask: Value) {
        let kind = if bits == 64 { Number::Unsigned64 } else { Number::Unsigned };
        let count = self.plan.ops[index].src.iter().filter(|s| s.is_some()).count();
        let sources: Vec<Value> = (0..count).map(|n| self.number(index, n, kind)).collect();
        let a = sources[0];
        let b = sources.get(1).copied().unwrap_or(a);
        let ty = self.builder.ty(a);
        let value = match function {
            Integer::Add => self.builder.binary(Binary::Add, a, b),
            Integer::Multiply => self.builder.binary(Binary::Mul, a, b),
            Integer::MultiplyLow => {
                let low = self.builder.int(ty, 0xffff);
                let low = self.builder.binary(Binary::And, b, low);
                self.builder.binary(Binary::Mul, a, low)
            }
            Integer::And => self.builder.binary(Binary::And, a, b),
            Integer::Or => self.builder.binary(Binary::Or, a, b),
            Integer::Xor => self.builder.binary(Binary::Xor, a, b),
            Integer::Not => {
                let all = self.builder.signed(ty, -1);
                self.builder.binary(Binary::Xor, a, all)
            }
            Integer::ShiftLeft | Integer::ShiftRight | Integer::ShiftRightSigned => {
                let counts = self.builder.int(ty, u64::from(bits - 1));
                let by = self.builder.binary(Binary::And, b, counts);
                let shift = match function {
                    Integer::ShiftLeft => Binary::Shl,
                    Integer::ShiftRight => Binary::LShr,
                    _ => Binary::AShr,
                };
                self.builder.binary(shift, a, by)
            }
            Integer::MultiplyAdd => {
                let product = self.builder.binary(Binary::Mul, b, sources[2]);
                self.builder.binary(Binary::Add, a, product)
            }
            Integer::Divide { signed, remainder } => self.division(a, b, signed, remainder),
            _ => self.dwords_function(index, function, &sources),
        };
        self.finish_integer(index, value, mask);
    }

    /// Functions of the bits of dwords.
    pub fn dwords_function(&mut self, index: usize, function: Integer, sources: &[Value]) -> Value {
        let a = sources[0];
        let b = sources.get(1).copied().unwrap_or(a);
        let ty = self.builder.ty(a);
        let [one, counts] = [1, 31].map(|n| self.builder.int(ty, n));
        match function {
            Integer::Bfe => {
                let signed = self.plan.ops[index].src[2].ty.is_signed();
                self.bit_field(a, b, sources[2], signed)
            }
            Integer::Bfi1 => {
                let width = self.builder.binary(Binary::And, a, counts);
                let offset = self.builder.binary(Binary::And, b, counts);
                let field = self.builder.binary(Binary::Shl, one, width);
                let field = self.builder.binary(Binary::Sub, field, one);
                self.builder.binary(Binary::Shl, field, offset)
            }
            Integer::Bfi2 => {
                let zeros = self.builder.unary(Unary::Cttz, a);
                // No bit in the mask: what is shifted does not matter.
                let zeros = self.builder.binary(Binary::And, zeros, counts);
                let placed = self.builder.binary(Binary::Shl, b, zeros);
                let inside = self.builder.binary(Binary::And, a, placed);
                let all = self.builder.signed(ty, -1);
                let outside = self.builder.binary(Binary::Xor, a, all);
                let kept = self.builder.binary(Binary::And, outside, sources[2]);
                self.builder.binary(Binary::Or, inside, kept)
            }
            Integer::Lzd => self.builder.unary(Unary::Ctlz, a),
            Integer::Cbit => self.builder.unary(Unary::Ctpop, a),
            Integer::Bfrev => self.builder.unary(Unary::BitReverse, a),
            Integer::Fbl => {
                let zeros = self.builder.unary(Unary::Cttz, a);
                self.or_all_for_zero(a, zeros)
            }
            // No function of bits.
            _ => a,
        }
    }

    /// A number, or all bits where another one is 0.
    pub fn or_all_for_zero(&mut self, a: Value, number: Value) -> Value {
        let ty = self.builder.ty(a);
        let zero = self.builder.int(ty, 0);
        let none = self.builder.compare(Relation::Eq, a, zero);
        let all = self.builder.signed(self.builder.ty(number), -1);
        self.builder.select(none, all, number)
    }

    /// As `eu::math` defines divisions by 0; the host's would trap.
    fn division(&mut self, a: Value, b: Value, signed: bool, remainder: bool) -> Value {
        let ty = self.builder.ty(a);
        let [zero, one, ones, lowest, highest] =
            [0, 1, u64::MAX, 0x8000_0000, 0x7fff_ffff].map(|n| self.builder.int(ty, n));
        let by_zero = self.builder.compare(Relation::Eq, b, zero);
        if !signed {
            let divisor = self.builder.select(by_zero, one, b);
            let value = self.divided(a, divisor, signed, remainder);
            return self.builder.select(by_zero, ones, value);
        }
        let is_lowest = self.builder.compare(Relation::Eq, a, lowest);
        let by_minus_one = self.builder.compare(Relation::Eq, b, ones);
        let overflows = self.builder.binary(Binary::And, is_lowest, by_minus_one);
        let special = self.builder.binary(Binary::Or, by_zero, overflows);
        let divisor = self.builder.select(special, one, b);
        let value = self.divided(a, divisor, signed, remainder);
        if remainder {
            // By 0 it is the dividend; of the lowest number by -1 it is 0, as by 1.
            return self.builder.select(by_zero, a, value);
        }
        let negative = self.builder.compare(Relation::Slt, a, zero);
        let largest = self.builder.select(negative, lowest, highest);
        self.builder.select(by_zero, largest, value)
    }

    /// A quotient or remainder that is a number of 32 bits. Hosts have no division of integers for all lanes; that of doubles is exact: quotients that
    /// are not integers are farther from them than doubles can be wrong.
    fn divided(&mut self, a: Value, b: Value, signed: bool, remainder: bool) -> Value {
        let (to, from) =
            if signed { (Convert::SIToFP, Convert::FPToSI) } else { (Convert::UIToFP, Convert::FPToUI) };
        let [x, y] = [a, b].map(|n| self.builder.convert(to, n, Scalar::Double));
        let quotient = self.builder.binary(Binary::FDiv, x, y);
        let quotient = self.builder.convert(from, quotient, Scalar::Int(32));
        if !remainder {
            return quotient;
        }
        let product = self.builder.binary(Binary::Mul, quotient, b);
        self.builder.binary(Binary::Sub, a, product)
    }

    /// `bfe`: width, offset, data.
    fn bit_field(&mut self, width: Value, offset: Value, data: Value, signed: bool) -> Value {
        let ty: Type = self.builder.ty(data);
        let [zero, n31, n32] = [0, 31, 32].map(|n| self.builder.int(ty, n));
        let width = self.builder.binary(Binary::And, width, n31);
        let offset = self.builder.binary(Binary::And, offset, n31);
        let end = self.builder.binary(Binary::Add, width, offset);
        let inside = self.builder.compare(Relation::Ult, end, n32);
        let left = self.builder.binary(Binary::Sub, n32, end);
        let left = self.builder.select(inside, left, zero);
        let right = self.builder.binary(Binary::Sub, n32, width);
        let right = self.builder.select(inside, right, offset);
        // Both are below 32 unless the width is 0, where the result is.
        let left = self.builder.binary(Binary::And, left, n31);
        let right = self.builder.binary(Binary::And, right, n31);
        let moved = self.builder.binary(Binary::Shl, data, left);
        let field = self.builder.binary(if signed { Binary::AShr } else { Binary::LShr }, moved, right);
        let none = self.builder.compare(Relation::Eq, width, zero);
        self.builder.select(none, zero, field)
    }
}
