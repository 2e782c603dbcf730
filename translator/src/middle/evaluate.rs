//! What pure operations compute, element by element, as bits. Constants are folded by it, and the tests' interpreter computes with it.

use gencl_eu::dispatch::Rounding;
use gencl_eu::float::{from_f16, to_f16};

use super::op::{Binary, Convert, FloatRelation, Op, Relation, Unary};
use super::types::{Scalar, Type};

/// The low bits.
pub fn cut(value: u128, bits: u32) -> u128 {
    if bits >= 128 { value } else { value & ((1 << bits) - 1) }
}

fn signed(value: u128, bits: u32) -> i128 {
    let unused = 128 - bits;
    ((value << unused) as i128) >> unused
}

/// A float as a double, which holds it exactly.
fn double(bits: u128, scalar: Scalar) -> f64 {
    match scalar {
        Scalar::Half => from_f16(bits as u16),
        Scalar::Float => f64::from(f32::from_bits(bits as u32)),
        _ => f64::from_bits(bits as u64),
    }
}

/// The bits of a double as a float, rounded to nearest even.
fn narrow(value: f64, scalar: Scalar) -> u128 {
    match scalar {
        Scalar::Half => u128::from(to_f16(value, Rounding::NearestEven)),
        Scalar::Float => u128::from((value as f32).to_bits()),
        _ => u128::from(value.to_bits()),
    }
}

/// One lane of an operation on as many lanes of each operand; `None` where it is none of those, or undefined.
pub fn element(op: &Op, operands: &[u128], from: Type, to: Type) -> Option<u128> {
    let bits = from.scalar.bits();
    Some(match op {
        Op::Binary(binary) => return binary_element(*binary, operands[0], operands[1], to.scalar),
        Op::Unary(unary) => unary_element(*unary, operands[0], to.scalar),
        Op::Convert(convert) => return convert_element(*convert, operands[0], from.scalar, to.scalar),
        Op::Fma => {
            let [a, b, c] = [0, 1, 2].map(|n| operands[n]);
            match to.scalar {
                Scalar::Float => {
                    let [a, b, c] = [a, b, c].map(|v| f32::from_bits(v as u32));
                    u128::from(a.mul_add(b, c).to_bits())
                }
                Scalar::Double => {
                    let [a, b, c] = [a, b, c].map(|v| f64::from_bits(v as u64));
                    u128::from(a.mul_add(b, c).to_bits())
                }
                _ => return None,
            }
        }
        Op::ICmp(relation) => u128::from(compares(*relation, operands[0], operands[1], bits)),
        Op::FCmp(relation) => {
            let [a, b] = [0, 1].map(|n| double(operands[n], from.scalar));
            u128::from(compares_floats(*relation, a, b))
        }
        Op::Fence => operands[0],
        _ => return None,
    })
}

fn binary_element(binary: Binary, a: u128, b: u128, scalar: Scalar) -> Option<u128> {
    let bits = scalar.bits();
    let float = |operation: fn(f64, f64) -> f64, single: fn(f32, f32) -> f32| match scalar {
        Scalar::Float => u128::from(single(f32::from_bits(a as u32), f32::from_bits(b as u32)).to_bits()),
        _ => narrow(operation(double(a, scalar), double(b, scalar)), scalar),
    };
    let (x, y) = (signed(a, bits), signed(b, bits));
    let result = match binary {
        Binary::Add => a.wrapping_add(b),
        Binary::AddNuw => a.checked_add(b).filter(|sum| cut(*sum, bits) == *sum)?,
        Binary::Sub => a.wrapping_sub(b),
        Binary::Mul => a.wrapping_mul(b),
        Binary::And => a & b,
        Binary::Or => a | b,
        Binary::Xor => a ^ b,
        Binary::Shl | Binary::LShr | Binary::AShr if b >= u128::from(bits) => return None,
        Binary::Shl => a << b,
        Binary::LShr => a >> b,
        Binary::AShr => (x >> b) as u128,
        Binary::SDiv => x.checked_div(y)? as u128,
        Binary::SRem => x.checked_rem(y)? as u128,
        Binary::SMin => x.min(y) as u128,
        Binary::SMax => x.max(y) as u128,
        Binary::UMin => a.min(b),
        Binary::UMax => a.max(b),
        Binary::FAdd => float(|a, b| a + b, |a, b| a + b),
        Binary::FSub => float(|a, b| a - b, |a, b| a - b),
        Binary::FMul => float(|a, b| a * b, |a, b| a * b),
        Binary::FDiv => float(|a, b| a / b, |a, b| a / b),
    };
    Some(cut(result, bits))
}

