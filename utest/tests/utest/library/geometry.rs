//! Geometric functions (OpenCL C 3.0, 6.15.5) with the errors that 7.4 allows, of numbers of all sizes: of lengths,
//! distances and directions nothing is too large or too small but arguments and results (7.5.1). Compared with MPFR.

use gencl_utest::{Case, Outcome, Random};

use super::calls::{Arguments, Call, MULTIPLE, case};
use crate::mpfr::{Mpfr, Number};
use crate::numbers::Type;
use crate::samples::{self, Density, Form};

/// What a result is, if that is defined: one number of a vector, or as many as it has.
type Expected = fn(&Vectors<'_>) -> Option<Vec<Number>>;

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
    /// Units of the last place: those of half floats, floats and doubles, and as many for each element.
    Ulp([(f64, f64); 3]),
    /// Units of the square of the largest number, times so many for a number of elements, and as many of the smallest
    /// numbers.
    Square(fn(f64) -> f64),
}

/// Arguments.
struct Vectors<'a> {
    mpfr: &'a Mpfr,
    ty: &'static Type,
    x: &'a [f64],
    y: &'a [f64],
}

const ALL: &[usize] = &[1, 2, 3, 4];
const FAST: &str = "fast_";

/// Fast ones are there for floats only.
const ROWS: &[Row] = &[
    Row {
        name: "dot",
        vectors: 2,
        whole: true,
        widths: ALL,
        expected: dot,
        allowed: Allowed::Square(|n| 2.0 * n - 1.0),
    },
    Row {
        name: "cross",
        vectors: 2,
        whole: false,
        widths: &[3, 4],
        expected: cross,
        allowed: Allowed::Square(|_| 3.0),
    },
    Row {
        name: "length",
        vectors: 1,
        whole: true,
        widths: ALL,
        expected: |v| v.length(&v.numbers(v.x)),
        allowed: Allowed::Ulp([(0.25, 0.5), (2.75, 0.5), (5.5, 1.0)]),
    },
    Row {
        name: "distance",
        vectors: 2,
        whole: true,
        widths: ALL,
        expected: |v| v.length(&v.differences()),
        allowed: Allowed::Ulp([(0.0, 2.0), (2.5, 2.0), (5.5, 2.0)]),
    },
    Row {
        name: "normalize",
        vectors: 1,
        whole: false,
        widths: ALL,
        expected: normalize,
        allowed: Allowed::Ulp([(1.0, 1.0), (2.0, 1.0), (4.5, 1.0)]),
    },
    Row {
        name: "fast_length",
        vectors: 1,
        whole: true,
        widths: ALL,
        expected: |v| v.fast_length(&v.numbers(v.x)),
        allowed: Allowed::Ulp([(8191.5, 1.0); 3]),
    },
    Row {
        name: "fast_distance",
        vectors: 2,
        whole: true,
        widths: ALL,
        expected: |v| v.fast_length(&v.differences()),
        allowed: Allowed::Ulp([(8191.5, 2.0); 3]),
    },
    Row {
        name: "fast_normalize",
        vectors: 1,
        whole: false,
        widths: ALL,
        expected: fast_normalize,
        allowed: Allowed::Ulp([(8192.0, 1.0); 3]),
    },
];

pub fn cases() -> Vec<Case> {
    let missing = Mpfr::get().err();
    let of = |ty| case("library_geometry", ty, move || run(ty)).skipped_for(missing.clone());
    Type::floats().map(of).collect()
}

