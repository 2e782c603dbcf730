//! The table of the mathematical functions (OpenCL C 3.0, 6.15.2 and 6.15.4) with what they are of exact arguments.

use std::cmp::Ordering;

use crate::mpfr::{Mpfr, Number, One, Two};
use crate::numbers::{Mode, Type};
use crate::samples::Form;

/// Arguments of a function, as numbers of MPFR and as doubles, which hold those of all types.
pub struct Arguments<'a> {
    pub mpfr: &'a Mpfr,
    pub ty: &'a Type,
    pub pi: &'a Number,
    pub numbers: [Number; 3],
    pub values: [f64; 3],
}

/// What a function is of its arguments, if that is defined.
pub type Reference = fn(&Arguments<'_>) -> Option<Number>;

/// The type of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    Same,
    Int,
}

/// A function.
pub struct Row {
    pub name: &'static str,
    pub form: Form,
    /// In terms of `x`, `y`, `z`, of `s` and `t` for one number of `y` and `z` for all elements, and `@` for the second
    /// result.
    pub call: &'static str,
    /// The largest errors in units of the last place, of half floats, floats and doubles: the table of 7.4. None where
    /// the function does not exist.
    pub bounds: [Option<f64>; 3],
    pub result: (Of, Reference),
    pub second: Option<(Of, Reference)>,
}

const EXACT: [Option<f64>; 3] = all(0.0);
/// Rounded correctly.
const ROUNDED: [Option<f64>; 3] = all(0.5);
/// Of `half_` functions, for floats only.
const FEW_DIGITS: [Option<f64>; 3] = [None, Some(8192.0), None];

const fn all(bound: f64) -> [Option<f64>; 3] {
    [Some(bound); 3]
}

const fn ulp(half: f64, float: f64, double: f64) -> [Option<f64>; 3] {
    [Some(half), Some(float), Some(double)]
}

macro_rules! rows {
    ($($name:ident $form:ident $call:literal $bounds:expr, $of:ident $kind:ident $reference:expr
        $(, $other:ident $other_kind:ident $second:expr)?;)*) => {
        &[$(Row {
            name: stringify!($name),
            form: Form::$form,
            call: $call,
            bounds: $bounds,
            result: (Of::$of, rows!(@ $kind $reference)),
            second: rows!(? $($other $other_kind $second)?),
        }),*]
    };
    (?) => { None };
    (? $of:ident $kind:ident $reference:expr) => { Some((Of::$of, rows!(@ $kind $reference))) };
    (@ one $function:expr) => { |a| Some(a.mpfr.one($function(a.mpfr), &a.numbers[0])) };
    (@ two $function:expr) => { |a| Some(a.mpfr.two($function(a.mpfr), &a.numbers[0], &a.numbers[1])) };
    (@ three $function:expr) => {
        |a| Some(a.mpfr.three($function(a.mpfr), &a.numbers[0], &a.numbers[1], &a.numbers[2]))
    };
    (@ with_int $function:expr) => {
        |a| Some(a.mpfr.with_int($function(a.mpfr), &a.numbers[0], a.values[1] as i64))
    };
    (@ own $reference:expr) => { $reference };
    (@ double $reference:expr) => { |a| Some(a.mpfr.number($reference(a.values))) };
}

