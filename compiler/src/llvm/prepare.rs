//! What has to be changed by hand before and between LLVM's own passes.

use std::ffi::CString;

use inkwell::context::{AsContextRef, Context};
use inkwell::llvm_sys::core::{
    LLVMAddAttributeAtIndex, LLVMAddFunction, LLVMAddGlobalInAddressSpace, LLVMBuildAlloca, LLVMBuildCall2,
    LLVMBuildExtractElement, LLVMBuildInsertElement, LLVMBuildIntCast2, LLVMBuildMemCpy, LLVMConstInt,
    LLVMCreateBuilderInContext, LLVMCreateEnumAttribute, LLVMCreateStringAttribute, LLVMDisposeBuilder,
    LLVMFunctionType, LLVMGetEntryBasicBlock, LLVMGetEnumAttributeKindForName, LLVMGetFirstInstruction,
    LLVMGetFunctionCallConv, LLVMGetNamedFunction, LLVMGetPoison, LLVMInstructionEraseFromParent,
    LLVMInt32TypeInContext, LLVMInt64TypeInContext, LLVMPositionBuilderBefore,
    LLVMRemoveEnumAttributeAtIndex, LLVMReplaceAllUsesWith, LLVMSetAlignment, LLVMSetDataLayout,
    LLVMSetFunctionCallConv, LLVMSetGlobalConstant, LLVMSetInstructionCallConv, LLVMSetLinkage, LLVMTypeOf,
};
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::{LLVMCallConv, LLVMLinkage, LLVMOpcode};
use inkwell::module::Module;

use super::view::{self, Opcode, TypeKind, Value, ValueKind};
use super::{DATA_LAYOUT, ask};

/// Calling convention of kernels.
pub const SPIR_KERNEL: u32 = LLVMCallConv::LLVMSPIRKERNELCallConv as u32;
/// Calling convention of everything else from here on: the library's and clang's differ.
const C: u32 = LLVMCallConv::LLVMCCallConv as u32;

/// Address space of `__constant`.
const CONSTANT: u32 = 2;

/// Prefix of the variables that stand for by-value arguments; the argument's number follows.
pub const ARGUMENT_PREFIX: &str = "gencl.argument.";

/// Gives a module fresh from clang the data layout of the library, and one calling convention.
pub fn unify(module: &Module) {
    let layout = CString::new(DATA_LAYOUT).expect("no zero in it");
    ask!(LLVMSetDataLayout(module.as_mut_ptr(), layout.as_ptr()));
    for function in view::Module::of(module).functions() {
        if ask!(LLVMGetFunctionCallConv(function.raw)) == SPIR_KERNEL {
            continue;
        }
        ask!(LLVMSetFunctionCallConv(function.raw, C));
    }
    for_each_instruction(module, |instruction| {
        if instruction.opcode() == Opcode::LLVMCall {
            let callee = instruction.callee();
            let kernel = callee.kind() == ValueKind::Function && callee.is_kernel();
            ask!(LLVMSetInstructionCallConv(instruction.raw, if kernel { SPIR_KERNEL } else { C }));
        }
    });
}

/// Makes everything but kernels internal and to be inlined, whatever its size.
pub fn inline_everything(context: &Context, module: &Module) {
    let always_inline = attribute(context, "alwaysinline");
    let no_jump_tables = string_attribute(context, "no-jump-tables", "true");
    for function in view::Module::of(module).functions() {
        let function_index = inkwell::llvm_sys::LLVMAttributeFunctionIndex;
        if function.is_declaration() {
            continue;
        }
        for name in ["noinline", "optnone", "optsize", "minsize"] {
            let kind = ask!(LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len()));
            ask!(LLVMRemoveEnumAttributeAtIndex(function.raw, function_index, kind));
        }
        // A kernel may be called, too.
        ask!(LLVMAddAttributeAtIndex(function.raw, function_index, always_inline));
        // Tables of constants in private memory, made of switches, are of no use here.
        ask!(LLVMAddAttributeAtIndex(function.raw, function_index, no_jump_tables));
        if !function.is_kernel() {
            ask!(LLVMSetLinkage(function.raw, LLVMLinkage::LLVMInternalLinkage));
        }
    }
}

/// Lets kernels take their by-value arguments (structures) from constant memory.
///
/// For each of them there is a variable in the constant address space, named [`ARGUMENT_PREFIX`]`number.kernel`, that
/// is copied into private memory at the kernel's beginning. LLVM's passes then find the best way for each use: loads at
/// known places come straight from the variable, and the translation makes pushed constants of them; so do
/// loads at computed places; only an argument that the kernel writes keeps its private copy.
pub fn copy_arguments(context: &Context, module: &Module) {
    let kernels: Vec<_> =
        view::Module::of(module).functions().filter(|function| function.is_kernel()).collect();
    let builder = ask!(LLVMCreateBuilderInContext(context.as_ctx_ref()));
    for kernel in kernels {
        let entry = ask!(LLVMGetEntryBasicBlock(kernel.raw));
        ask!(LLVMPositionBuilderBefore(builder, LLVMGetFirstInstruction(entry)));
        for (number, parameter) in (0..).zip(kernel.parameters()) {
            let Some(ty) = kernel.by_value_type(number) else { continue };
            let module_view = view::Module::of(module);
            let (size, align) = (module_view.size_of(ty), module_view.align_of(ty));
            let name = CString::new(format!("{ARGUMENT_PREFIX}{number}.{}", kernel.name())).expect("no zero");
            let source =
                ask!(LLVMAddGlobalInAddressSpace(module.as_mut_ptr(), ty.raw, name.as_ptr(), CONSTANT));
            ask!(LLVMSetGlobalConstant(source, 1));
            ask!(LLVMSetAlignment(source, align));
            let copy = ask!(LLVMBuildAlloca(builder, ty.raw, c"".as_ptr()));
            ask!(LLVMSetAlignment(copy, align));
            let bytes = ask!(LLVMConstInt(LLVMInt64TypeInContext(context.as_ctx_ref()), size, 0));
            ask!(LLVMBuildMemCpy(builder, copy, align, source, align, bytes));
            ask!(LLVMReplaceAllUsesWith(parameter.raw, copy));
        }
    }
    ask!(LLVMDisposeBuilder(builder));
}

