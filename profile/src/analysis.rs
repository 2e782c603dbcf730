//! Sums of a report by source line and kernel, and the reasons for the time that they take.
//!
//! A *clock* here is one of a thread: the sum of what each thread takes alone on its EU, issuing or waiting. A wait counts
//! for the instruction that waited, with the instruction whose result it waited for as the reason. A launch's time depends
//! on how many threads the device executes at once, so that the *share* of a kernel is that of its launches' time
//! ([`Kernel::cycles`]), which the kernel's lines share by their clocks.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use gencl_simulator::statistics::Report;
use gencl_simulator::statistics::report::{Frame, Instruction, Kernel};
use serde::Serialize;

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
const STALLS: [(&str, &str); 7] = [
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

/// A line of a source: index in [`Report::sources`], and number from 1.
pub type LineKey = (usize, u32);

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
    /// The clocks by what they are spent on.
    pub stalls: Stalls,
    /// The clocks of [`Cost::wait`] by cause.
    pub waits: BTreeMap<Cause, u64>,
    /// The resources that limit its kernels, with the largest part that the line has of a kernel's use of it, 0 to 1.
    pub limits: BTreeMap<String, f64>,
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
    pub limits: Vec<&'a str>,
    /// Sums over the instructions of each kernel.
    pub kernels: Vec<Cost>,
    /// The lines of each kernel, and of all.
    pub lines: Vec<BTreeMap<Option<LineKey>, Line>>,
    /// The lines of all kernels.
    pub all_lines: BTreeMap<Option<LineKey>, Line>,
}

/// Number of things a line spends its clocks on that are told.
const REASONS: usize = 3;

/// The name of a kernel for display.
pub fn kernel_name(kernel: &Kernel) -> &str {
    if kernel.name.is_empty() { &kernel.hash } else { &kernel.name }
}

/// The location that an instruction's counts are shown at: that in the innermost inlined function.
pub fn shown_frame<'a>(report: &'a Report, instruction: &Instruction) -> Option<&'a Frame> {
    let frames = instruction.frames.iter().map(|frame| &report.frames[*frame]);
    frames.into_iter().find(|frame| frame.line > 0)
}

/// The use of a resource that limits a kernel, in a unit of its own; 0 for latency, which is no resource, and for samplers.
fn use_of_limit(limit: &str, cost: &Cost) -> u64 {
    match limit {
        "pipes" => cost.issue,
        "data port" => cost.port,
        "memory" => cost.misses,
        _ => 0,
    }
}

/// The limit that most of the time of a kernel's launches has.
fn limit(report: &Report, kernel: usize) -> &str {
    let mut clocks: BTreeMap<&str, u64> = BTreeMap::new();
    for launch in report.launches.iter().filter(|launch| launch.kernel == kernel) {
        *clocks.entry(&launch.limit).or_default() += launch.cycles;
    }
    clocks.into_iter().max_by_key(|(_, clocks)| *clocks).map_or("", |(limit, _)| limit)
}

fn key(frame: &Frame) -> LineKey {
    (frame.source, frame.line)
}