pub const ROWS: &[Row] = rows! {
    // Operators.
    add Two "x + y" ROUNDED, Same two |m: &Mpfr| m.add;
    sub Two "x - y" ROUNDED, Same two |m: &Mpfr| m.sub;
    mul Two "x * y" ROUNDED, Same two |m: &Mpfr| m.mul;
    div Two "x / y" ulp(1.0, 2.5, 0.5), Same two |m: &Mpfr| m.div;
    reciprocal One "1 / x" ulp(1.0, 2.5, 0.5), Same own |a| Some(a.mpfr.two(a.mpfr.div, &a.mpfr.number(1.0), &a.numbers[0]));

    acos One "acos(x)" ulp(2.0, 4.0, 4.0), Same one |m: &Mpfr| m.acos;
    acosh One "acosh(x)" ulp(2.0, 4.0, 4.0), Same one |m: &Mpfr| m.acosh;
    acospi One "acospi(x)" ulp(2.0, 5.0, 5.0), Same one |m: &Mpfr| m.acospi;
    asin One "asin(x)" ulp(2.0, 4.0, 4.0), Same one |m: &Mpfr| m.asin;
    asinh One "asinh(x)" ulp(2.0, 4.0, 4.0), Same one |m: &Mpfr| m.asinh;
    asinpi One "asinpi(x)" ulp(2.0, 5.0, 5.0), Same one |m: &Mpfr| m.asinpi;
    atan One "atan(x)" ulp(2.0, 5.0, 5.0), Same one |m: &Mpfr| m.atan;
    atanh One "atanh(x)" ulp(2.0, 5.0, 5.0), Same one |m: &Mpfr| m.atanh;
    atanpi One "atanpi(x)" ulp(2.0, 5.0, 5.0), Same one |m: &Mpfr| m.atanpi;
    cbrt One "cbrt(x)" all(2.0), Same one |m: &Mpfr| m.cbrt;
    ceil One "ceil(x)" EXACT, Same one |m: &Mpfr| m.ceil;
    cos One "cos(x)" ulp(2.0, 4.0, 4.0), Same one |m: &Mpfr| m.cos;
    cosh One "cosh(x)" ulp(2.0, 4.0, 4.0), Same one |m: &Mpfr| m.cosh;
    cospi One "cospi(x)" ulp(2.0, 4.0, 4.0), Same one |m: &Mpfr| m.cospi;
    degrees One "degrees(x)" all(2.0), Same own degrees;
    erf One "erf(x)" ulp(4.0, 16.0, 16.0), Same one |m: &Mpfr| m.erf;
    erfc One "erfc(x)" ulp(4.0, 16.0, 16.0), Same one |m: &Mpfr| m.erfc;
    exp One "exp(x)" ulp(2.0, 3.0, 3.0), Same one |m: &Mpfr| m.exp;
    exp10 One "exp10(x)" ulp(2.0, 3.0, 3.0), Same one |m: &Mpfr| m.exp10;
    exp2 One "exp2(x)" ulp(2.0, 3.0, 3.0), Same one |m: &Mpfr| m.exp2;
    expm1 One "expm1(x)" ulp(2.0, 3.0, 3.0), Same one |m: &Mpfr| m.expm1;
    fabs One "fabs(x)" EXACT, Same one |m: &Mpfr| m.fabs;
    floor One "floor(x)" EXACT, Same one |m: &Mpfr| m.floor;
    ilogb One "ilogb(x)" EXACT, Int own ilogb;
    lgamma One "lgamma(x)" ulp(4.0, 16.0, 16.0), Same own |a| Some(a.mpfr.lgamma(&a.numbers[0]).0);
    log One "log(x)" ulp(2.0, 3.0, 3.0), Same one |m: &Mpfr| m.log;
    log10 One "log10(x)" ulp(2.0, 3.0, 3.0), Same one |m: &Mpfr| m.log10;
    log1p One "log1p(x)" all(2.0), Same one |m: &Mpfr| m.log1p;
    log2 One "log2(x)" ulp(2.0, 3.0, 3.0), Same one |m: &Mpfr| m.log2;
    logb One "logb(x)" EXACT, Same double |[x, ..]: [f64; 3]| logb(x);
    radians One "radians(x)" all(2.0), Same own radians;
    rint One "rint(x)" EXACT, Same one |m: &Mpfr| m.rint;
    round One "round(x)" EXACT, Same one |m: &Mpfr| m.round;
    rsqrt One "rsqrt(x)" ulp(1.0, 2.0, 2.0), Same own rsqrt;
    sign One "sign(x)" EXACT, Same double |[x, ..]: [f64; 3]| sign(x);
    sin One "sin(x)" ulp(2.0, 4.0, 4.0), Same one |m: &Mpfr| m.sin;
    sinh One "sinh(x)" ulp(2.0, 4.0, 4.0), Same one |m: &Mpfr| m.sinh;
    sinpi One "sinpi(x)" ulp(2.0, 4.0, 4.0), Same one |m: &Mpfr| m.sinpi;
    sqrt One "sqrt(x)" ulp(0.5, 3.0, 0.5), Same one |m: &Mpfr| m.sqrt;
    tan One "tan(x)" ulp(2.0, 5.0, 5.0), Same one |m: &Mpfr| m.tan;
    tanh One "tanh(x)" ulp(2.0, 5.0, 5.0), Same one |m: &Mpfr| m.tanh;
    tanpi One "tanpi(x)" ulp(2.0, 6.0, 6.0), Same one |m: &Mpfr| m.tanpi;
    tgamma One "tgamma(x)" ulp(4.0, 16.0, 16.0), Same one |m: &Mpfr| m.tgamma;
    trunc One "trunc(x)" EXACT, Same one |m: &Mpfr| m.trunc;

    fract One "fract(x, @)" ROUNDED, Same own fract, Same one |m: &Mpfr| m.floor;
    frexp One "frexp(x, @)" EXACT, Same double |[x, ..]: [f64; 3]| libm::frexp(x).0,
        Int own |a| a.values[0].is_finite().then(|| a.mpfr.number(libm::frexp(a.values[0]).1.into()));
    lgamma_r One "lgamma_r(x, @)" ulp(4.0, 16.0, 16.0), Same own |a| Some(a.mpfr.lgamma(&a.numbers[0]).0), Int own lgamma_sign;
    modf One "modf(x, @)" EXACT, Same double |[x, ..]: [f64; 3]| part(x), Same one |m: &Mpfr| m.trunc;
    sincos One "sincos(x, @)" ulp(2.0, 4.0, 4.0), Same one |m: &Mpfr| m.sin, Same one |m: &Mpfr| m.cos;

    atan2 Two "atan2(x, y)" ulp(2.0, 6.0, 6.0), Same two |m: &Mpfr| m.atan2;
    atan2pi Two "atan2pi(x, y)" ulp(2.0, 6.0, 6.0), Same two |m: &Mpfr| m.atan2pi;
    copysign Two "copysign(x, y)" EXACT, Same double |[x, y, _]: [f64; 3]| x.copysign(y);
    fdim Two "fdim(x, y)" ROUNDED, Same two |m: &Mpfr| m.fdim;
    fmax Two "fmax(x, y)" EXACT, Same two |m: &Mpfr| m.fmax;
    fmin Two "fmin(x, y)" EXACT, Same two |m: &Mpfr| m.fmin;
    fmod Two "fmod(x, y)" EXACT, Same two |m: &Mpfr| m.fmod;
    hypot Two "hypot(x, y)" ulp(2.0, 4.0, 4.0), Same two |m: &Mpfr| m.hypot;
    maxmag Two "maxmag(x, y)" EXACT, Same double |[x, y, _]: [f64; 3]| larger(x, y);
    minmag Two "minmag(x, y)" EXACT, Same double |[x, y, _]: [f64; 3]| smaller(x, y);
    nextafter Two "nextafter(x, y)" EXACT, Same own nextafter;
    pow Two "pow(x, y)" ulp(4.0, 16.0, 16.0), Same two |m: &Mpfr| m.pow;
    powr Two "powr(x, y)" ulp(4.0, 16.0, 16.0), Same own powr;
    remainder Two "remainder(x, y)" EXACT, Same two |m: &Mpfr| m.remainder;
    remquo Two "remquo(x, y, @)" EXACT, Same two |m: &Mpfr| m.remainder, Int own quotient;

    ldexp WithInt "ldexp(x, y)" ROUNDED, Same with_int |m: &Mpfr| m.ldexp;
    pown WithInt "pown(x, y)" ulp(4.0, 16.0, 16.0), Same with_int |m: &Mpfr| m.pown;
    rootn WithInt "rootn(x, y)" ulp(4.0, 16.0, 16.0), Same with_int |m: &Mpfr| m.rootn;

    fma Three "fma(x, y, z)" ROUNDED, Same three |m: &Mpfr| m.fma;
    mad Three "mad(x, y, z)" ROUNDED, Same three |m: &Mpfr| m.fma;

    clamp Three "clamp(x, y, z)" EXACT, Same own clamp;
    clamp_scalar Three "clamp(x, s, t)" EXACT, Same own clamp;
    fmax_scalar Two "fmax(x, s)" EXACT, Same two |m: &Mpfr| m.fmax;
    fmin_scalar Two "fmin(x, s)" EXACT, Same two |m: &Mpfr| m.fmin;
    ldexp_scalar WithInt "ldexp(x, s)" ROUNDED, Same with_int |m: &Mpfr| m.ldexp;
    max Two "max(x, y)" EXACT, Same own |a| finite(a, a.mpfr.fmax);
    max_scalar Two "max(x, s)" EXACT, Same own |a| finite(a, a.mpfr.fmax);
    min Two "min(x, y)" EXACT, Same own |a| finite(a, a.mpfr.fmin);
    min_scalar Two "min(x, s)" EXACT, Same own |a| finite(a, a.mpfr.fmin);
    mix Blend "mix(x, y, z)" ROUNDED, Same own mix;
    mix_scalar Blend "mix(x, y, t)" ROUNDED, Same own mix;
    smoothstep Blend "smoothstep(x, y, z)" ulp(4.0, 84.0, 8.0), Same own |a| smoothstep(a, [0, 1, 2]);
    smoothstep_scalar Blend "smoothstep(s, t, x)" ulp(4.0, 84.0, 8.0), Same own |a| smoothstep(a, [1, 2, 0]);
    step Two "step(x, y)" EXACT, Same double |[x, y, _]: [f64; 3]| if y < x { 0.0 } else { 1.0 };
    step_scalar Two "step(s, x)" EXACT, Same double |[x, y, _]: [f64; 3]| if x < y { 0.0 } else { 1.0 };

    half_cos One "half_cos(x)" FEW_DIGITS, Same own |a| small_angle(a, a.mpfr.cos);
    half_sin One "half_sin(x)" FEW_DIGITS, Same own |a| small_angle(a, a.mpfr.sin);
    half_tan One "half_tan(x)" FEW_DIGITS, Same own |a| small_angle(a, a.mpfr.tan);
    half_exp One "half_exp(x)" FEW_DIGITS, Same one |m: &Mpfr| m.exp;
    half_exp10 One "half_exp10(x)" FEW_DIGITS, Same one |m: &Mpfr| m.exp10;
    half_exp2 One "half_exp2(x)" FEW_DIGITS, Same one |m: &Mpfr| m.exp2;
    half_log One "half_log(x)" FEW_DIGITS, Same one |m: &Mpfr| m.log;
    half_log10 One "half_log10(x)" FEW_DIGITS, Same one |m: &Mpfr| m.log10;
    half_log2 One "half_log2(x)" FEW_DIGITS, Same one |m: &Mpfr| m.log2;
    half_recip One "half_recip(x)" FEW_DIGITS,
        Same own |a| Some(a.mpfr.two(a.mpfr.div, &a.mpfr.number(1.0), &a.numbers[0]));
    half_rsqrt One "half_rsqrt(x)" FEW_DIGITS, Same own rsqrt;
    half_sqrt One "half_sqrt(x)" FEW_DIGITS, Same one |m: &Mpfr| m.sqrt;
    half_divide Two "half_divide(x, y)" FEW_DIGITS, Same two |m: &Mpfr| m.div;
    half_powr Two "half_powr(x, y)" FEW_DIGITS, Same own powr;
};

