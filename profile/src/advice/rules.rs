//! The rules.

use std::collections::{BTreeMap, BTreeSet};

use gencl_eu::cycles::{MISS, MessageClass};
use gencl_eu::device::Device;
use gencl_simulator::statistics::Bound;

use super::expression::{array_access, array_name};
use super::{Effect, Executed, Finding, Removed, Rule, Subject};
use crate::analysis::{Cost, ratio};
use crate::code::{Memory, Slow};
use crate::faults::{self, Fault};
use crate::limit::Uses;

/// All rules. Of those with the same gain the first is told first.
pub const RULES: &[Rule] = &[
    rule("spilled registers", spills),
    rule("array in private memory", private_arrays),
    rule("uncoalesced access", uncoalesced),
    rule("bank conflicts", bank_conflicts),
    rule("atomic operations on the same element", same_element),
    rule("barrier that may be redundant", redundant_barriers),
    rule("divergence", divergence),
    rule("partly filled threads", partial_threads),
    rule("few threads", few_threads),
    rule("unequal threads", unequal_threads),
    rule("low occupancy", occupancy),
    rule("integer division", division),
    rule("64-bit floats", doubles),
    rule("64-bit integers", wide_integers),
    rule("the same element for all lanes", uniform_loads),
    rule("extended math", extended_math),
    Rule { fault: "waiting for memory", find: late_loads, is_last_resort: true },
];

const fn rule(fault: &'static str, find: fn(&Subject<'_>) -> Option<Finding>) -> Rule {
    Rule { fault, find, is_last_resort: false }
}

/// Clocks of a response from memory that hits the L3 cache instead.
const SAVED_BY_HIT: f64 = (MISS - MessageClass::Memory.latency()) as f64 / MISS as f64;

/// A finding, unless nothing goes away.
fn finding(action: String, reason: String, removed: Removed) -> Option<Finding> {
    (!removed.is_empty()).then_some(Finding { action, reason, effect: Effect::Removed(removed) })
}

/// The sum of the costs of instructions.
fn total<'a>(instructions: impl Iterator<Item = Executed<'a>>) -> Cost {
    let mut total = Cost::default();
    instructions.for_each(|executed| total.add(&executed.cost()));
    total
}

/// Everything that an instruction uses, and the clocks that others wait for it.
fn all(executed: &Executed<'_>) -> Uses {
    let mut uses = *executed.uses;
    uses[Bound::Latency] += executed.awaited();
    uses
}

fn accesses(executed: &Executed<'_>, memory: Memory) -> bool {
    executed.facts.and_then(|facts| facts.access).is_some_and(|access| access.memory == memory)
}

fn has_fault(executed: &Executed<'_>, fault: Fault) -> bool {
    faults::fault(executed.class(), &executed.cost()) == Some(fault)
}

/// What the lines access that instructions with a fault are in, by what the source has at them, the largest first.
fn named<'a>(
    subject: &Subject<'a>,
    has: impl Fn(&Executed<'_>) -> bool,
    name: fn(&str) -> Option<&str>,
) -> Option<&'a str> {
    let mut names: BTreeMap<&'a str, u64> = BTreeMap::new();
    for executed in subject.instructions().filter(|executed| has(executed)) {
        if let Some(name) = subject.text_at(executed.index).and_then(name) {
            *names.entry(name).or_default() += executed.instruction.counter.port;
        }
    }
    names.into_iter().max_by_key(|(_, port)| *port).map(|(name, _)| name)
}

fn spills(subject: &Subject<'_>) -> Option<Finding> {
    if subject.kernel.spill_bytes == 0 {
        return None;
    }
    let mut removed = subject.removed(|executed| accesses(executed, Memory::Scratch).then(|| all(executed)));
    if removed.is_empty() {
        return None;
    }
    // Where registers are short, values are copied, and constants are loaded again and again; and what a register would
    // be needed for cannot be executed ahead, to hide waiting.
    let copies = subject
        .removed(|executed| executed.facts.is_some_and(|facts| facts.copies).then_some(*executed.uses));
    removed.uses.add(&copies.uses, 1.0);
    let waiting: u64 = subject.instructions().map(|executed| executed.instruction.counter.wait).sum();
    removed.uses[Bound::Latency] = removed.uses[Bound::Latency].max(waiting as f64);
    let width = subject.kernel.simd_width;
    let action = match width {
        16.. => {
            "keep fewer values at a time (smaller arrays and blocks, less unrolling), or ask for threads of 8 work-items \
             with `__attribute__((intel_reqd_sub_group_size(8)))`, which have twice the registers for each"
        }
        _ => "keep fewer values at a time: smaller arrays and blocks, less unrolling",
    };
    let reason = format!(
        "{} bytes of registers are spilled by each thread of {width} lanes",
        subject.kernel.spill_bytes
    );
    finding(action.to_owned(), reason, removed)
}

