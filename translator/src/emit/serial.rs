//! Loops that are executed lane by lane (`crate::serial`): one lane after the other goes through all its rounds.
//!
//! What lanes have of the variables is copied to arrays before, and back behind the loop; within it each element is a scalar variable. A lane
//! changes nothing but its own elements, so windows do not change there: a read outside of its window ends it, another window is looked
//! for, and the lane begins anew. When that happens again, all lanes that are left execute the loop together. As each element is of one lane (`crate::serial` finds
//! only such loops), the next lane's can be read before the rounds of the one before.
//!
//! Where lanes write (`super::own_memory`), nothing is left of what they did when the loop begins anew, with all lanes, or is executed together.

use std::collections::{BTreeMap, BTreeSet};

use gencl_eu::op::Branch;

use super::lane_reads::{AddressSum, Known};
use super::own_memory::Scratch;
use super::rounds::{Counted, ROUNDS, Rounds};
use super::{Emitter, FILE};
use crate::affine::Affine;
use crate::ir::{BIT, I32, I64, Label, Ty, Value};
use crate::message::{Lanes, Memory, Message};
use crate::own::Own;
use crate::plan::Step;
use crate::serial::{Column, Serial, has_channel, is_scalar};
use crate::steady::{self, Steady};
use crate::words::{self, Bits, Operation, Word};

/// What instructions are written for, while it is one lane.
pub(super) struct Lane {
    /// First channel of the instruction that is written.
    channel: u32,
    /// Where the elements are.
    pub(super) columns: BTreeMap<Column, Value>,
    /// Where the lane's bits of words are, each as a dword.
    bits: BTreeMap<Word, Value>,
    /// Of the loop's blocks.
    pub(super) labels: Vec<Label>,
    /// First block.
    first: usize,
    /// Behind the loop: of the blocks to which it is left.
    exits: Vec<(usize, Label)>,
    /// Where the lane goes after a read outside of its window.
    pub(super) retry: Label,
    /// Where it goes when looking for another window does not help.
    pub(super) slow: Label,
    /// Of messages whose addresses are sums.
    pub(super) sums: BTreeMap<usize, AddressSum>,
    /// If they can be looked at before they begin.
    pub(super) rounds: Option<Rounds>,
}

/// Lanes with elements at the same places but for the step from lane to lane; what the next of them begins with is read before it begins.
pub(super) struct Part {
    /// The first.
    pub(super) channel: u32,
    /// How many there are.
    pub(super) width: u32,
    /// All, as bits.
    pub(super) lanes: Value,
    /// The last, as a bit.
    last: Value,
    /// Where the number of the next is.
    next: Value,
    /// Where the next one's elements are from before the loop.
    columns: BTreeMap<Column, Value>,
    /// Of messages whose addresses are sums.
    pub(super) sums: BTreeMap<usize, AddressSum>,
    /// What rounds do, if each does the same.
    pub(super) steady: Option<Steady>,
}

/// What lanes share while the loop is executed.
pub(super) struct Shared {
    /// Of each variable that lanes have elements of.
    pub(super) arrays: BTreeMap<usize, Value>,
    /// Variables with elements from before the loop.
    live_in: BTreeSet<usize>,
    /// Variables with elements that are read behind it.
    live_out: BTreeSet<usize>,
    /// Of messages to buffers.
    pub(super) windows: BTreeMap<usize, Known>,
    /// Where the number of rounds is until somebody looks whether the launch is cancelled.
    rounds: Value,
    /// The thread's scratch memory, if lanes write there.
    scratch: Option<Scratch>,
    /// Where the lanes are, as bits, that have left it for a block, if that can be several.
    left: BTreeMap<usize, Value>,
}

