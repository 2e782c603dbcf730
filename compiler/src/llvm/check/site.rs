//! What reports say of a place: the source's functions and lines, and the object.

use std::collections::HashSet;

use gencl_program::finding::{Object, Place};

use super::pointer::{LOCAL, argument_index, root};
use crate::llvm::debug::DebugLocation;
use crate::llvm::view::{Opcode, Value, ValueKind};

/// The place of an instruction in the source, and the calls that it was inlined by, the kernel last.
pub(super) fn places(instruction: Value) -> Vec<Place> {
    let chain = std::iter::successors(DebugLocation::of(instruction), |location| location.inlined_at());
    let place = |location: DebugLocation| {
        let subprogram = location.subprogram();
        Place {
            function: subprogram.map(|subprogram| subprogram.name()).unwrap_or_default(),
            file: location.file().map(|file| file.name()).unwrap_or_default(),
            line: location.line(),
            column: location.column(),
        }
    };
    chain.map(place).collect()
}

/// The object at the root of a pointer ([`root`]), if it has a name.
pub(super) fn object(kernel: Value, root: Value) -> Option<Object> {
    let root = origin(root)?;
    match root.kind() {
        ValueKind::Argument => Some(Object::Argument(argument_index(kernel, root)?, root.name())),
        ValueKind::Instruction if root.opcode() == Opcode::LLVMAlloca => {
            Some(Object::Private(without_number(&root.name()).into()))
        }
        ValueKind::GlobalVariable => {
            let name = root.name();
            // Clang puts the function's name in front.
            let plain =
                name.rsplit('.').find(|part| part.parse::<u32>().is_err()).unwrap_or(&name).to_owned();
            Some(if root.ty().is_pointer_to(LOCAL) { Object::Local(plain) } else { Object::Variable(plain) })
        }
        _ => None,
    }
}

/// What all values of a pointer are derived from, if that is the same.
fn origin(pointer: Value) -> Option<Value> {
    let (mut origin, mut seen, mut open) = (None, HashSet::new(), vec![pointer]);
    while let Some(value) = open.pop().map(root) {
        match value.operation() {
            _ if !seen.insert(value) => {}
            Some(Opcode::LLVMPHI) => open.extend(value.incoming().into_iter().map(|(value, _)| value)),
            Some(Opcode::LLVMSelect) => open.extend([value.operand(1), value.operand(2)]),
            _ if origin.is_none() => origin = Some(value),
            _ => return None,
        }
    }
    origin
}

/// A name without what LLVM appends to make names unique, and when it inlines: `sum.i.i12` is sum.
fn without_number(name: &str) -> &str {
    name.split('.').next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    #[test]
    fn names_are_those_of_the_source() {
        assert_eq!(super::without_number("sum.i.i12"), "sum");
        assert_eq!(super::without_number("sum"), "sum");
    }
}
