//! The semantics of each arithmetic operation on one channel, in exact values.

use gencl_isa::{Condition, Opcode, Type};

use super::condition::compare;
use super::math;
use super::value::Value;
use crate::dispatch::Rounding;
use crate::float::{add_64, add_to_odd_signed, from_f16, multiply_64, multiply_add_64, to_f16, to_integral};
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

/// Computes one channel of an operation.
pub type Compute = fn(&Op, &Inputs<'_>) -> Output;

/// What computes an operation; `None` if it is none on values of channels, or is not simulated.
pub fn of(opcode: Opcode) -> Option<Compute> {
    use Opcode as O;
    Some(match opcode {
        O::Mov => |_, inputs| inputs.sources[0].into(),
        O::Sel => |op, inputs| selection(op, inputs).into(),
        O::Csel => |op, inputs| {
            let [a, b, c] = inputs.sources;
            if compare(condition(op), c, Value::Integer(0)) { a } else { b }.into()
        },
        O::Cmp => |op, inputs| comparison(op, compares(op, inputs)),
        // A NaN in source 1 makes the comparison true and one in source 0 false.
        O::Cmpn => |op, inputs| {
            let [a, b, _] = inputs.sources;
            comparison(op, !a.is_nan() && (b.is_nan() || compares(op, inputs)))
        },
        O::Not => |op, inputs| logic(op, !integers(inputs)[0]),
        O::And => |op, inputs| logic(op, integers(inputs)[0] & integers(inputs)[1]),
        O::Or => |op, inputs| logic(op, integers(inputs)[0] | integers(inputs)[1]),
        O::Xor => |op, inputs| logic(op, integers(inputs)[0] ^ integers(inputs)[1]),
        O::Shl => |op, inputs| integer(integers(inputs)[0] << shift_count(op, inputs)),
        O::Asr => |op, inputs| integer(integers(inputs)[0] >> shift_count(op, inputs)),
        O::Shr => |op, inputs| {
            let zero_extended = integers(inputs)[0] as u64 & low_bits(op.src[0].ty.size() * 8);
            integer(i128::from(zero_extended >> shift_count(op, inputs)))
        },
        O::Add => |op, inputs| arithmetic(op, inputs, Arithmetic::Add),
        O::Mul => |op, inputs| arithmetic(op, inputs, Arithmetic::Multiply),
        O::Mad => |op, inputs| arithmetic(op, inputs, Arithmetic::MultiplyAdd),
        O::Mac => |op, inputs| arithmetic(op, inputs, Arithmetic::Accumulate),
        O::Lrp => |op, inputs| arithmetic(op, inputs, Arithmetic::Interpolate),
        O::Mach => high_multiply,
        O::Addc => |_, inputs| with_carry(integers(inputs)[0] + integers(inputs)[1]),
        O::Subb => |_, inputs| with_carry(integers(inputs)[0] - integers(inputs)[1]),
        O::Avg => |_, inputs| integer((integers(inputs)[0] + integers(inputs)[1] + 1) >> 1),
        O::Frc => |_, inputs| {
            let a = inputs.sources[0].float();
            Value::Float(a - a.floor()).into()
        },
        O::Rndu => |_, inputs| rounded(inputs, Rounding::Up),
        O::Rndd => |_, inputs| rounded(inputs, Rounding::Down),
        O::Rnde => |_, inputs| rounded(inputs, Rounding::NearestEven),
        O::Rndz => |_, inputs| rounded(inputs, Rounding::Zero),
        O::Lzd => |_, inputs| integer(i128::from((integers(inputs)[0] as u32).leading_zeros())),
        // The first bit from the top that differs from the sign.
        O::Fbh => |_, inputs| match integers(inputs)[0] {
            value if value < 0 => first_bit((!(value as u32)).leading_zeros()),
            value => first_bit((value as u32).leading_zeros()),
        },
        O::Fbl => |_, inputs| first_bit((integers(inputs)[0] as u32).trailing_zeros()),
        O::Cbit => |op, inputs| {
            let bits = integers(inputs)[0] as u64 & low_bits(op.src[0].ty.size() * 8);
            integer(i128::from(bits.count_ones()))
        },
        O::Bfrev => |_, inputs| integer(i128::from((integers(inputs)[0] as u32).reverse_bits())),
        O::Bfe => extract_field,
        // Width, offset.
        O::Bfi1 => |_, inputs| {
            let [width, offset, _] = integers(inputs).map(|value| value as u32 & 31);
            integer(i128::from((((1u64 << width) - 1) << offset) as u32))
        },
        // The data is shifted to the mask's lowest bit (Mesa emits it for NIR's `bfi`, IGC for the second half of
        // vISA's BFI).
        O::Bfi2 => |_, inputs| {
            let [mask, data, background] = integers(inputs).map(|value| value as u32);
            let placed = data.checked_shl(mask.trailing_zeros()).unwrap_or(0);
            integer(i128::from(mask & placed | !mask & background))
        },
        O::Dp2 => |_, inputs| Value::Float(dot_product(inputs, 2)).into(),
        O::Dp3 => |_, inputs| Value::Float(dot_product(inputs, 3)).into(),
        O::Dp4 => |_, inputs| Value::Float(dot_product(inputs, 4)).into(),
        O::Dph => |_, inputs| {
            let last = (inputs.element)(1, inputs.lane / 4 * 4 + 3).float();
            Value::Float(dot_product(inputs, 3) + last).into()
        },
        O::F32To16 => |_, inputs| {
            let bits = to_f16(inputs.sources[0].float(), inputs.mode.rounding);
            Output { bits: Some(u64::from(bits)), ..inputs.sources[0].into() }
        },
        O::F16To32 => |_, inputs| Value::Float(from_f16(integers(inputs)[0] as u16)).into(),
        O::Math => extended_math,
        // Executed as `mov`, and by the macros of IEEE 754.
        O::Smov | O::Madm => return None,
        O::Illegal | O::Movi | O::Dim | O::Sad2 | O::Sada2 | O::Line | O::Pln => return None,
        O::Jmpi
        | O::Brd
        | O::If
        | O::Brc
        | O::Else
        | O::Endif
        | O::While
        | O::Break
        | O::Cont
        | O::Halt
        | O::Calla
        | O::Call
        | O::Ret
        | O::Goto
        | O::Join => return None,
        O::Wait | O::Send | O::Sendc | O::Sends | O::Sendsc | O::Nop => return None,
    })
}

/// The sources as integers.
fn integers(inputs: &Inputs<'_>) -> [i128; 3] {
    inputs.sources.map(Value::integer)
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

/// The conditional modifier, which comparisons have.
fn condition(op: &Op) -> Condition {
    op.condition.unwrap_or(Condition::NotEqual)
}

/// Whether the conditional modifier holds between the first two sources.
fn compares(op: &Op, inputs: &Inputs<'_>) -> bool {
    compare(condition(op), inputs.sources[0], inputs.sources[1])
}

/// The output of a comparison.
fn comparison(op: &Op, holds: bool) -> Output {
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

/// The count of a shift, in source 1.
fn shift_count(op: &Op, inputs: &Inputs<'_>) -> u32 {
    let count_bits = if shifts_qwords(op) { 63 } else { 31 };
    (inputs.sources[1].integer() & count_bits) as u32
}

/// The operations on integers or floats.
#[derive(Clone, Copy)]
enum Arithmetic {
    Add,
    Multiply,
    /// Source 0 plus the product of the others.
    MultiplyAdd,
    /// The accumulator plus the product.
    Accumulate,
    /// Source 0 interpolates between source 2 (at 0) and source 1 (at 1).
    Interpolate,
}

fn arithmetic(op: &Op, inputs: &Inputs<'_>, what: Arithmetic) -> Output {
    if op.execution_type.is_float() {
        return Value::Float(float_arithmetic(op, inputs, what)).into();
    }
    let [a, b, c] = integers(inputs);
    let b = if op.low_multiplier { b & 0xffff } else { b };
    integer(match what {
        // The adder has one bit more than a dword, so that the sign of a result is that of the exact sum. It
        // has no bit more than a qword: IGC's saturating addition relies on the sign of the wrapped sum.
        Arithmetic::Add if op.execution_type == Type::Q => i128::from((a + b) as i64),
        Arithmetic::Add => a + b,
        Arithmetic::MultiplyAdd => a + b * c,
        Arithmetic::Accumulate => inputs.accumulator.integer() + a * b,
        // There is no interpolation of integers.
        Arithmetic::Multiply | Arithmetic::Interpolate => a.wrapping_mul(b),
    })
}

/// `DF` results are rounded by the mode, those of other types to odd.
fn float_arithmetic(op: &Op, inputs: &Inputs<'_>, what: Arithmetic) -> f64 {
    let [a, b, c] = inputs.sources.map(Value::float);
    let rounding = inputs.mode.rounding;
    if op.execution_type == Type::DF {
        return match what {
            Arithmetic::Add => add_64(a, b, rounding),
            Arithmetic::Multiply => multiply_64(a, b, rounding),
            Arithmetic::MultiplyAdd => multiply_add_64(b, c, a, rounding),
            Arithmetic::Accumulate => multiply_add_64(a, b, inputs.accumulator.float(), rounding),
            Arithmetic::Interpolate => multiply_add_64(a, b, multiply_64(1.0 - a, c, rounding), rounding),
        };
    }
    let sum = |a, b| add_to_odd_signed(a, b, rounding);
    match what {
        Arithmetic::Add => sum(a, b),
        Arithmetic::Multiply => a * b,
        Arithmetic::MultiplyAdd => sum(b * c, a),
        Arithmetic::Accumulate => sum(a * b, inputs.accumulator.float()),
        Arithmetic::Interpolate => sum(a * b, (1.0 - a) * c),
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

/// `addc`, `subb`: the accumulator gets the carry or borrow of the exact result.
fn with_carry(exact: i128) -> Output {
    let carry = !(0..1 << 32).contains(&exact);
    Output { accumulator: Some(i64::from(carry)), ..integer(exact & 0xffff_ffff) }
}

/// Rounded to an integral value.
fn rounded(inputs: &Inputs<'_>, rounding: Rounding) -> Output {
    Value::Float(to_integral(inputs.sources[0].float(), rounding)).into()
}

/// The number of the bit that was found, all ones for none of 32.
fn first_bit(found: u32) -> Output {
    integer(if found == 32 { 0xffff_ffff } else { i128::from(found) })
}

/// `bfe`: width, offset, data.
fn extract_field(op: &Op, inputs: &Inputs<'_>) -> Output {
    let [a, b, c] = integers(inputs);
    let (width, offset) = (a as u32 & 31, b as u32 & 31);
    if width == 0 {
        return integer(0);
    }
    let left = 32u32.saturating_sub(offset + width);
    let right = if offset + width < 32 { 32 - width } else { offset };
    let moved = (c as u32) << left;
    let signed = op.src[2].ty.is_signed();
    integer(if signed { i128::from(moved as i32 >> right) } else { i128::from(moved >> right) })
}

/// The sum of the first `terms` products over the group of four channels that the channel belongs to; all four get
/// the same.
fn dot_product(inputs: &Inputs<'_>, terms: usize) -> f64 {
    let first = inputs.lane / 4 * 4;
    let product = |k: usize| (inputs.element)(0, first + k).float() * (inputs.element)(1, first + k).float();
    (1..terms).fold(product(0), |sum, k| sum + product(k))
}

fn extended_math(op: &Op, inputs: &Inputs<'_>) -> Output {
    use gencl_isa::MathFunction as M;
    let [a, b, _] = inputs.sources;
    let Some(function) = op.function else { return a.into() };
    let divide = || math::divide(a.integer(), b.integer(), op.src[0].ty.is_signed());
    match function {
        M::IntDivQuotient => integer(divide().0),
        M::IntDivRemainder => integer(divide().1),
        M::Inv
        | M::Log
        | M::Exp
        | M::Sqrt
        | M::Rsq
        | M::Sin
        | M::Cos
        | M::Fdiv
        | M::Pow
        | M::IntDivQuotientRemainder
        | M::Invm
        | M::Rsqrtm => Value::Float(math::float(function, a.float(), b.float()).unwrap_or(f64::NAN)).into(),
    }
}