impl<'a> Emitter<'a> {
    /// Writes a loop, from the label of its first block on.
    pub(super) fn serial_loop(&mut self, serial: &Serial) {
        let header = serial.blocks.start;
        let [begin, together] = [self.labels[header], self.f.label()];
        self.f.begin(begin);
        if let Some(target) = self.flow.target(header) {
            self.enable_waiting(target);
        }
        let scratch = (!serial.own.is_empty()).then(|| self.scratch(together));
        let [again, look, retry, done, slow] = [(); 5].map(|()| self.f.label());
        self.f.begin(again);
        let shared = self.share(serial, scratch);
        let lanes_left = self.f.variable(4);
        let place = self.active.clone();
        let active = self.dword(&place);
        self.f.store(&active, &lanes_left, FILE);
        let tried = self.f.variable(4);
        self.f.store(&Value::int(I32, 0), &tried, FILE);
        self.f.begin(look);
        if let Some(scratch) = &shared.scratch {
            self.others_are_elsewhere(scratch, &shared, slow);
        }
        let parts = self.plan.variant.simd_width / serial.part;
        let sums: Vec<_> =
            (0..parts).map(|part| self.address_sums(serial, &shared, part * serial.part, slow)).collect();
        for (part, sums) in (0..parts).zip(sums) {
            let part = self.part_of_lanes(serial, &shared, part * serial.part, sums);
            self.part(serial, &shared, &part, &lanes_left, [retry, slow]);
        }
        self.f.jump(done);
        self.f.begin(retry);
        if let Some(scratch) = &shared.scratch {
            let anew = self.f.label();
            self.attempt(scratch, anew, slow);
            self.f.begin(anew);
            self.undo(scratch);
            self.f.jump(again);
        } else {
            let (before, own) = (self.dword(&tried), self.dword(&lanes_left));
            self.f.store(&own, &tried, FILE);
            let first = self.f.compare("icmp ne", &before, &own);
            self.f.branch(&first, look, slow);
        }
        self.f.begin(done);
        self.take_back(&shared);
        self.leave(serial, &shared);
        self.f.begin(slow);
        if let Some(scratch) = &shared.scratch {
            self.undo(scratch);
        } else {
            // The others wait behind the loop.
            self.take_back(&shared);
            let left = self.dword(&lanes_left);
            let ready = self.f.binary("xor", &active, &left);
            self.f.store(&left, &place, FILE);
            if shared.left.is_empty() {
                self.wait_in_front_of(serial.exits[0], &ready);
            }
            self.wait_behind(&shared);
        }
        self.f.jump(together);
        self.labels[header] = together;
        serial.blocks.clone().for_each(|block| self.block(block));
        self.labels[header] = begin;
    }

    /// Goes where the loop is left to: where lanes have left it for several blocks, they wait there, and the thread goes to the first.
    fn leave(&mut self, serial: &Serial, shared: &Shared) {
        if shared.left.is_empty() {
            return self.f.jump(self.labels[serial.exits[0]]);
        }
        self.wait_behind(shared);
        let active = self.active.clone();
        self.f.store(&Value::int(I32, 0), &active, FILE);
        for (block, place) in &shared.left {
            let lanes = self.dword(place);
            let some = self.f.compare("icmp ne", &lanes, &Value::int(I32, 0));
            let others = self.f.label();
            self.f.branch(&some, self.labels[*block], others);
            self.f.begin(others);
        }
        // Nobody was in it.
        self.f.jump(self.labels[serial.exits[0]]);
    }

    /// Has all lanes wait that have left a loop for one of several blocks.
    fn wait_behind(&mut self, shared: &Shared) {
        for (block, place) in &shared.left {
            let lanes = self.dword(place);
            self.wait_in_front_of(*block, &lanes);
        }
    }

    fn wait_in_front_of(&mut self, block: usize, lanes: &Value) {
        self.wait_at(self.flow.blocks[block].start, lanes);
    }

    /// Copies what lanes have computed back to the variables.
    fn take_back(&mut self, shared: &Shared) {
        for variable in &shared.live_out {
            if let Some(array) = shared.arrays.get(variable) {
                self.copy_variable(*variable, array, false);
            }
        }
    }

