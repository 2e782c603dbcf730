//! Conversions of vectors (OpenCL C 3.0, 6.4.3): from each type to each with one of the modes for each number
//! of elements, with saturation and without. Those of single numbers are `convert_*` in `floating_point.rs`,
//! in all modes.

use gencl_utest::{Case, Gpu, Outcome};

use super::calls::{Arguments, Call, WIDTHS, case};
use super::{floats, integers};
use crate::numbers::{Exact, MODES, Mode, TYPES, Type};

/// One of the functions of a pair of types.
struct Conversion {
    to: &'static Type,
    mode: &'static str,
    saturated: bool,
}

impl Conversion {
    /// The one that has a turn for a number of elements.
    fn new(to: &'static Type, turn: usize) -> Conversion {
        let modes = ["", "_rte", "_rtz", "_rtp", "_rtn"];
        Conversion {
            to,
            mode: modes[turn % 5],
            saturated: to.range.is_some() && (turn / 5).is_multiple_of(2),
        }
    }

    fn call(&self) -> Call {
        let saturation = if self.saturated { "_sat" } else { "" };
        let text = format!("convert_{}#{saturation}{}(x)", self.to.name, self.mode);
        Call::new(text, self.to)
    }

    /// None where a number is too large for a conversion without saturation.
    fn expected(&self, value: Exact) -> Option<u64> {
        let named = MODES.iter().find(|(name, _)| *name == self.mode).map(|(_, mode)| *mode);
        let mode = named.unwrap_or(if self.to.range.is_some() { Mode::Zero } else { Mode::Nearest });
        if let (Some((low, high)), false) = (self.to.range, self.saturated) {
            let inside = match value {
                Exact::Integer(number) => (low..=high).contains(&number),
                // What is rounded may be a number further.
                Exact::Float(number) => low as f64 <= number && number < high as f64 - 1.0,
            };
            if !inside {
                return None;
            }
        }
        Some(self.to.convert(value, mode))
    }
}

pub fn cases() -> Vec<Case> {
    TYPES.iter().map(|ty| case("library_conversions", ty, move || run(ty))).collect()
}

fn run(from: &'static Type) -> Outcome {
    let gpu = Gpu::get()?;
    let mut samples = match from.range {
        Some(_) => integers::samples(from)[0].clone(),
        None => [floats::any(from)[0].clone(), floats::moderate(from)[0].clone()].concat(),
    };
    if let Some((_, high)) = from.range {
        // Next to what is too large for smaller types.
        let ends = (0..64).map(|i| ((1i128 << (i / 3)) - 1 + i % 3).min(high) as u64);
        samples.splice(..64, ends);
    }
    let arguments = Arguments { types: [from; 3], values: [&samples; 3], together: 6 };
    let place = |ty: &Type| TYPES.iter().position(|other| other.name == ty.name).unwrap_or_default();
    let conversions = |width: usize| {
        let there = |to: &&Type| !to.need().is_some_and(|need| need.is_missing(gpu));
        let turn = 3 * place(from) + width;
        let all = TYPES.iter().filter(there).enumerate().map(move |(i, to)| Conversion::new(to, turn + i));
        all.filter(|conversion| conversion.to.name != from.name)
    };
    let mut faults = Vec::new();
    for (width, results) in
        arguments.evaluate(&WIDTHS[1..], |width| conversions(width).map(|one| one.call()).collect())?
    {
        for (conversion, [results, _]) in conversions(width).zip(results) {
            let fault = results.into_iter().zip(&samples).find_map(|(got, bits)| {
                let (value, to) = (from.read(*bits), conversion.to);
                let expected = conversion.expected(value)?;
                let nan = to.range.is_none() && to.value(got).is_nan() && to.value(expected).is_nan();
                (got != expected && !nan).then(|| {
                    let text = conversion.call().text;
                    format!("{text} of {width} {}: {value:?}: {got:#x}, expected {expected:#x}", from.name)
                })
            });
            faults.extend(fault);
        }
    }
    super::none(&faults)
}
