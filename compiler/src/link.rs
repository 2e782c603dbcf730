//! Separate compilation and linking (OpenCL 3.0, 5.8.3 and 5.8.6).
//!
//! An object contains clang's LLVM IR as bitcode. LLVM links it; all other passes run afterwards. An
//! executable contains it too, so that it can be recompiled at a larger SIMD width for larger work-groups.

use gencl_program::{Program, ProgramKind, elf};
use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;

/// The inputs of `clLinkProgram`.
#[derive(Clone, Copy, Debug)]
pub struct Link<'a> {
    /// Objects and libraries as ELF files.
    pub inputs: &'a [Vec<u8>],
    /// Link options as passed by the application.
    pub options: &'a str,
    /// The target's name.
    pub target: &'a str,
}

/// An object with a module from clang.
///
/// `options` are those it was compiled or linked with, as passed by the application.
pub fn object(module: &Module<'_>, options: &str, uneven_groups: bool, target: &str) -> Program {
    Program {
        target: target.into(),
        kind: ProgramKind::Object,
        options: options.into(),
        uneven_groups,
        bitcode: bitcode(module),
        ..Program::default()
    }
}

/// A module's bitcode, without the zero byte that `inkwell` appends.
pub fn bitcode(module: &Module<'_>) -> Vec<u8> {
    let mut bytes = module.write_bitcode_to_memory().as_slice().to_vec();
    bytes.pop();
    bytes
}

/// Parses bitcode.
///
/// # Errors
/// LLVM's message for invalid bitcode.
pub fn parse<'ctx>(context: &'ctx Context, bitcode: &[u8]) -> Result<Module<'ctx>, String> {
    let with_zero = [bitcode, &[0]].concat();
    let buffer = MemoryBuffer::create_from_memory_range_copy(&with_zero, "object");
    Module::parse_bitcode_from_buffer(&buffer, context).map_err(|e| e.to_string_lossy().into_owned())
}

/// Links all inputs to one module; also returns whether all of them allow uneven work-groups.
///
/// # Errors
/// An input that is not an object or library for the target; errors of LLVM's linker, such as duplicate
/// definitions.
pub fn merge<'ctx>(context: &'ctx Context, link: &Link<'_>) -> Result<(Module<'ctx>, bool), String> {
    let whole = context.create_module("linked");
    let mut uneven_groups = true;
    for (index, input) in link.inputs.iter().enumerate() {
        let number = index + 1;
        let program = elf::read(input).map_err(|e| format!("input {number}: {e}"))?;
        if program.target != link.target {
            return Err(format!("input {number} is for {}, not {}", program.target, link.target));
        }
        if program.kind == ProgramKind::Executable {
            return Err(format!("input {number} is an executable"));
        }
        uneven_groups &= program.uneven_groups;
        let module = parse(context, &program.bitcode).map_err(|e| format!("input {number}: {e}"))?;
        if index == 0 {
            whole.set_triple(&module.get_triple());
            whole.set_data_layout(&module.get_data_layout());
        }
        whole.link_in_module(module).map_err(|e| format!("input {number}: {}", e.to_string_lossy()))?;
    }
    Ok((whole, uneven_groups))
}
