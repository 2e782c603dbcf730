//! Loops in which a thread may wait for another one of its work-group. Translated code executes one thread after the other; in such loops a thread stops now
//! and then, so that others have their turn, as the interpreter has it.
//!
//! A loop that reads a number, and exchanges it for another as long as it is still there, waits for nobody: it goes on only because others have come on.
//! So floats are added, for instance.

use std::collections::BTreeSet;
use std::ops::{Range, RangeInclusive};

use gencl_eu::file::grf_mask;
use gencl_eu::message::{AtomicOperation, MessageOperation};
use gencl_eu::op::{Action, Op};

use crate::access::writes_flags;
use crate::flow::Flow;
use crate::message::Message;
use crate::native;
use crate::plan::{Plan, Step};

/// The first blocks of the loops that may wait so: those without barrier that ask for the result of an atomic operation, or order
/// their accesses. Of all loops where threads have been seen to wait.
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

/// May a thread wait for another one in a loop? `harmless` are those exchanges that wait for nobody.
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

/// Is it how threads hear of each other?
fn asks_others(op: &Op) -> bool {
    let Action::Message(message) = &op.action else { return false };
    match &message.kind {
        Some(MessageOperation::Atomic(atomic)) => atomic.returns,
        Some(MessageOperation::Fence) => true,
        _ => false,
    }
}

/// Of a loop that is one block, the instructions that ask others, if all of them exchange what the loop has found at that place, and nothing but whether it was
/// still there decides whether the loop goes on. Fences may be among them.
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
    // What is compared, and may be.
    let mut compared: Vec<(usize, u128)> =
        block.clone().filter(|index| decides(plan, *index)).map(|index| (index, 0)).collect();
    for exchange in &exchanged {
        // In the second round, registers have what the first has left.
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

/// An instruction that writes where it finds a number that was expected (`CMPWR`).
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

    /// The registers that have what was found at the place, after an instruction.
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

/// Does it compare?
fn decides(plan: &Plan<'_>, index: usize) -> bool {
    let op = &plan.ops[index];
    op.condition.is_some() && !native::chooses(op.opcode)
}

/// Does a loop decide anything by the answers of exchanges that are harmless themselves?
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
    // The registers that are made of answers, at the beginning of each block.
    let mut entries = vec![0u128; blocks.end() + 1];
    let mut open: Vec<usize> = blocks.clone().rev().collect();
    while let Some(block) = open.pop() {
        let told = own(block).fold(entries[block], |told, index| after(index, told));
        for next in flow.blocks[block].thread.iter().filter(|next| blocks.contains(*next)) {
            if told & !entries[*next] != 0 {
                entries[*next] |= told;
                open.push(*next);
            }
        }
    }
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
