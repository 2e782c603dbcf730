//! Common functions (OpenCL C 3.0, 6.15.4), with the errors that 7.4 allows.

use gencl_utest::{Case, Outcome};

use super::calls::{Arguments, Call, WIDTHS, case};
use super::floats;
use crate::numbers::Type;

struct Row {
    call: &'static str,
    /// Of exact arguments; none where any result will do.
    expected: fn(f64, f64, f64) -> Option<f64>,
    allowed: Allowed,
}

#[derive(Clone, Copy)]
enum Allowed {
    /// Units of the last place.
    Ulp(f64),
    /// Units of the last place of the sum of all arguments' sizes.
    OfArguments(f64),
}

use Allowed::{OfArguments, Ulp};

macro_rules! rows {
    ($($call:literal $allowed:expr, |$x:ident, $y:ident, $z:ident| $expected:expr;)*) => {
        &[$(Row { call: $call, allowed: $allowed, expected: |$x, $y, $z| $expected }),*]
    };
}

/// What has two forms, with a vector and with one number for all elements.
const ROWS: &[Row] = rows! {
    "clamp(x, y, z)" Ulp(0.0), |x, y, z| clamp(x, y, z);
    "clamp(x, s, t)" Ulp(0.0), |x, y, z| clamp(x, y, z);
    "degrees(x)" Ulp(2.0), |x, _y, _z| Some(x * (180.0 / std::f64::consts::PI));
    "radians(x)" Ulp(2.0), |x, _y, _z| Some(x * (std::f64::consts::PI / 180.0));
    "max(x, y)" Ulp(0.0), |x, y, _z| known(x, y).then(|| x.max(y));
    "max(x, s)" Ulp(0.0), |x, y, _z| known(x, y).then(|| x.max(y));
    "min(x, y)" Ulp(0.0), |x, y, _z| known(x, y).then(|| x.min(y));
    "min(x, s)" Ulp(0.0), |x, y, _z| known(x, y).then(|| x.min(y));
    "fmax(x, s)" Ulp(0.0), |x, y, _z| Some(x.max(y));
    "fmin(x, s)" Ulp(0.0), |x, y, _z| Some(x.min(y));
    "step(x, y)" Ulp(0.0), |x, y, _z| Some(if y < x { 0.0 } else { 1.0 });
    "step(s, x)" Ulp(0.0), |x, y, _z| Some(if x < y { 0.0 } else { 1.0 });
    "sign(x)" Ulp(0.0), |x, _y, _z| Some(if x.is_nan() { 0.0 } else if x == 0.0 { x } else { x.signum() });
};

/// For moderate numbers.
const BLENDS: &[Row] = rows! {
    "mix(x, y, z)" OfArguments(4.0), |x, y, a| (0.0..=1.0).contains(&a).then_some(x + (y - x) * a);
    "mix(x, y, t)" OfArguments(4.0), |x, y, a| (0.0..=1.0).contains(&a).then_some(x + (y - x) * a);
    "smoothstep(x, y, z)" OfArguments(64.0), |low, high, x| smooth(low, high, x);
    "smoothstep(s, t, x)" OfArguments(64.0), |x, low, high| smooth(low, high, x);
};

fn known(x: f64, y: f64) -> bool {
    x.is_finite() && y.is_finite()
}

fn clamp(x: f64, low: f64, high: f64) -> Option<f64> {
    (low <= high && !x.is_nan()).then(|| x.max(low).min(high))
}

/// Where the edges are far enough apart that their difference has its digits.
fn smooth(low: f64, high: f64, x: f64) -> Option<f64> {
    (low + 0.25 < high).then(|| {
        let t = ((x - low) / (high - low)).clamp(0.0, 1.0);
        t * t * (3.0 - 2.0 * t)
    })
}

pub fn cases() -> Vec<Case> {
    floats::types().map(|ty| case("library_common", ty, move || run(ty))).collect()
}

/// A reference in doubles has an error of its own.
fn slack(ty: &Type) -> f64 {
    if ty.bytes == 8 { 2.0 } else { 0.0 }
}

fn run(ty: &'static Type) -> Outcome {
    let mut faults = Vec::new();
    for (rows, samples) in [(ROWS, floats::any(ty)), (BLENDS, floats::moderate(ty))] {
        let arguments =
            Arguments { types: [ty; 3], values: samples.each_ref().map(Vec::as_slice), together: 7 };
        let call = |row: &Row| Call::new(row.call, ty);
        for (width, results) in arguments.evaluate(&WIDTHS, |_| rows.iter().map(call).collect())? {
            for (row, [results, _]) in rows.iter().zip(results) {
                let fault = results.into_iter().enumerate().find_map(|(i, got)| {
                    let place = |scalar: &[&str; 2]| {
                        if scalar.iter().any(|name| row.call.contains(name)) { i / width * width } else { i }
                    };
                    let x = ty.value(samples[0][i]);
                    let (y, z) = (
                        ty.value(samples[1][place(&["(s", " s"])]),
                        ty.value(samples[2][place(&["(t", " t"])]),
                    );
                    let expected = (row.expected)(x, y, z)?;
                    let value = ty.value(got);
                    let right = match row.allowed {
                        Ulp(0.0) => {
                            expected == value
                                && (expected != 0.0
                                    || !row.call.starts_with("sign")
                                    || got == ty.bits(expected))
                                || expected.is_nan() && value.is_nan()
                        }
                        Ulp(units) => ty.error(value, expected) <= units + slack(ty),
                        OfArguments(units) => {
                            (value - expected).abs()
                                <= units * libm::scalbn(x.abs() + y.abs() + z.abs(), 1 - ty.float().0)
                        }
                    };
                    (!right).then(|| {
                        format!(
                            "{} of {width} {}: {x:e}, {y:e}, {z:e}: {value:e}, expected {expected:e}",
                            row.call, ty.name
                        )
                    })
                });
                faults.extend(fault);
            }
        }
    }
    super::none(&faults)
}
