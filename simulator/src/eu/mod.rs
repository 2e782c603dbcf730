//! The execution units.
