//! Lowering of `printf`: each call reserves and fills a record in the printf buffer.
//!
//! The formats become a table of the program, from which the host formats the records
//! ([`gencl_program::printf`]).

use gencl_program::printf::{LARGEST_RECORD, PrintfArgument, PrintfFormat, places};
use inkwell::context::Context;
use inkwell::module::Module;

use super::build::Builder;
use super::check::is_undefined;
use super::prepare::for_each_instruction;
use super::view::{Opcode, TypeKind, Value, ValueKind};

const NOT_CONSTANT: &str = "the format of printf is not a string constant";

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
    let builder = Builder::new(context, module);
    let mut formats = Formats { builder: &builder, known: Vec::new(), open: Vec::new() };
    for call in calls {
        let arguments = call.call_arguments();
        let (format, rest) = arguments.split_first().ok_or("printf has no format")?;
        let shapes: Vec<_> = rest.iter().map(|argument| shape(*argument)).collect::<Result<_, _>>()?;
        let (_, size) = places(&shapes);
        if size > LARGEST_RECORD {
            return Err(format!("the arguments of a printf have {size} bytes, more than {LARGEST_RECORD}"));
        }
        let number = formats.number(*format, &shapes)?;
        replace(&builder, call, &shapes, number);
    }
    Ok(formats.known)
}

/// The formats of a program.
struct Formats<'b, 'm> {
    builder: &'b Builder<'m>,
    known: Vec<PrintfFormat>,
    /// The `phi`s and private variables that are looked into, which may have themselves among their values.
    open: Vec<Value<'m>>,
}

impl<'m> Formats<'_, 'm> {
    /// The number of a format with these arguments, from 1: a constant; a choice where the format is one of several,
    /// also by LLVM, which makes one call of two that differ in it only; loaded from a variable beside that which the
    /// format is loaded from.
    fn number(&mut self, format: Value<'m>, arguments: &[PrintfArgument]) -> Result<Value<'m>, String> {
        if let Some(text) = format.initializer_of_constant().and_then(|initial| initial.string()) {
            let end = text.iter().position(|&byte| byte == 0).unwrap_or(text.len());
            let text = text[..end].iter().map(|&byte| char::from(byte)).collect();
            let format = PrintfFormat { text, arguments: arguments.to_vec() };
            let index = self.known.iter().position(|known| *known == format).unwrap_or_else(|| {
                self.known.push(format);
                self.known.len() - 1
            });
            return Ok(self.builder.number(32, index as u64 + 1));
        }
        let is_instruction = format.kind() == ValueKind::Instruction && !self.open.contains(&format);
        match is_instruction.then(|| format.opcode()) {
            Some(Opcode::LLVMSelect) => {
                let parts = format.operands();
                let (yes, no) = (self.number(parts[1], arguments)?, self.number(parts[2], arguments)?);
                self.builder.before(format);
                Ok(self.builder.select(parts[0], yes, no))
            }
            Some(Opcode::LLVMPHI) => {
                self.open.push(format);
                let mut incoming = Vec::new();
                for (value, block) in format.incoming() {
                    incoming.push((self.number(value, arguments)?, block));
                }
                self.open.pop();
                self.builder.before(format);
                Ok(self.builder.phi(self.builder.int(32), &incoming))
            }
            Some(Opcode::LLVMLoad) => {
                let b = self.builder;
                let variable = format.operand(0);
                let stores = variable.whole_stores().filter(|_| !self.open.contains(&variable));
                let mut stores = stores.ok_or(NOT_CONSTANT)?;
                stores.retain(|store| !is_undefined(store.operand(0)));
                b.before(variable);
                let number = b.variable(b.int(32));
                self.open.push(variable);
                for store in stores {
                    let value = self.number(store.operand(0), arguments)?;
                    b.before(store);
                    b.store(value, number, 4);
                }
                self.open.pop();
                b.before(format);
                Ok(b.load(b.int(32), number))
            }
            _ => Err(NOT_CONSTANT.into()),
        }
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
fn replace(builder: &Builder, call: Value, arguments: &[PrintfArgument], number: Value) {
    builder.before(call);
    let (int, pointer) = (builder.int(32), builder.pointer(GLOBAL));
    let (places, size) = places(arguments);
    let record = builder.call("__gencl_printf_record", pointer, &[builder.number(32, size.into())]);
    let store = |value, place| builder.store(value, builder.advance(record, place), 4);
    store(number, 0);
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
