//! Integers as the interpreter's general path has them (`eu::compute`, `eu::value`): results that are exact, in as many bits as that
//! takes, and only then limited or cut to the destination; all conditional modifiers; the accumulator.

use gencl_eu::file::ACCUMULATOR;
use gencl_eu::operand::{SourceLocation, Target, is_accumulator};
use gencl_isa::{Condition, Opcode};

use super::{Emitter, FILE};
use crate::ir::{Scalar, Ty, Value};
use crate::native::{ACCUMULATOR_DWORDS, Integer, Number};

/// Bytes of a dword in the accumulator.
const SHOWN: usize = 4;
/// Bytes of the whole value of which that is the low part.
const WHOLE: usize = 8;

impl Emitter<'_> {
    /// Writes a function of integers in so many bits.
    pub(super) fn whole(&mut self, index: usize, function: Integer, bits: u32, mask: Option<&Value>) {
        let op = &self.plan.ops[index];
        let count = op.src.iter().filter(|s| s.is_some()).count();
        let sources: Vec<Value> = (0..count).map(|n| self.whole_number(index, n, bits)).collect();
        let a = &sources[0];
        let b = sources.get(1).unwrap_or(a);
        let ty = a.ty;
        let low = |emitter: &mut Self, value: &Value, bits: u64| {
            emitter.f.binary("and", value, &Value::signed(ty, i128::from(u64::MAX >> (64 - bits))))
        };
        let value = match function {
            Integer::Copy => self.copied(index, a),
            Integer::Add => self.f.binary("add", a, b),
            Integer::Multiply => self.f.binary("mul", a, b),
            Integer::MultiplyLow => {
                let b = low(self, b, 16);
                self.f.binary("mul", a, &b)
            }
            Integer::MultiplyAdd => {
                let product = self.f.binary("mul", b, &sources[2]);
                self.f.binary("add", a, &product)
            }
            Integer::MultiplyAccumulate => {
                let b = if op.low_multiplier { low(self, b, 16) } else { b.clone() };
                let product = self.f.binary("mul", a, &b);
                let accumulator = self.accumulator(0, ty.lanes);
                let accumulator = self.f.resize(&accumulator, bits, true);
                self.f.binary("add", &accumulator, &product)
            }
            Integer::HighMultiply => self.high_multiply(index, a, b, mask),
            Integer::AddCarry | Integer::SubtractBorrow => {
                let operation = if function == Integer::AddCarry { "add" } else { "sub" };
                let exact = self.f.binary(operation, a, b);
                let high = self.f.binary("lshr", &exact, &Value::signed(ty, 32));
                let carry = self.f.compare("icmp ne", &high, &Value::signed(ty, 0));
                let carry = self.f.convert("zext", &carry, ty.of(Scalar::Int(64)));
                self.set_accumulator(0, &carry, mask);
                low(self, &exact, 32)
            }
            Integer::Average => {
                let sum = self.f.binary("add", a, b);
                let sum = self.f.binary("add", &sum, &Value::signed(ty, 1));
                self.f.binary("ashr", &sum, &Value::signed(ty, 1))
            }
            Integer::And | Integer::Or | Integer::Xor | Integer::Not => self.logic(index, function, a, b),
            Integer::ShiftLeft | Integer::ShiftRight | Integer::ShiftRightSigned => {
                self.shift(index, function, a, b)
            }
            Integer::Choose => match self.chosen(index) {
                Some(chosen) => self.f.select(&chosen, a, b),
                None => a.clone(),
            },
            Integer::Extreme => {
                let (operand, other) = if op.opcode == Opcode::Csel { (2, None) } else { (0, Some(b)) };
                let none = Value::signed(ty, 0);
                let first = self.compared(op.condition, &sources[operand], other.unwrap_or(&none));
                self.f.select(&first, a, b)
            }
            Integer::Divide { signed, remainder } => {
                let (quotient, rest) = self.whole_division(a, b, signed);
                if remainder { rest } else { quotient }
            }
            Integer::Lzd
            | Integer::Cbit
            | Integer::Bfrev
            | Integer::Fbl
            | Integer::Fbh
            | Integer::Bfe
            | Integer::Bfi1
            | Integer::Bfi2 => self.bits_function(index, function, &sources),
        };
        self.finish_whole(index, &value, mask);
    }

    /// Writes a comparison of integers.
    pub(super) fn whole_comparison(&mut self, index: usize, bits: u32, mask: Option<&Value>) {
        let [a, b] = [0, 1].map(|n| self.whole_number(index, n, bits));
        let op = &self.plan.ops[index];
        let holds = self.compared(op.condition, &a, &b);
        self.compared_to(index, &holds, mask);
    }

    /// A source as an integer of more bits than it has, with its modifiers.
    fn whole_number(&mut self, index: usize, number: usize, bits: u32) -> Value {
        let src = &self.plan.ops[index].src[number];
        let elements = self.bits(index, number);
        let mut value = self.f.resize(&elements, bits, src.ty.is_signed());
        let zero = Value::signed(value.ty, 0);
        if src.abs && src.ty.is_signed() {
            let negated = self.f.binary("sub", &zero, &value);
            value =
                self.f.intrinsic("smax", &format!(".{}", value.ty.mangled()), value.ty, &[&value, &negated]);
        }
        if src.complement {
            value = self.f.binary("xor", &value, &Value::signed(value.ty, -1));
        } else if src.negate {
            value = self.f.binary("sub", &zero, &value);
        }
        value
    }

    /// Does a condition hold between two integers? One that asks for what only floats have does not.
    fn compared(&mut self, condition: Option<Condition>, a: &Value, b: &Value) -> Value {
        let operation = match condition {
            Some(Condition::Equal) => "eq",
            Some(Condition::NotEqual) | None => "ne",
            Some(Condition::Greater) => "sgt",
            Some(Condition::GreaterEqual) => "sge",
            Some(Condition::Less) => "slt",
            Some(Condition::LessEqual) => "sle",
            Some(Condition::Overflow | Condition::Unordered) => {
                return Value::int(a.ty.of(Scalar::Int(1)), 0);
            }
        };
        self.f.compare(&format!("icmp {operation}"), a, b)
    }

    /// `mov`: bits that are only copied are a number of the destination's type.
    fn copied(&mut self, index: usize, a: &Value) -> Value {
        let op = &self.plan.ops[index];
        let src = &op.src[0];
        let raw = src.ty.size() == op.dst.ty.size() && !op.dst.ty.is_float();
        if !raw || src.modified() || op.saturate {
            return a.clone();
        }
        self.as_destination(index, a)
    }

    /// The low bits of a value as a number of the destination's type.
    fn as_destination(&mut self, index: usize, value: &Value) -> Value {
        let ty = self.plan.ops[index].dst.ty;
        let low = self.f.resize(value, ty.size() * 8, false);
        self.f.resize(&low, value.ty.scalar.bits(), ty.is_signed())
    }

    fn logic(&mut self, index: usize, function: Integer, a: &Value, b: &Value) -> Value {
        let value = match function {
            Integer::And => self.f.binary("and", a, b),
            Integer::Or => self.f.binary("or", a, b),
            Integer::Xor => self.f.binary("xor", a, b),
            _ => self.f.binary("xor", a, &Value::signed(a.ty, -1)),
        };
        self.as_destination(index, &value)
    }

    fn shift(&mut self, index: usize, function: Integer, a: &Value, b: &Value) -> Value {
        let op = &self.plan.ops[index];
        let counts = if gencl_eu::compute::shifts_qwords(op) { 63 } else { 31 };
        let by = self.f.binary("and", b, &Value::signed(a.ty, counts));
        match function {
            Integer::ShiftLeft => self.f.binary("shl", a, &by),
            Integer::ShiftRightSigned => self.f.binary("ashr", a, &by),
            _ => {
                let size = op.src[0].ty.size() * 8;
                let own = self.f.resize(a, size, false);
                let own = self.f.resize(&own, a.ty.scalar.bits(), false);
                self.f.binary("lshr", &own, &by)
            }
        }
    }

    /// Functions of the low 32 bits (`cbit`: of all that the source has).
    fn bits_function(&mut self, index: usize, function: Integer, sources: &[Value]) -> Value {
        let op = &self.plan.ops[index];
        let bits = sources[0].ty.scalar.bits();
        let low: Vec<Value> = sources.iter().map(|value| self.f.resize(value, 32, false)).collect();
        let value = match function {
            Integer::Cbit => {
                let own = self.f.resize(&sources[0], op.src[0].ty.size() * 8, false);
                self.bit_function("ctpop", &own, false)
            }
            Integer::Fbh => {
                let negative = self.f.compare("icmp slt", &sources[0], &Value::signed(sources[0].ty, 0));
                let complement = self.f.binary("xor", &low[0], &Value::int(low[0].ty, u64::MAX));
                let magnitude = self.f.select(&negative, &complement, &low[0]);
                let zeros = self.bit_function("ctlz", &magnitude, true);
                let none = self.f.compare("icmp eq", &magnitude, &Value::int(magnitude.ty, 0));
                self.f.select(&none, &Value::int(zeros.ty, u64::MAX), &zeros)
            }
            _ => self.dwords_function(index, function, &low),
        };
        let signed = function == Integer::Bfe && op.src[2].ty.is_signed();
        self.f.resize(&value, bits, signed)
    }

    /// Quotient and remainder as `eu::math` defines them, of numbers with more bits than dwords have.
    fn whole_division(&mut self, a: &Value, b: &Value, signed: bool) -> (Value, Value) {
        let ty = a.ty;
        let number = |value| Value::signed(ty, value);
        let by_zero = self.f.compare("icmp eq", b, &number(0));
        let divisor = self.f.select(&by_zero, &number(1), b);
        let quotient = self.f.binary("sdiv", a, &divisor);
        let rest = self.f.binary("srem", a, &divisor);
        let (largest, all) = if signed {
            let negative = self.f.compare("icmp slt", a, &number(0));
            (self.f.select(&negative, &number(-0x8000_0000), &number(0x7fff_ffff)), a.clone())
        } else {
            (number(0xffff_ffff), number(0xffff_ffff))
        };
        (self.f.select(&by_zero, &largest, &quotient), self.f.select(&by_zero, &all, &rest))
    }

    /// `mach`: the accumulator, and the high word of source 1 times source 0.
    fn high_multiply(&mut self, index: usize, a: &Value, b: &Value, mask: Option<&Value>) -> Value {
        let ty = a.ty;
        let high = self.f.binary("ashr", b, &Value::signed(ty, 16));
        let product = self.f.binary("mul", a, &high);
        let product = self.f.binary("shl", &product, &Value::signed(ty, 16));
        let accumulator = self.accumulator(0, ty.lanes);
        let sum = self.f.binary("add", &accumulator, &product);
        self.set_accumulator(0, &sum, mask);
        let operation = if self.plan.ops[index].execution_type.is_signed() { "ashr" } else { "lshr" };
        self.f.binary(operation, &sum, &Value::signed(ty, 32))
    }

    /// Limits or cuts an exact result, writes it where it goes, and sets the flags.
    fn finish_whole(&mut self, index: usize, exact: &Value, mask: Option<&Value>) {
        let op = &self.plan.ops[index];
        // The condition of `sel` and `csel` is what they do.
        let chooses = matches!(op.opcode, Opcode::Sel | Opcode::Csel);
        if op.dst.ty.is_float() {
            // Doubles hold what has come so far.
            let value = self.of_integers(exact, true, Scalar::Double);
            if chooses {
                self.selected(index, Number::Double, &value, mask);
            } else {
                self.finish_float(index, &value, mask);
            }
            return;
        }
        let (fits, limited) = self.limits(index, exact);
        let value = if op.saturate { &limited } else { exact };
        let bits = self.f.resize(value, op.dst.ty.size() * 8, false);
        if let Some(condition) = op.condition.filter(|_| !chooses) {
            let holds = self.whole_condition(condition, exact, &bits, &fits);
            let holds = self.f.mask_bits(&holds);
            self.set_flags(u32::from(op.flag_bit), &holds, mask);
        }
        let low = self.f.resize(exact, 64, true);
        let own = matches!(op.opcode, Opcode::Mach | Opcode::Addc | Opcode::Subb);
        if op.accumulator_write && !own {
            self.set_accumulator(0, &low, mask);
        }
        match op.dst.target {
            Target::Direct { offset, .. } if is_accumulator(offset) => {
                self.set_accumulator((offset - ACCUMULATOR) / SHOWN, &low, mask);
            }
            _ => self.result(index, &bits, mask),
        }
    }

    /// Whether a value is one of the destination's type, and the nearest that is.
    fn limits(&mut self, index: usize, exact: &Value) -> (Value, Value) {
        let to = self.plan.ops[index].dst.ty;
        let (bits, ty) = (exact.ty.scalar.bits(), exact.ty);
        let suffix = format!(".{}", ty.mangled());
        let highest = (1i128 << (to.size() * 8 - u32::from(to.is_signed()))) - 1;
        let lowest = if to.is_signed() { -highest - 1 } else { 0 };
        let mut limited = exact.clone();
        // Bounds beyond all that there are bits for are none.
        if to.size() * 8 < bits || !to.is_signed() {
            limited = self.f.intrinsic("smax", &suffix, ty, &[&limited, &Value::signed(ty, lowest)]);
        }
        if to.size() * 8 < bits {
            limited = self.f.intrinsic("smin", &suffix, ty, &[&limited, &Value::signed(ty, highest)]);
        }
        (self.f.compare("icmp eq", &limited, exact), limited)
    }

    /// The zero is that of the final bits, the sign that of the exact result.
    fn whole_condition(&mut self, condition: Condition, exact: &Value, bits: &Value, fits: &Value) -> Value {
        let ones = Value::int(fits.ty, 1);
        let zero = self.f.compare("icmp eq", bits, &Value::int(bits.ty, 0));
        let negative = self.f.compare("icmp slt", exact, &Value::signed(exact.ty, 0));
        let not = |emitter: &mut Self, value: &Value| emitter.f.binary("xor", value, &ones);
        match condition {
            Condition::Equal => zero,
            Condition::NotEqual => not(self, &zero),
            Condition::Greater => {
                let at_most = self.f.binary("or", &zero, &negative);
                not(self, &at_most)
            }
            Condition::GreaterEqual => {
                let positive = not(self, &negative);
                self.f.binary("or", &zero, &positive)
            }
            Condition::Less => {
                let something = not(self, &zero);
                self.f.binary("and", &something, &negative)
            }
            Condition::LessEqual => self.f.binary("or", &zero, &negative),
            Condition::Overflow => not(self, fits),
            Condition::Unordered => Value::int(fits.ty, 0),
        }
    }

    /// Elements of the accumulator from one on, all of their bits.
    fn accumulator(&mut self, first: usize, lanes: u32) -> Value {
        let place = self.accumulator_at(first);
        self.f.load(Ty::int(64, lanes), &place, FILE)
    }

    fn accumulator_at(&mut self, element: usize) -> Value {
        let all = self.accumulators.clone();
        self.f.at(&all, element * WHOLE)
    }

    fn set_accumulator(&mut self, first: usize, value: &Value, mask: Option<&Value>) {
        let place = self.accumulator_at(first);
        let new = match mask {
            Some(mask) => {
                let old = self.f.load(value.ty, &place, FILE);
                let mask = self.f.mask(mask);
                self.f.select(&mask, value, &old)
            }
            None => value.clone(),
        };
        self.f.store(&new, &place, FILE);
    }

    /// What a source in the accumulator shows.
    pub(super) fn accumulator_bits(&mut self, place: &SourceLocation, ty: Ty) -> Value {
        let (SourceLocation::Packed(at) | SourceLocation::Scalar(at)) = place else {
            return Value::poison(ty);
        };
        let element = (at - ACCUMULATOR) / SHOWN;
        let scalar = matches!(place, SourceLocation::Scalar(_));
        let all = self.accumulator(element, if scalar { 1 } else { ty.lanes });
        let shown = self.f.resize(&all, ty.scalar.bits(), false);
        if scalar { self.f.splat(&shown, ty.lanes) } else { shown }
    }

    /// Nothing is in the accumulators of a thread that begins.
    pub(super) fn clear_accumulators(&mut self) {
        let place = self.accumulators.clone();
        self.f.store(&Value::int(Ty::int(64, ACCUMULATOR_DWORDS as u32), 0), &place, FILE);
    }

    /// The whole values, and where they are in the register file of a thread that waits: over what only the interpreter uses.
    pub(super) fn accumulator_places(&mut self) -> Vec<(Value, usize)> {
        let place = |element| (self.accumulator_at(element), ACCUMULATOR + element * WHOLE);
        (0..ACCUMULATOR_DWORDS).map(place).collect()
    }
}
