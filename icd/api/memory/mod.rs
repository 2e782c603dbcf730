//! Memory objects.

pub mod buffer;
pub mod info;
pub mod references;
pub mod shared;
pub mod sub_buffer;
pub mod unified;
