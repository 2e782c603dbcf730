//! Lowering of `printf`: each call reserves and fills a record in the printf buffer.
//!
//! The formats become a table of the program, from which the host formats the records
//! ([`gencl_program::printf`]).

use std::ffi::CString;

use gencl_program::printf::{LARGEST_RECORD, PrintfArgument, PrintfFormat};
use inkwell::context::{AsContextRef, Context};
use inkwell::llvm_sys::core::{
    LLVMAddFunction, LLVMBuildCall2, LLVMBuildGEP2, LLVMBuildPtrToInt, LLVMBuildStore, LLVMConstInt,
    LLVMCreateBuilderInContext, LLVMDisposeBuilder, LLVMFunctionType, LLVMGetNamedFunction,
    LLVMInstructionEraseFromParent, LLVMInt8TypeInContext, LLVMInt32TypeInContext, LLVMInt64TypeInContext,
    LLVMPointerTypeInContext, LLVMPositionBuilderBefore, LLVMReplaceAllUsesWith, LLVMSetAlignment,
};
use inkwell::llvm_sys::prelude::*;
use inkwell::module::Module;

use super::ask;
use super::prepare::for_each_instruction;
use super::view::{Opcode, TypeKind, Value, ValueKind};

/// Address space of `__global`.
const GLOBAL: u32 = 1;

/// Replaces calls of `printf` by code that writes records, and returns the formats. Must run after inlining,
/// so that formats passed as function arguments are constant. If there are formats, library functions have to
/// be linked afterwards.
///
/// # Errors
/// A format that is not a string constant; an argument of a type without conversion specifier.
pub fn lower(context: &Context, module: &Module) -> Result<Vec<PrintfFormat>, String> {
    let mut calls = Vec::new();
    for_each_instruction(module, |instruction| {
        if instruction.opcode() == Opcode::LLVMCall
            && instruction.callee().kind() == ValueKind::Function
            && instruction.callee().name() == "printf"
        {
            calls.push(instruction);
        }
    });
    let mut formats = Vec::new();
    let lowering = Lowering::new(context, module);
    for call in calls {
        let format = describe(call)?;
        let number = formats.iter().position(|known| *known == format).unwrap_or_else(|| {
            formats.push(format.clone());
            formats.len() - 1
        });
        lowering.replace(call, &format, number as u64 + 1);
    }
    Ok(formats)
}

fn describe(call: Value) -> Result<PrintfFormat, String> {
    let arguments = call.call_arguments();
    let text = arguments.first().and_then(|format| format.initializer_of_constant()?.string());
    let text = text.ok_or("the format of printf is not a string constant")?;
    let end = text.iter().position(|&byte| byte == 0).unwrap_or(text.len());
    let format = PrintfFormat {
        text: text[..end].iter().map(|&byte| char::from(byte)).collect(),
        arguments: arguments[1..].iter().map(|argument| shape(*argument)).collect::<Result<_, _>>()?,
    };
    match format.places().1 {
        size if size > LARGEST_RECORD => {
            Err(format!("the arguments of a printf have {size} bytes, more than {LARGEST_RECORD}"))
        }
        _ => Ok(format),
    }
}

fn shape(argument: Value) -> Result<PrintfArgument, String> {
    let (count, element) = match argument.ty().kind() {
        TypeKind::Vector(count, element) => (count, element.kind()),
        kind => (1, kind),
    };
    let size = match element {
        TypeKind::Integer(bits @ (8 | 16 | 32 | 64)) => bits / 8,
        TypeKind::Half => 2,
        TypeKind::Float => 4,
        TypeKind::Double => 8,
        TypeKind::Pointer(_) if count == 1 => 8,
        _ => return Err(format!("printf of {}", argument.ty().text())),
    };
    Ok(PrintfArgument { size, count })
}

struct Lowering<'a, 'ctx> {
    context: LLVMContextRef,
    module: &'a Module<'ctx>,
    builder: LLVMBuilderRef,
}

impl Lowering<'_, '_> {
    fn new<'a, 'ctx>(context: &Context, module: &'a Module<'ctx>) -> Lowering<'a, 'ctx> {
        let context = context.as_ctx_ref();
        Lowering { context, module, builder: ask!(LLVMCreateBuilderInContext(context)) }
    }

    fn replace(&self, call: Value, format: &PrintfFormat, number: u64) {
        ask!(LLVMPositionBuilderBefore(self.builder, call.raw));
        let int32 = ask!(LLVMInt32TypeInContext(self.context));
        let pointer = ask!(LLVMPointerTypeInContext(self.context, GLOBAL));
        let (places, size) = format.places();
        let record = self.call("__gencl_printf_record", pointer, int32, self.constant(size.into()));
        self.store(self.constant(number), record, 0);
        for (argument, place) in call.call_arguments()[1..].iter().zip(places) {
            let value = match argument.ty().kind() {
                TypeKind::Pointer(_) => {
                    let int64 = ask!(LLVMInt64TypeInContext(self.context));
                    ask!(LLVMBuildPtrToInt(self.builder, argument.raw, int64, c"".as_ptr()))
                }
                _ => argument.raw,
            };
            self.store(value, record, place);
        }
        if call.is_used() {
            let result = self.call("__gencl_printf_result", int32, pointer, record);
            ask!(LLVMReplaceAllUsesWith(call.raw, result));
        }
        ask!(LLVMInstructionEraseFromParent(call.raw));
    }

    fn constant(&self, number: u64) -> LLVMValueRef {
        ask!(LLVMConstInt(LLVMInt32TypeInContext(self.context), number, 0))
    }

    fn store(&self, value: LLVMValueRef, record: LLVMValueRef, place: u32) {
        let byte = ask!(LLVMInt8TypeInContext(self.context));
        let mut index = [self.constant(place.into())];
        let name = c"".as_ptr();
        let pointer = ask!(LLVMBuildGEP2(self.builder, byte, record, index.as_mut_ptr(), 1, name));
        let store = ask!(LLVMBuildStore(self.builder, value, pointer));
        ask!(LLVMSetAlignment(store, 4));
    }

    /// Calls a function of one argument.
    fn call(
        &self,
        name: &str,
        result: LLVMTypeRef,
        parameter: LLVMTypeRef,
        argument: LLVMValueRef,
    ) -> LLVMValueRef {
        let ty = ask!(LLVMFunctionType(result, [parameter].as_mut_ptr(), 1, 0));
        let name = CString::new(name).expect("no zero in it");
        let mut function = ask!(LLVMGetNamedFunction(self.module.as_mut_ptr(), name.as_ptr()));
        if function.is_null() {
            function = ask!(LLVMAddFunction(self.module.as_mut_ptr(), name.as_ptr(), ty));
        }
        ask!(LLVMBuildCall2(self.builder, ty, function, [argument].as_mut_ptr(), 1, c"".as_ptr()))
    }
}

impl Drop for Lowering<'_, '_> {
    fn drop(&mut self) {
        ask!(LLVMDisposeBuilder(self.builder));
    }
}
