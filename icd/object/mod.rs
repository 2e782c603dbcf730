//! Objects with handles: those of the runtime, with the state that only the C API needs.

mod command_buffer;
mod context;
mod device;
mod event;
mod kernel;
mod memory;
mod platform;
mod program;
mod queue;
mod sampler;
mod semaphore;

pub use command_buffer::{CommandBuffer, MutableCommand};
pub use context::Context;
pub use device::Device;
pub use event::{Event, to_runtime, wait_list};
pub use kernel::Kernel;
pub use memory::Memory;
pub use platform::Platform;
pub use program::Program;
pub use queue::Queue;
pub use sampler::Sampler;
pub use semaphore::Semaphore;
