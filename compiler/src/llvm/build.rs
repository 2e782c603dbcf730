//! LLVM IR to write: what [`super::view`] reads is changed here.

use std::ffi::CString;

use inkwell::context::{AsContextRef, Context};
use inkwell::llvm_sys::core::{
    LLVMAddAttributeAtIndex, LLVMAddFunction, LLVMAddGlobalInAddressSpace, LLVMAddIncoming, LLVMBuildAlloca,
    LLVMBuildBinOp, LLVMBuildCall2, LLVMBuildCast, LLVMBuildExtractElement, LLVMBuildExtractValue,
    LLVMBuildFCmp, LLVMBuildFreeze, LLVMBuildGEP2, LLVMBuildICmp, LLVMBuildInsertElement,
    LLVMBuildInsertValue, LLVMBuildIntCast2, LLVMBuildLoad2, LLVMBuildMemCpy, LLVMBuildMemMove,
    LLVMBuildMemSet, LLVMBuildPhi, LLVMBuildSelect, LLVMBuildStore, LLVMConstAllOnes, LLVMConstInt,
    LLVMConstNull, LLVMConstReal, LLVMCreateBuilderInContext, LLVMCreateEnumAttribute,
    LLVMCreateStringAttribute, LLVMDisposeBuilder, LLVMFunctionType, LLVMGetEnumAttributeKindForName,
    LLVMGetNamedFunction, LLVMGetPoison, LLVMInstructionEraseFromParent, LLVMIntTypeInContext,
    LLVMPointerTypeInContext, LLVMPositionBuilderBefore, LLVMRemoveEnumAttributeAtIndex,
    LLVMReplaceAllUsesWith, LLVMSetAlignment, LLVMSetFunctionCallConv, LLVMSetGlobalConstant,
    LLVMSetInstructionCallConv, LLVMSetLinkage, LLVMSetNSW, LLVMSetOperand, LLVMSetValueName2,
    LLVMSetVolatile, LLVMVectorType, LLVMVoidTypeInContext,
};
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::{LLVMAttributeFunctionIndex, LLVMLinkage};

use super::ask;
use super::view::{Block, IntPredicate, Module, Opcode, RealPredicate, Type, Value};

const NO_NAME: *const std::ffi::c_char = c"".as_ptr();

fn c_string(text: &str) -> CString {
    CString::new(text).expect("no zero in it")
}

/// Appends instructions in front of one that is there.
pub struct Builder<'m> {
    context: LLVMContextRef,
    module: Module<'m>,
    raw: LLVMBuilderRef,
}

impl Drop for Builder<'_> {
    fn drop(&mut self) {
        ask!(LLVMDisposeBuilder(self.raw));
    }
}

impl<'m> Builder<'m> {
    /// A builder that is nowhere yet.
    pub fn new(context: &Context, module: &'m inkwell::module::Module<'_>) -> Self {
        let context = context.as_ctx_ref();
        Self { context, module: Module::of(module), raw: ask!(LLVMCreateBuilderInContext(context)) }
    }

    /// Builds in front of an instruction from here on.
    pub fn before(&self, instruction: Value) {
        ask!(LLVMPositionBuilderBefore(self.raw, instruction.raw));
    }