/// Functions of a few instructions.
const SHORT: &[&str] = &[
    "add",
    "ceil",
    "clamp",
    "copysign",
    "degrees",
    "div",
    "fabs",
    "fdim",
    "floor",
    "fma",
    "fmax",
    "fmin",
    "fract",
    "frexp",
    "ilogb",
    "ldexp",
    "logb",
    "mad",
    "max",
    "maxmag",
    "min",
    "minmag",
    "mix",
    "modf",
    "mul",
    "nextafter",
    "radians",
    "reciprocal",
    "rint",
    "round",
    "rsqrt",
    "sign",
    "smoothstep",
    "sqrt",
    "step",
    "sub",
    "trunc",
];

impl Row {
    /// The row of a function.
    pub fn named(name: &str) -> &'static Row {
        ROWS.iter().find(|row| row.name == name).expect("a function of the table")
    }

    /// Whether vectors of any size compile at once, as it is a few instructions.
    pub fn is_short(&self) -> bool {
        SHORT.contains(&self.base())
    }

    /// Whether an argument is one number for all elements.
    pub fn has_scalar(&self) -> bool {
        self.takes("s") || self.takes("t")
    }

    /// Whether an argument has a name.
    pub fn takes(&self, name: &str) -> bool {
        self.call.split(|c: char| !c.is_alphanumeric()).any(|word| word == name)
    }

    fn base(&self) -> &'static str {
        self.name.strip_suffix("_scalar").unwrap_or(self.name)
    }

    /// Whether the sign of a result that is zero is any: where both arguments are.
    pub fn has_any_zero(&self) -> bool {
        matches!(self.base(), "clamp" | "fmax" | "fmin" | "max" | "maxmag" | "min" | "minmag")
    }

    /// 7.4 gives no bound for the logarithm of the gamma function. It is compared as if its zeros were ones, near which
    /// the error is that of the argument. And an absolute one for `smoothstep` of floats, 1e-5.
    pub fn is_near_one_at_zeros(&self) -> bool {
        self.name.starts_with("lgamma") || self.base() == "smoothstep"
    }

    /// The absolute error of what need not be as in 6.15.4: 7.4 allows 1e-3 for `mix` of floats, whatever their size, and
    /// any for half floats and doubles.
    pub fn tolerance(&self, [x, y, _]: [f64; 3]) -> Option<f64> {
        (self.base() == "mix").then(|| 1e-3 * (x.abs() + y.abs()).max(1.0))
    }

    /// Other exact results that are as right, where operations may be contracted or not.
    pub fn alternatives(&self, a: &Arguments<'_>) -> Vec<Number> {
        let m = a.mpfr;
        let rounded = |x: Number| m.number(m.rounded(a.ty, &x, Mode::Nearest));
        let [x, y, z] = &a.numbers;
        match self.base() {
            "mad" => vec![m.two(m.add, &rounded(m.two(m.mul, x, y)), z)],
            "mix" => {
                let difference = rounded(m.two(m.sub, y, x));
                let product = m.two(m.mul, &difference, z);
                vec![m.two(m.add, &product, x), m.two(m.add, &rounded(product), x)]
            }
            _ => Vec::new(),
        }
    }

    /// Functions that need not have subnormal arguments or results.
    pub fn is_half_precision(&self) -> bool {
        self.name.starts_with("half_")
    }
}

