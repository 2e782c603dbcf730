//! Samplers.

pub mod create;
pub mod info;
pub mod references;
