//! Conversions from and to 64-bit integers.

use super::compare::high_type;
use super::{Halves, Lowering};
use crate::ir::{BinaryOp, Condition, Family, Op, Reg, Rounding, TernaryOp, Type, UnaryOp};

/// 2^32, 2^-32, 2^63 and 2^64 as floats.
const TWO_32: u32 = 0x4f80_0000;
const TWO_MINUS_32: u32 = 0x2f80_0000;
const TWO_63: u32 = 0x5f00_0000;
const TWO_64: u32 = 0x5f80_0000;
/// 2^32, -2^32, 2^-32, 2^63 and 2^64 as doubles.
const DOUBLE_TWO_32: u64 = 0x41f0_0000_0000_0000;
const DOUBLE_MINUS_TWO_32: u64 = 0xc1f0_0000_0000_0000;
const DOUBLE_TWO_MINUS_32: u64 = 0x3df0_0000_0000_0000;
const DOUBLE_TWO_63: u64 = 0x43e0_0000_0000_0000;
const DOUBLE_TWO_64: u64 = 0x43f0_0000_0000_0000;
/// Exponent bits of 1.0, and their place in a float.
const EXPONENT_BIAS: u32 = 127;
const EXPONENT_SHIFT: u32 = 23;

/// The operation that makes a float whole.
fn rounding_operation(rounding: Rounding) -> UnaryOp {
    match rounding {
        Rounding::Default | Rounding::TowardZero => UnaryOp::Trunc,
        Rounding::NearestEven => UnaryOp::RoundEven,
        Rounding::Up => UnaryOp::Ceil,
        Rounding::Down => UnaryOp::Floor,
    }
}

