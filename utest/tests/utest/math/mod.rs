//! The mathematical and common functions, scalar and of vectors, within the error that OpenCL allows (OpenCL C 3.0, 7.4;
//! for half floats the extension specification, `cl_khr_fp16`) of exact results at the ends of their range:
//! [`table::ROWS`] for the arguments of `samples.rs`. `edge_cases.txt` has which results 7.5.1 wants without an error
//! where 7.4 allows one.

mod edge_cases;
mod table;

use gencl_utest::{Case, Gpu, Outcome};
use opencl_sys::CL_FP_DENORM;

use self::table::{Arguments, Of, ROWS, Row};
use crate::library::calls::{self, Call, MULTIPLE, case_of_gencl, needing};
use crate::mpfr::{Mpfr, Number};
use crate::numbers::Type;
use crate::samples::{self, Density, Form};

pub fn cases() -> Vec<Case> {
    let missing = Mpfr::get().err();
    let rows = Type::floats()
        .flat_map(|ty| ROWS.iter().enumerate().map(move |(turn, row)| (ty, turn, row)))
        .filter(|(ty, _, row)| row.bound(ty).is_some())
        .map(|(ty, turn, row)| {
            let case = Case::new(format!("math_{}/{}", ty.name, row.name), move || check(row, ty, turn));
            needing(ty, case).skipped_for(missing.clone())
        });
    let constants = Type::floats().map(|ty| {
        case_of_gencl(FOLDED, "math_constants", ty, move || constants(ty)).skipped_for(missing.clone())
    });
    rows.chain(constants).chain(edge_cases::cases()).collect()
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
        let all = if self.is_short() { &calls::WIDTHS[1..] } else { &calls::WIDTHS[1..3] };
        if dense { calls::WIDTHS[1..].into() } else { vec![all[(turn + ty.bytes / 4) % all.len()]] }
    }
}

fn check(row: &'static Row, ty: &'static Type, turn: usize) -> Outcome {
    let (mpfr, gpu) = (Mpfr::get()?, Gpu::get()?);
    let dense = samples::dense()?.is_some();
    let mut tuples = samples::tuples(ty, row.form, Density::new(ty, row.form)?);
    let count = tuples.len();
    tuples.resize(count.next_multiple_of(MULTIPLE), [1.0; 3]);
    let types = row.types(ty);
    let values = [0, 1, 2].map(|i| tuples.iter().map(|tuple| types[i].bits(tuple[i])).collect::<Vec<u64>>());
    let arguments = calls::Arguments { types, values: values.each_ref().map(Vec::as_slice), together: 1 };
    let widths = [vec![1], row.widths(ty, turn, dense)].concat();
    let mut results = arguments.evaluate(&widths, |_| vec![row.call(ty)])?.into_iter();
    let (_, scalar) = results.next().ok_or("no results")?;
    let comparison = Comparison::new(row, ty, mpfr, gpu)?;
    let mut faults = Faults::default();
    for (i, tuple) in tuples[..count].iter().enumerate() {
        faults.extend(comparison.fault(*tuple, [Some(scalar[0][0][i]), scalar[0][1].get(i).copied()]));
    }
    for (width, results) in results {
        let call = row.call(ty);
        if row.has_scalar() {
            for (i, [x, ..]) in tuples[..count].iter().enumerate() {
                let of = |name: &str| tuples[if row.takes(name) { i / width * width } else { i }];
                let fault = comparison.fault([*x, of("s")[1], of("t")[2]], [Some(results[0][0][i]), None]);
                faults.extend(fault.map(|fault| format!("of {width}: {fault}")));
            }
            continue;
        }
        for (place, of) in [Some(call.result), call.second].into_iter().flatten().enumerate() {
            let nan = |bits: u64| of.range.is_none() && of.value(bits).is_nan();
            let pairs = scalar[0][place].iter().zip(&results[0][place]);
            for ((one, many), tuple) in pairs.zip(&tuples[..count]) {
                let same = one == many || nan(*one) && nan(*many);
                faults.extend((!same).then(|| format!("of {width}: {tuple:?}: {many:#x}, alone {one:#x}")));
            }
        }
    }
    faults.outcome(&format!("{} of {}", row.call, ty.name), count)
}

