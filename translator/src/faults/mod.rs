//! Workarounds for faults of LLVM 19.

mod bitselect;
pub mod masks;

use std::ffi::CStr;

use inkwell::builder::BuilderError;
use inkwell::llvm_sys::support::LLVMParseCommandLineOptions;
use inkwell::module::Module;

use crate::host::Vectors;

/// Rewrites what LLVM's code generation gets wrong, or takes too long for, after its passes.
pub fn avoid(module: &Module<'_>, vectors: Vectors) -> Result<(), BuilderError> {
    masks::hide(module)?;
    match vectors.masked {
        true => masks::widen(module).and_then(|()| bitselect::hide(module)),
        false => masks::spread(module),
    }
}

/// LLVM's options that a target machine does not have, each around a fault. They are the process's: nobody else generates the host's code in a compile server.
///
/// Token factors of more than two operands are not put into each other: with AVX-512 one became an operand of itself, and LLVM followed it until its stack
/// ended (LLVM's issue 211496). Those of two have to be: where bytes are read for all lanes, nodes were merged without end with AVX2 otherwise.
///
/// Numbers do not become masks of AVX-512 where that saves moves between both ("domain reassignment"): it takes time that grows with the square of straight
/// code, half of all for a sort of 12,000 instructions, and changed nothing of what was looked at.
pub fn set_options() {
    let arguments = [c"gencl", c"-combiner-tokenfactor-inline-limit=2", c"-disable-x86-domain-reassignment"]
        .map(CStr::as_ptr);
    // SAFETY: all are texts that end with 0, and live for ever; so does the empty overview.
    unsafe { LLVMParseCommandLineOptions(arguments.len() as i32, arguments.as_ptr(), c"".as_ptr()) };
}
