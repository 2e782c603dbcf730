//! Errors of the functions of the `math` instruction. `docs/eu.md` has the largest errors over all values,
//! which these tests sample.

use gencl_isa::MathFunction;

use crate::functions::evaluate;

fn function(function: MathFunction, a: f32, b: f32) -> f32 {
    evaluate(function, a, b)
}

/// The difference from an exact value in units of the last place of `F` there.
fn error(ours: f32, exact: f64) -> f64 {
    let rounded = exact as f32;
    if ours.to_bits() == rounded.to_bits() && !rounded.is_normal() || ours.is_nan() && exact.is_nan() {
        return 0.0;
    }
    let exponent = (exact.abs().to_bits() >> 52).max(1023 - 126);
    (f64::from(ours) - exact).abs() / f64::from_bits((exponent - 23) << 52)
}

/// The largest error over the values whose bits are multiples of `step`.
fn largest_error(name: MathFunction, step: usize, limit: f32, exact: impl Fn(f64) -> f64) -> (f64, f32) {
    let mut largest = (0.0, 0.0);
    for bits in (0..=u32::MAX).step_by(step) {
        let a = f32::from_bits(bits);
        if a.abs() > limit && a.is_finite() {
            continue;
        }
        let e = error(function(name, a, 0.0), exact(f64::from(a)));
        if e.is_nan() || e > largest.0 {
            largest = (e, a);
        }
    }
    largest
}

/// A step without multiples near powers of two.
const STEP: usize = 9973;

fn exact_log(a: f64) -> f64 {
    a.log2()
}

fn circle(a: f64, f: fn(f64) -> f64) -> f64 {
    if a.is_infinite() { f64::NAN } else { f(a) }
}

#[test]
fn functions_of_one_number() {
    use MathFunction as M;
    let check = |name, limit, allowed: f64, exact: &dyn Fn(f64) -> f64| {
        let (e, at) = largest_error(name, STEP, limit, exact);
        assert!(e <= allowed, "{name:?} of {at:e}: error {e} ulp");
    };
    check(M::Rsq, f32::MAX, 0.85, &|a| 1.0 / a.sqrt());
    check(M::Log, f32::MAX, 1.85, &exact_log);
    check(M::Exp, f32::MAX, 0.9, &f64::exp2);
    check(M::Sin, 65536.0, 2.0, &|a| circle(a, f64::sin));
    check(M::Cos, 65536.0, 2.0, &|a| circle(a, f64::cos));
}

#[test]
fn angles_of_many_turns() {
    let mut largest = 0f64;
    for bits in (2f32.powi(16).to_bits()..2f32.powi(22).to_bits()).step_by(STEP / 10) {
        let a = f32::from_bits(bits);
        let exact = f64::from(a).sin();
        largest = largest.max((f64::from(function(MathFunction::Sin, a, 0.0)) - exact).abs());
    }
    assert!(largest < 2f64.powi(-21), "{largest:e}");
    assert_eq!(function(MathFunction::Sin, -1e30, 0.0).to_bits(), (-0f32).to_bits());
    assert_eq!(function(MathFunction::Cos, 1e30, 0.0), 1.0);
}

#[test]
fn powers() {
    let mut state = 88172645463325252u64;
    for _ in 0..300_000 {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let a = f32::from_bits(state as u32);
        // Exponents with finite results; sometimes arbitrary ones.
        let b = match state >> 61 {
            0 => f32::from_bits((state >> 32) as u32),
            _ => (150.0 / f64::from(a).abs().log2() * ((state >> 32 & 0xffff) as f64 / 32768.0 - 1.0)) as f32,
        };
        let exact = f64::from(a.abs()).powf(f64::from(b));
        let e = error(function(MathFunction::Pow, a, b), exact);
        assert!(e < 0.502, "{a:e} ^ {b:e}: error {e} ulp");
    }
    let edges = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 1e-40, f32::INFINITY, f32::NEG_INFINITY, f32::NAN];
    for a in edges {
        for b in edges {
            let (ours, host) = (function(MathFunction::Pow, a, b), a.abs().powf(b));
            assert!(error(ours, f64::from(host)) <= 1.0, "{a} ^ {b}: {ours}, {host}");
        }
    }
}

#[test]
fn exact_results() {
    use MathFunction as M;
    for n in -149..128 {
        let power = function(M::Exp, n as f32, 0.0);
        assert_eq!(f64::from(power), 2f64.powi(n));
        assert_eq!(function(M::Log, power, 0.0), n as f32);
        if n % 2 == 0 {
            assert_eq!(f64::from(function(M::Rsq, power, 0.0)), 2f64.powi(-n / 2));
        }
    }
    assert_eq!(function(M::Rsq, -0.0, 0.0), f32::NEG_INFINITY);
    assert_eq!(function(M::Sin, -0.0, 0.0).to_bits(), (-0f32).to_bits());
    assert_eq!(function(M::Exp, f32::INFINITY, 0.0), f32::INFINITY);
    assert_eq!(function(M::Exp, f32::NEG_INFINITY, 0.0).to_bits(), 0);
}
