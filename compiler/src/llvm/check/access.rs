//! Checks of accesses to memory: each is within the object that its pointer points into.

use gencl_program::finding::{Check, Site, Tools};
use inkwell::context::Context;
use inkwell::module::Module;

use super::pointer::{Pointers, Target, root};
use super::race::Races;
use super::{Checker, site};
use crate::llvm::build::Builder;
use crate::llvm::view::{self, IntPredicate, Opcode, TypeKind, Value, ValueKind};

/// LLVM's functions that access memory: the arguments that are pointers, with whether they are written. The third
/// argument is the number of bytes.
const BULK: &[(&str, &[(u32, bool)])] = &[
    ("llvm.memcpy.", &[(0, true), (1, false)]),
    ("llvm.memmove.", &[(0, true), (1, false)]),
    ("llvm.memset.", &[(0, true)]),
];

/// The prefix of intrinsics for atomic operations: the first argument is the pointer, the second has the type of the
/// value there.
const ATOMIC: &str = "__gencl_atomic_";

/// An access.
pub(super) struct Access<'m> {
    pub(super) pointer: Value<'m>,
    /// The number of bytes.
    pub(super) length: Value<'m>,
    pub(super) kind: Kind,
}

impl Access<'_> {
    /// Whether other work-items may access the memory, too.
    fn is_shared(&self) -> bool {
        !matches!(self.pointer.ty().kind(), TypeKind::Pointer(0 | 2))
    }
}

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Read,
    Write,
    Atomic,
}

/// Accesses of a kernel that are checked for races, at most: these checks are long, and inlined.
const MAX_RACE_ACCESSES: usize = 64;

/// Adds checks of all accesses of the module's kernels, which call no other functions of the source. Returns the kernels
/// that have too many accesses for checks of races.
pub fn accesses(context: &Context, module: &Module, tools: Tools, sites: &mut Vec<Site>) -> Vec<String> {
    let builder = Builder::new(context, module);
    let module = view::Module::of(module);
    let mut unchecked = Vec::new();
    for kernel in module.functions().filter(|function| function.is_kernel()) {
        let instructions: Vec<_> = kernel.blocks().flat_map(view::Block::instructions).collect();
        let mut pointers = Pointers::new(&builder, module, kernel);
        let mut checker = Checker { builder: &builder, sites };
        let accesses = instructions.iter().flat_map(|&instruction| {
            of(&builder, module, instruction).into_iter().map(move |access| (instruction, access))
        });
        // Memory of the launch itself is right.
        let accesses: Vec<_> =
            accesses.filter(|(_, access)| pointers.target(access.pointer).is_some()).collect();
        let is_long = tools.race
            && accesses.iter().filter(|(_, access)| access.is_shared()).count() > MAX_RACE_ACCESSES;
        if is_long {
            unchecked.push(kernel.name());
        }
        let races = tools.race && !is_long;
        let races = races.then(|| Races::new(&builder, kernel, &instructions, &accesses)).flatten();
        for (instruction, access) in &accesses {
            if let Some(target) = pointers.target(access.pointer).filter(|_| tools.memory) {
                checker.access(kernel, *instruction, access, target);
            }
            if let Some(races) = &races {
                checker.race(races, kernel, (*instruction, access));
            }
        }
        let indices = instructions.iter().filter(|index| index.opcode() == Opcode::LLVMGetElementPtr);
        indices.filter(|_| tools.memory).for_each(|index| checker.member(*index));
    }
    unchecked
}

/// The accesses of an instruction.
fn of<'m>(builder: &Builder<'m>, module: view::Module<'m>, instruction: Value<'m>) -> Vec<Access<'m>> {
    let of_type = |pointer, value: Value<'m>, kind| {
        let length = builder.number(64, module.store_size_of(value.ty()));
        vec![Access { pointer, length, kind }]
    };
    match instruction.opcode() {
        Opcode::LLVMLoad => of_type(instruction.operand(0), instruction, Kind::Read),
        Opcode::LLVMStore => of_type(instruction.operand(1), instruction.operand(0), Kind::Write),
        Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg => {
            of_type(instruction.operand(0), instruction.operand(1), Kind::Atomic)
        }
        Opcode::LLVMCall => {
            let name = instruction.callee().map(Value::name).unwrap_or_default();
            if let Some((_, pointers)) = BULK.iter().find(|(prefix, _)| name.starts_with(prefix)) {
                let access = |&(pointer, written)| Access {
                    pointer: instruction.operand(pointer),
                    length: instruction.operand(2),
                    kind: if written { Kind::Write } else { Kind::Read },
                };
                return pointers.iter().map(access).collect();
            }
            let arguments = instruction.call_arguments();
            match arguments.as_slice() {
                [pointer, value, ..] if name.starts_with(ATOMIC) => of_type(*pointer, *value, Kind::Atomic),
                _ => Vec::new(),
            }
        }
        _ => Vec::new(),
    }
}

impl<'m> Checker<'_, 'm> {
    /// Checks that an access is within its object.
    fn access(&mut self, kernel: Value<'m>, instruction: Value<'m>, access: &Access<'m>, target: Target<'m>) {
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
        let root = root(access.pointer);
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
    }

    /// Checks that an index of an array in a structure is within that, if something there is accessed. The address of
    /// the element behind the last one is only computed.
    fn member(&mut self, pointer: Value<'m>) {
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
/// another one for the element. An array of one element may stand for one of any number.
fn member_index(pointer: Value) -> Option<(Value, u64)> {
    let TypeKind::Array(count @ 2.., _) = pointer.source_element_type().kind() else { return None };
    let member = pointer.operand(0);
    let is_member = member.kind() == ValueKind::Instruction
        && member.opcode() == Opcode::LLVMGetElementPtr
        && member.operand_count() == 3
        && matches!(member.source_element_type().kind(), TypeKind::Struct(_));
    let index = (pointer.operand_count() == 3).then(|| pointer.operand(2))?;
    (is_member && index.integer().is_none()).then_some((index, count))
}