fn private_arrays(subject: &Subject<'_>) -> Option<Finding> {
    let removed = subject.removed(|executed| accesses(executed, Memory::Private).then(|| all(executed)));
    let action = "index private arrays by constants (loops that can be unrolled), or make them smaller, so that they \
                  are in registers";
    let reason = format!("{} bytes of each work-item are in memory", subject.kernel.private_bytes);
    finding(action.to_owned(), reason, removed)
}

fn uncoalesced(subject: &Subject<'_>) -> Option<Finding> {
    let has = |executed: &Executed<'_>| {
        !accesses(executed, Memory::Scratch)
            && !accesses(executed, Memory::Private)
            && has_fault(executed, Fault::Uncoalesced)
    };
    let removed = subject.removed(|executed| {
        has(executed).then(|| {
            let cost = executed.cost();
            let excess = (cost.lines - faults::needed_lines(&cost)) as f64;
            let mut uses = Uses::default();
            uses[Bound::Port] = excess;
            uses[Bound::Memory] = cost.misses as f64 * unused_lines(subject, &cost);
            uses[Bound::Latency] = excess + executed.awaited() * SAVED_BY_HIT;
            uses
        })
    });
    let cost = total(subject.instructions().filter(has));
    let access =
        named(subject, has, array_access).map_or("memory".to_owned(), |access| format!("`{access}`"));
    let action = format!(
        "access {access} so that neighbouring work-items (get_global_id(0)) access neighbouring elements: swap the roles \
         of the indices"
    );
    let reason = format!(
        "the lanes of a message access {:.1} cache lines; their bytes fit in {:.1}",
        ratio(cost.lines, cost.sends),
        ratio(faults::needed_lines(&cost), cost.sends)
    );
    finding(action, reason, removed)
}

/// The part of the cache lines from memory that messages would not access if their bytes were neighbours: none, if they
/// access as many bytes as are in the lines.
fn unused_lines(subject: &Subject<'_>, cost: &Cost) -> f64 {
    let misses = subject.analysis.uses[subject.number].total[Bound::Memory];
    // Lines that several work-groups access come once.
    let lines = subject.kernel.distinct_lines as f64 * cost.misses as f64 / misses.max(1.0);
    let needed = cost.bytes as f64 / faults::LINE as f64;
    if lines > needed { 1.0 - needed / lines } else { 0.0 }
}

fn bank_conflicts(subject: &Subject<'_>) -> Option<Finding> {
    let has = |executed: &Executed<'_>| has_fault(executed, Fault::BankConflicts);
    let removed = subject.removed(|executed| has(executed).then(|| conflicts(executed)));
    let cost = total(subject.instructions().filter(has));
    let array =
        named(subject, has, array_name).map_or("the local array".to_owned(), |name| format!("`{name}`"));
    let action = format!("pad the rows of {array} by one element");
    let reason = format!(
        "the lanes access different rows of the same of 16 banks: a message takes {:.1} clocks instead of {:.1}",
        ratio(cost.port, cost.sends),
        ratio(cost.port - cost.conflicts, cost.sends)
    );
    finding(action, reason, removed)
}

/// The clocks of the data port that conflicts take. A thread waits for no more of them.
fn conflicts(executed: &Executed<'_>) -> Uses {
    let mut uses = Uses::default();
    let clocks = executed.instruction.counter.conflicts as f64;
    (uses[Bound::Port], uses[Bound::Latency]) = (clocks, clocks);
    uses
}

fn same_element(subject: &Subject<'_>) -> Option<Finding> {
    let has = |executed: &Executed<'_>| has_fault(executed, Fault::SameElement);
    // What remains is one operation for each work-group.
    let removed = subject.removed(|executed| has(executed).then(|| all(executed)));
    let cost = total(subject.instructions().filter(has));
    let action = "combine the values of a work-group first (work_group_reduce_add, sub_group_reduce_add, or a sum in \
                  local memory), and let one work-item do the atomic operation";
    let reason = format!(
        "the operations of a message take {:.1} clocks, one after the other",
        ratio(cost.port, cost.sends)
    );
    finding(action.to_owned(), reason, removed)
}

