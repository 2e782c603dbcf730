//! Reference semantics: the result of each pure operation.
//!
//! Constant folding and the interpreter use it. The simulator does not: it is written independently, from the
//! hardware's documentation, so that each checks the other. Values are bits in the low end of a `u64`, zero
//! above; a Bool is 0 or 1.

use super::{BinaryOp, Condition, FloatFormat, Op, Rounding, TernaryOp, Type, UnaryOp};
use half::f16;

/// The result of an operation, or `None` when it is not a function of its sources: memory, inputs, control.
///
/// Operations of the MATH unit ([`super::signature::Signature::exact`]) are given as correctly rounded as the host computes them.
///
/// # Panics
/// When there are fewer sources than [`super::signature`] requires.
pub fn fold(op: &Op, srcs: &[u64]) -> Option<u64> {
    Some(match *op {
        Op::Immediate { bits, .. } => bits,
        Op::Unary(op, ty) => unary(op, ty, take(srcs)),
        Op::Binary(op, ty) => binary(op, ty, take(srcs)),
        Op::Ternary(op, ty) => ternary(op, ty, take(srcs)),
        Op::Compare(condition, ty) => u64::from(compare(condition, ty, take(srcs))),
        Op::Select(_) => {
            let [condition, a, b] = take(srcs);
            if condition != 0 { a } else { b }
        }
        Op::Convert { to, from, rounding, saturate } => convert(to, from, rounding, saturate, take(srcs)),
        Op::Pair => {
            let [low, high] = take(srcs);
            low | high << 32
        }
        Op::Half { upper } => {
            let [qword] = take(srcs);
            if upper { qword >> 32 } else { qword & u64::from(u32::MAX) }
        }
        Op::Input(_)
        | Op::Undefined
        | Op::Load { .. }
        | Op::Store { .. }
        | Op::Atomic { .. }
        | Op::Image(_)
        | Op::CrossLane(_)
        | Op::Barrier { .. }
        | Op::BarrierArrive { .. }
        | Op::BarrierWait
        | Op::Clock
        | Op::RaceCheck { .. }
        | Op::SubgroupBarrier { .. }
        | Op::Fence { .. }
        | Op::Jump(_)
        | Op::Branch { .. }
        | Op::Vote { .. }
        | Op::Leave { .. }
        | Op::Join { .. }
        | Op::Return => return None,
    })
}

fn take<const N: usize>(srcs: &[u64]) -> [u64; N] {
    std::array::from_fn(|index| srcs[index])
}

/// An integer's value.
fn int(ty: Type, bits: u64) -> i128 {
    if ty.is_signed() {
        let shift = 64 - ty.bits();
        i128::from((bits << shift) as i64 >> shift)
    } else {
        i128::from(bits & ty.mask())
    }
}

/// Smallest and largest integer of a type.
fn range(ty: Type) -> (i128, i128) {
    if ty.is_signed() {
        (-(1 << (ty.bits() - 1)), (1 << (ty.bits() - 1)) - 1)
    } else {
        (0, i128::from(ty.mask()))
    }
}

fn wrap(ty: Type, value: i128) -> u64 {
    value as u64 & ty.mask()
}

fn clamp(ty: Type, value: i128) -> u64 {
    let (low, high) = range(ty);
    wrap(ty, value.clamp(low, high))
}

/// The format of a float type.
fn format(ty: Type) -> FloatFormat {
    ty.float_format().expect("the type of a float")
}

/// A float's value; exact, as all float types are contained in f64.
fn float(ty: Type, bits: u64) -> f64 {
    match format(ty) {
        FloatFormat::Half => f16::from_bits(bits as u16).to_f64(),
        FloatFormat::Single => f64::from(f32::from_bits(bits as u32)),
        FloatFormat::Double => f64::from_bits(bits),
    }
}

/// Bits of a value rounded to nearest even.
fn round_to(ty: Type, value: f64) -> u64 {
    match format(ty) {
        FloatFormat::Half => f16::from_f32(round_to_odd_f32(value)).to_bits().into(),
        FloatFormat::Single => (value as f32).to_bits().into(),
        FloatFormat::Double => value.to_bits(),
    }
}

