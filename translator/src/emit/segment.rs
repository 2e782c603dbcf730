//! Straight code of which one question in front says that all of its messages are rows inside of their windows.

use std::collections::BTreeMap;
use std::ops::Range;

use gencl_simulator::eu::operand::Place;

use super::addresses::Addresses;
use super::memory::{LaneAccess, Reach};
use super::rows::{PREFETCHED, Row};
use super::{ANEW, Emitter, FILE};
use crate::host;
use crate::ir::{BIT, I32, I64, Label, POINTER, Ty, Value};
use crate::linear::{self, Cell, Linear, Symbol};
use crate::message::{Lanes, Memory};
use crate::order;
use crate::plan::Step;
use crate::segment::{self, Known, Segment};
use crate::split::{Base, LANES};

/// A row of a message that is inside.
pub(super) struct Inside {
    row: Row,
    /// Where the first lane's address is in the host's memory.
    at: Value,
    reach: Reach,
    addresses: Addresses,
}

/// Messages of a segment that are a number of bytes behind the first of them, and some multiple of what a cell has in front of the segment.
struct Group {
    members: Vec<Member>,
    by: Option<Cell>,
    /// What the first is a multiple of, and so all are.
    alignment: usize,
}

/// One of them.
struct Member {
    index: usize,
    row: Row,
    times: i64,
    behind: i64,
}

impl Group {
    /// How far behind the first a message is, if it may be a member.
    fn reached(&mut self, distance: &Linear, is_dword: impl Fn(Cell) -> bool) -> Option<(i64, i64)> {
        let behind = i64::from(distance.constant as i32);
        let mut terms = distance.terms.iter();
        let (times, cell) = match terms.next() {
            None => (0, None),
            Some((Symbol::Cell(cell, 0), times)) => (i64::from(*times as i32), Some(*cell)),
            Some(_) => return None,
        };
        let fits = terms.next().is_none()
            && cell.is_none_or(is_dword)
            && (self.by.is_none() || cell.is_none() || cell == self.by)
            && behind.abs() <= MOST_BEHIND
            && times.abs() <= MOST_TIMES
            && [behind, times].iter().all(|bytes| bytes.unsigned_abs().is_multiple_of(self.alignment as u64));
        self.by = self.by.or(cell.filter(|_| fits));
        fits.then_some((times, behind))
    }
}

/// Most bytes between members of a group. It may be outside as a whole though each is inside: not for more than that.
const MOST_BEHIND: i64 = 4096;

