//! Read-only access to LLVM IR, by handles that cannot outlive their module.

use std::ffi::CStr;
use std::marker::PhantomData;

use inkwell::llvm_sys::core::{
    LLVMConstIntGetSExtValue, LLVMConstIntGetZExtValue, LLVMConstRealGetDouble, LLVMCountIncoming,
    LLVMCountParams, LLVMCountStructElementTypes, LLVMDisposeMessage, LLVMDisposeValueMetadataEntries,
    LLVMGetAggregateElement, LLVMGetAlignment, LLVMGetAllocatedType, LLVMGetArrayLength2, LLVMGetAsString,
    LLVMGetAtomicRMWBinOp, LLVMGetBasicBlockParent, LLVMGetBasicBlockTerminator,
    LLVMGetCallSiteEnumAttribute, LLVMGetCalledValue, LLVMGetCmpXchgSuccessOrdering, LLVMGetCondition,
    LLVMGetConstOpcode, LLVMGetDebugLocColumn, LLVMGetDebugLocLine, LLVMGetElementType,
    LLVMGetEnumAttributeAtIndex, LLVMGetEnumAttributeKindForName, LLVMGetEnumAttributeValue,
    LLVMGetFCmpPredicate, LLVMGetFastMathFlags, LLVMGetFirstBasicBlock, LLVMGetFirstFunction,
    LLVMGetFirstGlobal, LLVMGetFirstInstruction, LLVMGetFirstUse, LLVMGetFunctionCallConv,
    LLVMGetGEPSourceElementType, LLVMGetGlobalParent, LLVMGetICmpPredicate, LLVMGetIncomingBlock,
    LLVMGetIncomingValue, LLVMGetIndices, LLVMGetInitializer, LLVMGetInstructionOpcode,
    LLVMGetInstructionParent, LLVMGetIntTypeWidth, LLVMGetIsDisjoint, LLVMGetMDKindID,
    LLVMGetMDKindIDInContext, LLVMGetMDNodeNumOperands, LLVMGetMDNodeOperands, LLVMGetMDString,
    LLVMGetMaskValue, LLVMGetMetadata, LLVMGetModuleContext, LLVMGetNSW, LLVMGetNextBasicBlock,
    LLVMGetNextFunction, LLVMGetNextGlobal, LLVMGetNextInstruction, LLVMGetNextUse, LLVMGetNumArgOperands,
    LLVMGetNumIndices, LLVMGetNumMaskElements, LLVMGetNumOperands, LLVMGetNumSuccessors, LLVMGetOperand,
    LLVMGetOrdering, LLVMGetParam, LLVMGetPointerAddressSpace, LLVMGetStringAttributeAtIndex,
    LLVMGetStringAttributeValue, LLVMGetSuccessor, LLVMGetTypeAttributeValue, LLVMGetTypeKind, LLVMGetUser,
    LLVMGetValueKind, LLVMGetValueName2, LLVMGetVectorSize, LLVMGlobalCopyAllMetadata,
    LLVMGlobalGetValueType, LLVMIsConditional, LLVMIsDeclaration, LLVMIsGlobalConstant, LLVMMetadataAsValue,
    LLVMPrintTypeToString, LLVMPrintValueToString, LLVMStructGetTypeAtIndex, LLVMTypeOf,
    LLVMValueMetadataEntriesGetKind, LLVMValueMetadataEntriesGetMetadata,
};
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::target::{
    LLVMABIAlignmentOfType, LLVMABISizeOfType, LLVMGetModuleDataLayout, LLVMOffsetOfElement, LLVMPointerSize,
    LLVMStoreSizeOfType,
};
use inkwell::llvm_sys::{
    LLVMAtomicOrdering, LLVMAttributeFunctionIndex, LLVMCallConv, LLVMTypeKind, LLVMValueKind,
};
pub use inkwell::llvm_sys::{
    LLVMAtomicRMWBinOp as RmwOp, LLVMIntPredicate as IntPredicate, LLVMOpcode as Opcode,
    LLVMRealPredicate as RealPredicate,
};

use super::ask;

/// Calling convention of kernels.
pub const SPIR_KERNEL: u32 = LLVMCallConv::LLVMSPIRKERNELCallConv as u32;