    pub fn int(&self, bits: u32) -> Type<'m> {
        Type::new(ask!(LLVMIntTypeInContext(self.context, bits)))
    }

    /// The type of `size_t`.
    pub fn size_type(&self) -> Type<'m> {
        self.int(8 * self.module.pointer_size())
    }

    /// The type of pointers to an address space.
    pub fn pointer(&self, space: u32) -> Type<'m> {
        Type::new(ask!(LLVMPointerTypeInContext(self.context, space)))
    }

    pub fn vector(&self, element: Type, count: u32) -> Type<'m> {
        Type::new(ask!(LLVMVectorType(element.raw, count)))
    }

    pub fn void(&self) -> Type<'m> {
        Type::new(ask!(LLVMVoidTypeInContext(self.context)))
    }

    pub fn number(&self, bits: u32, value: u64) -> Value<'m> {
        Value::new(ask!(LLVMConstInt(self.int(bits).raw, value, 0)))
    }

    /// An integer of a type.
    pub fn number_of(&self, ty: Type, value: u64) -> Value<'m> {
        Value::new(ask!(LLVMConstInt(ty.raw, value, 0)))
    }

    /// The zero of a type.
    pub fn zero(&self, ty: Type) -> Value<'m> {
        Value::new(ask!(LLVMConstNull(ty.raw)))
    }

    /// The integer, or vector of integers, of a type with all bits set.
    pub fn ones(&self, ty: Type) -> Value<'m> {
        Value::new(ask!(LLVMConstAllOnes(ty.raw)))
    }

    /// A float of a type, rounded.
    pub fn float(&self, ty: Type, value: f64) -> Value<'m> {
        Value::new(ask!(LLVMConstReal(ty.raw, value)))
    }

    pub fn poison(&self, ty: Type) -> Value<'m> {
        Value::new(ask!(LLVMGetPoison(ty.raw)))
    }

    /// One of the casts; the value itself where it has the type.
    pub fn cast(&self, opcode: Opcode, value: Value, ty: Type) -> Value<'m> {
        Value::new(ask!(LLVMBuildCast(self.raw, opcode, value.raw, ty.raw, NO_NAME)))
    }

    /// An integer extended or truncated.
    pub fn resize(&self, value: Value, ty: Type, signed: bool) -> Value<'m> {
        Value::new(ask!(LLVMBuildIntCast2(self.raw, value.raw, ty.raw, signed.into(), NO_NAME)))
    }

    pub fn binary(&self, opcode: Opcode, a: Value, b: Value) -> Value<'m> {
        Value::new(ask!(LLVMBuildBinOp(self.raw, opcode, a.raw, b.raw, NO_NAME)))
    }

    /// Whether two integers are equal.
    pub fn equal(&self, a: Value, b: Value) -> Value<'m> {
        self.compare(IntPredicate::LLVMIntEQ, a, b)
    }

    pub fn compare(&self, predicate: IntPredicate, a: Value, b: Value) -> Value<'m> {
        Value::new(ask!(LLVMBuildICmp(self.raw, predicate, a.raw, b.raw, NO_NAME)))
    }

    pub fn compare_floats(&self, predicate: RealPredicate, a: Value, b: Value) -> Value<'m> {
        Value::new(ask!(LLVMBuildFCmp(self.raw, predicate, a.raw, b.raw, NO_NAME)))
    }

    pub fn select(&self, condition: Value, yes: Value, no: Value) -> Value<'m> {
        Value::new(ask!(LLVMBuildSelect(self.raw, condition.raw, yes.raw, no.raw, NO_NAME)))
    }

    /// A `phi`; the builder is at the beginning of its block.
    pub fn phi(&self, ty: Type, incoming: &[(Value, Block)]) -> Value<'m> {
        let phi = ask!(LLVMBuildPhi(self.raw, ty.raw, NO_NAME));
        let phi = Value::new(phi);
        for &(value, block) in incoming {
            phi.add_incoming(value, block);
        }
        phi
    }

    /// Any value in place of poison.
    pub fn freeze(&self, value: Value) -> Value<'m> {
        Value::new(ask!(LLVMBuildFreeze(self.raw, value.raw, NO_NAME)))
    }

    pub fn extract(&self, vector: Value, index: u32) -> Value<'m> {
        let index = self.number(32, index.into());
        Value::new(ask!(LLVMBuildExtractElement(self.raw, vector.raw, index.raw, NO_NAME)))
    }

    pub fn insert(&self, vector: Value, element: Value, index: u32) -> Value<'m> {
        let index = self.number(32, index.into());
        Value::new(ask!(LLVMBuildInsertElement(self.raw, vector.raw, element.raw, index.raw, NO_NAME)))
    }

    /// An element of a vector by an integer of any type, and a vector with another one.
    pub fn extract_at(&self, vector: Value, index: Value) -> Value<'m> {
        Value::new(ask!(LLVMBuildExtractElement(self.raw, vector.raw, index.raw, NO_NAME)))
    }

    pub fn insert_at(&self, vector: Value, element: Value, index: Value) -> Value<'m> {
        Value::new(ask!(LLVMBuildInsertElement(self.raw, vector.raw, element.raw, index.raw, NO_NAME)))
    }

    pub fn insert_field(&self, structure: Value, field: Value, index: u32) -> Value<'m> {
        Value::new(ask!(LLVMBuildInsertValue(self.raw, structure.raw, field.raw, index, NO_NAME)))
    }

    pub fn extract_field(&self, structure: Value, index: u32) -> Value<'m> {
        Value::new(ask!(LLVMBuildExtractValue(self.raw, structure.raw, index, NO_NAME)))
    }

    /// A pointer some bytes further on.
    pub fn advance(&self, pointer: Value, bytes: u32) -> Value<'m> {
        self.offset(pointer, self.number(32, bytes.into()))
    }

    /// A pointer by so many bytes further on, an integer of any type, signed.
    pub fn offset(&self, pointer: Value, bytes: Value) -> Value<'m> {
        let byte = self.int(8).raw;
        Value::new(ask!(LLVMBuildGEP2(self.raw, byte, pointer.raw, [bytes.raw].as_mut_ptr(), 1, NO_NAME)))
    }

    /// A private variable without a value.
    pub fn variable(&self, ty: Type) -> Value<'m> {
        Value::new(ask!(LLVMBuildAlloca(self.raw, ty.raw, NO_NAME)))
    }

    /// The same with an alignment in bytes.
    pub fn aligned_variable(&self, ty: Type, align: u32) -> Value<'m> {
        let variable = self.variable(ty);
        ask!(LLVMSetAlignment(variable.raw, align));
        variable
    }

    /// Fills memory with a byte. `length` is an integer.
    pub fn fill(&self, pointer: Value, byte: Value, length: Value, align: u32) {
        ask!(LLVMBuildMemSet(self.raw, pointer.raw, byte.raw, length.raw, align));
    }

    /// Copies memory that may overlap.
    pub fn move_memory(&self, to: (Value, u32), from: (Value, u32), length: Value) {
        ask!(LLVMBuildMemMove(self.raw, to.0.raw, to.1, from.0.raw, from.1, length.raw));
    }

    /// Copies memory that does not.
    pub fn copy_memory(&self, to: (Value, u32), from: (Value, u32), length: Value) {
        ask!(LLVMBuildMemCpy(self.raw, to.0.raw, to.1, from.0.raw, from.1, length.raw));
    }

    /// Size of a type in bytes.
    pub fn size_of(&self, ty: Type<'m>) -> u64 {
        self.module.size_of(ty)
    }

    /// Offset of a structure's field in bytes.
    pub fn field_offset(&self, ty: Type<'m>, field: u32) -> u64 {
        self.module.field_offset(ty, field)
    }

    pub fn aligned_load(&self, ty: Type, pointer: Value, align: u32) -> Value<'m> {
        let load = self.load(ty, pointer);
        ask!(LLVMSetAlignment(load.raw, align));
        load
    }

    pub fn load(&self, ty: Type, pointer: Value) -> Value<'m> {
        Value::new(ask!(LLVMBuildLoad2(self.raw, ty.raw, pointer.raw, NO_NAME)))
    }

    /// A load of what is there now, whatever was stored.
    pub fn load_again(&self, ty: Type, pointer: Value) -> Value<'m> {
        let load = self.load(ty, pointer);
        ask!(LLVMSetVolatile(load.raw, 1));
        load
    }

    pub fn store(&self, value: Value, pointer: Value, align: u32) {
        let store = ask!(LLVMBuildStore(self.raw, value.raw, pointer.raw));
        ask!(LLVMSetAlignment(store, align));
    }

    /// A private variable that begins as a copy of another; both have the alignment.
    pub fn copy_of(&self, source: Value, ty: Type<'m>, align: u32) -> Value<'m> {
        let copy = self.aligned_variable(ty, align);
        self.copy_memory((copy, align), (source, align), self.number(64, self.size_of(ty)));
        copy
    }

    /// A new constant variable without a value.
    pub fn constant_variable(&self, name: &str, ty: Type<'m>, align: u32, space: u32) -> Value<'m> {
        let name = c_string(name);
        let variable = ask!(LLVMAddGlobalInAddressSpace(self.module.raw, ty.raw, name.as_ptr(), space));
        ask!(LLVMSetGlobalConstant(variable, 1));
        ask!(LLVMSetAlignment(variable, align));
        Value::new(variable)
    }

    /// Calls a function of the module, which is declared if it is not there.
    pub fn call(&self, name: &str, result: Type, arguments: &[Value]) -> Value<'m> {
        let mut types: Vec<_> = arguments.iter().map(|argument| argument.ty().raw).collect();
        let mut arguments: Vec<_> = arguments.iter().map(|argument| argument.raw).collect();
        let count = types.len() as u32;
        let ty = ask!(LLVMFunctionType(result.raw, types.as_mut_ptr(), count, 0));
        let function = self.module.function(name).map(|function| function.raw);
        let name = c_string(name);
        let function = function.unwrap_or_else(|| ask!(LLVMAddFunction(self.module.raw, name.as_ptr(), ty)));
        Value::new(ask!(LLVMBuildCall2(self.raw, ty, function, arguments.as_mut_ptr(), count, NO_NAME)))
    }
}

