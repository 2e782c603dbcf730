//! Loops that are executed lane by lane.
//!
//! Where each lane goes its own number of rounds and reads where only it knows, lanes together go as many rounds as the longest of them,
//! and each round gathers. A host that executes one lane after the other goes only the rounds that there are, with plain loads. Lanes do not see
//! each other in such a loop, so that their order does not matter: every element belongs to one lane, and memory is only read, or written where
//! no other lane is (`crate::own`).

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use gencl_eu::file::{GRF_BYTES, NULL};
use gencl_eu::op::{Branch, Op};
use gencl_eu::operand::{SourceLocation, Target};
use gencl_isa::PredicateControl;

use crate::access::Access;
use crate::flow::Flow;
use crate::hints::Stride;
use crate::message::Message;
use crate::native;
use crate::own::{self, Own};
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
    /// Behind its last instruction.
    pub end: usize,
    /// The blocks to which it is left, in their order.
    pub exits: Vec<usize>,
    /// Instructions are for all of so many lanes, from a multiple of that on, or for none.
    pub part: u32,
    /// All elements that lanes read and write.
    pub columns: BTreeMap<Column, Elements>,
    /// The words with a bit for each lane that are read and written.
    pub words: BTreeSet<Word>,
    /// The instructions that combine such words.
    pub operations: BTreeMap<usize, Operation>,
    /// If it writes, the messages to the lanes' own memory, for the lanes from a channel on.
    pub own: BTreeMap<(usize, u32), Own>,
}

