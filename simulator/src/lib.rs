//! A software i915 and Gen GPU.

pub mod device;
pub mod dispatch;
pub mod eu;
pub mod fault;
pub mod memory;
