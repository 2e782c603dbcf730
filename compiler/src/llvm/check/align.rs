//! Checks that accesses are at multiples of their alignment, which LLVM and hardware rely on.

use gencl_program::finding::Check;

use super::access::{Access, Kind};
use super::pointer::{Target, argument_index, root, steps};
use super::{Checker, site};
use crate::llvm::view::{IntPredicate, Opcode, Value, ValueKind};

impl<'m> Checker<'_, 'm> {
    /// Checks the alignment of an access, in front of which the builder is, where it is not certain. Returns whether it is
    /// at no multiple of that.
    pub(super) fn aligned(
        &mut self,
        kernel: Value<'m>,
        (instruction, access): (Value<'m>, &Access<'m>),
        target: Target<'m>,
    ) -> Option<Value<'m>> {
        let b = self.builder;
        let align = match instruction.opcode() {
            Opcode::LLVMLoad | Opcode::LLVMStore => instruction.alignment().into(),
            _ if access.kind == Kind::Atomic => access.length.integer()?,
            _ => return None,
        };
        if self.known_alignment(kernel, access.pointer) >= align {
            return None;
        }
        let address = b.cast(Opcode::LLVMPtrToInt, access.pointer, target.offset.ty());
        let rest = b.binary(Opcode::LLVMAnd, address, b.number_of(address.ty(), align - 1));
        let failed = b.compare(IntPredicate::LLVMIntNE, rest, b.zero(rest.ty()));
        let object = site::object(kernel, root(access.pointer));
        let numbers = [b.number(64, 0), target.offset, target.size];
        self.check(instruction, (Check::Aligned(align), object), failed, numbers);
        Some(failed)
    }

    /// A power of two that a pointer is a multiple of, by what it is made of.
    fn known_alignment(&self, kernel: Value<'m>, pointer: Value<'m>) -> u64 {
        match (pointer.kind(), pointer.operation()) {
            (ValueKind::Argument, _) => {
                argument_index(kernel, pointer).map_or(1, |index| kernel.parameter_alignment(index).into())
            }
            (ValueKind::GlobalVariable, _) => pointer.global_alignment().into(),
            (_, Some(Opcode::LLVMAlloca)) => pointer.alignment().into(),
            (_, Some(Opcode::LLVMGetElementPtr)) => {
                let base = self.known_alignment(kernel, pointer.operand(0));
                let distances = steps(self.builder, pointer).into_iter().map(|(index, size)| {
                    let count = index.and_then(Value::signed_integer);
                    count.map_or(size, |count| size.wrapping_mul(count.cast_unsigned()))
                });
                // The lowest bit that is set in any of the distances.
                1 << distances.fold(base, |all, distance| all | distance).trailing_zeros().min(63)
            }
            (_, Some(Opcode::LLVMAddrSpaceCast | Opcode::LLVMBitCast | Opcode::LLVMFreeze)) => {
                self.known_alignment(kernel, pointer.operand(0))
            }
            _ => 1,
        }
    }
}
