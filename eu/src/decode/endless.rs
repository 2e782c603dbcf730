//! Proofs by the code that threads can never end: no end of a thread can be reached, or a loop does nothing that others
//! notice or can change, so that it never ends if its state repeats.

use crate::fault::{Fault, Reason};
use crate::file;
use crate::message::MessageOperation;
use crate::op::{Action, Branch, Op};
use crate::operand::{SourceLocation, Src};

/// Where a thread may go on after an instruction, as far as the code says it: not after indirect jumps, calls and returns.
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
        Action::Execute(_) | Action::Message(_) | Action::Wait(_) | Action::Nop | Action::Refused(_) => {
            vec![next]
        }
    }
}

/// For each instruction whether a thread that is there may end, or fault at its end. Where an indirect jump, a call
/// or a return goes is unknown.
pub fn reaches_end(ops: &[Op]) -> Vec<bool> {
    let mut reaches = vec![false; ops.len()];
    loop {
        let mut changed = false;
        for index in (0..ops.len()).rev().filter(|index| !reaches[*index]).collect::<Vec<_>>() {
            let next = thread_successors(ops, index);
            let ends = next.is_empty() || matches!(ops[index].action, Action::Refused(_));
            reaches[index] = ends || next.iter().any(|next| reaches.get(*next).copied().unwrap_or(true));
            changed |= reaches[index];
        }
        if !changed {
            return reaches;
        }
    }
}

/// Whether an instruction is in a loop, in which a thread does nothing that others notice or can change: it sends no messages but
/// fences, does not wait, and does not read the time.
pub fn is_silent(ops: &[Op], index: usize) -> bool {
    let mut predecessors = vec![Vec::new(); ops.len()];
    let mut reached = vec![false; ops.len()];
    let mut open = vec![index];
    while let Some(index) = open.pop() {
        if index >= ops.len() || std::mem::replace(&mut reached[index], true) {
            continue;
        }
        if matches!(
            &ops[index].action,
            Action::Branch(Branch::JumpIndirect | Branch::Call { .. } | Branch::Return)
        ) {
            return false;
        }
        for next in thread_successors(ops, index) {
            if let Some(all) = predecessors.get_mut(next) {
                all.push(index);
            }
            open.push(next);
        }
    }
    if predecessors.get(index).is_none_or(Vec::is_empty) {
        return false;
    }
    let mut comes_back = vec![false; ops.len()];
    let mut open = vec![index];
    while let Some(index) = open.pop() {
        if !matches!(effect(&ops[index], u32::MAX), Effect::None) {
            return false;
        }
        if !std::mem::replace(&mut comes_back[index], true) {
            open.extend(&predecessors[index]);
        }
    }
    true
}

/// The fault of a thread from which no end can be reached.
#[cold]
pub fn no_end() -> Fault {
    Fault::new(Reason::Endless("no end of the kernel can be reached from here"))
}

/// The fault of a thread whose state repeats.
#[cold]
pub fn registers_repeat() -> Fault {
    Fault::new(Reason::Endless("the registers repeat, and nothing from outside can change them"))
}

/// Whether an instruction may read the time.
fn reads_time(op: &Op) -> bool {
    const ELEMENT: usize = size_of::<u64>();
    let is_time = |at: usize, bytes: usize| at < file::FLOW_CONTROL && at + bytes > file::TIMESTAMP;
    let reads = |src: &Src| match &src.location {
        SourceLocation::Packed(at) => is_time(*at, usize::from(op.lanes) * ELEMENT),
        SourceLocation::Scalar(at) => is_time(*at, ELEMENT),
        SourceLocation::Scattered(all) => all.iter().any(|at| is_time(usize::from(*at), ELEMENT)),
        SourceLocation::Constant(_)
        | SourceLocation::Constants(_)
        | SourceLocation::Indirect { .. }
        | SourceLocation::None => false,
    };
    op.special && op.src.iter().any(reads)
}

/// What an instruction tells others, or may hear from them.
pub enum Effect {
    None,
    /// Of its own work-group only.
    Group,
    Any,
}

/// What an instruction tells others when it is executed for the channels in `mask`.
pub fn effect(op: &Op, mask: u32) -> Effect {
    match &op.action {
        Action::Message(message) if mask != 0 || message.end_of_thread => {
            message.kind.as_ref().map_or(Effect::Any, effect_of)
        }
        Action::Wait(_) => Effect::Group,
        Action::Execute(_) if reads_time(op) => Effect::Any,
        Action::Execute(_) | Action::Branch(_) | Action::Message(_) | Action::Nop | Action::Refused(_) => {
            Effect::None
        }
    }
}

/// The effect of a message.
fn effect_of(message: &MessageOperation) -> Effect {
    use MessageOperation as M;
    match message {
        M::Fence | M::Race(_) => Effect::None,
        M::Barrier | M::End => Effect::Group,
        M::Scattered(_) | M::Atomic(_) | M::Block(_) if message.is_local() => Effect::Group,
        M::Scattered(_)
        | M::Atomic(_)
        | M::Block(_)
        | M::Scratch(_)
        | M::Typed(_)
        | M::TypedAtomic(_)
        | M::MediaBlock(_)
        | M::Sample(_) => Effect::Any,
    }
}
