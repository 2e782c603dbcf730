//! Arithmetic of floats, in the host's rounding mode and with its denormals.

use gencl_isa::Condition;

use super::{Emitter, math};
use crate::ir::{Scalar, Value};
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
            Float::Add => self.f.binary("fadd", a, b),
            Float::Multiply => self.f.binary("fmul", a, b),
            Float::MultiplyAdd => {
                let suffix = format!(".{}", a.ty.mangled());
                self.f.intrinsic("fma", &suffix, a.ty, &[b, &sources[2], a])
            }
            Float::Fraction => {
                let a = self.f.convert("fpext", a, a.ty.of(Scalar::Double));
                let whole = self.rounded("floor", &a);
                let rest = self.f.binary("fsub", &a, &whole);
                self.f.convert("fptrunc", &rest, rest.ty.of(Scalar::Float))
            }
            Float::RoundUp => self.rounded("ceil", a),
            Float::RoundDown => self.rounded("floor", a),
            Float::RoundEven => self.rounded("roundeven", a),
            Float::RoundZero => self.rounded("trunc", a),
            Float::Inverse => self.f.binary("fdiv", &one, a),
            Float::SquareRoot => self.rounded("sqrt", a),
            Float::Divide => self.f.binary("fdiv", a, b),
            Float::Math(function) => math::evaluate(&mut self.f, function, a, b),
        };
        self.finish_float(index, &value, mask);
    }

    /// An intrinsic of one operand.
    fn rounded(&mut self, name: &str, a: &Value) -> Value {
        let suffix = format!(".{}", a.ty.mangled());
        self.f.intrinsic(name, &suffix, a.ty, &[a])
    }

    /// Saturates and writes a result, and sets the flags.
    pub(super) fn finish_float(&mut self, index: usize, exact: &Value, mask: Option<&Value>) {
        let op = &self.plan.ops[index];
        let (zero, one) = (Value::float(exact.ty, 0.0), Value::float(exact.ty, 1.0));
        let mut value = exact.clone();
        if op.saturate {
            // NaN becomes 0.
            let below = self.f.compare("fcmp olt", &value, &one);
            let limited = self.f.select(&below, &value, &one);
            let above = self.f.compare("fcmp ogt", &value, &zero);
            value = self.f.select(&above, &limited, &zero);
        }
        if let Some(condition) = op.condition {
            let flag = u32::from(op.flag_bit);
            let holds = self.float_condition(condition, exact, &value);
            let holds = self.f.mask_bits(&holds);
            self.set_flags(flag, &holds, mask);
        }
        let bits = self.f.cast(&value, value.ty.as_int().scalar);
        self.result(index, &bits, mask);
    }

    /// The zero is that of the final value, the sign that of the exact one.
    fn float_condition(&mut self, condition: Condition, exact: &Value, value: &Value) -> Value {
        let null = Value::float(exact.ty, 0.0);
        let zero = self.f.compare("fcmp oeq", value, &null);
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
