//! Values for variables that have none yet, before LLVM promotes them to registers and uses that they are undefined.

use inkwell::context::Context;
use inkwell::module::Module;

use crate::llvm::build::Builder;
use crate::llvm::view::{self, Opcode, TypeKind, Value};

/// The prefix of functions that return an undefined value. They are replaced behind the checks.
const MARK: &str = "__gencl_undefined.";

/// Gives each private variable of the source that is one value an undefined one: where it is made, and where its life
/// begins anew. Aggregates stay in memory.
pub fn mark(context: &Context, module: &Module) {
    let builder = Builder::new(context, module);
    let functions = view::Module::of(module).functions();
    let instructions: Vec<_> =
        functions.flat_map(|function| function.blocks()).flat_map(view::Block::instructions).collect();
    let variables = instructions.into_iter().filter(|variable| {
        variable.opcode() == Opcode::LLVMAlloca
            && variable.operand(0).integer() == Some(1)
            && is_value(variable.allocated_type().kind())
    });
    for variable in variables {
        let ty = variable.allocated_type();
        for begin in begins(variable) {
            let Some(behind) = begin.next() else { continue };
            builder.before(behind);
            let value = builder.call(&format!("{MARK}{}", ty.text()), ty, &[]);
            if let Some(function) = value.callee() {
                ["memory", "nounwind", "willreturn"]
                    .iter()
                    .for_each(|name| function.add_attribute(context, name));
            }
            builder.store(value, variable, variable.alignment());
        }
    }
}

/// Where the value of a private variable becomes undefined: behind these instructions.
pub(super) fn begins(variable: Value) -> impl Iterator<Item = Value> {
    let is_begin = |user: &Value| {
        user.opcode() == Opcode::LLVMCall
            && user.callee().is_some_and(|callee| callee.name().starts_with("llvm.lifetime.start"))
    };
    std::iter::once(variable).chain(variable.users().into_iter().filter(is_begin))
}

/// Whether LLVM can keep values of the type in registers.
fn is_value(kind: TypeKind) -> bool {
    match kind {
        TypeKind::Integer(_) | TypeKind::Half | TypeKind::Float | TypeKind::Double | TypeKind::Pointer(_) => {
            true
        }
        TypeKind::Vector(_, element) => is_value(element.kind()),
        _ => false,
    }
}

/// Whether a value is undefined by a mark.
pub fn is_mark(value: Value) -> bool {
    value.opcode() == Opcode::LLVMCall && value.callee().is_some_and(|callee| callee.name().starts_with(MARK))
}
