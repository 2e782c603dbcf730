//! The semantics of each arithmetic operation on one channel, in exact values.

use gencl_isa::{Condition, Opcode, Type};

use super::condition::compare;
use super::float::{add_64, add_to_odd_signed, from_f16, multiply_64, multiply_add_64, to_f16, to_integral};
use super::math;
use super::value::Value;
use crate::dispatch::Rounding;
use crate::op::Op;
use crate::operand::low_bits;
use crate::thread::FloatMode;

/// The inputs of an operation.
pub struct Inputs<'a> {
    /// The channel's sources, with modifiers applied.
    pub sources: [Value; 3],
    /// The element of a source (first argument) in any channel (second), with modifiers applied.
    pub element: &'a dyn Fn(usize, usize) -> Value,
    /// The channel.
    pub lane: usize,
    /// The channel's accumulator.
    pub accumulator: Value,
    /// `sel`: the predicate.
    pub selected: bool,
    /// Floating-point mode.
    pub mode: FloatMode,
}

/// The outputs of an operation.
pub struct Output {
    /// The result.
    pub value: Value,
    /// The destination's bits, if they are not the converted value.
    pub bits: Option<u64>,
    /// The result of the conditional modifier, if it is not computed from the value.
    pub condition: Option<bool>,
    /// The new accumulator, if the operation always writes it.
    pub accumulator: Option<i64>,
}

impl From<Value> for Output {
    fn from(value: Value) -> Output {
        Output { value, bits: None, condition: None, accumulator: None }
    }
}

fn integer(value: i128) -> Output {
    Value::Integer(value).into()
}

/// Whether the general path implements an operation.
pub fn is_supported(opcode: Opcode) -> bool {
    use Opcode as O;
    matches!(
        opcode,
        O::Mov
            | O::Sel
            | O::Not
            | O::And
            | O::Or
            | O::Xor
            | O::Shr
            | O::Shl
            | O::Asr
            | O::Cmp
            | O::Cmpn
            | O::Csel
            | O::F32To16
            | O::F16To32
            | O::Bfrev
            | O::Bfe
            | O::Bfi1
            | O::Bfi2
            | O::Math
            | O::Add
            | O::Mul
            | O::Avg
            | O::Frc
            | O::Rndu
            | O::Rndd
            | O::Rnde
            | O::Rndz
            | O::Mac
            | O::Mach
            | O::Lzd
            | O::Fbh
            | O::Fbl
            | O::Cbit
            | O::Addc
            | O::Subb
            | O::Dp4
            | O::Dph
            | O::Dp3
            | O::Dp2
            | O::Mad
            | O::Madm
            | O::Lrp
    )
}

/// Computes one channel of an operation that [`is_supported`].
pub fn compute(op: &Op, inputs: &Inputs<'_>) -> Output {
    use Opcode as O;
    let [a, b, c] = inputs.sources;
    match op.opcode {
        O::Sel => selection(op, inputs).into(),
        O::Csel => {
            let condition = op.condition.unwrap_or(Condition::NotEqual);
            if compare(condition, c, Value::Integer(0)) { a } else { b }.into()
        }
        O::Cmp | O::Cmpn => comparison(op, a, b),
        O::Not => logic(op, !a.integer()),
        O::And => logic(op, a.integer() & b.integer()),
        O::Or => logic(op, a.integer() | b.integer()),
        O::Xor => logic(op, a.integer() ^ b.integer()),
        O::Shl | O::Shr | O::Asr => shift(op, a, b),
        O::Add | O::Mul | O::Mad | O::Mac | O::Lrp => arithmetic(op, inputs),
        O::Mach => high_multiply(op, inputs),
        O::Addc | O::Subb => with_carry(op, a.integer(), b.integer()),
        O::Avg => integer((a.integer() + b.integer() + 1) >> 1),
        O::Frc => Value::Float(a.float() - a.float().floor()).into(),
        O::Rndu => Value::Float(to_integral(a.float(), Rounding::Up)).into(),
        O::Rndd => Value::Float(to_integral(a.float(), Rounding::Down)).into(),
        O::Rnde => Value::Float(to_integral(a.float(), Rounding::NearestEven)).into(),
        O::Rndz => Value::Float(to_integral(a.float(), Rounding::Zero)).into(),
        O::Lzd | O::Fbh | O::Fbl | O::Cbit | O::Bfrev => bit_count(op, a),
        O::Bfe | O::Bfi1 | O::Bfi2 => bit_field(op, a.integer(), b.integer(), c.integer()),
        O::Dp4 | O::Dph | O::Dp3 | O::Dp2 => Value::Float(dot_product(op.opcode, inputs)).into(),
        O::F32To16 => {
            let bits = to_f16(a.float(), inputs.mode.rounding);
            Output { bits: Some(u64::from(bits)), ..a.into() }
        }
        O::F16To32 => Value::Float(from_f16(a.integer() as u16)).into(),
        O::Math => extended_math(op, a, b),
        _ => a.into(),
    }
}