fn unary_element(unary: Unary, a: u128, scalar: Scalar) -> u128 {
    let bits = scalar.bits();
    let sign = 1u128 << (bits - 1);
    let float = |operation: fn(f64) -> f64| narrow(operation(double(a, scalar)), scalar);
    match unary {
        Unary::FNeg => a ^ sign,
        Unary::FAbs => a & !sign,
        Unary::Sqrt if scalar == Scalar::Float => u128::from(f32::from_bits(a as u32).sqrt().to_bits()),
        Unary::Sqrt => float(f64::sqrt),
        Unary::Floor => float(f64::floor),
        Unary::Ceil => float(f64::ceil),
        Unary::Trunc => float(f64::trunc),
        Unary::RoundEven => float(f64::round_ties_even),
        Unary::Ctlz => u128::from(a.leading_zeros() - (128 - bits)),
        Unary::Cttz => u128::from(a.trailing_zeros().min(bits)),
        Unary::Ctpop => u128::from(a.count_ones()),
        Unary::BitReverse => a.reverse_bits() >> (128 - bits),
    }
}

fn convert_element(convert: Convert, a: u128, from: Scalar, to: Scalar) -> Option<u128> {
    let bits = to.bits();
    Some(match convert {
        Convert::Trunc => cut(a, bits),
        Convert::ZExt => a,
        Convert::SExt => cut(signed(a, from.bits()) as u128, bits),
        Convert::FPExt | Convert::FPTrunc => narrow(double(a, from), to),
        Convert::SIToFP => match to {
            Scalar::Float => u128::from((signed(a, from.bits()) as f32).to_bits()),
            _ => narrow(signed(a, from.bits()) as f64, to),
        },
        Convert::UIToFP => match to {
            Scalar::Float => u128::from((a as f32).to_bits()),
            _ => narrow(a as f64, to),
        },
        Convert::FPToSI | Convert::FPToUI => {
            let value = double(a, from).trunc();
            let limit = 2f64.powi(bits as i32 - i32::from(convert == Convert::FPToSI));
            let lowest = if convert == Convert::FPToSI { -limit } else { 0.0 };
            // What does not fit is any integer: a constant is made of none of these.
            if !(lowest..limit).contains(&value) {
                return None;
            }
            cut(value as i128 as u128, bits)
        }
        Convert::Bitcast => return None,
    })
}

fn compares(relation: Relation, a: u128, b: u128, bits: u32) -> bool {
    let (x, y) = (signed(a, bits), signed(b, bits));
    match relation {
        Relation::Eq => a == b,
        Relation::Ne => a != b,
        Relation::Ult => a < b,
        Relation::Ule => a <= b,
        Relation::Ugt => a > b,
        Relation::Uge => a >= b,
        Relation::Slt => x < y,
        Relation::Sle => x <= y,
        Relation::Sgt => x > y,
        Relation::Sge => x >= y,
    }
}

fn compares_floats(relation: FloatRelation, a: f64, b: f64) -> bool {
    let unordered = a.is_nan() || b.is_nan();
    match relation {
        FloatRelation::Oeq => a == b,
        FloatRelation::One => a != b && !unordered,
        FloatRelation::Olt => a < b,
        FloatRelation::Ole => a <= b,
        FloatRelation::Ogt => a > b,
        FloatRelation::Oge => a >= b,
        FloatRelation::Ord => !unordered,
        FloatRelation::Uno => unordered,
        FloatRelation::Une => a != b,
    }
}

/// All lanes of a pure operation, but for [`Op::Input`]; `None` where a lane is undefined.
pub fn lanes(op: &Op, operands: &[(&[u128], Type)], to: Type) -> Option<Vec<u128>> {
    let (first, from) = *operands.first()?;
    match op {
        Op::Select => {
            let chosen = |lane: usize| first[lane % first.len()] != 0;
            Some(
                (0..to.lanes.into()).map(|lane| operands[if chosen(lane) { 1 } else { 2 }].0[lane]).collect(),
            )
        }
        Op::Splat => Some(vec![first[0]; to.lanes.into()]),
        Op::Shuffle(order) => {
            let second = operands.get(1).map_or(&[][..], |(lanes, _)| lanes);
            let lane = |n: &u16| first.iter().chain(second).nth(usize::from(*n)).copied();
            order.iter().map(lane).collect()
        }
        Op::Convert(Convert::Bitcast) => Some(split(&joined(first, from.scalar.bits()), to)),
        Op::Bits => Some(split(&joined(first, 1), to)),
        Op::Mask => Some(split(&joined(first, from.scalar.bits()), to)),
        _ => (0..to.lanes.into())
            .map(|lane| {
                let own: Vec<u128> = operands.iter().map(|(lanes, _)| lanes[lane]).collect();
                element(op, &own, from, to)
            })
            .collect(),
    }
}

/// The bits of lanes, concatenated.
fn joined(lanes: &[u128], bits: u32) -> Vec<bool> {
    lanes.iter().flat_map(|lane| (0..bits).map(move |bit| lane >> bit & 1 != 0)).collect()
}

fn split(bits: &[bool], to: Type) -> Vec<u128> {
    let lane = |bits: &[bool]| bits.iter().rev().fold(0, |value, bit| value << 1 | u128::from(*bit));
    bits.chunks(to.scalar.bits() as usize).map(lane).collect()
}
