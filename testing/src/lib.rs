//! What the tests of all crates share.
//!
//! - [`harness`]: tests that are skipped, with a reason, where a tool is missing. A test that compared
//!   nothing never passes.
//! - [`packets`]: commands, state structures and registers of the hardware, as independent descriptions have
//!   them.

pub mod harness;
pub mod packets;
