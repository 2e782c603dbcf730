//! Memory of the lanes' own in loops that are executed lane by lane (`crate::own`): the thread's scratch memory.
//!
//! What a loop has written has to be as it was before when the loop begins anew or all lanes execute it together. So that memory is kept
//! aside when the loop begins. It is the thread's alone, and no longer than [`crate::own::MOST_SCRATCH`].

use super::memory::{how, mark};
use super::serial::Shared;
use super::{Emitter, FILE};
use crate::ir::{I32, I64, Label, POINTER, Ty, Value};
use crate::message::{Lanes, Memory};
use crate::own::Own;
use crate::serial::Serial;

/// The byte of a thread's payload with the pointer to its scratch memory.
const POINTER_IN_PAYLOAD: usize = 20;

/// Bytes that are kept aside at once; scratch memory is a multiple of it.
const STEP: u64 = 64;

/// So often a loop begins anew with other windows.
const ATTEMPTS: u64 = 4;

/// The thread's scratch memory while a loop writes to it, and all that is as it was before when the loop begins anew.
pub(super) struct Scratch {
    /// The first address.
    start: Value,
    /// Where that is.
    host: Value,
    /// Where its contents are kept.
    aside: Value,
    /// Where flags are kept.
    flags: [Value; 2],
    /// Where the number of attempts is kept that are left.
    attempts: Value,
    /// Where the place of bases among the lanes' is kept, with a bit that says that it is known.
    residue: Value,
}

/// A bit that no residue has.
const KNOWN: u64 = 1 << 32;

