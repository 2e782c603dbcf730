//! Where a branch parks channels, and where it sends a thread without channels.

use gencl_eu::op::Branch;

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
