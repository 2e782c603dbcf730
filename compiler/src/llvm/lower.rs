//! Lowers operations that the hardware does not have to calls of the library, and conversions to casts.

use gencl_program::options::{EXACT_DIVISION, RELAXED_MATH};
use inkwell::context::Context;
use inkwell::module::Module;

use super::build::Builder;
use super::prepare::{for_each_instruction, made_of};
use super::view::{self, Opcode, TypeKind, Value};
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
    let builder = Builder::new(context, module);
    for &(old, opcode) in &casts {
        builder.before(old);
        let source = old.operand(0);
        let cast = |opcode| builder.cast(opcode, source, old.ty());
        old.replace(match opcode {
            Some(opcode) if to_integer(opcode) => builder.freeze(cast(opcode)),
            Some(opcode) => cast(opcode),
            None => source,
        });
    }
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
const RENAMED: &[(&str, &str, &str)] = &[
    (RELAXED_MATH, "_Z3exp", "_Z10native_exp"),
    (RELAXED_MATH, "_Z4exp2", "_Z11native_exp2"),
    (EXACT_DIVISION, "_Z4sqrt", "_Z18__gencl_sqrt_exact"),
];

/// Replaces the names of functions of floats in calls, as the build's options want it.
pub fn rename(module: &Module, options: &[String]) {
    for (option, from, to) in RENAMED {
        if options.iter().any(|set| set == option) {
            rename_in_calls(module, from, to);
        }
    }
}

fn rename_in_calls(module: &Module, from: &str, to: &str) {
    for function in view::Module::of(module).functions().filter(|function| function.is_declaration()) {
        let name = function.name();
        // `f` or `Dv4_f`: doubles and half floats have no such functions.
        let Some(argument) = name.strip_prefix(from) else { continue };
        if argument.rsplit('_').next() != Some("f") {
            continue;
        }
        let other = format!("{to}{argument}");
        match view::Module::of(module).function(&other) {
            Some(known) => function.replace_uses(known),
            None => function.rename(&other),
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
    let builder = Builder::new(context, module);
    for &(instruction, function) in &operations {
        builder.before(instruction);
        instruction.replace(by_elements(&builder, instruction, function));
    }
    !operations.is_empty()
}

/// What the names of reads of integer formats by a sampler begin with, and those of the library's functions for
/// them.
const SAMPLED: &str = "__gencl_image_sample_";
const BORDERED: &str = "__gencl_bordered_";

/// The bits of a sampler's number that say what is outside of an image, and their value for a border
/// (`opencl-c-base.h`).
const ADDRESSING: u64 = 0xe;
const CLAMP: u64 = 4;

/// Replaces reads of integer formats, of which the sampler has no border colours, by calls of the library where
/// the sampler has a border or is only known to the launch. Returns whether there were any.
pub fn integer_borders(context: &Context, module: &Module) -> bool {
    let mut reads = Vec::new();
    for_each_instruction(module, |instruction| {
        let Some(callee) = called(instruction) else { return };
        let Some(name) = callee.strip_prefix(SAMPLED).filter(|name| !name.starts_with('f')) else { return };
        let number = made_of(instruction.call_arguments()[1]);
        if number.is_none_or(|number| number & ADDRESSING == CLAMP) {
            reads.push((instruction, format!("{BORDERED}{name}"), number));
        }
    });
    let builder = Builder::new(context, module);
    for (instruction, function, number) in &reads {
        builder.before(*instruction);
        let mut arguments = instruction.call_arguments();
        arguments.push(match number {
            Some(number) => builder.number(32, *number),
            None => builder.call("__gencl_sampler_number", builder.int(32), &arguments[1..2]),
        });
        instruction.replace(builder.call(function, instruction.ty(), &arguments));
    }
    !reads.is_empty()
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
    instruction.callee().filter(|callee| callee.is_declaration()).map(Value::name)
}

/// Calls a function for each element of an instruction's operands.
fn by_elements<'m>(builder: &Builder<'m>, instruction: Value<'m>, function: &str) -> Value<'m> {
    let arguments = match instruction.opcode() {
        Opcode::LLVMCall => instruction.call_arguments(),
        _ => instruction.operands(),
    };
    let signed = matches!(instruction.opcode(), Opcode::LLVMSDiv | Opcode::LLVMSRem);
    let TypeKind::Vector(count, _) = instruction.ty().kind() else {
        return call(builder, function, &arguments, signed);
    };
    (0..count).fold(builder.poison(instruction.ty()), |result, index| {
        let elements: Vec<_> = arguments.iter().map(|&vector| builder.extract(vector, index)).collect();
        builder.insert(result, call(builder, function, &elements, signed), index)
    })
}

/// Calls a function with operands of its type; integers are widened to 64 bits and back.
fn call<'m>(builder: &Builder<'m>, function: &str, arguments: &[Value<'m>], signed: bool) -> Value<'m> {
    let own = arguments[0].ty();
    let integer = function.ends_with("div64") && !function.starts_with('f') || function.ends_with("rem64");
    let ty = if integer { builder.int(64) } else { own };
    // The operation propagates poison, but the function may branch on it, which is undefined. Unused elements of
    // vectors are poison.
    let mut arguments: Vec<_> = arguments.iter().map(|&argument| builder.freeze(argument)).collect();
    if integer {
        arguments.iter_mut().for_each(|argument| *argument = builder.resize(*argument, ty, signed));
    }
    let result = builder.call(&format!("{LIBRARY}{function}"), ty, &arguments);
    if integer { builder.resize(result, own, signed) } else { result }
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
