//! Barriers that may be redundant: those that order no accesses of the work-group's threads.
//!
//! A barrier is needed when a thread's access before it and another's access after it may be to the same place, and one of
//! them writes. The machine code tells which accesses there are on the paths from the neighbouring barriers to this one,
//! and from this one to the next; it does not tell their addresses, so that each access is taken for one of the same place
//! in its kind of memory. Hence a barrier that is named here orders nothing in these paths, and others may be redundant
//! without being named.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use gencl_simulator::statistics::Report;
use gencl_simulator::statistics::report::Kernel;

use crate::code::{Facts, Memory};
use crate::lines::{LineKey, line_of, line_text};

/// A barrier that may be redundant, if those before it in the list are removed.
#[derive(Clone, Debug, PartialEq)]
pub struct Redundant {
    /// The index of its message's instruction.
    pub index: usize,
    /// The accesses to memory between its neighbours, which it keeps from overlapping.
    pub separated: BTreeSet<usize>,
    /// Why.
    pub reason: String,
}

/// What is on the paths between a barrier and its neighbours, on one side.
#[derive(Default)]
struct Side {
    /// Instructions that access memory.
    accesses: Vec<usize>,
    /// The neighbouring barriers.
    barriers: BTreeSet<usize>,
    /// Whether there is a path from the kernel's begin, or to its end.
    open: bool,
}

/// The memory that a barrier orders, with its name.
const ORDERED: [(Memory, &str); 2] = [(Memory::Local, "local memory"), (Memory::Global, "global memory")];

/// The barriers of a kernel that may be redundant, those first for which threads wait longest.
pub fn redundant(report: &Report, number: usize, facts: Option<&[Facts]>) -> Vec<Redundant> {
    let Some(facts) = facts else { return Vec::new() };
    let kernel = &report.kernels[number];
    let instructions = &kernel.instructions;
    let executed = |index: &usize| instructions[*index].counter.executions > 0;
    let mut barriers: Vec<usize> = (0..facts.len()).filter(|index| facts[*index].barrier).collect();
    barriers.retain(executed);
    barriers.sort_by_key(|index| Reverse(instructions[*index].counter.awaited));
    let mut previous = vec![Vec::new(); facts.len()];
    for (index, fact) in facts.iter().enumerate() {
        fact.next.iter().for_each(|next| previous[*next].push(index));
    }
    let mut found: Vec<Redundant> = Vec::new();
    for index in barriers {
        let removed = |other: usize| other == index || found.iter().any(|known| known.index == other);
        let stops = |other: usize| facts[other].barrier && !removed(other);
        let before = walk(facts, index, |at| previous[at].clone(), stops, |at| at == 0);
        let after = walk(facts, index, |at| facts[at].next.clone(), stops, |at| facts[at].next.is_empty());
        let view = View { report, kernel, facts };
        let memories = if view.orders_local_memory_only(index) { &ORDERED[..1] } else { &ORDERED[..] };
        let is_needed = |(memory, _): &(Memory, &str)| {
            let [first, second] = [&before, &after].map(|side| view.uses(side, *memory));
            let writes = |lines: &[(bool, Option<LineKey>)]| lines.iter().any(|(write, _)| *write);
            !first.is_empty() && !second.is_empty() && (writes(&first) || writes(&second))
        };
        if !memories.iter().any(is_needed) {
            let reason = view.reason(memories, &before, &after);
            let separated = before.accesses.iter().chain(&after.accesses).copied().collect();
            found.push(Redundant { index, separated, reason });
        }
    }
    found
}

/// What can be reached from an instruction without a stop.
fn walk(
    facts: &[Facts],
    from: usize,
    next: impl Fn(usize) -> Vec<usize>,
    stops: impl Fn(usize) -> bool,
    is_end: impl Fn(usize) -> bool,
) -> Side {
    let mut side = Side { open: is_end(from), ..Side::default() };
    let (mut seen, mut open) = (BTreeSet::new(), next(from));
    while let Some(at) = open.pop() {
        if stops(at) {
            side.barriers.insert(at);
        } else if seen.insert(at) {
            side.open |= is_end(at);
            if facts[at].access.is_some() {
                side.accesses.push(at);
            }
            open.extend(next(at));
        }
    }
    side.accesses.sort_unstable();
    side
}

struct View<'a> {
    report: &'a Report,
    kernel: &'a Kernel,
    facts: &'a [Facts],
}

impl View<'_> {
    fn line(&self, index: usize) -> Option<LineKey> {
        line_of(self.report, &self.kernel.instructions[index])
    }

    /// Whether the source asks for an order of local memory alone, as far as the line tells.
    fn orders_local_memory_only(&self, barrier: usize) -> bool {
        let text = self.line(barrier).map_or("", |line| line_text(self.report, line));
        let has = |memory: &str| text.contains(&format!("{memory}_MEM_FENCE"));
        has("LOCAL") && !has("GLOBAL") && !has("IMAGE")
    }

    /// The accesses of a side to a kind of memory: whether they write, and their lines.
    fn uses(&self, side: &Side, memory: Memory) -> Vec<(bool, Option<LineKey>)> {
        let access = |index: &usize| {
            let access = self.facts[*index].access.filter(|access| access.memory == memory)?;
            Some((access.write, self.line(*index)))
        };
        side.accesses.iter().filter_map(access).collect()
    }

    fn reason(&self, memories: &[(Memory, &str)], before: &Side, after: &Side) -> String {
        let parts: Vec<String> = memories
            .iter()
            .map(|(memory, name)| {
                let [first, second] = [before, after].map(|side| self.described(side, *memory));
                format!("{name} is {first} before it and {second} after it")
            })
            .collect();
        let begin = self.neighbours(before, "the begin");
        let end = self.neighbours(after, "the end");
        format!("from {begin} to {end}, {}: nothing that it has to order", parts.join(", and "))
    }

    fn described(&self, side: &Side, memory: Memory) -> String {
        let uses = self.uses(side, memory);
        let kind = |write: bool, name: &str| {
            let lines: BTreeSet<u32> = uses
                .iter()
                .filter(|(own, _)| *own == write)
                .filter_map(|(_, line)| Some((*line)?.1))
                .collect();
            let any = uses.iter().any(|(own, _)| *own == write);
            any.then(|| format!("{name}{}", if lines.is_empty() { String::new() } else { at(&lines) }))
        };
        let kinds: Vec<String> =
            [kind(false, "only read"), kind(true, "only written")].into_iter().flatten().collect();
        match &kinds[..] {
            [] => "not accessed".to_owned(),
            [one] => one.clone(),
            _ => kinds.join(" and ").replace("only ", ""),
        }
    }

    fn neighbours(&self, side: &Side, edge: &str) -> String {
        let lines: BTreeSet<u32> =
            side.barriers.iter().filter_map(|index| Some(self.line(*index)?.1)).collect();
        let mut names = Vec::new();
        if !side.barriers.is_empty() {
            names.push(format!("the barrier{}", at(&lines)));
        }
        if side.open || names.is_empty() {
            names.push(edge.to_owned());
        }
        names.join(" or ")
    }
}

/// ` (line 7)` or ` (lines 7, 9)`.
fn at(lines: &BTreeSet<u32>) -> String {
    let numbers: Vec<String> = lines.iter().map(u32::to_string).collect();
    format!(" (line{} {})", if numbers.len() == 1 { "" } else { "s" }, numbers.join(", "))
}
