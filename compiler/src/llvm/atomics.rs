//! Atomic operations that no message of the data port performs: those through generic pointers, whose address space is
//! only known at run time, and those on quadwords in local memory, which become calls of the library
//! (`library/generic20.cl`, `library/atomics64.cl`); and exchanges of doubles, which become those of integers.

use inkwell::context::Context;
use inkwell::module::Module;

use super::build::Builder;
use super::generic::{self, GENERIC};
use super::prepare::for_each_instruction;
use super::view::{self, Opcode, RmwOp, Type, TypeKind, Value};
use crate::ir::AtomicOp;

/// Address spaces of global and local memory.
const GLOBAL: TypeKind = TypeKind::Pointer(1);
const LOCAL: TypeKind = TypeKind::Pointer(3);

/// The intrinsic for fences.
pub const FENCE: &str = "__gencl_fence";

/// `CLK_LOCAL_MEM_FENCE` and `CLK_GLOBAL_MEM_FENCE`.
pub const LOCAL_FENCE: u64 = 1;
/// See [`LOCAL_FENCE`].
pub const GLOBAL_FENCE: u64 = 2;

/// The pointer of an atomic instruction, and the value in memory, or one of its type.
fn operands<'m>(instruction: Value<'m>) -> Option<(Value<'m>, Value<'m>)> {
    match instruction.opcode() {
        Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg => {
            Some((instruction.operand(0), instruction.operand(1)))
        }
        Opcode::LLVMLoad if instruction.is_atomic() => Some((instruction.operand(0), instruction)),
        Opcode::LLVMStore if instruction.is_atomic() => {
            Some((instruction.operand(1), instruction.operand(0)))
        }
        _ => None,
    }
}

/// Whether it is a load or a store.
fn is_access(instruction: Value) -> bool {
    matches!(instruction.opcode(), Opcode::LLVMLoad | Opcode::LLVMStore)
}

/// Whether there are atomic instructions: modules of SPIR-V have some, others have calls of the library.
pub fn are_ordered(module: &Module) -> bool {
    let functions = view::Module::of(module).functions().flat_map(view::Value::blocks);
    functions.flat_map(view::Block::instructions).any(|instruction| instruction.order().is_some())
}

/// Puts fences around atomic instructions, as their orders ask for, and makes loads and stores of global and local memory
/// atomic operations, as in the library's functions (`library/atomics20.cl`): a thread that loads what another one of the
/// work-group stores waits for it then.
///
/// # Errors
/// An operation that the compiler does not support.
pub fn order(context: &Context, module: &Module) -> Result<(), String> {
    let builder = Builder::new(context, module);
    let mut found = Vec::new();
    for_each_instruction(module, |instruction| {
        found.extend(instruction.order().map(|order| (instruction, order)));
    });
    for (instruction, (releases, acquires)) in found {
        let Some((pointer, value)) = operands(instruction) else { continue };
        let flags = match pointer.ty().kind() {
            GLOBAL => GLOBAL_FENCE,
            LOCAL => LOCAL_FENCE,
            TypeKind::Pointer(GENERIC) => GLOBAL_FENCE | LOCAL_FENCE,
            _ => continue,
        };
        let fence = || builder.call(FENCE, builder.void(), &[builder.number(32, flags)]);
        let Some(behind) = instruction.next() else { continue };
        if acquires {
            builder.before(behind);
            fence();
        }
        builder.before(instruction);
        if releases {
            fence();
        }
        let bits = 8 * view::Module::of(module).store_size_of(value.ty()) as u32;
        if is_access(instruction) && matches!(pointer.ty().kind(), GLOBAL | LOCAL) && matches!(bits, 32 | 64)
        {
            Lowering { b: &builder, instruction, pointer, bits }.replace()?;
        }
    }
    Ok(())
}

/// Replaces them. Returns whether there were any.
///
/// # Errors
/// An operation that the compiler does not support.
pub fn lower(context: &Context, module: &Module) -> Result<bool, String> {
    let mut found = Vec::new();
    for_each_instruction(module, |instruction| {
        let Some((pointer, value)) = operands(instruction) else { return };
        let bits = 8 * view::Module::of(module).store_size_of(value.ty()) as u32;
        let is_ordered = instruction.order().is_some() && matches!(bits, 32 | 64);
        let kind = pointer.ty().kind();
        if kind == LOCAL && bits == 64
            || kind == GLOBAL && value.ty().kind() == TypeKind::Double
            || kind == TypeKind::Pointer(GENERIC) && (!is_access(instruction) || is_ordered)
        {
            found.push((instruction, pointer, bits));
        }
    });
    let builder = Builder::new(context, module);
    for &(instruction, pointer, bits) in &found {
        builder.before(instruction);
        Lowering { b: &builder, instruction, pointer, bits }.replace()?;
    }
    Ok(!found.is_empty())
}

