//! The mathematical functions, scalar and of vectors, within the error that OpenCL allows (OpenCL C 3.0, 7.4; for half
//! floats the extension specification, `cl_khr_fp16`) of exact results at the ends of their range: [`table::ROWS`] for
//! the arguments of `samples.rs`. `library/edge_cases.txt` has what 7.5.1 says of single arguments.

mod mpfr;
mod samples;
mod table;

use gencl_utest::{Case, Gpu, Outcome};
use opencl_sys::CL_FP_DENORM;

use self::mpfr::{Mpfr, Number};
use self::samples::Density;
use self::table::{Arguments, Form, Of, ROWS, Row};
use crate::library::calls::{self, Call, MULTIPLE, needing};
use crate::library::floats;
use crate::numbers::Type;

/// With a number: so many times as many arguments, and all numbers of elements.
const DENSITY: &str = "MATH_DENSITY";

/// Functions of a few instructions, of which vectors of any size compile at once.
const SHORT: &[&str] = &[
    "add",
    "ceil",
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
    "maxmag",
    "minmag",
    "modf",
    "mul",
    "nextafter",
    "radians",
    "reciprocal",
    "rint",
    "round",
    "rsqrt",
    "sign",
    "sqrt",
    "sub",
    "trunc",
];

pub fn cases() -> Vec<Case> {
    let missing = Mpfr::get().err();
    floats::types()
        .flat_map(|ty| ROWS.iter().enumerate().map(move |(turn, row)| (ty, turn, row)))
        .filter(|(ty, _, row)| row.bound(ty).is_some())
        .map(|(ty, turn, row)| {
            let case = Case::new(format!("math_{}/{}", ty.name, row.name), move || check(row, ty, turn));
            needing(ty, case).skipped_for(missing.clone())
        })
        .collect()
}

fn density() -> Result<Option<usize>, String> {
    let Ok(text) = std::env::var(DENSITY) else { return Ok(None) };
    text.parse().map(Some).map_err(|_| format!("{DENSITY}={text} is no number"))
}

impl Row {
    fn bound(&self, ty: &Type) -> Option<f64> {
        self.bounds[ty.bytes / 4]
    }

    fn types(&self, ty: &'static Type) -> [&'static Type; 3] {
        if self.form == Form::WithInt { [ty, Type::named("int"), ty] } else { [ty; 3] }
    }

    fn call(&self, ty: &'static Type) -> Call {
        let of = |of: Of| if of == Of::Int { Type::named("int") } else { ty };
        Call { second: self.second.map(|(second, _)| of(second)), ..Call::new(self.call, of(self.result.0)) }
    }

    /// Numbers of elements beside 1.
    fn widths(&self, ty: &Type, turn: usize, dense: bool) -> Vec<usize> {
        let all = if SHORT.contains(&self.name) { &calls::WIDTHS[1..] } else { &calls::WIDTHS[1..3] };
        if dense { calls::WIDTHS[1..].into() } else { vec![all[(turn + ty.bytes / 4) % all.len()]] }
    }
}

fn check(row: &'static Row, ty: &'static Type, turn: usize) -> Outcome {
    let (mpfr, gpu) = (Mpfr::get()?, Gpu::get()?);
    let dense = density()?;
    let density = match dense {
        Some(times) => Density { of_exponent: 8 * times, step: 1 },
        None => Density {
            of_exponent: if ty.bytes == 8 { 1 } else { 4 },
            step: if row.form == Form::One { 1 } else { 4 },
        },
    };
    let mut tuples = samples::tuples(ty, row.form, density);
    let count = tuples.len();
    tuples.resize(count.next_multiple_of(MULTIPLE), [1.0; 3]);
    let types = row.types(ty);
    let values = [0, 1, 2].map(|i| tuples.iter().map(|tuple| types[i].bits(tuple[i])).collect::<Vec<u64>>());
    let arguments = calls::Arguments { types, values: values.each_ref().map(Vec::as_slice), together: 1 };
    let widths = [vec![1], row.widths(ty, turn, dense.is_some())].concat();
    let mut results = arguments.evaluate(&widths, |_| vec![row.call(ty)])?.into_iter();
    let (_, scalar) = results.next().ok_or("no results")?;
    let comparison = Comparison::new(row, ty, mpfr, gpu)?;
    let mut faults = Faults::default();
    for (i, tuple) in tuples[..count].iter().enumerate() {
        faults.extend(comparison.fault(*tuple, [Some(scalar[0][0][i]), scalar[0][1].get(i).copied()]));
    }
    for (width, results) in results {
        let call = row.call(ty);
        for (place, of) in [Some(call.result), call.second].into_iter().flatten().enumerate() {
            let nan = |bits: u64| of.range.is_none() && of.value(bits).is_nan();
            let pairs = scalar[0][place].iter().zip(&results[0][place]);
            for ((one, many), tuple) in pairs.zip(&tuples[..count]) {
                let same = one == many || nan(*one) && nan(*many);
                faults.extend((!same).then(|| format!("of {width}: {tuple:?}: {many:#x}, alone {one:#x}")));
            }
        }
    }
    match faults.count {
        0 => Ok(()),
        wrong => Err(format!("{} of {}: {wrong} of {count}\n{}", row.call, ty.name, faults.shown.join("\n"))),
    }
}

