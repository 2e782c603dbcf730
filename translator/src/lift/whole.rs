//! Integers as the interpreter's general path has them (`eu::compute`, `eu::value`): results that are exact, in as many bits as that
//! takes, and only then limited or cut to the destination; all conditional modifiers; the accumulator.

use gencl_eu::file::ACCUMULATOR;
use gencl_eu::operand::{SourceLocation, Target, is_accumulator};
use gencl_isa::{Condition, Opcode};

use super::Lift;
use super::entry::ACCUMULATORS;
use super::ssa::Variable;
use crate::middle::function::Value;
use crate::middle::op::{Binary, Convert, Relation, Unary};
use crate::middle::types::{Scalar, Type};
use crate::native::{ACCUMULATOR_DWORDS, Integer, Number};

/// Bytes of a dword in the accumulator.
const SHOWN: usize = 4;

impl Lift<'_> {
    /// A function of integers in so many bits.
    pub fn whole(&mut self, index: usize, function: Integer, bits: u32, mask: Value) {
        let op = &self.plan.ops[index];
        let count = op.src.iter().filter(|s| s.is_some()).count();
        let sources: Vec<Value> = (0..count).map(|n| self.whole_number(index, n, bits)).collect();
        let a = sources[0];
        let b = sources.get(1).copied().unwrap_or(a);
        let ty = self.builder.ty(a);
        let low = |lift: &mut Self, value: Value, bits: u64| {
            let bits = lift.builder.int(ty, u64::MAX >> (64 - bits));
            lift.builder.binary(Binary::And, value, bits)
        };
        let value = match function {
            Integer::Copy => self.copied(index, a),
            Integer::Add => self.builder.binary(Binary::Add, a, b),
            Integer::Multiply => self.builder.binary(Binary::Mul, a, b),
            Integer::MultiplyLow => {
                let b = low(self, b, 16);
                self.builder.binary(Binary::Mul, a, b)
            }
            Integer::MultiplyAdd => {
                let product = self.builder.binary(Binary::Mul, b, sources[2]);
                self.builder.binary(Binary::Add, a, product)
            }
            Integer::MultiplyAccumulate => {
                let b = if op.low_multiplier { low(self, b, 16) } else { b };
                let product = self.builder.binary(Binary::Mul, a, b);
                let accumulator = self.accumulator(0, ty.lanes.into());
                let accumulator = self.builder.resize(accumulator, bits, true);
                self.builder.binary(Binary::Add, accumulator, product)
            }
            Integer::HighMultiply => self.high_multiply(index, a, b, mask),
            Integer::AddCarry | Integer::SubtractBorrow => {
                let binary = if function == Integer::AddCarry { Binary::Add } else { Binary::Sub };
                let exact = self.builder.binary(binary, a, b);
                let [zero, shift] = [0, 32].map(|n| self.builder.int(ty, n));
                let high = self.builder.binary(Binary::LShr, exact, shift);
                let carry = self.builder.compare(Relation::Ne, high, zero);
                let carry = self.builder.convert(Convert::ZExt, carry, Scalar::Int(64));
                self.set_accumulator(0, carry, mask);
                low(self, exact, 32)
            }
            Integer::Average => {
                let one = self.builder.int(ty, 1);
                let sum = self.builder.binary(Binary::Add, a, b);
                let sum = self.builder.binary(Binary::Add, sum, one);
                self.builder.binary(Binary::AShr, sum, one)
            }
            Integer::And | Integer::Or | Integer::Xor | Integer::Not => self.logic(index, function, a, b),
            Integer::ShiftLeft | Integer::ShiftRight | Integer::ShiftRightSigned => {
                self.shift(index, function, a, b)
            }
            Integer::Choose => self.chosen(index, a, b),
            Integer::Extreme => {
                let is_conditional = op.opcode == Opcode::Csel;
                let none = self.builder.int(ty, 0);
                let (operand, other) = if is_conditional { (sources[2], none) } else { (a, b) };
                let first = self.compared(op.condition, operand, other);
                self.builder.select(first, a, b)
            }
            Integer::Divide { signed, remainder } => self.whole_division(a, b, signed, remainder),
            Integer::Lzd
            | Integer::Cbit
            | Integer::Bfrev
            | Integer::Fbl
            | Integer::Fbh
            | Integer::Bfe
            | Integer::Bfi1
            | Integer::Bfi2 => self.bits_function(index, function, &sources),
        };
        self.finish_whole(index, value, mask);
    }

    /// A comparison of integers.
    pub fn whole_comparison(&mut self, index: usize, bits: u32, mask: Value) {
        let [a, b] = [0, 1].map(|n| self.whole_number(index, n, bits));
        let holds = self.compared(self.plan.ops[index].condition, a, b);
        self.compared_to(index, holds, mask);
    }

    /// A source as an integer of more bits than it has, with its modifiers.
    fn whole_number(&mut self, index: usize, number: usize, bits: u32) -> Value {
        let src = &self.plan.ops[index].src[number];
        let elements = self.source_bits(index, number);
        let mut value = self.builder.resize(elements, bits, src.ty.is_signed());
        let ty = self.builder.ty(value);
        let zero = self.builder.int(ty, 0);
        if src.abs && src.ty.is_signed() {
            let negated = self.builder.binary(Binary::Sub, zero, value);
            value = self.builder.binary(Binary::SMax, value, negated);
        }
        if src.complement {
            let all = self.builder.signed(ty, -1);
            value = self.builder.binary(Binary::Xor, value, all);
        } else if src.negate {
            value = self.builder.binary(Binary::Sub, zero, value);
        }
        value
    }

    /// Whether a condition holds between two integers. One that asks for what only floats have does not.
    fn compared(&mut self, condition: Option<Condition>, a: Value, b: Value) -> Value {
        let relation = match condition {
            Some(Condition::Equal) => Relation::Eq,
            Some(Condition::NotEqual) | None => Relation::Ne,
            Some(Condition::Greater) => Relation::Sgt,
            Some(Condition::GreaterEqual) => Relation::Sge,
            Some(Condition::Less) => Relation::Slt,
            Some(Condition::LessEqual) => Relation::Sle,
            Some(Condition::Overflow | Condition::Unordered) => {
                return self.builder.mask(self.builder.ty(a).lanes.into(), false);
            }
        };
        self.builder.compare(relation, a, b)
    }

    /// `mov`: bits that are only copied are a number of the destination's type.
    fn copied(&mut self, index: usize, a: Value) -> Value {
        let op = &self.plan.ops[index];
        let src = &op.src[0];
        let raw = src.ty.size() == op.dst.ty.size() && !op.dst.ty.is_float();
        if !raw || src.modified() || op.saturate {
            return a;
        }
        self.as_destination(index, a)
    }

    /// The low bits of a value as a number of the destination's type.
    fn as_destination(&mut self, index: usize, value: Value) -> Value {
        let ty = self.plan.ops[index].dst.ty;
        let bits = self.builder.ty(value).scalar.bits();
        let low = self.builder.resize(value, ty.size() * 8, false);
        self.builder.resize(low, bits, ty.is_signed())
    }

    fn logic(&mut self, index: usize, function: Integer, a: Value, b: Value) -> Value {
        let value = match function {
            Integer::And => self.builder.binary(Binary::And, a, b),
            Integer::Or => self.builder.binary(Binary::Or, a, b),
            Integer::Xor => self.builder.binary(Binary::Xor, a, b),
            _ => {
                let all = self.builder.signed(self.builder.ty(a), -1);
                self.builder.binary(Binary::Xor, a, all)
            }
        };
        self.as_destination(index, value)
    }

    fn shift(&mut self, index: usize, function: Integer, a: Value, b: Value) -> Value {
        let op = &self.plan.ops[index];
        let ty = self.builder.ty(a);
        let counts = self.builder.int(ty, if gencl_eu::compute::shifts_qwords(op) { 63 } else { 31 });
        let by = self.builder.binary(Binary::And, b, counts);
        match function {
            Integer::ShiftLeft => self.builder.binary(Binary::Shl, a, by),
            Integer::ShiftRightSigned => self.builder.binary(Binary::AShr, a, by),
            _ => {
                let own = self.builder.resize(a, op.src[0].ty.size() * 8, false);
                let own = self.builder.resize(own, ty.scalar.bits(), false);
                self.builder.binary(Binary::LShr, own, by)
            }
        }
    }

    /// Functions of the low 32 bits (`cbit`: of all that the source has).
    fn bits_function(&mut self, index: usize, function: Integer, sources: &[Value]) -> Value {
        let op = &self.plan.ops[index];
        let ty = self.builder.ty(sources[0]);
        let low: Vec<Value> = sources.iter().map(|value| self.builder.resize(*value, 32, false)).collect();
        let value = match function {
            Integer::Cbit => {
                let own = self.builder.resize(sources[0], op.src[0].ty.size() * 8, false);
                self.builder.unary(Unary::Ctpop, own)
            }
            Integer::Fbh => {
                let zero = self.builder.int(ty, 0);
                let negative = self.builder.compare(Relation::Slt, sources[0], zero);
                let all = self.builder.signed(self.builder.ty(low[0]), -1);
                let complement = self.builder.binary(Binary::Xor, low[0], all);
                let magnitude = self.builder.select(negative, complement, low[0]);
                let zeros = self.builder.unary(Unary::Ctlz, magnitude);
                self.or_all_for_zero(magnitude, zeros)
            }
            _ => self.dwords_function(index, function, &low),
        };
        let signed = function == Integer::Bfe && op.src[2].ty.is_signed();
        self.builder.resize(value, ty.scalar.bits(), signed)
    }

    /// Quotient or remainder as `eu::math` defines them, of numbers with more bits than dwords have.
    fn whole_division(&mut self, a: Value, b: Value, signed: bool, remainder: bool) -> Value {
        let ty = self.builder.ty(a);
        let [zero, one, lowest, highest, all] =
            [0, 1, -0x8000_0000, 0x7fff_ffff, 0xffff_ffff].map(|n| self.builder.signed(ty, n));
        let by_zero = self.builder.compare(Relation::Eq, b, zero);
        let divisor = self.builder.select(by_zero, one, b);
        let value = self.builder.binary(if remainder { Binary::SRem } else { Binary::SDiv }, a, divisor);
        let otherwise = match (signed, remainder) {
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
    fn finish_whole(&mut self, index: usize, exact: Value, mask: Value) {
        let op = &self.plan.ops[index];
        // The condition of `sel` and `csel` is what they do.
        let chooses = matches!(op.opcode, Opcode::Sel | Opcode::Csel);
        if op.dst.ty.is_float() {
            // Doubles hold what has come so far.
            let value = self.of_integers(exact, true, Scalar::Double);
            return match chooses {
                true => self.selected(index, Number::Double, value, mask),
                false => self.finish_float(index, value, mask),
            };
        }
        let (fits, limited) = self.limits(index, exact);
        let value = if op.saturate { limited } else { exact };
        let bits = self.builder.resize(value, op.dst.ty.size() * 8, false);
        if let Some(condition) = op.condition.filter(|_| !chooses) {
            let holds = self.whole_condition(condition, exact, bits, fits);
            self.merge_flags(op.flag_bit.into(), holds, mask);
        }
        let low = self.builder.resize(exact, 64, true);
        let own = matches!(op.opcode, Opcode::Mach | Opcode::Addc | Opcode::Subb);
        if op.accumulator_write && !own {
            self.set_accumulator(0, low, mask);
        }
        match op.dst.target {
            Target::Direct { offset, .. } if is_accumulator(offset) => {
                self.set_accumulator((offset - ACCUMULATOR) / SHOWN, low, mask);
            }
            _ => self.result(index, bits, mask),
        }
    }

    /// Whether a value is one of the destination's type, and the nearest that is.
    fn limits(&mut self, index: usize, exact: Value) -> (Value, Value) {
        let to = self.plan.ops[index].dst.ty;
        let ty = self.builder.ty(exact);
        let bits = ty.scalar.bits();
        let highest = (1i128 << (to.size() * 8 - u32::from(to.is_signed()))) - 1;
        let lowest = if to.is_signed() { -highest - 1 } else { 0 };
        let mut limited = exact;
        // Bounds beyond all that there are bits for are none.
        if to.size() * 8 < bits || !to.is_signed() {
            let lowest = self.builder.signed(ty, lowest);
            limited = self.builder.binary(Binary::SMax, limited, lowest);
        }
        if to.size() * 8 < bits {
            let highest = self.builder.signed(ty, highest);
            limited = self.builder.binary(Binary::SMin, limited, highest);
        }
        (self.builder.compare(Relation::Eq, limited, exact), limited)
    }

    /// The zero is that of the final bits, the sign that of the exact result.
    fn whole_condition(&mut self, condition: Condition, exact: Value, bits: Value, fits: Value) -> Value {
        let [none, null] = [bits, exact].map(|value| self.builder.int(self.builder.ty(value), 0));
        let zero = self.builder.compare(Relation::Eq, bits, none);
        let negative = self.builder.compare(Relation::Slt, exact, null);
        match condition {
            Condition::Equal => zero,
            Condition::NotEqual => self.builder.not(zero),
            Condition::Greater => {
                let at_most = self.builder.binary(Binary::Or, zero, negative);
                self.builder.not(at_most)
            }
            Condition::GreaterEqual => {
                let positive = self.builder.not(negative);
                self.builder.binary(Binary::Or, zero, positive)
            }
            Condition::Less => {
                let something = self.builder.not(zero);
                self.builder.binary(Binary::And, something, negative)
            }
            Condition::LessEqual => self.builder.binary(Binary::Or, zero, negative),
            Condition::Overflow => self.builder.not(fits),
            Condition::Unordered => self.builder.mask(self.builder.ty(fits).lanes.into(), false),
        }
    }

    /// Elements of the accumulator from one on, all of their bits.
    fn accumulator(&mut self, first: usize, lanes: usize) -> Value {
        let all = self.read_variable(Variable::Accumulator, ACCUMULATORS);
        self.builder.slice(all, first, lanes)
    }

    fn set_accumulator(&mut self, first: usize, value: Value, mask: Value) {
        let lanes = usize::from(self.builder.ty(value).lanes);
        let old = self.accumulator(first, lanes);
        let new = self.builder.select(mask, value, old);
        let all = self.read_variable(Variable::Accumulator, ACCUMULATORS);
        let inside = first..first + lanes;
        let order = (0..ACCUMULATOR_DWORDS)
            .map(|n| if inside.contains(&n) { ACCUMULATOR_DWORDS + n - first } else { n })
            .collect::<Vec<_>>();
        let all = self.builder.shuffle(all, Some(new), order);
        self.write_variable(Variable::Accumulator, all);
    }

    /// What a source in the accumulator shows.
    pub fn accumulator_bits(&mut self, place: &SourceLocation, ty: Type) -> Value {
        let (SourceLocation::Packed(at) | SourceLocation::Scalar(at)) = place else {
            return self.builder.int(ty, 0);
        };
        let element = (at - ACCUMULATOR) / SHOWN;
        let is_scalar = matches!(place, SourceLocation::Scalar(_));
        let all = self.accumulator(element, if is_scalar { 1 } else { ty.lanes.into() });
        let shown = self.builder.resize(all, ty.scalar.bits(), false);
        if is_scalar { self.builder.splat(shown, ty.lanes.into()) } else { shown }
    }
}