unsafe extern "C" {
    /// In `passes.cpp`.
    fn gencl_constant_bits(constant: LLVMValueRef, first: u32, count: u32) -> u64;
}

/// A module.
#[derive(Clone, Copy)]
pub struct Module<'m> {
    pub(super) raw: LLVMModuleRef,
    life: PhantomData<&'m ()>,
}

/// A function, global variable, block, argument, instruction or constant.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Value<'m> {
    pub(super) raw: LLVMValueRef,
    life: PhantomData<&'m ()>,
}

/// A basic block.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Block<'m> {
    pub(super) raw: LLVMBasicBlockRef,
    life: PhantomData<&'m ()>,
}

/// A type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Type<'m> {
    pub(super) raw: LLVMTypeRef,
    life: PhantomData<&'m ()>,
}

/// A metadata node or string, as a value.
#[derive(Clone, Copy)]
pub struct Metadata<'m>(Value<'m>);

/// The kind of a type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TypeKind<'m> {
    /// No value.
    Void,
    /// An integer of so many bits.
    Integer(u32),
    /// 16-bit float.
    Half,
    /// 32-bit float.
    Float,
    /// 64-bit float.
    Double,
    /// A pointer to an address space.
    Pointer(u32),
    /// So many elements of a scalar type.
    Vector(u32, Type<'m>),
    /// So many elements of any type.
    Array(u64, Type<'m>),
    /// A structure with so many fields.
    Struct(u32),
    /// An image, sampler, event, pipe...: a type of the target by its name.
    Target,
    /// Labels, metadata, 80-bit floats and so on.
    Other,
}

/// What a value is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "named as in LLVM")]
pub enum ValueKind {
    Argument,
    Block,
    Function,
    GlobalVariable,
    ConstantExpression,
    /// A constant array, structure or vector with operands for its elements.
    ConstantAggregate,
    Undefined,
    Zero,
    ConstantInteger,
    ConstantFloat,
    Instruction,
    Other,
}

impl<'m> Module<'m> {
    /// A view of an `inkwell` module.
    #[must_use]
    pub fn of(module: &'m inkwell::module::Module<'_>) -> Self {
        Self { raw: module.as_mut_ptr(), life: PhantomData }
    }

    /// Functions in order, declarations among them.
    pub fn functions(self) -> impl Iterator<Item = Value<'m>> {
        let first = Value::maybe(ask!(LLVMGetFirstFunction(self.raw)));
        std::iter::successors(first, |f| Value::maybe(ask!(LLVMGetNextFunction(f.raw))))
    }

    /// Global variables in order.
    pub fn globals(self) -> impl Iterator<Item = Value<'m>> {
        let first = Value::maybe(ask!(LLVMGetFirstGlobal(self.raw)));
        std::iter::successors(first, |g| Value::maybe(ask!(LLVMGetNextGlobal(g.raw))))
    }

    /// Bytes between consecutive elements of the type in memory.
    #[must_use]
    pub fn size_of(self, ty: Type<'m>) -> u64 {
        ask!(LLVMABISizeOfType(LLVMGetModuleDataLayout(self.raw), ty.raw))
    }

    /// Bytes that a load or store of the type accesses.
    #[must_use]
    pub fn store_size_of(self, ty: Type<'m>) -> u64 {
        ask!(LLVMStoreSizeOfType(LLVMGetModuleDataLayout(self.raw), ty.raw))
    }

    /// Bytes of a pointer.
    #[must_use]
    pub fn pointer_size(self) -> u32 {
        ask!(LLVMPointerSize(LLVMGetModuleDataLayout(self.raw)))
    }

    /// Alignment in bytes.
    #[must_use]
    pub fn align_of(self, ty: Type<'m>) -> u32 {
        ask!(LLVMABIAlignmentOfType(LLVMGetModuleDataLayout(self.raw), ty.raw))
    }

    /// Offset in bytes of a structure's field.
    #[must_use]
    pub fn field_offset(self, ty: Type<'m>, field: u32) -> u64 {
        ask!(LLVMOffsetOfElement(LLVMGetModuleDataLayout(self.raw), ty.raw, field))
    }
}

impl<'m> Type<'m> {
    pub(super) fn new(raw: LLVMTypeRef) -> Self {
        Self { raw, life: PhantomData }
    }

