//! The functions of the `math` instruction.
//!
//! Volume 7, "math - Extended Math Function", gives the hardware's error bounds: 1 ulp for `inv` and `rsq`,
//! 4 ulp for `fdiv` and `exp`, absolute bounds for `log`, `sin`, `cos`. Here all are computed in `f64` and rounded once, so the
//! results are within any of them and do not depend on the implementation of a particular stepping.

use gencl_isa::MathFunction;

use super::float::{divide_to_odd, sqrt_to_odd};

/// A floating-point function of one or two operands, to be rounded to the destination.
pub fn float(function: MathFunction, a: f64, b: f64) -> Option<f64> {
    use MathFunction as M;
    Some(match function {
        M::Inv => divide_to_odd(1.0, a),
        M::Log => a.log2(),
        M::Exp => a.exp2(),
        M::Sqrt => sqrt_to_odd(a),
        // -0 gives -infinity by IEEE 754, as 1/sqrt(-0) does.
        M::Rsq => 1.0 / a.sqrt(),
        M::Sin => sine(a),
        M::Cos => cosine(a),
        M::Fdiv => divide_to_odd(a, b),
        // The unit computes exp(b * log(|a|)); the sign of `a` has no effect.
        M::Pow => a.abs().powf(b),
        M::IntDivQuotientRemainder | M::IntDivQuotient | M::IntDivRemainder | M::Invm | M::Rsqrtm => {
            return None;
        }
    })
}

fn sine(a: f64) -> f64 {
    if a.is_infinite() { f64::NAN } else { a.sin() }
}

fn cosine(a: f64) -> f64 {
    if a.is_infinite() { f64::NAN } else { a.cos() }
}

/// Integer quotient and remainder, rounded to zero. A division by zero gives all ones for the quotient and the
/// remainder of unsigned numbers; of signed numbers the quotient is the largest number of the dividend's sign
/// and the remainder the dividend (Volume 7, "math", "INT DIV" table).
pub fn divide(a: i128, b: i128, signed: bool) -> (i128, i128) {
    if b == 0 {
        let quotient = match (signed, a < 0) {
            (false, _) => return (0xffff_ffff, 0xffff_ffff),
            (true, false) => 0x7fff_ffff,
            (true, true) => -0x8000_0000,
        };
        return (quotient, a);
    }
    (a / b, a % b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn division() {
        assert_eq!(divide(-7, 2, true), (-3, -1));
        assert_eq!(divide(7, 0, false), (0xffff_ffff, 0xffff_ffff));
        assert_eq!(divide(-7, 0, true), (-0x8000_0000, -7));
        assert_eq!(divide(-0x8000_0000, -1, true), (0x8000_0000, 0));
    }

    #[test]
    fn functions() {
        assert_eq!(float(MathFunction::Inv, 0.0, 0.0), Some(f64::INFINITY));
        assert_eq!(float(MathFunction::Log, 8.0, 0.0), Some(3.0));
        assert_eq!(float(MathFunction::Exp, -1.0, 0.0), Some(0.5));
        assert_eq!(float(MathFunction::Pow, -2.0, 3.0), Some(8.0));
        assert!(float(MathFunction::Sqrt, -1.0, 0.0).unwrap().is_nan());
        assert!(float(MathFunction::Sin, f64::INFINITY, 0.0).unwrap().is_nan());
        assert_eq!(float(MathFunction::IntDivQuotient, 1.0, 1.0), None);
    }
}
