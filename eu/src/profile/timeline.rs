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
pub struct Ready {
    /// Clock of the timeline.
    pub at: u64,
    /// Index of the instruction.
    pub by: usize,
}

/// When each of up to 128 registers can be used.
struct Scoreboard<const REGISTERS: usize> {
    ready: [Ready; REGISTERS],
    /// Those that no instruction has waited for since they were last set; all others can be used.
    pending: u128,
}

impl<const REGISTERS: usize> Scoreboard<REGISTERS> {
    fn new() -> Self {
        Scoreboard { ready: [Ready::default(); REGISTERS], pending: 0 }
    }

    fn set(&mut self, registers: u128, ready: Ready) {
        self.pending |= registers;
        elements(registers).for_each(|register| self.ready[register] = ready);
    }

    /// The later of `last` and the last of registers that the next instruction waits for.
    fn wait_for(&mut self, registers: u128, last: Ready) -> Ready {
        let pending = self.pending & registers;
        self.pending &= !registers;
        elements(pending)
            .map(|register| self.ready[register])
            .fold(last, |last, ready| if ready.at >= last.at { ready } else { last })
    }
}

/// The state of one thread's timeline, in EU clocks from its beginning.
pub struct Timeline {
    clock: u64,
    /// When general registers have been written.
    written: Scoreboard<GRF_COUNT>,
    /// When messages have read general registers as their payload.
    taken: Scoreboard<GRF_COUNT>,
    /// When architecture registers have been written.
    architecture: Scoreboard<ARCHITECTURE_REGISTERS>,
    /// When the data port has completed its last message.
    port_free: u64,
    /// The barrier message that the thread sent last.
    pub barrier: usize,
}

impl Default for Timeline {
    fn default() -> Timeline {
        Timeline {
            clock: 0,
            written: Scoreboard::new(),
            taken: Scoreboard::new(),
            architecture: Scoreboard::new(),
            port_free: 0,
            barrier: 0,
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
    /// Earliest time for reasons other than registers, and the instruction that is the reason.
    pub not_before: Ready,
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
        Issue { index, dependencies, not_before: Ready::default(), latency: None, port: 0, payload: 0 }
    }
}

/// How long an instruction waited, and for which one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// Clocks.
    pub clocks: u64,
    /// The instruction whose result was available last.
    pub producer: usize,
}

/// The elements of a bit set.
fn elements(mut set: u128) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let element = set.trailing_zeros() as usize;
        set &= set.wrapping_sub(1);
        (element < u128::BITS as usize).then_some(element)
    })
}

impl Timeline {
    /// Clocks since the thread's beginning.
    pub fn clock(&self) -> u64 {
        self.clock
    }

    /// Issues an instruction, and returns how long it had to wait, if it had to.
    pub fn issue(&mut self, issue: &Issue) -> Option<Wait> {
        let Issue { index, dependencies, .. } = issue;
        let last = self.written.wait_for(dependencies.reads | dependencies.writes, issue.not_before);
        let last = self.taken.wait_for(dependencies.writes, last);
        let architecture = u128::from(dependencies.arf_reads | dependencies.arf_writes);
        let last = self.architecture.wait_for(architecture, last);
        let wait = (last.at > self.clock).then(|| Wait { clocks: last.at - self.clock, producer: last.by });
        let begin = self.clock.max(last.at);
        self.clock = begin + u64::from(dependencies.cost.issue);
        let by = *index;
        let mut result = self.clock + u64::from(dependencies.cost.result);
        if let Some(latency) = issue.latency {
            let service = self.clock.max(self.port_free);
            self.port_free = service + u64::from(issue.port);
            result = service + u64::from(issue.port.saturating_sub(1)) + u64::from(latency);
            let taken = begin + u64::from(PAYLOAD_READ + issue.payload.saturating_sub(1));
            self.taken.set(dependencies.reads, Ready { at: taken, by });
        }
        self.written.set(dependencies.writes, Ready { at: result, by });
        for register in elements(u128::from(dependencies.arf_writes)) {
            let later = match register {
                ADDRESS_REGISTER => dependencies.cost.result,
                FIRST_ACCUMULATOR.. => dependencies.cost.accumulator,
                _ => dependencies.cost.flag,
            };
            self.architecture.set(1 << register, Ready { at: self.clock + u64::from(later), by });
        }
        wait
    }
}
