//! Checks for data races: messages to the simulator, which keeps who has accessed each granule of memory last
//! ([`gencl_eu::message::RaceCheck`]).
//!
//! A work-item's dword says who it is and how many barriers it has passed; it is a private variable here, of which later
//! passes make values.

use std::collections::HashMap;

use gencl_eu::message::{
    BARRIER, BARRIERS, COPY, FENCED, ITEM, RaceAccess, RaceCheck, RaceSpace, SUB_GROUP_BARRIER,
    SUB_GROUP_BARRIERS, UNCHANGED, WAIT, WAITS,
};
use gencl_program::finding::{Check, SHARED};

use super::access::{Access, Kind};
use super::barrier::{COPY_BEGIN, COPY_END, WAIT as WAITED};
use super::pointer::{has_flag, root};
use super::{Checker, site};
use crate::llvm::atomics::{FENCE, GLOBAL_FENCE, LOCAL_FENCE};
use crate::llvm::build::Builder;
use crate::llvm::generic::{GENERIC, POINTS_TO_LOCAL, TAG_BIT};
use crate::llvm::view::{IntPredicate, Opcode, TypeKind, Value, ValueKind};

/// The largest access that is looked at, in bytes.
const LARGEST: u64 = 1 << 16;

/// The intrinsic that checks an access.
const RACE_CHECK: &str = "__gencl_race_check";

/// What separates accesses: the intrinsic, and the field of a work-item's dword that counts it.
const BARRIERS_BY_NAME: &[(&str, u32, u32)] = &[
    ("__gencl_barrier", BARRIER, BARRIERS),
    ("__gencl_barrier_wait", BARRIER, BARRIERS),
    ("__gencl_sub_group_barrier", SUB_GROUP_BARRIER, SUB_GROUP_BARRIERS),
];

/// The intrinsics for compare-exchanges.
const EXCHANGE: &str = "__gencl_atomic_cmp_xchg";

/// The memory that work-items share, which a pointer points to; `None` for other memory.
fn space_of(pointer: Value) -> Option<RaceSpace> {
    match pointer.ty().kind() {
        TypeKind::Pointer(1) => Some(RaceSpace::Global),
        TypeKind::Pointer(3) => Some(RaceSpace::Local),
        TypeKind::Pointer(GENERIC) => Some(RaceSpace::Generic),
        _ => None,
    }
}

/// The checks of a kernel.
pub(super) struct Races<'m> {
    /// The variables with the work-item's dword, for global and for local memory: a barrier may separate accesses to one
    /// of them only.
    words: [Value<'m>; 2],
    /// The number of the work-group.
    group: Value<'m>,
    /// Bits of offsets in granules. The smallest access of the kernel decides, so that no two work-items that access
    /// different bytes share one.
    shift: u32,
    /// Whether atomic operations order other accesses: there are fences.
    has_fences: bool,
    /// Whether an argument is shared with another one, for those that the kernel only reads.
    only_read: HashMap<Value<'m>, Value<'m>>,
}

/// What an instruction does to the dwords: adds to a field for memory with one of the flags, or sets bits.
enum Passed<'m> {
    Barrier { unit: u32, field: u32, flags: Option<Value<'m>> },
    Fence,
    CopyBegin,
    CopyEnd,
}

fn passed<'m>(instruction: Value<'m>) -> Option<Passed<'m>> {
    if instruction.opcode() == Opcode::LLVMFence {
        return Some(Passed::Fence);
    }
    if instruction.opcode() != Opcode::LLVMCall {
        return None;
    }
    let name = instruction.callee()?.name();
    let flags = instruction.call_arguments().first().copied();
    match name.as_str() {
        WAITED => Some(Passed::Barrier { unit: WAIT, field: WAITS, flags: None }),
        COPY_BEGIN => Some(Passed::CopyBegin),
        COPY_END => Some(Passed::CopyEnd),
        FENCE => Some(Passed::Fence),
        name => {
            let (_, unit, field) = BARRIERS_BY_NAME.iter().find(|(barrier, ..)| *barrier == name)?;
            Some(Passed::Barrier { unit: *unit, field: *field, flags })
        }
    }
}

