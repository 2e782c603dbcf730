//! The semantics against Rust's own operators, and against known values where Rust has none.

use super::fold;
use crate::ir::{BinaryOp, Condition, Op, Rounding, TernaryOp, Type, UnaryOp};
use half::f16;
use proptest::prelude::*;

fn unary(op: UnaryOp, ty: Type, a: u64) -> u64 {
    fold(&Op::Unary(op, ty), &[a]).expect("it is pure")
}

fn binary(op: BinaryOp, ty: Type, a: u64, b: u64) -> u64 {
    fold(&Op::Binary(op, ty), &[a, b]).expect("it is pure")
}

fn convert(to: Type, from: Type, rounding: Rounding, saturate: bool, a: u64) -> u64 {
    fold(&Op::Convert { to, from, rounding, saturate }, &[a]).expect("it is pure")
}

/// One integer type against Rust's.
macro_rules! integers {
    ($($name:ident: $rust:ty, $unsigned:ty, $ty:expr;)*) => {$(
        proptest! {
            #[test]
            fn $name(a in any::<$rust>(), b in any::<$rust>()) {
                let bits = |x: $rust| u64::from(x as $unsigned);
                let expected = [
                    (BinaryOp::Add, a.wrapping_add(b)),
                    (BinaryOp::Sub, a.wrapping_sub(b)),
                    (BinaryOp::Mul, a.wrapping_mul(b)),
                    (BinaryOp::And, a & b),
                    (BinaryOp::Or, a | b),
                    (BinaryOp::Xor, a ^ b),
                    (BinaryOp::Min, a.min(b)),
                    (BinaryOp::Max, a.max(b)),
                    (BinaryOp::AddSat, a.saturating_add(b)),
                    (BinaryOp::SubSat, a.saturating_sub(b)),
                    (BinaryOp::Shl, a.wrapping_shl(b as u32)),
                    (BinaryOp::Shr, a.wrapping_shr(b as u32)),
                    (BinaryOp::Avg, ((i128::from(a) + i128::from(b) + 1) >> 1) as $rust),
                ];
                for (op, value) in expected {
                    prop_assert_eq!(binary(op, $ty, bits(a), bits(b)), bits(value), "{:?}", op);
                }
                if b != 0 {
                    prop_assert_eq!(binary(BinaryOp::Div, $ty, bits(a), bits(b)), bits(a.wrapping_div(b)));
                    prop_assert_eq!(binary(BinaryOp::Rem, $ty, bits(a), bits(b)), bits(a.wrapping_rem(b)));
                }
                let expected = [
                    (UnaryOp::Mov, bits(a)),
                    (UnaryOp::Not, bits(!a)),
                    (UnaryOp::Neg, bits(a.wrapping_neg())),
                    (UnaryOp::LeadingZeros, a.leading_zeros().into()),
                    (UnaryOp::TrailingZeros, a.trailing_zeros().into()),
                    (UnaryOp::PopCount, a.count_ones().into()),
                    (UnaryOp::BitReverse, bits(a.reverse_bits())),
                ];
                for (op, value) in expected {
                    prop_assert_eq!(unary(op, $ty, bits(a)), value, "{:?}", op);
                }
                let expected = [
                    (Condition::Equal, a == b),
                    (Condition::NotEqual, a != b),
                    (Condition::Less, a < b),
                    (Condition::LessEqual, a <= b),
                    (Condition::Greater, a > b),
                    (Condition::GreaterEqual, a >= b),
                ];
                for (condition, value) in expected {
                    let found = fold(&Op::Compare(condition, $ty), &[bits(a), bits(b)]);
                    prop_assert_eq!(found, Some(u64::from(value)), "{:?}", condition);
                }
                let mad = fold(&Op::Ternary(TernaryOp::Mad, $ty), &[bits(a), bits(b), bits(a)]);
                prop_assert_eq!(mad, Some(bits(a.wrapping_mul(b).wrapping_add(a))));
                let f32_bits = |x: f32| u64::from(x.to_bits());
                let to_f32 = convert(Type::F32, $ty, Rounding::Default, false, bits(a));
                prop_assert_eq!(to_f32, f32_bits(a as f32));
                let to_f64 = convert(Type::F64, $ty, Rounding::Default, false, bits(a));
                prop_assert_eq!(to_f64, (a as f64).to_bits());
            }
        }
    )*};
}