    /// Makes the arrays, and looks at the windows.
    fn share(&mut self, serial: &Serial, scratch: Option<Scratch>) -> Shared {
        let rounds = self.f.variable(4);
        self.f.store(&Value::int(I32, ROUNDS), &rounds, FILE);
        let mut shared = Shared {
            arrays: BTreeMap::new(),
            live_in: BTreeSet::new(),
            live_out: BTreeSet::new(),
            windows: BTreeMap::new(),
            rounds,
            scratch,
            left: BTreeMap::new(),
        };
        for exit in serial.exits.iter().filter(|_| serial.exits.len() > 1) {
            let place = self.f.variable(4);
            self.f.store(&Value::int(I32, 0), &place, FILE);
            shared.left.insert(*exit, place);
        }
        let Some(variables) = &self.variables else { return shared };
        let live = |block: usize| variables.live[block].iter().map(|(variable, _)| *variable).collect();
        shared.live_in = live(serial.blocks.start);
        let all = serial.columns.iter().filter(|(_, elements)| elements.written);
        let written: BTreeSet<usize> = all.map(|(column, _)| column.variable).collect();
        for exit in &serial.exits {
            let live: BTreeSet<usize> = live(*exit);
            shared.live_out.extend(live.intersection(&written));
        }
        let sizes: BTreeMap<usize, usize> = serial
            .columns
            .keys()
            .map(|column| (column.variable, &variables.all[column.variable]))
            .map(|(number, variable)| (number, (variable.end - variable.start).next_multiple_of(4)))
            .collect();
        for (variable, bytes) in sizes {
            let kept = shared.live_in.contains(&variable) || shared.live_out.contains(&variable);
            if kept && self.affine[variable].is_none() {
                let array = self.f.variable(bytes);
                self.copy_variable(variable, &array, true);
                shared.arrays.insert(variable, array);
            }
        }
        for index in self.flow.blocks[serial.blocks.start].start..serial.end {
            let is_own = serial.own.keys().any(|(own, _)| *own == index);
            if !is_own && self.message_of_lanes(index).is_some_and(|message| message.memory != Memory::Local)
            {
                let number = self.next_window();
                let [start, limit, host] = [8, 8, 8].map(|bytes| self.f.variable(bytes));
                shared.windows.insert(index, Known { number, start, limit, host });
                self.look_at_window(index, &shared.windows[&index]);
            }
        }
        shared
    }

    /// Copies a variable to its array, or back.
    fn copy_variable(&mut self, variable: usize, array: &Value, save: bool) {
        let Some(variables) = &self.variables else { return };
        let bytes = variables.all[variable].end - variables.all[variable].start;
        let ty =
            if bytes.is_multiple_of(4) { Ty::int(32, bytes as u32 / 4) } else { Ty::int(8, bytes as u32) };
        let place = self.places[variable].clone();
        self.copy(ty, &place, array, save);
    }

    /// Where the element of a lane is in an array, or in the register file.
    pub(super) fn element_place(&mut self, base: &Value, first: i64, stride: usize, lane: &Value) -> Value {
        let lane = self.f.resize(lane, 64, false);
        let bytes = self.f.binary("mul", &lane, &Value::int(I64, stride as u64));
        let bytes = self.f.binary("add", &bytes, &Value::int(I64, first as u64));
        self.f.offset(base, &bytes)
    }

    /// The lanes from `channel` on.
    fn part_of_lanes(
        &mut self,
        serial: &Serial,
        shared: &Shared,
        channel: u32,
        sums: BTreeMap<usize, AddressSum>,
    ) -> Part {
        let own = serial.columns.iter().filter(|(_, elements)| elements.lanes >> channel & 1 != 0);
        let is_there = |variable| shared.arrays.contains_key(&variable) || self.affine[variable].is_some();
        let live = |variable| shared.live_in.contains(&variable) && is_there(variable);
        let columns: Vec<Column> =
            own.map(|(column, _)| *column).filter(|column| live(column.variable)).collect();
        let place = |column: Column| (column, self.f.variable(column.size.next_multiple_of(4)));
        let columns = columns.into_iter().map(place).collect();
        let lanes = u64::from(u32::MAX >> (32 - serial.part)) << channel;
        let (lanes, last) = (Value::int(I32, lanes), Value::int(I32, lanes & !(lanes >> 1)));
        let (next, width) = (self.f.variable(4), serial.part);
        let variables = self.variables.as_ref();
        let steady = variables
            .filter(|_| serial.own.is_empty())
            .and_then(|v| steady::find(self.plan, self.flow, v, serial, channel));
        Part { channel, width, lanes, last, next, columns, sums, steady }
    }

