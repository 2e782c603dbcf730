//! LLVM IR to Gen IR.
//!
//! Runs after LLVM's passes: each kernel is one function without calls other than of intrinsics. Vectors and
//! structures become many registers ([`types`]), phis become copies ([`function`]), addresses become integers
//! ([`address`]), arguments become pushed constants ([`arguments`]).

mod across;
mod address;
mod arguments;
mod arithmetic;
mod builtin;
mod bulk;
mod compare;
mod convert;
mod data;
mod element_pointer;
mod function;
mod image;
mod instruction;
mod intrinsic;
mod intrinsic_integer;
mod location;
mod memory;
mod offset;
mod translator;
mod types;
mod variables;
mod wide;

use thiserror::Error;

use crate::ir::Unit;
use crate::llvm::debug::Subprogram;
use crate::llvm::view::Module;

/// Why a kernel cannot be compiled.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{}: {message}", place(kernel, *location))]
pub struct TranslateError {
    /// The kernel.
    pub kernel: String,
    /// Line and column in the source, when the module has debug information. The column is 0 if it is not known.
    pub location: Option<(u32, u32)>,
    /// What is wrong.
    pub message: String,
}

fn place(kernel: &str, location: Option<(u32, u32)>) -> String {
    match location {
        Some((line, 0)) => format!("{line}: error: kernel {kernel}"),
        Some((line, column)) => format!("{line}:{column}: error: kernel {kernel}"),
        None => format!("error: kernel {kernel}"),
    }
}

/// A [`TranslateError`] without the kernel, and possibly without location.
#[derive(Clone, Debug)]
struct Failure {
    message: String,
    location: Option<(u32, u32)>,
}

impl Failure {
    fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), location: None }
    }

    /// Sets the location unless it is set.
    fn at(mut self, location: Option<(u32, u32)>) -> Self {
        self.location = self.location.or(location);
        self
    }
}

/// Translates all kernels of a module, in order.
///
/// # Errors
/// The first construct that is not supported.
pub fn translate(module: Module) -> Result<Unit, TranslateError> {
    let (mut variables, mut sources) = (data::Variables::default(), location::Sources::default());
    let mut declarations = variables::Declarations::default();
    let mut functions = Vec::new();
    for kernel in module.functions().filter(|function| function.is_kernel()) {
        let function = function::translate(module, kernel, &mut variables, &mut sources, &mut declarations)
            .map_err(|failure| {
            // What is wrong with a kernel's arguments is in no instruction.
            let definition = || Subprogram::of(kernel).map(|subprogram| (subprogram.line(), 0));
            let location = failure.location.or_else(definition);
            TranslateError { kernel: kernel.name(), location, message: failure.message }
        })?;
        functions.push(function);
        declarations.kernel += 1;
    }
    let (data, locations) = (variables.finish(), sources.finish());
    Ok(Unit { functions, data, locations, variables: declarations.finish(), ..Unit::default() })
}
