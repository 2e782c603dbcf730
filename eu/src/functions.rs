//! The functions of the `math` instruction on `F`, each as a fixed sequence of IEEE operations.
//!
//! They are generic over the traits below. The interpreter instantiates them with `f32` and `f64`; the
//! translator with types that emit code, so that both engines give the same bits. Therefore all operations
//! must have a single correct result: no functions of the C library, no fused multiply-add (which the
//! interpreter's host may lack), and a fixed order of operands.
//!
//! `log`, `exp` and `pow` compute in doubles and round the result once to the destination; `sin` and `cos` reduce the angle in
//! doubles. `docs/eu.md` has their errors, which `tests` measures.
//!
//! Polynomials are minimax approximations for the relative error, computed by the Remez algorithm with 50
//! digits and then rounded to their type.

use std::ops::{Add, Mul, Sub};

use gencl_isa::MathFunction;

/// Operations on a floating-point type: one of the host's, or the lanes of a vector in emitted code.
pub trait FloatOps:
    Copy
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Add<Self::Constant, Output = Self>
    + Sub<Self::Constant, Output = Self>
    + Mul<Self::Constant, Output = Self>
{
    /// The host type of constants.
    type Constant: Copy;
    /// The result of a comparison.
    type Mask: Copy;
    /// An integer type of the same size.
    type Bits: BitOps<Mask = Self::Mask>;

    /// A constant of the type (and vector size) of `self`.
    fn like(self, constant: Self::Constant) -> Self;
    /// Whether it is less than a constant; false for NaN.
    fn less(self, limit: Self::Constant) -> Self::Mask;
    /// Whether it is greater than a constant; false for NaN.
    fn greater(self, limit: Self::Constant) -> Self::Mask;
    /// Whether it equals a constant; false for NaN.
    fn equal(self, constant: Self::Constant) -> Self::Mask;
    /// `yes` where the mask is true, else `no`.
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self;
    /// Its bits.
    fn bits(self) -> Self::Bits;
    /// The value with these bits.
    fn from_bits(bits: Self::Bits) -> Self;
}

/// Operations on the bits of a value, as a wrapping unsigned integer.
pub trait BitOps: Copy {
    /// The result of a comparison.
    type Mask;
    /// Sum.
    fn plus(self, other: Self) -> Self;
    /// Difference.
    fn minus(self, other: Self) -> Self;
    /// Exclusive or.
    fn flip(self, other: Self) -> Self;
    /// Bitwise and with a constant.
    fn keep(self, constant: u64) -> Self;
    /// Shift left.
    fn left(self, count: u32) -> Self;
    /// Logical shift right.
    fn right(self, count: u32) -> Self;
    /// Whether it is less than a constant, unsigned.
    fn below(self, limit: u64) -> Self::Mask;
    /// A constant of the type (and vector size) of `self`.
    fn like(self, constant: u64) -> Self;
}

/// Operations on single precision, type `F`.
pub trait Single: FloatOps<Constant = f32> {
    /// The double precision type.
    type Wide: Double<Narrow = Self, Mask = Self::Mask>;
    /// Converts to double precision, exactly.
    fn widen(self) -> Self::Wide;
    /// 1 divided by it.
    fn reciprocal(self) -> Self;
    /// The square root.
    fn root(self) -> Self;
}

/// Operations on double precision.
pub trait Double: FloatOps<Constant = f64> {
    /// The single precision type.
    type Narrow: FloatOps;
    /// Rounds to single precision, to nearest even.
    fn narrow(self) -> Self::Narrow;
    /// The lower half of its bits.
    fn low_bits(self) -> <Self::Narrow as FloatOps>::Bits;
}

/// A result in double precision, before it is rounded.
#[derive(Clone, Copy)]
pub struct Unrounded<S: Single> {
    value: S::Wide,
    /// Where the mask is false, the result is this value instead.
    special: Option<(S::Mask, S)>,
}

impl<S: Single> Unrounded<S> {
    /// Rounds to single precision, to nearest even.
    #[inline(always)]
    pub fn narrow(self) -> S {
        let value = self.value.narrow();
        self.special.map_or(value, |(computed, other)| S::select(computed, value, other))
    }

