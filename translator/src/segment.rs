//! Straight code with messages whose lanes are certainly so many bytes apart, at addresses that do not depend on what it reads itself: one question
//! in front of it, whether all of them are inside of their windows, is enough. Behind that it is code without a branch. Where they are not, the thread is executed anew
//! by a function that has all ways; so nothing that others see may have been done before.
//!
//! Compilers with guards do the same: those are widened to where more of them are known (LLVM's `GuardWidening`), and leave for code that has everything.

use std::collections::BTreeSet;
use std::ops::Range;

use fixedbitset::FixedBitSet;
use gencl_eu::file::GRF_BYTES;

use crate::flow::Flow;
use crate::message::Message;
use crate::order::is_arithmetic;
use crate::plan::{Plan, Step, is_flag};
use crate::variables::Variables;

/// Fewer messages are asked for one by one.
const FEWEST: usize = 2;

/// More instructions are several segments: what is looked for grows with the square of them.
const MOST: usize = 2048;

/// Such code.
pub struct Segment {
    /// The straight code in front of it.
    pub before: Range<usize>,
    /// All of it, from its first message on.
    pub instructions: Range<usize>,
    /// Those with which addresses are computed. They are executed in front of the question, and once more where they are.
    pub addresses: BTreeSet<usize>,
    /// The variables that those write, though what was there before is still wanted.
    pub restored: BTreeSet<usize>,
}

/// What is asked about a kernel.
pub struct Known<'a> {
    /// The kernel.
    pub plan: &'a Plan<'a>,
    /// Its variables.
    pub variables: &'a Variables,
    /// Is an instruction a message whose lanes are a certain number of bytes apart?
    pub is_row: &'a dyn Fn(usize) -> bool,
    /// Is a variable so small that it is soon copied?
    pub is_small: &'a dyn Fn(usize) -> bool,
}

/// Finds all segments, in their order.
pub fn find(known: &Known<'_>, flow: &Flow) -> Vec<Segment> {
    let begin = unseen(known.plan, flow);
    let blocks = flow.blocks.iter().zip(0..).filter(|(_, block)| begin.contains(*block));
    blocks.flat_map(|(block, _)| of_block(known, block.start..block.end)).collect()
}

/// The blocks at whose beginning nothing has been done that others see.
fn unseen(plan: &Plan<'_>, flow: &Flow) -> FixedBitSet {
    let mut begin = FixedBitSet::with_capacity(flow.blocks.len());
    begin.insert_range(..);
    // A thread that has stopped goes on there.
    let mut seen: Vec<usize> = flow.resumed().collect();
    for block in &flow.blocks {
        if (block.start..block.end).any(|index| is_seen(plan, index)) {
            seen.extend(&block.thread);
        }
    }
    while let Some(block) = seen.pop() {
        if begin.contains(block) {
            begin.remove(block);
            seen.extend(&flow.blocks[block].thread);
        }
    }
    begin
}

/// Does an instruction do what others see, or what a thread that is executed anew would find?
fn is_seen(plan: &Plan<'_>, index: usize) -> bool {
    match &plan.steps[index] {
        Step::Message(Message::Lanes(message)) => message.write,
        Step::Message(Message::Block(message)) => message.write,
        Step::Nothing | Step::Native(_) | Step::Branch(_) => false,
        // A thread that begins anew writes that once more before it could matter.
        Step::Control(_) => plan.steps[..index]
            .iter()
            .any(|step| !matches!(step, Step::Nothing | Step::Native(_) | Step::Control(_))),
        Step::Message(_) | Step::Interpret(_) | Step::Wait => true,
    }
}

/// Finds the segments of a block at whose beginning nothing has been seen, in their order.
fn of_block(known: &Known<'_>, block: Range<usize>) -> Vec<Segment> {
    let mut segments = Vec::new();
    let mut next = block.start;
    let seen = |index: &usize| is_seen(known.plan, *index) && !(known.is_row)(*index);
    let end = block.clone().find(seen).unwrap_or(block.end);
    while next < end {
        if !(known.is_row)(next) {
            next += 1;
            continue;
        }
        let mut found = Found::new(known, next);
        let last = end.min(next + MOST);
        let behind = (next..last).find(|index| !found.add(*index)).unwrap_or(last);
        let writes = (next..behind).any(|index| is_seen(known.plan, index));
        if found.messages >= FEWEST {
            segments.push(found.finish(block.start..next, next..behind));
        }
        if writes {
            break;
        }
        // The message that ended this one may begin the next.
        next = behind.max(next + 1);
    }
    segments
}

