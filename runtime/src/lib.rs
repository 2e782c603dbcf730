//! Contexts, queues, events, memory, programs and kernels, without C types.
//!
//! The path of a launch: [`Queue::launch`] copies the values of a [`Kernel`]'s arguments and enqueues a
//! command with an [`Event`]. When the command's dependences are met, a thread (the queue's or one that
//! waits) builds a batch buffer and state, submits them to the render node and completes the event when the
//! GPU is done. See `docs/runtime.md`.
#![forbid(unsafe_code)]

pub mod calls;
mod command_buffer;
mod conflicts;
mod context;
mod debugger;
mod device;
mod diagnosis;
mod error;
mod event;
pub mod findings;
mod json_lines;
mod kernel;
mod launch;
mod memory;
mod nd_range;
mod platform;
mod printf;
mod profile;
mod program;
mod queue;
mod sampler;
mod semaphore;
mod sync;
pub mod trace;
mod transfer;
mod values;

pub use command_buffer::{CommandBuffer, LaunchUpdate};
pub use context::{Context, ContextNotify};
pub use device::{Device, DeviceFacts, DeviceKind, host_time};
pub use diagnosis::diagnosis;
pub use error::{Code, Error, Result};
pub use event::{CommandKind, Event, EventStatus, ProfilingInfo};
pub use gencl_client::set_library_path;
pub use gencl_i915::HostMemory;
pub use gencl_i915::kernel::PciAddress;
pub use gencl_program::{Access, Argument, ArgumentKind};
pub use gencl_simulator::Settings as SimulatorSettings;
pub use kernel::{ArgumentValue, BuiltKernel, Kernel};
pub use memory::{
    Buffer, BufferRect, ChannelOrder, ChannelType, Color, HostAccess, Image, ImageDescriptor, ImageFormat,
    ImageKind, ImageLayout, ImageLimits, MAX_ALIGNMENT, MapFlags, MemoryFlags, SharedKind, SharedMemory,
};
pub use nd_range::NdRange;
pub use platform::Platform;
pub use printf::PRINTF_BUFFER_SIZE;
pub use program::{BinaryKind, BuildStatus, Program};
pub use queue::{Queue, QueueFlags};
pub use sampler::{AddressingMode, FilterMode, Sampler};
pub use semaphore::Semaphore;
pub use transfer::Transfer;