impl Vectors<'_> {
    fn numbers(&self, values: &[f64]) -> Vec<Number> {
        values.iter().map(|&value| self.mpfr.number(value)).collect()
    }

    fn differences(&self) -> Vec<Number> {
        let pairs = self.x.iter().zip(self.y);
        pairs
            .map(|(&x, &y)| self.mpfr.two(self.mpfr.sub, &self.mpfr.number(x), &self.mpfr.number(y)))
            .collect()
    }

    fn sum(&self, terms: impl IntoIterator<Item = Number>) -> Number {
        let m = self.mpfr;
        terms.into_iter().reduce(|sum, term| m.two(m.add, &sum, &term)).expect("a vector has elements")
    }

    fn sum_of_squares(&self, x: &[Number]) -> Number {
        self.sum(x.iter().map(|x| self.mpfr.two(self.mpfr.mul, x, x)))
    }

    /// None of infinity and NaN together, of which nothing is said.
    fn length(&self, x: &[Number]) -> Option<Vec<Number>> {
        let both = x.iter().any(Number::is_nan) && x.iter().any(Number::is_infinite);
        (!both).then(|| vec![self.mpfr.one(self.mpfr.sqrt, &self.sum_of_squares(x))])
    }

    /// The sum of squares has to be a normal number.
    fn is_fast(&self, x: &[Number]) -> bool {
        let (_, most) = self.ty.float();
        let sum = self.sum_of_squares(x).to_f64(self.mpfr);
        (libm::scalbn(1.0, 1 - most)..libm::scalbn(1.0, most)).contains(&sum)
    }

    fn fast_length(&self, x: &[Number]) -> Option<Vec<Number>> {
        self.is_fast(x).then(|| self.length(x)).flatten()
    }

    /// The sum of products, unless some are too large and not all have the same sign: then their sum may be of infinities.
    fn sum_of_products(&self, products: Vec<Number>) -> Option<Number> {
        let m = self.mpfr;
        let most = self.ty.float().1;
        // The sum of finite ones' sizes.
        let finite = products.iter().filter(|product| !product.is_infinite() && !product.is_nan());
        let size = self.sum(finite.map(|product| m.one(m.fabs, product)).chain([m.number(0.0)]));
        let negative = products.iter().filter(|product| product.is_negative()).count();
        let mixed = negative != 0 && negative != products.len();
        (!mixed || size.to_f64(m) < libm::scalbn(1.0, most)).then(|| self.sum(products))
    }
}

fn dot(v: &Vectors<'_>) -> Option<Vec<Number>> {
    let m = v.mpfr;
    let products = v.numbers(v.x).iter().zip(v.numbers(v.y)).map(|(x, y)| m.two(m.mul, x, &y)).collect();
    Some(vec![v.sum_of_products(products)?])
}

fn cross(v: &Vectors<'_>) -> Option<Vec<Number>> {
    let m = v.mpfr;
    let (x, y) = (v.numbers(v.x), v.numbers(v.y));
    let element = |i: usize| {
        let (j, k) = ((i + 1) % 3, (i + 2) % 3);
        let second = m.two(m.sub, &m.number(0.0), &m.two(m.mul, &x[k], &y[j]));
        if i < 3 { v.sum_of_products(vec![m.two(m.mul, &x[j], &y[k]), second]) } else { Some(m.number(0.0)) }
    };
    (0..x.len()).map(element).collect()
}

/// 7.5.1: zeros are left, NaN makes all of it NaN, and infinite elements count alone, as 1.
fn normalize(v: &Vectors<'_>) -> Option<Vec<Number>> {
    let m = v.mpfr;
    if v.x.iter().any(|x| x.is_nan()) {
        return Some(v.numbers(&vec![f64::NAN; v.x.len()]));
    }
    let one = |&x: &f64| if x.is_infinite() { 1f64.copysign(x) } else { 0f64.copysign(x) };
    let infinite = v.x.iter().any(|x| x.is_infinite());
    let x = if infinite { v.numbers(&v.x.iter().map(one).collect::<Vec<f64>>()) } else { v.numbers(v.x) };
    let length = v.length(&x)?.remove(0);
    Some(if length.is_zero() { x } else { x.iter().map(|x| m.two(m.div, x, &length)).collect() })
}

fn fast_normalize(v: &Vectors<'_>) -> Option<Vec<Number>> {
    v.is_fast(&v.numbers(v.x)).then(|| normalize(v)).flatten()
}

