//! How a thread begins, stops, and goes on.

use std::mem::offset_of;

use gencl_eu::abi::{Frame, Pattern, YIELD};
use gencl_eu::file::{ADDRESS, FLAG};

use super::written::REGISTERS;
use super::{CONSTANT, Emitter, FILE};
use crate::affine::Affine;
use crate::hints;
use crate::ir::{BIT, I8, I32, I64, Label, POINTER, Ty, Value};
use crate::split::LANES;
use crate::variables::Variable;

/// Bytes of a register.
const REGISTER: usize = 32;
/// Bytes of a half register, of which constants of each thread have a pattern.
const HALF: usize = 16;
/// Words of a half register.
const WORDS: u32 = 8;

/// Where the enabled channels are in what a thread keeps.
const ACTIVE: usize = 0;
/// The registers that have been written.
const WRITTEN: usize = 4;
/// The channels that wait, a dword for each target.
const WAITING: usize = 20;

/// Bytes that follow each other in a variable.
struct Run {
    start: usize,
    end: usize,
}

/// Bytes, ascending, as runs, cut at multiples of `cut`.
fn runs(bytes: &[usize], cut: usize) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for byte in bytes {
        match runs.last_mut() {
            Some(run) if run.end == *byte && *byte % cut != 0 => run.end += 1,
            _ => runs.push(Run { start: *byte, end: byte + 1 }),
        }
    }
    runs
}

/// The type as which so many bytes are copied.
pub(super) fn copied(bytes: usize) -> Ty {
    if bytes.is_multiple_of(4) { Ty::int(32, bytes as u32 / 4) } else { Ty::int(8, bytes as u32) }
}

