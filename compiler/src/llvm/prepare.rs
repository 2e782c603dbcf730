//! Changes to modules before and between LLVM's own passes.

use std::ffi::{CStr, CString};

use inkwell::context::{AsContextRef, Context};
use inkwell::llvm_sys::core::{
    LLVMAddAttributeAtIndex, LLVMAddGlobalInAddressSpace, LLVMBuildAlloca, LLVMBuildMemCpy, LLVMConstInt,
    LLVMCreateBuilderInContext, LLVMCreateEnumAttribute, LLVMCreateStringAttribute, LLVMDisposeBuilder,
    LLVMGetEntryBasicBlock, LLVMGetEnumAttributeKindForName, LLVMGetFirstInstruction,
    LLVMGetFunctionCallConv, LLVMGetNamedFunction, LLVMInt64TypeInContext, LLVMPositionBuilderBefore,
    LLVMRemoveEnumAttributeAtIndex, LLVMReplaceAllUsesWith, LLVMSetAlignment, LLVMSetDataLayout,
    LLVMSetFunctionCallConv, LLVMSetGlobalConstant, LLVMSetInstructionCallConv, LLVMSetLinkage,
};
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::{LLVMCallConv, LLVMLinkage};
use inkwell::module::Module;

use super::view::{self, Opcode, SPIR_KERNEL, Value, ValueKind};
use super::{Machine, ask};

/// The calling convention that all functions and calls are changed to: the library's and clang's differ.
const C: u32 = LLVMCallConv::LLVMCCallConv as u32;

/// Address space of `__constant`.
const CONSTANT: u32 = 2;

/// Prefix of the variables that represent by-value arguments; the argument's index follows.
pub const ARGUMENT_PREFIX: &str = "gencl.argument.";

/// The function with which clang creates a sampler from its properties.
const MAKE_SAMPLER: &CStr = c"__translate_sampler_initializer";

/// Marks the creation of samplers as free of side effects, so that unused ones are removed.
pub fn tell_effects(context: &Context, module: &Module) {
    let function = ask!(LLVMGetNamedFunction(module.as_mut_ptr(), MAKE_SAMPLER.as_ptr()));
    if function.is_null() {
        return;
    }
    for name in ["nounwind", "willreturn", "memory"] {
        let function_index = inkwell::llvm_sys::LLVMAttributeFunctionIndex;
        ask!(LLVMAddAttributeAtIndex(function, function_index, attribute(context, name)));
    }
}

/// Gives a module from clang the data layout of the library, and one calling convention.
pub fn unify(module: &Module, machine: &Machine) {
    let layout = CString::new(machine.data_layout).expect("no zero in it");
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

/// Makes all functions but kernels internal and `alwaysinline`.
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
        // Kernels can be called as well.
        ask!(LLVMAddAttributeAtIndex(function.raw, function_index, always_inline));
        // Switches should not be converted to lookup tables.
        ask!(LLVMAddAttributeAtIndex(function.raw, function_index, no_jump_tables));
        if !function.is_kernel() {
            ask!(LLVMSetLinkage(function.raw, LLVMLinkage::LLVMInternalLinkage));
        }
    }
}

/// Changes kernels to read by-value arguments (structures) from constant memory.
///
/// For each of them there is a variable in the constant address space, named
/// [`ARGUMENT_PREFIX`]`number.kernel`, that is copied into private memory at the kernel's beginning. LLVM's
/// passes then forward loads to the variable. The translation turns loads at constant offsets into pushed
/// constants, and those at dynamic offsets into loads from the argument block. Only an argument that the
/// kernel writes keeps its private copy.
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

/// Visits every instruction of a module.
pub(super) fn for_each_instruction<'m>(module: &'m Module, mut visit: impl FnMut(Value<'m>)) {
    for function in view::Module::of(module).functions() {
        for block in function.blocks() {
            block.instructions().for_each(&mut visit);
        }
    }
}

/// An attribute without a value, or with the value 0, which for `memory` means no accesses.
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