impl<'m> Module<'m> {
    /// A function by its name.
    pub fn function(self, name: &str) -> Option<Value<'m>> {
        let name = c_string(name);
        Value::maybe(ask!(LLVMGetNamedFunction(self.raw, name.as_ptr())))
    }
}

fn kind(attribute: &str) -> u32 {
    ask!(LLVMGetEnumAttributeKindForName(attribute.as_ptr().cast(), attribute.len()))
}

/// Of functions.
impl Value<'_> {
    /// Gives it an attribute without a value, or with the value 0: that of `memory` means that none is touched.
    pub fn add_attribute(self, context: &Context, name: &str) {
        let attribute = ask!(LLVMCreateEnumAttribute(context.as_ctx_ref(), kind(name), 0));
        ask!(LLVMAddAttributeAtIndex(self.raw, LLVMAttributeFunctionIndex, attribute));
    }

    /// Gives it an attribute that is a string.
    pub fn add_string_attribute(self, context: &Context, name: &str, value: &str) {
        let (key, key_length) = (name.as_ptr().cast(), name.len() as u32);
        let (value, length) = (value.as_ptr().cast(), value.len() as u32);
        let context = context.as_ctx_ref();
        let attribute = ask!(LLVMCreateStringAttribute(context, key, key_length, value, length));
        ask!(LLVMAddAttributeAtIndex(self.raw, LLVMAttributeFunctionIndex, attribute));
    }

    /// Takes an attribute from it, if it has that.
    pub fn remove_attribute(self, name: &str) {
        ask!(LLVMRemoveEnumAttributeAtIndex(self.raw, LLVMAttributeFunctionIndex, kind(name)));
    }

    /// Nothing outside of the module calls it.
    pub fn make_internal(self) {
        ask!(LLVMSetLinkage(self.raw, LLVMLinkage::LLVMInternalLinkage));
    }

    /// Gives it another name.
    pub fn rename(self, name: &str) {
        ask!(LLVMSetValueName2(self.raw, name.as_ptr().cast(), name.len()));
    }

    /// How it is called.
    pub fn set_convention(self, convention: u32) {
        ask!(LLVMSetFunctionCallConv(self.raw, convention));
    }
}

