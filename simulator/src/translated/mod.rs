//! Executes kernels as host machine code.
//!
//! A [`gencl_eu::abi::TranslationSource`] generates the code, in another process; [`loader`] loads it, and a
//! [`runner::Runner`] executes work-groups with it. See `docs/simulator.md`, "The engine".

mod frame;
pub mod loader;
mod look;
mod runner;
pub mod source;
mod surfaces;
mod translations;
mod variant;

pub use runner::{LaunchContext, Runner, TranslatedLaunch};
pub use surfaces::LaunchSurfaces;
pub use translations::{TranslationChoice, Translations};
