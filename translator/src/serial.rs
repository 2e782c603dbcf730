//! Loops that are executed lane by lane.
//!
//! Where each lane goes its own number of rounds and reads where only it knows, lanes together go as many rounds as the longest of them,
//! and each round gathers. A host that executes one lane after the other goes only the rounds that there are, with plain loads. Lanes do not see
//! each other in such a loop, so that their order does not matter: it only reads memory, and every element belongs to one lane.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use gencl_isa::PredicateControl;
use gencl_simulator::eu::file::{GRF_BYTES, NULL};
use gencl_simulator::eu::op::{Branch, Op};
use gencl_simulator::eu::operand::{Place, Target};

use crate::access::Access;
use crate::flow::Flow;
use crate::hints::Stride;
use crate::message::Message;
use crate::native;
use crate::plan::{Plan, Step};
use crate::variables::Variables;
use crate::words::{self, Operation, Word};

/// So many arithmetic instructions for each gather, and no more, are as fast lane by lane.
const ARITHMETIC_PER_GATHER: usize = 8;

/// Lanes of the narrowest instruction.
const NARROWEST: u32 = 8;

/// One element for each lane: the variable, the byte at which that of lane 0 is or would be, and the bytes from lane to lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Column {
    /// The variable.
    pub variable: usize,
    /// Byte in the general registers.
    pub first: i64,
    /// Bytes from lane to lane.
    pub stride: usize,
    /// Bytes of the element.
    pub size: usize,
}

impl Column {
    /// The column of an access whose elements belong to lanes; `None` if they do not, or are not equally far apart.
    pub fn of(access: &Access, variable: usize) -> Option<Column> {
        let channel = i64::from(access.owner?);
        let stride = access.at.get(1)?.checked_sub(access.at[0])?;
        let even = access.at.windows(2).all(|pair| pair[1].checked_sub(pair[0]) == Some(stride));
        let first = i64::from(access.at[0]) - channel * i64::from(stride);
        let (stride, size) = (usize::from(stride), usize::from(access.size));
        (even && stride >= size).then_some(Column { variable, first, stride, size })
    }
}

/// How a column is used.
#[derive(Clone, Copy, Debug, Default)]
pub struct Elements {
    /// For which lanes there are elements.
    pub lanes: u32,
    /// They are written.
    pub written: bool,
}

/// A loop that is executed lane by lane.
#[derive(Clone, Debug)]
pub struct Serial {
    /// Its blocks; the first one is the only one that is entered from elsewhere.
    pub blocks: Range<usize>,
    /// The instruction at which it is left.
    pub exit: usize,
    /// Instructions are for all of so many lanes, from a multiple of that on, or for none.
    pub part: u32,
    /// All elements that lanes read and write.
    pub columns: BTreeMap<Column, Elements>,
    /// The words with a bit for each lane that are read and written.
    pub words: BTreeSet<Word>,
    /// The instructions that combine such words.
    pub operations: BTreeMap<usize, Operation>,
}

/// Finds the loops, none in another.
pub fn find(plan: &Plan<'_>, flow: &Flow, variables: &Variables, strides: &[Stride]) -> Vec<Serial> {
    let mut found: Vec<Serial> = Vec::new();
    // A lane that waited for another one would keep it from ever having its turn.
    let loops = flow.loops().filter(|blocks| !flow.turns.contains(blocks.start()));
    let mut candidates: Vec<Range<usize>> = loops.map(|blocks| *blocks.start()..blocks.end() + 1).collect();
    candidates.sort_by_key(|blocks| (std::cmp::Reverse(blocks.len()), blocks.start));
    for blocks in candidates {
        let apart = |other: &Serial| other.blocks.end <= blocks.start || blocks.end <= other.blocks.start;
        if found.iter().all(apart) {
            let finder = Finder { plan, flow, variables, strides, blocks };
            found.extend(finder.serial());
        }
    }
    found
}

/// The variables that lanes have alone while such loops are executed.
pub fn written(all: &[Serial]) -> BTreeSet<usize> {
    let columns = all.iter().flat_map(|serial| &serial.columns);
    columns.filter(|(_, elements)| elements.written).map(|(column, _)| column.variable).collect()
}

/// Looks at one loop.
struct Finder<'a> {
    plan: &'a Plan<'a>,
    flow: &'a Flow,
    variables: &'a Variables,
    strides: &'a [Stride],
    blocks: Range<usize>,
}