impl<'m> Races<'m> {
    /// Prepares a kernel with these accesses, if it has any to memory that work-items share.
    pub(super) fn new(
        builder: &Builder<'m>,
        kernel: Value<'m>,
        instructions: &[Value<'m>],
        accesses: &[(Value<'m>, Access<'m>)],
    ) -> Option<Self> {
        let shared = accesses.iter().filter(|(_, access)| space_of(access.pointer).is_some());
        let mut sizes = shared.map(|(_, access)| access.length.integer().unwrap_or(1)).peekable();
        sizes.peek()?;
        let shift = sizes.map(|bytes| bytes.clamp(1, 4).ilog2()).min()?;
        builder.before(*instructions.first()?);
        let int = builder.int(32);
        let own = builder.call("__gencl_check_item", int, &[]);
        let group = builder.call("__gencl_check_group", int, &[]);
        let words = [(); 2].map(|()| builder.variable(int));
        words.iter().for_each(|word| builder.store(own, *word, 4));
        let only_read = only_read(builder, kernel, accesses);
        let mut has_fences = false;
        for &instruction in instructions {
            let (Some(passed), Some(behind)) = (passed(instruction), instruction.next()) else { continue };
            builder.before(if matches!(passed, Passed::CopyBegin) { instruction } else { behind });
            let number = |number: u32| builder.number(32, number.into());
            let and = |word, bits: u32| builder.binary(Opcode::LLVMAnd, word, number(bits));
            let or = |a, b| builder.binary(Opcode::LLVMOr, a, b);
            for (word, flag) in words.iter().zip([GLOBAL_FENCE, LOCAL_FENCE]) {
                let before = builder.load(int, *word);
                let next = match passed {
                    Passed::Barrier { unit, field, flags } => {
                        let added = builder.binary(Opcode::LLVMAdd, before, number(unit));
                        let counted = or(and(before, !field), and(added, field));
                        // Without flags it separates all. It is a fence of the work-item, too.
                        let if_set = |flag: u64, yes, no| match flags {
                            None => yes,
                            Some(flags) => {
                                let bit = builder.binary(
                                    Opcode::LLVMAnd,
                                    flags,
                                    builder.number_of(flags.ty(), flag),
                                );
                                builder.select(builder.equal(bit, builder.zero(flags.ty())), no, yes)
                            }
                        };
                        let is_global =
                            |flags: Value| flags.integer().is_none_or(|flags| flags & GLOBAL_FENCE != 0);
                        let is_fence = field == BARRIERS && flags.is_none_or(is_global);
                        has_fences |= is_fence;
                        let counted = if_set(flag, counted, before);
                        if is_fence {
                            if_set(GLOBAL_FENCE, or(counted, number(FENCED)), counted)
                        } else {
                            counted
                        }
                    }
                    Passed::Fence => {
                        has_fences = true;
                        or(before, number(FENCED))
                    }
                    Passed::CopyBegin => or(and(before, !ITEM), number(COPY)),
                    Passed::CopyEnd => or(and(before, !ITEM), and(own, ITEM)),
                };
                builder.store(next, *word, 4);
            }
        }
        Some(Self { words, group, shift, has_fences, only_read })
    }
}

/// Whether an atomic operation is a compare-exchange.
fn is_exchange(instruction: Value) -> bool {
    instruction.opcode() == Opcode::LLVMAtomicCmpXchg
        || instruction.callee().is_some_and(|callee| callee.name().starts_with(EXCHANGE))
}

/// Whether it has succeeded, behind it.
fn has_exchanged<'m>(b: &Builder<'m>, exchange: Value<'m>) -> Value<'m> {
    match exchange.opcode() {
        Opcode::LLVMAtomicCmpXchg => b.extract_field(exchange, 1),
        // The intrinsic returns the value that was there.
        _ => b.equal(exchange, exchange.operand(1)),
    }
}

/// The arguments through which the kernel only reads, with whether the launch has them share memory with others. None
/// where it writes through pointers of which the argument is not known.
fn only_read<'m>(
    builder: &Builder<'m>,
    kernel: Value<'m>,
    accesses: &[(Value<'m>, Access<'m>)],
) -> HashMap<Value<'m>, Value<'m>> {
    let global = accesses
        .iter()
        .filter(|(_, access)| space_of(access.pointer).is_some_and(|space| space != RaceSpace::Local));
    let written: Vec<_> = global
        .filter(|(_, access)| access.kind != Kind::Read)
        .map(|(_, access)| root(access.pointer))
        .collect();
    let parameters = kernel.parameters();
    if !written.iter().all(|root| matches!(root.kind(), ValueKind::Argument | ValueKind::GlobalVariable)) {
        return HashMap::new();
    }
    let others = (0..).zip(parameters).filter(|(_, parameter)| {
        space_of(*parameter) == Some(RaceSpace::Global) && !written.contains(parameter)
    });
    others.map(|(index, parameter)| (parameter, has_flag(builder, index, SHARED))).collect()
}

