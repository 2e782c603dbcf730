//! Checks that accesses to memory are within the objects that their pointers point into.

use gencl_program::finding::{Check, SPARE_SIZE};

use super::access::{Access, Kind};
use super::pointer::{GLOBAL, Target, root};
use super::{Checker, site};
use crate::llvm::view::{IntPredicate, Opcode, Type, TypeKind, Value, ValueKind};

/// The library's function for memory in place of what is out of bounds.
pub(super) const SPARE: &str = "__gencl_check_spare";

impl<'m> Checker<'_, 'm> {
    /// Checks that an access is within its object. Returns the pointer by which it is performed, and whether it has failed:
    /// one in global memory that is out of bounds, or `forbidden`, goes to spare memory instead, so that the launch
    /// goes on.
    pub(super) fn bounds(
        &mut self,
        kernel: Value<'m>,
        (instruction, access): (Value<'m>, &Access<'m>),
        target: Target<'m>,
        forbidden: Option<Value<'m>>,
    ) -> (Value<'m>, Value<'m>) {
        let b = self.builder;
        b.before(instruction);
        let Target { offset, size } = target;
        let length = b.resize(access.length, size.ty(), false);
        // The last offset at which the access fits, and one more, so that an object may be too small for any. A negative
        // offset is a large one.
        let compare = |predicate, x, y| b.compare(predicate, x, y);
        let last = b.binary(Opcode::LLVMSub, size, length);
        let is_behind = compare(IntPredicate::LLVMIntUGT, offset, last);
        let too_small = compare(IntPredicate::LLVMIntULT, size, length);
        let mut failed = b.binary(Opcode::LLVMOr, is_behind, too_small);
        if length.integer().is_none() {
            let is_any = compare(IntPredicate::LLVMIntNE, length, b.zero(length.ty()));
            failed = b.binary(Opcode::LLVMAnd, failed, is_any);
        }
        if let Some(forbidden) = forbidden {
            failed = b.binary(Opcode::LLVMOr, failed, forbidden);
        }
        let root = root(access.pointer);
        let misaligned = self.aligned(kernel, (instruction, access), target);
        let is_global = matches!(access.pointer.ty().kind(), TypeKind::Pointer(1 | 2));
        let has_address = is_global && matches!(root.kind(), ValueKind::Instruction);
        let address = if has_address {
            b.cast(Opcode::LLVMPtrToInt, access.pointer, b.int(64))
        } else {
            b.number(64, 0)
        };
        let length = access.length.integer().unwrap_or_default();
        let check = match access.kind {
            Kind::Read => Check::Read(length),
            Kind::Write => Check::Write(length),
            Kind::Atomic => Check::Atomic(length),
        };
        self.check(instruction, (check, site::object(kernel, root)), failed, [address, offset, size]);
        if let Some(misaligned) = misaligned {
            failed = b.binary(Opcode::LLVMOr, failed, misaligned);
        }
        let is_spared = access.pointer.ty().is_pointer_to(GLOBAL) && (1..=SPARE_SIZE).contains(&length);
        if !is_spared || failed.integer() == Some(0) {
            return (access.pointer, failed);
        }
        let spare = b.call(SPARE, access.pointer.ty(), &[]);
        let pointer = b.select(failed, spare, access.pointer);
        instruction.set_operand(access.operand, pointer);
        (pointer, failed)
    }

    /// Checks that an index of an array in a structure is within that, if something there is accessed. The address of
    /// the element behind the last one is only computed.
    pub(super) fn member(&mut self, pointer: Value<'m>) {
        let Some((index, count)) = member_index(pointer) else { return };
        let is_accessed = |user: Value<'m>| match user.opcode() {
            Opcode::LLVMLoad
            | Opcode::LLVMAtomicRMW
            | Opcode::LLVMAtomicCmpXchg
            | Opcode::LLVMGetElementPtr => true,
            Opcode::LLVMStore => user.operand(1) == pointer,
            _ => false,
        };
        if !pointer.users().into_iter().any(is_accessed) {
            return;
        }
        let b = self.builder;
        b.before(pointer);
        let failed = b.compare(IntPredicate::LLVMIntUGE, index, b.number_of(index.ty(), count));
        let zero = b.number(64, 0);
        self.check(pointer, (Check::Index(count), None), failed, [zero, index, zero]);
    }
}

/// The index of an array in a structure, and the number of its elements: clang has a `getelementptr` for the member, and
/// another one for the element; for the first member of a variable of the program only the latter. An array of one element
/// may stand for one of any number.
fn member_index<'m>(pointer: Value<'m>) -> Option<(Value<'m>, u64)> {
    let TypeKind::Array(count @ 2.., _) = pointer.source_element_type().kind() else { return None };
    let member = pointer.operand(0);
    let is_member = if member.kind() == ValueKind::GlobalVariable {
        let inner = |ty: &Type<'m>| matches!(ty.kind(), TypeKind::Struct(1..)).then(|| ty.field(0));
        let firsts = std::iter::successors(Some(member.value_type()), inner).skip(1);
        firsts.into_iter().any(|ty| ty == pointer.source_element_type())
    } else {
        member.operation() == Some(Opcode::LLVMGetElementPtr)
            && member.operand_count() == 3
            && matches!(member.source_element_type().kind(), TypeKind::Struct(_))
    };
    let index = (pointer.operand_count() == 3).then(|| pointer.operand(2))?;
    (is_member && index.integer().is_none()).then_some((index, count))
}
