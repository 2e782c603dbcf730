//! Compiled programs: the interface of compiler and runtime.
//!
//! The compiler produces a [`Program`], the runtime launches its kernels. Both share only this crate: the
//! kernel ABI (which data the hardware pushes into which registers), the ELF container, build options and the
//! protocol of the compile server.

mod check;
mod data;
pub mod debug;
pub mod debug_address;
pub mod diagnosis;
pub mod elf;
pub mod environment;
mod extensions;
pub mod finding;
pub mod found;
mod kernel;
pub mod misuse;
pub mod options;
pub mod printf;
mod profile;
pub mod protocol;
pub mod report;
pub mod suggest;
pub mod tools;
pub mod variables;

pub use data::{Data, DataSection, Relocation};
pub use extensions::CXX_FOR_OPENCL;
pub use kernel::*;
pub use profile::{Optional, Profile};
