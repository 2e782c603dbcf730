//! Statistics of a launch's work-groups: executions of each instruction, and its cost in the cycle model.
//!
//! `docs/statistics.md` explains the model. Everything here is a sum, a maximum or a union over work-groups
//! that are analysed independently, so that the result does not depend on the number or order of host
//! threads.

mod dependencies;
#[cfg(test)]
mod tests;
mod timeline;

use crate::context::Context;
use crate::cycles::{self, MessageClass, Pipe};
use crate::decode::Kernel;
use crate::execute::probe::Probe;
use crate::file::{NOTIFICATION, dword};
use crate::op::{Action, Op};
use crate::shared_function::Footprint;
use crate::thread::Thread;
use dependencies::Dependencies;
use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use timeline::{Issue, Ready, Timeline, Wait};

/// Counts of one instruction of a kernel, over all threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstructionCounter {
    /// Number of executions, each once per thread.
    #[serde(rename = "executed")]
    pub executions: u64,
    /// Enabled lanes, summed over the executions.
    pub lanes: u64,
    /// Clocks for which it kept its thread from issuing the next instruction.
    pub issue: u64,
    /// Clocks that threads waited before it, for its dependencies.
    pub wait: u64,
    /// Clocks that threads waited for its result, at later instructions.
    pub awaited: u64,
    /// Cache lines of its messages.
    pub lines: u64,
    /// Cache lines of its messages that no thread of the work-group had accessed before.
    #[serde(default)]
    pub misses: u64,
    /// Bytes in memory that its messages accessed, each once per message; 0 for shared local memory and images.
    #[serde(default)]
    pub bytes: u64,
    /// Clocks that its messages occupied the data port.
    pub port: u64,
    /// Those of `port` for bank conflicts in shared local memory, and for atomic operations on the same element.
    #[serde(default)]
    pub conflicts: u64,
    /// Texels that its messages read or wrote.
    #[serde(default)]
    pub texels: u64,
}

impl InstructionCounter {
    /// Adds counts of the same instruction.
    pub fn add(&mut self, other: &InstructionCounter) {
        self.executions += other.executions;
        self.lanes += other.lanes;
        self.issue += other.issue;
        self.wait += other.wait;
        self.awaited += other.awaited;
        self.lines += other.lines;
        self.misses += other.misses;
        self.bytes += other.bytes;
        self.port += other.port;
        self.conflicts += other.conflicts;
        self.texels += other.texels;
    }
}

/// What is counted for an instruction beside [`InstructionCounter`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstructionDetails {
    /// The clocks of [`InstructionCounter::wait`], by the index of the instruction that was waited for: ascending.
    pub waits: Vec<(usize, u64)>,
    /// The class of its messages. Should there be several, the last one of [`MessageClass::ALL`].
    pub class: Option<MessageClass>,
}

impl InstructionDetails {
    /// Adds clocks of waiting for an instruction.
    pub fn add_wait(&mut self, producer: usize, clocks: u64) {
        // Most instructions wait for one or two others.
        match self.waits.iter().position(|(known, _)| *known >= producer) {
            Some(at) if self.waits[at].0 == producer => self.waits[at].1 += clocks,
            at => self.waits.insert(at.unwrap_or(self.waits.len()), (producer, clocks)),
        }
    }

    /// Adds those of the same instruction.
    pub fn add(&mut self, other: &InstructionDetails) {
        other.waits.iter().for_each(|(producer, clocks)| self.add_wait(*producer, *clocks));
        self.class = self.class.max(other.class);
    }
}

/// Counts of work-groups of one kernel. All clocks are EU clocks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// By instruction index.
    pub counters: Vec<InstructionCounter>,
    /// By instruction index, as many as `counters`.
    pub details: Vec<InstructionDetails>,
    /// Number of work-groups.
    pub groups: u64,
    /// Number of EU threads.
    pub threads: u64,
    /// Clocks of instructions that both pipes of an EU can execute.
    pub either_pipe: u64,
    /// Clocks of instructions that only the first pipe can execute.
    pub first_pipe: u64,
    /// Clocks of instructions that only the second pipe can execute: extended math and `DF`.
    pub second_pipe: u64,
    /// Registers of message payloads; an EU sends one per clock.
    pub payload: u64,
    /// Clocks of the data ports.
    pub port: u64,
    /// Clocks of the samplers.
    pub sampler: u64,
    /// Number of messages, in the order of [`MessageClass::ALL`].
    pub messages: [u64; MessageClass::ALL.len()],
    /// Sum of the clocks that each thread takes alone on its EU.
    pub latency: u64,
    /// The maximum of those clocks.
    pub longest: u64,
    /// Cache lines that were accessed: GPU addresses / 64.
    pub lines: FxHashSet<u64>,
    /// The clocks of each thread alone on its EU, for the first work-groups.
    pub first_threads: FirstThreads,
}