impl Emitter<'_> {
    /// Finds the thread's scratch memory, and keeps what is there. If it is nowhere, all lanes execute the loop `together`.
    pub(super) fn scratch(&mut self, together: Label) -> Scratch {
        let at = self.payload_source(POINTER_IN_PAYLOAD);
        let pointer = self.f.load(I32, &at, "align 4, !tbaa !2, !invariant.load !5");
        let start = self.start_of_scratch(&pointer);
        let window = self.window_of_scratch();
        let bytes = self.plan.variant.scratch as usize;
        let host = self.f.variable(8);
        let [found, missing] = [(); 2].map(|()| self.f.label());
        for otherwise in [missing, together] {
            let reach = self.reach_of(window);
            let offset = self.f.binary("sub", &start, &reach.start);
            let inside = self.inside(&reach, &offset, bytes);
            let own = self.f.offset(&reach.host, &offset);
            self.f.store(&own, &host, FILE);
            self.f.branch_likely(&inside, found, otherwise);
            if otherwise == missing {
                self.f.begin(missing);
                self.find(window, &start);
            }
        }
        self.f.begin(found);
        let host = self.f.load(POINTER, &host, FILE);
        let aside = self.f.variable(bytes);
        self.copy_scratch(&host, &aside);
        let flags = [0, 1].map(|n| {
            let (own, kept) = (self.flags[n].clone(), self.f.variable(4));
            let value = self.dword(&own);
            self.f.store(&value, &kept, FILE);
            kept
        });
        let attempts = self.f.variable(4);
        self.f.store(&Value::int(I32, ATTEMPTS), &attempts, FILE);
        let residue = self.f.variable(8);
        Scratch { start, host, aside, flags, attempts, residue }
    }

    /// Copies the thread's scratch memory.
    fn copy_scratch(&mut self, from: &Value, to: &Value) {
        let at = self.f.variable(8);
        self.f.store(&Value::int(I64, 0), &at, FILE);
        let [next, done] = [(); 2].map(|()| self.f.label());
        self.f.begin(next);
        let offset = self.f.load(I64, &at, FILE);
        let how = format!("align 4, {}", mark(Memory::Global));
        let [from, to] = [from, to].map(|base| self.f.offset(base, &offset));
        let bytes = self.f.load(Ty::int(32, STEP as u32 / 4), &from, &how);
        self.f.store(&bytes, &to, &how);
        let offset = self.f.binary("add", &offset, &Value::int(I64, STEP));
        self.f.store(&offset, &at, FILE);
        let more = self.f.compare("icmp ult", &offset, &Value::int(I64, self.plan.variant.scratch.into()));
        self.f.branch(&more, next, done);
        self.f.begin(done);
    }

    /// Makes all as it was before the loop.
    pub(super) fn undo(&mut self, scratch: &Scratch) {
        self.copy_scratch(&scratch.aside, &scratch.host);
        for (n, kept) in scratch.flags.iter().enumerate() {
            let (value, own) = (self.dword(kept), self.flags[n].clone());
            self.f.store(&value, &own, FILE);
        }
    }

    /// Goes to one label while there are attempts left, to the other then.
    pub(super) fn attempt(&mut self, scratch: &Scratch, again: Label, otherwise: Label) {
        let left = self.dword(&scratch.attempts);
        let less = self.f.binary("sub", &left, &Value::int(I32, 1));
        self.f.store(&less, &scratch.attempts, FILE);
        let more = self.f.compare("icmp ne", &less, &Value::int(I32, 0));
        self.f.branch(&more, again, otherwise);
    }

    /// Goes to `otherwise` where one of the other reads' windows has to do with the scratch memory. A buffer is in an address space once (`DRM_IOCTL_I915_GEM_EXECBUFFER2`
    /// refuses the same object twice).
    pub(super) fn others_are_elsewhere(&mut self, scratch: &Scratch, shared: &Shared, otherwise: Label) {
        self.f.store(&Value::int(I64, 0), &scratch.residue, FILE);
        for (index, known) in &shared.windows {
            let span = self.message_of_lanes(*index).map_or(1, Lanes::span);
            let [start, limit] = [&known.start, &known.limit].map(|place| self.f.load(I64, place, FILE));
            let bytes = self.f.binary("add", &limit, &Value::int(I64, span as u64 - 1));
            let [before, behind] =
                [self.f.binary("sub", &scratch.start, &start), self.f.binary("sub", &start, &scratch.start)];
            let own = Value::int(I64, self.plan.variant.scratch.into());
            let [a, b] =
                [self.f.compare("icmp uge", &before, &bytes), self.f.compare("icmp uge", &behind, &own)];
            let apart = self.f.binary("and", &a, &b);
            let on = self.f.label();
            self.f.branch_likely(&apart, on, otherwise);
            self.f.begin(on);
        }
    }

    /// Goes to the slow way of the lane if its bases are not among those of the lanes before where steps from lane to lane would have them.
    pub(super) fn look_at_bases(&mut self, serial: &Serial, scratch: &Scratch, part: u32, lane: &Value) {
        let mut all: Vec<Own> =
            serial.own.iter().filter(|((_, channel), _)| *channel == part).map(|(_, own)| *own).collect();
        all.sort_unstable_by_key(|own| own.base);
        all.dedup();
        let number = self.f.resize(lane, 64, false);
        for own in all {
            let Some(base) = self.base(&own) else { continue };
            let steps = self.f.binary("mul", &number, &Value::int(I64, own.step.into()));
            let first = self.f.binary("sub", &base, &steps);
            let residue = self.f.binary("and", &first, &Value::int(I64, u64::from(own.modulus) - 1));
            let residue = self.f.binary("or", &residue, &Value::int(I64, KNOWN));
            let known = self.f.load(I64, &scratch.residue, FILE);
            let [none, same] = [
                self.f.compare("icmp eq", &known, &Value::int(I64, 0)),
                self.f.compare("icmp eq", &known, &residue),
            ];
            let holds = self.f.binary("or", &none, &same);
            self.f.store(&residue, &scratch.residue, FILE);
            self.or_slow(&holds);
        }
    }

    /// Goes on where a condition holds.
    fn or_slow(&mut self, holds: &Value) {
        let on = self.f.label();
        let slow = self.lane.as_ref().map_or(self.fault, |lane| lane.slow);
        self.f.branch_likely(holds, on, slow);
        self.f.begin(on);
    }

    /// A lane's base.
    fn base(&mut self, own: &Own) -> Option<Value> {
        let place = self.lane.as_ref()?.columns.get(&own.base)?.clone();
        let base = self.f.load(Ty::int(own.base.size as u32 * 8, 1), &place, FILE);
        Some(self.f.resize(&base, 64, false))
    }

    /// A message of the lane to its own memory.
    pub(super) fn lane_own(&mut self, scratch: &Scratch, index: usize, message: &Lanes, own: &Own) {
        let (Some(place), Some(base)) = (self.lane_use(index, 0), self.base(own)) else { return };
        let address = self.f.load(Ty::int(message.memory.address_size() as u32 * 8, 1), &place, FILE);
        let address = self.f.resize(&address, 64, false);
        let span = message.span() as u64;
        let distance = self.f.binary("sub", &address, &base);
        let within = self.f.binary("and", &distance, &Value::int(I64, u64::from(own.modulus) - 1));
        let is_own = self.f.compare("icmp ule", &within, &Value::int(I64, u64::from(own.step) - span));
        let offset = self.f.binary("sub", &address, &scratch.start);
        let end = u64::from(self.plan.variant.scratch) - (span - 1);
        let inside = self.f.compare("icmp ult", &offset, &Value::int(I64, end));
        let holds = self.f.binary("and", &is_own, &inside);
        let aligned = self.aligned(&address, message.alignment);
        let holds = self.both(&holds, aligned.as_ref());
        self.or_slow(&holds);
        let at = self.f.offset(&scratch.host, &offset);
        if !message.write {
            let values = self.components_at(message, &at);
            return values.iter().enumerate().for_each(|(k, value)| self.write(index, k, value, None));
        }
        let how = how(message);
        for (k, (inner, _)) in message.components.iter().enumerate() {
            let Some(place) = self.lane_use(index, k + 1) else { continue };
            let value = self.f.load(Ty::int(message.slot as u32 * 8, 1), &place, FILE);
            let value = self.f.resize(&value, message.size as u32 * 8, false);
            let at = self.f.at(&at, *inner);
            self.f.store(&value, &at, &how);
        }
    }
}
