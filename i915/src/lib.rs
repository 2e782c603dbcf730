//! The i915 kernel interface as gencl uses it.
//!
//! [`RenderNode`] has one method for each request. Behind it stands either a real device file
//! (module [`kernel`], the ioctls of the kernel's `i915_drm.h`) or the simulator, in process. The
//! runtime knows no difference. Errors are the kernel's `errno` values.

pub mod kernel;
mod memory;
mod node;
pub mod uapi;

pub use memory::{GemBuffer, HostMemory};
pub use node::*;
