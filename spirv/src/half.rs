//! Halves, for constants that operations make: Rust has no stable type for them.

/// The value of a half.
pub(crate) fn value(bits: u16) -> f64 {
    let sign = if bits >> 15 == 0 { 1.0 } else { -1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 0x1f), f64::from(bits & 0x3ff));
    sign * match exponent {
        0 => fraction * 2f64.powi(-24),
        0x1f if fraction == 0.0 => f64::INFINITY,
        0x1f => f64::NAN,
        _ => (1024.0 + fraction) * 2f64.powi(exponent - 25),
    }
}

/// The half that is nearest to a value, the even one of two.
pub(crate) fn bits(value: f64) -> u16 {
    let sign = u16::from(value.is_sign_negative()) << 15;
    let magnitude = value.abs();
    if magnitude.is_nan() {
        return sign | 0x7e00;
    }
    // What is half-way to the value above the largest one.
    if magnitude >= 65520.0 {
        return sign | 0x7c00;
    }
    // Denormal numbers have the exponent of the least normal ones.
    let exponent = ((magnitude.to_bits() >> 52) as i32 - 1023).max(-14);
    let steps = (magnitude * 2f64.powi(10 - exponent)).round_ties_even() as u16;
    // A carry out of the fraction increments the exponent.
    let base = if steps < 1024 { 0 } else { (exponent + 14) as u16 * 1024 };
    sign | (base + steps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_halves_are_their_own_nearest_one() {
        for half in (0..=u16::MAX).filter(|half| !value(*half).is_nan()) {
            assert_eq!(bits(value(half)), half);
        }
    }

    #[test]
    fn values_between_go_to_the_nearest_or_even() {
        assert_eq!([1.0 / 3.0, 65519.9, 65520.0, -1e-9].map(bits), [0x3555, 0x7bff, 0x7c00, 0x8000]);
        // Between 1 and the next one, between that and the one behind.
        assert_eq!([1.0 + 1.0 / 2048.0, 1.0 + 3.0 / 2048.0].map(bits), [0x3c00, 0x3c02]);
        // Between the largest denormal and the least normal one.
        assert_eq!(bits(1023.5 * 2f64.powi(-24)), 0x0400);
    }
}
