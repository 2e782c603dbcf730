//! Read-only access to variables of the source in debug information, and to their types.

use std::ffi::{c_char, c_void};
use std::slice;

use inkwell::llvm_sys::prelude::*;

use super::ask;
use super::debug::{DebugLocation, File, Node};
use super::view::Value;

/// `GenclNode` of `variables.cpp`.
#[repr(C)]
struct RawNode {
    name: *const c_char,
    length: u64,
    bits: u64,
    offset: u64,
    count: u64,
    value: i64,
    base: LLVMMetadataRef,
    scope: LLVMMetadataRef,
    file: LLVMMetadataRef,
    tag: u32,
    line: u32,
    encoding: u32,
    address_space: u32,
    elements: u32,
    argument: u32,
    flags: u32,
}

unsafe extern "C" {
    // In `variables.cpp`.
    fn gencl_describe(node: LLVMMetadataRef, out: *mut RawNode);
    fn gencl_element(node: LLVMMetadataRef, index: u32) -> LLVMMetadataRef;
    fn gencl_declared(
        alloca: LLVMValueRef,
        to: *mut c_void,
        tell: unsafe extern "C" fn(*mut c_void, LLVMMetadataRef, LLVMMetadataRef),
    );
    fn gencl_declared_global(variable: LLVMValueRef) -> LLVMMetadataRef;
}

/// A variable, a type, a part of a type, or a scope. What its kind does not have is 0, empty or none.
#[derive(Clone, Debug)]
pub struct Description<'m> {
    /// `DW_TAG_*`.
    pub tag: u16,
    /// Its name.
    pub name: String,
    /// Line of the declaration, from 1.
    pub line: u32,
    /// Size.
    pub bits: u64,
    /// Where a member is, in bits.
    pub offset: u64,
    /// Elements of a dimension of an array.
    pub count: u64,
    /// That of an enumerator.
    pub value: i64,
    /// `DW_ATE_*` of a scalar.
    pub encoding: u8,
    /// OpenCL's address space of what a pointer points to.
    pub address_space: Option<u32>,
    /// Number of a parameter, from 1.
    pub argument: u32,
    /// Whether an array is a vector.
    pub is_vector: bool,
    /// Whether a member is a bit field.
    pub is_bit_field: bool,
    /// The type of a variable, member, element or pointee, or what a type is another name of.
    pub base: Option<Node<'m>>,
    /// What it is in.
    pub scope: Option<Node<'m>>,
    /// The file of the declaration.
    pub file: Option<File<'m>>,
    /// Members, dimensions or enumerators.
    pub elements: Vec<Node<'m>>,
}

/// Describes a node.
pub fn describe<'m>(node: Node<'m>) -> Description<'m> {
    // SAFETY: zeros and null pointers are valid in all fields.
    let mut raw: RawNode = unsafe { std::mem::zeroed() };
    ask!(gencl_describe(node.raw, &raw mut raw));
    // SAFETY: the node owns so many bytes.
    let name = (raw.length > 0)
        .then(|| unsafe { slice::from_raw_parts(raw.name.cast::<u8>(), raw.length as usize) });
    let elements = (0..raw.elements).filter_map(|index| Node::new(ask!(gencl_element(node.raw, index))));
    Description {
        tag: raw.tag as u16,
        name: String::from_utf8_lossy(name.unwrap_or_default()).into_owned(),
        line: raw.line,
        bits: raw.bits,
        offset: raw.offset,
        count: raw.count,
        value: raw.value,
        encoding: raw.encoding as u8,
        address_space: raw.address_space.checked_sub(1),
        argument: raw.argument,
        is_vector: raw.flags & 1 != 0,
        is_bit_field: raw.flags & 2 != 0,
        base: Node::new(raw.base),
        scope: Node::new(raw.scope),
        file: Node::new(raw.file).map(File),
        elements: elements.collect(),
    }
}

/// The variables that are at the address of an alloca, each with the place of its declaration.
pub fn declared<'m>(alloca: Value<'m>) -> Vec<(Node<'m>, DebugLocation<'m>)> {
    type Found<'m> = Vec<(Node<'m>, DebugLocation<'m>)>;
    unsafe extern "C" fn tell(to: *mut c_void, variable: LLVMMetadataRef, location: LLVMMetadataRef) {
        // SAFETY: it is the vector below, which nobody else uses meanwhile.
        let found = unsafe { &mut *to.cast::<Found<'_>>() };
        found.extend(Node::new(variable).zip(Node::new(location).map(DebugLocation)));
    }
    let mut found = Found::new();
    ask!(gencl_declared(alloca.raw, (&raw mut found).cast(), tell));
    found
}

/// The variable of the source that a global variable of LLVM's is.
pub fn declared_global<'m>(variable: Value<'m>) -> Option<Node<'m>> {
    Node::new(ask!(gencl_declared_global(variable.raw)))
}
