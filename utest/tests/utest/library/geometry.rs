//! Geometric functions (OpenCL C 3.0, 6.15.5) with the errors that 7.4 allows, of numbers of all sizes: what
//! can be too large or too small is none of the arguments or results (7.5.1).

use gencl_utest::{Case, Outcome, Random};

use super::calls::{Arguments, Call, MULTIPLE, case};
use super::floats;
use crate::numbers::Type;

/// What a result is compared with: one number of a vector, or as many as it has.
type Expected = fn(&Bounds, &[f64], &[f64]) -> Option<Vec<f64>>;

struct Row {
    name: &'static str,
    /// Of one vector or of two.
    vectors: usize,
    /// One number?
    whole: bool,
    /// Numbers of elements.
    widths: &'static [usize],
    expected: Expected,
    allowed: Allowed,
}

/// The largest error.
enum Allowed {
    /// Units of the last place: those of a type, and as many for each element.
    Ulp(fn(&Bounds) -> (f64, f64)),
    /// Units of the product of the largest numbers, times so many for a number of elements.
    Product(fn(f64) -> f64),
}

/// What depends on the type.
struct Bounds {
    ty: &'static Type,
}

const ALL: &[usize] = &[1, 2, 3, 4];

/// Fast ones are there for floats only.
const ROWS: &[Row] = &[
    Row {
        name: "dot",
        vectors: 2,
        whole: true,
        widths: ALL,
        expected: dot,
        allowed: Allowed::Product(|n| 2.0 * n - 1.0),
    },
    Row {
        name: "cross",
        vectors: 2,
        whole: false,
        widths: &[3, 4],
        expected: cross,
        allowed: Allowed::Product(|_| 3.0),
    },
    Row {
        name: "length",
        vectors: 1,
        whole: true,
        widths: ALL,
        expected: length,
        allowed: Allowed::Ulp(|b| b.of([(0.25, 0.5), (2.75, 0.5), (5.5, 1.0)])),
    },
    Row {
        name: "distance",
        vectors: 2,
        whole: true,
        widths: ALL,
        expected: distance,
        allowed: Allowed::Ulp(|b| b.of([(0.0, 2.0), (2.5, 2.0), (5.5, 2.0)])),
    },
    Row {
        name: "normalize",
        vectors: 1,
        whole: false,
        widths: ALL,
        expected: normalize,
        allowed: Allowed::Ulp(|b| b.of([(1.0, 1.0), (2.0, 1.0), (4.5, 1.0)])),
    },
    Row {
        name: "fast_length",
        vectors: 1,
        whole: true,
        widths: ALL,
        expected: fast_length,
        allowed: Allowed::Ulp(|_| (8191.5, 1.0)),
    },
    Row {
        name: "fast_distance",
        vectors: 2,
        whole: true,
        widths: ALL,
        expected: fast_distance,
        allowed: Allowed::Ulp(|_| (8191.5, 2.0)),
    },
    Row {
        name: "fast_normalize",
        vectors: 1,
        whole: false,
        widths: ALL,
        expected: fast_normalize,
        allowed: Allowed::Ulp(|_| (8192.0, 1.0)),
    },
];

pub fn cases() -> Vec<Case> {
    floats::types().map(|ty| case("library_geometry", ty, move || run(ty))).collect()
}

impl Bounds {
    /// Of half floats, floats and doubles.
    fn of(&self, bounds: [(f64, f64); 3]) -> (f64, f64) {
        bounds[self.ty.bytes / 4]
    }
}

fn finite(x: &[f64]) -> bool {
    x.iter().all(|x| x.is_finite())
}

/// The length as a number times a power of two.
fn scaled(x: &[f64]) -> (f64, i32) {
    let largest = x.iter().fold(0.0, |largest: f64, x| largest.max(x.abs()));
    let exponent = if largest == 0.0 { 0 } else { libm::ilogb(largest) };
    (x.iter().map(|&x| libm::scalbn(x, -exponent).powi(2)).sum::<f64>().sqrt(), exponent)
}

fn dot(_: &Bounds, x: &[f64], y: &[f64]) -> Option<Vec<f64>> {
    moderate(x, y).then(|| vec![x.iter().zip(y).map(|(x, y)| x * y).sum()])
}

fn cross(_: &Bounds, x: &[f64], y: &[f64]) -> Option<Vec<f64>> {
    moderate(x, y).then(|| {
        let element = |i: usize| {
            let (j, k) = ((i + 1) % 3, (i + 2) % 3);
            if i < 3 { x[j] * y[k] - x[k] * y[j] } else { 0.0 }
        };
        (0..x.len()).map(element).collect()
    })
}

/// Whether there are products that are neither too large nor too small.
fn moderate(x: &[f64], y: &[f64]) -> bool {
    x.iter().chain(y).all(|x| (1e-2..32.0).contains(&x.abs()) || *x == 0.0)
}

fn length(_: &Bounds, x: &[f64], _: &[f64]) -> Option<Vec<f64>> {
    if !finite(x) {
        // The result for infinity and NaN together is not specified.
        let (infinite, nan) = (x.iter().any(|x| x.is_infinite()), x.iter().any(|x| x.is_nan()));
        return (infinite != nan).then(|| vec![if nan { f64::NAN } else { f64::INFINITY }]);
    }
    let (length, exponent) = scaled(x);
    Some(vec![libm::scalbn(length, exponent)])
}

