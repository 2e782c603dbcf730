//! The i915 kernel interface as gencl uses it.
//!
//! [`RenderNode`] has a method per request. It is implemented by a real device file (module [`kernel`], the
//! ioctls of the kernel's `i915_drm.h`) and by the simulator, in process. Errors are the kernel's `errno`
//! values.

mod buffer;
pub mod facts;
pub mod kernel;
mod memory;
mod node;
pub mod uapi;

pub use buffer::GemBuffer;
pub use memory::HostMemory;
pub use node::*;