impl Serial {
    /// Its instructions.
    pub fn instructions(&self, flow: &Flow) -> Range<usize> {
        flow.blocks[self.blocks.start].start..self.end
    }
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
        let exits = self.exits()?;
        let operations: BTreeMap<usize, Operation> =
            words::operations(self.plan, self.variables, self.indices()).into_iter().collect();
        let words = self.words(&operations, &exits)?;
        let columns = self.columns(&operations, &exits)?;
        let ops = || self.indices().map(|index| &self.plan.ops[index]).filter(|op| !is_scalar(op));
        let narrowest = ops().map(|op| u32::from(op.lanes)).min()?;
        let part = narrowest.max(NARROWEST);
        let own = self.own(part)?;
        let even =
            |op: &Op| u32::from(op.lanes).is_multiple_of(part) && u32::from(op.channel).is_multiple_of(part);
        (self.pays(&own) && ops().all(even)).then_some(Serial {
            blocks: self.blocks.clone(),
            end: self.flow.blocks[self.blocks.end - 1].end,
            exits,
            part,
            columns,
            words,
            operations,
            own,
        })
    }

    /// The messages to the lanes' own memory, if there is nothing else that is written.
    fn own(&self, part: u32) -> Option<BTreeMap<(usize, u32), Own>> {
        let instructions: Vec<usize> = self.indices().collect();
        let finder = own::Finder {
            plan: self.plan,
            flow: self.flow,
            variables: self.variables,
            strides: self.strides,
            instructions: &instructions,
        };
        let (mut found, mut writes) = (BTreeMap::new(), false);
        for index in &instructions {
            let Step::Message(Message::Lanes(message)) = &self.plan.steps[*index] else { continue };
            let parts = (0..self.plan.variant.simd_width).step_by(part as usize);
            let own = parts
                .filter(|channel| has_channel(&self.plan.ops[*index], *channel))
                .map(|channel| Some(((*index, channel), finder.own(*index, message, channel)?)));
            match own.collect::<Option<Vec<_>>>() {
                Some(own) => found.extend(own),
                None if message.write => return None,
                None => {}
            }
            writes |= message.write;
        }
        if !writes {
            return Some(BTreeMap::new());
        }
        let scratch = self.plan.variant.scratch;
        (1..=own::MOST_SCRATCH).contains(&scratch).then_some(found)
    }

    /// The instructions that do something.
    fn indices(&self) -> impl Iterator<Item = usize> {
        let blocks = &self.flow.blocks[self.blocks.clone()];
        let all = blocks.iter().flat_map(|block| block.start..block.end);
        all.filter(|index| !matches!(self.plan.steps[*index], Step::Nothing))
    }

    /// Where it is left to, if it is entered at its first block only, with nobody waiting further inside.
    fn exits(&self) -> Option<Vec<usize>> {
        let inside = |block: &usize| self.blocks.contains(block);
        let mut exits = BTreeSet::new();
        for (number, block) in self.flow.blocks.iter().enumerate() {
            for next in block.thread.iter().chain(&block.channel) {
                match (inside(&number), inside(next)) {
                    (true, false) => drop(exits.insert(*next)),
                    (false, true) => {
                        let waiting = block.parked.ones().any(|target| inside(&self.flow.targets[target]));
                        if waiting || *next != self.blocks.start {
                            return None;
                        }
                    }
                    _ => {}
                }
            }
        }
        // Lanes that have left it wait there for the others.
        let wait = exits.iter().all(|exit| *exit >= self.blocks.end && self.flow.target(*exit).is_some());
        (wait && !exits.is_empty()).then(|| exits.into_iter().collect())
    }

    /// Do lanes go their own ways, and are messages what takes the time?
    fn pays(&self, own: &BTreeMap<(usize, u32), Own>) -> bool {
        let spread = |stride: Stride| matches!(stride, Stride::Loaded | Stride::Any);
        let (mut gathers, mut lanes, mut diverges) = (0, 0, false);
        for index in self.indices() {
            let op = &self.plan.ops[index];
            let stride = |number: usize| match self.variables.uses[index].get(number) {
                Some(Some(variable)) => self.strides[*variable],
                _ => Stride::Known(0),
            };
            match &self.plan.steps[index] {
                Step::Message(_) => {
                    gathers += usize::from(spread(stride(0)) || own.contains_key(&(index, 0)))
                }
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
    fn words(&self, operations: &BTreeMap<usize, Operation>, exits: &[usize]) -> Option<BTreeSet<Word>> {
        let width = self.plan.variant.simd_width;
        let mut flags = BTreeSet::new();
        for index in self.indices() {
            let op = &self.plan.ops[index];
            let fits = match &self.plan.steps[index] {
                Step::Native(_) if !native::is_by_channel(op) => false,
                Step::Native(_) if is_scalar(op) => op.predicate.is_none() && op.condition.is_none(),
                Step::Native(_) => !op.no_mask && op.write_lanes == u32::MAX,
                Step::Message(Message::Lanes(_)) => !op.no_mask,
                Step::Branch(Branch::Jump(_)) => op.predicate.is_none(),
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
        let forgotten = operations.values().all(|operation| match operation.to {
            Word::Flag(first) => {
                !exits.iter().any(|exit| words::flags_are_read(self.plan, self.flow, *exit, first, width))
            }
            Word::Scalar(variable, _) => !exits.iter().any(|exit| self.is_live(*exit, variable)),
        });
        words.extend(flags.into_iter().map(Word::Flag));
        forgotten.then_some(words)
    }

    /// Is a variable read in a block or behind it, as it is when a thread comes there?
    fn is_live(&self, block: usize, variable: usize) -> bool {
        self.variables.live[block].iter().any(|(live, _)| *live == variable)
    }

    /// The elements, if each byte is of one lane in one way only.
    fn columns(
        &self,
        operations: &BTreeMap<usize, Operation>,
        exits: &[usize],
    ) -> Option<BTreeMap<Column, Elements>> {
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
                    (Some(_), Some(variable))
                        if matches!(op.src[number].location, SourceLocation::Scalar(_)) =>
                    {
                        scalars.insert(variable);
                    }
                    (None, _)
                        if matches!(
                            op.src[number].location,
                            SourceLocation::Constant(_) | SourceLocation::None
                        ) => {}
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
        // Scalars that are written are not from before, and no elements.
        let changes = columns.iter().any(|(column, elements)| {
            constants.contains(&column.variable) || elements.written && scalars.contains(&column.variable)
        });
        let before = constants.iter().any(|variable| self.is_live(self.blocks.start, *variable));
        // They are the same in all rounds, or a lane has no use for what they were while it waits: then it finds what it has written itself.
        let scalar = || others().filter(|index| is_scalar(&self.plan.ops[*index]));
        let mut sources = scalar().flat_map(|index| self.variables.uses[index].iter().flatten());
        let mut written = BTreeSet::new();
        let again =
            scalar().flat_map(|index| &self.variables.definitions[index]).any(|v| !written.insert(*v));
        let varies = again || sources.any(|variable| constants.contains(variable));
        let inside = self.blocks.clone().skip(1).filter(|block| self.flow.target(*block).is_some());
        let mut waiting = inside.chain(exits.iter().copied());
        let kept = waiting.any(|block| constants.iter().any(|variable| self.is_live(block, *variable)));
        let is_constant = !(before || varies && kept);
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
        (!changes && is_constant && !mixed).then_some(columns)
    }
}

/// Is it executed once for all lanes?
pub fn is_scalar(op: &Op) -> bool {
    op.lanes == 1 && op.no_mask
}

/// Is it executed for a channel, when that is enabled?
pub fn has_channel(op: &Op, channel: u32) -> bool {
    (u32::from(op.channel)..u32::from(op.channel) + u32::from(op.lanes)).contains(&channel)
}

fn is_packed(op: &Op, number: usize) -> bool {
    matches!(op.src[number].location, SourceLocation::Packed(_))
}
