//! The functions of the `math` instruction.
//!
//! Volume 7, "math - Extended Math Function", gives the hardware's error bounds: 1 ulp for `inv` and `rsq`, 4
//! ulp for `fdiv` and `exp`, absolute bounds for `log`, `sin`, `cos`. Here `inv`, `sqrt` and `fdiv` are
//! correctly rounded, the others within the bounds ([`functions`]).

use gencl_isa::MathFunction;

use super::functions;
use crate::odd::{divide_to_odd, sqrt_to_odd};

/// A floating-point function of one or two operands of `F` or `HF`, to be rounded to the destination; `None`
/// for integer functions.
pub fn float(function: MathFunction, a: f64, b: f64) -> Option<f64> {
    use MathFunction as M;
    Some(match function {
        M::Inv => divide_to_odd(1.0, a),
        M::Sqrt => sqrt_to_odd(a),
        M::Fdiv => divide_to_odd(a, b),
        M::Rsq | M::Log | M::Exp | M::Sin | M::Cos | M::Pow => {
            f64::from(functions::evaluate(function, a as f32, b as f32))
        }
        M::IntDivQuotientRemainder | M::IntDivQuotient | M::IntDivRemainder | M::Invm | M::Rsqrtm => {
            return None;
        }
    })
}

/// Integer quotient and remainder, rounded towards zero. Unsigned division by zero gives all ones for both.
/// Signed division by zero gives the largest value of the dividend's sign, and the dividend as remainder
/// (Volume 7, "math", "INT DIV" table).
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
