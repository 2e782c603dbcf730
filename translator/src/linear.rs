//! Addresses in a segment as sums: what they differ by is a constant, or some multiple of a number that all have, as the width of an image. So one question
//! is enough for many of them, and one place.

use std::collections::BTreeMap;

use crate::affine::Affine;
use crate::flow::{Block, Flow};
use crate::hints::{self, constant};
use crate::message::Message;
use crate::native::{self, Integer, Native};
use crate::plan::{Plan, Step};
use crate::segment::Segment;
use crate::split::{self, LANES, Sum, Sums};
use crate::variables::Variables;
use gencl_eu::operand::{SourceLocation, Src};
use gencl_isa::Type;

/// 32 bits of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cell {
    /// The first lane's element of one that is kept as a scalar.
    First(usize),
    /// Four bytes of another, from this one on.
    Bytes(usize, usize),
}

impl Cell {
    fn variable(self) -> usize {
        match self {
            Cell::First(variable) | Cell::Bytes(variable, _) => variable,
        }
    }
}

/// A number of which nothing is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Symbol {
    /// What a cell has after so many writes to its variable.
    Cell(Cell, u32),
    /// The first offset of a part, in front of all that is followed.
    Part(usize),
    /// That of the part which an instruction writes.
    Offset(usize),
    /// A word that the thread begins with, at this byte of its registers.
    Word(usize),
}

/// A sum of multiples and a constant, modulo 2^32.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Linear {
    /// None of them 0 times.
    pub terms: BTreeMap<Symbol, u32>,
    /// What is added.
    pub constant: u32,
}

impl Linear {
    fn of(symbol: Symbol) -> Linear {
        Linear { terms: BTreeMap::from([(symbol, 1)]), constant: 0 }
    }

    fn number(constant: u32) -> Linear {
        Linear { terms: BTreeMap::new(), constant }
    }

    fn times(mut self, factor: u32) -> Linear {
        self.constant = self.constant.wrapping_mul(factor);
        self.terms.values_mut().for_each(|own| *own = own.wrapping_mul(factor));
        self.terms.retain(|_, own| *own != 0);
        self
    }

    fn plus(mut self, other: &Linear) -> Linear {
        self.constant = self.constant.wrapping_add(other.constant);
        for (symbol, factor) in &other.terms {
            let own = self.terms.entry(*symbol).or_insert(0);
            *own = own.wrapping_add(*factor);
        }
        self.terms.retain(|_, own| *own != 0);
        self
    }

    /// What is to be added to another to have this.
    pub fn less(&self, other: &Linear) -> Linear {
        self.clone().plus(&other.clone().times(u32::MAX))
    }
}

/// What is known of a kernel.
pub struct Known<'a> {
    /// The kernel.
    pub plan: &'a Plan<'a>,
    /// Its variables.
    pub variables: &'a Variables,
    /// Those that are kept as scalars.
    pub affine: &'a [Option<Affine>],
    /// Its addresses of 64 bits.
    pub sums: &'a Sums,
}

/// The addresses of a segment's messages.
pub struct Found {
    /// That of the first lane of each: behind the scalar that its sums begin with, or in shared local memory.
    pub addresses: BTreeMap<usize, Linear>,
    /// How often each variable was written in front of the segment.
    written: BTreeMap<usize, u32>,
}

impl Found {
    /// Has a cell in front of the segment what a symbol stands for?
    pub fn is_there(&self, symbol: Symbol) -> Option<Cell> {
        match symbol {
            Symbol::Cell(cell, writes) => {
                (self.written.get(&cell.variable()).copied().unwrap_or(0) == writes).then_some(cell)
            }
            _ => None,
        }
    }
}

/// Follows what is computed in a segment, and in the straight code in front of it.
pub fn of_segment(known: &Known<'_>, segment: &Segment) -> Found {
    let mut values = Values::new(known);
    segment.before.clone().for_each(|index| values.execute(index));
    let written = values.writes.clone();
    let mut addresses = BTreeMap::new();
    for index in segment.instructions.clone() {
        if segment.addresses.contains(&index) {
            values.execute(index);
        } else if let Step::Message(_) = known.plan.steps[index] {
            addresses.extend(values.address(index).map(|address| (index, address)));
        }
    }
    Found { addresses, written }
}