/// `sel`: selects by predicate, or with a conditional modifier the minimum or maximum, where a NaN loses
/// against a number (Volume 7, "sel", "IEEE min/max").
fn selection(op: &Op, inputs: &Inputs<'_>) -> Value {
    let [a, b, _] = inputs.sources;
    let first = match op.condition {
        None => inputs.selected,
        Some(_) if b.is_nan() => true,
        Some(condition) => compare(condition, a, b),
    };
    if first { a } else { b }
}

/// `cmp`, and `cmpn`, for which a NaN in source 1 makes the comparison true and one in source 0 false.
fn comparison(op: &Op, a: Value, b: Value) -> Output {
    let condition = op.condition.unwrap_or(Condition::NotEqual);
    let holds = match op.opcode {
        Opcode::Cmpn if a.is_nan() => false,
        Opcode::Cmpn if b.is_nan() => true,
        _ => compare(condition, a, b),
    };
    let bits = if holds { low_bits(op.dst.ty.size() * 8) } else { 0 };
    Output { bits: Some(bits), condition: Some(holds), ..integer(0) }
}

/// The result of a bitwise operation: its sign is that in the destination's type.
fn logic(op: &Op, value: i128) -> Output {
    let bits = value as u64 & low_bits(op.dst.ty.size() * 8);
    if op.dst.ty.is_float() {
        return Output { bits: Some(bits), ..integer(value) };
    }
    Value::from_bits(bits, op.dst.ty, FloatMode::default()).into()
}

/// Whether a shift uses six bits of its count instead of five: "QWord mode" of Volume 2a, "shl". The type of
/// the count does not matter.
pub fn shifts_qwords(op: &Op) -> bool {
    op.src[0].ty.size() == 8 || op.dst.ty.size() == 8
}

fn shift(op: &Op, a: Value, b: Value) -> Output {
    let count_bits = if shifts_qwords(op) { 63 } else { 31 };
    let count = (b.integer() & count_bits) as u32;
    let value = a.integer();
    integer(match op.opcode {
        Opcode::Shl => value << count,
        Opcode::Asr => value >> count,
        _ => {
            let zero_extended = value as u64 & low_bits(op.src[0].ty.size() * 8);
            i128::from(zero_extended >> count)
        }
    })
}

fn arithmetic(op: &Op, inputs: &Inputs<'_>) -> Output {
    let [a, b, c] = inputs.sources;
    if op.execution_type.is_float() {
        return Value::Float(float_arithmetic(op, inputs)).into();
    }
    let b = if op.low_multiplier { Value::Integer(b.integer() & 0xffff) } else { b };
    integer(match op.opcode {
        // The adder has one bit more than a dword, so that the sign of a result is that of the exact sum. It
        // has no bit more than a qword: IGC's saturating addition relies on the sign of the wrapped sum.
        Opcode::Add if op.execution_type == Type::Q => i128::from((a.integer() + b.integer()) as i64),
        Opcode::Add => a.integer() + b.integer(),
        Opcode::Mad => a.integer() + b.integer() * c.integer(),
        Opcode::Mac => inputs.accumulator.integer() + a.integer() * b.integer(),
        _ => a.integer().wrapping_mul(b.integer()),
    })
}

/// `DF` results are rounded by the mode, those of other types to odd.
fn float_arithmetic(op: &Op, inputs: &Inputs<'_>) -> f64 {
    let [a, b, c] = inputs.sources.map(Value::float);
    let rounding = inputs.mode.rounding;
    if op.execution_type == Type::DF {
        return match op.opcode {
            Opcode::Add => add_64(a, b, rounding),
            Opcode::Mul => multiply_64(a, b, rounding),
            Opcode::Mad => multiply_add_64(b, c, a, rounding),
            Opcode::Mac => multiply_add_64(a, b, inputs.accumulator.float(), rounding),
            _ => multiply_add_64(a, b, multiply_64(1.0 - a, c, rounding), rounding),
        };
    }
    let sum = |a, b| add_to_odd_signed(a, b, rounding);
    match op.opcode {
        Opcode::Add => sum(a, b),
        Opcode::Mul => a * b,
        Opcode::Mad => sum(b * c, a),
        Opcode::Mac => sum(a * b, inputs.accumulator.float()),
        // Source 0 interpolates between source 2 (at 0) and source 1 (at 1).
        _ => sum(a * b, (1.0 - a) * c),
    }
}

