//! Command-queues.

pub mod create;
pub mod flush;
pub mod info;
pub mod properties;
pub mod references;
