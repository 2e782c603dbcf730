//! Floating-point numbers with an unbounded exponent and an exact multiply-add, for the macros of IEEE
//! division and square roots.

use gencl_isa::Type;

use crate::dispatch::Rounding;

/// A floating-point format.
#[derive(Clone, Copy, Debug)]
pub struct FloatFormat {
    /// Bits of the mantissa, including the leading bit.
    pub precision: u32,
    /// Exponent of the leading bit of the smallest normal number.
    pub minimum: i32,
    /// Exponent of the leading bit of the largest number.
    pub maximum: i32,
}

impl FloatFormat {
    /// The format of a type; the macros have `F` and `DF` only.
    pub fn of(ty: Type) -> FloatFormat {
        match ty {
            Type::DF => FloatFormat { precision: 53, minimum: -1022, maximum: 1023 },
            _ => FloatFormat { precision: 24, minimum: -126, maximum: 127 },
        }
    }
}

/// A finite number: `mantissa * 2^exponent`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WideFloat {
    /// The sign.
    pub negative: bool,
    /// Normalised so that bit 63 is set, or 0.
    pub mantissa: u64,
    /// Exponent of the mantissa's bit 0.
    pub exponent: i32,
}

impl WideFloat {
    /// A finite `f64`.
    pub fn from_f64(value: f64) -> WideFloat {
        let bits = value.to_bits();
        let (field, fraction) = ((bits >> 52 & 0x7ff) as i32, bits & ((1 << 52) - 1));
        let (mantissa, exponent) =
            if field == 0 { (fraction, -1074) } else { (fraction | 1 << 52, field - 1075) };
        let shift = mantissa.leading_zeros() % 64;
        WideFloat {
            negative: value.is_sign_negative(),
            mantissa: mantissa << shift,
            exponent: exponent - shift as i32,
        }
    }

    /// The number times `2^power`.
    pub fn scaled(self, power: i32) -> WideFloat {
        WideFloat { exponent: self.exponent + power, ..self }
    }

    /// The exponent of the leading bit.
    pub fn magnitude(self) -> i32 {
        self.exponent + 63
    }

    /// The product.
    fn times(self, other: WideFloat) -> Exact {
        let product = u128::from(self.mantissa) * u128::from(other.mantissa);
        Exact {
            negative: self.negative != other.negative,
            mantissa: product,
            exponent: self.exponent + other.exponent,
        }
    }

    /// `a + b * c`, rounded to odd, so that rounding the result to a format is correct. `rounding` determines
    /// the sign of a zero.
    pub fn multiply_add(a: WideFloat, b: WideFloat, c: WideFloat, rounding: Rounding) -> WideFloat {
        a.exact().plus(b.times(c), rounding).to_odd()
    }

    /// Rounded to `precision` bits.
    pub fn rounded(self, precision: u32, rounding: Rounding) -> WideFloat {
        self.exact().rounded(precision, rounding)
    }

    fn exact(self) -> Exact {
        Exact { negative: self.negative, mantissa: u128::from(self.mantissa), exponent: self.exponent }
    }

