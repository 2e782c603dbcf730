//! Reads SPIR-V modules of the OpenCL environment, and writes them as LLVM IR as clang gives it for OpenCL C: what
//! follows a front end does not know where a module is from.
//!
//! LLVM IR is written as text. LLVM's parser and verifier refuse what is wrong with types, where its builder would have
//! undefined behaviour; and this crate needs no LLVM.
//!
//! Sources: SPIR-V 1.6; OpenCL SPIR-V Environment Specification 3.0; OpenCL Extended Instruction Set.

mod capability;
mod constants;
mod environment;
mod error;
mod fold;
mod inspect;
mod kernel;
mod lines;
mod lower;
mod mangle;
mod metadata;
mod module;
mod order;
mod scopes;
#[cfg(test)]
mod tests;
mod text;
mod types;
mod walk;
mod whole;
mod writer;

pub use capability::{capabilities, extensions, instruction_sets};
pub use environment::{Environment, Features};
pub use error::{Place, SpirvError};
pub use inspect::{SpecConstant, specialization_constants};

/// Whether bytes begin as a module does, in one of both byte orders.
pub fn is_module(bytes: &[u8]) -> bool {
    bytes.first_chunk().is_some_and(|first| walk::byte_order(*first).is_some())
}

/// Writes a module as LLVM IR.
///
/// # Errors
/// The first instruction that is wrong, or that is not supported.
pub fn translate(module: &[u8], environment: &Environment<'_>) -> Result<String, SpirvError> {
    let words = walk::words(module)?;
    let instructions = walk::instructions(&words)?;
    let module = module::Module::new(walk::tool(&words), &instructions, environment.features)?;
    writer::Writer::new(&module, environment).write()
}