fn redundant_barriers(subject: &Subject<'_>) -> Option<Finding> {
    let redundant = &subject.analysis.redundant[subject.number];
    let first = redundant.first()?;
    let mut removed = subject.removed(|executed| {
        // Its line has what it takes to send the message.
        let line = subject.line(executed.index);
        let is_it =
            |barrier: usize| barrier == executed.index || line.is_some() && line == subject.line(barrier);
        redundant.iter().any(|redundant| is_it(redundant.index)).then(|| all(executed))
    });
    // Accesses that it separates can overlap.
    let separated: BTreeSet<usize> =
        redundant.iter().flat_map(|redundant| redundant.separated.clone()).collect();
    let separated = subject.instructions().filter(|executed| separated.contains(&executed.index));
    removed.uses[Bound::Latency] += separated.map(|executed| executed.awaited()).sum::<f64>();
    let awaited: u64 =
        redundant.iter().map(|redundant| subject.kernel.instructions[redundant.index].counter.awaited).sum();
    let each = ratio(awaited, subject.kernel.threads);
    let reason = format!("a thread waits {each:.0} clocks there; {}", first.reason);
    finding("remove the barrier".to_owned(), reason, removed)
}

/// The part of the lanes of a thread that exist: that of the instructions with most.
fn filled(subject: &Subject<'_>) -> f64 {
    let masked = subject.instructions().filter(|executed| {
        executed.facts.is_none_or(|facts| !facts.unmasked) && executed.instruction.width > 1
    });
    masked.map(|executed| executed.cost().enabled()).fold(0.0, f64::max)
}

/// The part of the lanes that each block of instructions has enabled, for each of its instructions.
fn enabled_by_block(subject: &Subject<'_>) -> Option<Vec<f64>> {
    let facts = subject.analysis.facts[subject.number].as_ref()?;
    let mut leaders = BTreeSet::from([0]);
    for (index, fact) in facts.iter().enumerate() {
        if fact.branch || fact.next != [index + 1] {
            leaders.insert(index + 1);
            leaders.extend(fact.next.iter().copied());
        }
    }
    let mut enabled = vec![1.0; facts.len()];
    let starts: Vec<usize> = leaders.into_iter().filter(|start| *start < facts.len()).collect();
    for (number, start) in starts.iter().enumerate() {
        let end = starts.get(number + 1).copied().unwrap_or(facts.len());
        let block = *start..end;
        let masked = subject.instructions().filter(|executed| {
            block.contains(&executed.index)
                && executed.instruction.width > 1
                && executed.facts.is_some_and(|facts| !facts.unmasked)
        });
        let cost = total(masked);
        if cost.slots > 0 {
            enabled[block].fill(cost.enabled());
        }
    }
    Some(enabled)
}

fn divergence(subject: &Subject<'_>) -> Option<Finding> {
    let (enabled, filled) = (enabled_by_block(subject)?, filled(subject));
    let part = |index: usize| enabled[index] / filled;
    let mut removed = subject.removed(|executed| {
        let part = part(executed.index);
        (part < 0.75).then(|| {
            let mut uses = Uses::default();
            uses.add(executed.uses, 1.0 - part);
            // Lanes that are packed into fewer messages access as many cache lines.
            (uses[Bound::Memory], uses[Bound::Port]) = (0.0, 0.0);
            uses
        })
    });
    // The branch is what has to be changed.
    let mut by_branch: BTreeMap<_, f64> = BTreeMap::new();
    for executed in subject.instructions().filter(|executed| part(executed.index) < 0.75) {
        let branch = branch_before(subject, &enabled, executed.index).unwrap_or(executed.index);
        let clocks = (1.0 - part(executed.index)) * executed.cost().clocks as f64;
        *by_branch.entry(subject.line(branch)).or_default() += clocks;
    }
    let cost = total(subject.instructions().filter(|executed| part(executed.index) < 0.75));
    removed.lines = by_branch;
    let share = 100.0 * ratio(cost.issue, subject.analysis.kernels[subject.number].issue);
    let reason = format!(
        "{share:.0}% of the issue clocks are of instructions with {:.0}% of the lanes enabled",
        100.0 * cost.enabled()
    );
    let action = "let neighbouring work-items take the same branch, or loop as often as each other: sort or renumber \
                  them by the condition, or select values instead";
    finding(action.to_owned(), reason, removed)
}

/// The branch by which the lanes of an instruction were disabled: the last instruction of the nearest block before it that
/// has more of them enabled.
fn branch_before(subject: &Subject<'_>, enabled: &[f64], index: usize) -> Option<usize> {
    let facts = subject.analysis.facts[subject.number].as_ref()?;
    let more = |at: &usize| enabled[*at] > enabled[index] + 0.05;
    let before = (0..index).rev().find(|at| facts[*at].branch && more(at));
    before.filter(|at| subject.line(*at).is_some())
}

