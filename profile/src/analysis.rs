//! Sums of a report by source line and kernel, and the reasons for the time that they take.
//!
//! A *clock* here is one of a thread: the sum of what each thread takes alone on its EU, issuing or waiting. A wait counts
//! for the instruction that waited, with the instruction whose result it waited for as the reason. A launch's time depends
//! on how many threads the device executes at once, so that the *share* of a kernel is that of its launches' time
//! ([`Kernel::cycles`]), which the kernel's lines share by their clocks. What a launch would gain is told by another share:
//! that of the resource which limits the launches ([`Line::limit_share`]).

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use gencl_eu::device::Device;
use gencl_simulator::statistics::report::{Frame, Instruction, Kernel};
use gencl_simulator::statistics::{Bound, Report};
use serde::Serialize;

use crate::barriers::{self, Redundant};
use crate::code::{self, Facts};
use crate::limit::{KernelUse, Uses};
use crate::lines::{LineKey, line_text, shown_frame};

/// Counts of instructions, over all threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Cost {
    /// Clocks that threads issue or wait.
    pub clocks: u64,
    /// Clocks that threads issue.
    pub issue: u64,
    /// Clocks that threads wait.
    pub wait: u64,
    /// Executions, each once per thread.
    pub executed: u64,
    /// Enabled lanes, summed over the executions.
    pub lanes: u64,
    /// All lanes, summed likewise.
    pub slots: u64,
    /// Executed messages.
    pub sends: u64,
    /// Those of `sends` whose instructions access cache lines.
    pub line_sends: u64,
    /// Cache lines of the messages.
    pub lines: u64,
    /// Those that the work-group had not accessed before.
    pub misses: u64,
    /// Bytes that the messages access, each once per message.
    pub bytes: u64,
    /// Clocks of the data ports.
    pub port: u64,
    /// Those of `port` that conflicts take.
    pub conflicts: u64,
    /// Floating-point operations.
    pub flops: u64,
    /// Integer operations.
    pub intops: u64,
}

impl Cost {
    /// The counts of an instruction.
    pub fn of(instruction: &Instruction) -> Cost {
        let counter = &instruction.counter;
        Cost {
            clocks: counter.issue + counter.wait,
            issue: counter.issue,
            wait: counter.wait,
            executed: counter.executions,
            lanes: counter.lanes,
            slots: counter.executions * u64::from(instruction.width),
            sends: if instruction.class.is_some() { counter.executions } else { 0 },
            line_sends: if counter.lines > 0 { counter.executions } else { 0 },
            lines: counter.lines,
            misses: counter.misses,
            bytes: counter.bytes,
            port: counter.port,
            conflicts: counter.conflicts,
            flops: counter.lanes * u64::from(instruction.flops),
            intops: counter.lanes * u64::from(instruction.intops),
        }
    }

    /// Adds other counts.
    pub fn add(&mut self, other: &Cost) {
        self.clocks += other.clocks;
        self.issue += other.issue;
        self.wait += other.wait;
        self.executed += other.executed;
        self.lanes += other.lanes;
        self.slots += other.slots;
        self.sends += other.sends;
        self.line_sends += other.line_sends;
        self.lines += other.lines;
        self.misses += other.misses;
        self.bytes += other.bytes;
        self.port += other.port;
        self.conflicts += other.conflicts;
        self.flops += other.flops;
        self.intops += other.intops;
    }

    /// Share of the lanes that are enabled.
    pub fn enabled(&self) -> f64 {
        ratio(self.lanes, self.slots)
    }
}

/// A count with the name that it has in profilers' files.
pub struct Event {
    /// The name.
    pub name: &'static str,
    /// The count.
    pub count: fn(&Cost) -> u64,
}

/// The events in profilers' files.
pub const EVENTS: [Event; 6] = [
    Event { name: "Clocks", count: |cost| cost.clocks },
    Event { name: "Issue", count: |cost| cost.issue },
    Event { name: "Wait", count: |cost| cost.wait },
    Event { name: "Executions", count: |cost| cost.executed },
    Event { name: "Lanes", count: |cost| cost.lanes },
    Event { name: "CacheLines", count: |cost| cost.lines },
];

/// `a / b`, or 0.
pub fn ratio(a: u64, b: u64) -> f64 {
    if b == 0 { 0.0 } else { a as f64 / b as f64 }
}

/// Clocks by what they are spent on: `issue`, or the class of the message that is waited for, or `result` for the result of
/// another instruction.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Stalls(BTreeMap<&'static str, u64>);

