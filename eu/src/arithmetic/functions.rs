//! The functions of the `math` instruction on `F`, each as a fixed sequence of IEEE operations.
//!
//! They are generic over the traits below. The interpreter instantiates them with `f32` and `f64`; the
//! translator with types that emit code, so that both engines give the same bits. Therefore all operations
//! must have a single correct result: no functions of the C library, and a fixed order of operands.
//!
//! `log`, `exp`, `sin` and `cos` compute in floats with fused multiply-add. `pow` computes in doubles, as an error of the
//! logarithm is multiplied by the exponent, and rounds the result once. `docs/eu.md` has their errors, which `tests` measures.
//!
//! Polynomials are minimax approximations for the relative error: of doubles, computed by the Remez algorithm with 50
//! digits and then rounded; of floats, with coefficients that are floats (`fpminimax` of Sollya).

use std::ops::{Add, Mul, Sub};

use gencl_isa::MathFunction;

use crate::odd::multiply_add_32;

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
    /// `self * factor + term`, rounded once.
    fn fused(self, factor: Self, term: Self) -> Self;
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
}

/// Evaluates a function for which [`is_defined`] is true; only `pow` uses `b`.
#[inline(always)]
pub fn evaluate<S: Single>(function: MathFunction, a: S, b: S) -> S {
    use MathFunction as M;
    match function {
        M::Rsq => inverse_root(a),
        M::Log => logarithm(a),
        M::Exp => exponential(a),
        M::Sin => circular(a, 0),
        M::Cos => circular(a, 1),
        M::Pow => power(a, b),
        M::Inv
        | M::Sqrt
        | M::Fdiv
        | M::IntDivQuotientRemainder
        | M::IntDivQuotient
        | M::IntDivRemainder
        | M::Invm
        | M::Rsqrtm => unreachable!("{function:?} is not defined here"),
    }
}

/// Whether a function is defined here. The others are host operations, or not on floats.
pub fn is_defined(function: MathFunction) -> bool {
    use MathFunction as M;
    match function {
        M::Rsq | M::Log | M::Exp | M::Sin | M::Cos | M::Pow => true,
        M::Inv
        | M::Sqrt
        | M::Fdiv
        | M::IntDivQuotientRemainder
        | M::IntDivQuotient
        | M::IntDivRemainder
        | M::Invm
        | M::Rsqrtm => false,
    }
}