/// What is tested with constants.
const FOLDED: &str = "its compiler's folding of constants";

/// Some calls of each function with constants of the program, which the compiler folds.
fn constants(ty: &'static Type) -> Outcome {
    const CALLS: usize = 12;
    let (mpfr, gpu) = (Mpfr::get()?, Gpu::get()?);
    let mut faults = Faults::default();
    for form in [Form::One, Form::Two, Form::Three, Form::Blend, Form::WithInt] {
        let rows: Vec<_> = ROWS.iter().filter(|row| row.form == form && row.bound(ty).is_some()).collect();
        // Each function has others.
        let all = samples::tuples(ty, form, Density::new(ty, form)?);
        let count = CALLS * rows.len();
        let tuples: Vec<[f64; 3]> = (0..count).map(|i| all[i * (all.len() - 1) / (count - 1)]).collect();
        let types = rows[0].types(ty);
        let values =
            [0, 1, 2].map(|i| tuples.iter().map(|tuple| types[i].bits(tuple[i])).collect::<Vec<u64>>());
        let arguments = calls::Arguments { types, values: values.each_ref().map(Vec::as_slice), together: 1 };
        let places = |turn: usize| (turn..count).step_by(rows.len()).collect::<Vec<usize>>();
        let calls: Vec<_> = rows.iter().enumerate().map(|(turn, row)| (row.call(ty), places(turn))).collect();
        for ((turn, row), [one, two]) in rows.iter().enumerate().zip(arguments.fold(&calls)?) {
            let comparison = Comparison::new(row, ty, mpfr, gpu)?;
            for (i, place) in places(turn).into_iter().enumerate() {
                let fault = comparison.fault(tuples[place], [Some(one[i]), two.get(i).copied()]);
                faults.extend(fault.map(|fault| format!("{}: {fault}", row.call)));
            }
        }
    }
    faults.outcome(&format!("constants of {}", ty.name), CALLS * ROWS.len())
}

/// Compares results of single numbers with exact ones.
struct Comparison<'a> {
    row: &'static Row,
    ty: &'static Type,
    mpfr: &'a Mpfr,
    pi: Number,
    bound: f64,
    /// Whether zeros have to have their signs, NaN have to be quiet and so on, in which other drivers differ.
    strict: bool,
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
            strict: gpu.foreign_platform().is_none(),
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
            if self.strict && self.ty.is_signalling(got) {
                return Some(format!("{values:?}: {got:#x}, a signalling NaN"));
            }
            let got = self.ty.value(got);
            let error = self.error(got, &exact);
            let right = |exact: &Number| self.is_right(got, exact, self.mpfr.error(self.ty, got, exact));
            if self.is_right(got, &exact, error) || self.row.alternatives(&arguments).iter().any(right) {
                return None;
            }
            let within = |tolerance: f64| tolerance.is_infinite() || (got - shown).abs() <= tolerance;
            if !self.strict && self.row.tolerance(values).is_some_and(within) {
                return None;
            }
            Some(format!("{values:?}: {got:e}, {error:.3} ULP from {shown:e}"))
        })
    }

    fn error(&self, got: f64, exact: &Number) -> f64 {
        let m = self.mpfr;
        // What is nearer by more than the reference's rounding error needs no exact difference.
        let about = self.ty.error(got, exact.to_f64(m));
        if about + if self.ty.bytes == 8 { 1.0 } else { 1e-3 } < self.bound {
            return about;
        }
        let error = m.error(self.ty, got, exact);
        if self.row.is_near_one_at_zeros() && exact.to_f64(m).abs() < 1.0 {
            return libm::scalbn((got - exact.to_f64(m)).abs(), self.ty.float().0 - 1);
        }
        error
    }

    fn is_right(&self, got: f64, exact: &Number, error: f64) -> bool {
        // Less than half of the smallest number has its sign, too.
        let sign = got != 0.0
            || exact.is_nan()
            || !self.strict
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

impl Faults {
    fn outcome(&self, what: &str, count: usize) -> Outcome {
        match self.count {
            0 => Ok(()),
            wrong => Err(format!("{what}: {wrong} of {count}\n{}", self.shown.join("\n"))),
        }
    }
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
