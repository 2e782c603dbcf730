//! Floating-point arithmetic in all rounding modes, correctly rounded.
//!
//! `HF` and `F` operations compute in `f64` and round to odd there ([`crate::odd`]).

use crate::dispatch::Rounding;
use crate::odd::add_to_odd;

/// Sets the sign of a zero sum: it is negative when rounding down, unless both operands are positive (IEEE
/// 754, 6.3).
fn signed_sum(sum: f64, a: f64, b: f64, rounding: Rounding) -> f64 {
    let down = rounding == Rounding::Down && sum == 0.0;
    if down && (a.is_sign_negative() || b.is_sign_negative()) { -0.0 } else { sum }
}

/// The sum, rounded to odd; a zero has the sign that `rounding` requires.
pub fn add_to_odd_signed(a: f64, b: f64, rounding: Rounding) -> f64 {
    signed_sum(add_to_odd(a, b), a, b, rounding)
}

/// Changes a result that was rounded to nearest to another rounding mode; `error` is the exact result minus
/// `nearest`.
fn direct_64(nearest: f64, error: f64, rounding: Rounding) -> f64 {
    if nearest.is_nan() || error == 0.0 || error.is_nan() {
        return nearest;
    }
    match rounding {
        Rounding::Up if error > 0.0 => nearest.next_up(),
        Rounding::Down if error < 0.0 => nearest.next_down(),
        Rounding::Zero if error > 0.0 && nearest < 0.0 => nearest.next_up(),
        Rounding::Zero if error < 0.0 && nearest > 0.0 => nearest.next_down(),
        _ => nearest,
    }
}

/// The error of a result that is infinite by overflow.
fn overflow_error(nearest: f64, inputs_finite: bool) -> Option<f64> {
    (nearest.is_infinite() && inputs_finite).then(|| -nearest)
}

/// The sum of `DF` values.
pub fn add_64(a: f64, b: f64, rounding: Rounding) -> f64 {
    let sum = a + b;
    let other = sum - a;
    let error =
        overflow_error(sum, a.is_finite() && b.is_finite()).unwrap_or((a - (sum - other)) + (b - other));
    direct_64(signed_sum(sum, a, b, rounding), error, rounding)
}

/// The product of `DF` values.
pub fn multiply_64(a: f64, b: f64, rounding: Rounding) -> f64 {
    let product = a * b;
    let error =
        overflow_error(product, a.is_finite() && b.is_finite()).unwrap_or_else(|| a.mul_add(b, -product));
    direct_64(product, error, rounding)
}

/// `a * b + c` of `DF` values with one rounding.
pub fn multiply_add_64(a: f64, b: f64, c: f64, rounding: Rounding) -> f64 {
    let result = a.mul_add(b, c);
    let product = a * b;
    let finite = a.is_finite() && b.is_finite() && c.is_finite();
    let error = overflow_error(result, finite).unwrap_or_else(|| {
        let product_error = a.mul_add(b, -product);
        let sum = product + c;
        let other = sum - product;
        let sum_error = (product - (sum - other)) + (c - other);
        (sum - result) + (sum_error + product_error)
    });
    direct_64(signed_sum(result, product, c, rounding), error, rounding)
}

/// Rounds to `F`.
pub fn to_f32(value: f64, rounding: Rounding) -> f32 {
    let nearest = value as f32;
    if value.is_nan() || value.is_infinite() {
        return nearest;
    }
    let back = f64::from(nearest);
    match rounding {
        Rounding::Up if back < value => nearest.next_up(),
        Rounding::Down if back > value => nearest.next_down(),
        Rounding::Zero if back < value && value < 0.0 => nearest.next_up(),
        Rounding::Zero if back > value && value > 0.0 => nearest.next_down(),
        _ => nearest,
    }
}