/// The classes of messages, with what waiting for them is called.
pub const STALLS: [(&str, &str); 7] = [
    ("memory", "memory"),
    ("atomic", "atomic"),
    ("slm", "slm"),
    ("slm atomic", "atomic"),
    ("sampler", "sampler"),
    ("fence", "fence"),
    ("barrier", "barrier"),
];

impl Stalls {
    /// Those of an instruction.
    pub fn of(kernel: &Kernel, instruction: &Instruction) -> Stalls {
        let mut stalls = Stalls::default();
        stalls.count("issue", instruction.counter.issue);
        for wait in &instruction.waits {
            let class =
                producer(kernel, wait.offset).and_then(|index| kernel.instructions[index].class.as_deref());
            let kind = class.map_or("result", |class| {
                STALLS.iter().find(|(known, _)| *known == class).map_or("other", |(_, kind)| kind)
            });
            stalls.count(kind, wait.clocks);
        }
        stalls
    }

    fn count(&mut self, kind: &'static str, clocks: u64) {
        if clocks > 0 {
            *self.0.entry(kind).or_default() += clocks;
        }
    }

    /// Adds others.
    pub fn add(&mut self, other: &Stalls) {
        other.0.iter().for_each(|(kind, clocks)| self.count(kind, *clocks));
    }
}

/// The index of the instruction at an offset.
fn producer(kernel: &Kernel, offset: u32) -> Option<usize> {
    kernel.instructions.binary_search_by_key(&offset, |instruction| instruction.offset).ok()
}

/// What instructions wait for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Cause {
    /// The class of the message whose response they wait for; `None` for the result of another instruction.
    pub class: Option<String>,
    /// The line of the instruction that they wait for.
    pub line: Option<LineKey>,
}

/// Sums over the instructions of a line. `None` as its key is the code of a kernel that belongs to no line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Line {
    /// Its counts.
    pub cost: Cost,
    /// Part of the time of all kernels, 0 to 1.
    pub share: f64,
    /// The same with that of the functions that are called in this line and inlined.
    pub inclusive: f64,
    /// Part of the time of all kernels by its part of what limits each, 0 to 1.
    pub limit_share: f64,
    /// Its use of each resource.
    pub uses: Uses,
    /// The clocks by what they are spent on.
    pub stalls: Stalls,
    /// The clocks of [`Cost::wait`] by cause.
    pub waits: BTreeMap<Cause, u64>,
    /// The resources that limit its kernels, with the largest part that the line has of a kernel's use of it, 0 to 1.
    pub limits: BTreeMap<&'static str, f64>,
    /// Its barriers that may be redundant, each with the reason.
    pub redundant: Vec<String>,
    /// The classes of its messages, with their counts.
    pub messages: BTreeMap<String, Cost>,
}

/// The sums of a report.
#[derive(Debug)]
pub struct Analysis<'a> {
    /// The report.
    pub report: &'a Report,
    /// The kernels' parts of the time of all launches, 0 to 1.
    pub shares: Vec<f64>,
    /// What limits the launches of each kernel, as they were. [`Kernel::limit`] is that of larger launches.
    pub limits: Vec<&'static str>,
    /// The use that each kernel makes of the device.
    pub uses: Vec<KernelUse>,
    /// What is known of each kernel's code.
    pub facts: Vec<Option<Vec<Facts>>>,
    /// The barriers of each kernel that may be redundant.
    pub redundant: Vec<Vec<Redundant>>,
    /// Sums over the instructions of each kernel.
    pub kernels: Vec<Cost>,
    /// The lines of each kernel, and of all.
    pub lines: Vec<BTreeMap<Option<LineKey>, Line>>,
    /// The lines of all kernels.
    pub all_lines: BTreeMap<Option<LineKey>, Line>,
}

/// The name of a kernel for display.
pub fn kernel_name(kernel: &Kernel) -> &str {
    let names = [&kernel.label, &kernel.name, &kernel.hash];
    names.into_iter().find(|name| !name.is_empty()).map_or("", String::as_str)
}

fn key(frame: &Frame) -> LineKey {
    (frame.source, frame.line)
}