impl<'a> Analysis<'a> {
    /// The sums of a report.
    pub fn of(report: &'a Report) -> Analysis<'a> {
        let cycles: u64 = report.kernels.iter().map(|kernel| kernel.cycles).sum();
        let shares: Vec<f64> = report.kernels.iter().map(|kernel| ratio(kernel.cycles, cycles)).collect();
        let mut analysis = Analysis {
            report,
            shares,
            limits: (0..report.kernels.len()).map(|number| limit(report, number)).collect(),
            kernels: Vec::new(),
            lines: Vec::new(),
            all_lines: BTreeMap::new(),
        };
        for number in 0..report.kernels.len() {
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
        for (instruction, frame) in kernel.instructions.iter().zip(&shown) {
            let (cost, stalls) = (Cost::of(instruction), Stalls::of(kernel, instruction));
            let share = self.shares[number] * ratio(cost.clocks, total.clocks);
            for line in
                [&mut lines, &mut self.all_lines].map(|lines| lines.entry(frame.map(key)).or_default())
            {
                line.cost.add(&cost);
                line.stalls.add(&stalls);
                line.share += share;
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
        for (key, line) in &mut lines {
            let part = ratio(
                use_of_limit(self.limits[number], &line.cost),
                use_of_limit(self.limits[number], &total),
            );
            if part > 0.0 {
                let limit = self.limits[number].to_owned();
                line.limits.insert(limit.clone(), part);
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

    /// The part that instructions have in what limits a kernel: of the limiting resource's use, or of the thread clocks.
    pub fn part_of_limit(&self, kernel: usize, cost: &Cost) -> f64 {
        let (limit, total) = (self.limits[kernel], &self.kernels[kernel]);
        match use_of_limit(limit, total) {
            0 => ratio(cost.clocks, total.clocks),
            all => ratio(use_of_limit(limit, cost), all),
        }
    }

    /// The numbers of the kernels, by descending time.
    pub fn hottest_kernels(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.report.kernels.len()).collect();
        order.sort_by(|a, b| self.shares[*b].total_cmp(&self.shares[*a]));
        order
    }

    /// All lines with a key, by descending time.
    pub fn hottest_lines(&self) -> Vec<(LineKey, &Line)> {
        let mut lines: Vec<_> =
            self.all_lines.iter().filter_map(|(key, line)| Some(((*key)?, line))).collect();
        lines.sort_by(|(_, a), (_, b)| b.share.total_cmp(&a.share));
        lines
    }

    /// The name of a line: `FILE:LINE`.
    pub fn line_name(&self, (source, line): LineKey) -> String {
        format!("{}:{line}", self.report.sources[source].name)
    }

    /// The text of a line, without the blanks around it.
    pub fn line_text(&self, (source, line): LineKey) -> &'a str {
        let text = self.report.sources[source].text.as_deref().unwrap_or_default();
        text.lines().nth(line as usize - 1).unwrap_or_default().trim()
    }

    /// Why a line takes its time, the largest reasons first, each in a few words.
    pub fn reasons(&self, key: Option<LineKey>, line: &Line) -> Vec<String> {
        let mut parts = vec![(line.cost.issue, "issue".to_owned())];
        parts.extend(line.waits.iter().map(|(cause, clocks)| (*clocks, self.wait_reason(key, cause))));
        parts.sort_by_key(|(clocks, _)| Reverse(*clocks));
        let percent = |clocks| (100.0 * ratio(clocks, line.cost.clocks)).round();
        let large = parts.into_iter().filter(|(clocks, _)| percent(*clocks) >= 10.0).take(REASONS);
        let mut reasons: Vec<String> =
            large.map(|(clocks, reason)| format!("{:.0}% {reason}", percent(clocks))).collect();
        let limits = line.limits.iter().filter(|(_, part)| **part >= 0.1);
        reasons.extend(limits.map(|(limit, part)| format!("{:.0}% of the limiting {limit}", 100.0 * part)));
        if line.cost.enabled() < 0.75 && line.cost.executed > 0 {
            let executed = line.cost.executed;
            let (lanes, slots) = (ratio(line.cost.lanes, executed), ratio(line.cost.slots, executed));
            reasons.push(format!("divergence: {lanes:.1} of {slots:.1} lanes enabled"));
        }
        reasons.extend(line.messages.iter().filter_map(|(class, cost)| message_fault(class, cost)));
        reasons
    }

    /// What a line waits for.
    fn wait_reason(&self, key: Option<LineKey>, cause: &Cause) -> String {
        let at = match cause.line {
            None => String::new(),
            Some(line) if Some(line) == key => " of this line".to_owned(),
            Some(line) if key.is_some_and(|(source, _)| source == line.0) => format!(" of line {}", line.1),
            Some(line) => format!(" of {}", self.line_name(line)),
        };
        let Some(class) = &cause.class else { return format!("wait for the result{at}") };
        let producer = self.all_lines.get(&cause.line).and_then(|line| line.messages.get(class));
        let fault = producer.filter(|_| cause.line != key).and_then(|cost| message_fault(class, cost));
        format!("wait for {class}{at}{}", fault.map(|fault| format!(" ({fault})")).unwrap_or_default())
    }
}

/// What is slow about the messages of a line, if anything is.
fn message_fault(class: &str, cost: &Cost) -> Option<String> {
    let lines = ratio(cost.lines, cost.sends);
    if ratio(cost.conflicts, cost.port) >= 0.25 {
        let kind = if class.contains("atomic") { "operations on the same element" } else { "bank conflicts" };
        let clocks = ratio(cost.port, cost.sends);
        return Some(format!("{kind}: {clocks:.1} clocks per message"));
    }
    // Four lines are those of 16 lanes with 16 bytes each.
    if lines > 4.0 && lines > ratio(cost.lanes, cost.sends) / 2.0 {
        return Some(format!("uncoalesced: {lines:.1} cache lines per message"));
    }
    None
}
