//! Where an instruction sends a thread, and where it parks channels.

use gencl_eu::message::MessageOperation;
use gencl_eu::op::{Action, Branch, Op};

/// Where a thread may go on after an instruction.
pub fn thread_successors(ops: &[Op], index: usize) -> Vec<usize> {
    let next = index + 1;
    let op = &ops[index];
    match &op.action {
        Action::Branch(branch) => match *branch {
            Branch::Jump(target) if op.predicate.is_none() => vec![target],
            Branch::Jump(target) => vec![next, target],
            Branch::GotoBackward { jip, uip } => vec![jip, uip],
            Branch::While { jip }
            | Branch::If { jip }
            | Branch::Else { jip, .. }
            | Branch::Join { jip }
            | Branch::Leave { jip, .. }
            | Branch::GotoForward { jip, .. }
            | Branch::Diverge { jip } => vec![next, jip],
            Branch::JumpIndirect | Branch::Call { .. } | Branch::Return => Vec::new(),
        },
        Action::Message(m) if m.end_of_thread || matches!(m.kind, Some(MessageOperation::End)) => Vec::new(),
        _ => vec![next],
    }
}

/// Where a branch may park channels.
pub fn parks_at(index: usize, branch: &Branch) -> Vec<usize> {
    match *branch {
        Branch::If { jip } | Branch::Diverge { jip } => vec![jip],
        Branch::Else { uip, .. } | Branch::Leave { uip, .. } | Branch::GotoForward { uip, .. } => vec![uip],
        Branch::While { .. } => vec![index + 1],
        Branch::GotoBackward { jip, .. } => vec![jip],
        Branch::Jump(_)
        | Branch::JumpIndirect
        | Branch::Join { .. }
        | Branch::Call { .. }
        | Branch::Return => Vec::new(),
    }
}

/// Does a thread go on elsewhere than at the next instruction only when no channel waits there?
pub fn passes_waiting(branch: &Branch) -> bool {
    match branch {
        Branch::If { .. }
        | Branch::Else { .. }
        | Branch::Join { .. }
        | Branch::Leave { .. }
        | Branch::GotoForward { .. }
        | Branch::Diverge { .. } => true,
        Branch::While { .. }
        | Branch::GotoBackward { .. }
        | Branch::Jump(_)
        | Branch::JumpIndirect
        | Branch::Call { .. }
        | Branch::Return => false,
    }
}