/// Pairs of vectors of all kinds: of moderate numbers, of elements of about the same size, of special numbers, and of
/// numbers of any size. A number of elements divides the count of each kind.
fn vectors(ty: &Type) -> Result<[Vec<u64>; 2], String> {
    let dense = samples::dense()?.unwrap_or(1);
    let mut random = Random::new(35);
    let (digits, most) = ty.float();
    let least = 2 - most - digits;
    let special = samples::special(ty);
    let mut rows: Vec<[f64; 2]> = Vec::new();
    let pick = |random: &mut Random, numbers: &[f64]| numbers[random.below(numbers.len())];
    for _ in 0..dense * MULTIPLE {
        rows.push([0, 1].map(|_| f64::from(random.float(-8.0, 8.0)) * f64::from(random.below(5u32)) / 4.0));
    }
    for i in 0..dense * MULTIPLE {
        let exponent = least + (i / 12) as i32 * 37 % (most - least + 1) + random.below(5u32) as i32 - 2;
        let mut number = || libm::scalbn(f64::from(random.float(-1.9, 1.9)), exponent.min(most));
        let (x, y) = (number(), number());
        // Next to it, for what cancels.
        let near = ty.value(ty.bits(x).saturating_sub(i as u64 % 3));
        rows.push([x, if i % 24 < 12 { y } else { near }]);
    }
    let ends = samples::ends(ty);
    for &x in &ends {
        rows.extend(ends.iter().map(|&y| [x, y]));
        // Beside each other in a vector of two.
        rows.extend(ends.iter().flat_map(|&y| [[x, y], [y, x]]));
    }
    for i in 0..4 * dense * MULTIPLE {
        let (numbers, others) = if i % 24 < 12 { (&ends, &special) } else { (&special, &special) };
        rows.push([pick(&mut random, numbers), pick(&mut random, others)]);
    }
    let density = Density::new(ty, Form::Two)?;
    let spread = samples::tuples(ty, Form::Two, density);
    rows.extend(spread.iter().rev().take(2 * dense * MULTIPLE).map(|[x, y, _]| [*x, *y]));
    rows.resize(rows.len().next_multiple_of(MULTIPLE), [1.0; 2]);
    Ok(samples::columns(rows.into_iter().map(|row| row.map(|x| ty.bits(x)))))
}

impl Row {
    /// Whether a result is right.
    fn is_right(&self, v: &Vectors<'_>, got: &[f64], expected: &[Number]) -> bool {
        let (m, ty, width) = (v.mpfr, v.ty, v.x.len() as f64);
        let pairs = || got.iter().zip(expected);
        match self.allowed {
            Allowed::Ulp(units) => {
                let (own, each) = units[ty.bytes / 4];
                pairs().all(|(&got, expected)| m.error(ty, got, expected) <= own + each * width)
            }
            Allowed::Square(units) => pairs().all(|(&got, expected)| {
                let (digits, most) = ty.float();
                let error = m.error(ty, got, expected);
                if error <= 0.5 || !error.is_finite() {
                    return error <= 0.5;
                }
                let largest = v.x.iter().chain(v.y).fold(0.0, |largest: f64, x| largest.max(x.abs()));
                let square = m.two(m.mul, &m.number(largest), &m.number(largest));
                let unit = m.with_int(m.ldexp, &square, i64::from(1 - digits)).to_f64(m);
                let smallest = libm::scalbn(1.0, 2 - most - digits);
                let distance = m.two(m.sub, &m.number(got), expected).to_f64(m).abs();
                distance <= units(width) * (unit + smallest)
            }),
        }
    }
}

fn run(ty: &'static Type) -> Outcome {
    let mpfr = Mpfr::get()?;
    let [x, y] = vectors(ty)?;
    let arguments = Arguments { types: [ty; 3], values: [&x, &y, &y], together: 8 };
    let rows = |width: usize| {
        let there = move |row: &&Row| {
            row.widths.contains(&width) && (ty.name == "float" || !row.name.starts_with(FAST))
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
                let vectors = Vectors { mpfr, ty, x, y };
                let (got, expected) = (numbers(got), (row.expected)(&vectors)?);
                (!row.is_right(&vectors, &got, &expected)).then(|| {
                    let expected: Vec<f64> = expected.iter().map(|number| number.to_f64(mpfr)).collect();
                    let (name, kind) = (row.name, ty.name);
                    format!("{name} of {width} {kind}: {x:?}, {y:?}: {got:?}, expected {expected:?}")
                })
            });
            faults.extend(fault);
        }
    }
    super::none(&faults)
}
