//! The tables of launches, and of what kernels use of the device.

use std::collections::BTreeMap;
use std::fmt::Write;

use gencl_simulator::statistics::report::{Kernel, Launch};

use crate::analysis::{Analysis, kernel_name, ratio};
use crate::columns::{Table, percent};

/// Number of rows that are printed.
const SHOWN: usize = 20;
/// Characters of the arguments that are printed.
const ARGUMENTS_WIDTH: usize = 100;
/// Bytes of a cache line.
const LINE: u64 = 64;

const RESOURCES: [&str; 11] = [
    "registers",
    "spills",
    "private",
    "local",
    "threads/group",
    "occupancy",
    "lines/message",
    "port B/clock",
    "memory B/clock",
    "occupancy is limited by",
    "kernel",
];

/// What each kernel uses: registers of 128, bytes of memory, resident threads and what limits them, and cache lines of its messages
/// with the bytes that data ports and memory transfer for them per clock of the device.
pub fn resources(analysis: &Analysis<'_>) -> String {
    let report = analysis.report;
    let mut table = Table::new(2, RESOURCES.map(str::to_owned).to_vec());
    let dash = || "-".to_owned();
    for number in analysis.hottest_kernels() {
        let kernel = &report.kernels[number];
        let threads = report.launches.iter().filter(|launch| launch.kernel == number);
        let threads: Vec<u32> = threads.map(|launch| launch.threads_per_group).collect();
        let (least, most) = (threads.iter().min().unwrap_or(&0), threads.iter().max().unwrap_or(&0));
        let occupancy = kernel.occupancy / f64::from(kernel.threads_per_eu.max(1));
        let accesses = ["memory", "atomic"].map(|class| kernel.messages.get(class).copied().unwrap_or(0));
        let accesses: u64 = accesses.into_iter().sum();
        let per_clock = |lines: u64| match kernel.lines {
            0 => dash(),
            _ => format!("{:.1}", ratio(LINE * lines, kernel.cycles)),
        };
        table.rows.push(vec![
            if kernel.registers == 0 { dash() } else { kernel.registers.to_string() },
            kernel.spill_bytes.to_string(),
            kernel.private_bytes.to_string(),
            kernel.local_bytes.to_string(),
            if least == most { most.to_string() } else { format!("{least}-{most}") },
            if kernel.threads_per_eu == 0 || kernel.launches == 0 { dash() } else { percent(occupancy) },
            if kernel.lines == 0 { dash() } else { format!("{:.1}", ratio(kernel.lines, accesses)) },
            per_clock(kernel.lines),
            per_clock(kernel.distinct_lines),
            if kernel.occupancy_limit.is_empty() { dash() } else { kernel.occupancy_limit.clone() },
            kernel_name(kernel).to_owned(),
        ]);
    }
    table.text()
}

/// Launches that differ in nothing but their numbers.
struct Group<'a> {
    first: &'a Launch,
    /// Number of the first, as it is shown.
    number: u32,
    count: usize,
    cycles: u64,
}

const LAUNCHES: [&str; 7] = ["launch", "times", "clocks", "global", "local", "limit", "kernel and arguments"];

/// Launches with their index spaces and arguments; those that differ in nothing are one row, with the number of the first.
pub fn launches(analysis: &Analysis<'_>) -> String {
    let report = analysis.report;
    let mut groups: BTreeMap<_, Group<'_>> = BTreeMap::new();
    for (index, launch) in report.launches.iter().enumerate() {
        let number = if launch.number > 0 { launch.number } else { index as u32 + 1 };
        let Launch { kernel, process, global, local, groups: count, arguments, fault, limit, .. } = launch;
        let key = (kernel, process, global, local, count, arguments, fault.is_some(), limit);
        let group = groups.entry(key).or_insert(Group { first: launch, number, count: 0, cycles: 0 });
        if number < group.number {
            (group.first, group.number) = (launch, number);
        }
        (group.count, group.cycles) = (group.count + 1, group.cycles + launch.cycles);
    }
    let mut rows: Vec<Group<'_>> = groups.into_values().collect();
    rows.sort_by_key(|group| (std::cmp::Reverse(group.cycles), group.number));
    let left = rows.len().saturating_sub(SHOWN);
    rows.truncate(SHOWN);
    rows.sort_by_key(|group| (group.first.process, group.number));
    let mut table = Table::new(2, LAUNCHES.map(str::to_owned).to_vec());
    for Group { first, number, count, cycles } in rows {
        let name = kernel_name(&report.kernels[first.kernel]);
        let arguments: String = first.arguments.join(", ").chars().take(ARGUMENTS_WIDTH).collect();
        table.rows.push(vec![
            number.to_string(),
            count.to_string(),
            if first.fault.is_some() { "-".to_owned() } else { cycles.to_string() },
            // Of other drivers, the work-groups are known.
            if first.global == [0; 3] {
                format!("{} groups", sizes(first.groups))
            } else {
                sizes(first.global)
            },
            if first.local == [0; 3] { "-".to_owned() } else { sizes(first.local) },
            if first.fault.is_some() { "failed".to_owned() } else { first.limit.clone() },
            if arguments.is_empty() { name.to_owned() } else { format!("{name}: {arguments}") },
        ]);
    }
    let mut text = table.text();
    if left > 0 {
        let _ = writeln!(text, "and {left} more, which take less time: profile.json has all");
    }
    text
}

/// `64 x 64`.
fn sizes(of: [u64; 3]) -> String {
    let used = of.iter().rposition(|size| *size != 1).map_or(1, |last| last + 1);
    of[..used].iter().map(u64::to_string).collect::<Vec<_>>().join(" x ")
}

/// A line for each kernel with launches that a fault has ended, with the first one.
pub fn faults(analysis: &Analysis<'_>) -> Vec<String> {
    let report = analysis.report;
    let fault = |(number, kernel): (usize, &Kernel)| {
        let mut launches = report.launches.iter().filter(|launch| launch.kernel == number);
        let fault = launches.find_map(|launch| launch.fault.as_ref())?;
        let all = kernel.launches + kernel.faults;
        let fault = fault.replace('\n', "; ");
        Some(format!("{}: {} of {all} launches failed: {fault}", kernel_name(kernel), kernel.faults))
    };
    report.kernels.iter().enumerate().filter_map(fault).collect()
}
