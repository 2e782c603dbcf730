//! The order of straight code that has more values than the host has registers.
//!
//! A kernel's compiler lays chains of instructions side by side, for 128 registers of 32 bytes. A host with fewer would keep all
//! of them on the stack, and load and store with each instruction. A few chains at a time stay in its registers, and are enough to
//! be executed at the same time.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use fixedbitset::FixedBitSet;
use gencl_eu::operand::Target;

use crate::host::Vectors;
use crate::native;
use crate::plan::{Plan, Step, is_flag, is_plain};
use crate::variables::Variables;

/// Chains with fewer instructions, on average, stay as they are: it would be the joins that take the registers.
const LONG: usize = 8;

/// Variables of no more bytes need no vector.
const SCALAR: usize = 8;

/// What instructions have in common.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Resource {
    Variable(usize),
    Flags,
}

/// Instructions that need nothing but what each other, and whole chains before, leave.
#[derive(Default)]
struct Chain {
    instructions: Vec<usize>,
    /// Others need something of the last of them: what goes on from there is another chain, which can be executed beside those.
    ended: bool,
    /// All chains before.
    before: FixedBitSet,
    /// Their levels are lower.
    level: usize,
}

/// The order of a block's instructions, for a host with such vectors.
pub fn of_block(plan: &Plan<'_>, variables: &Variables, block: Range<usize>, host: Vectors) -> Vec<usize> {
    let mut order = Vec::with_capacity(block.len());
    let mut rest = block;
    while !rest.is_empty() {
        let end = rest.clone().find(|index| !is_arithmetic(plan, *index)).unwrap_or(rest.end);
        order.extend(of_run(plan, variables, rest.start..end, host));
        order.extend(end..rest.end.min(end + 1));
        rest.start = (end + 1).min(rest.end);
    }
    order
}

/// Is it arithmetic on variables, and nothing else?
pub fn is_arithmetic(plan: &Plan<'_>, index: usize) -> bool {
    let op = &plan.ops[index];
    let target = match op.dst.target {
        Target::Null => true,
        Target::Direct { offset, .. } => is_plain(offset),
        Target::Indirect { .. } => false,
    };
    let sources = op.src.iter().filter_map(|src| src.offset()).all(is_plain);
    matches!(plan.steps[index], Step::Nothing)
        || matches!(plan.steps[index], Step::Native(_)) && target && sources && !native::uses_accumulator(op)
}

/// The order of instructions that are all plain.
fn of_run(plan: &Plan<'_>, variables: &Variables, run: Range<usize>, host: Vectors) -> Vec<usize> {
    let all: Vec<usize> = run.clone().collect();
    if most_held(variables, &all, host) <= host.count {
        return all;
    }
    let found = [true, false].into_iter().find_map(|splits| chains(plan, variables, run.clone(), splits));
    let Some(chains) = found else { return all };
    let mut order = Vec::with_capacity(all.len());
    let levels = chains.iter().map(|chain| chain.level).max().unwrap_or(0);
    for level in 0..=levels {
        let (mut group, mut held) = (Vec::new(), 0);
        let mut flush = |group: &mut Vec<usize>| {
            group.sort_unstable();
            order.append(group);
        };
        for chain in chains.iter().filter(|chain| chain.level == level) {
            let own = most_held(variables, &chain.instructions, host);
            if held + own > host.count {
                flush(&mut group);
                held = 0;
            }
            held += own;
            group.extend(&chain.instructions);
        }
        flush(&mut group);
    }
    order
}

/// The most vectors of the host that instructions, one after the other, have in use at a time: from the first to the last that name them.
fn most_held(variables: &Variables, instructions: &[usize], host: Vectors) -> usize {
    let mut ends: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
    for (at, index) in instructions.iter().enumerate() {
        let uses = variables.uses[*index].iter().flatten();
        for variable in uses.chain(&variables.definitions[*index]) {
            ends.entry(*variable).or_insert((at, at)).1 = at;
        }
    }
    let mut changes = vec![0isize; instructions.len() + 1];
    for (variable, (first, last)) in ends {
        let bytes = variables.all.get(variable).map_or(0, |v| v.end - v.start);
        if bytes > SCALAR {
            let count = bytes.div_ceil(host.bytes) as isize;
            changes[first] += count;
            // The last that reads it may write to its place.
            changes[last] -= count;
        }
    }
    let held = changes.iter().scan(0, |held, change| {
        *held += change;
        Some(*held)
    });
    held.max().unwrap_or(0).unsigned_abs()
}

/// The chains of instructions: one that needs what a single chain has left, and those before it, is its next; one that needs several, or
/// none, begins another, and so does one that needs what others do, if chains are to be split there. `None` if they are short.
fn chains(plan: &Plan<'_>, variables: &Variables, run: Range<usize>, splits: bool) -> Option<Vec<Chain>> {
    let most = run.len() / LONG;
    let mut chains: Vec<Chain> = Vec::new();
    let mut writers: BTreeMap<Resource, usize> = BTreeMap::new();
    let mut readers: BTreeMap<Resource, BTreeSet<usize>> = BTreeMap::new();
    for index in run {
        let (uses, definitions) = resources(plan, variables, index);
        let mut before: BTreeSet<usize> =
            uses.iter().chain(&definitions).filter_map(|resource| writers.get(resource).copied()).collect();
        before.extend(definitions.iter().filter_map(|resource| readers.get(resource)).flatten());
        let own = before
            .last()
            .copied()
            .filter(|last| before.iter().all(|other| other == last || chains[*last].before.contains(*other)))
            .filter(|last| !splits || !chains[*last].ended);
        for other in before.iter().filter(|other| Some(**other) != own) {
            chains[*other].ended = true;
        }
        let own = match own {
            Some(own) => own,
            None if chains.len() == most => return None,
            None => {
                let level = before.iter().map(|chain| chains[*chain].level + 1).max().unwrap_or(0);
                let mut all: FixedBitSet = before.iter().copied().collect();
                before.iter().for_each(|chain| all.union_with(&chains[*chain].before));
                chains.push(Chain { level, before: all, ..Chain::default() });
                chains.len() - 1
            }
        };
        for resource in &uses {
            readers.entry(*resource).or_default().insert(own);
        }
        for resource in &definitions {
            writers.insert(*resource, own);
            readers.remove(resource);
        }
        chains[own].instructions.push(index);
    }
    Some(chains)
}

/// What an instruction reads and writes.
fn resources(plan: &Plan<'_>, variables: &Variables, index: usize) -> (Vec<Resource>, Vec<Resource>) {
    if matches!(plan.steps[index], Step::Nothing) {
        return Default::default();
    }
    let op = &plan.ops[index];
    let reads = op.predicate.is_some() || op.src.iter().filter_map(|src| src.offset()).any(is_flag);
    let writes = matches!(op.dst.target, Target::Direct { offset, .. } if is_flag(offset));
    let mut uses: Vec<Resource> =
        variables.uses[index].iter().flatten().copied().map(Resource::Variable).collect();
    let mut definitions: Vec<Resource> =
        variables.definitions[index].iter().copied().map(Resource::Variable).collect();
    if reads {
        uses.push(Resource::Flags);
    }
    if op.condition.is_some() || writes {
        definitions.push(Resource::Flags);
    }
    (uses, definitions)
}