/// Compares results of single numbers with exact ones.
struct Comparison<'a> {
    row: &'static Row,
    ty: &'static Type,
    mpfr: &'a Mpfr,
    pi: Number,
    bound: f64,
    /// Whether zeros have to have their signs: other drivers differ.
    signs: bool,
    /// Whether subnormal numbers are kept.
    subnormal: bool,
}

impl<'a> Comparison<'a> {
    fn new(
        row: &'static Row,
        ty: &'static Type,
        mpfr: &'a Mpfr,
        gpu: &Gpu,
    ) -> Result<Comparison<'a>, String> {
        let device = &gpu.device;
        let config = match ty.bytes {
            2 => device.half_fp_config(),
            4 => device.single_fp_config(),
            _ => device.double_fp_config(),
        }
        .map_err(|error| error.to_string())?;
        Ok(Comparison {
            row,
            ty,
            mpfr,
            pi: mpfr.one(mpfr.acos, &mpfr.number(-1.0)),
            bound: row.bound(ty).ok_or("the function does not exist")?,
            signs: gpu.foreign_platform().is_none(),
            subnormal: config & CL_FP_DENORM != 0 && !row.is_half_precision(),
        })
    }

    /// What is wrong with the results of some arguments.
    fn fault(&self, values: [f64; 3], got: [Option<u64>; 2]) -> Option<String> {
        if !self.subnormal && values.iter().any(|&x| self.is_subnormal(x)) {
            return None;
        }
        let numbers = values.map(|value| self.mpfr.number(value));
        let arguments = Arguments { mpfr: self.mpfr, ty: self.ty, pi: &self.pi, numbers, values };
        let references = [Some(self.row.result), self.row.second];
        references.into_iter().flatten().zip(got.into_iter().flatten()).find_map(|((of, reference), got)| {
            let exact = reference(&arguments)?;
            let shown = exact.to_f64(self.mpfr);
            if of == Of::Int {
                let got = Type::named("int").value(got);
                return (got != shown).then(|| format!("{values:?}: {got}, expected {shown}"));
            }
            let got = self.ty.value(got);
            let error = self.error(&arguments, got, &exact);
            if self.is_right(got, &exact, error) {
                return None;
            }
            Some(format!("{values:?}: {got:e}, {error:.3} ULP from {shown:e}"))
        })
    }

    fn error(&self, arguments: &Arguments<'_>, got: f64, exact: &Number) -> f64 {
        let m = self.mpfr;
        // What is nearer by more than the reference's rounding error needs no exact difference.
        let about = self.ty.error(got, exact.to_f64(m));
        if about + if self.ty.bytes == 8 { 1.0 } else { 1e-3 } < self.bound {
            return about;
        }
        let error = m.error(self.ty, got, exact);
        if self.row.may_round_twice() {
            let [x, y, _] = arguments.values;
            // The product of two floats is a double.
            let product = m.number(self.ty.value(self.ty.bits(x * y)));
            return error.min(m.error(self.ty, got, &m.two(m.add, &product, &arguments.numbers[2])));
        }
        if self.row.is_near_one_at_zeros() && exact.to_f64(m).abs() < 1.0 {
            return libm::scalbn((got - exact.to_f64(m)).abs(), self.ty.float().0 - 1);
        }
        error
    }

    fn is_right(&self, got: f64, exact: &Number, error: f64) -> bool {
        // Less than half of the smallest number has its sign, too.
        let sign = got != 0.0
            || exact.is_nan()
            || !self.signs
            || self.row.has_any_zero() && exact.is_zero()
            || got.is_sign_negative() == exact.is_negative();
        let flushed = || !self.subnormal && self.is_subnormal(exact.to_f64(self.mpfr));
        error <= self.bound && sign || flushed()
    }

    fn is_subnormal(&self, x: f64) -> bool {
        x != 0.0 && x.abs() < libm::scalbn(1.0, 1 - self.ty.float().1)
    }
}

/// The first faults, and how many there are.
#[derive(Default)]
struct Faults {
    shown: Vec<String>,
    count: usize,
}

impl Extend<String> for Faults {
    fn extend<T: IntoIterator<Item = String>>(&mut self, faults: T) {
        for fault in faults {
            self.count += 1;
            if self.shown.len() < 8 {
                self.shown.push(fault);
            }
        }
    }
}
