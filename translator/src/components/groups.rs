//! Instructions that do the same to all components of rows.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};

use inkwell::basic_block::BasicBlock;
use inkwell::types::VectorType;
use inkwell::values::{
    BasicValue, BasicValueEnum, FunctionValue, InstructionOpcode as Opcode, InstructionValue, VectorValue,
};

use super::{Pseudo, called, instructions, operand, result, users};

/// What transposing the components of a row costs, in halves: that is what it costs to give each component of a lane the same number.
const TRANSPOSED: i32 = 2;
const SPREAD: i32 = 1;

/// A vector's type, as a key.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Type<'c>(pub(super) VectorType<'c>);

impl std::hash::Hash for Type<'_> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.0.get_size().hash(state);
    }
}

/// What an instruction does, if it does it to each lane alone. Comparisons are not among them: what comes of them are sets of lanes, which instructions have as numbers.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) enum What<'c> {
    Binary(Opcode),
    Negate,
    Cast(Opcode, Type<'c>),
    Intrinsic(String),
}

/// Intrinsics of LLVM of which each lane is computed alone.
const BY_LANE: [&str; 13] = [
    "llvm.fma",
    "llvm.fabs",
    "llvm.sqrt",
    "llvm.minnum",
    "llvm.maxnum",
    "llvm.floor",
    "llvm.ceil",
    "llvm.trunc",
    "llvm.roundeven",
    "llvm.smin",
    "llvm.smax",
    "llvm.umin",
    "llvm.umax",
];

impl<'c> What<'c> {
    /// What it is, and how many of its operands are vectors.
    fn of(instruction: InstructionValue<'c>) -> Option<(What<'c>, u32)> {
        let opcode = instruction.get_opcode();
        Some(match opcode {
            Opcode::Add | Opcode::Sub | Opcode::Mul | Opcode::And | Opcode::Or | Opcode::Xor => {
                (What::Binary(opcode), 2)
            }
            Opcode::Shl | Opcode::LShr | Opcode::AShr => (What::Binary(opcode), 2),
            Opcode::FAdd | Opcode::FSub | Opcode::FMul | Opcode::FDiv => (What::Binary(opcode), 2),
            Opcode::FNeg => (What::Negate, 1),
            Opcode::BitCast | Opcode::ZExt | Opcode::SExt | Opcode::Trunc => (cast(instruction)?, 1),
            Opcode::FPToSI | Opcode::FPToUI | Opcode::SIToFP | Opcode::UIToFP => (cast(instruction)?, 1),
            Opcode::FPExt | Opcode::FPTrunc => (cast(instruction)?, 1),
            Opcode::Call => {
                let function = called(instruction)?;
                let name = function.get_name().to_str().ok()?;
                let name = BY_LANE
                    .iter()
                    .find(|own| name.strip_prefix(**own).is_some_and(|suffix| suffix.starts_with(".v")))?;
                (What::Intrinsic((*name).to_owned()), function.count_params())
            }
            _ => return None,
        })
    }
}

