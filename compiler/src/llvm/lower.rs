//! Lowers operations that the hardware does not have to calls of the library, and conversions to casts.

use std::ffi::CString;

use gencl_program::options::{EXACT_DIVISION, RELAXED_MATH};
use inkwell::context::{AsContextRef, Context};
use inkwell::llvm_sys::core::{
    LLVMAddFunction, LLVMBuildCall2, LLVMBuildCast, LLVMBuildExtractElement, LLVMBuildFreeze,
    LLVMBuildInsertElement, LLVMBuildIntCast2, LLVMConstInt, LLVMCreateBuilderInContext, LLVMDisposeBuilder,
    LLVMFunctionType, LLVMGetNamedFunction, LLVMGetPoison, LLVMInstructionEraseFromParent,
    LLVMInt32TypeInContext, LLVMInt64TypeInContext, LLVMPositionBuilderBefore, LLVMReplaceAllUsesWith,
    LLVMSetValueName2, LLVMTypeOf,
};
use inkwell::llvm_sys::prelude::*;
use inkwell::module::Module;

use super::ask;
use super::prepare::for_each_instruction;
use super::view::{self, Opcode, TypeKind, Value, ValueKind};
use crate::conversion::Conversion;

/// Prefix of the library's functions for operations that the hardware does not have.
const LIBRARY: &str = "__gencl_";

/// Replaces conversions that are plain casts. The translation handles the others by name.
///
/// A float out of the integer's range converts to an unspecified integer. For LLVM it is poison, and an
/// access that depends on it undefined: functions of the library index tables with it and discard the result,
/// so that LLVM would delete the rest of a kernel with constant arguments. So the integers are frozen, those
/// of casts too.
pub fn conversions(context: &Context, module: &Module) {
    let mut casts = Vec::new();
    for_each_instruction(module, |instruction| {
        if let Some(callee) = called(instruction)
            && let Some(conversion) = Conversion::parse(&callee)
            && conversion.is_cast()
        {
            casts.push((instruction, cast(&conversion)));
        } else if to_integer(instruction.opcode()) {
            casts.push((instruction, Some(instruction.opcode())));
        }
    });
    let builder = ask!(LLVMCreateBuilderInContext(context.as_ctx_ref()));
    for &(old, opcode) in &casts {
        ask!(LLVMPositionBuilderBefore(builder, old.raw));
        let source = old.operand(0).raw;
        let cast = |opcode| ask!(LLVMBuildCast(builder, opcode, source, old.ty().raw, c"".as_ptr()));
        let result = match opcode {
            Some(opcode) if to_integer(opcode) => ask!(LLVMBuildFreeze(builder, cast(opcode), c"".as_ptr())),
            Some(opcode) => cast(opcode),
            None => source,
        };
        replace(old, result);
    }
    ask!(LLVMDisposeBuilder(builder));
}

fn to_integer(opcode: Opcode) -> bool {
    matches!(opcode, Opcode::LLVMFPToSI | Opcode::LLVMFPToUI)
}

/// Functions of floats that build options replace: the option, and the prefixes of the mangled names before
/// and after.
///
/// Native functions are within the error bounds of `-cl-fast-relaxed-math` (OpenCL C 3.0, 7.4, "Relaxed
/// Mode"). They are not only faster, but also preserve NaN: in functions of the library it would be
/// undefined, as the option promises that there is none.
pub const RENAMED: &[(&str, &str, &str)] = &[
    (RELAXED_MATH, "_Z3exp", "_Z10native_exp"),
    (RELAXED_MATH, "_Z4exp2", "_Z11native_exp2"),
    (EXACT_DIVISION, "_Z4sqrt", "_Z18__gencl_sqrt_exact"),
];