    /// The result in double precision.
    #[inline(always)]
    pub fn widen(self) -> S::Wide {
        self.special
            .map_or(self.value, |(computed, other)| S::Wide::select(computed, self.value, other.widen()))
    }

    #[inline(always)]
    fn new(value: S::Wide) -> Self {
        Unrounded { value, special: None }
    }
}

/// Evaluates a function for which [`is_defined`] is true; only `pow` uses `b`.
#[inline(always)]
pub fn evaluate<S: Single>(function: MathFunction, a: S, b: S) -> Unrounded<S> {
    match function {
        MathFunction::Rsq => inverse_root(a),
        MathFunction::Log => logarithm(a),
        MathFunction::Exp => Unrounded::new(exponential(clamped(a, EXP_LIMITS_32).widen())),
        MathFunction::Sin => Unrounded::new(circular(a, 0).widen()),
        MathFunction::Cos => Unrounded::new(circular(a, 1).widen()),
        _ => Unrounded::new(power(a, b)),
    }
}

/// Whether a function is defined here. The others are host operations, or not on floats.
pub fn is_defined(function: MathFunction) -> bool {
    use MathFunction as M;
    matches!(function, M::Rsq | M::Log | M::Exp | M::Sin | M::Cos | M::Pow)
}

/// The square root of the reciprocal, as the root halves the error of the reciprocal: at most 0.85 ulp. (The
/// reciprocal of the root has 1.49 ulp.)
#[inline(always)]
fn inverse_root<S: Single>(x: S) -> Unrounded<S> {
    // Scaled by 2^64 or 2^-64, so that neither the reciprocal of a denormal is infinite, nor that of a large
    // value denormal.
    let small = x.less(1.0);
    let scaled = S::select(small, x * TWO_64, x * (1.0 / TWO_64));
    let y = scaled.reciprocal().root();
    let y = S::select(small, y * TWO_32, y * (1.0 / TWO_32));
    // Zeros become infinities of their sign, and NaN stays one.
    let special = S::from_bits(x.bits().like(INFINITY).minus(x.bits()));
    let special = S::select(x.less(0.0), x.like(f32::NAN), special);
    Unrounded { value: y.widen(), special: Some((x.greater(0.0), special)) }
}

const TWO_64: f32 = 18446744073709551616.0;
const TWO_32: f32 = 4294967296.0;

/// Bits of infinity.
const INFINITY: u64 = 0x7f80_0000;

#[inline(always)]
fn positive_finite<S: Single>(x: S) -> S::Mask {
    let bits = x.bits();
    bits.minus(bits.like(1)).below(INFINITY - 1)
}

/// Coefficients of log2(1 + f) / f for 1 + f from sqrt(1/2) to sqrt(2): degree 14, relative error 2^-41.1.
const LOG: [f64; 15] = [
    1.4426950408893544,
    -0.7213475204249723,
    0.480898346585499,
    -0.3606737658992918,
    0.2885390706804098,
    -0.2404487273145478,
    0.20609526653961496,
    -0.18035040302696345,
    0.16042523308903245,
    -0.14412618966722435,
    0.129144117540641,
    -0.1196255749219826,
    0.1261234518291496,
    -0.12352064176231764,
    0.06318185388310306,
];

/// Bits of sqrt(1/2).
const ROOT_OF_HALF: u64 = 0x3fe6_a09e_667f_3bcd;
/// Bits of 2^52: with an integer in the low bits, it is the double of 2^52 plus that integer.
const TWO_52: u64 = 0x4330_0000_0000_0000;
/// 2^52 plus the bias of exponents.
const TWO_52_BIASED: f64 = 4503599627370496.0 + 1023.0;

/// The exponent, and a polynomial of the mantissa. Exact for powers of two.
#[inline(always)]
fn logarithm<S: Single>(x: S) -> Unrounded<S> {
    // No value of `F` is denormal as a double.
    let bits = x.widen().bits();
    let exponent = bits.plus(bits.like(ONE - ROOT_OF_HALF)).right(52);
    let mantissa = S::Wide::from_bits(bits.plus(bits.like(ONE)).minus(exponent.left(52)));
    let whole = S::Wide::from_bits(exponent.flip(bits.like(TWO_52))) - TWO_52_BIASED;
    let f = mantissa - 1.0;
    let value = whole + f * polynomial(f, &LOG);
    let special = S::select(x.greater(0.0), x, x.like(f32::NAN));
    let special = S::select(x.equal(0.0), x.like(f32::NEG_INFINITY), special);
    Unrounded { value, special: Some((positive_finite(x), special)) }
}

