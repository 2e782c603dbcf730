//! Control flow: what `eu::flow` does, with the channels that wait at each target in a variable.

use gencl_eu::op::Branch;

use super::{Emitter, FILE};
use crate::ir::{I32, Label, Value};

impl Emitter<'_> {
    /// Enables the channels that wait at a target.
    pub(super) fn enable_waiting(&mut self, target: usize) {
        let (place, active) = (self.waiting[target].clone(), self.active.clone());
        let [waiting, enabled] = [self.dword(&place), self.dword(&active)];
        let all = self.f.binary("or", &enabled, &waiting);
        self.f.store(&all, &active, FILE);
        self.f.store(&Value::int(I32, 0), &place, FILE);
    }

    fn label_at(&self, index: usize) -> Label {
        self.flow.block_at(index).map_or(self.fault, |block| self.labels[block])
    }

    /// Writes a branch.
    pub(super) fn branch(&mut self, index: usize, branch: Branch) {
        let op = &self.plan.ops[index];
        let next = index + 1;
        if let Branch::Jump(target) = branch {
            let (yes, no) = (self.label_at(target), self.label_at(next));
            let Some(predicate) = op.predicate else {
                self.f.jump(yes);
                return;
            };
            let bits = self.predicate(index, predicate);
            let first = self.f.convert("trunc", &bits, crate::ir::BIT);
            self.f.branch(&first, yes, no);
            return;
        }
        let enabled = self.all_enabled(index);
        let taken = match op.predicate {
            Some(predicate) => {
                let bits = self.predicate(index, predicate);
                let wide = self.placed(&bits, op.channel);
                self.f.binary("and", &enabled, &wide)
            }
            None => enabled.clone(),
        };
        match branch {
            Branch::If { jip } => {
                self.park_others(&enabled, &taken, jip);
                self.continue_or(next, jip);
            }
            Branch::Else { jip, uip } => {
                self.park(&enabled, uip);
                self.continue_or(next, jip);
            }
            Branch::Join { jip } => self.continue_or(next, jip),
            Branch::While { jip } => self.repeat(&enabled, &taken, next, jip, next),
            Branch::GotoBackward { jip, uip } => {
                // Where none takes it all wait at `jip`, where the thread goes: that is what being enabled there is.
                self.repeat(&enabled, &taken, jip, uip, jip);
            }
            Branch::Leave { jip, uip } => {
                self.park(&taken, uip);
                self.continue_or(next, jip);
            }
            Branch::GotoForward { jip, uip } => {
                self.park_others(&enabled, &taken, uip);
                self.continue_or(next, jip);
            }
            Branch::Diverge { jip } => {
                self.park(&taken, jip);
                self.continue_or(next, jip);
            }
            Branch::Jump(_) | Branch::JumpIndirect | Branch::Call { .. } | Branch::Return => {}
        }
    }

    /// The enabled channels of a branch, as bits of the thread's channels.
    fn all_enabled(&mut self, index: usize) -> Value {
        let op = &self.plan.ops[index];
        let own = u64::from(u32::MAX >> (32 - u32::from(op.lanes))) << op.channel;
        if op.no_mask {
            return Value::int(I32, own);
        }
        let place = self.active.clone();
        let active = self.dword(&place);
        if own == u64::from(u32::MAX) {
            return active;
        }
        self.f.binary("and", &active, &Value::int(I32, own))
    }

    /// An instruction's channels as bits of the thread's.
    fn placed(&mut self, bits: &Value, channel: u8) -> Value {
        let wide = self.f.convert("zext", bits, I32);
        match channel {
            0 => wide,
            _ => self.f.binary("shl", &wide, &Value::int(I32, u64::from(channel))),
        }
    }

    /// Sends channels to wait at an instruction.
    fn park(&mut self, channels: &Value, at: usize) {
        let ones = Value::int(I32, u64::MAX);
        let others = self.f.binary("xor", channels, &ones);
        let place = self.active.clone();
        let active = self.dword(&place);
        let left = self.f.binary("and", &active, &others);
        self.f.store(&left, &place, FILE);
        self.wait_at(at, channels);
    }

    /// Has channels that are not enabled wait at an instruction.
    pub(super) fn wait_at(&mut self, at: usize, channels: &Value) {
        let target = self.flow.block_at(at).and_then(|block| self.flow.target(block));
        // A thread that never gets to a place never enables what waits there.
        if let Some(target) = target {
            let place = self.waiting[target].clone();
            let waiting = self.dword(&place);
            let more = self.f.binary("or", &waiting, channels);
            self.f.store(&more, &place, FILE);
        }
    }

    fn park_others(&mut self, enabled: &Value, taken: &Value, at: usize) {
        let ones = Value::int(I32, u64::MAX);
        let not_taken = self.f.binary("xor", taken, &ones);
        let others = self.f.binary("and", enabled, &not_taken);
        self.park(&others, at);
    }

    /// Goes on with the next instruction if a channel is enabled there, else to `jip`.
    fn continue_or(&mut self, next: usize, jip: usize) {
        let (yes, no) = (self.label_at(next), self.label_at(jip));
        if next == jip {
            self.f.jump(yes);
            return;
        }
        let place = self.active.clone();
        let mut any = self.dword(&place);
        if let Some(target) = self.flow.block_at(next).and_then(|block| self.flow.target(block)) {
            let place = self.waiting[target].clone();
            let waiting = self.dword(&place);
            any = self.f.binary("or", &any, &waiting);
        }
        let some = self.f.compare("icmp ne", &any, &Value::int(I32, 0));
        self.f.branch(&some, yes, no);
    }

    /// A branch back: if a channel takes it, the others wait at `wait` and the thread goes `back`, else it goes on at `on`.
    fn repeat(&mut self, enabled: &Value, taken: &Value, wait: usize, back: usize, on: usize) {
        let (again, done) = (self.f.label(), self.label_at(on));
        let some = self.f.compare("icmp ne", taken, &Value::int(I32, 0));
        self.f.branch(&some, again, done);
        self.f.begin(again);
        self.park_others(enabled, taken, wait);
        let back = self.label_at(back);
        self.f.jump(back);
    }
}
