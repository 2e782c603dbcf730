//! The engine that executes kernels as host machine code.
//!
//! A [`gencl_eu::abi::TranslationSource`] makes the code, in another process; [`loader`] brings it into
//! memory, and a [`runner::Runner`] executes work-groups with it. `docs/simulator.md`, "The engine", tells
//! how.

mod frame;
pub mod loader;
mod runner;
pub mod source;
mod translations;
mod variant;

pub use runner::{Runner, Task, Work};
pub use translations::{Choice, Translations};