/// Replaces the names of functions of floats in calls.
pub fn rename(module: &Module, from: &str, to: &str) {
    for function in view::Module::of(module).functions().filter(|function| function.is_declaration()) {
        let name = function.name();
        // `f` or `Dv4_f`: doubles and half floats have no such functions.
        let Some(argument) = name.strip_prefix(from) else { continue };
        if argument.rsplit('_').next() != Some("f") {
            continue;
        }
        let other = CString::new(format!("{to}{argument}")).expect("no zero in it");
        let known = ask!(LLVMGetNamedFunction(module.as_mut_ptr(), other.as_ptr()));
        if known.is_null() {
            ask!(LLVMSetValueName2(function.raw, other.as_ptr(), other.as_bytes().len()));
        } else {
            ask!(LLVMReplaceAllUsesWith(function.raw, known));
        }
    }
}

/// The opcode of a cast; `None` if the types are the same.
fn cast(conversion: &Conversion) -> Option<Opcode> {
    let (to, from) = (conversion.to, conversion.from);
    let wider = to.bits() > from.bits();
    match (to.is_float(), from.is_float()) {
        _ if to == from => None,
        (false, false) if to.bits() == from.bits() => None,
        (false, false) if !wider => Some(Opcode::LLVMTrunc),
        (false, false) if from.is_signed() => Some(Opcode::LLVMSExt),
        (false, false) => Some(Opcode::LLVMZExt),
        (true, true) if wider => Some(Opcode::LLVMFPExt),
        (true, true) => Some(Opcode::LLVMFPTrunc),
        (true, false) if from.is_signed() => Some(Opcode::LLVMSIToFP),
        (true, false) => Some(Opcode::LLVMUIToFP),
        (false, true) if to.is_signed() => Some(Opcode::LLVMFPToSI),
        (false, true) => Some(Opcode::LLVMFPToUI),
    }
}

/// Replaces divisions and square roots that the hardware does not have by calls of the library. Returns
/// whether there were any.
pub fn arithmetic(context: &Context, module: &Module) -> bool {
    let mut operations = Vec::new();
    for_each_instruction(module, |instruction| {
        if let Some(function) = function(instruction) {
            operations.push((instruction, function));
        }
    });
    let builder = ask!(LLVMCreateBuilderInContext(context.as_ctx_ref()));
    for &(instruction, function) in &operations {
        ask!(LLVMPositionBuilderBefore(builder, instruction.raw));
        let result = Lowering { context, module, builder }.by_elements(instruction, function);
        replace(instruction, result);
    }
    ask!(LLVMDisposeBuilder(builder));
    !operations.is_empty()
}

/// The library's function for an instruction, without [`LIBRARY`].
fn function(instruction: Value) -> Option<&'static str> {
    let element = match instruction.ty().kind() {
        TypeKind::Vector(_, element) => element.kind(),
        kind => kind,
    };
    let wide = matches!(element, TypeKind::Integer(33..=64));
    match instruction.opcode() {
        Opcode::LLVMUDiv if wide => Some("udiv64"),
        Opcode::LLVMSDiv if wide => Some("sdiv64"),
        Opcode::LLVMURem if wide => Some("urem64"),
        Opcode::LLVMSRem if wide => Some("srem64"),
        Opcode::LLVMFDiv => match element {
            TypeKind::Half => Some("fdiv16"),
            TypeKind::Float if instruction.is_approximate() => None,
            // The front end annotates each division with OpenCL's 2.5 ULP, unless they must be correctly
            // rounded.
            TypeKind::Float if instruction.has_accuracy() => Some("fdiv32"),
            TypeKind::Float => Some("fdiv32_exact"),
            TypeKind::Double => Some("fdiv64"),
            _ => None,
        },
        Opcode::LLVMCall => {
            if !called(instruction)?.starts_with("llvm.sqrt.") {
                return None;
            }
            match element {
                TypeKind::Half => Some("sqrt16"),
                TypeKind::Double => Some("sqrt64"),
                _ => None,
            }
        }
        _ => None,
    }
}

/// The name of the function that an instruction calls, if it is declared only.
fn called(instruction: Value) -> Option<String> {
    if instruction.opcode() != Opcode::LLVMCall {
        return None;
    }
    let callee = instruction.callee();
    (callee.kind() == ValueKind::Function && callee.is_declaration()).then(|| callee.name())
}

fn replace(instruction: Value, result: LLVMValueRef) {
    ask!(LLVMReplaceAllUsesWith(instruction.raw, result));
    ask!(LLVMInstructionEraseFromParent(instruction.raw));
}