/// Rounds to f32 so that rounding again to fewer digits gives what rounding once would: inexact results get
/// an odd last digit (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums: proved algorithms
/// using rounding to odd", 2008).
fn round_to_odd_f32(value: f64) -> f32 {
    let nearest = value as f32;
    let back = f64::from(nearest);
    if value.is_nan() || back == value || nearest.to_bits() & 1 == 1 {
        nearest
    } else if back < value {
        nearest.next_up()
    } else {
        nearest.next_down()
    }
}

/// The sum, rounded to odd.
fn add_to_odd(a: f64, b: f64) -> f64 {
    let sum = a + b;
    let virtual_b = sum - a;
    let error = (a - (sum - virtual_b)) + (b - virtual_b);
    if !sum.is_finite() || error == 0.0 || sum.to_bits() & 1 == 1 {
        sum
    } else if error > 0.0 {
        sum.next_up()
    } else {
        sum.next_down()
    }
}

fn unary(op: UnaryOp, ty: Type, [a]: [u64; 1]) -> u64 {
    match op {
        UnaryOp::Mov => return a & ty.mask(),
        UnaryOp::Not => return !a & ty.mask(),
        _ => {}
    }
    if ty.is_float() { unary_float(op, ty, a) } else { unary_int(op, ty, a) }
}

fn unary_float(op: UnaryOp, ty: Type, bits: u64) -> u64 {
    let sign = 1u64 << (ty.bits() - 1);
    let a = float(ty, bits);
    // Functions of f32 are computed in f64 and rounded, which is as good as correctly rounded.
    let value = match op {
        UnaryOp::Neg => return bits ^ sign,
        UnaryOp::Abs => return bits & !sign,
        UnaryOp::Floor => a.floor(),
        UnaryOp::Ceil => a.ceil(),
        UnaryOp::Trunc => a.trunc(),
        UnaryOp::RoundEven => a.round_ties_even(),
        UnaryOp::Rcp => a.recip(),
        UnaryOp::Rsqrt => a.sqrt().recip(),
        UnaryOp::Sqrt => a.sqrt(),
        UnaryOp::Exp2 => a.exp2(),
        UnaryOp::Log2 => a.log2(),
        UnaryOp::Sin => a.sin(),
        UnaryOp::Cos => a.cos(),
        UnaryOp::Canonicalize
        | UnaryOp::Mov
        | UnaryOp::Not
        | UnaryOp::LeadingZeros
        | UnaryOp::TrailingZeros
        | UnaryOp::PopCount
        | UnaryOp::BitReverse => a,
    };
    round_to(ty, value)
}

fn unary_int(op: UnaryOp, ty: Type, bits: u64) -> u64 {
    let width = ty.bits();
    let a = bits & ty.mask();
    match op {
        UnaryOp::Neg => wrap(ty, -int(ty, a)),
        UnaryOp::Abs => wrap(ty, int(ty, a).abs()),
        UnaryOp::LeadingZeros => u64::from(a.leading_zeros() - (64 - width)),
        UnaryOp::TrailingZeros => u64::from(a.trailing_zeros().min(width)),
        UnaryOp::PopCount => a.count_ones().into(),
        UnaryOp::BitReverse => a.reverse_bits() >> (64 - width),
        // The rest are operations of floats; `signature` keeps them from integers.
        UnaryOp::Mov
        | UnaryOp::Not
        | UnaryOp::Floor
        | UnaryOp::Ceil
        | UnaryOp::Trunc
        | UnaryOp::RoundEven
        | UnaryOp::Rcp
        | UnaryOp::Rsqrt
        | UnaryOp::Sqrt
        | UnaryOp::Exp2
        | UnaryOp::Log2
        | UnaryOp::Sin
        | UnaryOp::Cos
        | UnaryOp::Canonicalize => a,
    }
}

fn binary(op: BinaryOp, ty: Type, [a, b]: [u64; 2]) -> u64 {
    match op {
        BinaryOp::And => return a & b & ty.mask(),
        BinaryOp::Or => return (a | b) & ty.mask(),
        BinaryOp::Xor => return (a ^ b) & ty.mask(),
        _ => {}
    }
    if ty.is_float() { binary_float(op, ty, a, b) } else { binary_int(op, ty, a, b) }
}