    /// What it is.
    #[must_use]
    pub fn kind(self) -> TypeKind<'m> {
        match ask!(LLVMGetTypeKind(self.raw)) {
            LLVMTypeKind::LLVMVoidTypeKind => TypeKind::Void,
            LLVMTypeKind::LLVMIntegerTypeKind => TypeKind::Integer(ask!(LLVMGetIntTypeWidth(self.raw))),
            LLVMTypeKind::LLVMHalfTypeKind => TypeKind::Half,
            LLVMTypeKind::LLVMFloatTypeKind => TypeKind::Float,
            LLVMTypeKind::LLVMDoubleTypeKind => TypeKind::Double,
            LLVMTypeKind::LLVMPointerTypeKind => {
                TypeKind::Pointer(ask!(LLVMGetPointerAddressSpace(self.raw)))
            }
            LLVMTypeKind::LLVMVectorTypeKind => {
                let element = Self::new(ask!(LLVMGetElementType(self.raw)));
                TypeKind::Vector(ask!(LLVMGetVectorSize(self.raw)), element)
            }
            LLVMTypeKind::LLVMArrayTypeKind => {
                let element = Self::new(ask!(LLVMGetElementType(self.raw)));
                TypeKind::Array(ask!(LLVMGetArrayLength2(self.raw)), element)
            }
            LLVMTypeKind::LLVMStructTypeKind => TypeKind::Struct(ask!(LLVMCountStructElementTypes(self.raw))),
            LLVMTypeKind::LLVMTargetExtTypeKind => TypeKind::Target,
            _ => TypeKind::Other,
        }
    }

    /// Type of a structure's field.
    #[must_use]
    pub fn field(self, index: u32) -> Type<'m> {
        Self::new(ask!(LLVMStructGetTypeAtIndex(self.raw, index)))
    }

    /// Whether it is that of pointers to an address space.
    #[must_use]
    pub fn is_pointer_to(self, space: u32) -> bool {
        self.kind() == TypeKind::Pointer(space)
    }

    /// As LLVM writes it.
    #[must_use]
    pub fn text(self) -> String {
        message(ask!(LLVMPrintTypeToString(self.raw)))
    }

    /// Whether it is `event_t`.
    #[must_use]
    pub fn is_event(self) -> bool {
        self.kind() == TypeKind::Target && self.text() == "target(\"spirv.Event\")"
    }
}

impl<'m> Block<'m> {
    fn new(raw: LLVMBasicBlockRef) -> Self {
        Self { raw, life: PhantomData }
    }

    /// Instructions in order.
    pub fn instructions(self) -> impl Iterator<Item = Value<'m>> {
        let first = Value::maybe(ask!(LLVMGetFirstInstruction(self.raw)));
        std::iter::successors(first, |i| Value::maybe(ask!(LLVMGetNextInstruction(i.raw))))
    }

    /// The last instruction.
    #[must_use]
    pub fn terminator(self) -> Value<'m> {
        Value::new(ask!(LLVMGetBasicBlockTerminator(self.raw)))
    }

    /// Successors, in the terminator's order.
    #[must_use]
    pub fn successors(self) -> Vec<Block<'m>> {
        let terminator = self.terminator();
        let count = ask!(LLVMGetNumSuccessors(terminator.raw));
        (0..count).map(|i| Block::new(ask!(LLVMGetSuccessor(terminator.raw, i)))).collect()
    }
}

impl<'m> Value<'m> {
    pub(super) fn new(raw: LLVMValueRef) -> Self {
        Self { raw, life: PhantomData }
    }

    pub(super) fn maybe(raw: LLVMValueRef) -> Option<Self> {
        (!raw.is_null()).then(|| Self::new(raw))
    }

