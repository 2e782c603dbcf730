//! The built-in library, linked lazily.

use inkwell::context::{AsContextRef, Context};
use inkwell::llvm_sys::bit_reader::LLVMGetBitcodeModuleInContext2;
use inkwell::llvm_sys::core::{LLVMCreateMemoryBufferWithMemoryRange, LLVMDisposeMemoryBuffer};
use inkwell::module::Module;

use super::ask;

/// Bitcode of all built-in functions; `build/library.rs` makes it.
static BITCODE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/library.bc"));

/// Links the functions of the library that `module` calls, and what they call.
///
/// Only the library's table of contents is read for it, and the bodies of these functions: all of the library has
/// `linkonce` linkage, which the linker takes over only where it is used.
///
/// # Errors
/// LLVM's message when the two do not fit together.
pub fn link<'ctx>(context: &'ctx Context, module: &Module<'ctx>) -> Result<(), String> {
    let library = load(context)?;
    module.link_in_module(library).map_err(|e| e.to_string())
}

/// Reads the table of contents.
fn load(context: &Context) -> Result<Module<'_>, String> {
    let name = c"library";
    let buffer =
        ask!(LLVMCreateMemoryBufferWithMemoryRange(BITCODE.as_ptr().cast(), BITCODE.len(), name.as_ptr(), 0));
    let mut module = std::ptr::null_mut();
    // On success the module owns the buffer, which borrows the static bitcode.
    if ask!(LLVMGetBitcodeModuleInContext2(context.as_ctx_ref(), buffer, &raw mut module)) != 0 {
        ask!(LLVMDisposeMemoryBuffer(buffer));
        return Err("the built-in library is damaged".into());
    }
    // SAFETY: the module is new, in `context`, and nobody else has it.
    Ok(unsafe { Module::new(module) })
}

/// Touches the library, so that the first build does not wait for the disk.
pub fn preload() {
    std::hint::black_box(BITCODE.iter().step_by(4096).map(|&byte| u64::from(byte)).sum::<u64>());
}
