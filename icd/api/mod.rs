//! The entry points, by type of object.
//!
//! The conditions above checks are those of "The OpenCL Specification", version 3.0, under the name of
//! the function. The order of parameters is the C order; their types are explained in [`crate::abi`].
#![allow(clippy::too_many_arguments, reason = "the C API defines them")]

pub mod command_buffer;
pub mod context;
pub mod device;
pub mod enqueue;
pub mod event;
pub mod image;
pub mod kernel;
pub mod memory;
pub mod platform;
pub mod program;
pub mod queue;
pub mod sampler;
pub mod semaphore;
pub mod unsupported;
