//! The issue times of the instructions of a thread that is alone on its EU.
//!
//! A thread issues in order. An instruction waits for its read-after-write and write-after-write dependences,
//! and for messages that have not yet read the registers that it overwrites. It is the method of Mesa's
//! `brw_ir_performance.cpp`, applied to registers instead of blocks.

use super::dependencies::{ADDRESS_REGISTER, ARCHITECTURE_REGISTERS, Dependencies, FIRST_ACCUMULATOR};
use crate::cycles::PAYLOAD_READ;
use crate::file::GRF_COUNT;

/// The time when a register can be used, and the instruction that it depends on.
#[derive(Clone, Copy, Debug, Default)]
struct Ready {
    at: u64,
    by: usize,
}

/// The state of one thread's timeline, in EU clocks from its beginning.
pub struct Timeline {
    clock: u64,
    /// When general registers have been written.
    written: [Ready; GRF_COUNT],
    /// When messages have read general registers as their payload.
    taken: [Ready; GRF_COUNT],
    /// When architecture registers have been written.
    architecture: [Ready; ARCHITECTURE_REGISTERS],
    /// When the data port has completed its last message.
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
    /// Its registers and cost.
    pub dependencies: Dependencies,
    /// Earliest time for reasons other than registers.
    pub not_before: u64,
    /// For messages: the latency of the response.
    pub latency: Option<u32>,
    /// For messages: clocks at the data port.
    pub port: u32,
    /// For messages: registers of the payload.
    pub payload: u32,
}

impl Issue {
    /// An instruction that is no message and only waits for registers.
    pub fn new(index: usize, dependencies: Dependencies) -> Issue {
        Issue { index, dependencies, not_before: 0, latency: None, port: 0, payload: 0 }
    }
}

/// How long an instruction waited, and for which one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wait {
    /// Clocks.
    pub clocks: u64,
    /// The instruction whose result was available last.
    pub producer: Option<usize>,
}

/// The elements of a bit set of general registers.
fn registers(mut set: u128) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let register = set.trailing_zeros() as usize;
        set &= set.wrapping_sub(1);
        (register < GRF_COUNT).then_some(register)
    })
}

/// The elements of a bit set of architecture registers.
fn architecture(set: u8) -> impl Iterator<Item = usize> {
    (0..ARCHITECTURE_REGISTERS).filter(move |n| set >> n & 1 != 0)
}

impl Timeline {
    /// Clocks since the thread's beginning.
    pub fn clock(&self) -> u64 {
        self.clock
    }

    /// Issues an instruction, and returns how long it had to wait.
    pub fn issue(&mut self, issue: &Issue) -> Wait {
        let Issue { index, dependencies, .. } = *issue;
        let last = registers(dependencies.reads | dependencies.writes)
            .map(|r| self.written[r])
            .chain(registers(dependencies.writes).map(|r| self.taken[r]))
            .chain(
                architecture(dependencies.arf_reads | dependencies.arf_writes).map(|r| self.architecture[r]),
            )
            .max_by_key(|ready| ready.at)
            .unwrap_or_default();
        let mut wait = Wait::default();
        let begin = self.clock.max(last.at).max(issue.not_before);
        if begin > self.clock {
            wait.clocks = begin - self.clock;
            wait.producer = (last.at == begin).then_some(last.by);
        }
        self.clock = begin + u64::from(dependencies.cost.issue);
        let mut result = self.clock + u64::from(dependencies.cost.result);
        if let Some(latency) = issue.latency {
            let service = self.clock.max(self.port_free);
            self.port_free = service + u64::from(issue.port);
            result = service + u64::from(issue.port.saturating_sub(1)) + u64::from(latency);
            let taken = begin + u64::from(PAYLOAD_READ + issue.payload.saturating_sub(1));
            registers(dependencies.reads).for_each(|r| self.taken[r] = Ready { at: taken, by: index });
        }
        registers(dependencies.writes).for_each(|r| self.written[r] = Ready { at: result, by: index });
        for register in architecture(dependencies.arf_writes) {
            let later = match register {
                ADDRESS_REGISTER => dependencies.cost.result,
                FIRST_ACCUMULATOR.. => dependencies.cost.accumulator,
                _ => dependencies.cost.flag,
            };
            self.architecture[register] = Ready { at: self.clock + u64::from(later), by: index };
        }
        wait
    }
}
