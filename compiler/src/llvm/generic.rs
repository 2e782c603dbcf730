//! Generic pointers.
//!
//! LLVM infers the address space of most of them. Accesses whose address space is only known at run time are
//! replaced by calls of the library, which branch on the tag in the pointer's upper three bits
//! (`library/generic20.cl`).

use std::ffi::CString;

use inkwell::context::{AsContextRef, Context};
use inkwell::llvm_sys::LLVMIntPredicate;
use inkwell::llvm_sys::core::{
    LLVMAddFunction, LLVMBuildAdd, LLVMBuildAddrSpaceCast, LLVMBuildBitCast, LLVMBuildCall2,
    LLVMBuildExtractElement, LLVMBuildICmp, LLVMBuildInsertElement, LLVMBuildInsertValue, LLVMBuildIntCast2,
    LLVMBuildIntToPtr, LLVMBuildLShr, LLVMBuildPtrToInt, LLVMBuildTrunc, LLVMConstInt,
    LLVMCreateBuilderInContext, LLVMDisposeBuilder, LLVMFunctionType, LLVMGetNamedFunction, LLVMGetPoison,
    LLVMInstructionEraseFromParent, LLVMIntTypeInContext, LLVMPointerTypeInContext,
    LLVMPositionBuilderBefore, LLVMReplaceAllUsesWith, LLVMTypeOf, LLVMVectorType, LLVMVoidTypeInContext,
};
use inkwell::llvm_sys::prelude::*;
use inkwell::module::Module;

use super::ask;
use super::prepare::for_each_instruction;
use super::view::{self, Opcode, RmwOp, TypeKind, Value, ValueKind};

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
        if instruction.opcode() == Opcode::LLVMCall
            && instruction.callee().kind() == ValueKind::Function
            && instruction.callee().name() == POINTER_SPACE
        {
            questions.push(instruction);
        }
    });
    let lowering = Lowering::new(context, module);
    let mut answered = false;
    for question in questions {
        let answer = match known_space(question.operand(0)) {
            Some(space) => lowering.number(32, space),
            None if all => lowering.upper_bits(question),
            None => continue,
        };
        ask!(LLVMReplaceAllUsesWith(question.raw, answer));
        ask!(LLVMInstructionEraseFromParent(question.raw));
        answered = true;
    }
    answered
}

/// The tag (the upper three bits) of a generic pointer that is cast from a known address space.
fn known_space(pointer: Value) -> Option<u64> {
    let cast = matches!(pointer.kind(), ValueKind::Instruction | ValueKind::ConstantExpression)
        && pointer.opcode() == Opcode::LLVMAddrSpaceCast;
    cast.then(|| match pointer.operand(0).ty().kind() {
        TypeKind::Pointer(0) => 1,
        TypeKind::Pointer(3) => 2,
        _ => 0,
    })
}

/// Replaces accesses through generic pointers by calls of the library. Returns whether there were any.
///
/// # Errors
/// An operation on a generic pointer that the compiler does not support.
pub fn lower(context: &Context, module: &Module) -> Result<bool, String> {
    let mut found = Vec::new();
    for_each_instruction(module, |instruction| {
        let pointers: &[u32] = match instruction.opcode() {
            Opcode::LLVMLoad | Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg => &[0],
            Opcode::LLVMStore => &[1],
            Opcode::LLVMCall if intrinsic(instruction).is_some() => &[0, 1],
            _ => return,
        };
        if pointers.iter().any(|&index| is_generic(instruction.operand(index))) {
            found.push(instruction);
        }
    });
    let lowering = Lowering::new(context, module);
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
    if call.callee().kind() != ValueKind::Function {
        return None;
    }
    let name = call.callee().name();
    [("llvm.memcpy.", "copy"), ("llvm.memmove.", "move"), ("llvm.memset.", "fill")]
        .into_iter()
        .find(|(prefix, _)| name.starts_with(prefix))
        .map(|(_, function)| function)
}

struct Lowering<'a, 'ctx> {
    context: LLVMContextRef,
    module: &'a Module<'ctx>,
    builder: LLVMBuilderRef,
}

impl Drop for Lowering<'_, '_> {
    fn drop(&mut self) {
        ask!(LLVMDisposeBuilder(self.builder));
    }
}

const NO_NAME: *const std::ffi::c_char = c"".as_ptr();

impl<'a, 'ctx> Lowering<'a, 'ctx> {
    fn new(context: &Context, module: &'a Module<'ctx>) -> Self {
        let context = context.as_ctx_ref();
        Self { context, module, builder: ask!(LLVMCreateBuilderInContext(context)) }
    }
}

impl Lowering<'_, '_> {
    /// The tag (the upper three bits) of a call's pointer argument.
    fn upper_bits(&self, question: Value) -> LLVMValueRef {
        ask!(LLVMPositionBuilderBefore(self.builder, question.raw));
        let address = self.address(question.operand(0));
        let bits = ask!(LLVMBuildLShr(self.builder, address, self.number(64, 61), NO_NAME));
        ask!(LLVMBuildTrunc(self.builder, bits, self.int(32), NO_NAME))
    }

