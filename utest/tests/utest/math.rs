//! The functions of mathematics within the error that OpenCL allows (OpenCL C 3.0, 7.4; for half floats the
//! extension specification, `cl_khr_fp16`): of every half float, and of floats of all sizes, subnormal
//! arguments and results too.

use std::f64::consts::PI;

use gencl_utest::{Case, DOUBLE, Gpu, Launch, Outcome, Random};
use half::f16;

/// How a function is called, and what it is of exact arguments.
enum Form {
    One(fn(f64) -> f64),
    Two(fn(f64, f64) -> f64),
    WithInt(fn(f64, i32) -> f64),
}

struct Function {
    name: &'static str,
    form: Form,
    /// The largest error, in units of the last place.
    float: f64,
    half: f64,
}

macro_rules! functions {
    ($($name:ident $form:ident $reference:expr, $float:literal, $half:literal;)*) => {
        &[$(Function { name: stringify!($name), form: Form::$form($reference), float: $float, half: $half }),*]
    };
}

const FUNCTIONS: &[Function] = functions! {
    acos One f64::acos, 4.0, 2.0;
    acosh One |x| if x < 1.0 { f64::NAN } else { libm::acosh(x) }, 4.0, 2.0;
    acospi One |x| x.acos() / PI, 5.0, 2.0;
    asin One f64::asin, 4.0, 2.0;
    asinh One libm::asinh, 4.0, 2.0;
    asinpi One |x| x.asin() / PI, 5.0, 2.0;
    atan One f64::atan, 5.0, 2.0;
    atanh One libm::atanh, 5.0, 2.0;
    atanpi One |x| x.atan() / PI, 5.0, 2.0;
    cbrt One f64::cbrt, 2.0, 2.0;
    cos One f64::cos, 4.0, 2.0;
    cosh One f64::cosh, 4.0, 2.0;
    cospi One cospi, 4.0, 2.0;
    erf One libm::erf, 16.0, 4.0;
    erfc One libm::erfc, 16.0, 4.0;
    exp One f64::exp, 3.0, 2.0;
    exp10 One libm::exp10, 3.0, 2.0;
    exp2 One f64::exp2, 3.0, 2.0;
    expm1 One f64::exp_m1, 3.0, 2.0;
    log One f64::ln, 3.0, 2.0;
    log10 One f64::log10, 3.0, 2.0;
    log1p One f64::ln_1p, 2.0, 2.0;
    log2 One f64::log2, 3.0, 2.0;
    rsqrt One |x| 1.0 / x.sqrt(), 2.0, 1.0;
    sin One f64::sin, 4.0, 2.0;
    sinh One f64::sinh, 4.0, 2.0;
    sinpi One sinpi, 4.0, 2.0;
    sqrt One f64::sqrt, 3.0, 0.5;
    tan One f64::tan, 5.0, 2.0;
    tanh One f64::tanh, 5.0, 2.0;
    tanpi One tanpi, 6.0, 2.0;
    tgamma One tgamma, 16.0, 4.0;
    atan2 Two f64::atan2, 6.0, 2.0;
    atan2pi Two |y, x| y.atan2(x) / PI, 6.0, 2.0;
    fmod Two |x, y| x % y, 0.0, 0.0;
    hypot Two f64::hypot, 4.0, 2.0;
    pow Two pow, 16.0, 4.0;
    powr Two powr, 16.0, 4.0;
    remainder Two libm::remainder, 0.0, 0.0;
    ldexp WithInt libm::scalbn, 0.5, 0.5;
    pown WithInt |x, n| pow(x, n.into()), 16.0, 4.0;
    rootn WithInt rootn, 16.0, 4.0;
};

/// Functions of which zeros are zeros of the same sign (C99, F.9).
const OF_ZERO: &[&str] = &[
    "asin",
    "asinh",
    "asinpi",
    "atan",
    "atanh",
    "atanpi",
    "cbrt",
    "erf",
    "expm1",
    "log1p",
    "sin",
    "sinh",
    "sinpi",
    "sqrt",
    "tan",
    "tanh",
    "tanpi",
    "1 / tgamma",
];

