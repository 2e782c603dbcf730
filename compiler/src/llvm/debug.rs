//! Read-only access to debug locations of LLVM IR.

use std::ffi::c_char;
use std::marker::PhantomData;
use std::slice;

use inkwell::llvm_sys::debuginfo::{
    LLVMDIFileGetFilename, LLVMDIFileGetSource, LLVMDILocationGetColumn, LLVMDILocationGetInlinedAt,
    LLVMDILocationGetLine, LLVMDILocationGetScope, LLVMDIScopeGetFile, LLVMDISubprogramGetLine,
    LLVMGetSubprogram, LLVMInstructionGetDebugLoc,
};
use inkwell::llvm_sys::prelude::*;

use super::ask;
use super::view::Value;

unsafe extern "C" {
    /// In `passes.cpp`.
    fn gencl_subprogram(scope: LLVMMetadataRef) -> LLVMMetadataRef;
    /// In `passes.cpp`.
    fn gencl_subprogram_name(subprogram: LLVMMetadataRef, length: *mut u32) -> *const c_char;
}

/// A `DILocation`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct DebugLocation<'m>(pub(super) Node<'m>);

/// A `DISubprogram`: a function in the source.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Subprogram<'m>(Node<'m>);

/// A `DIFile`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct File<'m>(pub(super) Node<'m>);

/// A metadata node.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Node<'m> {
    pub(super) raw: LLVMMetadataRef,
    life: PhantomData<&'m ()>,
}

impl Node<'_> {
    pub(super) fn new(raw: LLVMMetadataRef) -> Option<Self> {
        (!raw.is_null()).then_some(Node { raw, life: PhantomData })
    }

    /// The text of one of LLVM's functions that return a string of the node with its length.
    fn text(self, get: unsafe extern "C" fn(LLVMMetadataRef, *mut u32) -> *const c_char) -> Option<String> {
        let mut length = 0;
        let text = ask!(get(self.raw, &mut length));
        // SAFETY: LLVM returns null, or the beginning of so many bytes, which the node owns.
        let bytes =
            (!text.is_null()).then(|| unsafe { slice::from_raw_parts(text.cast::<u8>(), length as usize) });
        bytes.map(|bytes| String::from_utf8_lossy(bytes).into_owned())
    }
}

impl<'m> DebugLocation<'m> {
    /// The location of an instruction.
    pub fn of(instruction: Value<'m>) -> Option<Self> {
        Node::new(ask!(LLVMInstructionGetDebugLoc(instruction.raw))).map(Self)
    }

    /// The line, from 1; 0 for code that belongs to no line.
    pub fn line(self) -> u32 {
        ask!(LLVMDILocationGetLine(self.0.raw))
    }

    /// The column, from 1; 0 if it is not known.
    pub fn column(self) -> u32 {
        ask!(LLVMDILocationGetColumn(self.0.raw))
    }

    /// The call, if the function was inlined.
    pub fn inlined_at(self) -> Option<DebugLocation<'m>> {
        Node::new(ask!(LLVMDILocationGetInlinedAt(self.0.raw))).map(Self)
    }

    /// The scope: a block, or a function.
    pub fn scope(self) -> Option<Node<'m>> {
        Node::new(ask!(LLVMDILocationGetScope(self.0.raw)))
    }

    /// The function.
    pub fn subprogram(self) -> Option<Subprogram<'m>> {
        self.scope().and_then(Subprogram::from_scope)
    }

    /// The file: another one than the function's after an `#include` or `#line` in it.
    pub fn file(self) -> Option<File<'m>> {
        Node::new(ask!(LLVMDIScopeGetFile(LLVMDILocationGetScope(self.0.raw)))).map(File)
    }
}

impl<'m> Subprogram<'m> {
    /// The debug information of a function.
    pub fn of(function: Value<'m>) -> Option<Self> {
        Node::new(ask!(LLVMGetSubprogram(function.raw))).map(Self)
    }

    /// The function that a scope is, or is in.
    pub fn from_scope(scope: Node<'m>) -> Option<Self> {
        Node::new(ask!(gencl_subprogram(scope.raw))).map(Subprogram)
    }

    /// Whether it is this scope.
    pub fn is(self, scope: Node<'m>) -> bool {
        self.0 == scope
    }

    /// Its name.
    pub fn name(self) -> String {
        self.0.text(gencl_subprogram_name).unwrap_or_default()
    }

    /// The line of its definition.
    pub fn line(self) -> u32 {
        ask!(LLVMDISubprogramGetLine(self.0.raw))
    }

    /// The file of its definition.
    pub fn file(self) -> Option<File<'m>> {
        Node::new(ask!(LLVMDIScopeGetFile(self.0.raw))).map(File)
    }
}

impl File<'_> {
    /// Its name in diagnostics.
    pub fn name(self) -> String {
        self.0.text(LLVMDIFileGetFilename).unwrap_or_default()
    }

    /// Its text, if it is embedded.
    pub fn source(self) -> Option<String> {
        self.0.text(LLVMDIFileGetSource)
    }
}
