//! The execution units: decoding kernels and executing work-groups.
//!
//! Written from the Skylake manual, Volume 7 "3D-Media-GPGPU" ("EU Overview", "Instruction Set Reference",
//! "Shared Functions"). See `docs/eu.md` for how it works and what is not simulated.
//!
//! Files use those of their own row and of the rows above:
//!
//! | files | |
//! | --- | --- |
//! | `device.rs`, `fault.rs`, `memory/`, `control.rs`, `dispatch.rs`, `file.rs`, `float.rs`, `thread.rs` | a thread and what it runs on |
//! | `message/`, `operand.rs`, `op.rs`, `masks.rs`, `context.rs`, `cycles.rs` | lowered instructions, and what they act on |
//! | `arithmetic/`, `shared_function/` | what executes an instruction |
//! | `decode/` | from code to lowered instructions |
//! | `execute/` | runs threads and work-groups |
//! | `profile/`, `abi.rs` | statistics, and the interface to translated code |

pub mod abi;
mod arithmetic;
mod context;
mod control;
pub mod cycles;
mod decode;
pub mod device;
pub mod dispatch;
mod execute;
pub mod fault;
pub mod file;
pub mod float;
mod masks;
pub mod memory;
pub mod message;
mod odd;
pub mod op;
pub mod operand;
pub mod profile;
pub mod shared_function;
pub mod thread;

#[cfg(test)]
pub(crate) mod tests;

pub use arithmetic::{compute, functions};
pub use context::{Context, MessageCache};
pub use decode::endless::{no_end, registers_repeat, thread_successors};
pub use decode::{ImageUse, Kernel, first_instruction};
pub use execute::{
    Cycle, SteppedGroup, Surroundings, Worker, barrier_deadlock, locate_fault, run_group, run_group_with,
    run_one, send_one,
};