/// The square root of the reciprocal, as the root halves the error of the reciprocal: at most 0.85 ulp. (The
/// reciprocal of the root has 1.49 ulp.)
#[inline(always)]
fn inverse_root<S: Single>(x: S) -> S {
    // Scaled by 2^64 or 2^-64, so that neither the reciprocal of a denormal is infinite, nor that of a large
    // value denormal.
    let small = x.less(1.0);
    let scaled = S::select(small, x * TWO_64, x * (1.0 / TWO_64));
    let y = scaled.reciprocal().root();
    let y = S::select(small, y * TWO_32, y * (1.0 / TWO_32));
    // Zeros become infinities of their sign, and NaN stays one.
    let special = S::from_bits(x.bits().like(INFINITY).minus(x.bits()));
    let special = S::select(x.less(0.0), x.like(f32::NAN), special);
    S::select(x.greater(0.0), y, special)
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

/// Coefficients of log2(1 + f) / f for 1 + f from sqrt(1/2) to sqrt(2): relative error 2^-25.
const LOG: [f32; 9] = [
    std::f32::consts::LOG2_E,
    -0.72134733,
    0.48090908,
    -0.3607037,
    0.28795174,
    -0.23896284,
    0.21545328,
    -0.20706727,
    0.12621109,
];
/// Numbers of a type of floats.
struct Format<Constant> {
    /// Bits of the fraction.
    fraction: u32,
    /// Bits of 1 and of sqrt(1/2).
    one: u64,
    root_of_half: u64,
    /// Bits of 2^`fraction`: with an integer in the low bits, it is that power plus the integer.
    power: u64,
    /// That power plus the bias of exponents.
    biased: Constant,
    unit: Constant,
}

const SINGLE: Format<f32> = Format {
    fraction: 23,
    one: 0x3f80_0000,
    root_of_half: 0x3f35_04f3,
    power: 0x4b00_0000,
    biased: 8388608.0 + 127.0,
    unit: 1.0,
};
const DOUBLE: Format<f64> = Format {
    fraction: 52,
    one: 0x3ff0_0000_0000_0000,
    root_of_half: 0x3fe6_a09e_667f_3bcd,
    power: 0x4330_0000_0000_0000,
    biased: 4503599627370496.0 + 1023.0,
    unit: 1.0,
};

/// The exponent of a normal number, and its mantissa, from sqrt(1/2) to sqrt(2), minus 1.
#[inline(always)]
fn split<N: FloatOps>(x: N, format: &Format<N::Constant>) -> [N; 2] {
    let bits = x.bits();
    let exponent = bits.plus(bits.like(format.one - format.root_of_half)).right(format.fraction);
    let mantissa = N::from_bits(bits.plus(bits.like(format.one)).minus(exponent.left(format.fraction)));
    let whole = N::from_bits(exponent.flip(bits.like(format.power))) - format.biased;
    [whole, mantissa - format.unit]
}

/// The exponent, and a polynomial of the mantissa. Exact for powers of two.
#[inline(always)]
fn logarithm<S: Single>(x: S) -> S {
    let small = x.less(f32::MIN_POSITIVE);
    let [whole, f] = split(S::select(small, x * TWO_32, x), &SINGLE);
    let whole = S::select(small, whole - 32.0, whole);
    let value = f.fused(horner(f, &LOG), whole);
    S::select(positive_finite(x), value, special_logarithm(x))
}

/// What no exponent and mantissa say: of zeros, of negative numbers, of infinities, of NaN.
#[inline(always)]
fn special_logarithm<S: Single>(x: S) -> S {
    let special = S::select(x.greater(0.0), x, x.like(f32::NAN));
    S::select(x.equal(0.0), x.like(f32::NEG_INFINITY), special)
}

/// Coefficients of 2 * 2^r for r from -1/2 to 1/2: relative error 2^-28.
const EXP: [f32; 7] = [2.0, 1.3862944, 0.4804529, 0.11100718, 0.019237667, 0.0026782604, 0.0003048257];
/// Where 2^x is 0, and where it is infinite.
const EXP_LIMITS: [f32; 2] = [-151.0, 128.0];
/// Below it half of 2^x may be denormal.
const SMALLEST_EXPONENT: f32 = -125.0;
/// 1.5 * 2^23: adding it rounds a value to an integer, which is in the low bits of the sum.
const ROUNDER: f32 = 12582912.0;

/// 2^x: a polynomial for the fraction, times a power of two for the integer part.
#[inline(always)]
fn exponential<S: Single>(x: S) -> S {
    let x = clamped(x, EXP_LIMITS);
    let small = x.less(SMALLEST_EXPONENT);
    let x = S::select(small, x + 32.0, x);
    let rounder = x + ROUNDER;
    let fraction = x - (rounder - ROUNDER);
    let bits = rounder.bits().left(23);
    // Half of the power, which has an exponent for 2^128, too.
    let half = S::from_bits(bits.plus(bits.like(SINGLE.one - (1 << SINGLE.fraction))));
    let power = horner(fraction, &EXP) * half;
    S::select(small, power * (1.0 / TWO_32), power)
}

/// Coefficients of log2(1 + f) / f for 1 + f from sqrt(1/2) to sqrt(2): degree 14, relative error 2^-41.1.
const WIDE_LOG: [f64; 15] = [
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

/// [`logarithm`] in doubles.
#[inline(always)]
fn wide_logarithm<S: Single>(x: S) -> S::Wide {
    // No value of `F` is denormal as a double.
    let [whole, f] = split(x.widen(), &DOUBLE);
    let value = whole + f * polynomial(f, &WIDE_LOG);
    S::Wide::select(positive_finite(x), value, special_logarithm(x).widen())
}

/// Coefficients of 2^r for r from -1/2 to 1/2, with constant 1: degree 8, relative error 2^-40.2.
const WIDE_EXP: [f64; 9] = [
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
const WIDE_EXP_LIMITS: [f64; 2] = [-1023.0, 1024.0];
/// 1.5 * 2^52, as [`ROUNDER`].
const WIDE_ROUNDER: f64 = 6755399441055744.0;

/// Limits a value to a range; NaN stays.
#[inline(always)]
fn clamped<N: FloatOps>(x: N, [low, high]: [N::Constant; 2]) -> N {
    let x = N::select(x.less(low), x.like(low), x);
    N::select(x.greater(high), x.like(high), x)
}

/// 2^x for x in [`WIDE_EXP_LIMITS`], or NaN: a polynomial for the fraction, whose exponent the integer part is
/// added to.
#[inline(always)]
fn wide_exponential<D: Double>(x: D) -> D {
    let rounder = x + WIDE_ROUNDER;
    let fraction = x - (rounder - WIDE_ROUNDER);
    // A NaN that was converted from `F` has zeros in its low bits, so it remains a NaN.
    let power = polynomial(fraction, &WIDE_EXP).bits();
    D::from_bits(power.plus(rounder.bits().left(52)))
}

/// 2^(b * log2(|a|)), rounded to `F` at the end only. As IEEE 754's `pow`, it is 1 when b is 0 or |a|
/// is 1, even if the other operand is NaN.
#[inline(always)]
fn power<S: Single>(a: S, b: S) -> S {
    let magnitude = S::from_bits(a.bits().keep(0x7fff_ffff));
    let product = b.widen() * wide_logarithm(magnitude);
    let zero = b.widen().like(0.0);
    let product = S::Wide::select(b.equal(0.0), zero, product);
    let product = S::Wide::select(magnitude.equal(1.0), zero, product);
    wide_exponential(clamped(product, WIDE_EXP_LIMITS)).narrow()
}

/// -pi/2 as a sum of three floats, all negative: the sums for -0 are -0 so.
const MINUS_HALF_PI: [f32; 3] = [f32::from_bits(0xbfc9_0fda), -7.5497894e-8, -5.390303e-15];
/// 2/pi
const QUADRANTS: f32 = std::f32::consts::FRAC_2_PI;
/// 2^22: angles from here on count as 0. Neighbouring values are half a unit apart, and quadrants' numbers would not be exact.
const LARGEST_ANGLE: f32 = 4194304.0;

/// Coefficients of sin(r) / r as a polynomial of r^2, |r| <= pi/4: relative error 2^-27.9.
const SINE: [f32; 4] = [1.0, -0.16666655, 0.008332189, -0.00019518285];
/// Coefficients of cos(r) likewise: relative error 2^-33.
const COSINE: [f32; 5] = [1.0, -0.5, 0.041666646, -0.0013887311, 2.4432562e-5];

/// The sine of x plus `quarters` times pi/2. NaN for infinities.
#[inline(always)]
fn circular<S: Single>(x: S, quarters: u64) -> S {
    let magnitude = S::from_bits(x.bits().keep(0x7fff_ffff));
    // Large angles become a zero of the same sign, infinities NaN.
    let x = S::select(magnitude.less(LARGEST_ANGLE), x, x * 0.0);
    let rounder = x.fused(x.like(QUADRANTS), x.like(ROUNDER));
    let quadrant = rounder - ROUNDER;
    // The first difference is exact (Cody and Waite).
    let r = MINUS_HALF_PI.iter().fold(x, |r, part| quadrant.fused(x.like(*part), r));
    let square = r * r;
    // A product, so that the sine of -0 is -0.
    let sine = r * horner(square, &SINE);
    let cosine = horner(square, &COSINE);
    let number = rounder.bits();
    let number = number.plus(number.like(quarters));
    // Bit 0 of the quadrant's number chooses the function, bit 1 the sign.
    let odd = S::from_bits(number.left(31).right(1)).greater(0.0);
    let value = S::select(odd, cosine, sine);
    S::from_bits(value.bits().flip(number.keep(2).left(30)))
}

/// Evaluates a polynomial of floats, given its coefficients from the constant on, by Horner's scheme.
#[inline(always)]
fn horner<S: Single>(x: S, coefficients: &[f32]) -> S {
    let (last, others) = coefficients.split_last().expect("a polynomial has coefficients");
    others.iter().rfold(x.like(*last), |sum, coefficient| sum.fused(x, x.like(*coefficient)))
}

/// Evaluates a polynomial of doubles, given its coefficients from the constant on, by Estrin's scheme, which has a
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
    fn fused(self, factor: f32, term: f32) -> f32 {
        multiply_add_32(self, factor, term)
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
}
