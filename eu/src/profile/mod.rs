//! Statistics of a launch's work-groups: what each instruction was executed for, and what it costs by the
//! cycle model.
//!
//! `docs/statistics.md` explains the model. Everything here is a sum, a maximum or a union over work-groups,
//! each of which is looked at by itself, so that neither the number of host threads nor their order shows.

mod dependencies;
#[cfg(test)]
mod tests;
mod timeline;

use super::cycles::{Class, Pipe};
use super::file::{NOTIFICATION, dword};
use super::kernel::Kernel;
use super::message::Footprint;
use super::op::{Action, Op};
use super::probe::Probe;
use super::run::Context;
use super::thread::Thread;
use dependencies::Needs;
use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};
use timeline::{Issue, Timeline};

/// What one instruction of a kernel took, over all threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counter {
    /// Times that a thread executed it.
    #[serde(rename = "executed")]
    pub executions: u64,
    /// Lanes that were enabled, summed over the executions.
    pub lanes: u64,
    /// Clocks in which it kept its thread from issuing the next one.
    pub issue: u64,
    /// Clocks that threads waited before it for what it needs.
    pub wait: u64,
    /// Clocks that threads waited for its result.
    pub awaited: u64,
    /// Cache lines of its messages.
    pub lines: u64,
    /// Clocks that its messages occupied the data port.
    pub port: u64,
}

impl Counter {
    /// Adds what it took elsewhere.
    pub fn add(&mut self, other: &Counter) {
        self.executions += other.executions;
        self.lanes += other.lanes;
        self.issue += other.issue;
        self.wait += other.wait;
        self.awaited += other.awaited;
        self.lines += other.lines;
        self.port += other.port;
    }
}

/// What work-groups of one kernel took. All clocks are EU clocks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// By the indices of the kernel's instructions.
    pub counters: Vec<Counter>,
    /// Work-groups.
    pub groups: u64,
    /// EU threads.
    pub threads: u64,
    /// Clocks of instructions that both pipes of an EU can execute.
    pub either_pipe: u64,
    /// Clocks of those that only the first can.
    pub first_pipe: u64,
    /// Clocks of those that only the second can: extended math and `DF`.
    pub second_pipe: u64,
    /// Registers of message payloads; an EU sends one for each clock.
    pub payload: u64,
    /// Clocks of the data ports.
    pub port: u64,
    /// Clocks of the samplers.
    pub sampler: u64,
    /// Messages, by the order of [`Class::ALL`].
    pub messages: [u64; Class::ALL.len()],
    /// Clocks from the beginning of each thread to its end when it is alone on its EU, summed up.
    pub latency: u64,
    /// The same of the thread that takes longest.
    pub longest: u64,
    /// Cache lines that were accessed, each once.
    pub lines: FxHashSet<u64>,
}

impl Profile {
    /// Distinct cache lines of 64 bytes that messages accessed.
    pub fn distinct_lines(&self) -> u64 {
        self.lines.len() as u64
    }

    /// Adds other work-groups of the same launch.
    pub fn merge(&mut self, other: Profile) {
        self.counters.resize(self.counters.len().max(other.counters.len()), Counter::default());
        for (own, other) in self.counters.iter_mut().zip(&other.counters) {
            own.add(other);
        }
        self.groups += other.groups;
        self.threads += other.threads;
        self.either_pipe += other.either_pipe;
        self.first_pipe += other.first_pipe;
        self.second_pipe += other.second_pipe;
        self.payload += other.payload;
        self.port += other.port;
        self.sampler += other.sampler;
        for (own, other) in self.messages.iter_mut().zip(other.messages) {
            *own += other;
        }
        self.latency += other.latency;
        self.longest = self.longest.max(other.longest);
        self.lines.extend(other.lines);
    }

    /// Sums over all instructions: the order of [`Counter`]'s fields does not matter, each stands for itself.
    pub fn total(&self) -> Counter {
        let mut total = Counter::default();
        self.counters.iter().for_each(|counter| total.add(counter));
        total
    }
}

/// Watches work-groups of one kernel and counts.
pub struct Recorder {
    needs: Vec<Needs>,
    profile: Profile,
    /// Of the current group's threads, by their numbers.
    timelines: Vec<Timeline>,
    /// Lines that the current group has accessed.
    of_group: FxHashSet<u64>,
    /// When the last thread arrived at the group's barrier.
    arrival: u64,
    /// When the barrier last let its threads go on.
    release: u64,
}