/// The value of an `HF`.
#[inline]
pub fn from_f16(bits: u16) -> f64 {
    let sign = if bits & 0x8000 != 0 { -1.0 } else { 1.0 };
    let mantissa = f64::from(bits & 0x3ff);
    match bits >> 10 & 0x1f {
        0 => sign * mantissa * f64::from_bits((1023 - 24) << 52),
        0x1f if mantissa == 0.0 => sign * f64::INFINITY,
        0x1f => f64::from_bits(
            u64::from(bits >> 15) << 63 | 0x7ff8_0000_0000_0000 | u64::from(bits & 0x3ff) << 42,
        ),
        exponent => {
            let scale = f64::from_bits(u64::from(exponent + 1023 - 15) << 52);
            sign * scale * (1.0 + mantissa / 1024.0)
        }
    }
}

/// Rounds to `HF`.
pub fn to_f16(value: f64, rounding: Rounding) -> u16 {
    let sign = ((value.to_bits() >> 63) as u16) << 15;
    if value.is_nan() {
        return sign | 0x7e00 | (value.to_bits() >> 42) as u16 & 0x1ff;
    }
    let magnitude = value.abs();
    if magnitude.is_infinite() {
        return sign | 0x7c00;
    }
    // In units in the last place at the value's exponent (at least that of the smallest normal, 2^-14).
    let exponent = ((magnitude.to_bits() >> 52) as i32 - 1023).max(-14);
    let units = magnitude * f64::from_bits(((1023 + 10 - exponent).clamp(1, 2046) as u64) << 52);
    let whole = units.floor();
    let rest = units - whole;
    let up = match rounding {
        Rounding::NearestEven => rest > 0.5 || rest == 0.5 && whole % 2.0 == 1.0,
        Rounding::Up => rest > 0.0 && sign == 0,
        Rounding::Down => rest > 0.0 && sign != 0,
        Rounding::Zero => false,
    };
    let whole = whole as u64 + u64::from(up);
    // A carry out of the mantissa increments the exponent.
    let bits = ((exponent + 14) as u64) * 1024 + whole;
    if bits >= 0x7c00 {
        let to_infinity = match rounding {
            Rounding::NearestEven => true,
            Rounding::Up => sign == 0,
            Rounding::Down => sign != 0,
            Rounding::Zero => false,
        };
        return sign | if to_infinity { 0x7c00 } else { 0x7bff };
    }
    sign | bits as u16
}

/// An integer as `f64`, rounded to odd.
pub fn integer_to_odd(value: i128) -> f64 {
    let magnitude = value.unsigned_abs();
    let bits = 128 - magnitude.leading_zeros();
    let rounded = if bits <= 53 {
        magnitude as f64
    } else {
        let drop = bits - 53;
        let sticky = u128::from(magnitude & ((1 << drop) - 1) != 0);
        (((magnitude >> drop) | sticky) as f64) * 2f64.powi(drop as i32)
    };
    if value < 0 { -rounded } else { rounded }
}

/// An integer as `DF`.
pub fn integer_to_f64(value: i128, rounding: Rounding) -> f64 {
    let nearest = value as f64;
    let error = (value - nearest as i128) as f64;
    direct_64(nearest, error, rounding)
}

/// Replaces a denormal by a zero of the same sign.
#[inline(always)]
pub fn flush_32(value: f32) -> f32 {
    let bits = value.to_bits();
    f32::from_bits(if bits & 0x7f80_0000 == 0 { bits & 0x8000_0000 } else { bits })
}

/// As [`flush_32`].
pub fn flush_64(value: f64) -> f64 {
    if value.is_subnormal() { 0f64.copysign(value) } else { value }
}

/// As [`flush_32`].
pub fn flush_16(bits: u16) -> u16 {
    if bits & 0x7c00 == 0 { bits & 0x8000 } else { bits }
}