fn degrees(a: &Arguments<'_>) -> Option<Number> {
    let factor = a.mpfr.two(a.mpfr.div, &a.mpfr.number(180.0), a.pi);
    Some(a.mpfr.two(a.mpfr.mul, &a.numbers[0], &factor))
}

fn radians(a: &Arguments<'_>) -> Option<Number> {
    let factor = a.mpfr.two(a.mpfr.div, a.pi, &a.mpfr.number(180.0));
    Some(a.mpfr.two(a.mpfr.mul, &a.numbers[0], &factor))
}

/// `mpfr_powr` is 1 for 1 and NaN.
fn powr(a: &Arguments<'_>) -> Option<Number> {
    let nan = a.values[1].is_nan();
    Some(if nan { a.mpfr.number(f64::NAN) } else { a.mpfr.two(a.mpfr.powr, &a.numbers[0], &a.numbers[1]) })
}

/// Not `mpfr_rec_sqrt`, which is positive for -0.
fn rsqrt(a: &Arguments<'_>) -> Option<Number> {
    Some(a.mpfr.two(a.mpfr.div, &a.mpfr.number(1.0), &a.mpfr.one(a.mpfr.sqrt, &a.numbers[0])))
}

/// `FP_ILOGB0` and `FP_ILOGBNAN` are the implementation's choice; the edge cases have them.
fn ilogb(a: &Arguments<'_>) -> Option<Number> {
    let exponent = logb(a.values[0]);
    exponent.is_finite().then(|| a.mpfr.number(exponent))
}

