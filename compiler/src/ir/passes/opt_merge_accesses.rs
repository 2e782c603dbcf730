//! Merges accesses to neighbouring elements.
//!
//! One message transfers up to four elements for each lane, or a block for all of them, and costs hardly more
//! than one for a single element. Within a block, loads are moved to the first of them and stores to the
//! last, if no access between them, or moved there, may alias. Addresses are compared as a root and a constant; the
//! translation computes them as an argument and an offset of 32 bits (`translate/offset.rs`), whose constant
//! part is found here. Per-lane form.

use crate::ir::analysis::uniformity::uniform_by_data;
use crate::ir::analysis::values::Values;
use crate::ir::{BinaryOp, BlockId, Family, Function, Instruction, Op, Reg, Space, Type};
use fixedbitset::FixedBitSet;
use rustc_hash::{FxHashMap, FxHashSet};

/// Maximum number of elements of one access.
const ELEMENTS: usize = 4;
/// The same for a uniform load, which is a block read.
const BLOCK_ELEMENTS: usize = 16;

/// Merges loads, and stores.
pub fn opt_merge_accesses(function: &mut Function) {
    let values = Values::new(function);
    let uniform = uniform_by_data(function);
    let plan = |&block| (block, plan(function, &values, &uniform, block));
    let plans: Vec<_> = function.layout.iter().map(plan).collect();
    for (block, groups) in plans {
        if !groups.is_empty() {
            rewrite(function, block, groups);
        }
    }
}

/// A version of a register: with the number of its writes so far in the block, if it is written more than
/// once.
type Value = (Reg, u32);

/// The root of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Root {
    /// An absolute address.
    Zero,
    Register(Value),
    /// A quadword and a sign-extended dword.
    Sum(Value, Value),
}

/// An address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct AccessAddress {
    root: Root,
    constant: i64,
}

/// The address of each access of a block, by index.
struct AccessAddresses(FxHashMap<usize, AccessAddress>);

impl AccessAddresses {
    fn new(function: &Function, values: &Values, block: BlockId) -> AccessAddresses {
        let mut writes: FxHashMap<Reg, u32> = FxHashMap::default();
        let mut places = FxHashMap::default();
        for (index, instruction) in function.block(block).instructions.iter().enumerate() {
            if let Op::Load { space, .. } | Op::Store { space, .. } = instruction.op {
                let find = Find { function, values, writes: &writes };
                places.insert(index, find.place(space, instruction.address()));
            }
            for &dst in &instruction.dsts {
                *writes.entry(dst).or_default() += 1;
            }
        }
        AccessAddresses(places)
    }
}

struct Find<'a> {
    function: &'a Function,
    values: &'a Values,
    writes: &'a FxHashMap<Reg, u32>,
}

impl Find<'_> {
    fn value(&self, reg: Reg) -> Value {
        let once = self.values.single_write(reg).is_some();
        (reg, if once { 0 } else { self.writes.get(&reg).copied().unwrap_or(0) })
    }

    fn definition(&self, reg: Reg) -> Option<&Instruction> {
        self.values.single_write(reg).map(|at| at.instruction(self.function))
    }

    fn constant(&self, reg: Reg) -> Option<i64> {
        match self.definition(reg)?.op {
            Op::Immediate { ty: Type::U64 | Type::S64, bits } => Some(bits as i64),
            Op::Immediate { bits, .. } => Some(i64::from(bits as i32)),
            _ => None,
        }
    }

    /// A sum, if all its operands hold the same wherever they are read.
    fn sum(&self, reg: Reg) -> Option<(Reg, Reg)> {
        let instruction = self.definition(reg)?;
        let adds = matches!(instruction.op, Op::Binary(BinaryOp::Add, ty) if ty.is_integer());
        let once = instruction.srcs.iter().all(|&src| self.values.single_write(src).is_some());
        (adds && once).then(|| instruction.sources().into())
    }

    /// A register without the constants added to it.
    fn split(&self, mut reg: Reg) -> (Reg, i64) {
        let mut constant = 0i64;
        while let Some((a, b)) = self.sum(reg) {
            let (rest, step) = match (self.constant(a), self.constant(b)) {
                (_, Some(step)) => (a, step),
                (Some(step), _) => (b, step),
                _ => break,
            };
            constant = constant.wrapping_add(step);
            reg = rest;
        }
        (reg, constant)
    }

    fn place(&self, space: Space, address: Reg) -> AccessAddress {
        let (reg, constant) = self.split(address);
        let dword_space = matches!(space, Space::Local | Space::Private);
        if let Some(more) = self.constant(reg) {
            return AccessAddress { root: Root::Zero, constant: constant.wrapping_add(more) };
        }
        if !dword_space && let Some((base, offset)) = self.sum(reg) {
            for (base, offset) in [(base, offset), (offset, base)] {
                if let Some(dword) = self.extended(offset) {
                    let (dword, more) = self.split(dword);
                    let root = Root::Sum(self.value(base), self.value(dword));
                    return AccessAddress { root, constant: constant.wrapping_add(i64::from(more as i32)) };
                }
            }
        }
        let constant = if dword_space { i64::from(constant as i32) } else { constant };
        AccessAddress { root: Root::Register(self.value(reg)), constant }
    }

    fn extended(&self, reg: Reg) -> Option<Reg> {
        let instruction = self.definition(reg)?;
        match instruction.op {
            Op::Convert { to: Type::S64, from: Type::S32, .. } => {
                let [src] = instruction.sources();
                self.values.single_write(src).map(|_| src)
            }
            _ => None,
        }
    }
}