/// Puts calls of the library in place of 64-bit divisions; true when there were any.
pub fn lower_divisions(context: &Context, module: &Module) -> bool {
    let mut divisions = Vec::new();
    for_each_instruction(module, |instruction| {
        let name = match instruction.opcode() {
            Opcode::LLVMUDiv => "__gencl_udiv64",
            Opcode::LLVMSDiv => "__gencl_sdiv64",
            Opcode::LLVMURem => "__gencl_urem64",
            Opcode::LLVMSRem => "__gencl_srem64",
            _ => return,
        };
        let element = match instruction.ty().kind() {
            TypeKind::Vector(_, element) => element.kind(),
            kind => kind,
        };
        if matches!(element, TypeKind::Integer(33..=64)) {
            divisions.push((instruction, name));
        }
    });
    let builder = ask!(LLVMCreateBuilderInContext(context.as_ctx_ref()));
    for &(instruction, name) in &divisions {
        ask!(LLVMPositionBuilderBefore(builder, instruction.raw));
        let quotient = Division { context, module, builder }.build(instruction, name);
        ask!(LLVMReplaceAllUsesWith(instruction.raw, quotient));
        ask!(LLVMInstructionEraseFromParent(instruction.raw));
    }
    ask!(LLVMDisposeBuilder(builder));
    !divisions.is_empty()
}

struct Division<'a, 'ctx> {
    context: &'a Context,
    module: &'a Module<'ctx>,
    builder: LLVMBuilderRef,
}

impl Division<'_, '_> {
    fn build(&self, instruction: Value, name: &str) -> LLVMValueRef {
        let (a, b) = (instruction.operand(0).raw, instruction.operand(1).raw);
        let TypeKind::Vector(count, _) = instruction.ty().kind() else {
            return self.call(instruction.opcode(), name, a, b);
        };
        let int32 = ask!(LLVMInt32TypeInContext(self.context.as_ctx_ref()));
        let mut result = ask!(LLVMGetPoison(instruction.ty().raw));
        for i in 0..count {
            let index = ask!(LLVMConstInt(int32, i.into(), 0));
            let a = ask!(LLVMBuildExtractElement(self.builder, a, index, c"".as_ptr()));
            let b = ask!(LLVMBuildExtractElement(self.builder, b, index, c"".as_ptr()));
            let quotient = self.call(instruction.opcode(), name, a, b);
            result = ask!(LLVMBuildInsertElement(self.builder, result, quotient, index, c"".as_ptr()));
        }
        result
    }

    /// Calls the function with operands of 33 to 64 bits.
    fn call(&self, opcode: LLVMOpcode, name: &str, a: LLVMValueRef, b: LLVMValueRef) -> LLVMValueRef {
        let int64 = ask!(LLVMInt64TypeInContext(self.context.as_ctx_ref()));
        let ty = ask!(LLVMFunctionType(int64, [int64; 2].as_mut_ptr(), 2, 0));
        let name = CString::new(name).expect("no zero in it");
        let mut function = ask!(LLVMGetNamedFunction(self.module.as_mut_ptr(), name.as_ptr()));
        if function.is_null() {
            function = ask!(LLVMAddFunction(self.module.as_mut_ptr(), name.as_ptr(), ty));
        }
        let signed = matches!(opcode, Opcode::LLVMSDiv | Opcode::LLVMSRem);
        let own = ask!(LLVMTypeOf(a));
        let widen =
            |value| ask!(LLVMBuildIntCast2(self.builder, value, int64, i32::from(signed), c"".as_ptr()));
        let mut arguments = [widen(a), widen(b)];
        let quotient =
            ask!(LLVMBuildCall2(self.builder, ty, function, arguments.as_mut_ptr(), 2, c"".as_ptr()));
        ask!(LLVMBuildIntCast2(self.builder, quotient, own, i32::from(signed), c"".as_ptr()))
    }
}

/// Visits every instruction of a module.
pub(super) fn for_each_instruction<'m>(module: &'m Module, mut visit: impl FnMut(Value<'m>)) {
    for function in view::Module::of(module).functions() {
        for block in function.blocks() {
            block.instructions().for_each(&mut visit);
        }
    }
}

fn attribute(context: &Context, name: &str) -> LLVMAttributeRef {
    let kind = ask!(LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len()));
    ask!(LLVMCreateEnumAttribute(context.as_ctx_ref(), kind, 0))
}

fn string_attribute(context: &Context, name: &str, value: &str) -> LLVMAttributeRef {
    ask!(LLVMCreateStringAttribute(
        context.as_ctx_ref(),
        name.as_ptr().cast(),
        name.len() as u32,
        value.as_ptr().cast(),
        value.len() as u32
    ))
}