fn partial_threads(subject: &Subject<'_>) -> Option<Finding> {
    let filled = filled(subject);
    if !(0.01..0.9).contains(&filled) {
        return None;
    }
    let removed = subject.removed(|executed| {
        let mut uses = Uses::default();
        uses.add(executed.uses, 1.0 - filled);
        (uses[Bound::Memory], uses[Bound::Port]) = (0.0, 0.0);
        Some(uses)
    });
    let removed = Removed { lines: BTreeMap::new(), ..removed };
    let width = subject.kernel.simd_width;
    let action = format!("use work-groups with a multiple of {width} work-items");
    let reason = format!("of the {width} lanes of a thread {:.0}% have a work-item", 100.0 * filled);
    finding(action, reason, removed)
}

/// The part of its time that a kernel takes as a part of a larger launch, and whether there are as many threads in a launch
/// as the device can hold.
fn of_full_device(subject: &Subject<'_>) -> Option<(f64, bool)> {
    let kernel = subject.kernel;
    let device = Device::named(&subject.analysis.report.device)?;
    let part = ratio(kernel.full_cycles, kernel.cycles);
    let threads = ratio(kernel.threads, kernel.launches);
    (part > 0.0 && part < 0.85).then_some((part, threads >= f64::from(device.total_threads())))
}

fn few_threads(subject: &Subject<'_>) -> Option<Finding> {
    let (part, _) = of_full_device(subject).filter(|(_, is_full)| !is_full)?;
    let threads = ratio(subject.kernel.threads, subject.kernel.launches);
    let device = Device::named(&subject.analysis.report.device)?;
    let action = "launch more work-items at a time, or several kernels in an out-of-order queue".to_owned();
    let reason = format!("a launch has {threads:.0} threads; the device holds {}", device.total_threads());
    Some(Finding { action, reason, effect: Effect::Remaining(part) })
}

fn unequal_threads(subject: &Subject<'_>) -> Option<Finding> {
    let (part, _) = of_full_device(subject).filter(|(_, is_full)| *is_full)?;
    let action = "divide the work among work-items evenly".to_owned();
    let reason = "launches end later than their work would take on the whole device: some threads take longer than others, \
                  or are too few in the end"
        .to_owned();
    Some(Finding { action, reason, effect: Effect::Remaining(part) })
}

fn occupancy(subject: &Subject<'_>) -> Option<Finding> {
    let kernel = subject.kernel;
    let device = Device::named(&subject.analysis.report.device)?;
    // More threads than a launch has are no use to it.
    let possible = ratio(kernel.threads, kernel.launches).min(f64::from(device.total_threads()));
    let part = kernel.occupancy * f64::from(device.total_eus()) / possible.max(1.0);
    if subject.analysis.uses[subject.number].limit != Some(Bound::Latency) || !(0.01..0.9).contains(&part) {
        return None;
    }
    let mut removed = Removed::default();
    removed.uses[Bound::Latency] = subject.analysis.uses[subject.number].total[Bound::Latency] * (1.0 - part);
    let threads = ratio(kernel.threads, kernel.groups).max(1.0);
    let by_threads = (f64::from(device.subslice_threads()) / threads).floor();
    let by_memory = device.slm_size.checked_div(kernel.local_bytes).map_or(f64::INFINITY, f64::from);
    let groups = kernel.occupancy * f64::from(device.subslice_threads() / device.threads.max(1)) / threads;
    let action = if by_memory < by_threads && by_memory < groups + 1.0 {
        let bytes = f64::from(device.slm_size) / by_threads;
        format!(
            "use at most {bytes:.0} bytes of local memory in a work-group instead of {}",
            kernel.local_bytes
        )
    } else if groups + 1.0 > by_threads {
        "use smaller work-groups, of which more fit on a subslice".to_owned()
    } else {
        format!("use larger work-groups: a subslice has barriers for no more than {groups:.0}")
    };
    let reason = format!(
        "{:.1} of {} threads of an EU are resident, too few to hide their waiting",
        kernel.occupancy, kernel.threads_per_eu
    );
    finding(action, reason, removed)
}

/// What goes away when arithmetic of a kind takes a part of its clocks.
fn slow(subject: &Subject<'_>, kind: Slow, kept: f64) -> Removed {
    subject.removed(|executed| {
        let is_slow = executed.facts.is_some_and(|facts| facts.slow == Some(kind));
        is_slow.then(|| {
            let mut uses = Uses::default();
            uses.add(executed.uses, 1.0 - kept);
            uses[Bound::OnePipe] = executed.uses[Bound::OnePipe];
            uses[Bound::Latency] += executed.awaited() * (1.0 - kept);
            uses
        })
    })
}