/// The operation of an `atomicrmw`, and whether it sees signed integers.
pub fn operation(instruction: Value) -> Option<(AtomicOp, bool)> {
    Some(match instruction.rmw_op() {
        RmwOp::LLVMAtomicRMWBinOpXchg => (AtomicOp::Xchg, false),
        RmwOp::LLVMAtomicRMWBinOpAdd => (AtomicOp::Add, false),
        RmwOp::LLVMAtomicRMWBinOpSub => (AtomicOp::Sub, false),
        RmwOp::LLVMAtomicRMWBinOpAnd => (AtomicOp::And, false),
        RmwOp::LLVMAtomicRMWBinOpOr => (AtomicOp::Or, false),
        RmwOp::LLVMAtomicRMWBinOpXor => (AtomicOp::Xor, false),
        RmwOp::LLVMAtomicRMWBinOpMax => (AtomicOp::Max, true),
        RmwOp::LLVMAtomicRMWBinOpMin => (AtomicOp::Min, true),
        RmwOp::LLVMAtomicRMWBinOpUMax => (AtomicOp::Max, false),
        RmwOp::LLVMAtomicRMWBinOpUMin => (AtomicOp::Min, false),
        _ => return None,
    })
}

struct Lowering<'b, 'm> {
    b: &'b Builder<'m>,
    instruction: Value<'m>,
    pointer: Value<'m>,
    /// Bits of the value in memory.
    bits: u32,
}

impl<'m> Lowering<'_, 'm> {
    /// Replaces the instruction.
    fn replace(&self) -> Result<(), String> {
        if let Some(new) = self.value()? {
            self.instruction.replace_uses(new);
        }
        self.instruction.erase();
        Ok(())
    }

    /// What the instruction's result is replaced by; `None` for a store.
    fn value(&self) -> Result<Option<Value<'m>>, String> {
        let (b, instruction) = (self.b, self.instruction);
        let operand = |number| self.integer(instruction.operand(number));
        Ok(match instruction.opcode() {
            Opcode::LLVMAtomicRMW => {
                let (op, signed) = operation(instruction).ok_or_else(|| self.unsupported())?;
                let before = self.call(op, signed, &[operand(1)?]);
                Some(self.typed(before, instruction.ty()))
            }
            Opcode::LLVMAtomicCmpXchg => {
                let expected = operand(1)?;
                let before = self.call(AtomicOp::CmpXchg, false, &[expected, operand(2)?]);
                let value = self.typed(before, instruction.operand(1).ty());
                let pair = b.insert_field(b.poison(instruction.ty()), value, 0);
                Some(b.insert_field(pair, b.equal(before, expected), 1))
            }
            Opcode::LLVMLoad => {
                let before = self.call(AtomicOp::Or, false, &[b.number(self.bits, 0)]);
                Some(self.typed(before, instruction.ty()))
            }
            _ => {
                self.call(AtomicOp::Xchg, false, &[operand(0)?]);
                None
            }
        })
    }

    /// Calls the library's function for an operation, or the intrinsic; the value before.
    fn call(&self, op: AtomicOp, signed: bool, operands: &[Value<'m>]) -> Value<'m> {
        let number = format!("{}{}", if signed { 's' } else { 'u' }, self.bits);
        let (name, pointer) = match self.pointer.ty().kind() {
            LOCAL => (format!("__gencl_atomic_{op}_local_{number}"), self.pointer),
            GLOBAL => (format!("__gencl_atomic_{op}_global_{number}"), self.pointer),
            _ => (format!("__gencl_generic_atomic_{op}_{number}"), generic::address(self.b, self.pointer)),
        };
        let arguments: Vec<_> = std::iter::once(pointer).chain(operands.iter().copied()).collect();
        self.b.call(&name, self.b.int(self.bits), &arguments)
    }

    /// A value as an integer.
    fn integer(&self, value: Value<'m>) -> Result<Value<'m>, String> {
        let integer = self.b.int(self.bits);
        match (value.ty().kind(), self.bits) {
            (_, bits) if bits != 32 && bits != 64 => Err(self.unsupported()),
            (TypeKind::Integer(_), _) => Ok(value),
            (TypeKind::Float | TypeKind::Double, _) => Ok(self.b.cast(Opcode::LLVMBitCast, value, integer)),
            (TypeKind::Pointer(_), _) => Ok(self.b.cast(Opcode::LLVMPtrToInt, value, integer)),
            _ => Err(self.unsupported()),
        }
    }

    /// An integer as a value of a type.
    fn typed(&self, integer: Value<'m>, ty: Type<'m>) -> Value<'m> {
        let cast = match ty.kind() {
            TypeKind::Pointer(_) => Opcode::LLVMIntToPtr,
            _ => Opcode::LLVMBitCast,
        };
        self.b.cast(cast, integer, ty)
    }

    fn unsupported(&self) -> String {
        format!("{} is not supported", self.instruction.text())
    }
}