impl Finder<'_> {
    fn serial(&self) -> Option<Serial> {
        let exit = self.flow.blocks[self.blocks.end - 1].end;
        if !self.is_closed(exit) || !self.pays() {
            return None;
        }
        let operations: BTreeMap<usize, Operation> =
            words::operations(self.plan, self.variables, self.indices()).into_iter().collect();
        let words = self.words(&operations, exit)?;
        let columns = self.columns(&operations)?;
        let ops = || self.indices().map(|index| &self.plan.ops[index]).filter(|op| !is_scalar(op));
        let narrowest = ops().map(|op| u32::from(op.lanes)).min()?;
        let part = narrowest.max(NARROWEST);
        let even =
            |op: &Op| u32::from(op.lanes).is_multiple_of(part) && u32::from(op.channel).is_multiple_of(part);
        ops().all(even).then_some(Serial {
            blocks: self.blocks.clone(),
            exit,
            part,
            columns,
            words,
            operations,
        })
    }

    /// The instructions that do something.
    fn indices(&self) -> impl Iterator<Item = usize> {
        let blocks = &self.flow.blocks[self.blocks.clone()];
        let all = blocks.iter().flat_map(|block| block.start..block.end);
        all.filter(|index| !matches!(self.plan.steps[*index], Step::Nothing))
    }

    /// Is it entered at its first block only, with nobody waiting further inside, and left for one place?
    fn is_closed(&self, exit: usize) -> bool {
        // Lanes that have left it can wait there for the others.
        let Some(exit) = self.flow.block_at(exit).filter(|exit| self.flow.target(*exit).is_some()) else {
            return false;
        };
        let header = self.blocks.start;
        let inside = |block: &usize| self.blocks.contains(block);
        self.flow.blocks.iter().enumerate().all(|(number, block)| {
            let mut next = block.thread.iter().chain(&block.channel);
            if inside(&number) {
                next.all(|next| inside(next) || *next == exit)
            } else {
                next.all(|next| !inside(next) || *next == header)
            }
        }) && self.flow.blocks[header].parked.ones().all(|target| !inside(&self.flow.targets[target]))
    }

    /// Do lanes go their own ways, and is reading what takes the time?
    fn pays(&self) -> bool {
        let spread = |stride: Stride| matches!(stride, Stride::Loaded | Stride::Any);
        let (mut gathers, mut lanes, mut diverges) = (0, 0, false);
        for index in self.indices() {
            let op = &self.plan.ops[index];
            let stride = |number: usize| match self.variables.uses[index].get(number) {
                Some(Some(variable)) => self.strides[*variable],
                _ => Stride::Known(0),
            };
            match &self.plan.steps[index] {
                Step::Message(_) => gathers += usize::from(spread(stride(0))),
                Step::Native(_) => {
                    lanes += usize::from(op.lanes);
                    diverges |= op.condition.is_some() && (spread(stride(0)) || spread(stride(1)));
                }
                _ => {}
            }
        }
        let arithmetic = lanes / self.plan.variant.simd_width as usize;
        diverges && gathers > 0 && arithmetic <= ARITHMETIC_PER_GATHER * gathers
    }

    /// The words with a bit for each lane, if all instructions are ones that a lane can execute alone.
    fn words(&self, operations: &BTreeMap<usize, Operation>, exit: usize) -> Option<BTreeSet<Word>> {
        let width = self.plan.variant.simd_width;
        let mut flags = BTreeSet::new();
        for index in self.indices() {
            let op = &self.plan.ops[index];
            let fits = match &self.plan.steps[index] {
                Step::Native(_) if !native::is_by_channel(op) => false,
                Step::Native(_) if is_scalar(op) => op.predicate.is_none() && op.condition.is_none(),
                Step::Native(_) => !op.no_mask && op.write_lanes == u32::MAX,
                Step::Message(Message::Lanes(lanes)) => !lanes.write && !op.no_mask && op.predicate.is_none(),
                Step::Branch(Branch::Jump(_)) => false,
                Step::Branch(_) => op.channel == 0 && u32::from(op.lanes) >= width,
                _ => false,
            };
            if !fits || op.predicate.is_some_and(|p| p.control != PredicateControl::Normal) {
                return None;
            }
            if op.predicate.is_some() || op.condition.is_some() {
                flags.insert(op.flag_base);
            }
        }
        let mut words: BTreeSet<Word> = operations.values().flat_map(Operation::words).collect();
        flags.extend(words.iter().filter_map(|word| match word {
            Word::Flag(first) => Some(*first),
            Word::Scalar(..) => None,
        }));
        let ends = |first: &u8| u32::from(*first) % 32 + width <= 32;
        let apart = flags.iter().zip(flags.iter().skip(1)).all(|(a, b)| u32::from(b - a) >= width);
        if !flags.iter().all(ends) || !apart {
            return None;
        }
        // What is combined while a lane has left the loop already may differ; nobody may read it.
        let exit = self.flow.block_at(exit)?;
        let forgotten = operations.values().all(|operation| match operation.to {
            Word::Flag(first) => !words::flags_are_read(self.plan, self.flow, exit, first, width),
            Word::Scalar(variable, _) => !self.variables.live[exit].iter().any(|(live, _)| *live == variable),
        });
        words.extend(flags.into_iter().map(Word::Flag));
        forgotten.then_some(words)
    }

    /// The elements, if each byte is of one lane in one way only.
    fn columns(&self, operations: &BTreeMap<usize, Operation>) -> Option<BTreeMap<Column, Elements>> {
        let mut columns: BTreeMap<Column, Elements> = BTreeMap::new();
        let mut owners: BTreeMap<(usize, usize), (Column, usize)> = BTreeMap::new();
        let (mut scalars, mut constants) = (BTreeSet::new(), BTreeSet::new());
        let mut add = |access: &Access, variable: usize, written: bool| -> Option<()> {
            let column = Column::of(access, variable)?;
            let elements = columns.entry(column).or_default();
            elements.written |= written;
            elements.lanes |= u32::MAX >> (32 - access.at.len()) << access.owner?;
            let one_way = access.owned_bytes().all(|(byte, lane)| {
                let own = (column, lane.unwrap_or(0));
                *owners.entry((variable, byte)).or_insert(own) == own
            });
            one_way.then_some(())
        };
        let others = || self.indices().filter(|index| !operations.contains_key(index));
        for index in others() {
            let op = &self.plan.ops[index];
            let effects = &self.plan.effects[index];
            let message = matches!(self.plan.steps[index], Step::Message(_));
            for (number, access) in effects.uses.iter().enumerate() {
                let variable = self.variables.uses[index][number];
                match (access, variable) {
                    (Some(access), Some(variable)) if message || is_packed(op, number) => {
                        add(access, variable, false)?;
                    }
                    (Some(_), Some(variable)) if matches!(op.src[number].place, Place::Scalar(_)) => {
                        scalars.insert(variable);
                    }
                    (None, _) if matches!(op.src[number].place, Place::Constant(_) | Place::None) => {}
                    _ => return None,
                }
            }
            let plain = match op.dst.target {
                Target::Null => true,
                Target::Direct { offset, .. } => offset < GRF_BYTES || offset == NULL,
                Target::Indirect { .. } => false,
            };
            if !plain && matches!(self.plan.steps[index], Step::Native(_)) {
                return None;
            }
            if is_scalar(op) {
                constants.extend(&self.variables.definitions[index]);
                continue;
            }
            for (definition, variable) in effects.definitions.iter().zip(&self.variables.definitions[index]) {
                if *variable < self.variables.all.len() {
                    add(&definition.access, *variable, true)?;
                }
            }
        }
        // Scalars are the same in all rounds, from the first one on.
        let changes = columns.iter().any(|(column, elements)| {
            constants.contains(&column.variable) || elements.written && scalars.contains(&column.variable)
        });
        let before: BTreeSet<usize> =
            self.variables.live[self.blocks.start].iter().map(|(variable, _)| *variable).collect();
        let mut sources = others()
            .filter(|index| is_scalar(&self.plan.ops[*index]))
            .flat_map(|index| self.variables.uses[index].iter().flatten());
        let constant =
            constants.is_disjoint(&before) && !sources.any(|variable| constants.contains(variable));
        // Words are nothing else.
        let mut words = operations.values().flat_map(Operation::words);
        let mixed = words.any(|word| match word {
            Word::Scalar(variable, _) => {
                scalars.contains(&variable)
                    || constants.contains(&variable)
                    || columns.keys().any(|column| column.variable == variable)
            }
            Word::Flag(_) => false,
        });
        (!changes && constant && !mixed).then_some(columns)
    }
}

/// Is it executed once for all lanes? Its result is the same in all rounds then, because nothing that it reads changes.
pub fn is_scalar(op: &Op) -> bool {
    op.lanes == 1 && op.no_mask
}

/// Is it executed for a channel, when that is enabled?
pub fn has_channel(op: &Op, channel: u32) -> bool {
    (u32::from(op.channel)..u32::from(op.channel) + u32::from(op.lanes)).contains(&channel)
}

fn is_packed(op: &Op, number: usize) -> bool {
    matches!(op.src[number].place, Place::Packed(_))
}