    /// Writes the loop for those of a part's lanes that are left.
    fn part(&mut self, serial: &Serial, shared: &Shared, part: &Part, lanes_left: &Value, leave: [Label; 2]) {
        let counted = self.counted(shared, part);
        for counted in counted.as_ref().map(Some).into_iter().chain([None]) {
            let all = counted.map_or(&part.lanes, |counted| &counted.lanes);
            let [next, some, none, retry, slow] = [(); 5].map(|()| self.f.label());
            let left = self.dword(lanes_left);
            let own = self.f.binary("and", &left, all);
            let rest = self.f.binary("xor", &left, &own);
            let place = self.f.variable(4);
            self.f.store(&own, &place, FILE);
            self.look_ahead(shared, part, counted, &own);
            self.f.begin(next);
            let own = self.dword(&place);
            let any = self.f.compare("icmp ne", &own, &Value::int(I32, 0));
            self.f.branch(&any, some, none);
            self.f.begin(some);
            let below = self.f.binary("sub", &own, &Value::int(I32, 1));
            let others = self.f.binary("and", &own, &below);
            self.lane_loop(serial, shared, part, counted, &others, [retry, slow]);
            self.f.store(&others, &place, FILE);
            self.f.jump(next);
            for (label, leave) in [retry, slow].into_iter().zip(leave) {
                self.f.begin(label);
                let own = self.dword(&place);
                let left = self.f.binary("or", &own, &rest);
                self.f.store(&left, lanes_left, FILE);
                self.f.jump(leave);
            }
            self.f.begin(none);
            self.f.store(&rest, lanes_left, FILE);
        }
    }

    /// Reads what a part's first of some lanes begins with; where there is none, that of another, which nobody asks for.
    fn look_ahead(&mut self, shared: &Shared, part: &Part, counted: Option<&Counted>, own: &Value) {
        let some = self.f.binary("or", own, &part.last);
        let lane = self.f.intrinsic("cttz", ".i32", I32, &[&some, &Value::int(BIT, 1)]);
        self.f.store(&lane, &part.next, FILE);
        if let Some(counted) = counted {
            self.look_ahead_counted(counted, &lane);
        }
        for (column, place) in &part.columns {
            let element = match (self.array_element(shared, column, &lane), self.affine[column.variable]) {
                (Some(array), _) => self.f.load(Ty::int(column.size as u32 * 8, 1), &array, FILE),
                (None, Some(affine)) => self.affine_element(column, affine, &lane),
                (None, None) => continue,
            };
            self.f.store(&element, place, FILE);
        }
    }

