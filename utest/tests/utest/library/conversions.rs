//! Conversions (OpenCL C 3.0, 6.4): from each type to each, with and without saturation. Those of single numbers in all
//! modes; those of vectors with one of the modes for each number of elements.

use gencl_utest::{Case, Gpu, Outcome};

use super::calls::{Arguments, Call, MULTIPLE, WIDTHS, case, needing};
use crate::mpfr::Mpfr;
use crate::numbers::{Exact, MODES, Mode, TYPES, Type};
use crate::samples;

/// One of the functions of a pair of types.
struct Conversion {
    to: &'static Type,
    mode: &'static str,
    saturated: bool,
}

impl Conversion {
    /// All to a type.
    fn all(to: &'static Type) -> impl Iterator<Item = Conversion> {
        let modes = MODES.iter().map(|(mode, _)| *mode).chain([""]);
        let saturations: &[bool] = if to.range.is_some() { &[true, false] } else { &[false] };
        modes.flat_map(move |mode| {
            saturations.iter().map(move |&saturated| Conversion { to, mode, saturated })
        })
    }

    fn call(&self) -> Call {
        let saturation = if self.saturated { "_sat" } else { "" };
        let text = format!("convert_{}#{saturation}{}(x)", self.to.name, self.mode);
        Call::new(text, self.to)
    }

    /// None where that is the implementation's choice: of a float that is too large without saturation.
    fn expected(&self, value: Exact) -> Option<u64> {
        let named = MODES.iter().find(|(name, _)| *name == self.mode).map(|(_, mode)| *mode);
        let mode = named.unwrap_or(if self.to.range.is_some() { Mode::Zero } else { Mode::Nearest });
        match (self.to.range, value) {
            // To signed integers that is a choice, too (C99, 6.3.1.3), and all compilers have made the same one.
            (Some(_), Exact::Integer(number)) if !self.saturated => Some(self.to.cut(number)),
            (Some((low, high)), Exact::Float(number)) if !self.saturated => {
                let whole = crate::numbers::whole(number, mode);
                let inside = low as f64 <= whole && whole < (high + 1) as f64;
                inside.then(|| self.to.convert(value, mode))
            }
            _ => Some(self.to.convert(value, mode)),
        }
    }
}

pub fn cases() -> Vec<Case> {
    TYPES.iter().map(|ty| case("library_conversions", ty, move || run(ty, &WIDTHS[1..]))).collect()
}

/// Those of single numbers, and those by which the suite itself converts.
pub fn scalar_cases() -> Vec<Case> {
    let scalar = TYPES
        .iter()
        .map(|ty| needing(ty, Case::new(format!("convert_{}", ty.name), move || run(ty, &WIDTHS[..1]))));
    let missing = Mpfr::get().err();
    let own = TYPES.iter().map(|ty| {
        let name = format!("numbers_convert/{}", ty.name);
        Case::of_gencl("the suite's own arithmetic", name, || reference(ty)).skipped_for(missing.clone())
    });
    scalar.chain(own).collect()
}

/// `Type::convert` agrees with MPFR.
fn reference(from: &Type) -> Outcome {
    let mpfr = Mpfr::get()?;
    let mut faults = Vec::new();
    for bits in samples::converted(from)? {
        let value = from.read(bits);
        for (to, (name, mode)) in TYPES.iter().flat_map(|to| MODES.iter().map(move |mode| (to, *mode))) {
            let (got, expected) = (to.convert(value, mode), mpfr.convert(value, to, mode));
            if !same(to, got, expected) {
                faults.push(format!("{value:?} to {}{name}: {got:#x}, expected {expected:#x}", to.name));
            }
        }
    }
    faults.truncate(8);
    super::none(&faults)
}

/// Whether results are the same bits, or NaN.
fn same(ty: &Type, got: u64, expected: u64) -> bool {
    got == expected || ty.range.is_none() && ty.value(got).is_nan() && ty.value(expected).is_nan()
}

fn run(from: &'static Type, widths: &[usize]) -> Outcome {
    let gpu = Gpu::get()?;
    let dense = samples::dense()?.is_some();
    let mut samples = samples::converted(from)?;
    let count = samples.len();
    samples.resize(count.next_multiple_of(MULTIPLE), 0);
    // Those of single numbers to one type at a time: Intel's compiler takes conversions of a float to `int` and to `uint` in
    // a kernel for the same one.
    let arguments = Arguments { types: [from; 3], values: [&samples; 3], together: MODES.len() + 1 };
    let place = |ty: &Type| TYPES.iter().position(|other| other.name == ty.name).unwrap_or_default();
    let there = |to: &&Type| !to.need().is_some_and(|need| need.is_missing(gpu));
    let conversions = |width: usize| {
        let of = move |(i, to): (usize, &'static Type)| -> Vec<Conversion> {
            let all: Vec<Conversion> = Conversion::all(to).collect();
            // Which one of vectors has a turn goes round.
            let turn = (3 * place(from) + width + i) % all.len();
            if width == 1 || dense { all } else { all.into_iter().skip(turn).take(1).collect() }
        };
        TYPES.iter().filter(there).enumerate().flat_map(of)
    };
    let mut faults = Vec::new();
    for (width, results) in
        arguments.evaluate(widths, |width| conversions(width).map(|one| one.call()).collect())?
    {
        for (conversion, [results, _]) in conversions(width).zip(results) {
            let fault = results.into_iter().zip(&samples[..count]).find_map(|(got, bits)| {
                let (value, to) = (from.read(*bits), conversion.to);
                let expected = conversion.expected(value)?;
                (!same(to, got, expected)).then(|| {
                    let text = conversion.call().text;
                    format!("{text} of {width} {}: {value:?}: {got:#x}, expected {expected:#x}", from.name)
                })
            });
            faults.extend(fault);
        }
    }
    super::none(&faults)
}