    /// Rounds to a format, as an `f64`: denormals have fewer bits, an overflow becomes infinity or the
    /// largest number.
    pub fn to_format(self, format: FloatFormat, rounding: Rounding) -> f64 {
        let sign = if self.negative { -1.0 } else { 1.0 };
        // A zero may have any exponent.
        if self.mantissa == 0 {
            return sign * 0.0;
        }
        let missing = (format.minimum - self.magnitude()).max(0) as u32;
        // Numbers below the smallest denormal round to it or to zero.
        let smallest = power_of_two(format.minimum - format.precision as i32 + 1);
        if missing >= format.precision {
            let half = self.magnitude() == format.minimum - format.precision as i32;
            let up = match rounding {
                Rounding::NearestEven => half && self.mantissa != 1 << 63,
                Rounding::Up => !self.negative,
                Rounding::Down => self.negative,
                Rounding::Zero => false,
            };
            return sign * if up { smallest } else { 0.0 };
        }
        let rounded = self.rounded(format.precision - missing, rounding);
        if rounded.magnitude() > format.maximum {
            let largest = (2.0 - power_of_two(1 - format.precision as i32)) * power_of_two(format.maximum);
            let infinite = match rounding {
                Rounding::NearestEven => true,
                Rounding::Up => !self.negative,
                Rounding::Down => self.negative,
                Rounding::Zero => false,
            };
            return sign * if infinite { f64::INFINITY } else { largest };
        }
        // The mantissa has at most 53 bits here: both steps are exact, also when the result is denormal.
        let mantissa = (rounded.mantissa >> 11) as f64;
        let exponent = rounded.exponent + 11;
        let first = exponent.max(-1000);
        sign * mantissa * power_of_two(first) * power_of_two(exponent - first)
    }
}

/// An exact intermediate result: `mantissa * 2^exponent`.
#[derive(Clone, Copy, Debug)]
struct Exact {
    negative: bool,
    mantissa: u128,
    exponent: i32,
}

/// Position of the leading bit of a term in an addition, which leaves one bit for the carry.
const TERM_BITS: u32 = 126;

impl Exact {
    /// Shifts the leading bit to [`TERM_BITS`]. Terms have at most 106 significant bits.
    fn aligned(self) -> Exact {
        let shift = TERM_BITS as i32 - (127 - self.mantissa.leading_zeros() as i32);
        let mantissa = if shift >= 0 { self.mantissa << shift } else { self.mantissa >> -shift };
        Exact { mantissa, exponent: self.exponent - shift, ..self }
    }

    /// The sum; lost bits set the lowest one (sticky bit).
    fn plus(self, other: Exact, rounding: Rounding) -> Exact {
        if self.mantissa == 0 && other.mantissa == 0 {
            let negative = if rounding == Rounding::Down {
                self.negative | other.negative
            } else {
                self.negative & other.negative
            };
            return Exact { negative, ..self };
        }
        if self.mantissa == 0 || other.mantissa == 0 {
            return if self.mantissa == 0 { other } else { self };
        }
        let (a, b) = (self.aligned(), other.aligned());
        let (large, small) = if a.exponent >= b.exponent { (a, b) } else { (b, a) };
        let distance = (large.exponent - small.exponent) as u32;
        let lost = distance > 0 && small.mantissa & (u128::MAX >> (128 - distance.min(128))) != 0;
        let shifted = small.mantissa.checked_shr(distance).unwrap_or(0) | u128::from(lost);
        if large.negative == small.negative {
            return Exact { mantissa: large.mantissa + shifted, ..large };
        }
        match large.mantissa.cmp(&shifted) {
            std::cmp::Ordering::Equal => {
                Exact { negative: rounding == Rounding::Down, mantissa: 0, exponent: 0 }
            }
            std::cmp::Ordering::Greater => Exact { mantissa: large.mantissa - shifted, ..large },
            std::cmp::Ordering::Less => {
                Exact { negative: small.negative, mantissa: shifted - large.mantissa, ..large }
            }
        }
    }

    /// Rounds to 64 bits, to odd.
    fn to_odd(self) -> WideFloat {
        let shift = self.mantissa.leading_zeros() % 128;
        let mantissa = self.mantissa << shift;
        let lost = mantissa as u64 != 0;
        WideFloat {
            negative: self.negative,
            mantissa: (mantissa >> 64) as u64 | u64::from(lost),
            exponent: self.exponent - shift as i32 + 64,
        }
    }