/// `mach`: adds source 0 times the high word of source 1, shifted by 16, to the accumulator; the result is
/// the high dword of the sum. A `mul` by the low word precedes it.
fn high_multiply(op: &Op, inputs: &Inputs<'_>) -> Output {
    let [a, b, _] = inputs.sources.map(Value::integer);
    let wide = inputs.accumulator.integer() as i64;
    let sum = wide.wrapping_add(((a * (b >> 16)) << 16) as i64);
    let high =
        if op.execution_type.is_signed() { i128::from(sum >> 32) } else { i128::from(sum as u64 >> 32) };
    Output { accumulator: Some(sum), ..integer(high) }
}

/// `addc`, `subb`: the accumulator gets the carry or borrow.
fn with_carry(op: &Op, a: i128, b: i128) -> Output {
    let exact = if op.opcode == Opcode::Addc { a + b } else { a - b };
    let carry = !(0..1 << 32).contains(&exact);
    Output { accumulator: Some(i64::from(carry)), ..integer(exact & 0xffff_ffff) }
}

fn bit_count(op: &Op, a: Value) -> Output {
    let value = a.integer();
    let bits = value as u32;
    let none = |found: u32| if found == 32 { 0xffff_ffff } else { i128::from(found) };
    integer(match op.opcode {
        Opcode::Lzd => i128::from(bits.leading_zeros()),
        Opcode::Cbit => i128::from((value as u64 & low_bits(op.src[0].ty.size() * 8)).count_ones()),
        Opcode::Bfrev => i128::from(bits.reverse_bits()),
        Opcode::Fbl => none(bits.trailing_zeros()),
        // The first bit from the top that differs from the sign.
        _ if value < 0 => none((!bits).leading_zeros()),
        _ => none(bits.leading_zeros()),
    })
}

/// `bfe`: width, offset, data. `bfi1`: width, offset. `bfi2`: mask, data, background; the data is shifted to
/// the mask's lowest bit (Mesa emits it for NIR's `bfi`, IGC for the second half of vISA's BFI).
fn bit_field(op: &Op, a: i128, b: i128, c: i128) -> Output {
    let (width, offset) = (a as u32 & 31, b as u32 & 31);
    let signed = op.src[2].ty.is_signed();
    integer(match op.opcode {
        Opcode::Bfi1 => i128::from((((1u64 << width) - 1) << offset) as u32),
        Opcode::Bfi2 => {
            let (mask, data) = (a as u32, b as u32);
            let placed = data.checked_shl(mask.trailing_zeros()).unwrap_or(0);
            i128::from(mask & placed | !mask & c as u32)
        }
        _ if width == 0 => 0,
        _ => {
            let left = 32u32.saturating_sub(offset + width);
            let right = if offset + width < 32 { 32 - width } else { offset };
            let moved = (c as u32) << left;
            if signed { i128::from(moved as i32 >> right) } else { i128::from(moved >> right) }
        }
    })
}

/// The sum of products over the group of four channels that the channel belongs to; all four get the same.
fn dot_product(opcode: Opcode, inputs: &Inputs<'_>) -> f64 {
    let first = inputs.lane / 4 * 4;
    let product = |k: usize| (inputs.element)(0, first + k).float() * (inputs.element)(1, first + k).float();
    match opcode {
        Opcode::Dp2 => product(0) + product(1),
        Opcode::Dp3 => product(0) + product(1) + product(2),
        Opcode::Dph => product(0) + product(1) + product(2) + (inputs.element)(1, first + 3).float(),
        _ => product(0) + product(1) + product(2) + product(3),
    }
}

fn extended_math(op: &Op, a: Value, b: Value) -> Output {
    use gencl_isa::MathFunction as M;
    let Some(function) = op.function else { return a.into() };
    let signed = op.src[0].ty.is_signed();
    match function {
        M::IntDivQuotient => integer(math::divide(a.integer(), b.integer(), signed).0),
        M::IntDivRemainder => integer(math::divide(a.integer(), b.integer(), signed).1),
        _ => Value::Float(math::float(function, a.float(), b.float()).unwrap_or(f64::NAN)).into(),
    }
}
