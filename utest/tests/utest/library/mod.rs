//! The built-in library against the specification: functions as rows of tables, each evaluated for every type
//! and number of elements.

pub mod calls;
pub mod conversions;
mod extended;
mod geometry;
mod integers;
mod relations;
mod shuffles;

use gencl_utest::{Case, Outcome};

/// Intel's compiler makes vectors of three elements of four, of which the last is never written: strict mode
/// ends such kernels.
const STRICT: &str = "its code for three elements reads registers that nothing has written";

pub fn cases() -> Vec<Case> {
    let cases = [
        integers::cases(),
        extended::cases(),
        relations::cases(),
        geometry::cases(),
        conversions::cases(),
        shuffles::cases(),
    ];
    cases.into_iter().flatten().map(|case| case.only_of_gencl(STRICT)).collect()
}

/// All that is wrong, one a line.
pub fn none(faults: &[String]) -> Outcome {
    if faults.is_empty() { Ok(()) } else { Err(faults.join("\n")) }
}
