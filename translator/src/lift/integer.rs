//! Arithmetic of integers: computed in the width of [`crate::analysis::width`], then saturated or truncated to the destination.

use gencl_eu::compute::shifts_qwords;
use gencl_eu::file::ACCUMULATOR;
use gencl_eu::operand::{Target, is_accumulator};
use gencl_isa::{Condition, MathFunction, Opcode};

use super::Lift;
use super::accumulator::SHOWN;
use crate::analysis::native;
use crate::middle::function::Value;
use crate::middle::op::{Binary, Convert, Relation, Unary};
use crate::middle::types::Scalar;

impl Lift<'_> {
    /// A function of integers.
    pub fn integer(&mut self, index: usize, bits: u32, signed: bool, mask: Value) {
        use Opcode as O;
        let op = &self.plan.ops[index];
        let count = op.src.iter().filter(|s| s.is_some()).count();
        let sources: Vec<Value> = (0..count).map(|n| self.integer_source(index, n, bits)).collect();
        let a = sources[0];
        let b = sources.get(1).copied().unwrap_or(a);
        let ty = self.builder.ty(a);
        let factor = if op.low_multiplier { self.low(b, 16) } else { b };
        let right = if signed { Binary::AShr } else { Binary::LShr };
        let value = match op.opcode {
            O::Cmp | O::Cmpn => {
                let holds = self.compared(op.condition, a, b, signed);
                return self.compared_to(index, holds, mask);
            }
            O::Sel if op.condition.is_none() => self.chosen(index, a, b),
            O::Sel => {
                let first = self.compared(op.condition, a, b, signed);
                self.builder.select(first, a, b)
            }
            O::Csel => {
                let zero = self.builder.int(ty, 0);
                let first = self.compared(op.condition, sources[2], zero, signed);
                self.builder.select(first, a, b)
            }
            O::Add => self.builder.binary(Binary::Add, a, b),
            O::Mul => self.builder.binary(Binary::Mul, a, factor),
            O::Mad => {
                let product = self.builder.binary(Binary::Mul, b, sources[2]);
                self.builder.binary(Binary::Add, a, product)
            }
            O::Mac => {
                let product = self.builder.binary(Binary::Mul, a, factor);
                let accumulator = self.accumulator(0, ty.lanes.into());
                let accumulator = self.builder.resize(accumulator, bits, true);
                self.builder.binary(Binary::Add, accumulator, product)
            }
            O::Mach => self.high_multiply(index, a, b, mask),
            O::Addc | O::Subb => {
                let binary = if op.opcode == O::Addc { Binary::Add } else { Binary::Sub };
                let exact = self.builder.binary(binary, a, b);
                let sum = self.low(exact, 32);
                let carry = self.builder.compare(Relation::Ne, exact, sum);
                let carry = self.builder.convert(Convert::ZExt, carry, ty.scalar);
                self.set_accumulator(0, carry, mask);
                sum
            }
            O::Avg => {
                let one = self.builder.int(ty, 1);
                let sum = self.builder.binary(Binary::Add, a, b);
                let sum = self.builder.binary(Binary::Add, sum, one);
                self.builder.binary(right, sum, one)
            }
            O::And => self.builder.binary(Binary::And, a, b),
            O::Or => self.builder.binary(Binary::Or, a, b),
            O::Xor => self.builder.binary(Binary::Xor, a, b),
            O::Not => self.complement(a),
            O::Shl | O::Shr | O::Asr => {
                let counts = self.builder.int(ty, if shifts_qwords(op) { 63 } else { 31 });
                let by = self.builder.binary(Binary::And, b, counts);
                let (shift, a) = match op.opcode {
                    O::Shl => (Binary::Shl, a),
                    O::Asr => (right, a),
                    _ => (Binary::LShr, self.low(a, op.src[0].ty.size() * 8)),
                };
                self.builder.binary(shift, a, by)
            }
            O::Math => self.division(index, a, b, signed),
            O::Lzd | O::Cbit | O::Bfrev | O::Fbl | O::Fbh | O::Bfe | O::Bfi1 | O::Bfi2 => {
                self.bits_function(index, &sources, signed)
            }
            // `mov`
            _ => a,
        };
        self.finish_integer(index, value, signed, mask);
    }

    /// A source, extended or truncated to a number of bits, with its modifiers.
    pub fn integer_source(&mut self, index: usize, number: usize, bits: u32) -> Value {
        let src = &self.plan.ops[index].src[number];
        let elements = self.source_bits(index, number);
        let mut value = self.builder.resize(elements, bits, src.ty.is_signed());
        let zero = self.builder.int(self.builder.ty(value), 0);
        if src.abs && src.ty.is_signed() {
            let negated = self.builder.binary(Binary::Sub, zero, value);
            value = self.builder.binary(Binary::SMax, value, negated);
        }
        if src.complement {
            value = self.complement(value);
        } else if src.negate {
            value = self.builder.binary(Binary::Sub, zero, value);
        }
        value
    }

    fn complement(&mut self, value: Value) -> Value {
        let all = self.builder.signed(self.builder.ty(value), -1);
        self.builder.binary(Binary::Xor, value, all)
    }

    /// The low bits, and zeros above.
    fn low(&mut self, value: Value, bits: u32) -> Value {
        let own = self.builder.ty(value).scalar.bits();
        let low = self.builder.resize(value, bits.min(own), false);
        self.builder.resize(low, own, false)
    }

    /// Whether a condition holds between two integers. Conditions of floats never do.
    fn compared(&mut self, condition: Option<Condition>, a: Value, b: Value, signed: bool) -> Value {
        let relation = match (condition, signed) {
            (Some(Condition::Equal), _) => Relation::Eq,
            (Some(Condition::NotEqual) | None, _) => Relation::Ne,
            (Some(Condition::Greater), true) => Relation::Sgt,
            (Some(Condition::Greater), false) => Relation::Ugt,
            (Some(Condition::GreaterEqual), true) => Relation::Sge,
            (Some(Condition::GreaterEqual), false) => Relation::Uge,
            (Some(Condition::Less), true) => Relation::Slt,
            (Some(Condition::Less), false) => Relation::Ult,
            (Some(Condition::LessEqual), true) => Relation::Sle,
            (Some(Condition::LessEqual), false) => Relation::Ule,
            (Some(Condition::Overflow | Condition::Unordered), _) => {
                return self.builder.mask(self.builder.ty(a).lanes.into(), false);
            }
        };
        self.builder.compare(relation, a, b)
    }

    /// Functions of the low 32 bits (`cbit`: of all that the source has).
    fn bits_function(&mut self, index: usize, sources: &[Value], signed: bool) -> Value {
        use Opcode as O;
        let op = &self.plan.ops[index];
        let bits = self.builder.ty(sources[0]).scalar.bits();
        let low: Vec<Value> = sources.iter().map(|value| self.builder.resize(*value, 32, false)).collect();
        let a = low[0];
        let b = low.get(1).copied().unwrap_or(a);
        let ty = self.builder.ty(a);
        let [one, counts] = [1, 31].map(|n| self.builder.int(ty, n));
        let value = match op.opcode {
            O::Cbit => {
                let own = self.low(sources[0], op.src[0].ty.size() * 8);
                self.builder.unary(Unary::Ctpop, own)
            }
            O::Fbh => {
                let mut magnitude = a;
                if signed {
                    let none = self.builder.int(self.builder.ty(sources[0]), 0);
                    let negative = self.builder.compare(Relation::Slt, sources[0], none);
                    let complement = self.complement(a);
                    magnitude = self.builder.select(negative, complement, a);
                }
                let zeros = self.builder.unary(Unary::Ctlz, magnitude);
                self.or_all_for_zero(magnitude, zeros)
            }
            O::Bfe => self.bit_field(a, b, low[2], op.src[2].ty.is_signed()),
            O::Bfi1 => {
                let width = self.builder.binary(Binary::And, a, counts);
                let offset = self.builder.binary(Binary::And, b, counts);
                let field = self.builder.binary(Binary::Shl, one, width);
                let field = self.builder.binary(Binary::Sub, field, one);
                self.builder.binary(Binary::Shl, field, offset)
            }
            O::Bfi2 => {
                let zeros = self.builder.unary(Unary::Cttz, a);
                // No bit in the mask: what is shifted does not matter.
                let zeros = self.builder.binary(Binary::And, zeros, counts);
                let placed = self.builder.binary(Binary::Shl, b, zeros);
                let inside = self.builder.binary(Binary::And, a, placed);
                let outside = self.complement(a);
                let kept = self.builder.binary(Binary::And, outside, low[2]);
                self.builder.binary(Binary::Or, inside, kept)
            }
            O::Lzd => self.builder.unary(Unary::Ctlz, a),
            O::Bfrev => self.builder.unary(Unary::BitReverse, a),
            _ => {
                let zeros = self.builder.unary(Unary::Cttz, a);
                self.or_all_for_zero(a, zeros)
            }
        };
        let signed = op.opcode == O::Bfe && op.src[2].ty.is_signed();
        self.builder.resize(value, bits, signed)
    }

    /// A number, or all bits where another one is 0.
    fn or_all_for_zero(&mut self, a: Value, number: Value) -> Value {
        let ty = self.builder.ty(a);
        let zero = self.builder.int(ty, 0);
        let none = self.builder.compare(Relation::Eq, a, zero);
        let all = self.builder.signed(ty, -1);
        self.builder.select(none, all, number)
    }

    /// `bfe`: width, offset, data.
    fn bit_field(&mut self, width: Value, offset: Value, data: Value, signed: bool) -> Value {
        let ty = self.builder.ty(data);
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

    /// Quotient or remainder as `eu::math` defines them; the host's division by 0 would trap. Hosts have no division of integers for all lanes;
    /// that of doubles is exact: quotients that are not integers are farther from them than doubles can be wrong.
    fn division(&mut self, index: usize, a: Value, b: Value, signed: bool) -> Value {
        let op = &self.plan.ops[index];
        let remainder = op.function == Some(MathFunction::IntDivRemainder);
        let ty = self.builder.ty(a);
        let [zero, one, minus_one, all, lowest, highest] =
            [0, 1, -1, 0xffff_ffff, -0x8000_0000, 0x7fff_ffff].map(|n| self.builder.signed(ty, n));
        let by_zero = self.builder.compare(Relation::Eq, b, zero);
        let mut special = by_zero;
        if signed && ty.scalar.bits() == 32 {
            // The lowest number by -1 is itself, and the remainder 0, as by 1.
            let is_lowest = self.builder.compare(Relation::Eq, a, lowest);
            let by_minus_one = self.builder.compare(Relation::Eq, b, minus_one);
            let overflows = self.builder.binary(Binary::And, is_lowest, by_minus_one);
            special = self.builder.binary(Binary::Or, by_zero, overflows);
        }
        let divisor = self.builder.select(special, one, b);
        let (to, from) =
            if signed { (Convert::SIToFP, Convert::FPToSI) } else { (Convert::UIToFP, Convert::FPToUI) };
        let [x, y] = [a, divisor].map(|n| self.builder.convert(to, n, Scalar::Double));
        let quotient = self.builder.binary(Binary::FDiv, x, y);
        let mut value = self.builder.convert(from, quotient, ty.scalar);
        if remainder {
            let product = self.builder.binary(Binary::Mul, value, divisor);
            value = self.builder.binary(Binary::Sub, a, product);
        }
        let otherwise = match (op.src[0].ty.is_signed(), remainder) {
            (true, false) => {
                let negative = self.builder.compare(Relation::Slt, a, zero);
                self.builder.select(negative, lowest, highest)
            }
            (true, true) => a,
            (false, _) => all,
        };
        self.builder.select(by_zero, otherwise, value)
    }

    /// `mach`: the accumulator, and the high word of source 1 times source 0.
    fn high_multiply(&mut self, index: usize, a: Value, b: Value, mask: Value) -> Value {
        let ty = self.builder.ty(a);
        let [n16, n32] = [16, 32].map(|n| self.builder.int(ty, n));
        let high = self.builder.binary(Binary::AShr, b, n16);
        let product = self.builder.binary(Binary::Mul, a, high);
        let product = self.builder.binary(Binary::Shl, product, n16);
        let accumulator = self.accumulator(0, ty.lanes.into());
        let sum = self.builder.binary(Binary::Add, accumulator, product);
        self.set_accumulator(0, sum, mask);
        let signed = self.plan.ops[index].execution_type.is_signed();
        self.builder.binary(if signed { Binary::AShr } else { Binary::LShr }, sum, n32)
    }

    /// Limits or cuts an exact result, writes it where it goes, and sets the flags.
    fn finish_integer(&mut self, index: usize, mut exact: Value, signed: bool, mask: Value) {
        let op = &self.plan.ops[index];
        if op.dst.ty.is_float() {
            // Doubles hold what has come so far.
            let value = self.of_integers(exact, signed, Scalar::Double);
            return self.finish_float(index, value, mask);
        }
        let size = op.dst.ty.size() * 8;
        // Bits that are only copied are a number of the destination's type.
        if native::is_logic(op.opcode) || native::copies(op) {
            let bits = self.builder.ty(exact).scalar.bits();
            let low = self.builder.resize(exact, size, false);
            exact = self.builder.resize(low, bits, op.dst.ty.is_signed());
        }
        let value = if op.saturate { self.limited(index, exact, signed) } else { exact };
        let bits = self.builder.resize(value, size, false);
        if let Some(condition) = op.condition.filter(|_| !native::chooses(op.opcode)) {
            let holds = self.integer_condition(index, condition, exact, bits, signed);
            self.merge_flags(op.flag_bit.into(), holds, mask);
        }
        let accumulator = match op.dst.target {
            Target::Direct { offset, .. } if is_accumulator(offset) => Some((offset - ACCUMULATOR) / SHOWN),
            _ => None,
        };
        let own = matches!(op.opcode, Opcode::Mach | Opcode::Addc | Opcode::Subb);
        if let Some(first) = accumulator.or((op.accumulator_write && !own).then_some(0)) {
            let low = self.builder.resize(exact, 64, signed);
            self.set_accumulator(first, low, mask);
        }
        if accumulator.is_none() {
            self.result(index, bits, mask);
        }
    }

    /// The nearest number that the destination's type has.
    fn limited(&mut self, index: usize, exact: Value, signed: bool) -> Value {
        let to = self.plan.ops[index].dst.ty;
        let ty = self.builder.ty(exact);
        let (bits, size) = (ty.scalar.bits(), to.size() * 8);
        let magnitude = size - u32::from(to.is_signed());
        let [lowest, highest] = [if to.is_signed() { -1 << magnitude } else { 0 }, (1 << magnitude) - 1]
            .map(|n: i128| self.builder.signed(ty, n));
        let mut limited = exact;
        // Bounds beyond all that there are bits for are none.
        if signed && (size < bits || !to.is_signed()) {
            limited = self.builder.binary(Binary::SMax, limited, lowest);
        }
        if magnitude < bits - u32::from(signed) {
            let least = if signed { Binary::SMin } else { Binary::UMin };
            limited = self.builder.binary(least, limited, highest);
        }
        limited
    }

    /// The zero is that of the final bits, the sign that of the exact result.
    fn integer_condition(
        &mut self,
        index: usize,
        condition: Condition,
        exact: Value,
        bits: Value,
        signed: bool,
    ) -> Value {
        let [none, null] = [bits, exact].map(|value| self.builder.int(self.builder.ty(value), 0));
        let zero = self.builder.compare(Relation::Eq, bits, none);
        let lanes = self.builder.ty(bits).lanes.into();
        let negative = match signed {
            true => self.builder.compare(Relation::Slt, exact, null),
            false => self.builder.mask(lanes, false),
        };
        let [something, positive] = [zero, negative].map(|mask| self.builder.not(mask));
        match condition {
            Condition::Equal => zero,
            Condition::NotEqual => something,
            Condition::Greater => self.builder.binary(Binary::And, something, positive),
            Condition::GreaterEqual => self.builder.binary(Binary::Or, zero, positive),
            Condition::Less => self.builder.binary(Binary::And, something, negative),
            Condition::LessEqual => self.builder.binary(Binary::Or, zero, negative),
            Condition::Overflow => {
                let limited = self.limited(index, exact, signed);
                self.builder.compare(Relation::Ne, limited, exact)
            }
            Condition::Unordered => self.builder.mask(lanes, false),
        }
    }
}
