//! What a compiled program is.
//!
//! The compiler makes a [`Program`], the runtime launches it; this crate is all that they share: the kernel
//! ABI (which data the hardware pushes into which registers), the ELF container, the options of builds and
//! the protocol of the compile server.

mod check;
mod data;
pub mod debug;
pub mod elf;
pub mod environment;
mod extensions;
mod kernel;
pub mod options;
pub mod printf;
mod profile;
pub mod protocol;
pub mod report;

pub use data::{Data, Image, Relocation};
pub use kernel::*;
pub use profile::{Optional, Profile};