    /// What it is.
    #[must_use]
    pub fn kind(self) -> ValueKind {
        match ask!(LLVMGetValueKind(self.raw)) {
            LLVMValueKind::LLVMArgumentValueKind => ValueKind::Argument,
            LLVMValueKind::LLVMBasicBlockValueKind => ValueKind::Block,
            LLVMValueKind::LLVMFunctionValueKind => ValueKind::Function,
            LLVMValueKind::LLVMGlobalVariableValueKind => ValueKind::GlobalVariable,
            LLVMValueKind::LLVMConstantExprValueKind => ValueKind::ConstantExpression,
            LLVMValueKind::LLVMConstantArrayValueKind
            | LLVMValueKind::LLVMConstantStructValueKind
            | LLVMValueKind::LLVMConstantVectorValueKind
            | LLVMValueKind::LLVMConstantDataArrayValueKind
            | LLVMValueKind::LLVMConstantDataVectorValueKind => ValueKind::ConstantAggregate,
            LLVMValueKind::LLVMUndefValueValueKind | LLVMValueKind::LLVMPoisonValueKind => {
                ValueKind::Undefined
            }
            LLVMValueKind::LLVMConstantAggregateZeroValueKind
            | LLVMValueKind::LLVMConstantPointerNullValueKind
            | LLVMValueKind::LLVMConstantTargetNoneValueKind => ValueKind::Zero,
            LLVMValueKind::LLVMConstantIntValueKind => ValueKind::ConstantInteger,
            LLVMValueKind::LLVMConstantFPValueKind => ValueKind::ConstantFloat,
            LLVMValueKind::LLVMInstructionValueKind => ValueKind::Instruction,
            _ => ValueKind::Other,
        }
    }

    /// Its type.
    #[must_use]
    pub fn ty(self) -> Type<'m> {
        Type::new(ask!(LLVMTypeOf(self.raw)))
    }

    /// Its name; empty when it has none.
    #[must_use]
    pub fn name(self) -> String {
        let mut length = 0;
        let text = ask!(LLVMGetValueName2(self.raw, &raw mut length));
        let bytes = ask!(std::slice::from_raw_parts(text.cast::<u8>(), length));
        String::from_utf8_lossy(bytes).into_owned()
    }

    /// As LLVM writes it.
    #[must_use]
    pub fn text(self) -> String {
        message(ask!(LLVMPrintValueToString(self.raw))).trim().to_owned()
    }

    /// Operands of an instruction or a constant expression.
    #[must_use]
    pub fn operands(self) -> Vec<Value<'m>> {
        (0..self.operand_count()).map(|i| self.operand(i)).collect()
    }

    /// The number of operands.
    #[must_use]
    pub fn operand_count(self) -> u32 {
        ask!(LLVMGetNumOperands(self.raw)) as u32
    }

    /// One operand.
    #[must_use]
    pub fn operand(self, index: u32) -> Value<'m> {
        Value::new(ask!(LLVMGetOperand(self.raw, index)))
    }

    /// Whether it has users.
    #[must_use]
    pub fn is_used(self) -> bool {
        !ask!(LLVMGetFirstUse(self.raw)).is_null()
    }

    /// Instructions and constants that use it.
    #[must_use]
    pub fn users(self) -> Vec<Value<'m>> {
        let mut users = Vec::new();
        let mut place = ask!(LLVMGetFirstUse(self.raw));
        while !place.is_null() {
            users.push(Value::new(ask!(LLVMGetUser(place))));
            place = ask!(LLVMGetNextUse(place));
        }
        users
    }

    /// All stores to a private variable that is loaded and stored as a whole, and nothing else is done with; `None` for
    /// other values. Code that is compiled for a debugger has each variable of the source like that.
    #[must_use]
    pub fn whole_stores(self) -> Option<Vec<Value<'m>>> {
        let is_instruction = self.kind() == ValueKind::Instruction;
        if !is_instruction || self.opcode() != Opcode::LLVMAlloca || self.operand(0).integer() != Some(1) {
            return None;
        }
        let ty = self.allocated_type();
        let mut stores = Vec::new();
        for user in self.users() {
            match user.opcode() {
                Opcode::LLVMLoad if user.ty() == ty => {}
                Opcode::LLVMStore if user.operand(0) != self && user.operand(0).ty() == ty => {
                    stores.push(user)
                }
                Opcode::LLVMCall if user.callee().is_some_and(|f| f.name().starts_with("llvm.lifetime.")) => {
                }
                _ => return None,
            }
        }
        Some(stores)
    }
}

/// Functions and global variables.
impl<'m> Value<'m> {
    /// Whether it is only declared.
    #[must_use]
    pub fn is_declaration(self) -> bool {
        ask!(LLVMIsDeclaration(self.raw)) != 0
    }

    /// Whether the function is a kernel.
    #[must_use]
    pub fn is_kernel(self) -> bool {
        self.convention() == SPIR_KERNEL && !self.is_declaration()
    }

