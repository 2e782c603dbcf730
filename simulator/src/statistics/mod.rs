//! Statistics of kernels: how launches are summed up, the file that they are written to, and how that is
//! shown.
//!
//! The counting is [`gencl_eu::profile`]'s; `docs/statistics.md` explains model and file.

mod bounds;
mod collect;
pub mod compare;
mod file;
pub mod report;
pub mod text;

pub use bounds::{Bound, Bounds, Machine};
pub use collect::{Collector, Counted};
pub use file::written_at_exit;
pub use report::Report;