fn distance(bounds: &Bounds, x: &[f64], y: &[f64]) -> Option<Vec<f64>> {
    let difference: Vec<f64> = x.iter().zip(y).map(|(x, y)| x - y).collect();
    (finite(x) && finite(y)).then(|| length(bounds, &difference, &[])).flatten()
}

/// 7.5.1: zeros are left, NaN makes all of it NaN, and infinite elements count alone, as 1.
fn normalize(_: &Bounds, x: &[f64], _: &[f64]) -> Option<Vec<f64>> {
    if x.iter().any(|x| x.is_nan()) {
        return Some(vec![f64::NAN; x.len()]);
    }
    let one = |&x: &f64| if x.is_infinite() { 1f64.copysign(x) } else { 0f64.copysign(x) };
    let x: Vec<f64> = if finite(x) { x.to_vec() } else { x.iter().map(one).collect() };
    let (length, exponent) = scaled(&x);
    let element = |&x: &f64| if length == 0.0 { x } else { libm::scalbn(x, -exponent) / length };
    Some(x.iter().map(element).collect())
}

/// Half of the exponents may be lost to squares.
fn fast(x: &[f64]) -> bool {
    let (length, exponent) = scaled(x);
    finite(x) && length > 0.0 && exponent.abs() < 50
}

fn fast_length(bounds: &Bounds, x: &[f64], y: &[f64]) -> Option<Vec<f64>> {
    fast(x).then(|| length(bounds, x, y)).flatten()
}

fn fast_distance(bounds: &Bounds, x: &[f64], y: &[f64]) -> Option<Vec<f64>> {
    let difference: Vec<f64> = x.iter().zip(y).map(|(x, y)| x - y).collect();
    fast(&difference).then(|| length(bounds, &difference, &[])).flatten()
}

fn fast_normalize(bounds: &Bounds, x: &[f64], y: &[f64]) -> Option<Vec<f64>> {
    // Small elements beside large ones are not what this is about.
    let near = |x: &f64| x.abs() > 1e-10;
    (fast(x) && x.iter().all(near)).then(|| normalize(bounds, x, y)).flatten()
}

/// Moderate numbers; vectors of all sizes, with elements of about the same size; all edges.
fn samples(ty: &Type) -> [Vec<u64>; 2] {
    let mut random = Random::new(35);
    let (digits, most) = ty.float();
    let least = 2 - most - digits;
    let ([mut x, mut y, _], [any_x, any_y, _]) = (floats::moderate(ty), floats::any(ty));
    for i in 0..MULTIPLE {
        let exponent = least + (i / 12) as i32 * 37 % (most - least + 1) + (random.next_u32() % 5) as i32 - 2;
        let number = f64::from(random.float(-1.9, 1.9));
        x.push(ty.bits(libm::scalbn(number, exponent.min(most))));
        y.push(ty.bits(libm::scalbn(f64::from(random.float(-1.9, 1.9)), exponent.min(most))));
    }
    [[x, any_x].concat(), [y, any_y].concat()]
}

fn run(ty: &'static Type) -> Outcome {
    let (bounds, [x, y]) = (Bounds { ty }, samples(ty));
    let arguments = Arguments { types: [ty; 3], values: [&x, &y, &y], together: 8 };
    let rows = |width: usize| {
        let there = move |row: &&Row| {
            row.widths.contains(&width) && (ty.name == "float" || !row.name.starts_with("fast_"))
        };
        ROWS.iter().filter(there)
    };
    let call = |row: &Row| {
        let text = format!("{}({})", row.name, ["x", "x, y"][row.vectors - 1]);
        Call { whole: row.whole, ..Call::new(text, ty) }
    };
    let numbers = |bits: &[u64]| bits.iter().map(|&bits| ty.value(bits)).collect::<Vec<f64>>();
    let (x, y) = (numbers(&x), numbers(&y));
    let mut faults = Vec::new();
    for (width, results) in arguments.evaluate(ALL, |width| rows(width).map(call).collect())? {
        for (row, [results, _]) in rows(width).zip(results) {
            let size = if row.whole { 1 } else { width };
            let fault = results.chunks(size).enumerate().find_map(|(i, got)| {
                let (x, y) = (&x[i * width..][..width], &y[i * width..][..width]);
                let (got, expected) = (numbers(got), (row.expected)(&bounds, x, y)?);
                let pairs = || got.iter().zip(&expected);
                let unit = libm::scalbn(1.0, 1 - ty.float().0);
                let right = match row.allowed {
                    Allowed::Ulp(units) => {
                        let (own, each) = units(&bounds);
                        // A reference in doubles has an error of its own.
                        let slack = if ty.bytes == 8 { 2.0 } else { 0.0 };
                        pairs().all(|(&got, &expected)| {
                            ty.error(got, expected) <= own + each * width as f64 + slack
                        })
                    }
                    Allowed::Product(units) => {
                        let largest = |x: &[f64]| x.iter().fold(0.0, |largest: f64, x| largest.max(x.abs()));
                        let allowed = units(width as f64) * unit * largest(x) * largest(y);
                        pairs().all(|(got, expected)| (got - expected).abs() <= allowed)
                    }
                };
                let (name, kind) = (row.name, ty.name);
                (!right).then(|| {
                    format!("{name} of {width} {kind}: {x:?}, {y:?}: {got:?}, expected {expected:?}")
                })
            });
            faults.extend(fault);
        }
    }
    super::none(&faults)
}
