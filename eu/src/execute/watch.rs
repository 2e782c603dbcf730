//! The search for states that repeat, while a batch is suspected to hang.
//!
//! States are compared from time to time, in the manner of Brent's algorithm for cycles: a thread whose registers
//! repeat, and that has sent no message meanwhile, does the same for ever; so does a work-group, which is executed in
//! a fixed order, if the registers of all its threads and its local memory repeat, and no thread has accessed anything
//! else. A thread that reads other memory may go on, as other work-groups, contexts or the host can write it.

use std::mem::size_of;

use super::probe::Probe;
use crate::context::Context;
use crate::decode::endless::{Effect, effect, registers_repeat};
use crate::fault::{Fault, Reason};
use crate::file;
use crate::op::Op;
use crate::thread::{Status, Thread, WideAccumulator};

/// What is observed of a work-group.
pub struct Watch {
    threads: Vec<Cycle>,
    group: Cycle,
    /// The instruction before, of any thread.
    last: usize,
    /// A thread's state has repeated.
    repeats: bool,
}

/// The search for a state that repeats.
pub struct Cycle {
    saved: Vec<u8>,
    /// Whether `saved` is a state since which nothing else could bring anything new.
    is_saved: bool,
    /// States that have been compared, and the number of them after which the next one is saved.
    compared: u64,
    until: u64,
}

/// States before the first one is saved: those of a loop that sends messages never are.
const QUIET: u64 = 16;

impl Default for Cycle {
    fn default() -> Cycle {
        Cycle { saved: Vec::new(), is_saved: false, compared: 0, until: QUIET }
    }
}

impl Cycle {
    /// Forgets all states: something has come from outside.
    pub fn restart(&mut self) {
        (self.is_saved, self.compared, self.until) = (false, 0, QUIET);
    }

    /// Whether a state, in parts, is the saved one. The distance of those that are saved doubles, so that a
    /// cycle of any length is found.
    pub fn repeats(&mut self, state: &[&[u8]]) -> bool {
        if self.is_saved && is_same(&self.saved, state) {
            return true;
        }
        self.compared += 1;
        if self.compared == self.until {
            self.saved.clear();
            state.iter().for_each(|part| self.saved.extend_from_slice(part));
            (self.is_saved, self.compared, self.until) = (true, 0, self.until * 2);
        }
        false
    }
}

fn is_same(saved: &[u8], state: &[&[u8]]) -> bool {
    let mut rest = saved;
    let same = state.iter().all(|part| match rest.split_at_checked(part.len()) {
        Some((begin, end)) => {
            rest = end;
            begin == *part
        }
        None => false,
    });
    same && rest.is_empty()
}

/// Position and masks of a thread, which registers it has written, and when it gives others their turn.
type Head = [u32; 41];

/// What decides, beside the register file and the accumulators, what a thread does next.
fn head(thread: &Thread) -> Head {
    let mut head = [0; size_of::<Head>() / 4];
    head[..4].copy_from_slice(&[thread.ip as u32, thread.active, thread.parked, thread.status as u32]);
    head[4..8].copy_from_slice(bytemuck::cast_slice(&[thread.written]));
    head[40] = thread.polls.map_or(u32::MAX, |instruction| instruction as u32);
    for channel in (0..32).filter(|channel| thread.parked >> channel & 1 != 0) {
        head[8 + channel] = thread.parked_at[channel];
    }
    head
}

/// All but the time, which is written to the file when the thread reads an architecture register.
fn state<'a>(head: &'a Head, thread: &'a Thread) -> [&'a [u8]; 4] {
    let wide: &WideAccumulator = &thread.wide_accumulator;
    let [before, behind] = [&thread.file[..file::TIMESTAMP], &thread.file[file::FLOW_CONTROL..]];
    [bytemuck::bytes_of(head), before, behind, bytemuck::cast_slice(&wide[..])]
}

impl Watch {
    /// Begins to observe a work-group of so many threads.
    pub fn new(threads: u32) -> Watch {
        let threads = (0..threads).map(|_| Cycle::default()).collect();
        Watch { threads, group: Cycle::default(), last: 0, repeats: false }
    }

    /// A thread is about to execute an instruction.
    fn observe(&mut self, thread: &Thread, op: &Op, mask: u32) {
        // Every cycle goes back once.
        let back = thread.ip <= self.last;
        self.last = thread.ip;
        let cycle = &mut self.threads[thread.number as usize];
        match effect(op, mask) {
            Effect::None if back => {
                let head = head(thread);
                self.repeats |= cycle.repeats(&state(&head, thread));
            }
            Effect::None => {}
            Effect::Group => cycle.restart(),
            Effect::Any => {
                cycle.restart();
                self.group.restart();
            }
        }
    }

    /// The fault of the thread whose state has repeated.
    pub fn check(&self) -> Result<(), Fault> {
        if self.repeats { Err(registers_repeat()) } else { Ok(()) }
    }

    /// All threads that have not ended have had their turn. Returns the fault if the work-group's state has repeated, and
    /// the index of a thread that is in it.
    pub fn round(&mut self, threads: &[Thread], local: &[u8], arrived: u32) -> Result<(), (Fault, usize)> {
        let heads: Vec<Head> = threads.iter().map(head).collect();
        let mut parts = vec![bytemuck::bytes_of(&arrived)];
        parts.extend(heads.iter().zip(threads).flat_map(|(head, thread)| state(head, thread)));
        parts.push(local);
        if !self.group.repeats(&parts) {
            return Ok(());
        }
        let fault = Fault::new(Reason::Endless(
            "the work-group's registers and local memory repeat, and nothing from outside can change them",
        ));
        Err((fault, threads.iter().position(|thread| thread.status != Status::Ended).unwrap_or(0)))
    }
}

/// Observes for a [`Watch`], and for another probe.
pub struct Watched<'a, P> {
    /// What observes whether threads end.
    pub watch: &'a mut Watch,
    /// The other probe.
    pub probe: &'a mut P,
}

impl<P: Probe> Probe for Watched<'_, P> {
    fn group(&mut self, group: [u32; 3], threads: u32) {
        self.probe.group(group, threads);
    }

    fn instruction(&mut self, context: &mut Context<'_>, thread: &mut Thread, op: &Op, mask: u32) {
        self.watch.observe(thread, op, mask);
        self.probe.instruction(context, thread, op, mask);
    }

    fn barrier_opens(&mut self) {
        self.probe.barrier_opens();
    }
}
