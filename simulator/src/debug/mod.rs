//! Launches under a debugger: interpreted on one host thread, one instruction after the other, always in the same order.
//!
//! The time of a launch is the number of instructions that it has executed. A debugger runs it to a place or a time,
//! also backwards: it is executed again from the last [checkpoint](checkpoints) before.

mod checkpoints;
pub mod control;
pub mod engine;
pub mod launch;
pub mod protocol;
pub mod server;
pub mod stops;