    /// Writes the loop for the next lane of a part; `others` are left behind it.
    fn lane_loop(
        &mut self,
        serial: &Serial,
        shared: &Shared,
        part: &Part,
        counted: Option<&Counted>,
        others: &Value,
        [retry, slow]: [Label; 2],
    ) {
        let (lane, channel) = (&self.dword(&part.next), part.channel);
        let rounds = part.steady.clone().map(|steady| self.rounds(steady, counted.is_none()));
        let mut own = Lane {
            channel,
            columns: BTreeMap::new(),
            bits: BTreeMap::new(),
            labels: serial.blocks.clone().map(|_| self.f.label()).collect(),
            first: serial.blocks.start,
            exits: serial.exits.iter().map(|exit| (*exit, self.f.label())).collect(),
            retry,
            slow,
            sums: part.sums.clone(),
            rounds,
        };
        let own_columns = serial.columns.iter().filter(|(_, elements)| elements.lanes >> channel & 1 != 0);
        let arrays: BTreeMap<Column, Option<Value>> =
            own_columns.map(|(column, _)| (*column, self.array_element(shared, column, lane))).collect();
        for column in arrays.keys() {
            let place = self.f.variable(column.size.next_multiple_of(4));
            if let Some(initial) = part.columns.get(column) {
                let initial = self.f.load(Ty::int(column.size as u32 * 8, 1), initial, FILE);
                self.f.store(&initial, &place, FILE);
            }
            own.columns.insert(*column, place);
        }
        for word in &serial.words {
            let all = self.word(shared, *word);
            let shift = self.bit_of_lane(*word, lane);
            let moved = self.f.binary("lshr", &all, &shift);
            let bit = self.f.convert("trunc", &moved, BIT);
            let place = self.f.variable(4);
            self.store_bit(&bit, &place);
            own.bits.insert(*word, place);
        }
        // Before the lane's rounds, whose end nobody foresees: what comes behind has the next lane's numbers then, and need not wait for them.
        let exits = own.exits.clone();
        self.lane = Some(own);
        if let Some(scratch) = &shared.scratch {
            self.look_at_bases(serial, scratch, channel, lane);
        }
        if let Some(counted) = counted {
            self.begin_counted(counted);
        }
        self.look_ahead(shared, part, counted, others);
        self.look_at_rounds(shared);
        for block in serial.blocks.clone() {
            self.lane_block(serial, shared, block, channel);
        }
        let Some(own) = self.lane.take() else { return };
        let done = self.f.label();
        for (block, exit) in exits {
            self.f.begin(exit);
            if let Some(place) = shared.left.get(&block) {
                let lanes = self.dword(place);
                let bit = self.f.binary("shl", &Value::int(I32, 1), lane);
                let more = self.f.binary("or", &lanes, &bit);
                self.f.store(&more, place, FILE);
            }
            self.f.jump(done);
        }
        self.f.begin(done);
        for (column, array) in &arrays {
            if let (Some(array), true) = (array, shared.live_out.contains(&column.variable)) {
                let value = self.f.load(Ty::int(column.size as u32 * 8, 1), &own.columns[column], FILE);
                self.f.store(&value, array, FILE);
            }
        }
        for (word, own_place) in &own.bits {
            // Scalars with bits are not read any more.
            let Word::Flag(first) = word else { continue };
            if !self.is_read_behind(serial, *first) {
                continue;
            }
            let place = self.flags[usize::from(first / 32)].clone();
            let shift = self.bit_of_lane(*word, lane);
            let bit = self.dword(own_place);
            let bit = self.f.binary("shl", &bit, &shift);
            let own = self.f.binary("shl", &Value::int(I32, 1), &shift);
            self.merge_flags(&place, &own, &bit);
        }
    }

    /// Does anybody read flags behind a loop?
    fn is_read_behind(&self, serial: &Serial, first: u8) -> bool {
        let width = self.plan.variant.simd_width;
        let mut exits = serial.exits.iter();
        exits.any(|exit| words::flags_are_read(self.plan, self.flow, *exit, first, width))
    }

    /// Ends the thread when the launch is cancelled, which is looked at from time to time.
    fn stop_if_cancelled_for_long(&mut self, rounds: &Value) {
        let left = self.dword(rounds);
        let left = self.f.binary("sub", &left, &Value::int(I32, 1));
        self.f.store(&left, rounds, FILE);
        let more = self.f.compare("icmp ne", &left, &Value::int(I32, 0));
        let [on, look] = [self.f.label(), self.f.label()];
        self.f.branch_likely(&more, on, look);
        self.f.begin(look);
        self.f.store(&Value::int(I32, ROUNDS), rounds, FILE);
        self.stop_if_cancelled();
        self.f.begin(on);
    }

    /// Where a lane's element of a variable that has an array is.
    fn array_element(&mut self, shared: &Shared, column: &Column, lane: &Value) -> Option<Value> {
        let array = shared.arrays.get(&column.variable)?;
        let start = self.variables.as_ref()?.all[column.variable].start;
        Some(self.element_place(array, column.first - start as i64, column.stride, lane))
    }

    /// A lane's element of a variable that is kept as a scalar.
    fn affine_element(&mut self, column: &Column, Affine { step, size }: Affine, lane: &Value) -> Value {
        let start = self.variables.as_ref().map_or(0, |v| v.all[column.variable].start);
        let bits = size as u32 * 8;
        let before = (column.first - start as i64) / size as i64;
        let base = self.f.load(Ty::int(bits, 1), &self.places[column.variable].clone(), FILE);
        let number = self.f.resize(lane, bits, false);
        let number = self.f.binary("add", &number, &Value::int(base.ty, before as u64));
        let steps = self.f.binary("mul", &number, &Value::int(base.ty, step as u64));
        self.f.binary("add", &base, &steps)
    }

