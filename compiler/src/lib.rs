//! The compiler: OpenCL C to Gen machine code.
//!
//! - clang makes LLVM IR, LLVM inlines and optimises it, the translation makes Gen IR of it (feature `llvm`);
//! - [`ir`]: Gen IR, its text form, validator, analyses and passes;
//! - [`codegen`]: selection, register allocation, encoding.

pub mod codegen;
pub mod ir;