fn logb(x: f64) -> f64 {
    if x == 0.0 {
        f64::NEG_INFINITY
    } else if x.is_finite() {
        libm::ilogb(x).into()
    } else {
        x.abs()
    }
}

fn sign(x: f64) -> f64 {
    if x.is_nan() {
        0.0
    } else if x == 0.0 {
        x
    } else {
        x.signum()
    }
}

fn part(x: f64) -> f64 {
    (if x.is_infinite() { 0.0 } else { x - x.trunc() }).copysign(x)
}

fn fract(a: &Arguments<'_>) -> Option<Number> {
    let (m, x) = (a.mpfr, a.values[0]);
    if x == 0.0 || x.is_infinite() {
        return Some(m.number(0f64.copysign(x)));
    }
    let below_one = m.number(1.0 - libm::scalbn(1.0, -a.ty.float().0));
    let difference = m.two(m.sub, &a.numbers[0], &m.one(m.floor, &a.numbers[0]));
    Some(if x.is_nan() { difference } else { m.two(m.fmin, &difference, &below_one) })
}

/// None where the function has a pole.
fn lgamma_sign(a: &Arguments<'_>) -> Option<Number> {
    let (number, sign) = a.mpfr.lgamma(&a.numbers[0]);
    (!number.is_nan() && !number.is_infinite()).then(|| a.mpfr.number(sign.into()))
}

