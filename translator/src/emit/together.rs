//! Messages of a segment of which one question says that all are inside: what their addresses differ by is known (`crate::linear`).

use std::collections::BTreeMap;

use super::addresses::Addresses;
use super::memory::Reach;
use super::rows::Row;
use super::segment::Inside;
use super::{Emitter, FILE};
use crate::ir::{BIT, I32, I64, Value};
use crate::linear::{self, Cell, Linear, Symbol};
use crate::message::Memory;
use crate::segment::Segment;
use crate::split::Base;

/// Messages of a segment that are a number of bytes behind the first of them, and some multiple of what a cell has in front of the segment.
pub(super) struct Group {
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
    fn reached(&mut self, distance: &Linear, dword: impl Fn(Symbol) -> Option<Cell>) -> Option<(i64, i64)> {
        let behind = i64::from(distance.constant as i32);
        let mut terms = distance.terms.iter();
        let (times, cell) = match terms.next() {
            None => (0, None),
            Some((symbol, times)) => (i64::from(*times as i32), Some(dword(*symbol)?)),
        };
        let fits = terms.next().is_none()
            && (self.by.is_none() || cell.is_none() || cell == self.by)
            && behind.abs() <= MOST_BEHIND
            && times.abs() <= MOST_TIMES
            && behind.unsigned_abs().is_multiple_of(self.alignment as u64);
        self.by = self.by.or(cell.filter(|_| fits));
        fits.then_some((times, behind))
    }
}

/// Most bytes between members of a group. It may be outside as a whole though each is inside: not for more than that.
const MOST_BEHIND: i64 = 4096;

/// Most multiples.
const MOST_TIMES: i64 = 1 << 16;

/// What the addresses of messages are behind: nothing, in shared local memory, or a pointer that all threads have.
type Begin = Option<Base>;

/// The rows of a group, from the first byte of the lowest to behind the last of the highest.
struct Extent {
    /// From the first member's address, where what they are multiples of is 0.
    low: i64,
    high: i64,
    /// The least and the most multiple.
    times: [i64; 2],
}

impl Group {
    /// The message that asks for all.
    pub(super) fn first(&self) -> usize {
        self.members[0].index
    }
}

