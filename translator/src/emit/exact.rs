//! Arithmetic of floats as the interpreter's general path has it (`eu::compute`, `eu::float`): in doubles, rounded to odd, and
//! then once to the destination. So it serves every rounding mode, and destinations that are narrower than a source.

use gencl_eu::dispatch::Rounding;

use super::{Emitter, math};
use crate::ir::{Scalar, Value};
use crate::native::{Float, Number};

impl Emitter<'_> {
    /// Writes a function of floats whose result is rounded once.
    pub(super) fn exact(&mut self, index: usize, function: Float, mask: Option<&Value>) {
        let count = self.plan.ops[index].src.iter().filter(|s| s.is_some()).count();
        let sources: Vec<Value> = (0..count).map(|n| self.widened(index, n)).collect();
        let a = &sources[0];
        let b = sources.get(1).unwrap_or(a);
        let one = Value::float(a.ty, 1.0);
        let value = match function {
            Float::Copy => a.clone(),
            Float::Add => self.exact_sum(index, a, b),
            Float::Multiply => self.f.binary("fmul", a, b),
            Float::MultiplyAdd => {
                let product = self.f.binary("fmul", b, &sources[2]);
                self.exact_sum(index, &product, a)
            }
            Float::Fraction => {
                let whole = self.f.function_of("floor", a);
                self.f.binary("fsub", a, &whole)
            }
            Float::RoundUp => self.f.function_of("ceil", a),
            Float::RoundDown => self.f.function_of("floor", a),
            Float::RoundEven => self.f.function_of("roundeven", a),
            Float::RoundZero => self.f.function_of("trunc", a),
            Float::Inverse => self.exact_quotient(&one, a),
            Float::Divide => self.exact_quotient(a, b),
            Float::SquareRoot => {
                let root = self.f.function_of("sqrt", a);
                self.corrected(&root, &root, a, None)
            }
            Float::Math(function) => {
                let [a, b] = [a, b].map(|v| self.f.convert("fptrunc", v, v.ty.of(Scalar::Float)));
                math::evaluate_wide(&mut self.f, function, &a, &b)
            }
        };
        self.finish_float(index, &value, mask);
    }

    /// Source 0 is between source 2 (at 0) and source 1 (at 1).
    pub(super) fn interpolation(&mut self, index: usize, mask: Option<&Value>) {
        let [a, b, c] = [0, 1, 2].map(|n| self.widened(index, n));
        let one = Value::float(a.ty, 1.0);
        let product = self.f.binary("fmul", &a, &b);
        let rest = self.f.binary("fsub", &one, &a);
        let rest = self.f.binary("fmul", &rest, &c);
        let value = self.exact_sum(index, &product, &rest);
        self.finish_float(index, &value, mask);
    }

    /// A source as doubles, which hold it exactly.
    pub(super) fn widened(&mut self, index: usize, number: usize) -> Value {
        if self.plan.ops[index].src[number].ty.is_float() {
            return self.number(index, number, Number::Double);
        }
        let integer = self.number(index, number, Number::Signed64);
        self.of_integers(&integer, true, Scalar::Double)
    }

    fn exact_sum(&mut self, index: usize, a: &Value, b: &Value) -> Value {
        let sum = self.sum_to_odd(a, b);
        self.signed_sum(index, &sum, a, b)
    }

    /// Rounding down, zeros are negative, unless those of whom they are the sum are not (`eu::float`).
    fn signed_sum(&mut self, index: usize, sum: &Value, a: &Value, b: &Value) -> Value {
        if self.plan.modes[index].rounding != Rounding::Down {
            return sum.clone();
        }
        let [a, b] = [a, b].map(|value| self.f.cast(value, value.ty.as_int().scalar));
        let signs = self.f.binary("or", &a, &b);
        let negative = self.f.compare("icmp slt", &signs, &Value::int(signs.ty, 0));
        let null = self.f.compare("fcmp oeq", sum, &Value::float(sum.ty, 0.0));
        let null = self.f.binary("and", &null, &negative);
        self.f.select(&null, &Value::float(sum.ty, -0.0), sum)
    }

    /// A sum, product or both of doubles, `a * b + c`, in any rounding mode: rounded to nearest, and moved by what is missing (`eu::float`).
    pub(super) fn directed(&mut self, index: usize, function: Float, sources: &[Value]) -> Value {
        let ty = sources[0].ty;
        let (nearest, error) = match function {
            Float::Add => {
                let (sum, error) = self.sum_and_error(&sources[0], &sources[1]);
                (self.signed_sum(index, &sum, &sources[0], &sources[1]), error)
            }
            Float::Multiply => self.product_and_error(&sources[0], &sources[1]),
            _ => {
                let [c, a, b] = [&sources[0], &sources[1], &sources[2]];
                let result = self.f.fma(a, b, c);
                let (product, product_error) = self.product_and_error(a, b);
                let (sum, sum_error) = self.sum_and_error(&product, c);
                let rest = self.f.binary("fsub", &sum, &result);
                let errors = self.f.binary("fadd", &sum_error, &product_error);
                (self.signed_sum(index, &result, &product, c), self.f.binary("fadd", &rest, &errors))
            }
        };
        // What finite numbers overflow to is too large.
        let infinity = Value::float(ty, f64::INFINITY);
        let size = self.f.function_of("fabs", &nearest);
        let mut overflows = self.f.compare("fcmp oeq", &size, &infinity);
        for source in sources {
            let size = self.f.function_of("fabs", source);
            let finite = self.f.compare("fcmp one", &size, &infinity);
            overflows = self.f.binary("and", &overflows, &finite);
        }
        let back = self.f.negated(&nearest);
        let error = self.f.select(&overflows, &back, &error);
        self.moved(&nearest, &error, self.plan.modes[index].rounding)
    }

    /// The product, and what is missing to the exact one.
    fn product_and_error(&mut self, a: &Value, b: &Value) -> (Value, Value) {
        let product = self.f.binary("fmul", a, b);
        let minus = self.f.negated(&product);
        let error = self.f.fma(a, b, &minus);
        (product, error)
    }

    fn exact_quotient(&mut self, a: &Value, b: &Value) -> Value {
        let quotient = self.f.binary("fdiv", a, b);
        self.corrected(&quotient, b, a, Some(b))
    }

    /// A quotient or root, rounded to odd by what is missing of `whole` to the product of `value` and `factor`; with the sign of
    /// `divisor`.
    fn corrected(&mut self, value: &Value, factor: &Value, whole: &Value, divisor: Option<&Value>) -> Value {
        let ty = value.ty;
        let minus = self.f.negated(value);
        let mut rest = self.f.fma(&minus, factor, whole);
        if let Some(divisor) = divisor {
            let null = Value::float(ty, 0.0);
            let negative = self.f.compare("fcmp olt", divisor, &null);
            let minus = self.f.negated(&rest);
            rest = self.f.select(&negative, &minus, &rest);
        }
        let size = self.f.function_of("fabs", value);
        let finite = self.f.compare("fcmp one", &size, &Value::float(ty, f64::INFINITY));
        let something = self.f.compare("fcmp one", &size, &Value::float(ty, 0.0));
        let plain = self.f.binary("and", &finite, &something);
        let rest = self.f.select(&plain, &rest, &Value::float(ty, 0.0));
        self.made_odd(value, &rest)
    }
}
