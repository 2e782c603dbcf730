//! Lowering of `printf`: each call reserves and fills a record in the printf buffer.
//!
//! The formats become a table of the program, from which the host formats the records
//! ([`gencl_program::printf`]).

use gencl_program::printf::{LARGEST_RECORD, PrintfArgument, PrintfFormat};
use inkwell::context::Context;
use inkwell::module::Module;

use super::build::Builder;
use super::prepare::for_each_instruction;
use super::view::{Opcode, TypeKind, Value};

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
        if instruction.callee().is_some_and(|callee| callee.name() == "printf") {
            calls.push(instruction);
        }
    });
    let mut formats = Vec::new();
    let builder = Builder::new(context, module);
    for call in calls {
        let format = describe(call)?;
        let number = formats.iter().position(|known| *known == format).unwrap_or_else(|| {
            formats.push(format.clone());
            formats.len() - 1
        });
        replace(&builder, call, &format, number as u64 + 1);
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

/// Puts a record in place of a call.
fn replace(builder: &Builder, call: Value, format: &PrintfFormat, number: u64) {
    builder.before(call);
    let (int, pointer) = (builder.int(32), builder.pointer(GLOBAL));
    let (places, size) = format.places();
    let record = builder.call("__gencl_printf_record", pointer, &[builder.number(32, size.into())]);
    let store = |value, place| builder.store(value, builder.advance(record, place), 4);
    store(builder.number(32, number), 0);
    for (&argument, place) in call.call_arguments()[1..].iter().zip(places) {
        let value = match argument.ty().kind() {
            TypeKind::Pointer(_) => builder.cast(Opcode::LLVMPtrToInt, argument, builder.int(64)),
            _ => argument,
        };
        store(value, place);
    }
    if call.is_used() {
        call.replace_uses(builder.call("__gencl_printf_result", int, &[record]));
    }
    call.erase();
}