/// The clocks of threads, of the first work-groups in the order of dispatch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FirstThreads {
    /// By the numbers of the work-group, the highest dimension first.
    groups: BTreeMap<[u32; 3], Vec<u32>>,
    threads: usize,
}

impl FirstThreads {
    /// Number of threads, unless a single work-group has more.
    const LIMIT: usize = 2048;

    /// Adds a work-group, and removes the last ones beyond the limit: the order in which groups are added does
    /// not matter.
    fn add(&mut self, group: [u32; 3], clocks: Vec<u32>) {
        let is_later = self.groups.last_key_value().is_some_and(|(last, _)| group > *last);
        if self.threads >= Self::LIMIT && is_later {
            return;
        }
        self.threads += clocks.len();
        self.groups.insert(group, clocks);
        while self.threads > Self::LIMIT && self.groups.len() > 1 {
            self.threads -= self.groups.pop_last().map_or(0, |(_, clocks)| clocks.len());
        }
    }

    fn merge(&mut self, other: FirstThreads) {
        other.groups.into_iter().for_each(|(group, clocks)| self.add(group, clocks));
    }

    /// The clocks, in the order of dispatch.
    pub fn clocks(&self) -> impl Iterator<Item = u32> + '_ {
        self.groups.values().flatten().copied()
    }
}

impl Profile {
    /// Number of distinct cache lines of 64 bytes that messages accessed.
    pub fn distinct_lines(&self) -> u64 {
        self.lines.len() as u64
    }

    /// Empty counts of a kernel with a number of instructions.
    fn new(instructions: usize) -> Profile {
        Profile {
            counters: vec![InstructionCounter::default(); instructions],
            details: vec![InstructionDetails::default(); instructions],
            ..Profile::default()
        }
    }

    /// Adds the counts of other work-groups of the same launch.
    pub fn merge(&mut self, other: Profile) {
        self.counters.resize(self.counters.len().max(other.counters.len()), InstructionCounter::default());
        for (own, other) in self.counters.iter_mut().zip(&other.counters) {
            own.add(other);
        }
        self.details.resize_with(self.details.len().max(other.details.len()), InstructionDetails::default);
        for (own, other) in self.details.iter_mut().zip(&other.details) {
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
        self.first_threads.merge(other.first_threads);
    }

    /// What follows from executions and lanes alone: the clocks for which instructions issue, none of those
    /// that threads wait, and nothing of memory.
    #[must_use]
    pub fn of_counts(&self, kernel: &Kernel) -> Profile {
        let mut profile = Profile::new(kernel.ops().len());
        (profile.groups, profile.threads) = (self.groups, self.threads);
        for (index, (own, op)) in self.counters.iter().zip(kernel.ops()).enumerate() {
            let cost = Dependencies::of(kernel.generation(), op).cost;
            let issue = own.executions * u64::from(cost.issue);
            let (executions, lanes) = (own.executions, own.lanes);
            profile.counters[index] = InstructionCounter { executions, lanes, issue, ..Default::default() };
            profile.add_pipe(cost.pipe, issue);
            profile.latency += issue;
        }
        profile
    }

    fn add_pipe(&mut self, pipe: Option<Pipe>, clocks: u64) {
        match pipe {
            Some(Pipe::Either) => self.either_pipe += clocks,
            Some(Pipe::First) => self.first_pipe += clocks,
            Some(Pipe::Second) => self.second_pipe += clocks,
            None => {}
        }
    }

    /// Sums of each count over all instructions.
    pub fn total(&self) -> InstructionCounter {
        let mut total = InstructionCounter::default();
        self.counters.iter().for_each(|counter| total.add(counter));
        total
    }
}

/// Counts what work-groups of one kernel execute.
pub struct Recorder {
    dependencies: Vec<Dependencies>,
    profile: Profile,
    /// That of the current message.
    footprint: Footprint,
    /// The number of the current group.
    group: [u32; 3],
    /// The timelines of its threads, by number.
    timelines: Vec<Timeline>,
    /// Cache lines that the current group has accessed.
    of_group: FxHashSet<u64>,
    /// The latest arrival of a thread at the group's barrier, since it was last released.
    arrival: u64,
    /// When the barrier was last released.
    release: u64,
}

impl Recorder {
    /// A recorder for a kernel, with empty counts.
    pub fn new(kernel: &Kernel) -> Recorder {
        let dependencies: Vec<Dependencies> =
            kernel.ops().iter().map(|op| Dependencies::of(kernel.generation(), op)).collect();
        Recorder {
            profile: Profile::new(dependencies.len()),
            dependencies,
            footprint: Footprint::default(),
            group: [0; 3],
            timelines: Vec::new(),
            of_group: FxHashSet::default(),
            arrival: 0,
            release: 0,
        }
    }

