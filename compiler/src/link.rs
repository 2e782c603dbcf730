//! Compiled objects: sources stopped before linking, put together later (OpenCL 3.0, 5.8.3 and 5.8.6).
//!
//! An object holds the LLVM IR that clang made, as bitcode; linking is LLVM's, and everything else comes after it.

use gencl_program::{Program, ProgramKind, elf};
use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;
use thiserror::Error;

use crate::options;

/// What `clLinkProgram` is to make.
#[derive(Clone, Copy, Debug)]
pub struct Link<'a> {
    /// Objects and libraries as ELF files.
    pub inputs: &'a [Vec<u8>],
    /// Link options as the application gave them.
    pub options: &'a str,
    /// The target's name.
    pub target: &'a str,
}

/// Options of a link that allow less exact mathematics. What they allow each object was already compiled for or not.
const ALLOWANCES: &[&str] = &[
    "-cl-denorms-are-zero",
    "-cl-no-signed-zeros",
    "-cl-unsafe-math-optimizations",
    "-cl-finite-math-only",
    "-cl-fast-relaxed-math",
    "-cl-no-subgroup-ifp",
];

/// What linker options ask for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkOptions {
    /// `-create-library`
    pub library: bool,
}

/// `CL_INVALID_LINKER_OPTIONS`, with the reason.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum LinkOptionsError {
    /// No such option.
    #[error("unknown linker option {0}")]
    Unknown(String),
    /// An option that only libraries have.
    #[error("-enable-link-options needs -create-library")]
    NoLibrary,
}

/// Reads linker options.
///
/// # Errors
/// Anything that OpenCL does not define.
pub fn link_options(text: &str) -> Result<LinkOptions, LinkOptionsError> {
    let mut result = LinkOptions::default();
    let mut enable = false;
    for word in text.split_ascii_whitespace() {
        match word {
            "-create-library" => result.library = true,
            "-enable-link-options" => enable = true,
            _ if ALLOWANCES.contains(&word) => {}
            _ => return Err(LinkOptionsError::Unknown(word.into())),
        }
    }
    if enable && !result.library { Err(LinkOptionsError::NoLibrary) } else { Ok(result) }
}

/// An object of a module fresh from clang.
pub fn object(module: &Module<'_>, options: &str, target: &str) -> Program {
    Program {
        target: target.into(),
        kind: ProgramKind::Object,
        options: options.into(),
        // Options that are wrong have been refused before.
        uneven_groups: options::allows_uneven_groups(options).unwrap_or_default(),
        bitcode: bitcode(module),
        ..Program::default()
    }
}

/// A module's bitcode. The slice that `inkwell` gives has a zero byte behind it, which is none of it.
fn bitcode(module: &Module<'_>) -> Vec<u8> {
    let mut bytes = module.write_bitcode_to_memory().as_slice().to_vec();
    bytes.pop();
    bytes
}

/// One module of all inputs, and whether all of them allow uneven work-groups.
///
/// # Errors
/// An input that is no object or library for the target; what LLVM's linker says, such as which name is defined twice.
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
        let with_zero = [program.bitcode.as_slice(), &[0]].concat();
        let buffer = MemoryBuffer::create_from_memory_range_copy(&with_zero, "object");
        let module = Module::parse_bitcode_from_buffer(&buffer, context)
            .map_err(|e| format!("input {number}: {}", e.to_string_lossy()))?;
        if index == 0 {
            whole.set_triple(&module.get_triple());
            whole.set_data_layout(&module.get_data_layout());
        }
        whole.link_in_module(module).map_err(|e| format!("input {number}: {}", e.to_string_lossy()))?;
    }
    Ok((whole, uneven_groups))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_links() {
        let library = LinkOptions { library: true };
        assert_eq!(link_options("").unwrap(), LinkOptions::default());
        assert_eq!(link_options(" -create-library  -enable-link-options ").unwrap(), library);
        assert_eq!(link_options("-cl-fast-relaxed-math").unwrap(), LinkOptions::default());
        assert_eq!(link_options("-enable-link-options"), Err(LinkOptionsError::NoLibrary));
        assert_eq!(link_options("-DX"), Err(LinkOptionsError::Unknown("-DX".into())));
    }
}