/// Rounds to an integral value (`rndu`, `rndd`, `rnde`, `rndz`).
pub fn to_integral(value: f64, rounding: Rounding) -> f64 {
    match rounding {
        Rounding::NearestEven => value.round_ties_even(),
        Rounding::Up => value.ceil(),
        Rounding::Down => value.floor(),
        Rounding::Zero => value.trunc(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::odd::divide_to_odd;

    #[test]
    fn half_floats_survive_a_round_trip() {
        for bits in 0..=u16::MAX {
            let value = from_f16(bits);
            if value.is_nan() {
                assert!(from_f16(to_f16(value, Rounding::NearestEven)).is_nan());
                continue;
            }
            for mode in [Rounding::NearestEven, Rounding::Up, Rounding::Down, Rounding::Zero] {
                assert_eq!(to_f16(value, mode), bits, "{value}");
            }
        }
    }

    #[test]
    fn half_floats_round() {
        // 1 + 2^-11 lies between 1 and the next half float.
        let tie = 1.0 + 2f64.powi(-11);
        assert_eq!(to_f16(tie, Rounding::NearestEven), 0x3c00);
        assert_eq!(to_f16(tie, Rounding::Up), 0x3c01);
        assert_eq!(to_f16(-tie, Rounding::Up), 0xbc00);
        assert_eq!(to_f16(-tie, Rounding::Down), 0xbc01);
        assert_eq!(to_f16(tie, Rounding::Zero), 0x3c00);
        assert_eq!(to_f16(65520.0, Rounding::NearestEven), 0x7c00);
        assert_eq!(to_f16(65519.0, Rounding::NearestEven), 0x7bff);
        assert_eq!(to_f16(1e30, Rounding::Zero), 0x7bff);
        assert_eq!(to_f16(2f64.powi(-25), Rounding::NearestEven), 0);
        assert_eq!(to_f16(2f64.powi(-25), Rounding::Up), 1);
        assert_eq!(to_f16(1e-300, Rounding::NearestEven), 0);
        assert_eq!(to_f16(1e-300, Rounding::Up), 1);
    }

    #[test]
    fn directed_rounding_brackets_the_exact_result() {
        let third = divide_to_odd(1.0, 3.0);
        assert_eq!(to_f32(third, Rounding::Down).next_up(), to_f32(third, Rounding::Up));
        assert_eq!(to_f32(third, Rounding::Zero), to_f32(third, Rounding::Down));
        assert_eq!(to_f32(-third, Rounding::Zero), -to_f32(third, Rounding::Down));
        assert_eq!(to_f32(1e300, Rounding::Zero), f32::MAX);
        assert_eq!(to_f32(1e300, Rounding::NearestEven), f32::INFINITY);
        let tiny = 2f64.powi(-80);
        assert_eq!(add_64(1.0, tiny, Rounding::Up), 1f64.next_up());
        assert_eq!(add_64(1.0, -tiny, Rounding::Zero), 1f64.next_down());
        assert_eq!(add_64(1.0, tiny, Rounding::NearestEven), 1.0);
        assert_eq!(multiply_64(f64::MAX, 2.0, Rounding::Zero), f64::MAX);
        assert_eq!(multiply_64(f64::MAX, 2.0, Rounding::Up), f64::INFINITY);
        for (a, b, negative) in
            [(1.0, -1.0, true), (0.0, -0.0, true), (0.0, 0.0, false), (f64::INFINITY, 0.0, false)]
        {
            let sums = [
                add_64(a, b, Rounding::Down),
                add_to_odd_signed(a, b, Rounding::Down),
                multiply_add_64(a, 1.0, b, Rounding::Down),
            ];
            assert!(sums.iter().all(|sum| sum.is_sign_negative() == negative), "{a} + {b}: {sums:?}");
        }
        assert_eq!(integer_to_f64(i128::from(u64::MAX), Rounding::Zero), 18446744073709549568.0);
        assert_eq!(to_f32(integer_to_odd(0x1000_0001), Rounding::Up), 268435488.0);
    }
}