/// Messages that read a dword behind the one before with each round of a loop of one block, which neither writes nor waits, and those blocks: as far as can be seen from the first lane.
pub fn walks(known: &Known<'_>, flow: &Flow) -> BTreeMap<usize, usize> {
    let loops = flow.blocks.iter().zip(0..).filter(|(block, number)| block.thread.contains(number));
    let only_reads = |index: usize| match &known.plan.steps[index] {
        Step::Nothing | Step::Native(_) | Step::Branch(_) => true,
        Step::Message(Message::Lanes(message)) => !message.write,
        Step::Message(Message::Block(message)) => !message.write,
        _ => false,
    };
    let loops = loops.filter(|(block, _)| (block.start..block.end).all(only_reads));
    let walks = |(block, number): (&Block, usize)| {
        let mut values = Values { lanes: true, ..Values::new(known) };
        let mut addresses = Vec::new();
        for index in block.start..block.end {
            if let Step::Message(Message::Lanes(_)) = &known.plan.steps[index] {
                addresses.extend(values.first_address(index).map(|address| (index, address)));
            }
            values.execute(index);
        }
        let walks = move |(_, address): &(usize, Linear)| values.growth(address) == Some(4);
        addresses.into_iter().filter(walks).map(move |(index, _)| (index, number)).collect::<Vec<_>>()
    };
    loops.flat_map(walks).collect()
}

/// What variables have at a place.
struct Values<'a> {
    known: &'a Known<'a>,
    /// Elements of lanes that are not equally far apart are followed, too: those of the first lane.
    lanes: bool,
    cells: BTreeMap<Cell, Linear>,
    /// How often each variable was written.
    writes: BTreeMap<usize, u32>,
    parts: BTreeMap<usize, Linear>,
}

