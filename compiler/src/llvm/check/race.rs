//! Checks for data races: the library keeps who has accessed each granule of memory last (`library/check_race.cl`).
//!
//! A work-item's word says who it is and how many barriers it has passed; it is a private variable here, of which later
//! passes make values.

use std::collections::HashMap;

use gencl_program::finding::{Check, SHARED};

use super::access::{Access, Kind};
use super::barrier::{COPY_BEGIN, COPY_END};
use super::pointer::{has_flag, root};
use super::{Checker, site};
use crate::llvm::build::Builder;
use crate::llvm::view::{self, IntPredicate, Opcode, TypeKind, Value, ValueKind};

/// The largest access that is looked at, in bytes: that of a vector of 16 quadwords.
const LARGEST: u64 = 128;

/// What separates accesses: the intrinsic, and the library's function for the word of a work-item behind it.
const BARRIERS: &[(&str, &str)] = &[
    ("__gencl_barrier", "__gencl_check_barrier"),
    ("__gencl_barrier_wait", "__gencl_check_barrier"),
    ("__gencl_sub_group_barrier", "__gencl_check_sub_group_barrier"),
];

/// The first bit of a work-item's word that is its group's plus 1 ([`gencl_program::finding::Access`]).
const GROUP_BIT: u64 = 33;

/// `CLK_LOCAL_MEM_FENCE` and `CLK_GLOBAL_MEM_FENCE`.
const LOCAL_FENCE: u64 = 1;
const GLOBAL_FENCE: u64 = 2;

/// The intrinsics for compare-exchanges.
const EXCHANGE: &str = "__gencl_atomic_cmp_xchg";

/// Memory that work-items share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Space {
    Local,
    Global,
}

impl Space {
    fn of(pointer: Value) -> Option<Self> {
        match pointer.ty().kind() {
            TypeKind::Pointer(1) => Some(Self::Global),
            TypeKind::Pointer(3) => Some(Self::Local),
            _ => None,
        }
    }
}