    fn replace(&self, instruction: Value) -> Result<(), String> {
        ask!(LLVMPositionBuilderBefore(self.builder, instruction.raw));
        let result = match instruction.opcode() {
            Opcode::LLVMLoad => Some(self.load(instruction)?),
            Opcode::LLVMStore => {
                self.store(instruction)?;
                None
            }
            Opcode::LLVMAtomicRMW => Some(self.atomic(instruction)?),
            Opcode::LLVMAtomicCmpXchg => Some(self.compare_exchange(instruction)?),
            _ => {
                self.bulk(instruction);
                None
            }
        };
        if let Some(result) = result {
            ask!(LLVMReplaceAllUsesWith(instruction.raw, result));
        }
        ask!(LLVMInstructionEraseFromParent(instruction.raw));
        Ok(())
    }

    fn int(&self, bits: u32) -> LLVMTypeRef {
        ask!(LLVMIntTypeInContext(self.context, bits))
    }

    fn number(&self, bits: u32, value: u64) -> LLVMValueRef {
        ask!(LLVMConstInt(self.int(bits), value, 0))
    }

    /// A pointer cast to a generic one, as an integer.
    fn address(&self, pointer: Value) -> LLVMValueRef {
        let mut pointer = pointer.raw;
        if Value::new(pointer).ty().kind() != TypeKind::Pointer(GENERIC) {
            let ty = ask!(LLVMPointerTypeInContext(self.context, GENERIC));
            pointer = ask!(LLVMBuildAddrSpaceCast(self.builder, pointer, ty, NO_NAME));
        }
        ask!(LLVMBuildPtrToInt(self.builder, pointer, self.int(64), NO_NAME))
    }

    fn offset(&self, address: LLVMValueRef, bytes: u32) -> LLVMValueRef {
        match bytes {
            0 => address,
            _ => ask!(LLVMBuildAdd(self.builder, address, self.number(64, bytes.into()), NO_NAME)),
        }
    }

