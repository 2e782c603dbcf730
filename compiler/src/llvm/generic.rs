//! Generic pointers.
//!
//! LLVM infers the address space of most of them. Accesses whose address space is only known at run time are
//! replaced by calls of the library, which branch on the tag in the pointer's upper three bits
//! (`library/generic20.cl`).

use inkwell::context::Context;
use inkwell::llvm_sys::prelude::LLVMModuleRef;
use inkwell::module::Module;

use super::ask;
use super::build::Builder;
use super::prepare::for_each_instruction;
use super::view::{self, Opcode, TypeKind, Value, ValueKind};

/// Address space of generic pointers.
pub const GENERIC: u32 = 4;

unsafe extern "C" {
    fn gencl_infer_address_spaces(module: LLVMModuleRef, generic: std::ffi::c_uint);
}

/// Replaces generic pointers by pointers to a specific address space where that can be inferred.
pub fn infer(module: &Module) {
    ask!(gencl_infer_address_spaces(module.as_mut_ptr(), GENERIC));
}

/// Whether a module has generic pointers.
#[must_use]
pub fn is_used(module: &Module) -> bool {
    let mut used = false;
    for_each_instruction(module, |instruction| {
        used |= is_generic(instruction)
            || (0..instruction.operand_count()).any(|index| is_generic(instruction.operand(index)));
    });
    used
}

/// The library's query of a generic pointer's address space.
const POINTER_SPACE: &str = "__gencl_pointer_space";

/// Replaces the library's queries of address spaces by constants where they are known. With `all`, the others
/// are replaced by the pointer's upper three bits. Returns whether there was a query.
pub fn tell_spaces(context: &Context, module: &Module, all: bool) -> bool {
    let mut questions = Vec::new();
    for_each_instruction(module, |instruction| {
        if instruction.callee().is_some_and(|callee| callee.name() == POINTER_SPACE) {
            questions.push(instruction);
        }
    });
    let lowering = Lowering { builder: Builder::new(context, module), module };
    let mut answered = false;
    for question in questions {
        let answer = match known_space(question.operand(0)) {
            Some(space) => lowering.builder.number(32, space),
            None if all => lowering.upper_bits(question),
            None => continue,
        };
        question.replace(answer);
        answered = true;
    }
    answered
}

/// Where the tag of a generic pointer begins, and those of private and local memory.
pub const TAG_BIT: u64 = 61;
const POINTS_TO_PRIVATE: u64 = 1;
/// See [`TAG_BIT`].
pub const POINTS_TO_LOCAL: u64 = 2;

/// The tag (the upper three bits) of a generic pointer that is cast from a known address space.
fn known_space(pointer: Value) -> Option<u64> {
    let cast = matches!(pointer.kind(), ValueKind::Instruction | ValueKind::ConstantExpression)
        && pointer.opcode() == Opcode::LLVMAddrSpaceCast;
    cast.then(|| match pointer.operand(0).ty().kind() {
        TypeKind::Pointer(0) => POINTS_TO_PRIVATE,
        TypeKind::Pointer(3) => POINTS_TO_LOCAL,
        _ => 0,
    })
}

/// Replaces accesses through generic pointers that are not atomic by calls of the library. Returns whether there were any.
///
/// # Errors
/// An operation on a generic pointer that the compiler does not support.
pub fn lower(context: &Context, module: &Module) -> Result<bool, String> {
    let mut found = Vec::new();
    for_each_instruction(module, |instruction| {
        let pointers: &[u32] = match instruction.opcode() {
            Opcode::LLVMLoad => &[0],
            Opcode::LLVMStore => &[1],
            Opcode::LLVMCall if intrinsic(instruction).is_some() => &[0, 1],
            _ => return,
        };
        if pointers.iter().any(|&index| is_generic(instruction.operand(index))) {
            found.push(instruction);
        }
    });
    let lowering = Lowering { builder: Builder::new(context, module), module };
    for &instruction in &found {
        lowering.replace(instruction)?;
    }
    Ok(!found.is_empty())
}

fn is_generic(value: Value) -> bool {
    value.ty().kind() == TypeKind::Pointer(GENERIC)
}

/// The library's function for a call of an intrinsic that copies or fills memory.
fn intrinsic(call: Value) -> Option<&'static str> {
    let name = call.callee()?.name();
    [("llvm.memcpy.", "copy"), ("llvm.memmove.", "move"), ("llvm.memset.", "fill")]
        .into_iter()
        .find(|(prefix, _)| name.starts_with(prefix))
        .map(|(_, function)| function)
}

/// A pointer cast to a generic one, as an integer.
pub(super) fn address<'m>(b: &Builder<'m>, pointer: Value<'m>) -> Value<'m> {
    let cast = || b.cast(Opcode::LLVMAddrSpaceCast, pointer, b.pointer(GENERIC));
    let generic = if is_generic(pointer) { pointer } else { cast() };
    b.cast(Opcode::LLVMPtrToInt, generic, b.int(64))
}

struct Lowering<'m, 'ctx> {
    builder: Builder<'m>,
    module: &'m Module<'ctx>,
}