impl Emitter<'_> {
    /// Writes the beginning: where a thread begins anew or goes on.
    pub(super) fn entry(&mut self) -> Label {
        let entry = self.f.label();
        self.f.begin(entry);
        let zero = Value::int(I32, 0);
        let number = if self.stops { self.thread.clone() } else { zero };
        self.file = self.indexed(offset_of!(Frame, files), &number);
        self.begin_variables();
        self.forget_ahead(None);
        let rounds = self.rounds.clone();
        // Who goes on comes to such a place at once, and must not stop there again.
        self.f.store(&Value::int(I32, u64::from(self.rounds_each) + 1), &rounds, FILE);
        let resumed: Vec<usize> = self.flow.resumed().collect();
        if !resumed.is_empty() {
            let fresh = self.f.label();
            let labels: Vec<Label> = resumed.iter().map(|_| self.f.label()).collect();
            let mut targets = vec![fresh];
            targets.extend(&labels);
            let place = Value::int(I32, u64::from(!YIELD));
            let place = self.f.binary("and", &Value::named(I32, "%resume"), &place);
            self.f.switch(&place, &targets);
            for (block, label) in resumed.into_iter().zip(labels) {
                self.f.begin(label);
                self.move_state(block, false);
                self.f.jump(self.labels[block]);
            }
            self.f.begin(fresh);
        }
        self.begin_thread();
        self.f.jump(self.labels[0]);
        entry
    }

    /// Makes variables 0 that are read before they are written: a thread may come to where a variable is read without having been where it is written, with no channel that reads it. What
    /// it reads there may be anything, but must not be poison.
    fn begin_variables(&mut self) {
        let variables = self.variables.as_ref().map(|v| v.all.clone()).unwrap_or_default();
        let exposed = self.variables.as_ref().map(|v| v.exposed(self.plan, self.flow)).unwrap_or_default();
        let payload = self.payload_bytes();
        for (number, (variable, place)) in variables.iter().zip(self.places.clone()).enumerate() {
            let bytes = variable.end - variable.start;
            let is_begun = variable.initial.len() == bytes && variable.end <= payload;
            if exposed.contains(number) && (!is_begun || self.stops) {
                // One store of all of it would make a value of all of it, and LLVM a vector of hundreds of elements.
                let (zero, no) = (Value::int(I8, 0), Value::int(BIT, 0));
                let size = Value::int(I64, bytes.next_multiple_of(4) as u64);
                self.f.intrinsic_line("memset", ".p0.i64", &[&place, &zero, &size, &no]);
            }
        }
        let parts = self.sums.parts.iter().filter(|((variable, _), _)| exposed.contains(*variable));
        let parts: Vec<[Value; 2]> = parts.map(|(_, part)| self.parts[*part].clone()).collect();
        for [base, offsets] in parts {
            self.f.store(&Value::int(I64, 0), &base, FILE);
            self.f.store(&Value::int(Ty::int(32, LANES as u32), 0), &offsets, FILE);
        }
    }

    /// What a thread begins with.
    fn begin_thread(&mut self) {
        let zero = Value::int(I32, 0);
        for place in self.flags.clone().iter().chain(&self.waiting.clone()) {
            self.f.store(&zero, place, FILE);
        }
        self.begin_written();
        if self.plan.accumulators {
            self.clear_accumulators();
        }
        self.set_control(self.plan.variant.control);
        let mask = if self.plan.variant.full {
            self.all_lanes()
        } else {
            let masks = self.constant(POINTER, offset_of!(Frame, masks));
            let at = self.element_at(&masks, 4);
            self.f.load(I32, &at, CONSTANT)
        };
        let active = self.active.clone();
        self.f.store(&mask, &active, FILE);
        let all: Vec<usize> = (0..self.payload_bytes()).collect();
        if self.plan.in_memory {
            // The thread before may have left something there.
            let address = self.f.at(&self.file.clone(), ADDRESS);
            self.f.store(&Value::int(Ty::int(32, REGISTER as u32 / 4), 0), &address, FILE);
            self.payload(None, &all);
            return;
        }
        let variables = self.variables.as_ref().map(|v| v.all.clone()).unwrap_or_default();
        for (number, variable) in variables.iter().enumerate() {
            let inside: Vec<usize> =
                variable.initial.iter().copied().filter(|byte| *byte < all.len()).collect();
            self.payload(Some((number, variable)), &inside);
        }
    }

    /// Bytes of the registers that a thread begins with.
    pub(super) fn payload_bytes(&self) -> usize {
        REGISTER + self.plan.variant.cross_thread as usize + self.plan.variant.per_thread.len() * HALF
    }

    /// The mask of all lanes.
    fn all_lanes(&self) -> Value {
        Value::int(I32, u64::from(u32::MAX >> (32 - self.plan.variant.simd_width)))
    }

    /// The place of the thread's own element in an array.
    fn element_at(&mut self, array: &Value, size: usize) -> Value {
        let wide = self.f.convert("zext", &self.thread.clone(), I64);
        let bytes = self.f.binary("mul", &wide, &Value::int(I64, size as u64));
        self.f.offset(array, &bytes)
    }

    /// Copies bytes of the payload to a variable, or to the register file.
    fn payload(&mut self, variable: Option<(usize, &Variable)>, bytes: &[usize]) {
        let affine = variable.is_some_and(|(number, _)| self.affine[number].is_some());
        for run in runs(bytes, REGISTER) {
            let to = match variable {
                Some((number, variable)) => {
                    self.f.at(&self.places[number].clone(), run.start - variable.start)
                }
                None => self.f.at(&self.file.clone(), run.start),
            };
            if self.patterned(&run, &to, affine) {
                continue;
            }
            let from = self.payload_source(run.start);
            // Scalars are copied one by one, so that each is a value of its own.
            let whole = run.end - run.start;
            let step = if whole % HALF == 0 { whole } else { 4.min(whole) };
            let mut at = 0;
            while at < whole {
                let size = step.min(whole - at);
                let source = self.f.at(&from, at);
                let value = self.f.load(copied(size), &source, "align 1, !tbaa !2, !invariant.load !5");
                let target = self.f.at(&to, at);
                self.f.store(&value, &target, FILE);
                at += size;
            }
        }
    }

    /// Where a byte of the payload is in memory.
    pub(super) fn payload_source(&mut self, byte: usize) -> Value {
        if byte < REGISTER {
            let headers = self.constant(POINTER, offset_of!(Frame, headers));
            let step = self.constant(I64, offset_of!(Frame, header_step));
            let number = self.f.convert("zext", &self.thread.clone(), I64);
            let bytes = self.f.binary("mul", &number, &step);
            let own = self.f.offset(&headers, &bytes);
            return self.f.at(&own, byte);
        }
        match self.own_constant(byte) {
            Some(offset) => {
                let own = self.constant(POINTER, offset_of!(Frame, per_thread));
                let own = self.element_at(&own, self.plan.variant.per_thread.len() * HALF);
                self.f.at(&own, offset)
            }
            None => {
                let before = if self.plan.variant.indirect_data {
                    self.plan.variant.per_thread.len() * HALF
                } else {
                    0
                };
                let all = self.constant(POINTER, offset_of!(Frame, cross_thread));
                self.f.at(&all, byte - REGISTER - before)
            }
        }
    }

    /// The offset in the thread's own constants of a byte of the payload behind the header; `None` in those of all threads.
    fn own_constant(&self, byte: usize) -> Option<usize> {
        let variant = self.plan.variant;
        let before = if variant.indirect_data { 0 } else { variant.cross_thread as usize };
        let offset = (byte - REGISTER).checked_sub(before)?;
        (offset < variant.per_thread.len() * HALF).then_some(offset)
    }

    /// Is a byte of the payload a constant of all threads?
    pub(super) fn is_cross_thread(&self, byte: usize) -> bool {
        let variant = self.plan.variant;
        let before = if variant.indirect_data { variant.per_thread.len() * HALF } else { 0 };
        byte.checked_sub(REGISTER + before).is_some_and(|offset| offset < variant.cross_thread as usize)
    }

    /// Whole half registers with a pattern are made of their first word.
    fn patterned(&mut self, run: &Run, to: &Value, affine: bool) -> bool {
        let halves = (run.end - run.start) / HALF;
        if run.start < REGISTER
            || !run.start.is_multiple_of(HALF)
            || !(run.end - run.start).is_multiple_of(HALF)
        {
            return false;
        }
        let Some(offset) = self.own_constant(run.start) else { return false };
        let patterns = &self.plan.variant.per_thread[offset / HALF..offset / HALF + halves];
        let lanes = halves as u32 * WORDS;
        let consecutive = match patterns {
            [Pattern::Uniform | Pattern::Repeats]
            | [Pattern::Uniform | Pattern::Repeats, Pattern::Repeats] => false,
            [Pattern::Consecutive | Pattern::Continues]
            | [Pattern::Consecutive | Pattern::Continues, Pattern::Continues] => true,
            _ => return false,
        };
        // One word says what all half registers have that go on from one to the next.
        let (begin, more) = hints::row_begin(self.plan, run.start);
        let from = self.payload_source(begin);
        let first = self.f.load(Ty::int(16, 1), &from, "align 1, !tbaa !2, !invariant.load !5");
        let first = self.f.binary("add nuw", &first, &Value::int(first.ty, u64::from(more)));
        if affine {
            self.f.store(&first, to, FILE);
            return true;
        }
        let mut words = self.f.splat(&first, lanes);
        if consecutive {
            let steps = Value::ints(words.ty, u64::from);
            words = self.f.binary("add nuw", &words, &steps);
        }
        self.f.store(&words, to, FILE);
        true
    }

    /// Stops until the barrier opens.
    pub(super) fn wait(&mut self, index: usize) {
        match self.flow.block_at(index + 1) {
            Some(block) => self.stop(block, 0),
            // Nothing can follow: the kernel's code ends here.
            None => self.f.jump(self.fault),
        }
    }

    /// At the beginning of a block, other threads have their turn when this one has come to such places often enough.
    pub(super) fn give_turn(&mut self, block: usize) {
        let place = self.rounds.clone();
        let rounds = self.dword(&place);
        let rounds = self.f.binary("sub", &rounds, &Value::int(I32, 1));
        self.f.store(&rounds, &place, FILE);
        let more = self.f.compare("icmp ne", &rounds, &Value::int(I32, 0));
        let [on, stop] = [(); 2].map(|()| self.f.label());
        self.f.branch_likely(&more, on, stop);
        self.f.begin(stop);
        self.stop(block, YIELD);
        self.f.begin(on);
    }

    /// Stops, to go on at the beginning of a block: the value returned says which one, with a bit that says why.
    fn stop(&mut self, block: usize, why: u32) {
        self.move_state(block, true);
        // Some block may be behind a wait and the header of a loop as well; both go on there.
        let number = self.flow.resumed().position(|resumed| resumed == block).map_or(0, |number| number + 1);
        self.f.ret(&Value::int(I32, number as u64 | u64::from(why)));
    }

    /// Where the thread keeps what its register file has no place for.
    fn kept_place(&mut self) -> Value {
        let all = self.constant(POINTER, offset_of!(Frame, saved));
        let bytes = self.kept_bytes();
        self.element_at(&all, bytes)
    }

    /// How much that is.
    pub(super) fn kept_bytes(&self) -> usize {
        WAITING + self.flow.targets.len() * 4
    }

    /// Copies everything that is live at the beginning of a block to the register file, or from there.
    fn move_state(&mut self, block: usize, save: bool) {
        let file = self.file.clone();
        let kept = self.kept_place();
        let mut dwords = Vec::new();
        for (flags, at) in self.flags.clone().into_iter().zip([FLAG, FLAG + 4]) {
            dwords.push((flags, self.f.at(&file, at)));
        }
        let parked = &self.flow.blocks[block].parked;
        let target = self.flow.target(block);
        let may_wait = |n: usize| parked.contains(n) || target == Some(n);
        if !self.plan.variant.full || (0..self.waiting.len()).any(may_wait) {
            dwords.push((self.active.clone(), self.f.at(&kept, ACTIVE)));
        } else if !save {
            let all = self.all_lanes();
            let active = self.active.clone();
            self.f.store(&all, &active, FILE);
        }
        for (n, place) in self.waiting.clone().iter().enumerate() {
            if may_wait(n) {
                dwords.push((place.clone(), self.f.at(&kept, WAITING + n * 4)));
            } else if !save {
                self.f.store(&Value::int(I32, 0), place, FILE);
            }
        }
        if self.plan.accumulators {
            for (place, at) in self.accumulator_places() {
                let file = self.f.at(&self.file.clone(), at);
                self.copy(I64, &place, &file, save);
            }
        }
        if self.plan.doubts.noted != 0 {
            let (place, at) = (self.written.clone(), self.f.at(&kept, WRITTEN));
            self.copy(REGISTERS, &place, &at, save);
        }
        for (place, at) in dwords {
            self.copy(I32, &place, &at, save);
        }
        let Some(variables) = &self.variables else { return };
        let live = variables.live[block].clone();
        let starts: Vec<usize> = variables.all.iter().map(|v| v.start).collect();
        let mut by_variable: std::collections::BTreeMap<usize, Vec<usize>> =
            std::collections::BTreeMap::new();
        for (variable, byte) in live {
            by_variable.entry(variable).or_default().push(byte);
        }
        for (variable, bytes) in by_variable {
            if let Some(Affine { size, .. }) = self.affine[variable] {
                let place = self.places[variable].clone();
                // Where its own bytes are: others of the same register may be another variable's.
                let file = self.f.at(&self.file.clone(), bytes[0]);
                self.copy(Ty::int(size as u32 * 8, 1), &place, &file, save);
                continue;
            }
            for run in runs(&bytes, usize::MAX) {
                let place = self.f.at(&self.places[variable].clone(), run.start - starts[variable]);
                let file = self.f.at(&self.file.clone(), run.start);
                let (from, to) = if save { (place, file) } else { (file, place) };
                let size = Value::int(I64, (run.end - run.start) as u64);
                self.f.intrinsic_line("memcpy", ".p0.p0.i64", &[&to, &from, &size, &Value::int(BIT, 0)]);
            }
        }
    }

    pub(super) fn copy(&mut self, ty: Ty, place: &Value, file: &Value, save: bool) {
        let (from, to) = if save { (place, file) } else { (file, place) };
        let value = self.f.load(ty, from, FILE);
        self.f.store(&value, to, FILE);
    }

    /// The value of a variable of 32 bits.
    pub(super) fn dword(&mut self, place: &Value) -> Value {
        self.f.load(I32, place, FILE)
    }
}
