//! Straight code of which one question in front says that all of its messages are rows inside of their windows.

use std::collections::BTreeMap;
use std::ops::Range;

use gencl_eu::operand::SourceLocation;

use super::addresses::Addresses;
use super::memory::{LaneAccess, Reach};
use super::rows::{PREFETCHED, Row};
use super::{ANEW, Emitter, FILE};
use crate::ir::{BIT, I32, Label, Ty, Value};
use crate::message::{Lanes, Memory};
use crate::order;
use crate::plan::Step;
use crate::segment::{self, Known, Segment};
use crate::split::LANES;

/// A row of a message that is inside.
pub(super) struct Inside {
    pub(super) row: Row,
    /// Where the first lane's address is in the host's memory.
    pub(super) at: Value,
    pub(super) reach: Reach,
    pub(super) addresses: Addresses,
}

/// What is written in front of a question, and has to be as before behind it.
struct Kept {
    place: Value,
    value: Value,
}

/// What there is while a function is written that has nothing but rows in segments.
pub(super) struct Quick {
    segments: Vec<Segment>,
    /// Of messages in the segment that is written, the rows.
    pub(super) inside: BTreeMap<usize, Inside>,
    /// Where the thread is executed anew.
    anew: Option<Label>,
}

impl Quick {
    pub(super) fn new(segments: Vec<Segment>) -> Quick {
        Quick { segments, inside: BTreeMap::new(), anew: None }
    }
}