    /// Rounds to `precision` bits, 1 to 64.
    fn rounded(self, precision: u32, rounding: Rounding) -> WideFloat {
        if self.mantissa == 0 {
            return WideFloat { negative: self.negative, mantissa: 0, exponent: 0 };
        }
        let shift = self.mantissa.leading_zeros();
        let (mantissa, exponent) = (self.mantissa << shift, self.exponent - shift as i32);
        let drop = 128 - precision;
        let (kept, rest, half) = (mantissa >> drop, mantissa & ((1 << drop) - 1), 1u128 << (drop - 1));
        let up = match rounding {
            Rounding::NearestEven => rest > half || rest == half && kept & 1 != 0,
            Rounding::Up => rest > 0 && !self.negative,
            Rounding::Down => rest > 0 && self.negative,
            Rounding::Zero => false,
        };
        let kept = kept + u128::from(up);
        // A carry beyond the leading bit leaves zeros.
        let (kept, carry) = if kept >> precision != 0 { (kept >> 1, 1) } else { (kept, 0) };
        let mantissa = (kept as u64) << (64 - precision);
        WideFloat { negative: self.negative, mantissa, exponent: exponent + 64 + carry }
    }
}

/// `2^power`, for powers of normal and denormal numbers.
fn power_of_two(power: i32) -> f64 {
    if power >= -1022 {
        f64::from_bits(((power + 1023) as u64) << 52)
    } else {
        f64::from_bits(1 << (power + 1074).max(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gencl_testing::Random;

    #[test]
    fn multiply_add_is_the_hosts() {
        let mut random = Random::new(1);
        let format = FloatFormat::of(Type::DF);
        for round in 0..200_000u32 {
            let [a, b, mut c] = std::array::from_fn(|_| {
                let bits = random.next_u64();
                // Similar exponents, and sometimes arbitrary ones.
                f64::from_bits(if round.is_multiple_of(8) {
                    bits
                } else {
                    bits & 0x803f_ffff_ffff_ffff | 0x3fe0 << 48
                })
            });
            if round % 3 == 0 {
                c = -(a * b);
            }
            if !(a.is_finite() && b.is_finite() && c.is_finite()) {
                continue;
            }
            let [x, y, z] = [a, b, c].map(WideFloat::from_f64);
            let result = WideFloat::multiply_add(z, x, y, Rounding::NearestEven);
            let (ours, expected) = (result.to_format(format, Rounding::NearestEven), a.mul_add(b, c));
            assert_eq!(ours.to_bits(), expected.to_bits(), "{a:e} * {b:e} + {c:e}: {ours:e}, {expected:e}");
        }
    }

    #[test]
    fn formats_have_denormals_and_limits() {
        let to = |value: f64, power, rounding| {
            WideFloat::from_f64(value).scaled(power).to_format(FloatFormat::of(Type::F), rounding) as f32
        };
        assert_eq!(to(1.0, -149, Rounding::NearestEven), f32::from_bits(1));
        assert_eq!(to(1.0, -150, Rounding::NearestEven), 0.0);
        assert_eq!(to(1.5, -150, Rounding::NearestEven), f32::from_bits(1));
        assert_eq!(to(1.5, -149, Rounding::NearestEven), f32::from_bits(2));
        assert_eq!(to(-1.0, -500, Rounding::Down), -f32::from_bits(1));
        assert_eq!(to(1.0, 128, Rounding::NearestEven), f32::INFINITY);
        assert_eq!(to(1.0, 128, Rounding::Zero), f32::MAX);
        assert_eq!(to(3.0, 5, Rounding::Zero), 96.0);
        for rounding in [Rounding::NearestEven, Rounding::Up, Rounding::Down, Rounding::Zero] {
            assert_eq!(to(-0.0, -30_000, rounding).to_bits(), (-0.0f32).to_bits());
        }
        let tiny = WideFloat::from_f64(3.0)
            .scaled(-1075)
            .to_format(FloatFormat::of(Type::DF), Rounding::NearestEven);
        assert_eq!(tiny, f64::from_bits(2));
        assert_eq!(
            WideFloat::from_f64(f64::from_bits(5)).to_format(FloatFormat::of(Type::DF), Rounding::Up),
            f64::from_bits(5)
        );
    }
}