fn binary_float(op: BinaryOp, ty: Type, a_bits: u64, b_bits: u64) -> u64 {
    let (a, b) = (float(ty, a_bits), float(ty, b_bits));
    // One operation in f64 rounded to f32 or f16 is correctly rounded: f64 has more than twice their digits.
    let value = match op {
        BinaryOp::Add => a + b,
        BinaryOp::Sub => a - b,
        BinaryOp::Mul => a * b,
        BinaryOp::FastDiv => a / b,
        BinaryOp::Pow => a.powf(b),
        BinaryOp::Min | BinaryOp::Max => {
            let takes_a = if op == BinaryOp::Min { a < b } else { a >= b };
            return if b.is_nan() || (takes_a && !a.is_nan()) { a_bits } else { b_bits };
        }
        BinaryOp::MulHigh
        | BinaryOp::Div
        | BinaryOp::Rem
        | BinaryOp::Shl
        | BinaryOp::Shr
        | BinaryOp::And
        | BinaryOp::Or
        | BinaryOp::Xor
        | BinaryOp::AddSat
        | BinaryOp::SubSat
        | BinaryOp::Avg => return a_bits,
    };
    round_to(ty, value)
}

fn binary_int(op: BinaryOp, ty: Type, a_bits: u64, b_bits: u64) -> u64 {
    let (a, b) = (int(ty, a_bits), int(ty, b_bits));
    let shift = (b_bits & u64::from(ty.bits() - 1)) as u32;
    match op {
        BinaryOp::Add => wrap(ty, a + b),
        BinaryOp::Sub => wrap(ty, a - b),
        BinaryOp::Mul => wrap(ty, a.wrapping_mul(b)),
        BinaryOp::MulHigh => wrap(ty, mul_high(ty, a, b)),
        // Undefined values, given as the hardware's integer division gives them.
        BinaryOp::Div if b == 0 => ty.mask(),
        BinaryOp::Rem if b == 0 => ty.mask(),
        BinaryOp::Div => wrap(ty, a / b),
        BinaryOp::Rem => wrap(ty, a % b),
        BinaryOp::Shl => wrap(ty, a << shift),
        BinaryOp::Shr => wrap(ty, a >> shift),
        BinaryOp::Min => wrap(ty, a.min(b)),
        BinaryOp::Max => wrap(ty, a.max(b)),
        BinaryOp::AddSat => clamp(ty, a + b),
        BinaryOp::SubSat => clamp(ty, a - b),
        BinaryOp::Avg => wrap(ty, (a + b + 1) >> 1),
        // The rest are handled before or are operations of floats.
        BinaryOp::And | BinaryOp::Or | BinaryOp::Xor | BinaryOp::Pow | BinaryOp::FastDiv => a_bits,
    }
}

/// The product of two 64-bit unsigned numbers does not fit an i128, that of all others does.
fn mul_high(ty: Type, a: i128, b: i128) -> i128 {
    if ty == Type::U64 { ((a as u128 * b as u128) >> 64) as i128 } else { (a * b) >> ty.bits() }
}

fn ternary(op: TernaryOp, ty: Type, [a, b, c]: [u64; 3]) -> u64 {
    match op {
        TernaryOp::BitSelect => ((b & a) | (c & !a)) & ty.mask(),
        TernaryOp::Mad => match ty.float_format() {
            Some(FloatFormat::Single) => {
                let [a, b, c] = [a, b, c].map(|x| f32::from_bits(x as u32));
                a.mul_add(b, c).to_bits().into()
            }
            // The product of two f16 is exact in f64.
            Some(FloatFormat::Half) => round_to(ty, add_to_odd(float(ty, a) * float(ty, b), float(ty, c))),
            Some(FloatFormat::Double) => float(ty, a).mul_add(float(ty, b), float(ty, c)).to_bits(),
            None => wrap(ty, int(ty, a).wrapping_mul(int(ty, b)).wrapping_add(int(ty, c))),
        },
    }
}

