//! Control flow: what `eu::flow` does, with the channels that wait at each target in a variable.

use gencl_eu::op::Branch;

use super::ssa::Variable;
use super::{Lift, THREAD_LANES};
use crate::middle::function::{Block, End, Target, Value};
use crate::middle::op::{Binary, Op, Relation};
use crate::middle::types::Type;

/// A mask of the thread's channels.
const CHANNELS: Type = Type::mask(THREAD_LANES);
/// How many more iterations a thread executes before it yields.
const ROUNDS: Type = Type::int(32, 1);

impl Lift<'_> {
    fn waiting(&mut self, target: usize) -> Value {
        self.read_variable(Variable::Waiting(target as u32), CHANNELS)
    }

    /// Enables the channels that wait at a target.
    pub fn enable_waiting(&mut self, target: usize) {
        let (active, waiting) = (self.active(), self.waiting(target));
        let all = self.builder.binary(Binary::Or, active, waiting);
        self.write_variable(Variable::Active, all);
        let none = self.builder.mask(THREAD_LANES, false);
        self.write_variable(Variable::Waiting(target as u32), none);
    }

    /// Lifts a branch, which ends a block.
    pub fn lift_branch(&mut self, index: usize, branch: Branch) {
        let op = &self.plan.ops[index];
        let next = index + 1;
        if let Branch::Jump(target) = branch {
            let (yes, no) = (self.block_at(target), self.block_at(next));
            let Some(predicate) = op.predicate else { return self.jump(yes) };
            let mask = self.predicate(index, predicate);
            let first = self.builder.slice(mask, 0, 1);
            return self.branch(first, yes, no);
        }
        let (first, lanes) = (usize::from(op.channel), usize::from(op.lanes));
        let own = self.builder.ints(CHANNELS, |channel| u64::from((first..first + lanes).contains(&channel)));
        let enabled = if op.no_mask {
            own
        } else {
            let active = self.active();
            self.builder.binary(Binary::And, active, own)
        };
        let taken = match op.predicate {
            Some(predicate) => {
                let mask = self.predicate(index, predicate);
                let none = self.builder.mask(1, false);
                let place = |channel: usize| {
                    if (first..first + lanes).contains(&channel) { channel - first } else { lanes }
                };
                let wide =
                    self.builder.shuffle(mask, Some(none), (0..THREAD_LANES).map(place).collect::<Vec<_>>());
                self.builder.binary(Binary::And, enabled, wide)
            }
            None => enabled,
        };
        match branch {
            Branch::If { jip } => {
                self.park_others(enabled, taken, jip);
                self.continue_or(next, jip);
            }
            Branch::Else { jip, uip } => {
                self.park(enabled, uip);
                self.continue_or(next, jip);
            }
            Branch::Join { jip } => self.continue_or(next, jip),
            Branch::While { jip } => self.repeat(enabled, taken, next, jip, next),
            // Where none takes it all wait at `jip`, where the thread goes: that is what being enabled there is.
            Branch::GotoBackward { jip, uip } => self.repeat(enabled, taken, jip, uip, jip),
            Branch::Leave { jip, uip } => {
                self.park(taken, uip);
                self.continue_or(next, jip);
            }
            Branch::GotoForward { jip, uip } => {
                self.park_others(enabled, taken, uip);
                self.continue_or(next, jip);
            }
            Branch::Diverge { jip } => {
                self.park(taken, jip);
                self.continue_or(next, jip);
            }
            // Kernels with these are refused (`crate::analysis::plan`).
            Branch::Jump(_) | Branch::JumpIndirect | Branch::Call { .. } | Branch::Return => {
                self.jump(self.fault)
            }
        }
    }

    /// Sends channels to wait at an instruction.
    fn park(&mut self, channels: Value, at: usize) {
        let active = self.active();
        let others = self.builder.not(channels);
        let left = self.builder.binary(Binary::And, active, others);
        self.write_variable(Variable::Active, left);
        // A thread that never gets to a place never enables what waits there.
        if let Some(target) = self.flow.block_at(at).and_then(|block| self.flow.target(block)) {
            let waiting = self.waiting(target);
            let all = self.builder.binary(Binary::Or, waiting, channels);
            self.write_variable(Variable::Waiting(target as u32), all);
        }
    }

    fn park_others(&mut self, enabled: Value, taken: Value, at: usize) {
        let not_taken = self.builder.not(taken);
        let others = self.builder.binary(Binary::And, enabled, not_taken);
        self.park(others, at);
    }

    /// Goes on with the next instruction if a channel is enabled there, else to `jip`.
    fn continue_or(&mut self, next: usize, jip: usize) {
        let (yes, no) = (self.block_at(next), self.block_at(jip));
        if next == jip {
            return self.jump(yes);
        }
        let mut any = self.active();
        if let Some(target) = self.flow.block_at(next).and_then(|block| self.flow.target(block)) {
            let waiting = self.waiting(target);
            any = self.builder.binary(Binary::Or, any, waiting);
        }
        let some = self.builder.any(any);
        self.branch(some, yes, no);
    }

    /// A branch back: if a channel takes it, the others wait at `wait` and the thread jumps to `back`, else to `on`.
    fn repeat(&mut self, enabled: Value, taken: Value, wait: usize, back: usize, on: usize) {
        let (again, done) = (self.add_block(), self.block_at(on));
        let some = self.builder.any(taken);
        self.branch(some, again, done);
        self.begin_sealed(again);
        self.park_others(enabled, taken, wait);
        self.jump(self.block_at(back));
    }

    /// In loops: whether the launch has been cancelled.
    pub fn stop_if_cancelled(&mut self) {
        let cancelled = self.builder.effect(Op::Cancelled, &[], &[Type::mask(1)])[0];
        let on = self.add_block();
        self.branch(cancelled, self.fault, on);
        self.begin_sealed(on);
    }

    /// Stops until the barrier opens.
    pub fn wait(&mut self, index: usize) {
        // Behind one, something always follows (`crate::analysis::flow`).
        let number = self.flow.waits.iter().position(|block| self.flow.blocks[*block].start == index + 1);
        let Some(number) = number else { return self.jump(self.fault) };
        let resumed = self.stop(number, false);
        self.begin_sealed(resumed);
        self.restart_rounds();
        self.jump(self.block_at(index + 1));
    }

    /// At the beginning of a block, yields when the thread has executed enough iterations.
    pub fn give_turn(&mut self, number: usize) {
        let rounds = self.read_variable(Variable::Rounds, ROUNDS);
        let one = self.builder.int(ROUNDS, 1);
        let rounds = self.builder.binary(Binary::Sub, rounds, one);
        self.write_variable(Variable::Rounds, rounds);
        let none = self.builder.int(ROUNDS, 0);
        let more = self.builder.compare(Relation::Ne, rounds, none);
        let [on, stop] = [(); 2].map(|()| self.add_block());
        self.branch(more, on, stop);
        self.begin_sealed(stop);
        let resumed = self.stop(number, true);
        self.begin_sealed(resumed);
        self.restart_rounds();
        self.jump(on);
        self.begin_sealed(on);
    }

    /// Ends a block where the thread is suspended; the block where it is resumed.
    fn stop(&mut self, number: usize, yields: bool) -> Block {
        let resumed = self.builder.function.resumed[number];
        self.end(End::Suspend { resume: Target { block: resumed, arguments: Vec::new() }, yields });
        resumed
    }

    /// A thread that begins or is resumed has all of its iterations before it yields.
    pub fn restart_rounds(&mut self) {
        let rounds = self.builder.int(ROUNDS, u64::from(self.rounds));
        self.write_variable(Variable::Rounds, rounds);
    }
}