integers! {
    s8: i8, u8, Type::S8;
    u8_: u8, u8, Type::U8;
    s16: i16, u16, Type::S16;
    u16_: u16, u16, Type::U16;
    s32: i32, u32, Type::S32;
    u32_: u32, u32, Type::U32;
    s64: i64, u64, Type::S64;
    u64_: u64, u64, Type::U64;
}

proptest! {
    #[test]
    fn products_of_64_bits(a in any::<u64>(), b in any::<u64>()) {
        let high = ((u128::from(a) * u128::from(b)) >> 64) as u64;
        prop_assert_eq!(binary(BinaryOp::MulHigh, Type::U64, a, b), high);
        let high = ((i128::from(a as i64) * i128::from(b as i64)) >> 64) as u64;
        prop_assert_eq!(binary(BinaryOp::MulHigh, Type::S64, a, b), high);
    }

    #[test]
    fn f32_arithmetic(a in any::<u32>(), b in any::<u32>(), c in any::<u32>()) {
        let [x, y, z] = [a, b, c].map(f32::from_bits);
        let [a, b, c] = [a, b, c].map(u64::from);
        let cases = [
            (binary(BinaryOp::Add, Type::F32, a, b), x + y),
            (binary(BinaryOp::Sub, Type::F32, a, b), x - y),
            (binary(BinaryOp::Mul, Type::F32, a, b), x * y),
            (binary(BinaryOp::FastDiv, Type::F32, a, b), x / y),
            (binary(BinaryOp::Min, Type::F32, a, b), if y.is_nan() || x < y { x } else { y }),
            (unary(UnaryOp::Sqrt, Type::F32, a), x.sqrt()),
            (unary(UnaryOp::RoundEven, Type::F32, a), x.round_ties_even()),
            (fold(&Op::Ternary(TernaryOp::Mad, Type::F32), &[a, b, c]).expect("pure"), x.mul_add(y, z)),
        ];
        for (index, (found, expected)) in cases.into_iter().enumerate() {
            let found = f32::from_bits(found as u32);
            prop_assert!(
                found.to_bits() == expected.to_bits() || (found.is_nan() && expected.is_nan()),
                "case {index}: {found} instead of {expected}"
            );
        }
        prop_assert_eq!(convert(Type::S32, Type::F32, Rounding::Default, true, a), u64::from(x as i32 as u32));
        prop_assert_eq!(convert(Type::U8, Type::F32, Rounding::Default, true, a), u64::from(x as u8));
        let wide = convert(Type::F64, Type::F32, Rounding::Default, false, a);
        prop_assert!(x.is_nan() || wide == f64::from(x).to_bits());
    }

    /// The directed roundings enclose the value, and one of them is the nearest.
    #[test]
    fn directed_roundings_to_f32(bits in any::<u64>()) {
        let value = f64::from_bits(bits);
        prop_assume!(value.is_finite());
        let round = |rounding| {
            f64::from(f32::from_bits(convert(Type::F32, Type::F64, rounding, false, bits) as u32))
        };
        let (down, up, zero) = (round(Rounding::Down), round(Rounding::Up), round(Rounding::TowardZero));
        prop_assert!(down <= value && value <= up);
        prop_assert_eq!(zero.abs(), down.abs().min(up.abs()));
        prop_assert!([down, up].contains(&round(Rounding::NearestEven)));
        if down != up {
            prop_assert_eq!((down as f32).next_up(), up as f32);
        }
    }

    /// A conversion through the digits of an i128.
    #[test]
    fn integers_rounded_to_f32(value in any::<i64>()) {
        let round = |rounding| f32::from_bits(convert(Type::F32, Type::S64, rounding, false, value as u64) as u32);
        let exact = i128::from(value);
        prop_assert!(round(Rounding::Down) as i128 <= exact && exact <= round(Rounding::Up) as i128);
        prop_assert!((round(Rounding::TowardZero) as i128).abs() <= exact.abs());
    }

    /// f16 has so few digits that f64 shows every tie.
    #[test]
    fn f16_is_rounded_once(value in -70000f64..70000f64, small in -30i32..30) {
        let value = value * f64::from(small).exp2();
        let found = f16::from_bits(convert(Type::F16, Type::F64, Rounding::Default, false, value.to_bits()) as u16);
        let down = f16::from_bits(convert(Type::F16, Type::F64, Rounding::Down, false, value.to_bits()) as u16);
        let up = f16::from_bits(convert(Type::F16, Type::F64, Rounding::Up, false, value.to_bits()) as u16);
        if up.is_finite() && down.is_finite() {
            let (below, above) = (value - down.to_f64(), up.to_f64() - value);
            let expected = match below.total_cmp(&above) {
                std::cmp::Ordering::Less => down,
                std::cmp::Ordering::Greater => up,
                std::cmp::Ordering::Equal => if down.to_bits() & 1 == 0 { down } else { up },
            };
            prop_assert_eq!(found, expected);
        }
    }
}

