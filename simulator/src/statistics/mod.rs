//! Statistics of kernels: collecting those of launches, writing them to a file, and showing that file.
//!
//! [`gencl_eu::profile`] does the counting; `docs/statistics.md` explains the model and the file.

mod bounds;
mod collect;
pub mod compare;
mod file;
pub mod live;
pub mod report;
mod sums;
pub mod text;

pub use bounds::{Bound, Bounds, DeviceUsage};
pub use collect::Collector;
pub use file::written_at_exit;
pub use report::Report;
pub use sums::CountedKernel;