impl Recorder {
    /// A recorder for a kernel that has counted nothing.
    pub fn new(kernel: &Kernel) -> Recorder {
        let needs: Vec<Needs> = kernel.ops().iter().map(|op| Needs::of(kernel.generation(), op)).collect();
        let counters = vec![Counter::default(); needs.len()];
        Recorder {
            needs,
            profile: Profile { counters, ..Profile::default() },
            timelines: Vec::new(),
            of_group: FxHashSet::default(),
            arrival: 0,
            release: 0,
        }
    }

    /// Ends the current group.
    fn end_group(&mut self) {
        for timeline in self.timelines.drain(..) {
            self.profile.latency += timeline.clock();
            self.profile.longest = self.profile.longest.max(timeline.clock());
        }
        self.of_group.clear();
        (self.arrival, self.release) = (0, 0);
    }

    /// What was counted since it was asked last.
    pub fn take(&mut self) -> Profile {
        self.end_group();
        let counters = vec![Counter::default(); self.needs.len()];
        std::mem::replace(&mut self.profile, Profile { counters, ..Profile::default() })
    }

    /// Counts a message, and says how long it takes.
    fn message(&mut self, index: usize, footprint: &Footprint) -> Option<u32> {
        let class = footprint.class?;
        // A line is in the L3 cache when a thread of the same group has accessed it before.
        let missing = footprint.lines.iter().filter(|line| self.of_group.insert(**line)).count();
        footprint.lines.iter().for_each(|line| {
            self.profile.lines.insert(*line);
        });
        let counter = &mut self.profile.counters[index];
        counter.lines += footprint.lines.len() as u64;
        counter.port += u64::from(footprint.port);
        self.profile.port += u64::from(footprint.port);
        self.profile.sampler += u64::from(footprint.sampler);
        self.profile.payload += footprint.payload as u64;
        self.profile.messages[class as usize] += 1;
        Some(if missing > 0 { super::cycles::MISS } else { class.latency() })
    }
}

impl Probe for Recorder {
    fn group(&mut self, threads: u32) {
        self.end_group();
        self.profile.groups += 1;
        self.profile.threads += u64::from(threads);
        self.timelines.resize_with(threads as usize, Timeline::default);
    }

    fn instruction(&mut self, context: &mut Context<'_>, thread: &mut Thread, op: &Op, mask: u32) {
        let (index, number) = (thread.ip, thread.number as usize);
        let needs = self.needs[index];
        let (mut issue, mut arrives) = (Issue::new(index, needs), false);
        match &op.action {
            // Tried again when the barrier has opened.
            Action::Wait(n) if dword(&thread.file, NOTIFICATION + usize::from(*n) * 4) == 0 => return,
            Action::Wait(_) => issue.not_before = self.release,
            Action::Message(message) if mask != 0 || message.end_of_thread => {
                let footprint = Footprint::of(context, thread, op, message, mask);
                issue.latency = self.message(index, &footprint);
                issue.port = footprint.port;
                issue.payload = footprint.payload as u32;
                (issue.needs.reads, issue.needs.writes) = (footprint.reads, footprint.writes);
                arrives = footprint.class == Some(Class::Barrier);
            }
            _ => {}
        }
        let wait = self.timelines[number].issue(&issue);
        if arrives {
            self.arrival = self.arrival.max(self.timelines[number].clock());
        }
        let counter = &mut self.profile.counters[index];
        counter.executions += 1;
        counter.lanes += u64::from(mask.count_ones());
        counter.issue += u64::from(needs.cost.issue);
        counter.wait += wait.clocks;
        if let Some(culprit) = wait.culprit {
            self.profile.counters[culprit].awaited += wait.clocks;
        }
        match needs.cost.pipe {
            Some(Pipe::Either) => self.profile.either_pipe += u64::from(needs.cost.issue),
            Some(Pipe::First) => self.profile.first_pipe += u64::from(needs.cost.issue),
            Some(Pipe::Second) => self.profile.second_pipe += u64::from(needs.cost.issue),
            None => {}
        }
    }

    fn barrier_opens(&mut self) {
        self.release = self.arrival + u64::from(Class::Barrier.latency());
        self.arrival = 0;
    }
}