/// Accesses that can be merged: all can be moved to the first (loads) or to the last (stores).
#[derive(Clone, Debug)]
struct Group {
    space: Space,
    ty: Type,
    root: Root,
    is_load: bool,
    /// Maximum number of elements of one access.
    most: usize,
    /// Index, offset from the root, and elements.
    members: Vec<(usize, i64, usize)>,
    /// The same for stores after the first load, across which no other load can be moved.
    passed: Vec<(usize, i64, usize)>,
}

impl Group {
    /// Whether one of the registers is a source of one of the stores.
    fn stores_any(&self, function: &Function, block: BlockId, registers: &[Reg]) -> bool {
        let instructions = &function.block(block).instructions;
        let sources = |index: usize| instructions[index].srcs.iter();
        !self.is_load && self.members.iter().any(|m| sources(m.0).any(|src| registers.contains(src)))
    }

    /// Whether elements overlap one of the accesses.
    fn overlaps(&self, accesses: &[(usize, i64, usize)], offset: i64, elements: usize) -> bool {
        let size = i64::from(self.ty.bits() / 8);
        let end = offset + size * elements as i64;
        accesses.iter().any(|&(_, at, n)| at < end && offset < at + size * n as i64)
    }
}

/// The groups of accesses of a block that can be merged.
fn plan(function: &Function, values: &Values, uniform: &FixedBitSet, block: BlockId) -> Vec<Group> {
    let places = AccessAddresses::new(function, values, block);
    let mut open: Vec<Group> = Vec::new();
    let mut done = Vec::new();
    let once = |reg: &Reg| values.single_write(*reg).is_some();
    for (index, instruction) in function.block(block).instructions.iter().enumerate() {
        if !instruction.dsts.is_empty() {
            // A store does not move over a further write of what it stores.
            let (kept, ended) =
                open.into_iter().partition(|g: &Group| !g.stores_any(function, block, &instruction.dsts));
            open = kept;
            done.extend(ended);
        }
        let (space, ty, is_load) = match instruction.op {
            Op::Load { space, ty, .. } => (space, ty, true),
            Op::Store { space, ty, .. } => (space, ty, false),
            op if op.has_effect() => {
                done.append(&mut open);
                continue;
            }
            _ => continue,
        };
        let place = places.0[&index];
        let elements = if is_load { instruction.dsts.len() } else { instruction.values().len() };
        let member = (index, place.constant, elements);
        // A store of what is loaded may move, too: behind the first load of the group.
        let is_stored_behind = |first: usize| {
            open.iter().chain(&done).any(|stores| {
                !stores.is_load
                    && stores.space.overlaps(space)
                    && stores.members.iter().any(|member| member.0 > first)
                    && stores.overlaps(&stores.members, place.constant, elements)
            })
        };
        let joins = |group: &Group| {
            (group.space, group.ty, group.root, group.is_load) == (space, ty, place.root, is_load)
                && !group.overlaps(&group.members, place.constant, elements)
                && !group.overlaps(&group.passed, place.constant, elements)
                && (!is_load || group.members.iter().all(|member| !is_stored_behind(member.0)))
        };
        let joined: Vec<bool> = open.iter().map(joins).collect();
        let mut own = None;
        let mut kept = Vec::new();
        for (mut group, joins) in open.into_iter().zip(joined) {
            if joins {
                own = Some(kept.len());
            } else if group.space.overlaps(space) && !(group.is_load && is_load) {
                // An access that may alias ends a group.
                let known = (group.space, group.root, group.ty) == (space, place.root, ty);
                if !known || group.overlaps(&group.members, place.constant, elements) {
                    done.push(group);
                    continue;
                }
                group.passed.push(member);
            }
            kept.push(group);
        }
        open = kept;
        let in_block = is_load && uniform.contains(instruction.address().0 as usize);
        let most = match space {
            Space::Global | Space::Constant if in_block => BLOCK_ELEMENTS,
            _ => ELEMENTS,
        };
        let whole = elements >= most || ty.bits() < 32;
        let movable = !is_load || instruction.dsts.iter().all(once);
        if whole || !movable || instruction.predicate.is_some() {
            continue;
        }
        match own {
            Some(own) => open[own].members.push(member),
            None => {
                let (root, members) = (place.root, vec![member]);
                open.push(Group { space, ty, root, is_load, most, members, passed: Vec::new() });
            }
        }
    }
    done.append(&mut open);
    done.into_iter().flat_map(runs).collect()
}