#[test]
fn a_tie_of_f16_that_the_low_digits_break() {
    // 1 + 2^-11 is between two f16; 2^-50 more is above the tie.
    let tie = 1.0 + 2f64.powi(-11);
    let to_f16 = |x: f64| convert(Type::F16, Type::F64, Rounding::Default, false, x.to_bits());
    assert_eq!(to_f16(tie), 0x3c00);
    assert_eq!(to_f16(tie + 2f64.powi(-50)), 0x3c01);
    // 2048 * 1 + (1 + 2^-10): a tie of the sum broken by the addend's last digit.
    let bits = |x: f32| u64::from(f16::from_f32(x).to_bits());
    let mad = |a, b, c| fold(&Op::Ternary(TernaryOp::Mad, Type::F16), &[bits(a), bits(b), bits(c)]);
    assert_eq!(mad(2048.0, 1.0, 1.0), Some(bits(2048.0)));
    assert_eq!(mad(2048.0, 1.0, 1.0 + 2f32.powi(-10)), Some(bits(2050.0)));
    // 32768 - 2^-48: an exact product so small that it vanishes in f64's sum.
    assert_eq!(mad(2f32.powi(-24), -(2f32.powi(-24)), 32768.0), Some(bits(32768.0)));
}

#[test]
fn not_a_number() {
    let nan = u64::from(f32::NAN.to_bits());
    let one = u64::from(1f32.to_bits());
    for condition in Condition::ALL {
        let expected = u64::from(*condition == Condition::NotEqual);
        assert_eq!(fold(&Op::Compare(*condition, Type::F32), &[nan, one]), Some(expected));
    }
    assert_eq!(binary(BinaryOp::Max, Type::F32, nan, one), one);
    assert_eq!(binary(BinaryOp::Min, Type::F32, one, nan), one);
    assert_eq!(convert(Type::S32, Type::F32, Rounding::Default, true, nan), 0);
}

#[test]
fn truth_values() {
    assert_eq!(unary(UnaryOp::Not, Type::Bool, 1), 0);
    assert_eq!(unary(UnaryOp::Not, Type::Bool, 0), 1);
    assert_eq!(convert(Type::F32, Type::Bool, Rounding::Default, false, 1), u64::from(1f32.to_bits()));
    assert_eq!(convert(Type::S32, Type::Bool, Rounding::Default, false, 1), 1);
    assert_eq!(fold(&Op::Select(Type::U8), &[1, 7, 9]), Some(7));
    assert_eq!(fold(&Op::Select(Type::U8), &[0, 7, 9]), Some(9));
    let select = Op::Ternary(TernaryOp::BitSelect, Type::U8);
    assert_eq!(fold(&select, &[0b1100, 0b1010, 0b0101]), Some(0b1001));
    assert_eq!(fold(&Op::Return, &[]), None);
}