impl<'m> Checker<'_, 'm> {
    /// Checks that an access does not race with earlier ones. It is performed by the pointer `memory`, and left out where
    /// it `failed` other checks.
    pub(super) fn race(
        &mut self,
        races: &Races<'m>,
        kernel: Value<'m>,
        (instruction, access): (Value<'m>, &Access<'m>),
        memory: Value<'m>,
        failed: Option<Value<'m>>,
    ) {
        let Some(space) = space_of(access.pointer) else { return };
        let Some(size) = access.length.integer().filter(|size| (1..=LARGEST).contains(size)) else { return };
        let Some(behind) = instruction.next() else { return };
        let check = match access.kind {
            Kind::Read => Check::RaceRead(size),
            Kind::Write => Check::RaceWrite(size),
            Kind::Atomic => Check::RaceAtomic(size),
        };
        let root = root(access.pointer);
        let object = site::object(kernel, root);
        let site = self.site(super::Site { check, object, places: site::places(instruction) });
        let b = self.builder;
        let (int, long) = (b.int(32), b.int(64));
        let none = b.zero(int);
        let send = |access_kind: RaceAccess, happens: Option<Value<'m>>, group, value| {
            let mut address = b.cast(Opcode::LLVMPtrToInt, access.pointer, long);
            let [global, local] = races.words.map(|word| b.load(int, word));
            let own = match space {
                RaceSpace::Global => global,
                RaceSpace::Local => local,
                RaceSpace::Generic => {
                    let tag = b.binary(Opcode::LLVMLShr, address, b.number(64, TAG_BIT));
                    b.select(b.equal(tag, b.number(64, POINTS_TO_LOCAL)), local, global)
                }
            };
            let is_shared = races
                .only_read
                .get(&root)
                .map(|is_shared| b.compare(IntPredicate::LLVMIntNE, *is_shared, none));
            let has_passed = failed.map(|failed| b.equal(failed, b.zero(failed.ty())));
            for happens in is_shared.into_iter().chain(happens).chain(has_passed) {
                address = b.select(happens, address, b.number(64, u64::MAX));
            }
            let upper = b.binary(Opcode::LLVMLShr, address, b.number(64, 32));
            let control = RaceCheck { access: access_kind, space, shift: races.shift, width: 8, simd: 8 };
            let granules = (size >> races.shift).max(1);
            let [site, granules, control] =
                [site, granules, control.control().into()].map(|number| b.number(32, number));
            let [address, upper] = [address, upper].map(|half| b.resize(half, int, false));
            b.call(RACE_CHECK, b.void(), &[site, granules, control, address, upper, own, group, value]);
        };
        b.before(instruction);
        match access.kind {
            Kind::Read => send(RaceAccess::Read, None, races.group, none),
            Kind::Write => {
                // A write of the value that is there changes nothing for others.
                let stored = (instruction.opcode() == Opcode::LLVMStore).then(|| instruction.operand(0));
                let changed = stored.and_then(|value| self.differs(memory, value));
                let group = changed.map_or(races.group, |changed| {
                    let unchanged = b.binary(Opcode::LLVMOr, races.group, b.number(32, UNCHANGED.into()));
                    b.select(changed, races.group, unchanged)
                });
                let value = stored.and_then(|value| self.hash(value));
                // What is not known is another value for each lane.
                let value = value.unwrap_or_else(|| b.load(int, races.words[0]));
                send(RaceAccess::Write, None, group, value);
            }
            Kind::Atomic if is_exchange(instruction) => {
                // It only reads if it fails, which is known behind it.
                b.before(behind);
                let has_exchanged = has_exchanged(b, instruction);
                send(RaceAccess::Atomic, Some(has_exchanged), races.group, none);
                let has_failed = b.equal(has_exchanged, b.zero(has_exchanged.ty()));
                send(RaceAccess::Acquire, Some(has_failed), races.group, none);
            }
            Kind::Atomic => {
                send(RaceAccess::Atomic, None, races.group, none);
                if races.has_fences {
                    b.before(behind);
                    send(RaceAccess::Acquire, None, races.group, none);
                }
            }
        }
    }

    /// The bits of a value, a part for each element that `stored`, of the same type, has; `None` for aggregates.
    fn parts(&self, stored: Value<'m>, value: Value<'m>) -> Option<Vec<Value<'m>>> {
        let b = self.builder;
        let element = |value: Value<'m>, kind: TypeKind| match kind {
            TypeKind::Integer(_) => Some(value),
            TypeKind::Half => Some(b.cast(Opcode::LLVMBitCast, value, b.int(16))),
            TypeKind::Float => Some(b.cast(Opcode::LLVMBitCast, value, b.int(32))),
            TypeKind::Double => Some(b.cast(Opcode::LLVMBitCast, value, b.int(64))),
            TypeKind::Pointer(_) => Some(b.cast(Opcode::LLVMPtrToInt, value, b.int(64))),
            _ => None,
        };
        match value.ty().kind() {
            TypeKind::Vector(count, ty) => {
                // Vectors of three elements are stored with a fourth that is anything.
                let is_shuffle =
                    stored.kind() == ValueKind::Instruction && stored.opcode() == Opcode::LLVMShuffleVector;
                let mask = if is_shuffle { stored.shuffle_mask() } else { Vec::new() };
                let is_known = |index: &u32| mask.get(*index as usize).is_none_or(Option::is_some);
                (0..count).filter(is_known).map(|index| element(b.extract(value, index), ty.kind())).collect()
            }
            kind => Some(vec![element(value, kind)?]),
        }
    }

    /// Whether memory has other bits than a value; `None` for aggregates.
    fn differs(&self, pointer: Value<'m>, value: Value<'m>) -> Option<Value<'m>> {
        let b = self.builder;
        // Another lane may have written since.
        let there = b.load_again(value.ty(), pointer);
        let pairs = self.parts(value, value)?.into_iter().zip(self.parts(value, there)?);
        let each = pairs.map(|(own, there)| b.compare(IntPredicate::LLVMIntNE, own, there));
        each.reduce(|x, y| b.binary(Opcode::LLVMOr, x, y))
    }

    /// A dword that differs for most values that differ; `None` for aggregates.
    fn hash(&self, value: Value<'m>) -> Option<Value<'m>> {
        let b = self.builder;
        let fold = |sum: Value<'m>, part: Value<'m>| {
            let part = b.resize(part, b.int(64), false);
            let upper = b.binary(Opcode::LLVMLShr, part, b.number(64, 32));
            let part = b.binary(Opcode::LLVMXor, part, upper);
            let sum = b.binary(Opcode::LLVMMul, sum, b.number(32, 0x9e37_79b1));
            b.binary(Opcode::LLVMXor, sum, b.resize(part, b.int(32), false))
        };
        Some(self.parts(value, value)?.into_iter().fold(b.zero(b.int(32)), fold))
    }
}
