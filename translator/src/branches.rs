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

/// Where a thread goes if a branch leaves no channel enabled for the next instruction, and only then. `None` of branches that do not look.
pub fn without_channels(branch: &Branch) -> Option<usize> {
    match *branch {
        Branch::If { jip }
        | Branch::Else { jip, .. }
        | Branch::Join { jip }
        | Branch::Leave { jip, .. }
        | Branch::GotoForward { jip, .. }
        | Branch::Diverge { jip } => Some(jip),
        Branch::While { .. }
        | Branch::GotoBackward { .. }
        | Branch::Jump(_)
        | Branch::JumpIndirect
        | Branch::Call { .. }
        | Branch::Return => None,
    }
}