fn compare(condition: Condition, ty: Type, [a, b]: [u64; 2]) -> bool {
    use std::cmp::Ordering;
    let order = if ty.is_float() {
        float(ty, a).partial_cmp(&float(ty, b))
    } else {
        Some(int(ty, a).cmp(&int(ty, b)))
    };
    match condition {
        Condition::Equal => order == Some(Ordering::Equal),
        Condition::NotEqual => order != Some(Ordering::Equal),
        Condition::Less => order == Some(Ordering::Less),
        Condition::LessEqual => matches!(order, Some(Ordering::Less | Ordering::Equal)),
        Condition::Greater => order == Some(Ordering::Greater),
        Condition::GreaterEqual => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
    }
}

fn convert(to: Type, from: Type, rounding: Rounding, saturate: bool, [bits]: [u64; 1]) -> u64 {
    match (to.is_float(), from.is_float()) {
        (false, false) if from == Type::Bool => bits & 1,
        (false, false) if saturate => clamp(to, int(from, bits)),
        (false, false) => wrap(to, int(from, bits)),
        (false, true) => {
            let value = float(from, bits);
            let rounded = match rounding {
                Rounding::Default | Rounding::TowardZero => value.trunc(),
                Rounding::NearestEven => value.round_ties_even(),
                Rounding::Up => value.ceil(),
                Rounding::Down => value.floor(),
            };
            // Out of range without saturation is undefined; clamped as well, as the hardware does.
            let (low, high) = range(to);
            wrap(to, (rounded as i128).clamp(low, high))
        }
        (true, false) => {
            let value = if from == Type::Bool { i128::from(bits & 1) } else { int(from, bits) };
            int_to_float(to, value, rounding)
        }
        (true, true) => round_float(to, float(from, bits), rounding),
    }
}

/// Rounds an integer to a float type.
fn int_to_float(to: Type, value: i128, rounding: Rounding) -> u64 {
    let nearest = match format(to) {
        FloatFormat::Half => return int_to_f16(value, rounding),
        FloatFormat::Single => (value as f32).to_bits().into(),
        FloatFormat::Double => (value as f64).to_bits(),
    };
    // `as` rounds to nearest even; one step corrects it for the other modes.
    let back = float(to, nearest) as i128;
    step(to, nearest, back.cmp(&value), rounding)
}

/// Integers beyond 2^17 are beyond all of f16, and those below are exact in f64.
fn int_to_f16(value: i128, rounding: Rounding) -> u64 {
    round_float(Type::F16, value.clamp(-(1 << 20), 1 << 20) as f64, rounding)
}

/// Rounds a value to a float type.
fn round_float(to: Type, value: f64, rounding: Rounding) -> u64 {
    let nearest = round_to(to, value);
    match float(to, nearest).partial_cmp(&value) {
        Some(order) => step(to, nearest, order, rounding),
        None => nearest,
    }
}

/// The neighbour on the right side of the exact value, given how the nearest float compares with it.
fn step(ty: Type, nearest: u64, order: std::cmp::Ordering, rounding: Rounding) -> u64 {
    use std::cmp::Ordering::{Equal, Greater, Less};
    let sign = 1u64 << (ty.bits() - 1);
    let negative = nearest & sign != 0;
    let up = match rounding {
        Rounding::Default | Rounding::NearestEven => return nearest,
        Rounding::Up => order == Less,
        Rounding::Down => false,
        Rounding::TowardZero => order == Less && negative,
    };
    let down = match rounding {
        Rounding::Down => order == Greater,
        Rounding::TowardZero => order == Greater && !negative,
        Rounding::Default | Rounding::NearestEven | Rounding::Up => false,
    };
    match (up, down, order) {
        (false, false, _) | (_, _, Equal) => nearest,
        // Magnitudes count up away from zero.
        (true, _, _) => {
            if nearest & !sign == 0 {
                1
            } else if negative {
                nearest - 1
            } else {
                nearest + 1
            }
        }
        (_, true, _) => {
            if nearest & !sign == 0 {
                sign | 1
            } else if negative {
                nearest + 1
            } else {
                nearest - 1
            }
        }
    }
}

#[cfg(test)]
mod tests;