struct Lowering<'a, 'ctx> {
    context: &'a Context,
    module: &'a Module<'ctx>,
    builder: LLVMBuilderRef,
}

impl Lowering<'_, '_> {
    fn by_elements(&self, instruction: Value, function: &str) -> LLVMValueRef {
        let arguments: Vec<LLVMValueRef> = if instruction.opcode() == Opcode::LLVMCall {
            instruction.call_arguments().into_iter().map(|argument| argument.raw).collect()
        } else {
            vec![instruction.operand(0).raw, instruction.operand(1).raw]
        };
        let signed = matches!(instruction.opcode(), Opcode::LLVMSDiv | Opcode::LLVMSRem);
        let TypeKind::Vector(count, _) = instruction.ty().kind() else {
            return self.call(function, &arguments, signed);
        };
        let int32 = ask!(LLVMInt32TypeInContext(self.context.as_ctx_ref()));
        let mut result = ask!(LLVMGetPoison(instruction.ty().raw));
        for i in 0..count {
            let index = ask!(LLVMConstInt(int32, i.into(), 0));
            let element = |&vector| ask!(LLVMBuildExtractElement(self.builder, vector, index, c"".as_ptr()));
            let elements: Vec<_> = arguments.iter().map(element).collect();
            let value = self.call(function, &elements, signed);
            result = ask!(LLVMBuildInsertElement(self.builder, result, value, index, c"".as_ptr()));
        }
        result
    }

    /// Calls a function with operands of its type; integers are widened to 64 bits and back.
    fn call(&self, function: &str, arguments: &[LLVMValueRef], signed: bool) -> LLVMValueRef {
        let own = ask!(LLVMTypeOf(arguments[0]));
        let resized =
            |value, to| ask!(LLVMBuildIntCast2(self.builder, value, to, i32::from(signed), c"".as_ptr()));
        let integer =
            function.ends_with("div64") && !function.starts_with('f') || function.ends_with("rem64");
        let ty = if integer { ask!(LLVMInt64TypeInContext(self.context.as_ctx_ref())) } else { own };
        // The operation propagates poison, but the function may branch on it, which is undefined. Unused
        // elements of vectors are poison.
        let freeze = |&argument: &LLVMValueRef| ask!(LLVMBuildFreeze(self.builder, argument, c"".as_ptr()));
        let mut arguments: Vec<_> = arguments.iter().map(freeze).collect();
        if integer {
            arguments.iter_mut().for_each(|argument| *argument = resized(*argument, ty));
        }
        let count = arguments.len() as u32;
        let signature = ask!(LLVMFunctionType(ty, vec![ty; arguments.len()].as_mut_ptr(), count, 0));
        let name = CString::new(format!("{LIBRARY}{function}")).expect("no zero in it");
        let mut callee = ask!(LLVMGetNamedFunction(self.module.as_mut_ptr(), name.as_ptr()));
        if callee.is_null() {
            callee = ask!(LLVMAddFunction(self.module.as_mut_ptr(), name.as_ptr(), signature));
        }
        let result = ask!(LLVMBuildCall2(
            self.builder,
            signature,
            callee,
            arguments.as_mut_ptr(),
            count,
            c"".as_ptr()
        ));
        if integer { resized(result, own) } else { result }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Rounding, Type};

    #[test]
    fn casts_by_types() {
        let cast =
            |to, from| super::cast(&Conversion { to, from, rounding: Rounding::Default, saturate: false });
        assert_eq!(cast(Type::S8, Type::U8), None);
        assert_eq!(cast(Type::S16, Type::U8), Some(Opcode::LLVMZExt));
        assert_eq!(cast(Type::U64, Type::S8), Some(Opcode::LLVMSExt));
        assert_eq!(cast(Type::F16, Type::F64), Some(Opcode::LLVMFPTrunc));
        assert_eq!(cast(Type::F64, Type::U64), Some(Opcode::LLVMUIToFP));
        assert_eq!(cast(Type::U8, Type::F16), Some(Opcode::LLVMFPToUI));
    }
}