/// Of instructions and other values.
impl Value<'_> {
    /// How a call calls.
    pub fn set_call_convention(self, convention: u32) {
        ask!(LLVMSetInstructionCallConv(self.raw, convention));
    }

    /// What uses it uses another value from here on.
    pub fn replace_uses(self, other: Value) {
        ask!(LLVMReplaceAllUsesWith(self.raw, other.raw));
    }

    /// Puts another value in place of an operand.
    pub fn set_operand(self, index: u32, value: Value) {
        ask!(LLVMSetOperand(self.raw, index, value.raw));
    }

    /// Gives an operation on integers a result where signed integers overflow: the lowest bits.
    pub fn let_overflow(self) {
        ask!(LLVMSetNSW(self.raw, 0));
    }

    /// Adds a value to a `phi`.
    pub fn add_incoming(self, value: Value, block: Block) {
        ask!(LLVMAddIncoming(self.raw, [value.raw].as_mut_ptr(), [block.raw].as_mut_ptr(), 1));
    }

    /// Removes an instruction that nothing uses.
    pub fn erase(self) {
        ask!(LLVMInstructionEraseFromParent(self.raw));
    }

    /// Puts another value in place of an instruction.
    pub fn replace(self, other: Value) {
        self.replace_uses(other);
        self.erase();
    }
}
