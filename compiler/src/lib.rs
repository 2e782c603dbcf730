//! The compiler: OpenCL C to Gen machine code.
//!
//! - [`clang`] compiles to LLVM IR, [`llvm`] inlines and optimises it, [`translate`] translates it to Gen IR
//!   (feature `llvm`);
//! - [`ir`]: Gen IR, its text form, validator, analyses and passes;
//! - [`codegen`]: selection, register allocation, encoding.

#[cfg(feature = "llvm")]
pub mod clang;
pub mod codegen;
#[cfg(feature = "llvm")]
mod conversion;
#[cfg(feature = "llvm")]
pub mod driver;
#[cfg(feature = "llvm")]
mod dwarf;
#[cfg(feature = "llvm")]
pub mod internal;
pub mod ir;
#[cfg(feature = "llvm")]
pub mod link;
#[cfg(feature = "llvm")]
pub mod llvm;
#[cfg(feature = "llvm")]
pub mod overflow;
#[cfg(feature = "llvm")]
pub mod server;
pub mod statistics;
#[cfg(feature = "llvm")]
pub mod supervisor;
#[cfg(feature = "llvm")]
pub mod translate;
#[cfg(feature = "llvm")]
pub mod translation;
#[cfg(feature = "llvm")]
mod unsupported;
