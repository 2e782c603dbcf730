//! What a thread notes of the registers that it has written, where it is not certain that all are which it reads.

use std::mem::offset_of;
use std::ops::Range;

use gencl_eu::abi::Frame;
use gencl_eu::file::grf_mask;
use gencl_eu::op::Action;

use super::{Emitter, FILE, FRAME};
use crate::ir::{BIT, Ty, Value};
use crate::written::moved;

/// A set of general registers.
pub(super) const REGISTERS: Ty = Ty::int(128, 1);

fn constant(registers: u128) -> Value {
    Value::signed(REGISTERS, registers as i128)
}

impl Emitter<'_> {
    /// Has any of some instructions to be looked at when it is executed?
    pub(super) fn has_doubts(&self, instructions: &Range<usize>) -> bool {
        self.plan.doubts.reads.range(instructions.clone()).next().is_some()
    }

    /// What a thread begins with has been written.
    pub(super) fn begin_written(&mut self) {
        if self.plan.doubts.noted != 0 {
            let (place, payload) = (self.written.clone(), grf_mask(0, self.payload_bytes()));
            self.f.store(&constant(payload), &place, FILE);
        }
    }

    /// In front of an instruction: if it reads registers that have not been written, the interpreter says so.
    pub(super) fn look_for_unwritten(&mut self, index: usize) {
        let op = &self.plan.ops[index];
        let Some(read) = self.plan.doubts.reads.get(&index).filter(|_| op.copies_by.is_none()) else {
            return;
        };
        let place = self.written.clone();
        let written = self.f.load(REGISTERS, &place, FILE);
        let others = self.f.binary("xor", &written, &constant(u128::MAX));
        let missing = self.f.binary("and", &others, &constant(*read));
        let mut fine = self.f.compare("icmp eq", &missing, &constant(0));
        let ends = matches!(&op.action, Action::Message(message) if message.end_of_thread);
        if !ends && let Some(nobody) = self.nobody(index) {
            fine = self.f.binary("or", &fine, &nobody);
        }
        let [on, found] = [(); 2].map(|()| self.f.label());
        self.f.branch_likely(&fine, on, found);
        self.f.begin(found);
        let told = self.f.at(&self.frame.clone(), offset_of!(Frame, unwritten));
        self.f.store(&missing, &told, FRAME);
        self.store_flags();
        self.execute_rarely(index);
        self.f.jump(on);
        self.f.begin(on);
    }

    /// Behind an instruction: what it has written, whether for a channel or not. Of what it has copied that depends on what was there.
    pub(super) fn note_written(&mut self, index: usize) {
        let (op, doubts) = (&self.plan.ops[index], &self.plan.doubts);
        let writes = op.writes & doubts.noted;
        if writes == 0 {
            return;
        }
        let place = self.written.clone();
        let before = self.f.load(REGISTERS, &place, FILE);
        let (Some(distance), Some(read)) = (op.copies_by, doubts.reads.get(&index)) else {
            let all = self.f.binary("or", &before, &constant(writes));
            self.f.store(&all, &place, FILE);
            return;
        };
        let in_doubt = moved(*read, distance) & writes;
        let there = self.f.binary("and", &before, &constant(moved(in_doubt, -distance)));
        let far = constant(u128::from(distance.unsigned_abs()));
        let mut copied = self.f.binary(if distance >= 0 { "shl" } else { "lshr" }, &there, &far);
        if let Some(nobody) = self.nobody(index) {
            copied = self.f.select(&nobody, &constant(in_doubt), &copied);
        }
        let all = self.f.binary("or", &before, &constant(writes & !in_doubt));
        let all = self.f.binary("or", &all, &copied);
        self.f.store(&all, &place, FILE);
    }

    /// Is an instruction executed for no channel? `None`: never.
    fn nobody(&mut self, index: usize) -> Option<Value> {
        let mask = self.mask(index)?;
        let none = self.f.compare("icmp eq", &mask, &Value::int(mask.ty, 0));
        debug_assert_eq!(none.ty, BIT);
        Some(none)
    }
}
