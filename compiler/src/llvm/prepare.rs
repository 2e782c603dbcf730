//! Changes to modules before and between LLVM's own passes.

use std::ffi::CString;

use inkwell::context::Context;
use inkwell::llvm_sys::LLVMCallConv;
use inkwell::llvm_sys::core::LLVMSetDataLayout;
use inkwell::module::Module;

use super::build::Builder;
use super::view::{self, Opcode, SPIR_KERNEL, Value, ValueKind};
use super::{Machine, ask};

/// The calling convention that all functions and calls are changed to: the library's and clang's differ.
const C: u32 = LLVMCallConv::LLVMCCallConv as u32;

/// Address space of `__constant`.
const CONSTANT: u32 = 2;

/// Prefix of the variables that represent by-value arguments; the argument's index follows.
pub const ARGUMENT_PREFIX: &str = "gencl.argument.";

/// The function with which clang creates a sampler from its properties.
pub const MAKE_SAMPLER: &str = "__translate_sampler_initializer";

/// Marks the creation of samplers as free of side effects, so that unused ones are removed.
pub fn tell_effects(context: &Context, module: &Module) {
    let Some(function) = view::Module::of(module).function(MAKE_SAMPLER) else { return };
    for name in ["nounwind", "willreturn", "memory"] {
        function.add_attribute(context, name);
    }
}

/// Has LLVM take accesses by null pointers to private memory, in functions of the module, for what they are: it removes
/// choices between such a pointer and another one else.
pub fn accept_null_pointers(context: &Context, module: &Module) {
    let functions =
        view::Module::of(module).functions().filter(|function| function.blocks().next().is_some());
    functions.for_each(|function| function.add_attribute(context, "null_pointer_is_valid"));
}

/// Gives a module from clang the data layout of the library, and one calling convention.
pub fn unify(module: &Module, machine: &Machine) {
    let layout = CString::new(machine.data_layout).expect("no zero in it");
    ask!(LLVMSetDataLayout(module.as_mut_ptr(), layout.as_ptr()));
    for function in view::Module::of(module).functions() {
        if function.convention() != SPIR_KERNEL {
            function.set_convention(C);
        }
    }
    for_each_instruction(module, |instruction| {
        if instruction.opcode() == Opcode::LLVMCall {
            let kernel = instruction.callee().is_some_and(Value::is_kernel);
            instruction.set_call_convention(if kernel { SPIR_KERNEL } else { C });
        }
    });
}

/// The function with which clang registers destructors of program-scope objects.
pub const AT_EXIT: &str = "__cxa_atexit";

/// Removes the registrations of destructors of program-scope objects, which implementations of C++ for OpenCL need not
/// run.
pub fn drop_destructors(module: &Module) {
    let mut calls = Vec::new();
    for_each_instruction(module, |instruction| {
        if instruction.callee().is_some_and(|callee| callee.name() == AT_EXIT) {
            calls.push(instruction);
        }
    });
    calls.into_iter().for_each(Value::erase);
}

/// The attribute of functions that call functions of sub-groups.
pub const SUB_GROUPS: &str = "gencl-sub-groups";

/// Whether functions of sub-groups are called.
pub fn has_sub_groups(module: &Module) -> bool {
    sub_group_functions(module).next().is_some()
}

/// Functions of the library whose results depend on which work-items are a sub-group, before they are linked: all have
/// it in their names, and functions of work-groups, which are built from the same operations, do not.
fn sub_group_functions<'m>(module: &'m Module<'_>) -> impl Iterator<Item = Value<'m>> {
    let functions = view::Module::of(module).functions();
    functions.filter(|function| function.is_declaration() && function.name().contains("sub_group"))
}

/// Marks the functions that call functions of sub-groups, themselves or through others, with [`SUB_GROUPS`].
pub fn mark_sub_groups(context: &Context, module: &Module) {
    let mut called: Vec<_> = sub_group_functions(module).collect();
    while let Some(function) = called.pop() {
        let users = function.users().into_iter().filter(|user| user.kind() == ValueKind::Instruction);
        for caller in users.map(Value::function) {
            if caller.string_attribute(SUB_GROUPS).is_none() {
                caller.add_string_attribute(context, SUB_GROUPS, "true");
                called.push(caller);
            }
        }
    }
}

/// Makes all functions but kernels internal and `alwaysinline`.
pub fn inline_everything(context: &Context, module: &Module) {
    for function in view::Module::of(module).functions() {
        if function.is_declaration() {
            continue;
        }
        for name in ["noinline", "optnone", "optsize", "minsize"] {
            function.remove_attribute(name);
        }
        // Kernels can be called as well.
        function.add_attribute(context, "alwaysinline");
        // Switches should not be converted to lookup tables.
        function.add_string_attribute(context, "no-jump-tables", "true");
        if !function.is_kernel() {
            function.make_internal();
        }
    }
}

/// Whether there are functions that are not kernels: after inlining, those that call themselves.
pub fn has_functions(module: &Module) -> bool {
    view::Module::of(module).functions().any(|function| !function.is_declaration() && !function.is_kernel())
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
    let builder = Builder::new(context, module);
    for kernel in kernels {
        let Some(first) = kernel.blocks().next().and_then(|entry| entry.instructions().next()) else {
            continue;
        };
        builder.before(first);
        for (number, parameter) in (0..).zip(kernel.parameters()) {
            let Some((ty, align)) = kernel.by_value(view::Module::of(module), number) else { continue };
            let name = format!("{ARGUMENT_PREFIX}{number}.{}", kernel.name());
            let source = builder.constant_variable(&name, ty, align, CONSTANT);
            parameter.replace_uses(builder.copy_of(source, ty, align));
        }
    }
}

/// Creates each sampler of a function once, at the function's beginning, so that no pass unites equal ones of several
/// blocks by a phi.
pub fn merge_samplers(context: &Context, module: &Module) {
    let builder = Builder::new(context, module);
    for function in view::Module::of(module).functions() {
        let instructions: Vec<_> = function.blocks().flat_map(|block| block.instructions()).collect();
        let mut merged: Vec<(u64, Value)> = Vec::new();
        for sampler in &instructions {
            let Some(number) = made_of(*sampler) else { continue };
            let known = merged.iter().find(|(other, _)| *other == number).map(|(_, sampler)| *sampler);
            let first = known.unwrap_or_else(|| {
                builder.before(instructions[0]);
                let first = builder.call(MAKE_SAMPLER, sampler.ty(), &sampler.call_arguments());
                merged.push((number, first));
                first
            });
            sampler.replace_uses(first);
        }
    }
}

/// The number of a sampler that clang's function makes of a constant.
pub fn made_of(sampler: Value) -> Option<u64> {
    let is_made = sampler.kind() == ValueKind::Instruction
        && sampler.callee().is_some_and(|callee| callee.name() == MAKE_SAMPLER);
    if is_made { sampler.call_arguments()[0].integer() } else { None }
}

/// Visits every instruction of a module.
pub(super) fn for_each_instruction<'m>(module: &'m Module, mut visit: impl FnMut(Value<'m>)) {
    for function in view::Module::of(module).functions() {
        for block in function.blocks() {
            block.instructions().for_each(&mut visit);
        }
    }
}
