//! Passes over the middle IR, each from one function to another.

mod addresses;
mod ahead;
mod coalesce;
mod counted;
pub mod counters;
mod dead;
mod guards;
mod natural;
mod predication;
mod same;
mod serial;
mod simplify;
pub mod strides;
mod sums;

use gencl_eu::abi::Tier;

use crate::middle::function::Function;

/// A pass.
pub type Pass = fn(&Function) -> Function;

/// All passes, by name.
pub const PASSES: [(&str, Pass); 8] = [
    ("simplify", simplify::simplify),
    ("dead", dead::remove),
    ("coalesce", coalesce::coalesce),
    ("addresses", addresses::find),
    ("ahead", ahead::read_ahead),
    ("serial", serial::serialise),
    ("guards", guards::version),
    ("predication", predication::predicate),
];

/// The names of those that are run, in their order.
const ORDER: [&str; 15] = [
    "simplify",
    "dead",
    "coalesce",
    "simplify",
    "dead",
    "addresses",
    "ahead",
    "serial",
    "simplify",
    "dead",
    "guards",
    "dead",
    "predication",
    "simplify",
    "dead",
];

/// Of baseline code: nothing is there twice, which is what takes LLVM's time.
const BASELINE: [&str; 8] =
    ["simplify", "dead", "coalesce", "simplify", "dead", "addresses", "simplify", "dead"];

/// Runs all passes of a tier.
pub fn all(function: &Function, tier: Tier) -> Function {
    let order = match tier {
        Tier::Baseline => &BASELINE[..],
        Tier::Optimised => &ORDER,
    };
    let passes = order.iter().flat_map(|name| PASSES.iter().find(|(own, _)| own == name));
    passes.fold(function.clone(), |function, (_, pass)| pass(&function))
}
