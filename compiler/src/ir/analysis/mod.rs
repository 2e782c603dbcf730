//! Analyses: computed from a function on demand, never kept across a change of it.

pub mod cfg;
pub mod liveness;
pub mod parking;
pub mod structure;
pub mod uniformity;
pub mod values;

#[cfg(test)]
mod tests;