impl<'m> Lowering<'m, '_> {
    /// The tag (the upper three bits) of a call's pointer argument.
    fn upper_bits(&self, question: Value<'m>) -> Value<'m> {
        let b = &self.builder;
        b.before(question);
        let address = self.address(question.operand(0));
        let bits = b.binary(Opcode::LLVMLShr, address, b.number(64, TAG_BIT));
        b.cast(Opcode::LLVMTrunc, bits, b.int(32))
    }

    fn replace(&self, instruction: Value<'m>) -> Result<(), String> {
        self.builder.before(instruction);
        match instruction.opcode() {
            Opcode::LLVMLoad => instruction.replace_uses(self.load(instruction)?),
            Opcode::LLVMStore => self.store(instruction)?,
            _ => self.bulk(instruction),
        }
        instruction.erase();
        Ok(())
    }

    fn address(&self, pointer: Value<'m>) -> Value<'m> {
        address(&self.builder, pointer)
    }

    fn offset(&self, address: Value<'m>, bytes: u32) -> Value<'m> {
        match bytes {
            0 => address,
            _ => self.builder.binary(Opcode::LLVMAdd, address, self.builder.number(64, bytes.into())),
        }
    }

    /// Calls `__gencl_generic_NAME`.
    fn call(&self, name: &str, result: view::Type<'m>, arguments: &[Value<'m>]) -> Value<'m> {
        self.builder.call(&format!("__gencl_generic_{name}"), result, arguments)
    }

    /// How an access of a type is split: the size of a piece in bytes, and the number of pieces.
    fn pieces(&self, ty: view::Type, align: u32) -> Result<(u32, u32), String> {
        if matches!(ty.kind(), TypeKind::Struct(_) | TypeKind::Array(..)) {
            return Err(format!("an access of {} through a generic pointer", ty.text()));
        }
        let size = view::Module::of(self.module).store_size_of(ty) as u32;
        let piece = align.clamp(1, 4).min(1 << size.trailing_zeros());
        Ok((piece, size / piece))
    }

    /// The type of `count` pieces: an integer or a vector.
    fn piece_type(&self, piece: u32, count: u32) -> view::Type<'m> {
        self.builder.vector(self.builder.int(8 * piece), count)
    }

    fn load(&self, instruction: Value<'m>) -> Result<Value<'m>, String> {
        let b = &self.builder;
        let ty = instruction.ty();
        let (piece, count) = self.pieces(ty, instruction.alignment())?;
        let address = self.address(instruction.operand(0));
        let mut whole = b.poison(self.piece_type(piece, count));
        for (first, group) in groups(piece, count) {
            let address = self.offset(address, first * piece);
            let result = if group == 1 { b.int(8 * piece) } else { self.piece_type(piece, group) };
            let part = self.call(&format!("load_{}", group * piece), result, &[address]);
            for i in 0..group {
                let element = if group == 1 { part } else { b.extract(part, i) };
                whole = b.insert(whole, element, first + i);
            }
        }
        Ok(self.assembled(whole, 8 * piece * count, ty))
    }

    fn assembled(&self, whole: Value<'m>, bits: u32, ty: view::Type<'m>) -> Value<'m> {
        let b = &self.builder;
        let as_integer = |whole| b.cast(Opcode::LLVMBitCast, whole, b.int(bits));
        match ty.kind() {
            TypeKind::Pointer(_) => b.cast(Opcode::LLVMIntToPtr, as_integer(whole), ty),
            TypeKind::Integer(own) if own < bits => b.cast(Opcode::LLVMTrunc, as_integer(whole), ty),
            _ => b.cast(Opcode::LLVMBitCast, whole, ty),
        }
    }

    fn store(&self, instruction: Value<'m>) -> Result<(), String> {
        let b = &self.builder;
        let value = instruction.operand(0);
        let (piece, count) = self.pieces(value.ty(), instruction.alignment())?;
        let address = self.address(instruction.operand(1));
        let bits = 8 * piece * count;
        let whole = match value.ty().kind() {
            TypeKind::Pointer(_) => b.cast(Opcode::LLVMPtrToInt, value, b.int(bits)),
            TypeKind::Integer(own) if own < bits => b.resize(value, b.int(bits), false),
            _ => value,
        };
        let whole = b.cast(Opcode::LLVMBitCast, whole, self.piece_type(piece, count));
        for (first, group) in groups(piece, count) {
            let element = |i: u32| b.extract(whole, first + i);
            let part = match group {
                1 => element(0),
                _ => (0..group)
                    .fold(b.poison(self.piece_type(piece, group)), |part, i| b.insert(part, element(i), i)),
            };
            let address = self.offset(address, first * piece);
            self.call(&format!("store_{}", group * piece), b.void(), &[address, part]);
        }
        Ok(())
    }

    fn bulk(&self, call: Value<'m>) {
        let b = &self.builder;
        let Some(name) = intrinsic(call) else { return };
        let second = match name {
            "fill" => call.operand(1),
            _ => self.address(call.operand(1)),
        };
        let count = b.resize(call.operand(2), b.int(64), false);
        self.call(name, b.void(), &[self.address(call.operand(0)), second, count]);
    }
}

/// Groups of pieces that one call accesses: first piece and number. Only dwords are grouped.
fn groups(piece: u32, count: u32) -> Vec<(u32, u32)> {
    let mut groups = Vec::new();
    let mut first = 0;
    while first < count {
        let rest = count - first;
        let group = if piece == 4 { [4, 2, 1].into_iter().find(|&n| n <= rest).unwrap_or(1) } else { 1 };
        groups.push((first, group));
        first += group;
    }
    groups
}

#[cfg(test)]
mod tests {
    #[test]
    fn dwords_go_in_groups() {
        assert_eq!(super::groups(4, 7), [(0, 4), (4, 2), (6, 1)]);
        assert_eq!(super::groups(2, 2), [(0, 1), (1, 1)]);
    }
}