pub fn cases() -> Vec<Case> {
    let zeros = Case::of_gencl("its zeros", "math_zeros", zeros);
    FUNCTIONS
        .iter()
        .flat_map(|function| {
            [
                Case::new(format!("math_float/{}", function.name), || {
                    check(function, &FLOAT, function.float, &floats())
                }),
                Case::new(format!("math_half/{}", function.name), || {
                    check(function, &HALF, function.half, &halves())
                })
                .needing(gencl_utest::HALF),
            ]
        })
        .chain([zeros])
        .collect()
}

/// The signs of zeros, in all three types.
fn zeros() -> Outcome {
    let gpu = Gpu::get()?;
    let kinds = [("half", Some(gencl_utest::HALF)), ("float", None), ("double", Some(DOUBLE))];
    for (kind, need) in kinds {
        if need.is_some_and(|need| need.is_missing(gpu)) {
            continue;
        }
        let calls: String = OF_ZERO.iter().map(|name| format!("*d++ = signbit({name}(x)); ")).collect();
        let source = format!(
            "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n\
             kernel void f(global int *d) {{ int i = get_global_id(0); {kind} x = i & 1 ? -({kind})0 : ({kind})0; \
             d += i * {}; {calls} }}",
            OF_ZERO.len()
        );
        let d = gpu.empty::<i32>(8 * OF_ZERO.len())?;
        gpu.build_source(&source, "")?.run("f", &[d.arg()], &Launch::linear(8, 8))?;
        for (i, signs) in d.read()?.chunks(OF_ZERO.len()).enumerate() {
            if let Some(k) = signs.iter().position(|&negative| (negative != 0) != (i % 2 == 1)) {
                return Err(format!("{}({kind}) of zero {i}", OF_ZERO[k]));
            }
        }
    }
    Ok(())
}

fn cospi(x: f64) -> f64 {
    sinpi(0.5 - (x - 2.0 * (x * 0.5).round()).abs())
}

fn sinpi(x: f64) -> f64 {
    let y = x - 2.0 * (x * 0.5).round();
    let folded = if y.abs() > 0.5 { y.signum() - y } else { y };
    (PI * folded).sin()
}

fn tanpi(x: f64) -> f64 {
    let y = x - x.round_ties_even();
    match y.abs() {
        0.5 => f64::INFINITY.copysign(y),
        _ => sinpi(y) / cospi(y),
    }
}

/// C leaves it open what the function is of negative integers; OpenCL's is NaN.
fn tgamma(x: f64) -> f64 {
    if x < 0.0 && x.floor() == x { f64::NAN } else { libm::tgamma(x) }
}

fn pow(x: f64, y: f64) -> f64 {
    x.powf(y)
}

/// 7.5.1: as `pow` where that is the exponential of a product, NaN elsewhere.
fn powr(x: f64, y: f64) -> f64 {
    let product = y * x.ln();
    if product.is_nan() || x < 0.0 { f64::NAN } else { x.abs().powf(y) }
}

fn rootn(x: f64, n: i32) -> f64 {
    match n {
        0 => f64::NAN,
        _ if n % 2 == 0 => {
            if x < 0.0 {
                f64::NAN
            } else {
                x.abs().powf(1.0 / f64::from(n))
            }
        }
        _ => x.abs().powf(1.0 / f64::from(n)).copysign(x),
    }
}

/// A type of floating-point numbers.
struct Type {
    name: &'static str,
    /// Digits of the significand, and the least exponent of a normal number.
    digits: i32,
    least: i32,
    /// The exponent of the first power of two that is too large.
    beyond: i32,
}

const FLOAT: Type = Type { name: "float", digits: 24, least: -126, beyond: 128 };
const HALF: Type = Type { name: "half", digits: 11, least: -14, beyond: 16 };

