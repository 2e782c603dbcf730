//! LLVM IR as text.

use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;

/// Reads a module, and verifies it.
///
/// # Errors
/// LLVM's message about the first mistake.
pub fn parse<'ctx>(context: &'ctx Context, text: &str) -> Result<Module<'ctx>, String> {
    let with_zero = [text.as_bytes(), &[0]].concat();
    let buffer = MemoryBuffer::create_from_memory_range_copy(&with_zero, "module");
    let module = context.create_module_from_ir(buffer).map_err(|error| error.to_string())?;
    module.verify().map_err(|error| error.to_string())?;
    Ok(module)
}
