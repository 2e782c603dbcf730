//! Loops in which a thread may wait for another one of its work-group, which has not begun yet. The interpreter has threads take turns;
//! translated code runs a thread until it ends or comes to a barrier, and would wait for ever.

use gencl_simulator::eu::file::grf_mask;
use gencl_simulator::eu::message::{AtomicOperation, Kind};
use gencl_simulator::eu::op::{Action, Op};

use crate::Refused;
use crate::flow::Flow;
use crate::message::Message;
use crate::plan::{Plan, Step};

/// Refuses kernels with loops that may wait so: those without barrier that ask for the result of an atomic operation, or order
/// their accesses; but not for exchanges with what was found there before, which fail only when another thread has come on.
///
/// # Errors
/// The instruction.
pub fn check(plan: &Plan<'_>, flow: &Flow) -> Result<(), Refused> {
    for (last, block) in flow.blocks.iter().enumerate() {
        for header in block.thread.iter().filter(|next| **next <= last) {
            let instructions = flow.blocks[*header].start..block.end;
            if plan.steps[instructions.clone()].iter().any(|step| matches!(step, Step::Wait)) {
                continue;
            }
            let exchanges = exchanges(plan, flow, *header, last);
            let waits = |index: &usize| match asks_others(&plan.ops[*index]) {
                Some(Asks::Result) => !exchanges.contains(index),
                Some(Asks::Order) => exchanges.is_empty(),
                None => false,
            };
            if let Some(index) = instructions.into_iter().find(waits) {
                let text =
                    format!("the loop around {:#x} may wait for another thread", plan.ops[index].offset);
                return Err(Refused(text));
            }
        }
    }
    Ok(())
}

/// How threads hear of each other.
enum Asks {
    /// The result of an atomic operation.
    Result,
    /// The order of accesses.
    Order,
}

fn asks_others(op: &Op) -> Option<Asks> {
    let Action::Message(message) = &op.action else { return None };
    match &message.kind {
        Some(Kind::Atomic(atomic)) => atomic.returns.then_some(Asks::Result),
        Some(Kind::Fence) => Some(Asks::Order),
        _ => None,
    }
}

/// The instructions of a loop, from its first block to its last, that write what they find to be what it was before (`CMPWR`): the number that they compare
/// with is made of what the loop itself has read.
fn exchanges(plan: &Plan<'_>, flow: &Flow, first: usize, last: usize) -> Vec<usize> {
    // The registers that are made of what was read, at the beginning of each block.
    let mut entries = vec![0u128; last + 1];
    let mut open: Vec<usize> = (first..=last).rev().collect();
    while let Some(block) = open.pop() {
        let mut read = entries[block];
        for op in &plan.ops[flow.blocks[block].start..flow.blocks[block].end] {
            read = after(op, read);
        }
        for next in flow.blocks[block].thread.iter().filter(|next| (first..=last).contains(*next)) {
            if read & !entries[*next] != 0 {
                entries[*next] |= read;
                open.push(*next);
            }
        }
    }
    let mut found = Vec::new();
    for block in first..=last {
        let mut read = entries[block];
        for index in flow.blocks[block].start..flow.blocks[block].end {
            if expected(plan, index).is_some_and(|registers| registers & read == registers) {
                found.push(index);
            }
            read = after(&plan.ops[index], read);
        }
    }
    found
}

/// The registers that are made of what was read, after an instruction.
fn after(op: &Op, read: u128) -> u128 {
    let made = matches!(op.action, Action::Message(_)) || op.reads & read != 0;
    if made { read | op.writes } else { read & !op.writes }
}

/// The registers with which an exchange compares.
fn expected(plan: &Plan<'_>, index: usize) -> Option<u128> {
    let Step::Message(message @ Message::Atomic(atomic)) = &plan.steps[index] else { return None };
    if atomic.operation != AtomicOperation::CompareWrite {
        return None;
    }
    // Behind the addresses.
    let effects = message.effects(&plan.ops[index]);
    let (start, end) = effects.uses.get(1)?.as_ref()?.extent();
    Some(grf_mask(start, end))
}