impl Emitter<'_> {
    /// All segments.
    pub(super) fn segments(&mut self) -> Vec<Segment> {
        self.rows = self.certain_rows();
        let Some(variables) = &self.variables else { return Vec::new() };
        let is_row = |index: usize| self.rows.contains_key(&index);
        let is_small = |variable: usize| self.is_small(variable);
        let known = Known { plan: self.plan, variables, is_row: &is_row, is_small: &is_small };
        let mut segments = segment::find(&known, self.flow);
        segments.retain(|segment| !self.has_doubts(&segment.instructions));
        segments
    }

    /// Those in a block of the function that is written, which go away.
    pub(super) fn segments_in(&mut self, block: Range<usize>) -> Vec<Segment> {
        let Some(quick) = self.quick.as_mut().filter(|_| self.lane.is_none()) else { return Vec::new() };
        quick.segments.extract_if(.., |segment| block.contains(&segment.instructions.start)).collect()
    }

    /// The messages whose lanes are certainly so many bytes apart.
    fn certain_rows(&self) -> BTreeMap<usize, Row> {
        let all = 0..self.plan.ops.len();
        let few = all.clone().find(|index| self.divides(*index)).unwrap_or(all.end);
        let row = |index: usize| {
            let (message, op) = (self.message_of_lanes(index)?, &self.plan.ops[index]);
            let for_some = op.predicate.is_some() || !op.no_mask && index > few;
            if message.write && for_some {
                return None;
            }
            Some((index, Row::of(message, usize::from(op.lanes), self.certain_step(index)?)?))
        };
        all.filter_map(row).collect()
    }

    /// The row that a message is, if its lanes are certainly so many bytes apart, and if it writes those of all lanes.
    pub(super) fn certain_row(&self, index: usize) -> Option<Row> {
        self.rows.get(&index).copied()
    }

    /// Is an instruction a branch behind which there are likely to be some of the lanes only? Not if all that it asks for is whether numbers that follow each other,
    /// as those of work-items do, are within a range.
    fn divides(&self, branch: usize) -> bool {
        let plan = self.plan;
        if !matches!(plan.steps[branch], Step::Branch(_)) || plan.ops[branch].predicate.is_none() {
            return false;
        }
        !self.is_of_range(branch)
    }

    /// Is an instruction's predicate whether numbers that follow each other are within a range? The comparison is most likely the last one in front of it.
    pub(super) fn is_of_range(&self, index: usize) -> bool {
        let comparison = (0..index).rev().find(|index| self.plan.ops[*index].condition.is_some());
        comparison.is_some_and(|comparison| self.is_of_steps(comparison))
    }

    /// Are all of an instruction's sources the same in all lanes, or do they change by equal steps?
    fn is_of_steps(&self, index: usize) -> bool {
        let Some(variables) = &self.variables else { return false };
        let sources = self.plan.ops[index].src.iter().zip(&variables.uses[index]);
        sources.into_iter().all(|(source, variable)| match source.location {
            SourceLocation::Packed(_) => variable.is_some_and(|variable| self.affine[variable].is_some()),
            SourceLocation::Scalar(_) | SourceLocation::Constant(_) | SourceLocation::None => true,
            _ => false,
        })
    }

    /// How far a message's lanes are apart, where that is certain.
    pub(super) fn certain_step(&self, index: usize) -> Option<i64> {
        if let Some(parts) = self.numbers_of_parts(index) {
            let first = self.sums.steps[parts[0]]?;
            return parts.iter().all(|part| self.sums.steps[*part] == Some(first)).then_some(first);
        }
        let variable = self.variables.as_ref()?.uses[index][0]?;
        if let Some(affine) = self.affine[variable] {
            return Some(affine.step);
        }
        (self.plan.ops[index].lanes == 1).then_some(0)
    }

    /// Is a variable a scalar, or kept in parts, which are?
    fn is_small(&self, variable: usize) -> bool {
        let all = self.variables.as_ref().map(|variables| &variables.all[variable]);
        self.affine[variable].is_some()
            || self.parts_in(variable).next().is_some()
            || all.is_some_and(|all| all.end - all.start <= 8)
    }

    /// The first bytes and the numbers of the parts in which a variable is kept.
    fn parts_in(&self, variable: usize) -> impl Iterator<Item = (usize, usize)> {
        let own = self.sums.parts.range((variable, 0)..(variable + 1, 0));
        own.map(|((_, start), part)| (*start, *part))
    }

    /// Writes a segment: the question, and the code without a branch.
    pub(super) fn segment(&mut self, segment: &Segment) {
        let kept = self.kept(segment);
        let groups = self.groups(segment);
        let numbers: Vec<Option<Value>> = groups.iter().map(|group| self.multiplied(group)).collect();
        let mut inside: BTreeMap<usize, Inside> = BTreeMap::new();
        let mut all = Value::int(BIT, 1);
        for index in segment.instructions.clone() {
            if segment.addresses.contains(&index) {
                self.step(index);
                continue;
            }
            let own = groups.iter().zip(&numbers).find(|(group, _)| group.first() == index);
            let Some((group, by)) = own else { continue };
            let holds = self.ask(group, by.as_ref(), &mut inside);
            all = self.f.binary("and", &all, &holds);
        }
        for index in segment.instructions.clone() {
            if self.is_write(index)
                && let Some(mask) = self.mask(index)
            {
                let mask = self.f.mask(&mask);
                let enabled = self.f.all(&mask);
                all = self.f.binary("and", &all, &enabled);
            }
        }
        for Kept { place, value } in kept {
            self.f.store(&value, &place, FILE);
        }
        // A thread that reads more than it would ask for has accesses enough under way.
        self.prefetches = self.bytes_read(&inside) <= PREFETCHED;
        if let Some(quick) = &mut self.quick {
            quick.inside = inside;
            let anew = *quick.anew.get_or_insert_with(|| self.f.label());
            let here = self.f.label();
            self.f.branch_likely(&all, here, anew);
            self.f.begin(here);
        }
        self.in_order(segment.instructions.clone());
        self.prefetches = true;
    }

    /// Ends a function with nothing but rows in segments, if that is what is written.
    pub(super) fn end_quick(&mut self) {
        let Some(anew) = self.quick.take().and_then(|quick| quick.anew) else { return };
        self.f.begin(anew);
        let (frame, thread) = (self.frame.typed(), self.thread.typed());
        let ended = self.f.value(I32, &format!("call i32 @{ANEW}({frame}, {thread})"));
        // It may have found other windows.
        self.look_at_all();
        self.f.ret(&ended);
    }

    /// How much of buffers rows are.
    fn bytes_read(&self, rows: &BTreeMap<usize, Inside>) -> usize {
        let own = rows.iter().filter_map(|(index, inside)| Some((self.message_of_lanes(*index)?, inside)));
        let read = own.filter(|(message, _)| !message.write && message.memory != Memory::Local);
        read.map(|(message, Inside { row, addresses, .. })| row.bytes(message, addresses.lanes() as usize))
            .sum()
    }

    fn is_write(&self, index: usize) -> bool {
        self.message_of_lanes(index).is_some_and(|message| message.write)
    }

    /// What is in the variables that have to be as before.
    fn kept(&mut self, segment: &Segment) -> Vec<Kept> {
        let mut places: Vec<(Value, Ty)> = Vec::new();
        for variable in &segment.restored {
            if let Some(affine) = self.affine[*variable] {
                places.push((self.places[*variable].clone(), Ty::int(affine.size as u32 * 8, 1)));
                continue;
            }
            let Some(all) = self.variables.as_ref().map(|variables| &variables.all[*variable]) else {
                continue;
            };
            let (first, bytes, whole) = (all.start, all.end - all.start, self.places[*variable].clone());
            let parts: Vec<(usize, usize)> = self.parts_in(*variable).collect();
            for (start, part) in &parts {
                let [base, offsets] = self.parts[*part].clone();
                let lanes = if self.sums.steps[*part].is_some() { 1 } else { LANES as u32 };
                places.extend([(base, Ty::int(64, 1)), (offsets, Ty::int(32, lanes))]);
                // The sums themselves are there, too.
                places.push((self.f.at(&whole, start - first), Ty::int(64, LANES as u32)));
            }
            if parts.is_empty() {
                places.push((whole, super::entry::copied(bytes)));
            }
        }
        let mut kept = Vec::with_capacity(places.len());
        for (place, ty) in places {
            let value = self.f.load(ty, &place, FILE);
            kept.push(Kept { place, value });
        }
        kept
    }

    /// Writes a message whose row is inside.
    pub(super) fn row_inside(&mut self, index: usize, message: &Lanes, inside: Inside) {
        let Inside { row, at, reach, addresses } = inside;
        let mask = self.mask(index);
        let mut access = self.lane_access(index, message, reach, addresses, None);
        self.access_row(&mut access, row, &at);
        let LaneAccess { ways, .. } = access;
        let same = row == Row::One && self.plan.ops[index].lanes > 1;
        self.end_ways(index, &ways, same, mask.as_ref());
    }

    /// Writes straight code in an order that suits the host.
    pub(super) fn in_order(&mut self, instructions: Range<usize>) {
        let order = match &self.variables {
            Some(variables) if !self.has_doubts(&instructions) => {
                order::of_block(self.plan, variables, instructions, self.plan.host.vectors)
            }
            _ => instructions.collect(),
        };
        for index in order {
            self.step(index);
        }
    }
}