impl Lowering<'_> {
    /// A quadword converted to something smaller; `None` when it is a double.
    pub fn convert_from(
        &mut self,
        to: Type,
        from: Type,
        rounding: Rounding,
        saturate: bool,
        a: Halves,
    ) -> Option<Reg> {
        if from.is_float() {
            return None;
        }
        Some(match to {
            Type::F32 => self.integer_to_float(from, rounding, a),
            Type::F16 => {
                // What dwords do not hold is beyond half floats as well.
                let (value, ty) = self.clamped(from, from.is_signed(), a);
                self.convert_with(to, ty, rounding, false, value)
            }
            _ if saturate => {
                let signed = if to.family() == Family::Dword { to.is_signed() } else { from.is_signed() };
                let (value, ty) = self.clamped(from, signed, a);
                if ty == to { value } else { self.convert_with(to, ty, rounding, true, value) }
            }
            _ if to.family() == Family::Dword => a.low,
            _ => self.convert(to, Type::U32, a.low),
        })
    }

    /// The nearest dword, and its type.
    fn clamped(&mut self, from: Type, to_signed: bool, a: Halves) -> (Reg, Type) {
        let sign = self.sign(if to_signed { a.low } else { a.high });
        let (fits, limit) = match (from.is_signed(), to_signed) {
            (true, true) => {
                let sign_of_all = self.sign(a.high);
                let limit = self.with_constant(BinaryOp::Xor, sign_of_all, 0x7fff_ffff);
                (self.compare(Condition::Equal, Type::U32, a.high, sign), limit)
            }
            (false, true) => {
                let beyond = self.binary32(BinaryOp::Or, a.high, sign);
                let limit = self.dword(0x7fff_ffff);
                (self.compare_constant(Condition::Equal, Type::U32, beyond, 0), limit)
            }
            (from_signed, false) => {
                let limit = if from_signed { self.unary32(UnaryOp::Not, sign) } else { self.dword(u32::MAX) };
                (self.compare_constant(Condition::Equal, Type::U32, a.high, 0), limit)
            }
        };
        (self.select(fits, a.low, limit), if to_signed { Type::S32 } else { Type::U32 })
    }

    /// To a float: shifted up until the first digit is at the top, so that the high half holds more digits
    /// than a float, with the last bit one where something follows. That rounds as the whole would, in any
    /// mode. Then it is multiplied by the power of two that it was shifted by.
    fn integer_to_float(&mut self, from: Type, rounding: Rounding, a: Halves) -> Reg {
        let (count, high_type) = if from.is_signed() {
            let sign = self.sign(a.high);
            let magnitude = Halves {
                low: self.binary32(BinaryOp::Xor, a.low, sign),
                high: self.binary32(BinaryOp::Xor, a.high, sign),
            };
            let count = self.leading_zeros(magnitude);
            (self.with_constant(BinaryOp::Sub, count, 1), Type::S32)
        } else {
            (self.leading_zeros(a), Type::U32)
        };
        let shifted = self.shift(BinaryOp::Shl, from, a, count);
        let rest = self.with_constant(BinaryOp::Min, shifted.low, 1);
        let digits = self.binary32(BinaryOp::Or, shifted.high, rest);
        let digits = self.convert_with(Type::F32, high_type, rounding, false, digits);
        let most = self.dword(EXPONENT_BIAS + 32);
        let exponent = self.binary32(BinaryOp::Sub, most, count);
        let scale = self.with_constant(BinaryOp::Shl, exponent, EXPONENT_SHIFT);
        self.binary_f32(BinaryOp::Mul, digits, scale)
    }

    /// Something converted to 64 bits: a quadword, whose halves are given, or what `src` holds. `None` to
    /// doubles from what is smaller.
    pub fn convert_to(
        &mut self,
        to: Type,
        from: Type,
        rounding: Rounding,
        saturate: bool,
        src: Reg,
        halves: Option<Halves>,
    ) -> Option<Halves> {
        Some(match (from, halves) {
            (from, Some(a)) if to.is_float() && from.is_integer() => {
                self.integer_to_double(from, rounding, a)
            }
            _ if to.is_float() => return None,
            (Type::F64, _) => self.double_to_integer(to, rounding, saturate, src),
            (_, Some(a)) => self.between_qwords(to, from, saturate, a),
            (Type::F32, None) => self.float_to_integer(to, rounding, saturate, src),
            (Type::F16, None) if saturate => {
                let float = self.convert(Type::F32, Type::F16, src);
                self.float_to_integer(to, rounding, saturate, float)
            }
            (Type::F16, None) => {
                let low = self.convert_with(Type::S32, from, rounding, false, src);
                Halves { low, high: self.sign(low) }
            }
            _ if from.is_signed() && (to.is_signed() || !saturate) => {
                let low = self.convert(Type::S32, from, src);
                Halves { low, high: self.sign(low) }
            }
            _ => {
                let low = self.convert_with(Type::U32, from, Rounding::Default, saturate, src);
                self.extended(low)
            }
        })
    }

    fn between_qwords(&mut self, to: Type, from: Type, saturate: bool, a: Halves) -> Halves {
        if !saturate || to == from {
            return a;
        }
        let beyond = self.compare_constant(Condition::Less, Type::S32, a.high, 0);
        let limit = self.constant(if to.is_signed() { i64::MAX as u64 } else { 0 });
        self.choose(beyond, limit, a)
    }

    /// From a float, made whole first: the high half is the quotient by 2^32, the low half what is left of
    /// it; both are exact, as they have digits of the float and no others.
    fn float_to_integer(&mut self, to: Type, rounding: Rounding, saturate: bool, src: Reg) -> Halves {
        let whole = self.unary_f32(rounding_operation(rounding), src);
        let signed = to.is_signed();
        let magnitude = if signed { self.unary_f32(UnaryOp::Abs, whole) } else { whole };
        let scale = self.dword(TWO_MINUS_32);
        let high = self.binary_f32(BinaryOp::Mul, magnitude, scale);
        let high = self.unary_f32(UnaryOp::Trunc, high);
        let opposite = self.dword(TWO_32 | 0x8000_0000);
        let low =
            self.emit(Op::Ternary(TernaryOp::Mad, Type::F32), Family::Dword, &[high, opposite, magnitude]);
        let mut part = |value| self.convert_with(Type::U32, Type::F32, Rounding::Default, saturate, value);
        let mut result = Halves { low: part(low), high: part(high) };
        let sign = self.sign(src);
        if signed {
            result = self.negate_by(result, sign);
        }
        if saturate {
            let bound = self.dword(if signed { TWO_63 } else { TWO_64 });
            let beyond = self.compare(Condition::GreaterEqual, Type::F32, magnitude, bound);
            let limit = if signed { self.limit(sign) } else { self.constant(u64::MAX) };
            result = self.choose(beyond, limit, result);
        }
        result
    }

    /// The sum of both halves as doubles, which are exact, rounded once to the nearest number. In other modes
    /// the neighbour is the result when the sum is on the wrong side of what is exact: what it lacks is
    /// exact, too, as the high half is not less than the low one, or 0.
    fn integer_to_double(&mut self, from: Type, rounding: Rounding, a: Halves) -> Halves {
        let high = self.double_of(high_type(from), a.high);
        let low = self.double_of(Type::U32, a.low);
        let scale = self.double(DOUBLE_TWO_32);
        let sum = self.mad_f64(high, scale, low);
        let result = self.parts(sum);
        if matches!(rounding, Rounding::Default | Rounding::NearestEven) {
            return result;
        }
        let opposite = self.double(DOUBLE_MINUS_TWO_32);
        let upper = self.mad_f64(high, opposite, sum);
        let lacking = self.emit(Op::Binary(BinaryOp::Sub, Type::F64), Family::Qword, &[low, upper]);
        let zero = self.double(0);
        let mut lacks =
            |condition| self.emit(Op::Compare(condition, Type::F64), Family::Bool, &[lacking, zero]);
        let (above, below) = (lacks(Condition::Less), lacks(Condition::Greater));
        let sign = self.sign(result.high);
        let negative = self.compare_constant(Condition::NotEqual, Type::U32, sign, 0);
        // Away from zero the bits as an integer grow.
        let one = self.dword(1);
        let away = Halves { low: self.binary32(BinaryOp::Or, sign, one), high: sign };
        let (wrong, step) = match rounding {
            Rounding::Up => (below, away),
            Rounding::Down => {
                let zero = self.constant(0);
                (above, self.sub(zero, away))
            }
            Rounding::Default | Rounding::NearestEven | Rounding::TowardZero => {
                let positive = self.not(negative);
                let too_high = self.logic(BinaryOp::And, above, positive);
                let too_low = self.logic(BinaryOp::And, below, negative);
                let wrong = self.logic(BinaryOp::Or, too_high, too_low);
                (wrong, self.constant(u64::MAX))
            }
        };
        let neighbour = self.add(result, step);
        self.choose(wrong, neighbour, result)
    }

    /// As [`Self::float_to_integer`], from the double that a quadword holds.
    fn double_to_integer(&mut self, to: Type, rounding: Rounding, saturate: bool, src: Reg) -> Halves {
        let src = self.joined(src);
        let whole = self.unary_f64(rounding_operation(rounding), src);
        let signed = to.is_signed();
        let magnitude = if signed { self.unary_f64(UnaryOp::Abs, whole) } else { whole };
        let scale = self.double(DOUBLE_TWO_MINUS_32);
        let high = self.emit(Op::Binary(BinaryOp::Mul, Type::F64), Family::Qword, &[magnitude, scale]);
        let high = self.unary_f64(UnaryOp::Trunc, high);
        let opposite = self.double(DOUBLE_MINUS_TWO_32);
        let low = self.mad_f64(high, opposite, magnitude);
        let mut part = |value| self.convert_with(Type::U32, Type::F64, Rounding::Default, saturate, value);
        let mut result = Halves { low: part(low), high: part(high) };
        let sign = self.parts(src).high;
        let sign = self.sign(sign);
        if signed {
            result = self.negate_by(result, sign);
        }
        if saturate {
            let bound = self.double(if signed { DOUBLE_TWO_63 } else { DOUBLE_TWO_64 });
            let beyond =
                self.emit(Op::Compare(Condition::GreaterEqual, Type::F64), Family::Bool, &[magnitude, bound]);
            let limit = if signed { self.limit(sign) } else { self.constant(u64::MAX) };
            result = self.choose(beyond, limit, result);
        }
        result
    }

    fn double(&mut self, bits: u64) -> Reg {
        self.emit(Op::Immediate { ty: Type::F64, bits }, Family::Qword, &[])
    }

    fn double_of(&mut self, from: Type, a: Reg) -> Reg {
        self.convert(Type::F64, from, a)
    }

    fn mad_f64(&mut self, a: Reg, b: Reg, c: Reg) -> Reg {
        self.emit(Op::Ternary(TernaryOp::Mad, Type::F64), Family::Qword, &[a, b, c])
    }

    fn unary_f64(&mut self, op: UnaryOp, a: Reg) -> Reg {
        self.emit(Op::Unary(op, Type::F64), Family::Qword, &[a])
    }

    fn unary_f32(&mut self, op: UnaryOp, a: Reg) -> Reg {
        self.emit(Op::Unary(op, Type::F32), Family::Dword, &[a])
    }
}
