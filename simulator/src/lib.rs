//! A software i915 and Gen GPU.

pub mod clock;
pub mod device;
pub mod dispatch;
pub mod eu;
pub mod fault;
pub mod memory;
pub mod running;
pub mod settings;
pub mod streamer;