    /// A word as it is before the loop.
    fn word(&mut self, shared: &Shared, word: Word) -> Value {
        match word {
            Word::Flag(first) => {
                let place = self.flags[usize::from(first / 32)].clone();
                self.dword(&place)
            }
            Word::Scalar(variable, byte) if shared.live_in.contains(&variable) => {
                let start = self.variables.as_ref().map_or(0, |v| v.all[variable].start);
                let place = self.f.at(&self.places[variable].clone(), byte - start);
                let bits = self.plan.variant.simd_width.max(16);
                let value = self.f.load(Ty::int(bits, 1), &place, FILE);
                self.f.resize(&value, 32, false)
            }
            Word::Scalar(..) => Value::int(I32, 0),
        }
    }

    /// The number of a lane's bit.
    fn bit_of_lane(&mut self, word: Word, lane: &Value) -> Value {
        match word {
            Word::Flag(first) => self.f.binary("add", lane, &Value::int(I32, u64::from(first % 32))),
            Word::Scalar(..) => lane.clone(),
        }
    }

    /// Combines the lane's bits of words.
    fn combine(&mut self, operation: &Operation) {
        let places = operation.sources.map(|bits| match bits {
            Bits::Word(word, _) => self.lane.as_ref().and_then(|lane| lane.bits.get(&word)).cloned(),
            Bits::All(_) => None,
        });
        let [a, b] = [0, 1].map(|n| match (operation.sources[n], &places[n]) {
            (Bits::Word(_, inverted), Some(place)) => {
                let bit = self.lane_bit(place);
                self.f.binary("xor", &bit, &Value::int(BIT, u64::from(inverted)))
            }
            (Bits::All(bit), _) => Value::int(BIT, u64::from(bit)),
            (Bits::Word(..), None) => Value::int(BIT, 0),
        });
        let result = match operation.function {
            Some(function) => self.f.binary(function, &a, &b),
            None => a,
        };
        let place = self.lane.as_ref().and_then(|lane| lane.bits.get(&operation.to)).cloned();
        if let Some(place) = place {
            self.store_bit(&result, &place);
        }
    }

    fn store_bit(&mut self, bit: &Value, place: &Value) {
        let wide = self.f.convert("zext", bit, I32);
        self.f.store(&wide, place, FILE);
    }

    fn lane_block(&mut self, serial: &Serial, shared: &Shared, block: usize, channel: u32) {
        let (start, end) = (self.flow.blocks[block].start, self.flow.blocks[block].end);
        let Some(label) = self.lane.as_ref().map(|lane| lane.labels[block - lane.first]) else { return };
        self.f.begin(label);
        let looked_at = self.lane.as_ref().is_some_and(|lane| lane.rounds.is_some());
        if self.is_loop_header(block) && !looked_at {
            self.stop_if_cancelled_for_long(&shared.rounds);
        }
        for index in start..end {
            let op = &self.plan.ops[index];
            if is_scalar(op) || has_channel(op, channel) {
                if let Some(lane) = &mut self.lane {
                    lane.channel = u32::from(op.channel);
                }
                match (self.message_of_lanes(index), serial.operations.get(&index)) {
                    (Some(message), _) => {
                        let own = serial.own.get(&(index, channel));
                        self.lane_message(shared, index, message, own);
                    }
                    (None, Some(operation)) => self.combine(operation),
                    (None, None) => {
                        self.keep_offset(index);
                        self.step(index);
                    }
                }
            }
        }
        if !self.f.is_terminated() {
            let next = self.lane_label(end).unwrap_or(self.fault);
            self.f.jump(next);
        }
    }