impl Emitter<'_> {
    /// The messages of a segment, those together of which one question is enough.
    pub(super) fn groups(&self, segment: &Segment) -> Vec<Group> {
        let Some(variables) = &self.variables else { return Vec::new() };
        let known = linear::Known { plan: self.plan, variables, affine: &self.affine, sums: &self.sums };
        let found = linear::of_segment(&known, segment);
        let is_dword = |cell: Cell| match cell {
            Cell::First(variable) => self.affine[variable].is_some_and(|affine| affine.size == 4),
            Cell::Bytes(..) => true,
        };
        let dword = |symbol: Symbol| found.is_there(symbol).filter(|cell| is_dword(*cell));
        let mut groups: Vec<Group> = Vec::new();
        // Of each group, where the first message is; `None` where that is not known.
        let mut begins: Vec<Option<(Begin, &Linear)>> = Vec::new();
        for index in segment.instructions.clone() {
            let (Some(row), Some(message)) = (self.certain_row(index), self.message_of_lanes(index)) else {
                continue;
            };
            let begin = match message.memory {
                Memory::Local => Some(None),
                Memory::Global => self.base_of(index).filter(|base| self.is_same_for_all(*base)).map(Some),
                Memory::Flat => None,
            };
            let own = begin.zip(found.addresses.get(&index));
            let joined = groups.iter_mut().zip(&begins).find_map(|(group, first)| {
                let ((begin, address), (other, first)) = own.zip(*first)?;
                let fits = begin == other && group.alignment.is_multiple_of(message.alignment);
                let distance = Some(address.less(first)).filter(|_| fits)?;
                let (times, behind) = group.reached(&distance, dword)?;
                group.members.push(Member { index, row, times, behind });
                Some(())
            });
            if joined.is_none() {
                let members = vec![Member { index, row, times: 0, behind: 0 }];
                groups.push(Group { members, by: None, alignment: message.alignment });
                begins.push(own);
            }
        }
        groups
    }

    /// What members of a group are a multiple of behind the first, in 64 bits.
    pub(super) fn multiplied(&mut self, group: &Group) -> Option<Value> {
        let (variable, byte) = match group.by? {
            Cell::First(variable) => (variable, 0),
            Cell::Bytes(variable, byte) => (variable, byte - self.variables.as_ref()?.all[variable].start),
        };
        let place = self.f.at(&self.places[variable].clone(), byte);
        let value = self.f.load(I32, &place, FILE);
        Some(self.f.resize(&value, 64, true))
    }

    /// Finds out where the rows of a group are, and whether all are inside.
    pub(super) fn ask(
        &mut self,
        group: &Group,
        by: Option<&Value>,
        inside: &mut BTreeMap<usize, Inside>,
    ) -> Value {
        let index = group.first();
        let Some(message) = self.message_of_lanes(index) else { return Value::int(BIT, 0) };
        let whole = self.reach(index, message.memory);
        let (reach, addresses, there) = self.reached_if(index, message, &whole);
        let offset = self.f.binary("sub", &addresses.first, &reach.start);
        let extent = self.extent(group);
        let (at, holds) = if group.members.len() == 1 {
            self.place_if_inside(&reach, &offset, extent.high as usize)
        } else {
            self.place_if_all_inside(&reach, &offset, &extent, by)
        };
        let aligned = self.aligned(&addresses.first, group.alignment);
        let mut holds = self.both(&holds, aligned.as_ref());
        let scaled = |member: &Member| member.times.unsigned_abs().is_multiple_of(group.alignment as u64);
        if let Some(by) = by.filter(|_| !group.members.iter().all(scaled)) {
            let aligned = self.aligned(by, group.alignment);
            holds = self.both(&holds, aligned.as_ref());
        }
        let mut places: BTreeMap<i64, Value> = BTreeMap::from([(0, at)]);
        for Member { index, row, times, behind } in &group.members {
            let at = self.multiple_of(*times, by, &mut places);
            let at = self.f.offset(&at, &Value::int(I64, *behind as u64));
            let (step, lanes) = (self.certain_step(*index), self.plan.ops[*index].lanes);
            let follows = self.follows(*index);
            let addresses = Addresses::of_row(&addresses.first, step.unwrap_or(0), u32::from(lanes), follows);
            inside.insert(*index, Inside { row: *row, at, reach: reach.clone(), addresses });
        }
        self.both(&holds, there.as_ref())
    }

    fn extent(&self, group: &Group) -> Extent {
        let mut extent = Extent { low: 0, high: 0, times: [0; 2] };
        for Member { index, row, times, behind } in &group.members {
            let lanes = usize::from(self.plan.ops[*index].lanes);
            let bytes = self.message_of_lanes(*index).map_or(0, |message| row.bytes(message, lanes));
            extent.low = extent.low.min(*behind);
            extent.high = extent.high.max(behind + bytes as i64);
            extent.times = [extent.times[0].min(*times), extent.times[1].max(*times)];
        }
        extent
    }

    /// Where the offset of a group's first member is in the host's memory, and whether all members are inside. All that is computed has 64 bits, of which it
    /// cannot need more: so if the lowest and the highest are inside, the offsets that the kernel computes with 32 bits are these.
    fn place_if_all_inside(
        &mut self,
        reach: &Reach,
        offset: &Value,
        extent: &Extent,
        by: Option<&Value>,
    ) -> (Value, Value) {
        let wide = self.f.resize(offset, 64, false);
        let mut first = self.f.binary("add", &wide, &Value::int(I64, extent.low as u64));
        let mut bytes = Value::int(I64, (extent.high - extent.low) as u64);
        if let Some(by) = by {
            let zero = Value::int(I64, 0);
            let backwards = self.f.compare("icmp slt", by, &zero);
            let [least, most] = extent.times.map(|times| Value::int(I64, times as u64));
            let lowest = self.f.select(&backwards, &most, &least);
            let before = self.f.binary("mul", by, &lowest);
            first = self.f.binary("add", &first, &before);
            let reverse = self.f.binary("sub", &zero, by);
            let distance = self.f.select(&backwards, &reverse, by);
            let times = Value::int(I64, (extent.times[1] - extent.times[0]) as u64);
            let all = self.f.binary("mul", &distance, &times);
            bytes = self.f.binary("add", &bytes, &all);
        }
        let size = self.f.resize(&reach.size, 64, false);
        let begins = self.f.compare("icmp ule", &first, &size);
        let behind = self.f.binary("add", &first, &bytes);
        let ends = self.f.compare("icmp ule", &behind, &size);
        (self.f.offset(&reach.host, &wide), self.f.binary("and", &begins, &ends))
    }

    /// The place at a multiple, by one that is known.
    fn multiple_of(&mut self, times: i64, by: Option<&Value>, places: &mut BTreeMap<i64, Value>) -> Value {
        let known = places.range(..=times).next_back().or_else(|| places.first_key_value());
        let (Some((other, at)), Some(by)) = (known, by) else { return places[&0].clone() };
        if *other == times {
            return at.clone();
        }
        let (more, at) = (Value::int(I64, (times - other) as u64), at.clone());
        let more = self.f.binary("mul", by, &more);
        let at = self.f.offset(&at, &more);
        places.insert(times, at.clone());
        at
    }

    /// Is a row always less than a line behind another?
    fn follows(&self, index: usize) -> bool {
        let parts = self.numbers_of_parts(index);
        parts.is_some_and(|parts| parts.iter().all(|part| self.sums.follows[*part]))
    }
}