impl<'a> Values<'a> {
    fn new(known: &'a Known<'a>) -> Values<'a> {
        let (cells, writes, parts) = Default::default();
        Values { known, lanes: false, cells, writes, parts }
    }

    /// By what a sum of what there was at the beginning has grown since, if that is certain.
    fn growth(&self, sum: &Linear) -> Option<u32> {
        let of_symbol = |(symbol, factor): (&Symbol, &u32)| {
            let now = match symbol {
                Symbol::Cell(cell, 0) => self.cell(*cell),
                Symbol::Part(part) => self.part(*part),
                Symbol::Word(_) => Linear::of(*symbol),
                Symbol::Cell(..) | Symbol::Offset(_) => return None,
            };
            let more = now.less(&Linear::of(*symbol));
            more.terms.is_empty().then(|| more.constant.wrapping_mul(*factor))
        };
        sum.terms.iter().map(of_symbol).try_fold(0_u32, |all, more| Some(all.wrapping_add(more?)))
    }

    fn cell(&self, cell: Cell) -> Linear {
        if let Some(known) = self.cells.get(&cell) {
            return known.clone();
        }
        let writes = self.writes.get(&cell.variable()).copied().unwrap_or(0);
        let own = &self.known.variables.all[cell.variable()];
        let is_word = matches!(cell, Cell::First(_)) && !own.initial.is_empty() && writes == 0;
        if !is_word {
            return Linear::of(Symbol::Cell(cell, writes));
        }
        let (begin, more) = hints::row_begin(self.known.plan, own.start);
        Linear::of(Symbol::Word(begin)).plus(&Linear::number(more))
    }

    /// A source, of which 32 bits count.
    fn source(&self, index: usize, number: usize) -> Option<Linear> {
        let src: &Src = &self.known.plan.ops[index].src[number];
        if let Some(constant) = constant(src) {
            return Some(Linear::number(constant as u32));
        }
        if src.abs || src.complement || !matches!(src.ty, Type::D | Type::UD | Type::UW) {
            return None;
        }
        let value = self.read(index, number, src.ty.size() as usize)?;
        Some(if src.negate { value.times(u32::MAX) } else { value })
    }

    /// The first element of a read of elements of so many bytes.
    fn read(&self, index: usize, number: usize, size: usize) -> Option<Linear> {
        let Known { plan, variables, affine, .. } = self.known;
        let variable = variables.uses[index][number]?;
        let start = plan.effects[index].uses[number].as_ref()?.extent().0;
        if let Some(Affine { step, size: own }) = affine[variable] {
            let lane = (start - variables.all[variable].start) / own;
            let before = Linear::number((lane as i64).wrapping_mul(step) as u32);
            return (own == size).then(|| self.cell(Cell::First(variable)).plus(&before));
        }
        let place = &plan.ops[index].src[number].location;
        let is_first = matches!(place, SourceLocation::Scalar(_))
            || self.lanes && matches!(place, SourceLocation::Packed(_));
        (is_first && size == 4).then(|| self.cell(Cell::Bytes(variable, start)))
    }

    /// Follows what an instruction writes.
    fn execute(&mut self, index: usize) {
        let Known { plan, variables, affine, sums } = self.known;
        let value = self.result(index);
        if let Some(sum) = sums.sums[index] {
            let start = plan.effects[index].definitions[0].access.extent().0;
            let part = sums.parts[&(variables.definitions[index][0], start)];
            let offset = match sum {
                Sum::Of { offset: None, .. } => Some(Linear::number(0)),
                Sum::Of { offset: Some(offset), .. } => self.source(index, offset),
                Sum::Behind(_) => {
                    let before = split::source_part(plan, variables, index);
                    before.and_then(|at| sums.parts.get(&at)).map(|before| self.part(*before))
                }
            };
            self.parts.insert(part, offset.unwrap_or_else(|| Linear::of(Symbol::Offset(index))));
        }
        for (number, variable) in variables.definitions[index].iter().enumerate() {
            if *variable == usize::MAX {
                continue;
            }
            *self.writes.entry(*variable).or_insert(0) += 1;
            self.cells.retain(|cell, _| cell.variable() != *variable);
            let access = &plan.effects[index].definitions[number].access;
            let cell = match affine[*variable] {
                Some(_) => Cell::First(*variable),
                None => Cell::Bytes(*variable, access.extent().0),
            };
            let followed = access.at.len() == 1 || self.lanes;
            let whole = affine[*variable].is_some() || followed && !variables.merging[index][number];
            if let Some(value) = value.clone().filter(|_| whole && access.size == 4) {
                self.cells.insert(cell, value);
            }
        }
    }

    /// What an instruction computes, as dwords.
    fn result(&self, index: usize) -> Option<Linear> {
        let op = &self.known.plan.ops[index];
        let Step::Native(native) = self.known.plan.steps[index] else { return None };
        if !native::is_by_channel(op) || op.saturate || !matches!(op.dst.ty, Type::D | Type::UD) {
            return None;
        }
        match native {
            Native::Copy => self.source(index, 0),
            Native::Convert { from, to } if !from.is_float() && !to.is_float() => self.source(index, 0),
            Native::Integer { function: Integer::Add, bits: 32 } => {
                Some(self.source(index, 0)?.plus(&self.source(index, 1)?))
            }
            Native::Integer { function: Integer::ShiftLeft, bits: 32 } => {
                Some(self.source(index, 0)?.times(1 << (constant(&op.src[1])? & 31)))
            }
            Native::Integer { function: Integer::Multiply, bits: 32 } => {
                Some(self.source(index, 0)?.times(constant(&op.src[1])? as u32))
            }
            _ => None,
        }
    }

    fn part(&self, part: usize) -> Linear {
        self.parts.get(&part).cloned().unwrap_or_else(|| Linear::of(Symbol::Part(part)))
    }

    /// The first lane's address of a message, wherever the others' are.
    fn first_address(&self, index: usize) -> Option<Linear> {
        let variable = self.known.variables.uses[index][0]?;
        let access = self.known.plan.effects[index].uses[0].as_ref()?;
        if access.size == 4 {
            return self.read(index, 0, 4);
        }
        let part = self.known.sums.parts.get(&(variable, usize::from(access.at[0])))?;
        Some(self.part(*part))
    }

    /// The first lane's address of a message, of which the others are equally far apart.
    fn address(&self, index: usize) -> Option<Linear> {
        let Known { plan, variables, sums, .. } = self.known;
        let variable = variables.uses[index][0]?;
        let access = plan.effects[index].uses[0].as_ref()?;
        if access.size == 4 {
            return self.read(index, 0, 4);
        }
        let parts: Option<Vec<usize>> = access
            .at
            .chunks(LANES)
            .map(|lanes| sums.parts.get(&(variable, usize::from(lanes[0]))).copied())
            .collect();
        let parts = parts?;
        let (step, behind) = (sums.steps[parts[0]]?, sums.behind[parts[0]]?);
        let next = |part: usize| Linear::number((LANES as i64 * step).wrapping_mul(part as i64) as u32);
        let first = self.part(parts[0]);
        // Each part goes on where the one before ends.
        let go_on = |(number, part): (usize, &usize)| {
            sums.behind[*part] == Some(behind) && self.part(*part) == first.clone().plus(&next(number))
        };
        parts.iter().enumerate().all(go_on).then(|| first.clone().plus(&Linear::number(behind as u32)))
    }
}