/// Most multiples.
const MOST_TIMES: i64 = 1 << 16;

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
    pub(super) fn segments(&self) -> Vec<Segment> {
        let Some(variables) = &self.variables else { return Vec::new() };
        let is_row = |index: usize| self.certain_row(index).is_some();
        let is_small = |variable: usize| self.is_small(variable);
        let known = Known { plan: self.plan, variables, is_row: &is_row, is_small: &is_small };
        segment::find(&known, self.flow)
    }

    /// Those in a block of the function that is written, which go away.
    pub(super) fn segments_in(&mut self, block: Range<usize>) -> Vec<Segment> {
        let Some(quick) = self.quick.as_mut().filter(|_| self.lane.is_none()) else { return Vec::new() };
        quick.segments.extract_if(.., |segment| block.contains(&segment.instructions.start)).collect()
    }

    /// The row that a message is, if its lanes are certainly so many bytes apart.
    fn certain_row(&self, index: usize) -> Option<Row> {
        let message = self.message_of_lanes(index)?;
        let op = &self.plan.ops[index];
        if message.write && (op.predicate.is_some() || self.is_for_some(index)) {
            return None;
        }
        Row::of(message, usize::from(op.lanes), self.certain_step(index)?)
    }

    /// Is an instruction likely to be for some of the lanes only? Not where all that was asked for before is whether numbers that follow each other, as those of
    /// work-items do, are within a range.
    fn is_for_some(&self, index: usize) -> bool {
        let plan = self.plan;
        if plan.ops[index].no_mask {
            return false;
        }
        let branches = (0..index).filter(|branch| matches!(plan.steps[*branch], Step::Branch(_)));
        let mut conditions = branches.filter(|branch| plan.ops[*branch].predicate.is_some());
        conditions.any(|branch| {
            let comparison = (0..branch).rev().find(|index| plan.ops[*index].condition.is_some());
            comparison.is_none_or(|comparison| !self.is_of_steps(comparison))
        })
    }

    /// Are all of an instruction's sources the same in all lanes, or do they change by equal steps?
    fn is_of_steps(&self, index: usize) -> bool {
        let Some(variables) = &self.variables else { return false };
        let sources = self.plan.ops[index].src.iter().zip(&variables.uses[index]);
        sources.into_iter().all(|(source, variable)| match source.place {
            Place::Packed(_) => variable.is_some_and(|variable| self.affine[variable].is_some()),
            Place::Scalar(_) | Place::Constant(_) | Place::None => true,
            _ => false,
        })
    }

    /// How far a message's lanes are apart, where that is certain.
    fn certain_step(&self, index: usize) -> Option<i64> {
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
            || self.sums.parts.keys().any(|(own, _)| *own == variable)
            || all.is_some_and(|all| all.end - all.start <= 8)
    }

    /// Writes a segment: the question, and the code without a branch.
    pub(super) fn segment(&mut self, segment: &Segment) {
        let kept = self.kept(segment);
        let groups = self.groups(segment);
        let steps: Vec<Option<Value>> = groups.iter().map(|group| self.distance(group)).collect();
        let mut inside: BTreeMap<usize, Inside> = BTreeMap::new();
        let mut all: Option<Value> = None;
        for index in segment.instructions.clone() {
            if segment.addresses.contains(&index) {
                self.step(index);
                continue;
            }
            let Some(number) = groups.iter().position(|group| group.members[0].index == index) else {
                continue;
            };
            let holds = self.ask(&groups[number], steps[number].as_ref(), &mut inside);
            all = Some(match all {
                Some(all) => self.f.binary("and", &all, &holds),
                None => holds,
            });
        }
        for index in inside.keys().copied().filter(|index| self.is_write(*index)).collect::<Vec<_>>() {
            if let (Some(before), Some(mask)) = (&all, self.mask(index)) {
                let mask = self.f.mask(&mask);
                let enabled = self.f.all(&mask);
                all = Some(self.f.binary("and", before, &enabled));
            }
        }
        for Kept { place, value } in kept {
            self.f.store(&value, &place, FILE);
        }
        let reads: Vec<usize> = inside.keys().copied().filter(|index| !self.is_write(*index)).collect();
        // A thread that reads more than it would ask for has accesses enough under way.
        self.prefetches = self.bytes_read(&inside) <= PREFETCHED;
        let Some((all, quick)) = all.zip(self.quick.as_mut()) else { return };
        quick.inside = inside;
        let anew = *quick.anew.get_or_insert_with(|| self.f.label());
        let here = self.f.label();
        self.f.branch_likely(&all, here, anew);
        self.f.begin(here);
        self.in_order(segment.instructions.clone(), &reads);
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
            let parts: Vec<usize> = self
                .sums
                .parts
                .iter()
                .filter(|((own, _), _)| own == variable)
                .map(|(_, part)| *part)
                .collect();
            for part in &parts {
                let [base, offsets] = self.parts[*part].clone();
                let lanes = if self.sums.steps[*part].is_some() { 1 } else { LANES as u32 };
                places.extend([(base, Ty::int(64, 1)), (offsets, Ty::int(32, lanes))]);
            }
            if parts.is_empty() {
                let bytes =
                    self.variables.as_ref().map_or(0, |v| v.all[*variable].end - v.all[*variable].start);
                places.push((self.places[*variable].clone(), super::entry::copied(bytes)));
            }
        }
        let mut kept = Vec::with_capacity(places.len());
        for (place, ty) in places {
            let value = self.f.load(ty, &place, FILE);
            kept.push(Kept { place, value });
        }
        kept
    }

    /// The messages of a segment, those together of which one question is enough.
    fn groups(&self, segment: &Segment) -> Vec<Group> {
        let Some(variables) = &self.variables else { return Vec::new() };
        let known = linear::Known { plan: self.plan, variables, affine: &self.affine, sums: &self.sums };
        let addresses = linear::of_segment(&known, segment);
        let is_dword = |cell: Cell| match cell {
            Cell::First(variable) => self.affine[variable].is_some_and(|affine| affine.size == 4),
            Cell::Bytes(..) => true,
        };
        let mut groups: Vec<(Group, Option<(Option<Base>, &Linear)>)> = Vec::new();
        for index in segment.instructions.clone() {
            let (Some(row), Some(message)) = (self.certain_row(index), self.message_of_lanes(index)) else {
                continue;
            };
            let member = |times, behind| Member { index, row, times, behind };
            let begin = match message.memory {
                Memory::Local => Some(None),
                Memory::Global => self.base_of(index).filter(|base| self.is_same_for_all(*base)).map(Some),
                Memory::Flat => None,
            };
            let own = begin.zip(addresses.get(&index));
            let joined = groups.iter_mut().any(|(group, first)| {
                let (Some((begin, address)), Some((others, first))) = (own, *first) else { return false };
                if begin != others || !group.alignment.is_multiple_of(message.alignment) {
                    return false;
                }
                let distance = address.less(first);
                let Some((times, behind)) = group.reached(&distance, is_dword) else { return false };
                group.members.push(member(times, behind));
                true
            });
            if !joined {
                let group = Group { members: vec![member(0, 0)], by: None, alignment: message.alignment };
                groups.push((group, own));
            }
        }
        groups.into_iter().map(|(group, _)| group).collect()
    }

    /// What members of a group are a multiple of behind the first, as 64 bits.
    fn distance(&mut self, group: &Group) -> Option<Value> {
        let cell = group.by?;
        let (variable, byte) = match cell {
            Cell::First(variable) => (variable, 0),
            Cell::Bytes(variable, byte) => {
                (variable, byte - self.variables.as_ref().map_or(0, |v| v.all[variable].start))
            }
        };
        let place = self.f.at(&self.places[variable].clone(), byte);
        let value = self.f.load(I32, &place, FILE);
        Some(self.f.resize(&value, 64, true))
    }

    /// Where the rows of a group are, and whether all are inside. All that is computed has 64 bits, of which it cannot need more: so if the first and the last are inside,
    /// the offsets that the kernel computes with 32 bits are these.
    fn ask(&mut self, group: &Group, by: Option<&Value>, inside: &mut BTreeMap<usize, Inside>) -> Value {
        let Group { members, alignment, .. } = group;
        let (index, lanes) = (members[0].index, |own: usize| usize::from(self.plan.ops[own].lanes));
        let Some(message) = self.message_of_lanes(index) else { return Value::int(BIT, 0) };
        let end = |member: &Member| {
            let bytes =
                self.message_of_lanes(member.index).map(|own| member.row.bytes(own, lanes(member.index)));
            member.behind + bytes.unwrap_or(0) as i64
        };
        let (low, end) = (members.iter().map(|m| m.behind).min(), members.iter().map(end).max());
        let (low, end) = (low.unwrap_or(0), end.unwrap_or(0));
        let follow: Vec<bool> = members.iter().map(|member| self.follows(member.index)).collect();
        let whole = self.reach(index, message.memory);
        let (reach, addresses, there) = self.reached_if(index, message, &whole);
        let offset = self.f.binary("sub", &addresses.first, &reach.start);
        let (at, mut holds) = if members.len() == 1 {
            self.place_if_inside(&reach, &offset, end as usize)
        } else {
            let times = || members.iter().map(|member| member.times);
            let (least, most) = (times().min().unwrap_or(0), times().max().unwrap_or(0));
            let wide = self.f.resize(&offset, 64, false);
            let mut first = self.f.binary("add", &wide, &Value::int(I64, low as u64));
            let mut bytes = Value::int(I64, (end - low) as u64);
            if let Some(by) = by {
                let zero = Value::int(I64, 0);
                let backwards = self.f.compare("icmp slt", by, &zero);
                let [least, most] = [least, most].map(|times| Value::int(I64, times as u64));
                let from = self.f.select(&backwards, &most, &least);
                let before = self.f.binary("mul", by, &from);
                first = self.f.binary("add", &first, &before);
                let reverse = self.f.binary("sub", &zero, by);
                let distance = self.f.select(&backwards, &reverse, by);
                let times = self.f.binary("sub", &most, &least);
                let all = self.f.binary("mul", &distance, &times);
                bytes = self.f.binary("add", &bytes, &all);
            }
            let size = self.f.resize(&reach.size, 64, false);
            let begins = self.f.compare("icmp ule", &first, &size);
            let behind = self.f.binary("add", &first, &bytes);
            let ends = self.f.compare("icmp ule", &behind, &size);
            let holds = self.f.binary("and", &begins, &ends);
            (self.f.offset(&reach.host, &wide), holds)
        };
        let aligned = self.aligned(&addresses.first, *alignment);
        holds = self.both(&holds, aligned.as_ref());
        holds = self.both(&holds, there.as_ref());
        let mut places: BTreeMap<i64, Value> = BTreeMap::from([(0, at)]);
        for (member, follows) in members.iter().zip(follow) {
            let at = self.place_of_member(member, by, &mut places);
            let (own, step) = (member.index, self.certain_step(member.index));
            let addresses =
                Addresses::of_row(&addresses.first, step.unwrap_or(0), lanes(own) as u32, follows);
            inside.insert(own, Inside { row: member.row, at, reach: reach.clone(), addresses });
        }
        holds
    }

    /// The place of a member's row, by those of others; `places` are those at multiples.
    fn place_of_member(
        &mut self,
        member: &Member,
        by: Option<&Value>,
        places: &mut BTreeMap<i64, Value>,
    ) -> Value {
        let at = match (places.get(&member.times), by) {
            (Some(at), _) => at.clone(),
            (None, by) => {
                let (times, at) = places
                    .range(..member.times)
                    .next_back()
                    .or(places.iter().next())
                    .map_or_else(|| (0, Value::poison(POINTER)), |(times, at)| (*times, at.clone()));
                let by = by.cloned().unwrap_or(Value::int(I64, 0));
                let more = self.f.binary("mul", &by, &Value::int(I64, (member.times - times) as u64));
                let at = self.f.offset(&at, &more);
                places.insert(member.times, at.clone());
                at
            }
        };
        self.f.offset(&at, &Value::int(I64, member.behind as u64))
    }

    /// Is a row always less than a line behind another?
    fn follows(&self, index: usize) -> bool {
        let parts = self.numbers_of_parts(index);
        parts.is_some_and(|parts| parts.iter().all(|part| self.sums.follows[*part]))
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

    /// Writes straight code in an order that suits the host; of these `reads` it is known that they may come later.
    pub(super) fn in_order(&mut self, instructions: Range<usize>, reads: &[usize]) {
        let order = match &self.variables {
            Some(variables) => order::of_block(self.plan, variables, instructions, reads, host::vectors()),
            None => instructions.collect(),
        };
        for index in order {
            self.step(index);
        }
    }
}
