//! Accesses to memory.

use crate::llvm::build::Builder;
use crate::llvm::view::{self, Opcode, RmwOp, Value};

/// LLVM's functions that access memory: the arguments that are pointers, with whether they are written. The third
/// argument is the number of bytes.
const BULK: &[(&str, &[(u32, bool)])] = &[
    ("llvm.memcpy.", &[(0, true), (1, false)]),
    ("llvm.memmove.", &[(0, true), (1, false)]),
    ("llvm.memset.", &[(0, true)]),
];

/// The prefix of intrinsics for atomic operations: the first argument is the pointer, the second has the type of the
/// value there.
pub(super) const ATOMIC: &str = "__gencl_atomic_";

/// The prefix of exchanges, which replace what is there whatever it is.
const EXCHANGE: &str = "__gencl_atomic_xchg";

/// An access.
pub(super) struct Access<'m> {
    pub(super) pointer: Value<'m>,
    /// Which operand of the instruction the pointer is.
    pub(super) operand: u32,
    /// The number of bytes.
    pub(super) length: Value<'m>,
    pub(super) kind: Kind,
}

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Read,
    Write,
    Atomic,
}

/// The accesses of an instruction.
pub(super) fn of<'m>(
    builder: &Builder<'m>,
    module: view::Module<'m>,
    instruction: Value<'m>,
) -> Vec<Access<'m>> {
    let of_type = |operand, value: Value<'m>, kind| {
        let length = builder.number(64, module.store_size_of(value.ty()));
        vec![Access { pointer: instruction.operand(operand), operand, length, kind }]
    };
    let unless_atomic = |kind| if is_atomic(instruction) { Kind::Atomic } else { kind };
    match instruction.opcode() {
        Opcode::LLVMLoad if is_of_part(instruction) => Vec::new(),
        Opcode::LLVMLoad => of_type(0, instruction, unless_atomic(Kind::Read)),
        Opcode::LLVMStore => of_type(1, instruction.operand(0), unless_atomic(Kind::Write)),
        Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg => of_type(0, instruction.operand(1), Kind::Atomic),
        Opcode::LLVMCall => {
            let name = instruction.callee().map(Value::name).unwrap_or_default();
            if let Some((_, pointers)) = BULK.iter().find(|(prefix, _)| name.starts_with(prefix)) {
                let access = |&(operand, written)| Access {
                    pointer: instruction.operand(operand),
                    operand,
                    length: instruction.operand(2),
                    kind: if written { Kind::Write } else { Kind::Read },
                };
                return pointers.iter().map(access).collect();
            }
            let arguments = instruction.call_arguments();
            match arguments.as_slice() {
                [_, value, ..] if name.starts_with(ATOMIC) => of_type(0, *value, Kind::Atomic),
                _ => Vec::new(),
            }
        }
        _ => Vec::new(),
    }
}

/// Whether a load or store is atomic, or part of an operation that is: of the library's functions under a lock, which mark
/// theirs (`library/atomics64.cl`).
fn is_atomic(instruction: Value) -> bool {
    instruction.is_atomic() || instruction.is_marked("nontemporal")
}

/// Whether an atomic operation does not depend on what is in memory.
pub(super) fn is_exchange(instruction: Value) -> bool {
    match instruction.opcode() {
        Opcode::LLVMAtomicRMW => instruction.rmw_op() == RmwOp::LLVMAtomicRMWBinOpXchg,
        Opcode::LLVMCall => instruction.callee().is_some_and(|callee| callee.name().starts_with(EXCHANGE)),
        _ => false,
    }
}

/// Whether a vector is loaded only for the elements that an assignment to others leaves as they are, as clang does for
/// `p->x = 1`: the vector is stored again.
fn is_of_part(load: Value) -> bool {
    let is_stored = |user: Value| user.opcode() == Opcode::LLVMStore && user.operand(1) == load.operand(0);
    let users = load.users();
    let are_inserted = users
        .iter()
        .all(|user| user.opcode() == Opcode::LLVMInsertElement && user.users().into_iter().all(is_stored));
    are_inserted && !users.is_empty()
}