    /// A message of the lane alone, if its flag says so.
    fn lane_message(&mut self, shared: &Shared, index: usize, message: &Lanes, own: Option<&Own>) {
        let behind = self.plan.ops[index].predicate.map(|predicate| {
            let [on, behind] = [(); 2].map(|()| self.f.label());
            let holds = self.predicate(index, predicate);
            self.f.branch(&holds, on, behind);
            self.f.begin(on);
            behind
        });
        match (own, &shared.scratch) {
            (Some(own), Some(scratch)) => self.lane_own(scratch, index, message, own),
            _ => self.lane_read(shared, index, message),
        }
        if let Some(behind) = behind {
            self.f.begin(behind);
        }
    }

    /// Where the lane goes on with an instruction, which is in the loop or behind it.
    fn lane_label(&self, index: usize) -> Option<Label> {
        let lane = self.lane.as_ref()?;
        let block = self.flow.block_at(index)?;
        let inside = block.checked_sub(lane.first).and_then(|n| lane.labels.get(n));
        let outside = || lane.exits.iter().find(|(exit, _)| *exit == block).map(|(_, label)| label);
        inside.or_else(outside).copied()
    }

    /// A branch of the lane alone.
    pub(super) fn lane_branch(&mut self, index: usize, branch: Branch) {
        let next = index + 1;
        let (yes, no) = match branch {
            Branch::If { jip } => (next, jip),
            Branch::While { jip } | Branch::Diverge { jip } => (jip, next),
            Branch::Else { uip, .. } => (uip, uip),
            Branch::Join { .. } => (next, next),
            Branch::Leave { uip, .. } => (uip, next),
            Branch::GotoForward { uip, .. } => (next, uip),
            Branch::GotoBackward { jip, uip } => (uip, jip),
            Branch::Jump(target) => (target, target),
            Branch::JumpIndirect | Branch::Call { .. } | Branch::Return => return,
        };
        let [yes, no] = [yes, no].map(|index| self.lane_label(index).unwrap_or(self.fault));
        match self.plan.ops[index].predicate {
            Some(predicate) if yes != no => {
                let taken = self.predicate(index, predicate);
                match &self.lane {
                    Some(Lane { rounds: Some(_), .. }) => self.end_round(&taken, no),
                    _ => self.f.branch(&taken, yes, no),
                }
            }
            _ => self.f.jump(yes),
        }
    }

    /// Where the lane's flag is, by the bit of the instruction's first channel; `None` where all lanes are at work.
    pub(super) fn lane_flag(&self, first: u32) -> Option<Value> {
        let lane = self.lane.as_ref()?;
        lane.bits.get(&Word::Flag(first.checked_sub(lane.channel)? as u8)).cloned()
    }

    /// The lane's flag.
    pub(super) fn lane_bit(&mut self, place: &Value) -> Value {
        let flag = self.dword(place);
        self.f.convert("trunc", &flag, BIT)
    }

    /// Sets the lane's flag, where the mask (`None`: certainly) says so.
    pub(super) fn set_lane_flag(&mut self, place: &Value, bit: &Value, mask: Option<&Value>) {
        let new = match mask {
            Some(mask) => {
                let old = self.lane_bit(place);
                self.f.select(mask, bit, &old)
            }
            None => bit.clone(),
        };
        self.store_bit(&new, place);
    }

    /// A message that reads or writes for each lane.
    pub(super) fn message_of_lanes(&self, index: usize) -> Option<&'a Lanes> {
        match &self.plan.steps[index] {
            Step::Message(Message::Lanes(message)) => Some(message),
            _ => None,
        }
    }

    /// Where the lane's element of a read is.
    pub(super) fn lane_use(&self, index: usize, number: usize) -> Option<Value> {
        let access = self.plan.effects[index].uses.get(number)?.as_ref()?;
        let variable = self.variables.as_ref()?.uses[index][number]?;
        self.lane.as_ref()?.columns.get(&Column::of(access, variable)?).cloned()
    }

    /// Where the lane's element of a write is.
    pub(super) fn lane_definition(&self, index: usize, number: usize) -> Option<Value> {
        let access = &self.plan.effects[index].definitions[number].access;
        let variable = self.variables.as_ref()?.definitions[index][number];
        self.lane.as_ref()?.columns.get(&Column::of(access, variable)?).cloned()
    }
}