/// Bits of 1.
const ONE: u64 = 0x3ff0_0000_0000_0000;

/// Coefficients of 2^r for r from -1/2 to 1/2, with constant 1: degree 8, relative error 2^-40.2.
const EXP: [f64; 9] = [
    1.0,
    0.6931471805482124,
    0.24022650698110595,
    0.055504109352660924,
    0.009618128616123593,
    0.0013333454860622982,
    0.00015403825463339456,
    1.530915616738314e-05,
    1.3178933227752681e-06,
];

/// The range of x in which 2^x is a normal double, beyond the range of `F`.
const EXP_LIMITS: [f64; 2] = [-1023.0, 1024.0];
const EXP_LIMITS_32: [f32; 2] = [-1023.0, 1024.0];
/// 1.5 * 2^52: adding it rounds a value to an integer, which is in the low bits of the sum.
const ROUNDER: f64 = 6755399441055744.0;

/// Limits a value to a range; NaN stays.
#[inline(always)]
fn clamped<N: FloatOps>(x: N, [low, high]: [N::Constant; 2]) -> N {
    let x = N::select(x.less(low), x.like(low), x);
    N::select(x.greater(high), x.like(high), x)
}

/// 2^x for x in [`EXP_LIMITS`], or NaN: a polynomial for the fraction, whose exponent the integer part is
/// added to.
#[inline(always)]
fn exponential<D: Double>(x: D) -> D {
    let rounder = x + ROUNDER;
    let fraction = x - (rounder - ROUNDER);
    // A NaN that was converted from `F` has zeros in its low bits, so it remains a NaN.
    let power = polynomial(fraction, &EXP).bits();
    D::from_bits(power.plus(rounder.bits().left(52)))
}

/// 2^(b * log2(|a|)), without intermediate rounding to `F`. As IEEE 754's `pow`, it is 1 when b is 0 or |a|
/// is 1, even if the other operand is NaN.
#[inline(always)]
fn power<S: Single>(a: S, b: S) -> S::Wide {
    let magnitude = S::from_bits(a.bits().keep(0x7fff_ffff));
    let product = b.widen() * logarithm(magnitude).widen();
    let zero = b.widen().like(0.0);
    let product = S::Wide::select(b.equal(0.0), zero, product);
    let product = S::Wide::select(magnitude.equal(1.0), zero, product);
    exponential(clamped(product, EXP_LIMITS))
}

/// pi/2 as a sum of two doubles, one of 23 bits, whose products with integers below 2^30 are exact, and the rest.
const HALF_PI: [f64; 2] = [1.570796251296997, 7.549789961923132e-8];
/// 2/pi
const QUADRANTS: f64 = std::f64::consts::FRAC_2_PI;
/// 2^40: angles from here on count as 0, as neighbouring values are many turns apart. From 2^30 to here the
/// error grows to 2^-13.
const LARGEST_ANGLE: f32 = 1099511627776.0;

/// Coefficients of sin(r) / r as a polynomial of r^2, |r| <= pi/4: relative error 2^-27.9.
const SINE: [f32; 4] = [1.0, -0.16666655, 0.008332189, -0.00019518285];
/// Coefficients of cos(r) likewise: relative error 2^-33.
const COSINE: [f32; 5] = [1.0, -0.5, 0.041666646, -0.0013887311, 2.4432562e-5];

