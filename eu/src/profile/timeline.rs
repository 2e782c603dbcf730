//! When a thread that is alone on its EU would execute its instructions.
//!
//! A thread issues in order. An instruction waits until what it reads and what it overwrites has been
//! written, and until messages have taken what it overwrites. The same method, on registers instead of
//! blocks, as Mesa's `brw_ir_performance.cpp`.

use super::dependencies::{ADDRESS_REGISTER, ARCHITECTURE_REGISTERS, FIRST_ACCUMULATOR, Needs};
use crate::cycles::PAYLOAD_READ;
use crate::file::GRF_COUNT;

/// When a register can be used, and which instruction decides that.
#[derive(Clone, Copy, Debug, Default)]
struct Ready {
    at: u64,
    by: usize,
}

/// One thread's time, in EU clocks from its beginning.
pub struct Timeline {
    clock: u64,
    /// When general registers have been written.
    written: [Ready; GRF_COUNT],
    /// When messages have taken general registers.
    taken: [Ready; GRF_COUNT],
    /// When architecture registers have been written.
    architecture: [Ready; ARCHITECTURE_REGISTERS],
    /// When the data port has done its last message.
    port_free: u64,
}

impl Default for Timeline {
    fn default() -> Timeline {
        Timeline {
            clock: 0,
            written: [Ready::default(); GRF_COUNT],
            taken: [Ready::default(); GRF_COUNT],
            architecture: [Ready::default(); ARCHITECTURE_REGISTERS],
            port_free: 0,
        }
    }
}

/// An instruction to be issued.
#[derive(Clone, Copy, Debug)]
pub struct Issue {
    /// Its index.
    pub index: usize,
    /// What it reads, writes and costs.
    pub needs: Needs,
    /// Something else that it waits for.
    pub not_before: u64,
    /// Clocks until a message's response.
    pub latency: Option<u32>,
    /// Clocks of a message at the data port.
    pub port: u32,
    /// Registers of a message's payload.
    pub payload: u32,
}

impl Issue {
    /// An instruction that is no message and waits for registers only.
    pub fn new(index: usize, needs: Needs) -> Issue {
        Issue { index, needs, not_before: 0, latency: None, port: 0, payload: 0 }
    }
}

/// What was waited for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wait {
    /// Clocks.
    pub clocks: u64,
    /// The instruction whose result came last.
    pub culprit: Option<usize>,
}

/// The bits of a set of general registers.
fn registers(mut set: u128) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let register = set.trailing_zeros() as usize;
        set &= set.wrapping_sub(1);
        (register < GRF_COUNT).then_some(register)
    })
}

/// The bits of a set of architecture registers.
fn architecture(set: u8) -> impl Iterator<Item = usize> {
    (0..ARCHITECTURE_REGISTERS).filter(move |n| set >> n & 1 != 0)
}

impl Timeline {
    /// Clocks since the thread's beginning.
    pub fn clock(&self) -> u64 {
        self.clock
    }

    /// Executes an instruction and says how long it had to wait.
    pub fn issue(&mut self, issue: &Issue) -> Wait {
        let Issue { index, needs, .. } = *issue;
        let last = registers(needs.reads | needs.writes)
            .map(|r| self.written[r])
            .chain(registers(needs.writes).map(|r| self.taken[r]))
            .chain(architecture(needs.arf_reads | needs.arf_writes).map(|r| self.architecture[r]))
            .max_by_key(|ready| ready.at)
            .unwrap_or_default();
        let mut wait = Wait::default();
        let begin = self.clock.max(last.at).max(issue.not_before);
        if begin > self.clock {
            wait.clocks = begin - self.clock;
            wait.culprit = (last.at == begin).then_some(last.by);
        }
        self.clock = begin + u64::from(needs.cost.issue);
        let mut result = self.clock + u64::from(needs.cost.result);
        if let Some(latency) = issue.latency {
            let service = self.clock.max(self.port_free);
            self.port_free = service + u64::from(issue.port);
            result = service + u64::from(issue.port.saturating_sub(1)) + u64::from(latency);
            let taken = begin + u64::from(PAYLOAD_READ + issue.payload.saturating_sub(1));
            registers(needs.reads).for_each(|r| self.taken[r] = Ready { at: taken, by: index });
        }
        registers(needs.writes).for_each(|r| self.written[r] = Ready { at: result, by: index });
        for register in architecture(needs.arf_writes) {
            let later = match register {
                ADDRESS_REGISTER => needs.cost.result,
                FIRST_ACCUMULATOR.. => needs.cost.accumulator,
                _ => needs.cost.flag,
            };
            self.architecture[register] = Ready { at: self.clock + u64::from(later), by: index };
        }
        wait
    }
}