    /// How a function is called.
    #[must_use]
    pub fn convention(self) -> u32 {
        ask!(LLVMGetFunctionCallConv(self.raw))
    }

    /// Parameters of a function.
    #[must_use]
    pub fn parameters(self) -> Vec<Value<'m>> {
        let count = ask!(LLVMCountParams(self.raw));
        (0..count).map(|i| Value::new(ask!(LLVMGetParam(self.raw, i)))).collect()
    }

    /// The pointee type of a function's `byval` parameter, and its alignment in bytes. This is that of the C type, which
    /// clang gives to the parameter: LLVM's type may be packed where the C type is not, as the type of a structure is
    /// that holds a packed union.
    #[must_use]
    pub fn by_value(self, module: Module<'m>, parameter: u32) -> Option<(Type<'m>, u32)> {
        let name = c"byval";
        let kind = ask!(LLVMGetEnumAttributeKindForName(name.as_ptr(), name.count_bytes()));
        let attribute = ask!(LLVMGetEnumAttributeAtIndex(self.raw, parameter + 1, kind));
        if attribute.is_null() {
            return None;
        }
        let ty = Type::new(ask!(LLVMGetTypeAttributeValue(attribute)));
        let align = match self.parameter_alignment(parameter) {
            0 => module.align_of(ty),
            known => known,
        };
        Some((ty, align))
    }

    /// The alignment attribute in bytes of a function's pointer parameter, or 0.
    #[must_use]
    pub fn parameter_alignment(self, parameter: u32) -> u32 {
        let name = c"align";
        let kind = ask!(LLVMGetEnumAttributeKindForName(name.as_ptr(), name.count_bytes()));
        let attribute = ask!(LLVMGetEnumAttributeAtIndex(self.raw, parameter + 1, kind));
        if attribute.is_null() { 0 } else { ask!(LLVMGetEnumAttributeValue(attribute)) as u32 }
    }

    /// The value of a function's string attribute.
    #[must_use]
    pub fn string_attribute(self, name: &str) -> Option<String> {
        let (start, length) = (name.as_ptr().cast(), name.len() as u32);
        let attribute =
            ask!(LLVMGetStringAttributeAtIndex(self.raw, LLVMAttributeFunctionIndex, start, length));
        let mut length = 0;
        let value =
            (!attribute.is_null()).then(|| ask!(LLVMGetStringAttributeValue(attribute, &mut length)))?;
        let bytes = ask!(std::slice::from_raw_parts(value.cast::<u8>(), length as usize));
        Some(String::from_utf8_lossy(bytes).into_owned())
    }

    /// Blocks of a function, the entry first.
    pub fn blocks(self) -> impl Iterator<Item = Block<'m>> {
        let maybe = |raw: LLVMBasicBlockRef| (!raw.is_null()).then(|| Block::new(raw));
        let first = maybe(ask!(LLVMGetFirstBasicBlock(self.raw)));
        std::iter::successors(first, move |block| maybe(ask!(LLVMGetNextBasicBlock(block.raw))))
    }

    /// Type of a function, or of a global variable's value.
    #[must_use]
    pub fn value_type(self) -> Type<'m> {
        Type::new(ask!(LLVMGlobalGetValueType(self.raw)))
    }

    /// The initial value of a global variable.
    #[must_use]
    pub fn initializer(self) -> Option<Value<'m>> {
        Value::maybe(ask!(LLVMGetInitializer(self.raw)))
    }

    /// The value of a constant global variable; `None` for anything else.
    #[must_use]
    pub fn initializer_of_constant(self) -> Option<Value<'m>> {
        let constant = self.kind() == ValueKind::GlobalVariable && ask!(LLVMIsGlobalConstant(self.raw)) != 0;
        constant.then(|| self.initializer()).flatten()
    }

    /// Explicit alignment of a global variable in bytes, or 0.
    #[must_use]
    pub fn global_alignment(self) -> u32 {
        ask!(LLVMGetAlignment(self.raw))
    }

    /// A function's metadata of one kind.
    #[must_use]
    pub fn metadata(self, kind: &str) -> Option<Metadata<'m>> {
        let context = ask!(LLVMGetModuleContext(LLVMGetGlobalParent(self.raw)));
        let wanted = ask!(LLVMGetMDKindIDInContext(context, kind.as_ptr().cast(), kind.len() as u32));
        let mut count = 0;
        let entries = ask!(LLVMGlobalCopyAllMetadata(self.raw, &raw mut count));
        let found = (0..count as u32)
            .find(|&i| ask!(LLVMValueMetadataEntriesGetKind(entries, i)) == wanted)
            .map(|i| ask!(LLVMMetadataAsValue(context, LLVMValueMetadataEntriesGetMetadata(entries, i))));
        ask!(LLVMDisposeValueMetadataEntries(entries));
        found.map(|raw| Metadata(Value::new(raw)))
    }
}

