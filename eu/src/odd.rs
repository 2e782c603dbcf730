//! Doubles rounded to odd: the last bit of a result that is not exact is set.
//!
//! Rounding that to a narrower type, in any mode, gives what a single rounding of the exact result gives, because
//! `f64` has more than two bits more than twice the mantissas of `HF` and `F`
//! (S. Boldo, G. Melquiond: "Emulation of FMA and Correctly Rounded Sums").

/// The sum, rounded to odd.
#[inline(always)]
pub fn add_to_odd(a: f64, b: f64) -> f64 {
    let sum = a + b;
    let other = sum - a;
    let error = (a - (sum - other)) + (b - other);
    to_odd(sum, error)
}

/// Rounds `value + error` to odd, where `value` is that sum rounded to nearest. A NaN `error` (from
/// infinities) counts as 0.
#[inline(always)]
fn to_odd(value: f64, error: f64) -> f64 {
    let bits = value.to_bits();
    let inexact = (error > 0.0) | (error < 0.0);
    let away = (error > 0.0) == (value > 0.0);
    let step = if away { 1 } else { u64::MAX };
    f64::from_bits(if inexact & (bits & 1 == 0) { bits.wrapping_add(step) } else { bits })
}

/// `a * b + c` of `F` values with one rounding, to nearest even.
#[inline(always)]
pub fn multiply_add_32(a: f32, b: f32, c: f32) -> f32 {
    // The product of two 24-bit mantissas is exact.
    add_to_odd(f64::from(a) * f64::from(b), f64::from(c)) as f32
}

/// The quotient, rounded to odd.
pub fn divide_to_odd(a: f64, b: f64) -> f64 {
    let quotient = a / b;
    if !quotient.is_finite() || quotient == 0.0 {
        return quotient;
    }
    let remainder = (-quotient).mul_add(b, a);
    to_odd(quotient, if b < 0.0 { -remainder } else { remainder })
}

/// The square root, rounded to odd.
pub fn sqrt_to_odd(a: f64) -> f64 {
    let root = a.sqrt();
    if !root.is_finite() || root == 0.0 {
        return root;
    }
    to_odd(root, (-root).mul_add(root, a))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gencl_testing::Random;

    #[test]
    fn fused_multiply_add_is_the_hosts() {
        let mut random = Random::new(1);
        for _ in 0..200_000 {
            let [a, b, c] = std::array::from_fn(|_| f32::from_bits(random.next_u32()));
            let (ours, host) = (multiply_add_32(a, b, c), a.mul_add(b, c));
            assert!(ours.to_bits() == host.to_bits() || ours.is_nan() && host.is_nan(), "{a:e} {b:e} {c:e}");
            // Exponents close to each other, where cancellation is.
            let c = -(a * b) + f32::from_bits(random.next_u32() & 0x007f_ffff | 0x3f80_0000);
            let (ours, host) = (multiply_add_32(a, b, c), a.mul_add(b, c));
            assert!(ours.to_bits() == host.to_bits() || ours.is_nan() && host.is_nan(), "{a:e} {b:e} {c:e}");
        }
    }
}
