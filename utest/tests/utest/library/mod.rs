//! The built-in library against the specification: functions as rows of tables, each evaluated for every type and number of elements.

mod calls;
mod common;
mod conversions;
mod edge_cases;
mod floats;
mod geometry;
mod integers;
mod relations;
mod shuffles;

use gencl_utest::{Case, Outcome};

pub fn cases() -> Vec<Case> {
    [
        integers::cases(),
        relations::cases(),
        common::cases(),
        geometry::cases(),
        conversions::cases(),
        shuffles::cases(),
        edge_cases::cases(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// All that is wrong, one a line.
fn none(faults: &[String]) -> Outcome {
    if faults.is_empty() { Ok(()) } else { Err(faults.join("\n")) }
}