impl<'m> Metadata<'m> {
    /// A node's operands.
    #[must_use]
    pub fn operands(self) -> Vec<Value<'m>> {
        let count = ask!(LLVMGetMDNodeNumOperands(self.0.raw)) as usize;
        let mut operands = vec![std::ptr::null_mut(); count];
        ask!(LLVMGetMDNodeOperands(self.0.raw, operands.as_mut_ptr()));
        operands.into_iter().filter_map(Value::maybe).collect()
    }

    /// A node's operands as strings; an operand that is not a string is empty.
    #[must_use]
    pub fn strings(self) -> Vec<String> {
        let string = |value: Value| {
            let mut length = 0;
            let text = ask!(LLVMGetMDString(value.raw, &raw mut length));
            if text.is_null() {
                return String::new();
            }
            let bytes = ask!(std::slice::from_raw_parts(text.cast::<u8>(), length as usize));
            String::from_utf8_lossy(bytes).into_owned()
        };
        self.operands().into_iter().map(string).collect()
    }

    /// A node's integer operands.
    #[must_use]
    pub fn integers(self) -> Vec<u64> {
        let integer = |value: &Value<'m>| value.kind() == ValueKind::ConstantInteger;
        self.operands().into_iter().filter(integer).filter_map(Value::integer).collect()
    }
}

/// Constants.
impl<'m> Value<'m> {
    /// The bytes of a constant array of bytes.
    #[must_use]
    pub fn string(self) -> Option<Vec<u8>> {
        let TypeKind::Array(length, element) = self.ty().kind() else { return None };
        if element.kind() != TypeKind::Integer(8) {
            return None;
        }
        if self.kind() == ValueKind::Zero {
            return Some(vec![0; usize::try_from(length).ok()?]);
        }
        if ask!(LLVMGetValueKind(self.raw)) != LLVMValueKind::LLVMConstantDataArrayValueKind {
            return None;
        }
        let mut length = 0;
        let text = ask!(LLVMGetAsString(self.raw, &raw mut length));
        Some(ask!(std::slice::from_raw_parts(text.cast::<u8>(), length)).to_vec())
    }

    /// A constant integer of up to 64 bits, zero-extended.
    #[must_use]
    pub fn integer(self) -> Option<u64> {
        let narrow = matches!(self.ty().kind(), TypeKind::Integer(1..=64));
        (narrow && self.kind() == ValueKind::ConstantInteger)
            .then(|| ask!(LLVMConstIntGetZExtValue(self.raw)))
    }

    /// A constant integer of up to 64 bits, sign-extended.
    #[must_use]
    pub fn signed_integer(self) -> Option<i64> {
        let narrow = matches!(self.ty().kind(), TypeKind::Integer(1..=64));
        (narrow && self.kind() == ValueKind::ConstantInteger)
            .then(|| ask!(LLVMConstIntGetSExtValue(self.raw)))
    }

    /// Up to 64 bits of a constant integer of any size, from bit `first` on; bits beyond its end are zero.
    #[must_use]
    pub fn constant_bits(self, first: u32, count: u32) -> Option<u64> {
        // SAFETY: the function takes any constant integer.
        (self.kind() == ValueKind::ConstantInteger)
            .then(|| unsafe { gencl_constant_bits(self.raw, first, count) })
    }

    /// A constant float or double (for a NaN, an arbitrary NaN).
    #[must_use]
    pub fn float(self) -> f64 {
        let mut lossy = 0;
        ask!(LLVMConstRealGetDouble(self.raw, &raw mut lossy))
    }