impl Type {
    /// How far a result is from the exact one, in units of the last place. Infinity stands for the first
    /// power of two that is too large, so that overflow by an error within the bounds is none.
    fn error(&self, got: f64, exact: f64) -> f64 {
        if got.is_nan() || exact.is_nan() {
            return if got.is_nan() && exact.is_nan() { 0.0 } else { f64::INFINITY };
        }
        let beyond = f64::from(self.beyond).exp2();
        let (got, exact) = (got.clamp(-beyond, beyond), exact.clamp(-beyond, beyond));
        let exponent =
            if exact == 0.0 { self.least } else { libm::ilogb(exact).clamp(self.least, self.beyond - 1) };
        (got - exact).abs() / f64::from(exponent - self.digits + 1).exp2()
    }

    fn bytes(&self, value: f64) -> Vec<u8> {
        match self.digits {
            11 => f16::from_f64(value).to_le_bytes().to_vec(),
            _ => (value as f32).to_le_bytes().to_vec(),
        }
    }

    fn values(&self, bytes: &[u8]) -> Vec<f64> {
        match self.digits {
            11 => bytes.chunks_exact(2).map(|b| f16::from_le_bytes([b[0], b[1]]).to_f64()).collect(),
            _ => bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]).into()).collect(),
        }
    }
}

fn halves() -> Vec<f64> {
    (0..=u16::MAX).map(|bits| f16::from_bits(bits).to_f64()).collect()
}

/// Any bits; numbers of moderate size, for which more functions are finite; where the exponentials become
/// subnormal.
fn floats() -> Vec<f64> {
    let mut random = Random::new(11);
    let edges =
        [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, f32::MAX, 1e-45];
    (0..16384)
        .map(|i| match i % 8 {
            0 => edges[i / 8 % edges.len()],
            1..=2 => f32::from_bits(random.next_u32()),
            3 => f32::from_bits(random.next_u32() & 0x80ff_ffff),
            4..=5 => random.float(-4.0, 4.0),
            6 => random.float(-160.0, -36.0),
            _ => random.float(-50.0, 130.0),
        })
        .map(f64::from)
        .collect()
}

/// Runs a function for arguments and compares each result with the exact one.
fn check(function: &Function, ty: &Type, bound: f64, first: &[f64]) -> Outcome {
    let gpu = Gpu::get()?;
    let mut random = Random::new(12);
    let second: Vec<f64> = first.iter().map(|_| first[random.next_u32() as usize % first.len()]).collect();
    let integers: Vec<i32> = (0..first.len())
        .map(|i| match i % 4 {
            0 => random.next_u32() as i32,
            _ => random.next_u32() as i32 % 160,
        })
        .collect();
    let (name, kind) = (function.name, ty.name);
    let call = match function.form {
        Form::One(_) => format!("{name}(a[i])"),
        Form::Two(_) => format!("{name}(a[i], b[i])"),
        Form::WithInt(_) => format!("{name}(a[i], n[i])"),
    };
    let source = format!(
        "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n\
         kernel void f(global {kind} *d, global const {kind} *a, global const {kind} *b, global const int *n) {{\n\
         size_t i = get_global_id(0); d[i] = {call}; }}"
    );
    let bytes = |values: &[f64]| values.iter().flat_map(|&value| ty.bytes(value)).collect::<Vec<u8>>();
    let a = gpu.buffer(&bytes(first))?;
    let b = gpu.buffer(&bytes(&second))?;
    let n = gpu.buffer(&integers)?;
    let d = gpu.empty::<u8>(bytes(first).len())?;
    let launch = Launch::linear(first.len(), 64);
    gpu.build_source(&source, "")?.run("f", &[d.arg(), a.arg(), b.arg(), n.arg()], &launch)?;
    for (i, got) in ty.values(&d.read()?).into_iter().enumerate() {
        let (x, y, n) = (first[i], second[i], integers[i]);
        let exact = match function.form {
            Form::One(reference) => reference(x),
            Form::Two(reference) => reference(x, y),
            Form::WithInt(reference) => reference(x, n),
        };
        let error = ty.error(got, exact);
        if error > bound {
            return Err(format!("{call} of {x:e}, {y:e}, {n}: {got:e}, {error} ULP from {exact:e}"));
        }
    }
    Ok(())
}
