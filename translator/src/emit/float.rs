//! Arithmetic of floats that rounds as the host does, or of doubles in any mode, and how all results of floats are written.

use gencl_eu::dispatch::Rounding;
use gencl_isa::{Condition, Opcode, Type};

use super::rounding::{Direction, scalar};
use super::{Emitter, math};
use crate::ir::{Scalar, Ty, Value};
use crate::modes;
use crate::native::{Float, Number};

impl Emitter<'_> {
    /// Writes a function of floats.
    pub(super) fn float(&mut self, index: usize, function: Float, double: bool, mask: Option<&Value>) {
        let kind = if double { Number::Double } else { Number::Float };
        let count = self.plan.ops[index].src.iter().filter(|s| s.is_some()).count();
        let sources: Vec<Value> = (0..count).map(|n| self.number(index, n, kind)).collect();
        let a = &sources[0];
        let b = sources.get(1).unwrap_or(a);
        let one = Value::float(a.ty, 1.0);
        let value = match function {
            Float::Copy => a.clone(),
            _ if double && self.plan.modes[index].rounding != Rounding::NearestEven => {
                self.directed(index, function, &sources)
            }
            Float::Add => self.f.binary("fadd", a, b),
            Float::Multiply => self.f.binary("fmul", a, b),
            // The product of half floats is exact, the sum would be rounded twice.
            Float::MultiplyAdd if self.plan.ops[index].dst.ty == Type::HF => {
                let product = self.f.binary("fmul", b, &sources[2]);
                self.sum_to_odd(&product, a)
            }
            Float::MultiplyAdd => self.f.fma(b, &sources[2], a),
            Float::Fraction => {
                let a = self.f.convert("fpext", a, a.ty.of(Scalar::Double));
                let whole = self.f.function_of("floor", &a);
                let rest = self.f.binary("fsub", &a, &whole);
                self.f.convert("fptrunc", &rest, rest.ty.of(Scalar::Float))
            }
            Float::RoundUp => self.f.function_of("ceil", a),
            Float::RoundDown => self.f.function_of("floor", a),
            Float::RoundEven => self.f.function_of("roundeven", a),
            Float::RoundZero => self.f.function_of("trunc", a),
            Float::Inverse => self.f.binary("fdiv", &one, a),
            Float::SquareRoot => self.f.function_of("sqrt", a),
            Float::Divide => self.f.binary("fdiv", a, b),
            Float::Math(function) => math::evaluate(&mut self.f, function, a, b),
        };
        self.finish_float(index, &value, mask);
    }

    /// `dp2`, `dp3`, `dp4`, `dph`: the sum of products over the four channels that a channel belongs to, in doubles.
    pub(super) fn dot_product(&mut self, index: usize, mask: Option<&Value>) {
        let [a, b] = [0, 1].map(|n| self.widened(index, n));
        let lanes = a.ty.lanes;
        let of_four = |emitter: &mut Self, value: &Value, k: u32| {
            let order: Vec<u32> = (0..lanes).map(|lane| lane / 4 * 4 + k).collect();
            emitter.f.shuffle(value, None, &order)
        };
        let opcode = self.plan.ops[index].opcode;
        let products = match opcode {
            Opcode::Dp2 => 2,
            Opcode::Dp4 => 4,
            _ => 3,
        };
        let all = self.f.binary("fmul", &a, &b);
        let mut sum = of_four(self, &all, 0);
        for k in 1..products {
            let product = of_four(self, &all, k);
            sum = self.f.binary("fadd", &sum, &product);
        }
        if opcode == Opcode::Dph {
            let last = of_four(self, &b, 3);
            sum = self.f.binary("fadd", &sum, &last);
        }
        self.finish_float(index, &sum, mask);
    }

    /// `csel`: source 0 or 1, by source 2.
    pub(super) fn float_choice(&mut self, index: usize, double: bool, mask: Option<&Value>) {
        let kind = if double { Number::Double } else { Number::Float };
        let [a, b, c] = [0, 1, 2].map(|n| self.number(index, n, kind));
        let condition = self.plan.ops[index].condition.unwrap_or(Condition::NotEqual);
        let first = self.floats_compared(condition, &c, &Value::float(c.ty, 0.0));
        let value = self.f.select(&first, &a, &b);
        self.selected(index, kind, &value, mask);
    }

    /// `cmp`, `cmpn`
    pub(super) fn float_comparison(&mut self, index: usize, condition: Condition, mask: Option<&Value>) {
        let [a, b] = [0, 1].map(|n| self.widened(index, n));
        let mut holds = self.floats_compared(condition, &a, &b);
        if self.plan.ops[index].opcode == Opcode::Cmpn {
            let second = self.f.compare("fcmp uno", &b, &b);
            let number = self.f.compare("fcmp ord", &a, &a);
            let either = self.f.binary("or", &holds, &second);
            holds = self.f.binary("and", &either, &number);
        }
        self.compared_to(index, &holds, mask);
    }

    /// Does a condition hold between two floats?
    fn floats_compared(&mut self, condition: Condition, a: &Value, b: &Value) -> Value {
        let operation = match condition {
            Condition::Equal => "oeq",
            Condition::NotEqual => "une",
            Condition::Greater => "ogt",
            Condition::GreaterEqual => "oge",
            Condition::Less => "olt",
            Condition::LessEqual => "ole",
            Condition::Unordered => "uno",
            // Nothing is computed that could overflow.
            Condition::Overflow => "false",
        };
        self.f.compare(&format!("fcmp {operation}"), a, b)
    }

    /// Saturates, rounds and writes a result, and sets the flags.
    pub(super) fn finish_float(&mut self, index: usize, exact: &Value, mask: Option<&Value>) {
        let op = &self.plan.ops[index];
        let bits = self.float_bits(index, exact);
        if let Some(condition) = op.condition {
            let holds = self.float_condition(condition, exact, &bits, op.dst.ty.is_float());
            let holds = self.f.mask_bits(&holds);
            self.set_flags(u32::from(op.flag_bit), &holds, mask);
        }
        self.result(index, &bits, mask);
    }

    /// The bits that the destination gets.
    pub(super) fn float_bits(&mut self, index: usize, exact: &Value) -> Value {
        let op = &self.plan.ops[index];
        let mode = self.plan.modes[index];
        let mut value = exact.clone();
        // A result is a number of the execution type before it is converted to an integer.
        let ty = if op.dst.ty.is_float() { op.dst.ty } else { op.execution_type };
        if op.saturate && op.dst.ty.is_float() {
            // NaN becomes 0.
            let (zero, one) = (Value::float(exact.ty, 0.0), Value::float(exact.ty, 1.0));
            let below = self.f.compare("fcmp olt", &value, &one);
            let limited = self.f.select(&below, &value, &one);
            let above = self.f.compare("fcmp ogt", &value, &zero);
            value = self.f.select(&above, &limited, &zero);
        }
        let value = self.narrowed(&value, scalar(ty), Direction::To(mode.rounding));
        let mut bits = self.f.cast(&value, value.ty.as_int().scalar);
        if modes::flushes(mode, ty) {
            bits = self.flushed(&bits);
        }
        if op.dst.ty.is_float() {
            return bits;
        }
        let value = self.f.cast(&bits, value.ty.scalar);
        self.integers_of(index, &value)
    }

    /// Floats as integers of the destination's type: truncated, and limited to what it has.
    pub(super) fn integers_of(&mut self, index: usize, value: &Value) -> Value {
        let to = self.plan.ops[index].dst.ty;
        let value = self.narrowed(value, value.ty.scalar.max(Scalar::Float), Direction::Odd);
        let bits = to.size() * 8;
        let ty = Ty::int(bits.max(32), value.ty.lanes);
        // LLVM's own functions for this go lane by lane.
        let operation = if to.is_signed() || bits < 32 { "fptosi" } else { "fptoui" };
        let any = self.f.convert(operation, &value, ty);
        // What is too large or too small is any number, until it is replaced.
        let number = self.f.value(ty, &format!("freeze {}", any.typed()));
        let magnitude = bits - u32::from(to.is_signed());
        let behind = Value::float(value.ty, 2f64.powi(magnitude as i32));
        let above = self.f.compare("fcmp oge", &value, &behind);
        let largest = u64::MAX >> (64 - magnitude);
        let mut number = self.f.select(&above, &Value::int(ty, largest), &number);
        let zero = Value::int(ty, 0);
        if to.is_signed() {
            let lowest = Value::float(value.ty, -(2f64.powi(magnitude as i32)));
            let below = self.f.compare("fcmp olt", &value, &lowest);
            number = self.f.select(&below, &Value::int(ty, !largest), &number);
            let ordered = self.f.compare("fcmp ord", &value, &value);
            number = self.f.select(&ordered, &number, &zero);
        } else {
            let not_negative = self.f.compare("fcmp oge", &value, &Value::float(value.ty, 0.0));
            number = self.f.select(&not_negative, &number, &zero);
        }
        self.f.resize(&number, bits, false)
    }

    /// The zero is that of the final bits, which a float has with either sign; the sign is that of the exact value.
    fn float_condition(&mut self, condition: Condition, exact: &Value, bits: &Value, float: bool) -> Value {
        let null = Value::float(exact.ty, 0.0);
        let magnitude = u64::MAX >> (64 - bits.ty.scalar.bits() + u32::from(float));
        let magnitude = self.f.binary("and", bits, &Value::int(bits.ty, magnitude));
        let zero = self.f.compare("icmp eq", &magnitude, &Value::int(bits.ty, 0));
        let less = self.f.compare("fcmp olt", exact, &null);
        let unordered = self.f.compare("fcmp uno", exact, exact);
        let ones = Value::int(zero.ty, 1);
        let not = |emitter: &mut Self, v: &Value| emitter.f.binary("xor", v, &ones);
        let not_zero = not(self, &zero);
        let negative = self.f.binary("and", &less, &not_zero);
        let ordered = not(self, &unordered);
        match condition {
            Condition::Equal => zero,
            Condition::NotEqual => not_zero,
            Condition::Greater => {
                let at_most = self.f.binary("or", &zero, &negative);
                let more = not(self, &at_most);
                self.f.binary("and", &more, &ordered)
            }
            Condition::GreaterEqual => {
                let not_negative = not(self, &negative);
                let at_least = self.f.binary("or", &not_negative, &zero);
                self.f.binary("and", &at_least, &ordered)
            }
            Condition::Less => negative,
            Condition::LessEqual => {
                let at_most = self.f.binary("or", &negative, &zero);
                self.f.binary("and", &at_most, &ordered)
            }
            Condition::Unordered | Condition::Overflow => unordered,
        }
    }
}