    /// Ends the current group.
    fn end_group(&mut self) {
        if self.timelines.is_empty() {
            return;
        }
        for timeline in &self.timelines {
            self.profile.latency += timeline.clock();
            self.profile.longest = self.profile.longest.max(timeline.clock());
        }
        let clocks = self.timelines.drain(..).map(|timeline| timeline.clock() as u32);
        let [x, y, z] = self.group;
        self.profile.first_threads.add([z, y, x], clocks.collect());
        self.of_group.clear();
        (self.arrival, self.release) = (0, 0);
    }

    /// Returns and resets the counts.
    pub fn take(&mut self) -> Profile {
        self.end_group();
        std::mem::replace(&mut self.profile, Profile::new(self.dependencies.len()))
    }

    /// Counts a message with the current footprint, and returns its latency.
    fn message(&mut self, index: usize) -> Option<u32> {
        let Recorder { footprint, profile, of_group, .. } = self;
        let class = footprint.class?;
        // A line is in the L3 cache when a thread of the same group has accessed it before.
        let mut misses = 0;
        for line in &footprint.lines {
            if of_group.insert(*line) {
                misses += 1;
                profile.lines.insert(*line);
            }
        }
        let counter = &mut profile.counters[index];
        counter.lines += footprint.lines.len() as u64;
        counter.misses += misses;
        counter.bytes += footprint.bytes;
        counter.port += u64::from(footprint.port);
        counter.conflicts += u64::from(footprint.conflicts);
        counter.texels += u64::from(footprint.texels);
        profile.details[index].class = profile.details[index].class.max(Some(class));
        profile.port += u64::from(footprint.port);
        profile.sampler += u64::from(footprint.sampler);
        profile.payload += footprint.payload as u64;
        profile.messages[class as usize] += 1;
        Some(if misses > 0 { cycles::MISS } else { class.latency() })
    }
}

impl Probe for Recorder {
    fn group(&mut self, group: [u32; 3], threads: u32) {
        self.end_group();
        self.group = group;
        self.profile.groups += 1;
        self.profile.threads += u64::from(threads);
        self.timelines.resize_with(threads as usize, Timeline::default);
    }

    fn instruction(&mut self, context: &mut Context<'_>, thread: &mut Thread, op: &Op, mask: u32) {
        let (index, number) = (thread.ip, thread.number as usize);
        let dependencies = self.dependencies[index];
        let (mut issue, mut arrives) = (Issue::new(index, dependencies), false);
        match &op.action {
            // Executed again when the barrier has been released.
            Action::Wait(n) if dword(&thread.file, NOTIFICATION + usize::from(*n) * 4) == 0 => return,
            Action::Wait(_) => {
                let by = self.timelines[number].barrier;
                issue.not_before = Ready { at: self.release, by };
            }
            Action::Message(message) if mask != 0 || message.end_of_thread => {
                self.footprint.fill(context, thread, op, message, mask);
                issue.latency = self.message(index);
                let footprint = &self.footprint;
                issue.port = footprint.port;
                issue.payload = footprint.payload as u32;
                (issue.dependencies.reads, issue.dependencies.writes) = (footprint.reads, footprint.writes);
                arrives = footprint.class == Some(MessageClass::Barrier);
            }
            _ => {}
        }
        let wait = self.timelines[number].issue(&issue);
        if arrives {
            self.timelines[number].barrier = index;
            self.arrival = self.arrival.max(self.timelines[number].clock());
        }
        let counter = &mut self.profile.counters[index];
        counter.executions += 1;
        counter.lanes += u64::from(mask.count_ones());
        counter.issue += u64::from(dependencies.cost.issue);
        if let Some(Wait { clocks, producer }) = wait {
            counter.wait += clocks;
            self.profile.counters[producer].awaited += clocks;
            self.profile.details[index].add_wait(producer, clocks);
        }
        self.profile.add_pipe(dependencies.cost.pipe, u64::from(dependencies.cost.issue));
    }

    fn barrier_opens(&mut self) {
        self.release = self.arrival + u64::from(MessageClass::Barrier.latency());
        self.arrival = 0;
    }
}
