//! What the tests of all crates share.
//!
//! - [`harness`]: tests that are skipped, with a reason, where a tool is missing. A test that compared
//!   nothing never passes.
//! - [`Journal`]: what the threads of a process did last, for who finds it dead.
//! - [`ocloc`]: machine code of Intel's compiler.
//! - [`packets`]: commands, state structures and registers of the hardware, as independent descriptions have
//!   them.
//! - [`Random`]: numbers that follow from a seed.
//! - [`wait_until`]: the end of a process, within a time.

pub mod harness;
mod journal;
pub mod ocloc;
pub mod packets;
mod process;
mod random;

pub use journal::{Journal, memory_file};
pub use process::wait_until;
pub use random::Random;