/// A conversion, if it changes each lane alone.
fn cast(instruction: InstructionValue<'_>) -> Option<What<'_>> {
    let to = result(instruction)?.get_type();
    let from = operand(instruction, 0)?;
    (from.get_type().get_size() == to.get_size()).then_some(What::Cast(instruction.get_opcode(), Type(to)))
}

/// The scalar that a vector has in all lanes.
pub(super) fn splat(vector: VectorValue<'_>) -> Option<BasicValueEnum<'_>> {
    let shuffle = vector.as_instruction().filter(|i| i.get_opcode() == Opcode::ShuffleVector)?;
    let insert = operand(shuffle, 0)?.as_instruction().filter(|i| i.get_opcode() == Opcode::InsertElement)?;
    // All lanes but one are poison, so that any order has nothing else.
    let only = operand(insert, 0).is_some_and(VectorValue::is_undef);
    insert.get_operand(1)?.value().filter(|_| only)
}

/// An operand of all components' instructions.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Operand<'c> {
    /// The component of a row.
    Row(usize),
    /// A constant, for each component its own.
    Constant,
    /// A scalar in all lanes, for each component its own.
    Own,
    /// The same vector.
    Same(VectorValue<'c>),
}

/// The same instruction for each component.
pub(super) struct Group<'c> {
    pub(super) what: What<'c>,
    pub(super) operands: Vec<Operand<'c>>,
    /// Of each component.
    pub(super) members: Vec<InstructionValue<'c>>,
    /// It is made one.
    pub(super) pays: bool,
}

/// A row: one that a message has read, or what a group makes.
pub(super) enum Row<'c> {
    Value(VectorValue<'c>),
    Group(Group<'c>),
}

/// Finds groups in a function.
pub(super) struct Found<'c> {
    /// Where instructions are.
    positions: HashMap<InstructionValue<'c>, usize>,
    pub(super) rows: Vec<Row<'c>>,
    /// Components of each row.
    pub(super) counts: Vec<u32>,
    /// Rows and numbers of components.
    components: HashMap<InstructionValue<'c>, (usize, u32)>,
    /// Rows that are made of components, and those.
    pub(super) interleaved: Vec<InstructionValue<'c>>,
}

/// What makes instructions one of a group: the block, what they do, with which operands, and the type of what they give.
type Key<'c> = (BasicBlock<'c>, What<'c>, Vec<Operand<'c>>, Type<'c>);

impl<'c> Found<'c> {
    /// Finds all groups of a function; those that pay are marked. What rare blocks cost does not count.
    pub(super) fn of(function: FunctionValue<'c>, rare: &HashSet<BasicBlock<'c>>) -> Found<'c> {
        let mut found = Found::components(function);
        found.group();
        found.choose(rare);
        found
    }

    /// The components that messages have read.
    fn components(function: FunctionValue<'c>) -> Found<'c> {
        let mut found = Found {
            positions: HashMap::new(),
            rows: Vec::new(),
            counts: Vec::new(),
            components: HashMap::new(),
            interleaved: Vec::new(),
        };
        let mut numbers: HashMap<VectorValue<'c>, usize> = HashMap::new();
        for (position, instruction) in instructions(function).enumerate() {
            found.positions.insert(instruction, position);
            match Pseudo::of(instruction) {
                Some(Pseudo::Component { number, count }) => {
                    let Some(value) = operand(instruction, 0) else { continue };
                    let row = *numbers.entry(value).or_insert_with(|| {
                        found.rows.push(Row::Value(value));
                        found.counts.push(count);
                        found.rows.len() - 1
                    });
                    found.components.insert(instruction, (row, number));
                }
                Some(Pseudo::Interleaved) => found.interleaved.push(instruction),
                Some(Pseudo::Lane { .. }) | None => {}
            }
        }
        found
    }

    /// Finds all groups.
    fn group(&mut self) {
        let mut begun: HashMap<Key<'c>, Vec<Option<InstructionValue<'c>>>> = HashMap::new();
        let mut left: VecDeque<InstructionValue<'c>> =
            self.components.keys().flat_map(|c| users(*c)).collect();
        // In an order that does not depend on where LLVM has its values.
        left.make_contiguous().sort_by_key(|user| self.positions.get(user).copied());
        while let Some(instruction) = left.pop_front() {
            for (key, number, count) in self.keys(instruction) {
                let members = begun.entry(key.clone()).or_insert_with(|| vec![None; count as usize]);
                members[number as usize].get_or_insert(instruction);
                let Some(members) = members.iter().copied().collect::<Option<Vec<_>>>() else { continue };
                let is_one = |member| self.components.contains_key(member);
                let (_, what, operands, _) = key;
                if members.iter().any(is_one) || !self.are_there(&operands, &members) {
                    continue;
                }
                for (number, member) in (0..).zip(&members) {
                    self.components.insert(*member, (self.rows.len(), number));
                    left.extend(users(*member));
                }
                self.rows.push(Row::Group(Group { what, operands, members, pays: true }));
                self.counts.push(count);
                break;
            }
        }
    }

    /// What an instruction may be a member of, the number of its component there, and how many there are. Where it uses several components, some may be the same for all members: `v * v.w`.
    fn keys(&self, instruction: InstructionValue<'c>) -> Vec<(Key<'c>, u32, u32)> {
        let Some((what, count)) = What::of(instruction) else { return Vec::new() };
        let values: Option<Vec<_>> = (0..count).map(|index| operand(instruction, index)).collect();
        let to = result(instruction).map(|result| Type(result.get_type()));
        let (Some(values), Some(block), Some(to)) = (values, instruction.get_parent(), to) else {
            return Vec::new();
        };
        if self.components.contains_key(&instruction) {
            return Vec::new();
        }
        let rows: Vec<Option<(usize, u32)>> =
            values.iter().map(|value| self.components.get(&value.as_instruction()?).copied()).collect();
        // Rows of lanes with other numbers of components are not as long.
        let operands = |components: u32, is_row: &dyn Fn(usize, u32) -> bool| -> Vec<Operand<'c>> {
            let all = values.iter().zip(&rows).enumerate();
            all.map(|(index, (value, row))| match row {
                Some((row, number)) if self.counts[*row] == components && is_row(index, *number) => {
                    Operand::Row(*row)
                }
                None if value.is_const() => Operand::Constant,
                None if splat(*value).is_some() => Operand::Own,
                _ => Operand::Same(*value),
            })
            .collect()
        };
        let mut keys: Vec<(Key<'c>, u32, u32)> = Vec::new();
        for (own, (row, number)) in rows.iter().enumerate().filter_map(|(own, row)| Some((own, (*row)?))) {
            let components = self.counts[row];
            let together = operands(components, &|_, other| other == number);
            let alone = operands(components, &|index, _| index == own);
            for operands in [together, alone] {
                let key = (block, what.clone(), operands, to);
                if keys.iter().all(|(other, ..)| *other != key) {
                    keys.push((key, number, components));
                }
            }
        }
        keys
    }

    /// Are all operands there in front of the first member?
    fn are_there(&self, operands: &[Operand<'c>], members: &[InstructionValue<'c>]) -> bool {
        let first = self.first(members);
        let is_there = |value: BasicValueEnum<'c>| {
            let Some(instruction) = value.as_instruction_value() else { return true };
            instruction.get_parent() != first.get_parent()
                || self.positions.get(&instruction) < self.positions.get(&first)
        };
        operands.iter().zip(0..).filter(|(own, _)| **own == Operand::Own).all(|(_, index)| {
            let mut scalars = members.iter().filter_map(|member| splat(operand(*member, index)?));
            scalars.all(is_there)
        })
    }

    /// The member that comes first.
    pub(super) fn first(&self, members: &[InstructionValue<'c>]) -> InstructionValue<'c> {
        *members.iter().min_by_key(|member| self.positions.get(member)).unwrap_or(&members[0])
    }

    /// The row of which an instruction interleaves the components, all in their order.
    pub(super) fn whole(&self, instruction: InstructionValue<'c>) -> Option<usize> {
        let row = |number| self.components.get(&operand(instruction, number)?.as_instruction()?).copied();
        let (first, _) = row(0)?;
        let count = self.counts[first];
        let same = instruction.get_num_operands() == count + 1;
        (same && (0..count).all(|number| row(number) == Some((first, number)))).then_some(first)
    }

    /// Is a component used by a member of a group, as what it is?
    fn is_row_of(&self, component: InstructionValue<'c>, user: InstructionValue<'c>) -> bool {
        let group = self.components.get(&user).map(|(row, _)| &self.rows[*row]);
        let same =
            |own: &Operand<'c>| matches!(own, Operand::Same(value) if Some(*value) == result(component));
        matches!(group, Some(Row::Group(group)) if !group.operands.iter().any(same))
    }

    /// Leaves out groups with which not less is transposed, from the last one on.
    fn choose(&mut self, rare: &HashSet<BasicBlock<'c>>) {
        let wholes: HashSet<InstructionValue<'c>> =
            self.interleaved.iter().copied().filter(|all| self.whole(*all).is_some()).collect();
        let mut interleaved = vec![0; self.rows.len()];
        for whole in &wholes {
            if let Some(row) = self.whole(*whole) {
                interleaved[row] += 1;
            }
        }
        // Rows of which a component is used alone, and those that groups use.
        let mut open = vec![false; self.rows.len()];
        let mut grouped = vec![0; self.rows.len()];
        for (component, (row, _)) in &self.components {
            let alone = |user: &InstructionValue<'c>| {
                !wholes.contains(user)
                    && !self.is_row_of(*component, *user)
                    && user.get_parent().is_none_or(|block| !rare.contains(&block))
            };
            open[*row] |= users(*component).any(|user| alone(&user));
        }
        for row in &self.rows {
            if let Row::Group(group) = row {
                group.rows().for_each(|used| grouped[used] += 1);
            }
        }
        for index in (0..self.rows.len()).rev() {
            let Row::Group(group) = &mut self.rows[index] else { continue };
            if grouped[index] > 0 {
                continue;
            }
            let anew = group.rows().filter(|row| !open[*row]).count() as i32;
            let spread = group.operands.iter().filter(|own| matches!(own, Operand::Same(_))).count() as i32;
            let with = TRANSPOSED * i32::from(open[index]) + SPREAD * spread;
            if with >= TRANSPOSED * (anew + interleaved[index]) {
                group.pays = false;
                for row in group.rows() {
                    grouped[row] -= 1;
                    open[row] = true;
                }
            }
        }
    }
}

impl Group<'_> {
    /// The rows that it uses, each once.
    fn rows(&self) -> impl Iterator<Item = usize> {
        let all = self.operands.iter().filter_map(|own| match own {
            Operand::Row(row) => Some(*row),
            _ => None,
        });
        all.collect::<BTreeSet<usize>>().into_iter()
    }
}
