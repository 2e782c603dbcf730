//! Loops in which a thread may wait for another one of its work-group, which has not begun yet. The interpreter has threads take turns;
//! translated code runs a thread until it ends or comes to a barrier, and would wait for ever.

use gencl_simulator::eu::message::Kind;
use gencl_simulator::eu::op::{Action, Op};

use crate::Refused;
use crate::flow::Flow;
use crate::plan::{Plan, Step};

/// Refuses kernels with loops that may wait so: those without barrier that ask for the result of an atomic operation, or order
/// their accesses.
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
            if let Some(op) = plan.ops[instructions].iter().find(|op| asks_others(op)) {
                let text = format!("the loop around {:#x} may wait for another thread", op.offset);
                return Err(Refused(text));
            }
        }
    }
    Ok(())
}

/// Is it how threads hear of each other?
fn asks_others(op: &Op) -> bool {
    let Action::Message(message) = &op.action else { return false };
    match &message.kind {
        Some(Kind::Atomic(atomic)) => atomic.returns,
        Some(Kind::Fence) => true,
        _ => false,
    }
}
