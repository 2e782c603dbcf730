//! Arithmetic of floats: in the host's rounding mode, in doubles for any mode, and as the interpreter's general path has it (`eu::compute`, `eu::float`), rounded to odd in
//! doubles and then once to the destination.

use gencl_eu::dispatch::Rounding;
use gencl_isa::{Condition, MathFunction, Opcode, Type as GenType};

use super::rounding::{Direction, scalar};
use super::{Lift, math};
use crate::analysis::{modes, native};
use crate::middle::function::Value;
use crate::middle::op::{Binary, Convert, FloatRelation, Relation, Unary};
use crate::middle::types::{Scalar, Type};

impl Lift<'_> {
    fn sources(&mut self, index: usize, mut read: impl FnMut(&mut Self, usize) -> Value) -> Vec<Value> {
        let count = self.plan.ops[index].src.iter().filter(|s| s.is_some()).count();
        (0..count).map(|n| read(self, n)).collect()
    }

    /// `mov` from or to floats.
    pub fn conversion(&mut self, index: usize, mask: Value) {
        let op = &self.plan.ops[index];
        let (from, to) = (op.src[0].ty, op.dst.ty);
        if from.is_float() {
            let value = self.float_source(index, 0, from == GenType::DF);
            if to.is_float() {
                return self.finish_float(index, value, mask);
            }
            let bits = self.integers_of(index, value);
            return self.result(index, bits, mask);
        }
        // Smaller integers fit in signed dwords.
        let signed = from.is_signed() || from.size() < 4;
        let mut integer = self.integer_source(index, 0, from.size().max(4) * 8);
        if to == GenType::HF {
            integer = self.limited_for_halves(integer, signed);
        }
        let scalar = if to == GenType::DF { Scalar::Double } else { Scalar::Float };
        let value = self.of_integers(integer, signed, scalar);
        self.finish_float(index, value, mask);
    }

    /// Integers beyond the half floats become others beyond them, which floats hold exactly.
    fn limited_for_halves(&mut self, a: Value, signed: bool) -> Value {
        let ty = self.builder.ty(a);
        let [lowest, highest] = [-1 << 20, 1 << 20].map(|n| self.builder.signed(ty, n));
        if !signed {
            return self.builder.binary(Binary::UMin, a, highest);
        }
        let limited = self.builder.binary(Binary::SMin, a, highest);
        self.builder.binary(Binary::SMax, limited, lowest)
    }

    /// A function of floats that rounds as the host does.
    pub fn float(&mut self, index: usize, double: bool, mask: Value) {
        use MathFunction as M;
        use Opcode as O;
        let op = &self.plan.ops[index];
        let sources = self.sources(index, |lift, n| lift.float_source(index, n, double));
        let a = sources[0];
        let b = sources.get(1).copied().unwrap_or(a);
        let value = match (op.opcode, op.function) {
            (opcode, _) if double && self.plan.modes[index].rounding != Rounding::NearestEven => {
                self.directed(index, opcode, &sources)
            }
            (O::Add, _) => self.builder.binary(Binary::FAdd, a, b),
            (O::Mul, _) => self.builder.binary(Binary::FMul, a, b),
            // The product of half floats is exact, the sum would be rounded twice.
            (O::Mad, _) if op.dst.ty == GenType::HF => {
                let product = self.builder.binary(Binary::FMul, b, sources[2]);
                self.builder.sum_to_odd(product, a)
            }
            (O::Mad, _) => self.builder.fma(b, sources[2], a),
            (O::Frc, _) => {
                let a = self.builder.convert(Convert::FPExt, a, Scalar::Double);
                let whole = self.builder.unary(Unary::Floor, a);
                let rest = self.builder.binary(Binary::FSub, a, whole);
                self.builder.convert(Convert::FPTrunc, rest, Scalar::Float)
            }
            (_, Some(M::Inv)) => {
                let one = self.builder.float(self.builder.ty(a), 1.0);
                self.builder.binary(Binary::FDiv, one, a)
            }
            (_, Some(M::Sqrt)) => self.builder.unary(Unary::Sqrt, a),
            (_, Some(M::Fdiv)) => self.builder.binary(Binary::FDiv, a, b),
            (_, Some(function)) => math::evaluate(&mut self.builder, function, a, b),
            (opcode, None) => self.integral(opcode, a),
        };
        self.finish_float(index, value, mask);
    }

    /// Rounds to an integral value.
    fn integral(&mut self, opcode: Opcode, a: Value) -> Value {
        let unary = match opcode {
            Opcode::Rndu => Unary::Ceil,
            Opcode::Rndd => Unary::Floor,
            Opcode::Rnde => Unary::RoundEven,
            _ => Unary::Trunc,
        };
        self.builder.unary(unary, a)
    }

    /// A function of floats whose result is rounded once.
    pub fn exact(&mut self, index: usize, mask: Value) {
        use MathFunction as M;
        use Opcode as O;
        let op = &self.plan.ops[index];
        let sources = self.sources(index, |lift, n| lift.widened(index, n));
        let a = sources[0];
        let b = sources.get(1).copied().unwrap_or(a);
        let one = self.builder.float(self.builder.ty(a), 1.0);
        let value = match (op.opcode, op.function) {
            (O::Add, _) => self.exact_sum(index, a, b),
            (O::Mul, _) => self.builder.binary(Binary::FMul, a, b),
            (O::Mad, _) => {
                let product = self.builder.binary(Binary::FMul, b, sources[2]);
                self.exact_sum(index, product, a)
            }
            // Source 0 is between source 2 (at 0) and source 1 (at 1).
            (O::Lrp, _) => {
                let product = self.builder.binary(Binary::FMul, a, b);
                let rest = self.builder.binary(Binary::FSub, one, a);
                let rest = self.builder.binary(Binary::FMul, rest, sources[2]);
                self.exact_sum(index, product, rest)
            }
            (O::Frc, _) => {
                let whole = self.builder.unary(Unary::Floor, a);
                self.builder.binary(Binary::FSub, a, whole)
            }
            (opcode, _) if native::is_dot(opcode) => self.dot_product(opcode, a, b),
            (_, Some(M::Inv)) => self.exact_quotient(one, a),
            (_, Some(M::Fdiv)) => self.exact_quotient(a, b),
            (_, Some(M::Sqrt)) => {
                let root = self.builder.unary(Unary::Sqrt, a);
                self.corrected(root, root, a, None)
            }
            (_, Some(function)) => {
                let [a, b] = [a, b].map(|v| self.builder.convert(Convert::FPTrunc, v, Scalar::Float));
                let value = math::evaluate(&mut self.builder, function, a, b);
                self.builder.convert(Convert::FPExt, value, Scalar::Double)
            }
            (opcode, None) => self.integral(opcode, a),
        };
        self.finish_float(index, value, mask);
    }

    /// `dp2`, `dp3`, `dp4`, `dph`: the sum of products over the four channels that a channel belongs to, in doubles.
    fn dot_product(&mut self, opcode: Opcode, a: Value, b: Value) -> Value {
        let lanes = usize::from(self.builder.ty(a).lanes);
        let of_four = |lift: &mut Self, value: Value, k: usize| {
            lift.builder.shuffle(value, None, (0..lanes).map(|lane| lane / 4 * 4 + k).collect::<Vec<_>>())
        };
        let products = match opcode {
            Opcode::Dp2 => 2,
            Opcode::Dp4 => 4,
            _ => 3,
        };
        let all = self.builder.binary(Binary::FMul, a, b);
        let mut sum = of_four(self, all, 0);
        for k in 1..products {
            let product = of_four(self, all, k);
            sum = self.builder.binary(Binary::FAdd, sum, product);
        }
        if opcode == Opcode::Dph {
            let last = of_four(self, b, 3);
            sum = self.builder.binary(Binary::FAdd, sum, last);
        }
        sum
    }

    /// A source as doubles, which hold it exactly.
    pub fn widened(&mut self, index: usize, number: usize) -> Value {
        if self.plan.ops[index].src[number].ty.is_float() {
            return self.float_source(index, number, true);
        }
        let integer = self.integer_source(index, number, 64);
        self.of_integers(integer, true, Scalar::Double)
    }

    fn exact_sum(&mut self, index: usize, a: Value, b: Value) -> Value {
        let sum = self.builder.sum_to_odd(a, b);
        self.signed_sum(index, sum, a, b)
    }

    /// Rounding down, zeros are negative, unless those of whom they are the sum are not (`eu::float`).
    fn signed_sum(&mut self, index: usize, sum: Value, a: Value, b: Value) -> Value {
        if self.plan.modes[index].rounding != Rounding::Down {
            return sum;
        }
        let [a, b] = [a, b].map(|value| self.builder.bits_of(value));
        let signs = self.builder.binary(Binary::Or, a, b);
        let zero = self.builder.int(self.builder.ty(signs), 0);
        let negative = self.builder.compare(Relation::Slt, signs, zero);
        let [null, minus] = [0.0, -0.0].map(|n| self.builder.float(self.builder.ty(sum), n));
        let is_null = self.builder.compare_floats(FloatRelation::Oeq, sum, null);
        let both = self.builder.binary(Binary::And, is_null, negative);
        self.builder.select(both, minus, sum)
    }

    /// A sum, product or both of doubles, `a * b + c`, in any rounding mode: rounded to nearest, and moved by what is missing (`eu::float`).
    fn directed(&mut self, index: usize, opcode: Opcode, sources: &[Value]) -> Value {
        let (nearest, error) = match opcode {
            Opcode::Add => {
                let (sum, error) = self.builder.sum_and_error(sources[0], sources[1]);
                (self.signed_sum(index, sum, sources[0], sources[1]), error)
            }
            Opcode::Mul => self.product_and_error(sources[0], sources[1]),
            _ => {
                let [c, a, b] = [sources[0], sources[1], sources[2]];
                let result = self.builder.fma(a, b, c);
                let (product, product_error) = self.product_and_error(a, b);
                let (sum, sum_error) = self.builder.sum_and_error(product, c);
                let rest = self.builder.binary(Binary::FSub, sum, result);
                let errors = self.builder.binary(Binary::FAdd, sum_error, product_error);
                (self.signed_sum(index, result, product, c), self.builder.binary(Binary::FAdd, rest, errors))
            }
        };
        // What finite numbers overflow to is too large.
        let infinity = self.builder.float(self.builder.ty(nearest), f64::INFINITY);
        let size = self.builder.unary(Unary::FAbs, nearest);
        let mut overflows = self.builder.compare_floats(FloatRelation::Oeq, size, infinity);
        for source in sources {
            let size = self.builder.unary(Unary::FAbs, *source);
            let finite = self.builder.compare_floats(FloatRelation::One, size, infinity);
            overflows = self.builder.binary(Binary::And, overflows, finite);
        }
        let back = self.builder.unary(Unary::FNeg, nearest);
        let error = self.builder.select(overflows, back, error);
        self.moved(nearest, error, self.plan.modes[index].rounding)
    }

    /// The product, and what is missing to the exact one.
    fn product_and_error(&mut self, a: Value, b: Value) -> (Value, Value) {
        let product = self.builder.binary(Binary::FMul, a, b);
        let minus = self.builder.unary(Unary::FNeg, product);
        (product, self.builder.fma(a, b, minus))
    }

    fn exact_quotient(&mut self, a: Value, b: Value) -> Value {
        let quotient = self.builder.binary(Binary::FDiv, a, b);
        self.corrected(quotient, b, a, Some(b))
    }

    /// A quotient or root, rounded to odd by what is missing of `whole` to the product of `value` and `factor`; with the sign of
    /// `divisor`.
    fn corrected(&mut self, value: Value, factor: Value, whole: Value, divisor: Option<Value>) -> Value {
        let ty = self.builder.ty(value);
        let [null, infinity] = [0.0, f64::INFINITY].map(|n| self.builder.float(ty, n));
        let minus = self.builder.unary(Unary::FNeg, value);
        let mut rest = self.builder.fma(minus, factor, whole);
        if let Some(divisor) = divisor {
            let negative = self.builder.compare_floats(FloatRelation::Olt, divisor, null);
            let minus = self.builder.unary(Unary::FNeg, rest);
            rest = self.builder.select(negative, minus, rest);
        }
        let size = self.builder.unary(Unary::FAbs, value);
        let finite = self.builder.compare_floats(FloatRelation::One, size, infinity);
        let something = self.builder.compare_floats(FloatRelation::One, size, null);
        let plain = self.builder.binary(Binary::And, finite, something);
        let rest = self.builder.select(plain, rest, null);
        self.builder.made_odd(value, rest)
    }

    /// `sel`, `csel`: source 0 or 1.
    pub fn float_choice(&mut self, index: usize, double: bool, mask: Value) {
        let op = &self.plan.ops[index];
        let sources = self.sources(index, |lift, n| lift.float_source(index, n, double));
        let [a, b] = [sources[0], sources[1]];
        let value = match (sources.get(2), op.condition) {
            (None, None) => self.chosen(index, a, b),
            (Some(third), condition) => {
                let null = self.builder.float(self.builder.ty(a), 0.0);
                let first = self.floats_compared(condition.unwrap_or(Condition::NotEqual), *third, null);
                self.builder.select(first, a, b)
            }
            (None, Some(condition)) => {
                let first = self.floats_compared(condition, a, b);
                // A number wins over NaN.
                let nan = self.builder.compare_floats(FloatRelation::Uno, b, b);
                let first = self.builder.binary(Binary::Or, first, nan);
                self.builder.select(first, a, b)
            }
        };
        self.finish_float(index, value, mask);
    }

    /// `cmp`, `cmpn`
    pub fn float_comparison(&mut self, index: usize, double: bool, mask: Value) {
        let op = &self.plan.ops[index];
        let sources = self.sources(index, |lift, n| match double {
            true => lift.widened(index, n),
            false => lift.float_source(index, n, false),
        });
        let [a, b] = [sources[0], sources[1]];
        let mut holds = self.floats_compared(op.condition.unwrap_or(Condition::NotEqual), a, b);
        if op.opcode == Opcode::Cmpn {
            let second = self.builder.compare_floats(FloatRelation::Uno, b, b);
            let number = self.builder.compare_floats(FloatRelation::Ord, a, a);
            let either = self.builder.binary(Binary::Or, holds, second);
            holds = self.builder.binary(Binary::And, either, number);
        }
        self.compared_to(index, holds, mask);
    }

    /// Whether a condition holds between two floats.
    pub fn floats_compared(&mut self, condition: Condition, a: Value, b: Value) -> Value {
        let relation = match condition {
            Condition::Equal => FloatRelation::Oeq,
            Condition::NotEqual => FloatRelation::Une,
            Condition::Greater => FloatRelation::Ogt,
            Condition::GreaterEqual => FloatRelation::Oge,
            Condition::Less => FloatRelation::Olt,
            Condition::LessEqual => FloatRelation::Ole,
            Condition::Unordered => FloatRelation::Uno,
            // Nothing is computed that could overflow.
            Condition::Overflow => return self.builder.mask(self.builder.ty(a).lanes.into(), false),
        };
        self.builder.compare_floats(relation, a, b)
    }

    /// Saturates, rounds and writes a result, and sets the flags.
    pub fn finish_float(&mut self, index: usize, exact: Value, mask: Value) {
        let op = &self.plan.ops[index];
        let bits = self.float_bits(index, exact);
        if let Some(condition) = op.condition.filter(|_| !native::chooses(op.opcode)) {
            let holds = self.float_condition(condition, exact, bits, op.dst.ty.is_float());
            self.merge_flags(op.flag_bit.into(), holds, mask);
        }
        self.result(index, bits, mask);
    }

    /// The bits that the destination gets.
    pub fn float_bits(&mut self, index: usize, exact: Value) -> Value {
        let op = &self.plan.ops[index];
        let mode = self.plan.modes[index];
        let mut value = exact;
        // A result is a number of the execution type before it is converted to an integer.
        let ty = if op.dst.ty.is_float() { op.dst.ty } else { op.execution_type };
        if op.saturate && op.dst.ty.is_float() {
            // NaN becomes 0.
            let [zero, one] = [0.0, 1.0].map(|n| self.builder.float(self.builder.ty(exact), n));
            let below = self.builder.compare_floats(FloatRelation::Olt, value, one);
            let limited = self.builder.select(below, value, one);
            let above = self.builder.compare_floats(FloatRelation::Ogt, value, zero);
            value = self.builder.select(above, limited, zero);
        }
        let value = self.narrowed(value, scalar(ty), Direction::To(mode.rounding));
        let mut bits = self.builder.bits_of(value);
        if modes::flushes(mode, ty) {
            bits = self.flushed(bits);
        }
        if op.dst.ty.is_float() {
            return bits;
        }
        let value = self.builder.cast(bits, self.builder.ty(value).scalar);
        self.integers_of(index, value)
    }

    /// Floats as integers of the destination's type: truncated, and limited to what it has.
    pub fn integers_of(&mut self, index: usize, value: Value) -> Value {
        let to = self.plan.ops[index].dst.ty;
        let from = self.builder.ty(value).scalar;
        let wide = if from == Scalar::Double { from } else { Scalar::Float };
        let value = self.narrowed(value, wide, Direction::Odd);
        let float = self.builder.ty(value);
        let bits = to.size() * 8;
        let ty = Type::int(bits.max(32), float.lanes.into());
        // LLVM's own functions for this go lane by lane.
        let convert = if to.is_signed() || bits < 32 { Convert::FPToSI } else { Convert::FPToUI };
        // What is too large or too small is any number, until it is replaced.
        let number = self.builder.convert(convert, value, ty.scalar);
        let magnitude = bits - u32::from(to.is_signed());
        let behind = self.builder.float(float, 2f64.powi(magnitude as i32));
        let above = self.builder.compare_floats(FloatRelation::Oge, value, behind);
        let largest = u64::MAX >> (64 - magnitude);
        let [zero, highest, lowest] = [0, largest, !largest].map(|n| self.builder.int(ty, n));
        let number = self.builder.select(above, highest, number);
        let number = if to.is_signed() {
            let limit = self.builder.float(float, -(2f64.powi(magnitude as i32)));
            let below = self.builder.compare_floats(FloatRelation::Olt, value, limit);
            let number = self.builder.select(below, lowest, number);
            let ordered = self.builder.compare_floats(FloatRelation::Ord, value, value);
            self.builder.select(ordered, number, zero)
        } else {
            let null = self.builder.float(float, 0.0);
            let not_negative = self.builder.compare_floats(FloatRelation::Oge, value, null);
            self.builder.select(not_negative, number, zero)
        };
        self.builder.resize(number, bits, false)
    }

    /// The zero is that of the final bits, which a float has with either sign; the sign is that of the exact value.
    fn float_condition(&mut self, condition: Condition, exact: Value, bits: Value, float: bool) -> Value {
        let ty = self.builder.ty(bits);
        let null = self.builder.float(self.builder.ty(exact), 0.0);
        let magnitude = self.builder.int(ty, u64::MAX >> (64 - ty.scalar.bits() + u32::from(float)));
        let magnitude = self.builder.binary(Binary::And, bits, magnitude);
        let none = self.builder.int(ty, 0);
        let zero = self.builder.compare(Relation::Eq, magnitude, none);
        let less = self.builder.compare_floats(FloatRelation::Olt, exact, null);
        let unordered = self.builder.compare_floats(FloatRelation::Uno, exact, exact);
        let not_zero = self.builder.not(zero);
        let negative = self.builder.binary(Binary::And, less, not_zero);
        let ordered = self.builder.not(unordered);
        match condition {
            Condition::Equal => zero,
            Condition::NotEqual => not_zero,
            Condition::Greater => {
                let at_most = self.builder.binary(Binary::Or, zero, negative);
                let more = self.builder.not(at_most);
                self.builder.binary(Binary::And, more, ordered)
            }
            Condition::GreaterEqual => {
                let not_negative = self.builder.not(negative);
                let at_least = self.builder.binary(Binary::Or, not_negative, zero);
                self.builder.binary(Binary::And, at_least, ordered)
            }
            Condition::Less => negative,
            Condition::LessEqual => {
                let at_most = self.builder.binary(Binary::Or, negative, zero);
                self.builder.binary(Binary::And, at_most, ordered)
            }
            Condition::Unordered | Condition::Overflow => unordered,
        }
    }
}
