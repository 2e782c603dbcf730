//! Spin loops, in which a thread may wait for another one of its work-group. Translated code executes one thread after the other; in
//! such loops a thread yields every so many iterations, as the interpreter's threads do.
//!
//! A compare-and-exchange loop is no spin loop: an iteration fails only because another thread's has succeeded. Atomic additions of
//! floats are such loops.

use std::collections::BTreeSet;
use std::ops::{Range, RangeInclusive};

use gencl_eu::file::grf_mask;
use gencl_eu::message::{AtomicOperation, MessageOperation};
use gencl_eu::op::{Action, Op};
use gencl_ir_support::dataflow;

use crate::analysis::access::writes_flags;
use crate::analysis::flow::Flow;
use crate::analysis::message::Message;
use crate::analysis::native;
use crate::analysis::plan::{Plan, Step};

/// Headers of possible spin loops: loops without a barrier that use the result of an atomic operation, or have a fence. All loops
/// where threads have been observed to spin.
pub fn turns(plan: &Plan<'_>, flow: &Flow) -> Vec<usize> {
    let harmless: BTreeSet<usize> = (0..flow.blocks.len())
        .filter(|block| flow.blocks[*block].thread.contains(block))
        .flat_map(|block| exchanges(plan, flow.blocks[block].start..flow.blocks[block].end))
        .collect();
    let waits =
        |blocks: &RangeInclusive<usize>| plan.variant.spins || may_wait(plan, flow, blocks, &harmless);
    let headers: BTreeSet<usize> = flow.loops().filter(waits).map(|blocks| *blocks.start()).collect();
    headers.into_iter().collect()
}

/// Whether a thread may wait for another one in a loop. `harmless`: compare-and-exchange loops that wait for nobody.
fn may_wait(
    plan: &Plan<'_>,
    flow: &Flow,
    blocks: &RangeInclusive<usize>,
    harmless: &BTreeSet<usize>,
) -> bool {
    let mut instructions = flow.blocks[*blocks.start()].start..flow.blocks[*blocks.end()].end;
    if plan.steps[instructions.clone()].iter().any(|step| matches!(step, Step::Wait)) {
        return false;
    }
    let asks = |index: usize| asks_others(&plan.ops[index]) && !harmless.contains(&index);
    instructions.any(asks) || decides_by_answers(plan, flow, blocks, harmless)
}

/// Whether it may observe another thread's write.
fn asks_others(op: &Op) -> bool {
    let Action::Message(message) = &op.action else { return false };
    match &message.kind {
        Some(MessageOperation::Atomic(atomic)) => atomic.returns,
        Some(MessageOperation::Fence) => true,
        _ => false,
    }
}

/// The compare-and-exchange operations, and fences, of a loop of one block, if each expects what the loop has read at its address, and
/// only their success decides whether the loop is left. Otherwise none.
fn exchanges(plan: &Plan<'_>, block: Range<usize>) -> Vec<usize> {
    let asking = || block.clone().filter(|index| asks_others(&plan.ops[*index]));
    let exchanged: Vec<Exchange> = asking().filter_map(|index| Exchange::of(plan, index)).collect();
    let others = asking().filter(|index| exchanged.iter().all(|exchange| exchange.index != *index));
    let only_fences = others.map(|index| &plan.ops[index].action).all(
        |action| matches!(action, Action::Message(m) if matches!(m.kind, Some(MessageOperation::Fence))),
    );
    if exchanged.is_empty() || !only_fences {
        return Vec::new();
    }
    // Comparisons, with the registers that hold values read by the loop.
    let mut compared: Vec<(usize, u128)> =
        block.clone().filter(|index| decides(plan, *index)).map(|index| (index, 0)).collect();
    for exchange in &exchanged {
        // The second iteration begins with the registers of the first.
        let mut found = 0;
        let mut fits = false;
        for index in block.clone().chain(block.clone()) {
            if index == exchange.index {
                fits = exchange.expected & !found == 0;
            }
            if let Some((_, known)) = compared.iter_mut().find(|(decision, _)| *decision == index) {
                *known |= found;
            }
            found = exchange.after(plan, index, found);
        }
        let moves = block.clone().any(|index| plan.ops[index].writes & exchange.addresses != 0);
        if !fits || moves {
            return Vec::new();
        }
    }
    let answers = compared.iter().all(|(index, known)| plan.ops[*index].reads & !known == 0);
    let flags = block.clone().all(|index| !writes_flags(&plan.ops[index]));
    if answers && flags { asking().collect() } else { Vec::new() }
}

/// A compare-and-exchange (`CMPWR`).
struct Exchange {
    index: usize,
    /// The registers of its addresses.
    addresses: u128,
    /// Those of the numbers.
    expected: u128,
}

impl Exchange {
    fn of(plan: &Plan<'_>, index: usize) -> Option<Exchange> {
        let Step::Message(Message::Atomic(atomic)) = &plan.steps[index] else { return None };
        if atomic.operation != AtomicOperation::CompareWrite {
            return None;
        }
        let [addresses, expected] = [0, 1].map(|number| registers_of(plan, index, number));
        Some(Exchange { index, addresses: addresses?, expected: expected? })
    }

    /// The registers that hold the value at its address, after an instruction.
    fn after(&self, plan: &Plan<'_>, index: usize, found: u128) -> u128 {
        let op = &plan.ops[index];
        let reads = matches!(&plan.steps[index], Step::Message(Message::Lanes(lanes)) if !lanes.write);
        let here = || registers_of(plan, index, 0).is_some_and(|own| self.addresses & !own == 0);
        let copies = op.copies_by.is_some() && op.reads & !found == 0;
        if index == self.index || reads && here() || copies { found | op.writes } else { found & !op.writes }
    }
}

/// The registers of a message's operand.
fn registers_of(plan: &Plan<'_>, index: usize, number: usize) -> Option<u128> {
    let (start, end) = plan.effects[index].uses.get(number)?.as_ref()?.extent();
    Some(grf_mask(start, end))
}

/// Whether it compares.
fn decides(plan: &Plan<'_>, index: usize) -> bool {
    let op = &plan.ops[index];
    op.condition.is_some() && !native::chooses(op.opcode)
}

/// Whether a condition in a loop depends on the result of a harmless exchange.
fn decides_by_answers(
    plan: &Plan<'_>,
    flow: &Flow,
    blocks: &RangeInclusive<usize>,
    harmless: &BTreeSet<usize>,
) -> bool {
    let after = |index: usize, told: u128| {
        let op = &plan.ops[index];
        let made = harmless.contains(&index) || op.reads & told != 0;
        if made { told | op.writes } else { told & !op.writes }
    };
    let own = |block: usize| flow.blocks[block].start..flow.blocks[block].end;
    // Registers that depend on the results, at the beginning of each block.
    let mut entries = vec![0u128; blocks.end() + 1];
    let successors =
        |block: usize| flow.blocks[block].thread.iter().copied().filter(|next| blocks.contains(next));
    let transfer = |block: usize, told: &mut u128| {
        *told = own(block).fold(*told, |told, index| after(index, told));
    };
    let join =
        |known: &mut u128, arriving: &u128| arriving & !std::mem::replace(known, *known | arriving) != 0;
    dataflow::solve(blocks.clone(), successors, &mut entries, transfer, join);
    for block in blocks.clone().filter(|block| !own(*block).any(|index| harmless.contains(&index))) {
        let mut told = entries[block];
        for index in own(block) {
            if (decides(plan, index) || writes_flags(&plan.ops[index])) && plan.ops[index].reads & told != 0 {
                return true;
            }
            told = after(index, told);
        }
    }
    false
}