/// The checks of a kernel.
pub(super) struct Races<'m> {
    /// The variables with the work-item's word, for local and for global memory: a barrier may separate accesses to one of
    /// them only.
    words: [Value<'m>; 2],
    /// Bits of offsets in granules, of local and of global memory. The smallest access of the kernel decides, so that
    /// no two work-items that access different bytes share one.
    shifts: [u32; 2],
    /// Where the entries of local and of global memory are: what the library's functions take first.
    tables: [[Value<'m>; 4]; 2],
    /// Whether the work-group is looked at, 0 or 1.
    is_sampled: Value<'m>,
    /// Whether an argument is shared with another one, for those that the kernel only reads.
    only_read: HashMap<Value<'m>, Value<'m>>,
}

impl<'m> Races<'m> {
    /// Prepares a kernel with these accesses, if it has any to memory that work-items share.
    pub(super) fn new(
        builder: &Builder<'m>,
        kernel: Value<'m>,
        instructions: &[Value<'m>],
        accesses: &[(Value<'m>, Access<'m>)],
    ) -> Option<Self> {
        let smallest = |space| {
            let of_space = accesses.iter().filter(|(_, access)| Space::of(access.pointer) == Some(space));
            of_space.filter_map(|(_, access)| access.length.integer()).min()
        };
        let smallest = [Space::Local, Space::Global].map(smallest);
        if smallest == [None, None] {
            return None;
        }
        builder.before(*instructions.first()?);
        let own = builder.call("__gencl_check_self", builder.int(64), &[]);
        let words = [(); 2].map(|()| builder.variable(builder.int(64)));
        words.iter().for_each(|word| builder.store(own, *word, 8));
        let tables = ["local", "global"].map(|space| {
            [("entries", 64), ("count", 32), ("first", 32), ("last", 32)].map(|(what, bits)| {
                builder.call(&format!("__gencl_check_{space}_{what}"), builder.int(bits), &[own])
            })
        });
        let group = builder.binary(Opcode::LLVMLShr, own, builder.number(64, GROUP_BIT));
        let group = builder.resize(group, builder.int(32), false);
        let is_sampled = builder.call("__gencl_check_sampled", builder.int(32), &[group]);
        let only_read = only_read(builder, kernel, accesses);
        for &instruction in instructions.iter().filter(|instruction| instruction.opcode() == Opcode::LLVMCall)
        {
            let name = instruction.callee().map(Value::name).unwrap_or_default();
            if name == COPY_BEGIN || name == COPY_END {
                builder.before(instruction);
                for word in words {
                    let before = builder.load(builder.int(64), word);
                    let next = if name == COPY_BEGIN {
                        builder.call("__gencl_check_copy", builder.int(64), &[before])
                    } else {
                        builder.call("__gencl_check_copied", builder.int(64), &[before, own])
                    };
                    builder.store(next, word, 8);
                }
                continue;
            }
            let Some((_, next)) = BARRIERS.iter().find(|(barrier, _)| *barrier == name) else { continue };
            let Some(behind) = instruction.next() else { continue };
            builder.before(behind);
            // Without flags, or if they are not constant, it separates all.
            let flags = instruction.call_arguments().first().and_then(|flags| flags.integer());
            for (word, flag) in words.iter().zip([LOCAL_FENCE, GLOBAL_FENCE]) {
                if flags.is_none_or(|flags| flags & flag != 0) {
                    let before = builder.load(builder.int(64), *word);
                    builder.store(builder.call(next, builder.int(64), &[before]), *word, 8);
                }
            }
        }
        let shifts = smallest.map(|bytes| bytes.map_or(2, |bytes| bytes.clamp(1, 4).ilog2()));
        Some(Self { words, shifts, tables, is_sampled, only_read })
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
    let global = accesses.iter().filter(|(_, access)| Space::of(access.pointer) == Some(Space::Global));
    let written: Vec<_> = global
        .filter(|(_, access)| access.kind != Kind::Read)
        .map(|(_, access)| root(access.pointer))
        .collect();
    let parameters = kernel.parameters();
    if !written.iter().all(|root| matches!(root.kind(), ValueKind::Argument | ValueKind::GlobalVariable)) {
        return HashMap::new();
    }
    let others = (0..).zip(parameters).filter(|(_, parameter)| {
        Space::of(*parameter) == Some(Space::Global) && !written.contains(parameter)
    });
    others.map(|(index, parameter)| (parameter, has_flag(builder, index, SHARED))).collect()
}

impl<'m> Checker<'_, 'm> {
    /// Checks that an access does not race with earlier ones. It is performed by the pointer `memory`.
    pub(super) fn race(
        &mut self,
        races: &Races<'m>,
        kernel: Value<'m>,
        (instruction, access): (Value<'m>, &Access<'m>),
        memory: Value<'m>,
    ) {
        let Some(space) = Space::of(access.pointer) else { return };
        let Some(size) = access.length.integer().filter(|size| (1..=LARGEST).contains(size)) else { return };
        let check = match access.kind {
            Kind::Read => Check::RaceRead(size),
            Kind::Write => Check::RaceWrite(size),
            Kind::Atomic => Check::RaceAtomic(size),
        };
        let root = root(access.pointer);
        let object = site::object(kernel, root);
        let site =
            self.site(super::Site { check, object: object.clone(), places: site::places(instruction) });
        let b = self.builder;
        let long = b.int(64);
        let call = |what: &str, happens: Option<Value<'m>>| {
            let own = b.load(long, races.words[space as usize]);
            let address = b.cast(Opcode::LLVMPtrToInt, access.pointer, long);
            let name = if space == Space::Local { "local" } else { "global" };
            let [entries, count, first, last] = races.tables[space as usize];
            let shift = races.shifts[space as usize];
            let is_shared = races.only_read.get(&root);
            let is_shared = is_shared.map_or(races.is_sampled, |is_shared| {
                b.binary(Opcode::LLVMAnd, races.is_sampled, *is_shared)
            });
            let happens = happens.map(|happens| b.resize(happens, b.int(32), false));
            let is_shared =
                happens.map_or(is_shared, |happens| b.binary(Opcode::LLVMAnd, is_shared, happens));
            let numbers = [site, (size >> shift).max(1), shift.into()].map(|number| b.number(32, number));
            let [site, size, shift] = numbers;
            let arguments = [entries, count, first, last, is_shared, own, site, address, size, shift];
            let name = format!("__gencl_check_{name}_{what}");
            let other = b.call(&name, b.vector(long, 2), &arguments);
            [address, b.extract(other, 0), b.extract(other, 1)]
        };
        let is_race = |found: [Value<'m>; 3]| b.compare(IntPredicate::LLVMIntNE, found[1], b.zero(long));
        b.before(instruction);
        let Some(behind) = instruction.next() else { return };
        let [before, after] = match access.kind {
            Kind::Read => [call("read", None), [b.zero(long); 3]],
            Kind::Write => {
                // A write of the value that is there changes nothing for others. Lanes of one instruction see each other's
                // behind it.
                let stored = (instruction.opcode() == Opcode::LLVMStore).then(|| instruction.operand(0));
                let changes = |checker: &Self| stored.and_then(|value| checker.differs(memory, value));
                let [address, other, site] = call("write", None);
                let other = changes(self).map_or(other, |changed| b.select(changed, other, b.zero(long)));
                b.before(behind);
                let lost = changes(self).map_or([b.zero(long); 3], |lost| call("overwritten", Some(lost)));
                [[address, other, site], lost]
            }
            Kind::Atomic if is_exchange(instruction) => {
                // It only reads if it fails, which is known behind it.
                let before = call("overwritten", None);
                b.before(behind);
                [before, call("atomic", Some(has_exchanged(b, instruction)))]
            }
            Kind::Atomic => [call("atomic", None), [b.zero(long); 3]],
        };
        let is_before = is_race(before);
        let found = [0, 1, 2].map(|index| b.select(is_before, before[index], after[index]));
        self.check(instruction, (check, object), is_race(found), found);
    }

    /// Whether memory has other bits than a value; `None` for aggregates.
    fn differs(&self, pointer: Value<'m>, value: Value<'m>) -> Option<Value<'m>> {
        let b = self.builder;
        // Another lane may have written since.
        let there = b.load_again(value.ty(), pointer);
        let bits = |value: Value<'m>| -> Option<Vec<Value<'m>>> {
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
                    (0..count).map(|index| element(b.extract(value, index), ty.kind())).collect()
                }
                kind => Some(vec![element(value, kind)?]),
            }
        };
        let pairs = bits(value)?.into_iter().zip(bits(there)?);
        let each = pairs.map(|(own, there)| b.compare(view::IntPredicate::LLVMIntNE, own, there));
        each.reduce(|x, y| b.binary(Opcode::LLVMOr, x, y))
    }
}