fn larger(x: f64, y: f64) -> f64 {
    match x.abs().partial_cmp(&y.abs()) {
        Some(Ordering::Greater) => x,
        Some(Ordering::Less) => y,
        _ => x.max(y),
    }
}

fn smaller(x: f64, y: f64) -> f64 {
    match x.abs().partial_cmp(&y.abs()) {
        Some(Ordering::Less) => x,
        Some(Ordering::Greater) => y,
        _ => x.min(y),
    }
}

fn nextafter(a: &Arguments<'_>) -> Option<Number> {
    let [x, y, _] = a.values;
    let sign = 1u64 << (8 * a.ty.bytes - 1);
    let bits = a.ty.bits(x);
    let next = if x.is_nan() || y.is_nan() {
        f64::NAN
    } else if x == y {
        y
    } else if x == 0.0 {
        a.ty.value(a.ty.bits(y) & sign | 1)
    } else if (x < y) == (x > 0.0) {
        a.ty.value(bits + 1)
    } else {
        a.ty.value(bits - 1)
    };
    Some(a.mpfr.number(next))
}

/// Seven bits of the quotient, with its sign; 0 where there is none.
fn quotient(a: &Arguments<'_>) -> Option<Number> {
    let [x, y, _] = a.values;
    let there = x.is_finite() && y != 0.0 && !y.is_nan();
    let quotient = if there { a.mpfr.quotient(&a.numbers[0], &a.numbers[1]) } else { 0 };
    let low = quotient.unsigned_abs() & 0x7f;
    Some(a.mpfr.number(if quotient < 0 { -(low as f64) } else { low as f64 }))
}

fn clamp(a: &Arguments<'_>) -> Option<Number> {
    let (m, [x, low, high]) = (a.mpfr, &a.numbers);
    let undefined = a.values[1] > a.values[2];
    (!undefined).then(|| m.two(m.fmin, &m.two(m.fmax, x, low), high))
}

/// A function that is defined for finite numbers.
fn finite(a: &Arguments<'_>, function: Two) -> Option<Number> {
    let [x, y, _] = &a.numbers;
    let defined = a.values[..2].iter().all(|x| x.is_finite());
    defined.then(|| a.mpfr.two(function, x, y))
}

fn mix(a: &Arguments<'_>) -> Option<Number> {
    let (m, [x, y, z]) = (a.mpfr, &a.numbers);
    let defined = (0.0..=1.0).contains(&a.values[2]);
    defined.then(|| m.three(m.fma, &m.two(m.sub, y, x), z, x))
}

/// Of the edges and the number at some places. Where the difference of the edges is too large, what 6.15.4 has for an
/// implementation is 0 or NaN, which need not be so.
fn smoothstep(a: &Arguments<'_>, places: [usize; 3]) -> Option<Number> {
    let m = a.mpfr;
    let values = places.map(|place| a.values[place]);
    let [low, high, x] = places.map(|place| &a.numbers[place]);
    let range = m.two(m.sub, high, low);
    let finite = m.rounded(a.ty, &range, Mode::Nearest).is_finite();
    (values[0] < values[1] && !values[2].is_nan() && finite).then(|| {
        let t = m.two(m.div, &m.two(m.sub, x, low), &range);
        let t = m.two(m.fmin, &m.two(m.fmax, &t, &m.number(0.0)), &m.number(1.0));
        let factor = m.two(m.sub, &m.number(3.0), &m.two(m.mul, &m.number(2.0), &t));
        m.two(m.mul, &m.two(m.mul, &t, &t), &factor)
    })
}

/// `half_` functions of angles are defined up to 2^16.
fn small_angle(a: &Arguments<'_>, function: One) -> Option<Number> {
    let x = a.values[0];
    (x.is_nan() || x.abs() <= 65536.0).then(|| a.mpfr.one(function, &a.numbers[0]))
}