    /// One element of a constant vector, array or structure.
    #[must_use]
    pub fn element(self, index: u32) -> Option<Value<'m>> {
        Value::maybe(ask!(LLVMGetAggregateElement(self.raw, index)))
    }
}

/// Instructions and constant expressions.
impl<'m> Value<'m> {
    /// The opcode.
    #[must_use]
    pub fn opcode(self) -> Opcode {
        if self.kind() == ValueKind::ConstantExpression {
            ask!(LLVMGetConstOpcode(self.raw))
        } else {
            ask!(LLVMGetInstructionOpcode(self.raw))
        }
    }

    /// The opcode of an instruction or constant expression; `None` for other values.
    #[must_use]
    pub fn operation(self) -> Option<Opcode> {
        matches!(self.kind(), ValueKind::Instruction | ValueKind::ConstantExpression).then(|| self.opcode())
    }

    /// The instruction behind an instruction in its block; `None` behind the last.
    #[must_use]
    pub fn next(self) -> Option<Value<'m>> {
        Value::maybe(ask!(LLVMGetNextInstruction(self.raw)))
    }

    /// Predicate of an `icmp`.
    #[must_use]
    pub fn int_predicate(self) -> IntPredicate {
        ask!(LLVMGetICmpPredicate(self.raw))
    }

    /// Predicate of an `fcmp`.
    #[must_use]
    pub fn real_predicate(self) -> RealPredicate {
        ask!(LLVMGetFCmpPredicate(self.raw))
    }

    /// Whether an `or` is of values without common bits, that is a sum.
    #[must_use]
    pub fn is_disjoint(self) -> bool {
        self.opcode() == Opcode::LLVMOr && ask!(LLVMGetIsDisjoint(self.raw)) != 0
    }

    /// Whether an operation on integers is one without a result where signed integers overflow (`nsw`).
    #[must_use]
    pub fn has_no_overflow(self) -> bool {
        ask!(LLVMGetNSW(self.raw)) != 0
    }

    /// Whether a float operation may use a reciprocal or an approximation.
    #[must_use]
    pub fn is_approximate(self) -> bool {
        use inkwell::llvm_sys::{LLVMFastMathAllowReciprocal, LLVMFastMathApproxFunc};
        let flags = ask!(LLVMGetFastMathFlags(self.raw));
        flags & (LLVMFastMathAllowReciprocal | LLVMFastMathApproxFunc) != 0
    }

    /// Whether a float operation has `!fpmath` metadata (a permitted error).
    #[must_use]
    pub fn has_accuracy(self) -> bool {
        self.is_marked("fpmath")
    }

    /// Whether an instruction has metadata of a kind.
    #[must_use]
    pub fn is_marked(self, kind: &str) -> bool {
        let kind = ask!(LLVMGetMDKindID(kind.as_ptr().cast(), kind.len() as u32));
        !ask!(LLVMGetMetadata(self.raw, kind)).is_null()
    }

    /// Alignment in bytes of a load, store or alloca.
    #[must_use]
    pub fn alignment(self) -> u32 {
        ask!(LLVMGetAlignment(self.raw))
    }

    /// The type of an alloca's object.
    #[must_use]
    pub fn allocated_type(self) -> Type<'m> {
        Type::new(ask!(LLVMGetAllocatedType(self.raw)))
    }

    /// The source element type of a `getelementptr`.
    #[must_use]
    pub fn source_element_type(self) -> Type<'m> {
        Type::new(ask!(LLVMGetGEPSourceElementType(self.raw)))
    }

    /// The source index of each element of a `shufflevector`; `None` if undefined.
    #[must_use]
    pub fn shuffle_mask(self) -> Vec<Option<u32>> {
        let count = ask!(LLVMGetNumMaskElements(self.raw));
        (0..count).map(|i| u32::try_from(ask!(LLVMGetMaskValue(self.raw, i))).ok()).collect()
    }

    /// Indices of an `extractvalue` or `insertvalue`.
    #[must_use]
    pub fn indices(self) -> Vec<u32> {
        let count = ask!(LLVMGetNumIndices(self.raw));
        ask!(std::slice::from_raw_parts(LLVMGetIndices(self.raw), count as usize)).to_vec()
    }

    /// The function that contains an instruction.
    #[must_use]
    pub fn function(self) -> Value<'m> {
        Value::new(ask!(LLVMGetBasicBlockParent(LLVMGetInstructionParent(self.raw))))
    }

    /// Whether a load or store is atomic.
    #[must_use]
    pub fn is_atomic(self) -> bool {
        ask!(LLVMGetOrdering(self.raw)) != LLVMAtomicOrdering::LLVMAtomicOrderingNotAtomic
    }

    /// How an atomic load or store, an `atomicrmw` or a `cmpxchg` that succeeds orders other accesses: as a release, and as
    /// an acquisition. `None` for other instructions, and for atomic ones that are not even ordered among themselves.
    #[must_use]
    pub fn order(self) -> Option<(bool, bool)> {
        use LLVMAtomicOrdering::*;
        let ordering = match self.opcode() {
            Opcode::LLVMLoad | Opcode::LLVMStore | Opcode::LLVMAtomicRMW => ask!(LLVMGetOrdering(self.raw)),
            Opcode::LLVMAtomicCmpXchg => ask!(LLVMGetCmpXchgSuccessOrdering(self.raw)),
            _ => return None,
        };
        match ordering {
            LLVMAtomicOrderingNotAtomic | LLVMAtomicOrderingUnordered => None,
            LLVMAtomicOrderingMonotonic => Some((false, false)),
            LLVMAtomicOrderingAcquire => Some((false, true)),
            LLVMAtomicOrderingRelease => Some((true, false)),
            LLVMAtomicOrderingAcquireRelease | LLVMAtomicOrderingSequentiallyConsistent => Some((true, true)),
        }
    }

    /// The operation of an `atomicrmw`.
    #[must_use]
    pub fn rmw_op(self) -> RmwOp {
        ask!(LLVMGetAtomicRMWBinOp(self.raw))
    }

    /// The function that an instruction calls; `None` when it is no call, or one of something else.
    #[must_use]
    pub fn callee(self) -> Option<Value<'m>> {
        let call = self.opcode() == Opcode::LLVMCall;
        let callee = call.then(|| Value::new(ask!(LLVMGetCalledValue(self.raw))))?;
        (callee.kind() == ValueKind::Function).then_some(callee)
    }

    /// Arguments of a call.
    #[must_use]
    pub fn call_arguments(self) -> Vec<Value<'m>> {
        let count = ask!(LLVMGetNumArgOperands(self.raw));
        (0..count).map(|i| self.operand(i)).collect()
    }

    /// The alignment attribute in bytes of a call's pointer argument, or 1.
    #[must_use]
    pub fn call_alignment(self, argument: u32) -> u32 {
        let name = c"align";
        let kind = ask!(LLVMGetEnumAttributeKindForName(name.as_ptr(), name.count_bytes()));
        let attribute = ask!(LLVMGetCallSiteEnumAttribute(self.raw, argument + 1, kind));
        if attribute.is_null() { 1 } else { ask!(LLVMGetEnumAttributeValue(attribute)) as u32 }
    }

    /// The incoming values of a phi, with their blocks.
    #[must_use]
    pub fn incoming(self) -> Vec<(Value<'m>, Block<'m>)> {
        let count = ask!(LLVMCountIncoming(self.raw));
        (0..count)
            .map(|i| {
                let value = Value::new(ask!(LLVMGetIncomingValue(self.raw, i)));
                (value, Block::new(ask!(LLVMGetIncomingBlock(self.raw, i))))
            })
            .collect()
    }

    /// The condition of a branch that has one.
    #[must_use]
    pub fn condition(self) -> Option<Value<'m>> {
        (ask!(LLVMIsConditional(self.raw)) != 0).then(|| Value::new(ask!(LLVMGetCondition(self.raw))))
    }

    /// Line and column in the source, if the module has debug information.
    #[must_use]
    pub fn location(self) -> Option<(u32, u32)> {
        let line = ask!(LLVMGetDebugLocLine(self.raw));
        (line != 0).then(|| (line, ask!(LLVMGetDebugLocColumn(self.raw))))
    }
}

/// Converts a string that LLVM allocated, and frees it.
pub(super) fn message(text: *mut std::ffi::c_char) -> String {
    let result = ask!(CStr::from_ptr(text)).to_string_lossy().into_owned();
    ask!(LLVMDisposeMessage(text));
    result
}
