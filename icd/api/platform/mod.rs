//! The platform.

pub mod compiler;
pub mod extension;
pub mod ids;
pub mod info;
