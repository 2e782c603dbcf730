//! Decodes kernels: finds their instructions, and lowers each to the form in which it is executed.

mod double_pairs;
pub mod endless;
mod explore;
mod image_use;
mod kernel;
pub mod lower;

pub use explore::first_instruction;
pub use image_use::ImageUse;
pub use kernel::Kernel;
