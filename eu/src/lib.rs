//! The execution units: decoding kernels and executing work-groups.
//!
//! Written from the Skylake manual, Volume 7 "3D-Media-GPGPU" ("EU Overview", "Instruction Set Reference",
//! "Shared Functions"). See `docs/eu.md` for how it works and what is not simulated.

pub mod abi;
pub mod compute;
pub mod cycles;
pub mod device;
pub mod dispatch;
mod double_pairs;
mod endless;
mod fast;
mod fast_compare;
mod fast_float;
mod fast_move;
pub mod fault;
pub mod file;
pub mod float;
mod flow;
pub mod functions;
mod general;
mod ieee_macro;
mod kernel;
mod lower;
mod math;
pub mod memory;
pub mod message;
mod odd;
pub mod op;
pub mod operand;
mod probe;
pub mod profile;
mod run;
pub mod thread;
mod value;
mod wide;

#[cfg(test)]
pub(crate) mod tests;

pub use endless::{Cycle, no_end, registers_repeat};
pub use flow::thread_successors;
pub use kernel::{Kernel, first_instruction};
pub use run::{Context, Worker, run_group, run_group_with, run_one, send_one};
pub use run::{barrier_deadlock, locate_fault};
