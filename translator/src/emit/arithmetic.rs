//! Arithmetic of integers, moves, comparisons.

use gencl_eu::operand::Target;
use gencl_isa::{Condition, Type};

use super::rounding::{Direction, scalar};
use super::{Emitter, FILE};
use crate::ir::{I64, Scalar, Ty, Value};
use crate::native::{Integer, Native, Number};
use crate::split::{self, LANES, Sum};

impl Emitter<'_> {
    /// Writes an arithmetic instruction.
    pub(super) fn native(&mut self, index: usize, native: Native) {
        if let Some(sum) = self.sums.sums[index] {
            self.keep_parts(index, sum);
        }
        self.scalar = self.is_affine_definition(index, 0);
        let done = self.check_destination(index);
        let mask = if self.scalar { None } else { self.mask(index) };
        let mask = mask.as_ref();
        match native {
            Native::Copy => {
                let bits = self.bits(index, 0);
                self.result(index, &bits, mask);
            }
            Native::Convert { from, to } => self.conversion(index, from, to, mask),
            Native::Choose => {
                let chosen = self.chosen(index);
                let [a, b] = [self.bits(index, 0), self.bits(index, 1)];
                let bits = match chosen {
                    Some(chosen) => self.f.select(&chosen, &a, &b),
                    None => a,
                };
                self.result(index, &bits, mask);
            }
            Native::Limit => self.limited_move(index, mask),
            Native::Select { number } => {
                let chosen = self.chosen(index);
                let [a, b] = [self.number(index, 0, number), self.number(index, 1, number)];
                let value = match chosen {
                    Some(chosen) => self.f.select(&chosen, &a, &b),
                    None => a,
                };
                self.selected(index, number, &value, mask);
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
            Native::ToHalf => self.half_word(index, true, mask),
            Native::FromHalf => self.half_word(index, false, mask),
        }
        self.scalar = false;
        if let Some(done) = done {
            self.f.jump(done);
            self.f.begin(done);
        }
    }

    /// Is a result of an instruction kept as a scalar?
    pub(super) fn is_affine_definition(&self, index: usize, number: usize) -> bool {
        let variable = self.variables.as_ref().and_then(|v| v.definitions[index].get(number).copied());
        variable.is_some_and(|variable| self.affine.get(variable).is_some_and(Option::is_some))
    }

    /// Keeps the two parts of a sum.
    fn keep_parts(&mut self, index: usize, sum: Sum) {
        let Some(variables) = &self.variables else { return };
        let start = self.plan.effects[index].definitions[0].access.extent().0;
        let part = self.sums.parts[&(variables.definitions[index][0], start)];
        let [base_place, offset_place] = self.parts[part].clone();
        // Steps that are known are not kept.
        let lanes = if self.sums.steps[part].is_some() { 1 } else { LANES as u32 };
        let (base, offsets) = match sum {
            Sum::Of { base, offset } => {
                let place = self.use_place(index, base);
                let base = self.f.load(I64, &place, FILE);
                self.scalar = lanes == 1;
                let offsets = match offset {
                    Some(offset) => self.bits(index, offset),
                    None => Value::int(Ty::int(32, lanes), 0),
                };
                self.scalar = false;
                (base, offsets)
            }
            Sum::Behind(bytes) => {
                let before = split::source_part(self.plan, variables, index).map(|at| self.sums.parts[&at]);
                let Some(before) = before else { return };
                let own = self.part_of_sums(before);
                let (base, offsets) = self.loaded_part(&own);
                let offsets = match own.step {
                    Some(step) => self.steps_from(&offsets, step, lanes),
                    None => offsets,
                };
                (self.f.binary("add", &base, &Value::int(I64, bytes as u64)), offsets)
            }
        };
        self.f.store(&base, &base_place, FILE);
        self.f.store(&offsets, &offset_place, FILE);
    }

    /// The channels for which `sel` takes source 0; `None` for all.
    pub(super) fn chosen(&mut self, index: usize) -> Option<Value> {
        let predicate = self.plan.ops[index].predicate?;
        let bits = self.predicate(index, predicate);
        Some(self.f.mask(&bits))
    }

    fn conversion(&mut self, index: usize, from: Number, to: Number, mask: Option<&Value>) {
        let mut a = self.number(index, 0, from);
        match (from.is_float(), to.is_float()) {
            (true, true) => self.finish_float(index, &a, mask),
            (true, false) => {
                let bits = self.integers_of(index, &a);
                self.result(index, &bits, mask);
            }
            (false, true) => {
                let to = scalar(self.plan.ops[index].dst.ty);
                if to == Scalar::Half {
                    a = self.limited(&a, from.is_signed());
                }
                let float = self.of_integers(&a, from.is_signed(), to.max(Scalar::Float));
                self.finish_float(index, &float, mask);
            }
            (false, false) => self.finish_integer(index, &a, mask),
        }
    }

    /// Integers beyond the half floats become others beyond them, which floats hold exactly.
    fn limited(&mut self, a: &Value, signed: bool) -> Value {
        const LIMIT: u64 = 1 << 20;
        let suffix = format!(".{}", a.ty.mangled());
        let limit = Value::int(a.ty, LIMIT);
        if !signed {
            return self.f.intrinsic("umin", &suffix, a.ty, &[a, &limit]);
        }
        let limited = self.f.intrinsic("smin", &suffix, a.ty, &[a, &limit]);
        let limit = Value::int(a.ty, LIMIT.wrapping_neg());
        self.f.intrinsic("smax", &suffix, a.ty, &[&limited, &limit])
    }

    /// `f32to16`, `f16to32`: half floats as words.
    fn half_word(&mut self, index: usize, to_half: bool, mask: Option<&Value>) {
        if to_half {
            let value = self.number(index, 0, Number::Float);
            let rounding = Direction::To(self.plan.modes[index].rounding);
            let half = self.narrowed(&value, Scalar::Half, rounding);
            let bits = self.f.cast(&half, Scalar::Int(16));
            self.result(index, &bits, mask);
        } else {
            let bits = self.bits(index, 0);
            let half = self.f.cast(&bits, Scalar::Half);
            let value = self.f.convert("fpext", &half, half.ty.of(Scalar::Float));
            self.finish_float(index, &value, mask);
        }
    }

    /// Cuts a result to the destination's size, writes it, and sets the flags of `.z` and `.nz`.
    fn finish_integer(&mut self, index: usize, value: &Value, mask: Option<&Value>) {
        let op = &self.plan.ops[index];
        let bits = self.f.resize(value, op.dst.ty.size() * 8, false);
        if let Some(condition) = op.condition {
            let zero = Value::int(bits.ty, 0);
            let operation = if condition == Condition::Equal { "icmp eq" } else { "icmp ne" };
            let holds = self.f.compare(operation, &bits, &zero);
            let holds = self.f.mask_bits(&holds);
            self.set_flags(u32::from(op.flag_bit), &holds, mask);
        }
        self.result(index, &bits, mask);
    }

    fn extreme(&mut self, index: usize, number: Number, maximum: bool, mask: Option<&Value>) {
        let [a, b] = [self.number(index, 0, number), self.number(index, 1, number)];
        let operation = match (number, maximum) {
            (Number::Unsigned | Number::Unsigned64, true) => "icmp uge",
            (Number::Unsigned | Number::Unsigned64, false) => "icmp ult",
            (Number::Signed | Number::Signed64, true) => "icmp sge",
            (Number::Signed | Number::Signed64, false) => "icmp slt",
            (Number::Float | Number::Double, true) => "fcmp oge",
            (Number::Float | Number::Double, false) => "fcmp olt",
        };
        let mut first = self.f.compare(operation, &a, &b);
        if number.is_float() {
            // A number wins over NaN.
            let nan = self.f.compare("fcmp uno", &b, &b);
            first = self.f.binary("or", &first, &nan);
        }
        let value = self.f.select(&first, &a, &b);
        self.selected(index, number, &value, mask);
    }

    /// Writes one of the sources of `sel`, which sets no flags.
    pub(super) fn selected(&mut self, index: usize, number: Number, value: &Value, mask: Option<&Value>) {
        let bits = if number.is_float() {
            self.float_bits(index, value)
        } else {
            self.f.resize(value, self.plan.ops[index].dst.ty.size() * 8, number.is_signed())
        };
        self.result(index, &bits, mask);
    }

    /// Integers that are limited to the destination's type.
    fn limited_move(&mut self, index: usize, mask: Option<&Value>) {
        let op = &self.plan.ops[index];
        let (from, to) = (op.src[0].ty, op.dst.ty);
        let highest = u64::MAX >> (64 - to.size() * 8 + u32::from(to.is_signed()));
        let limit = |emitter: &mut Self, name: &str, value: &Value, bound: u64| {
            let (suffix, bound) = (format!(".{}", value.ty.mangled()), Value::int(value.ty, bound));
            emitter.f.intrinsic(name, &suffix, value.ty, &[value, &bound])
        };
        let value = if from == Type::UQ {
            let value = self.number(index, 0, Number::Unsigned64);
            limit(self, "umin", &value, highest)
        } else {
            let value = self.number(index, 0, Number::Signed64);
            let lowest = if to.is_signed() { !highest } else { 0 };
            let value = limit(self, "smax", &value, lowest);
            // All are below the highest of unsigned qwords.
            if to == Type::UQ { value } else { limit(self, "smin", &value, highest) }
        };
        self.finish_integer(index, &value, mask);
    }

    fn comparison(&mut self, index: usize, number: Number, condition: Condition, mask: Option<&Value>) {
        let [a, b] = [self.number(index, 0, number), self.number(index, 1, number)];
        let kind = match number {
            Number::Unsigned | Number::Unsigned64 => ["ult", "ule", "ugt", "uge", "eq", "ne"],
            Number::Signed | Number::Signed64 => ["slt", "sle", "sgt", "sge", "eq", "ne"],
            Number::Float | Number::Double => ["olt", "ole", "ogt", "oge", "oeq", "une"],
        };
        let asked = match condition {
            Condition::Less => kind[0],
            Condition::LessEqual => kind[1],
            Condition::Greater => kind[2],
            Condition::GreaterEqual => kind[3],
            Condition::Equal => kind[4],
            _ => kind[5],
        };
        let family = if number.is_float() { "fcmp" } else { "icmp" };
        let holds = self.f.compare(&format!("{family} {asked}"), &a, &b);
        self.compared_to(index, &holds, mask);
    }

    /// Writes what a comparison has found.
    pub(super) fn compared_to(&mut self, index: usize, holds: &Value, mask: Option<&Value>) {
        let op = &self.plan.ops[index];
        let bits = self.f.mask_bits(holds);
        self.set_flags(u32::from(op.flag_bit), &bits, mask);
        if op.dst.target != Target::Null {
            let size = op.dst.ty.size() * 8;
            let ones = self.f.convert("sext", holds, Ty::int(size, holds.ty.lanes));
            self.result(index, &ones, mask);
        }
    }

    fn integer(&mut self, index: usize, function: Integer, bits: u32, mask: Option<&Value>) {
        let kind = if bits == 64 { Number::Unsigned64 } else { Number::Unsigned };
        let count = self.plan.ops[index].src.iter().filter(|s| s.is_some()).count();
        let sources: Vec<Value> = (0..count).map(|n| self.number(index, n, kind)).collect();
        let a = &sources[0];
        let b = sources.get(1).unwrap_or(a);
        let ones = Value::int(a.ty, u64::MAX);
        let count_bits = Value::int(a.ty, u64::from(bits - 1));
        let value = match function {
            Integer::Add => self.f.binary("add", a, b),
            Integer::Multiply => self.f.binary("mul", a, b),
            Integer::MultiplyLow => {
                let low = self.f.binary("and", b, &Value::int(b.ty, 0xffff));
                self.f.binary("mul", a, &low)
            }
            Integer::And => self.f.binary("and", a, b),
            Integer::Or => self.f.binary("or", a, b),
            Integer::Xor => self.f.binary("xor", a, b),
            Integer::Not => self.f.binary("xor", a, &ones),
            Integer::ShiftLeft | Integer::ShiftRight | Integer::ShiftRightSigned => {
                let by = self.f.binary("and", b, &count_bits);
                let operation = match function {
                    Integer::ShiftLeft => "shl",
                    Integer::ShiftRight => "lshr",
                    _ => "ashr",
                };
                self.f.binary(operation, a, &by)
            }
            Integer::MultiplyAdd => {
                let product = self.f.binary("mul", b, &sources[2]);
                self.f.binary("add", a, &product)
            }
            Integer::Divide { signed, remainder } => self.division(a, b, signed, remainder),
            _ => self.dwords_function(index, function, &sources),
        };
        self.finish_integer(index, &value, mask);
    }

    /// Functions of the bits of dwords.
    pub(super) fn dwords_function(&mut self, index: usize, function: Integer, sources: &[Value]) -> Value {
        let a = &sources[0];
        let b = sources.get(1).unwrap_or(a);
        let ones = Value::int(a.ty, u64::MAX);
        let count_bits = Value::int(a.ty, 31);
        match function {
            Integer::Bfe => {
                let signed = self.plan.ops[index].src[2].ty.is_signed();
                self.bit_field(a, b, &sources[2], signed)
            }
            Integer::Bfi1 => {
                let width = self.f.binary("and", a, &count_bits);
                let offset = self.f.binary("and", b, &count_bits);
                let one = self.f.binary("shl", &Value::int(a.ty, 1), &width);
                let field = self.f.binary("sub", &one, &Value::int(a.ty, 1));
                self.f.binary("shl", &field, &offset)
            }
            Integer::Bfi2 => {
                let zeros = self.bit_function("cttz", a, true);
                let zeros = self.f.binary("and", &zeros, &count_bits);
                // No bit in the mask: what is shifted does not matter.
                let placed = self.f.binary("shl", b, &zeros);
                let inside = self.f.binary("and", a, &placed);
                let outside = self.f.binary("xor", a, &ones);
                let kept = self.f.binary("and", &outside, &sources[2]);
                self.f.binary("or", &inside, &kept)
            }
            Integer::Lzd => self.bit_function("ctlz", a, true),
            Integer::Cbit => self.bit_function("ctpop", a, false),
            Integer::Bfrev => self.bit_function("bitreverse", a, false),
            Integer::Fbl => {
                let zeros = self.bit_function("cttz", a, true);
                let none = self.f.compare("icmp eq", a, &Value::int(a.ty, 0));
                self.f.select(&none, &ones, &zeros)
            }
            // No function of bits.
            _ => a.clone(),
        }
    }

    /// An intrinsic of one operand; `flagged` ones are asked to be defined for 0 too.
    pub(super) fn bit_function(&mut self, name: &str, a: &Value, flagged: bool) -> Value {
        let suffix = format!(".{}", a.ty.mangled());
        let defined = Value::int(crate::ir::BIT, 0);
        let arguments: &[&Value] = if flagged { &[a, &defined] } else { &[a] };
        self.f.intrinsic(name, &suffix, a.ty, arguments)
    }

    /// As `eu::math` defines divisions by 0; the host's would trap.
    fn division(&mut self, a: &Value, b: &Value, signed: bool, remainder: bool) -> Value {
        let ty = a.ty;
        let (zero, one, ones) = (Value::int(ty, 0), Value::int(ty, 1), Value::int(ty, u64::MAX));
        let by_zero = self.f.compare("icmp eq", b, &zero);
        if !signed {
            let divisor = self.f.select(&by_zero, &one, b);
            let value = self.divided(a, &divisor, signed, remainder);
            return self.f.select(&by_zero, &ones, &value);
        }
        let lowest = Value::int(ty, 0x8000_0000);
        let is_lowest = self.f.compare("icmp eq", a, &lowest);
        let by_minus_one = self.f.compare("icmp eq", b, &ones);
        let overflows = self.f.binary("and", &is_lowest, &by_minus_one);
        let special = self.f.binary("or", &by_zero, &overflows);
        let divisor = self.f.select(&special, &one, b);
        let value = self.divided(a, &divisor, signed, remainder);
        if remainder {
            // By 0 it is the dividend; of the lowest number by -1 it is 0, as by 1.
            return self.f.select(&by_zero, a, &value);
        }
        let negative = self.f.compare("icmp slt", a, &zero);
        let largest = self.f.select(&negative, &lowest, &Value::int(ty, 0x7fff_ffff));
        self.f.select(&by_zero, &largest, &value)
    }

    /// A quotient or remainder that is a number of 32 bits. Hosts have no division of integers for all lanes; that of doubles is exact: quotients that
    /// are not integers are farther from them than doubles can be wrong.
    fn divided(&mut self, a: &Value, b: &Value, signed: bool, remainder: bool) -> Value {
        let [to, from] = if signed { ["sitofp", "fptosi"] } else { ["uitofp", "fptoui"] };
        let [x, y] = [a, b].map(|n| self.f.convert(to, n, n.ty.of(Scalar::Double)));
        let quotient = self.f.binary("fdiv", &x, &y);
        let quotient = self.f.convert(from, &quotient, a.ty);
        if !remainder {
            return quotient;
        }
        let product = self.f.binary("mul", &quotient, b);
        self.f.binary("sub", a, &product)
    }

    /// `bfe`: width, offset, data.
    fn bit_field(&mut self, width: &Value, offset: &Value, data: &Value, signed: bool) -> Value {
        let ty = data.ty;
        let (n31, n32) = (Value::int(ty, 31), Value::int(ty, 32));
        let width = self.f.binary("and", width, &n31);
        let offset = self.f.binary("and", offset, &n31);
        let end = self.f.binary("add", &width, &offset);
        let inside = self.f.compare("icmp ult", &end, &n32);
        let left = self.f.binary("sub", &n32, &end);
        let left = self.f.select(&inside, &left, &Value::int(ty, 0));
        let right = self.f.binary("sub", &n32, &width);
        let right = self.f.select(&inside, &right, &offset);
        // Both are below 32 unless the width is 0, where the result is.
        let left = self.f.binary("and", &left, &n31);
        let right = self.f.binary("and", &right, &n31);
        let moved = self.f.binary("shl", data, &left);
        let field = self.f.binary(if signed { "ashr" } else { "lshr" }, &moved, &right);
        let none = self.f.compare("icmp eq", &width, &Value::int(ty, 0));
        self.f.select(&none, &Value::int(ty, 0), &field)
    }
}