    /// Calls `__gencl_generic_NAME`.
    fn call(&self, name: &str, result: LLVMTypeRef, arguments: &mut [LLVMValueRef]) -> LLVMValueRef {
        let mut types: Vec<_> = arguments.iter().map(|&argument| ask!(LLVMTypeOf(argument))).collect();
        let count = types.len() as u32;
        let ty = ask!(LLVMFunctionType(result, types.as_mut_ptr(), count, 0));
        let name = CString::new(format!("__gencl_generic_{name}")).expect("no zero in it");
        let mut function = ask!(LLVMGetNamedFunction(self.module.as_mut_ptr(), name.as_ptr()));
        if function.is_null() {
            function = ask!(LLVMAddFunction(self.module.as_mut_ptr(), name.as_ptr(), ty));
        }
        ask!(LLVMBuildCall2(self.builder, ty, function, arguments.as_mut_ptr(), count, NO_NAME))
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
    fn piece_type(&self, piece: u32, count: u32) -> LLVMTypeRef {
        ask!(LLVMVectorType(self.int(8 * piece), count))
    }

    fn load(&self, instruction: Value) -> Result<LLVMValueRef, String> {
        let ty = instruction.ty();
        let (piece, count) = self.pieces(ty, instruction.alignment())?;
        let address = self.address(instruction.operand(0));
        let mut whole = ask!(LLVMGetPoison(self.piece_type(piece, count)));
        for (first, group) in groups(piece, count) {
            let address = self.offset(address, first * piece);
            let result = if group == 1 { self.int(8 * piece) } else { self.piece_type(piece, group) };
            let part = self.call(&format!("load_{}", group * piece), result, &mut [address]);
            for i in 0..group {
                let element = match group {
                    1 => part,
                    _ => {
                        ask!(LLVMBuildExtractElement(self.builder, part, self.number(32, i.into()), NO_NAME))
                    }
                };
                let place = self.number(32, (first + i).into());
                whole = ask!(LLVMBuildInsertElement(self.builder, whole, element, place, NO_NAME));
            }
        }
        Ok(self.assembled(whole, 8 * piece * count, ty))
    }

    fn assembled(&self, whole: LLVMValueRef, bits: u32, ty: view::Type) -> LLVMValueRef {
        let as_integer = |whole| ask!(LLVMBuildBitCast(self.builder, whole, self.int(bits), NO_NAME));
        match ty.kind() {
            TypeKind::Pointer(_) => {
                ask!(LLVMBuildIntToPtr(self.builder, as_integer(whole), ty.raw, NO_NAME))
            }
            TypeKind::Integer(own) if own < bits => {
                ask!(LLVMBuildTrunc(self.builder, as_integer(whole), ty.raw, NO_NAME))
            }
            _ => ask!(LLVMBuildBitCast(self.builder, whole, ty.raw, NO_NAME)),
        }
    }

    fn store(&self, instruction: Value) -> Result<(), String> {
        let value = instruction.operand(0);
        let (piece, count) = self.pieces(value.ty(), instruction.alignment())?;
        let address = self.address(instruction.operand(1));
        let bits = 8 * piece * count;
        let whole = match value.ty().kind() {
            TypeKind::Pointer(_) => {
                ask!(LLVMBuildPtrToInt(self.builder, value.raw, self.int(bits), NO_NAME))
            }
            TypeKind::Integer(own) if own < bits => {
                ask!(LLVMBuildIntCast2(self.builder, value.raw, self.int(bits), 0, NO_NAME))
            }
            _ => value.raw,
        };
        let whole = ask!(LLVMBuildBitCast(self.builder, whole, self.piece_type(piece, count), NO_NAME));
        let void = ask!(LLVMVoidTypeInContext(self.context));
        for (first, group) in groups(piece, count) {
            let element = |i: u32| {
                let place = self.number(32, (first + i).into());
                ask!(LLVMBuildExtractElement(self.builder, whole, place, NO_NAME))
            };
            let part = match group {
                1 => element(0),
                _ => (0..group).fold(ask!(LLVMGetPoison(self.piece_type(piece, group))), |part, i| {
                    let place = self.number(32, i.into());
                    ask!(LLVMBuildInsertElement(self.builder, part, element(i), place, NO_NAME))
                }),
            };
            let address = self.offset(address, first * piece);
            self.call(&format!("store_{}", group * piece), void, &mut [address, part]);
        }
        Ok(())
    }

    fn atomic(&self, instruction: Value) -> Result<LLVMValueRef, String> {
        let name = match instruction.rmw_op() {
            RmwOp::LLVMAtomicRMWBinOpXchg => "xchg",
            RmwOp::LLVMAtomicRMWBinOpAdd => "add",
            RmwOp::LLVMAtomicRMWBinOpSub => "sub",
            RmwOp::LLVMAtomicRMWBinOpAnd => "and",
            RmwOp::LLVMAtomicRMWBinOpOr => "or",
            RmwOp::LLVMAtomicRMWBinOpXor => "xor",
            RmwOp::LLVMAtomicRMWBinOpMax => "max",
            RmwOp::LLVMAtomicRMWBinOpMin => "min",
            RmwOp::LLVMAtomicRMWBinOpUMax => "umax",
            RmwOp::LLVMAtomicRMWBinOpUMin => "umin",
            _ => return Err(unsupported(instruction)),
        };
        let operand = self.dword(instruction, instruction.operand(1))?;
        let address = self.address(instruction.operand(0));
        let before = self.call(&format!("atomic_{name}"), self.int(32), &mut [address, operand]);
        Ok(ask!(LLVMBuildBitCast(self.builder, before, instruction.ty().raw, NO_NAME)))
    }

    fn compare_exchange(&self, instruction: Value) -> Result<LLVMValueRef, String> {
        let expected = self.dword(instruction, instruction.operand(1))?;
        let new = self.dword(instruction, instruction.operand(2))?;
        let address = self.address(instruction.operand(0));
        let before = self.call("atomic_cmpxchg", self.int(32), &mut [address, expected, new]);
        let equal = LLVMIntPredicate::LLVMIntEQ;
        let success = ask!(LLVMBuildICmp(self.builder, equal, before, expected, NO_NAME));
        let pair = ask!(LLVMGetPoison(instruction.ty().raw));
        let pair = ask!(LLVMBuildInsertValue(self.builder, pair, before, 0, NO_NAME));
        Ok(ask!(LLVMBuildInsertValue(self.builder, pair, success, 1, NO_NAME)))
    }

    /// An operand of an atomic operation as a 32-bit integer.
    fn dword(&self, instruction: Value, value: Value) -> Result<LLVMValueRef, String> {
        match value.ty().kind() {
            TypeKind::Integer(32) => Ok(value.raw),
            TypeKind::Float => Ok(ask!(LLVMBuildBitCast(self.builder, value.raw, self.int(32), NO_NAME))),
            _ => Err(unsupported(instruction)),
        }
    }

    fn bulk(&self, call: Value) {
        let Some(name) = intrinsic(call) else { return };
        let second = match name {
            "fill" => call.operand(1).raw,
            _ => self.address(call.operand(1)),
        };
        let count = ask!(LLVMBuildIntCast2(self.builder, call.operand(2).raw, self.int(64), 0, NO_NAME));
        let void = ask!(LLVMVoidTypeInContext(self.context));
        self.call(name, void, &mut [self.address(call.operand(0)), second, count]);
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

fn unsupported(instruction: Value) -> String {
    format!("{} through a generic pointer is not supported", instruction.text())
}

#[cfg(test)]
mod tests {
    #[test]
    fn dwords_go_in_groups() {
        assert_eq!(super::groups(4, 7), [(0, 4), (4, 2), (6, 1)]);
        assert_eq!(super::groups(2, 2), [(0, 1), (1, 1)]);
    }
}
