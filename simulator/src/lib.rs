//! A software i915 and Gen GPU.

pub mod clock;
pub mod debug;
pub mod engine;
pub mod gpu;
mod host_thread;
mod kernels;
mod node;
pub mod pool;
pub mod running;
pub mod settings;
pub mod statistics;
pub mod streamer;
pub mod translated;
pub mod watchdog;

pub use gpu::{Executor, LaunchStatistics, Prepared};
pub use node::{Buffer, Fence, Relocations, Simulator, Submission, UnknownDevice, Vm};
pub use settings::{OnStall, Settings, Stall};
