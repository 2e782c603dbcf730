//! Shared code of the tests of all crates.
//!
//! - [`harness`]: tests that are skipped, with a reason, where a tool is missing. A test that compared
//!   nothing never passes.
//! - [`instructions`]: random instructions of the execution units.
//! - [`Journal`]: the last actions of a process's threads, to diagnose a crash.
//! - [`ocloc`]: machine code of Intel's compiler.
//! - [`packets`]: commands, state structures and registers of the hardware, from independent descriptions.
//! - [`processor_time`]: what limits tests on machines that do other things as well.
//! - [`Random`]: pseudo-random numbers from a seed.
//! - [`wait_until`]: waits for the end of a process, with a timeout.

pub mod c_program;
pub mod harness;
pub mod instructions;
mod journal;
pub mod ocloc;
pub mod packets;
mod process;
mod random;

pub use journal::{Journal, memory_file};
pub use process::{processor_time, wait_until};
pub use random::Random;