impl<'a> Analysis<'a> {
    /// The sums of a report.
    pub fn of(report: &'a Report) -> Analysis<'a> {
        let cycles: u64 = report.kernels.iter().map(|kernel| kernel.cycles).sum();
        let shares: Vec<f64> = report.kernels.iter().map(|kernel| ratio(kernel.cycles, cycles)).collect();
        let device = Device::named(&report.device);
        let facts: Vec<_> = report.kernels.iter().map(|kernel| code::facts(device, kernel)).collect();
        let numbered = facts.iter().enumerate();
        let uses: Vec<KernelUse> =
            numbered.map(|(number, facts)| KernelUse::of(report, number, facts.as_deref())).collect();
        let mut analysis = Analysis {
            report,
            shares,
            limits: uses.iter().map(|uses| uses.limit.map_or("", Bound::name)).collect(),
            uses,
            redundant: Vec::new(),
            facts,
            kernels: Vec::new(),
            lines: Vec::new(),
            all_lines: BTreeMap::new(),
        };
        for number in 0..report.kernels.len() {
            analysis.redundant.push(barriers::redundant(report, number, analysis.facts[number].as_deref()));
            analysis.add(number);
        }
        analysis
    }

    fn add(&mut self, number: usize) {
        let kernel = &self.report.kernels[number];
        let shown: Vec<Option<&Frame>> =
            kernel.instructions.iter().map(|instruction| shown_frame(self.report, instruction)).collect();
        let mut total = Cost::default();
        kernel.instructions.iter().for_each(|instruction| total.add(&Cost::of(instruction)));
        let mut lines: BTreeMap<Option<LineKey>, Line> = BTreeMap::new();
        for (index, (instruction, frame)) in kernel.instructions.iter().zip(&shown).enumerate() {
            let uses = self.uses[number].instructions[index];
            let limit_share = self.shares[number] * self.uses[number].part_of_limit(&uses);
            let redundant = self.redundant[number].iter().find(|redundant| redundant.index == index);
            let (cost, stalls) = (Cost::of(instruction), Stalls::of(kernel, instruction));
            let share = self.shares[number] * ratio(cost.clocks, total.clocks);
            for line in
                [&mut lines, &mut self.all_lines].map(|lines| lines.entry(frame.map(key)).or_default())
            {
                line.cost.add(&cost);
                line.stalls.add(&stalls);
                line.share += share;
                line.limit_share += limit_share;
                line.uses.add(&uses, 1.0);
                line.redundant.extend(redundant.map(|redundant| redundant.reason.clone()));
                if let Some(class) = &instruction.class {
                    line.messages.entry(class.clone()).or_default().add(&cost);
                }
                for wait in &instruction.waits {
                    let producer = producer(kernel, wait.offset);
                    let cause = Cause {
                        class: producer.and_then(|index| kernel.instructions[index].class.clone()),
                        line: producer.and_then(|index| shown[index]).map(key),
                    };
                    *line.waits.entry(cause).or_default() += wait.clocks;
                }
            }
            let frames = instruction.frames.iter().map(|frame| &self.report.frames[*frame]);
            let located: BTreeSet<LineKey> = frames.filter(|frame| frame.line > 0).map(key).collect();
            for line in located {
                lines.entry(Some(line)).or_default().inclusive += share;
                self.all_lines.entry(Some(line)).or_default().inclusive += share;
            }
        }
        let uses = &self.uses[number];
        // Latency is no resource.
        let limit =
            uses.limit.filter(|limit| *limit != Bound::Latency && uses.total[*limit] > 0.0).map(Bound::name);
        for (key, line) in &mut lines {
            let part = uses.part_of_limit(&line.uses);
            if let Some(limit) = limit.filter(|_| part > 0.0) {
                line.limits.insert(limit, part);
                let largest = self.all_lines.entry(*key).or_default().limits.entry(limit).or_default();
                *largest = largest.max(part);
            }
        }
        self.kernels.push(total);
        self.lines.push(lines);
    }

    /// The part that an instruction of a kernel has of the time of all kernels, 0 to 1.
    pub fn share_of(&self, kernel: usize, instruction: &Instruction) -> f64 {
        self.shares[kernel] * ratio(Cost::of(instruction).clocks, self.kernels[kernel].clocks)
    }

    /// The numbers of the kernels, by descending time.
    pub fn hottest_kernels(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.report.kernels.len()).collect();
        order.sort_by(|a, b| self.shares[*b].total_cmp(&self.shares[*a]));
        order
    }

    /// All lines with a key, by their parts of what limits their kernels, the largest first.
    pub fn hottest_lines(&self) -> Vec<(LineKey, &Line)> {
        let mut lines: Vec<_> =
            self.all_lines.iter().filter_map(|(key, line)| Some(((*key)?, line))).collect();
        let by = |line: &Line| (line.limit_share, line.share);
        lines.sort_by(|(_, a), (_, b)| by(b).partial_cmp(&by(a)).unwrap_or(Ordering::Equal));
        lines
    }

    /// The name of a line: `FILE:LINE`.
    pub fn line_name(&self, (source, line): LineKey) -> String {
        format!("{}:{line}", self.report.sources[source].name)
    }

    /// The text of a line, without the blanks around it.
    pub fn line_text(&self, line: LineKey) -> &'a str {
        line_text(self.report, line)
    }
}