/// Splits a group into contiguous runs for one access each.
fn runs(mut group: Group) -> Vec<Group> {
    let size = i64::from(group.ty.bits() / 8);
    group.members.sort_by_key(|&(_, offset, _)| offset);
    let mut list: Vec<Group> = Vec::new();
    let (mut end, mut count) = (i64::MIN, 0);
    for &(index, offset, elements) in &group.members {
        let continues = offset == end && count + elements <= group.most;
        match list.last_mut().filter(|_| continues) {
            Some(run) => run.members.push((index, offset, elements)),
            None => {
                count = 0;
                list.push(Group { members: vec![(index, offset, elements)], ..group.clone() });
            }
        }
        count += elements;
        end = offset + size * elements as i64;
    }
    list.retain(|run| run.members.len() > 1);
    list
}

/// Replaces each group by one access.
fn rewrite(function: &mut Function, block: BlockId, groups: Vec<Group>) {
    let old = std::mem::take(&mut function.block_mut(block).instructions);
    let mut merged: FxHashMap<usize, Vec<Instruction>> = FxHashMap::default();
    let mut gone = FxHashSet::default();
    for group in groups {
        let indices = group.members.iter().map(|m| m.0);
        let at = if group.is_load { indices.clone().min() } else { indices.clone().max() };
        gone.extend(indices);
        if let Some(at) = at {
            let code = access(function, &old, &group, at);
            merged.insert(at, code);
        }
    }
    let mut new = Vec::with_capacity(old.len());
    for (index, instruction) in old.into_iter().enumerate() {
        if let Some(code) = merged.remove(&index) {
            new.extend(code);
        } else if !gone.contains(&index) {
            new.push(instruction);
        }
    }
    function.block_mut(block).instructions = new;
}

/// The instructions of a merged access at index `at`.
fn access(function: &mut Function, old: &[Instruction], group: &Group, at: usize) -> Vec<Instruction> {
    let mut code = Vec::new();
    let (first, offset, _) = group.members[0];
    let align = match old[first].op {
        Op::Load { align, .. } | Op::Store { align, .. } => align,
        _ => 1,
    };
    // The address of the lowest element is there, unless it is computed further on.
    let address = if first <= at && !group.is_load || first == at {
        old[first].address()
    } else {
        let family = function.registers[old[first].address().0 as usize].family;
        let ty = if family == Family::Qword { Type::U64 } else { Type::U32 };
        address(function, group, ty, offset, &mut code)
    };
    let (space, ty) = (group.space, group.ty);
    let members = group.members.iter().map(|m| &old[m.0]);
    code.push(if group.is_load {
        let dsts: Vec<Reg> = members.flat_map(|i| i.dsts.iter().copied()).collect();
        Instruction::new(Op::Load { space, ty, align }, dsts, [address])
    } else {
        let values = members.flat_map(|i| i.values().iter().copied());
        let srcs: Vec<Reg> = std::iter::once(address).chain(values).collect();
        Instruction::new(Op::Store { space, ty, align }, [], srcs)
    });
    code.iter_mut().for_each(|instruction| instruction.location = old[at].location);
    code
}

/// Computes root + offset, an address of type `ty`.
fn address(
    function: &mut Function,
    group: &Group,
    ty: Type,
    offset: i64,
    code: &mut Vec<Instruction>,
) -> Reg {
    let mut add = |function: &mut Function, ty: Type, reg: Reg, constant: i64| {
        if constant == 0 {
            return reg;
        }
        let [step, sum] = [0; 2].map(|_| function.new_register(ty.family()));
        let bits = constant as u64 & ty.mask();
        code.push(Instruction::new(Op::Immediate { ty, bits }, [step], []));
        code.push(Instruction::new(Op::Binary(BinaryOp::Add, ty), [sum], [reg, step]));
        sum
    };
    match group.root {
        Root::Zero => {
            let place = function.new_register(ty.family());
            code.push(Instruction::new(Op::Immediate { ty, bits: offset as u64 & ty.mask() }, [place], []));
            place
        }
        Root::Register((reg, _)) => add(function, ty, reg, offset),
        Root::Sum((base, _), (dword, _)) => {
            let dword = add(function, Type::U32, dword, offset);
            let [wide, sum] = [0; 2].map(|_| function.new_register(Type::U64.family()));
            let convert = Op::Convert {
                to: Type::S64,
                from: Type::S32,
                rounding: crate::ir::Rounding::Default,
                saturate: false,
            };
            code.push(Instruction::new(convert, [wide], [dword]));
            code.push(Instruction::new(Op::Binary(BinaryOp::Add, Type::U64), [sum], [base, wide]));
            sum
        }
    }
}