/// The part of the issue clocks that arithmetic of a kind takes, as text.
fn issue_of(subject: &Subject<'_>, kind: Slow) -> String {
    let of_kind = |executed: &Executed<'_>| executed.facts.is_some_and(|facts| facts.slow == Some(kind));
    let cost = total(subject.instructions().filter(of_kind));
    format!(
        "{:.0}% of the issue clocks",
        100.0 * ratio(cost.issue, subject.analysis.kernels[subject.number].issue)
    )
}

fn division(subject: &Subject<'_>) -> Option<Finding> {
    let action = "use `&` and `>>` for powers of two, unsigned values for constants; multiply by a reciprocal, or count quotient \
                  and remainder in a loop";
    let reason =
        format!("{} are of integer divisions, 26 for eight lanes", issue_of(subject, Slow::Division));
    finding(action.to_owned(), reason, slow(subject, Slow::Division, 0.0))
}

fn doubles(subject: &Subject<'_>) -> Option<Finding> {
    let reason = format!(
        "{} are of 64-bit floats, which one of two pipes executes at half the rate",
        issue_of(subject, Slow::Double)
    );
    let action = "use float where its precision is enough; constants need the suffix `f`".to_owned();
    finding(action, reason, slow(subject, Slow::Double, 0.5))
}

fn wide_integers(subject: &Subject<'_>) -> Option<Finding> {
    let reason =
        format!("{} are of 64-bit integers, at a quarter of the rate", issue_of(subject, Slow::Wide));
    finding("use 32-bit integers".to_owned(), reason, slow(subject, Slow::Wide, 0.25))
}

fn extended_math(subject: &Subject<'_>) -> Option<Finding> {
    // Functions are not removed for nothing.
    if subject.analysis.uses[subject.number].limit != Some(Bound::OnePipe) {
        return None;
    }
    let reason = format!(
        "{} are of functions, roots and divisions, which one of two pipes executes",
        issue_of(subject, Slow::Math)
    );
    let action =
        "compute functions, roots and divisions once and reuse them, or multiply by reciprocals".to_owned();
    finding(action, reason, slow(subject, Slow::Math, 0.0))
}

/// Elements that a vector load has.
const VECTOR: f64 = 4.0;

fn uniform_loads(subject: &Subject<'_>) -> Option<Finding> {
    let has = |executed: &Executed<'_>| {
        let counter = &executed.instruction.counter;
        let access = executed.facts.and_then(|facts| facts.access);
        access.is_some_and(|access| access.memory == Memory::Global && access.per_lane && !access.write)
            && counter.executions > subject.kernel.threads
            && counter.lanes >= 4 * counter.executions
            && (1..=4 * counter.executions).contains(&counter.bytes)
    };
    let lines: BTreeSet<_> =
        subject.instructions().filter(has).map(|executed| subject.line(executed.index)).collect();
    // Three of four loads, and the addresses of all their lines.
    let removed = subject.removed(|executed| {
        let of_address = executed.instruction.intops > 0 && lines.contains(&subject.line(executed.index));
        (has(executed) || of_address).then(|| {
            let mut uses = Uses::default();
            uses.add(&all(executed), 1.0 - 1.0 / VECTOR);
            uses
        })
    });
    let access =
        named(subject, has, array_access).map_or("the element".to_owned(), |access| format!("`{access}`"));
    let action = format!("load four elements at a time (vload4) instead of {access}");
    finding(action, "all lanes of a message load the same element".to_owned(), removed)
}

fn late_loads(subject: &Subject<'_>) -> Option<Finding> {
    if subject.analysis.uses[subject.number].limit != Some(Bound::Latency) {
        return None;
    }
    let removed = subject.removed(|executed| {
        let waits = accesses(executed, Memory::Global) || accesses(executed, Memory::Local);
        (waits && executed.awaited() > 0.0).then(|| {
            let mut uses = Uses::default();
            uses[Bound::Latency] = executed.awaited();
            uses
        })
    });
    let total = subject.analysis.uses[subject.number].total[Bound::Latency];
    let part = 100.0 * removed.uses[Bound::Latency] / total.max(1.0);
    let reason = format!("threads wait for responses in {part:.0}% of their clocks");
    let action = "load elements before they are needed, and several at a time: independent loads, unrolled loops, vectors";
    finding(action.to_owned(), reason, removed)
}