/// The sine of x plus `quarters` times pi/2. NaN for infinities.
#[inline(always)]
fn circular<S: Single>(x: S, quarters: u64) -> S {
    let magnitude = S::from_bits(x.bits().keep(0x7fff_ffff));
    // Large angles become a zero of the same sign, infinities NaN.
    let x = S::select(magnitude.less(LARGEST_ANGLE), x, x * 0.0).widen();
    let rounder = x * QUADRANTS + ROUNDER;
    let quadrant = rounder - ROUNDER;
    let r = (x - quadrant * HALF_PI[0] - quadrant * HALF_PI[1]).narrow();
    let square = r * r;
    // A product, so that the sine of -0 is -0.
    let sine = r * polynomial(square, &SINE);
    let cosine = polynomial(square, &COSINE);
    let number = rounder.low_bits();
    let number = number.plus(number.like(quarters));
    // Bit 0 of the quadrant's number chooses the function, bit 1 the sign.
    let odd = S::from_bits(number.left(31).right(1)).greater(0.0);
    let value = S::select(odd, cosine, sine);
    S::from_bits(value.bits().flip(number.keep(2).left(30)))
}

/// Evaluates a polynomial, given its coefficients from the constant on, by Estrin's scheme, which has a
/// shorter dependency chain than Horner's.
#[inline(always)]
fn polynomial<F: FloatOps>(x: F, coefficients: &[F::Constant]) -> F {
    let mut power = x;
    let mut terms = [x; 8];
    let mut count = coefficients.len().div_ceil(2);
    for n in 0..count {
        let low = coefficients[2 * n];
        terms[n] = match coefficients.get(2 * n + 1) {
            Some(&high) => x * high + low,
            None => x.like(low),
        };
    }
    while count > 1 {
        power = power * power;
        let pairs = count / 2;
        for n in 0..pairs {
            terms[n] = terms[2 * n] + terms[2 * n + 1] * power;
        }
        if count % 2 == 1 {
            terms[pairs] = terms[count - 1];
        }
        count = count.div_ceil(2);
    }
    terms[0]
}

macro_rules! host_numbers {
    ($($number:ident/$bits:ident),*) => {
        $(
            impl FloatOps for $number {
                type Constant = $number;
                type Mask = bool;
                type Bits = $bits;
                #[inline(always)]
                fn like(self, constant: $number) -> $number {
                    constant
                }
                #[inline(always)]
                fn less(self, limit: $number) -> bool {
                    self < limit
                }
                #[inline(always)]
                fn greater(self, limit: $number) -> bool {
                    self > limit
                }
                #[inline(always)]
                fn equal(self, constant: $number) -> bool {
                    self == constant
                }
                #[inline(always)]
                fn select(mask: bool, yes: $number, no: $number) -> $number {
                    if mask { yes } else { no }
                }
                #[inline(always)]
                fn bits(self) -> $bits {
                    self.to_bits()
                }
                #[inline(always)]
                fn from_bits(bits: $bits) -> $number {
                    $number::from_bits(bits)
                }
            }

            impl BitOps for $bits {
                type Mask = bool;
                #[inline(always)]
                fn plus(self, other: $bits) -> $bits {
                    self.wrapping_add(other)
                }
                #[inline(always)]
                fn minus(self, other: $bits) -> $bits {
                    self.wrapping_sub(other)
                }
                #[inline(always)]
                fn flip(self, other: $bits) -> $bits {
                    self ^ other
                }
                #[inline(always)]
                fn keep(self, constant: u64) -> $bits {
                    self & constant as $bits
                }
                #[inline(always)]
                fn left(self, count: u32) -> $bits {
                    self << count
                }
                #[inline(always)]
                fn right(self, count: u32) -> $bits {
                    self >> count
                }
                #[inline(always)]
                fn below(self, limit: u64) -> bool {
                    self < limit as $bits
                }
                #[inline(always)]
                fn like(self, constant: u64) -> $bits {
                    constant as $bits
                }
            }
        )*
    };
}

host_numbers!(f32 / u32, f64 / u64);

impl Single for f32 {
    type Wide = f64;
    #[inline(always)]
    fn widen(self) -> f64 {
        f64::from(self)
    }
    #[inline(always)]
    fn reciprocal(self) -> f32 {
        1.0 / self
    }
    #[inline(always)]
    fn root(self) -> f32 {
        self.sqrt()
    }
}

impl Double for f64 {
    type Narrow = f32;
    #[inline(always)]
    fn narrow(self) -> f32 {
        self as f32
    }
    #[inline(always)]
    fn low_bits(self) -> u32 {
        self.to_bits() as u32
    }
}