/// A segment that is looked for.
struct Found<'a> {
    known: &'a Known<'a>,
    start: usize,
    messages: usize,
    addresses: BTreeSet<usize>,
    /// The variable that was written last in each register's bytes.
    written: Vec<usize>,
    /// Variables that are read before they are written.
    entered: FixedBitSet,
    /// Variables that depend on what was read, or are not written by plain arithmetic.
    late: FixedBitSet,
}

impl<'a> Found<'a> {
    fn new(known: &'a Known<'a>, start: usize) -> Found<'a> {
        let count = known.variables.all.len();
        Found {
            known,
            start,
            messages: 0,
            addresses: BTreeSet::new(),
            written: vec![usize::MAX; GRF_BYTES],
            entered: FixedBitSet::with_capacity(count),
            late: FixedBitSet::with_capacity(count),
        }
    }

    /// Takes one more instruction; `false` if it can't be one of these.
    fn add(&mut self, index: usize) -> bool {
        let is_row = (self.known.is_row)(index);
        if is_row {
            let Some(slice) = self.slice(index) else { return false };
            self.addresses.extend(slice);
            self.messages += 1;
        } else if !is_arithmetic(self.known.plan, index) {
            return false;
        }
        self.note(index, is_row);
        true
    }

    /// What a message's addresses are computed with; `None` if that can't be done in front of the segment.
    fn slice(&self, message: usize) -> Option<BTreeSet<usize>> {
        let variables = self.known.variables;
        let mut wanted: BTreeSet<usize> = BTreeSet::from([variables.uses[message][0]?]);
        let mut slice = BTreeSet::new();
        if wanted.iter().any(|variable| self.late.contains(*variable)) {
            return None;
        }
        for index in (self.start..message).rev() {
            let own = &variables.definitions[index];
            if !own.iter().any(|variable| wanted.contains(variable)) {
                continue;
            }
            let kept =
                |variable: &usize| !self.entered.contains(*variable) || (self.known.is_small)(*variable);
            let uses: Vec<usize> = variables.uses[index].iter().flatten().copied().collect();
            if !self.is_early(index)
                || !own.iter().all(kept)
                || uses.iter().any(|used| self.late.contains(*used))
            {
                return None;
            }
            slice.insert(index);
            wanted.extend(uses);
        }
        Some(slice)
    }

    /// Is it arithmetic of which nothing depends on flags?
    fn is_early(&self, index: usize) -> bool {
        let op = &self.known.plan.ops[index];
        matches!(self.known.plan.steps[index], Step::Native(_))
            && op.predicate.is_none()
            && op.condition.is_none()
            && !op.src.iter().filter_map(|src| src.offset()).any(is_flag)
    }

    /// Follows what an instruction reads and writes.
    fn note(&mut self, index: usize, is_row: bool) {
        let (plan, variables) = (self.known.plan, self.known.variables);
        let effects = &plan.effects[index];
        let mut is_late = is_row || !self.is_early(index);
        for (access, variable) in effects.uses.iter().zip(&variables.uses[index]) {
            let (Some(access), Some(variable)) = (access, variable) else { continue };
            is_late |= self.late.contains(*variable);
            if access.bytes().any(|byte| self.written[byte] != *variable) {
                self.entered.insert(*variable);
            }
        }
        for (number, definition) in effects.definitions.iter().enumerate() {
            let variable = variables.definitions[index][number];
            if variable == usize::MAX {
                continue;
            }
            if variables.merging[index][number] {
                self.entered.insert(variable);
            }
            // Of what is written in parts, none may be late.
            if is_late {
                self.late.insert(variable);
            }
            definition.access.bytes().for_each(|byte| self.written[byte] = variable);
        }
    }

    fn finish(self, before: Range<usize>, instructions: Range<usize>) -> Segment {
        let definitions = &self.known.variables.definitions;
        let written = self.addresses.iter().flat_map(|index| &definitions[*index]).copied();
        let restored = written.filter(|variable| self.entered.contains(*variable)).collect();
        Segment { before, instructions, addresses: self.addresses, restored }
    }
}
