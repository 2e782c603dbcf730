//! Control flow.
//!
//! Every channel has its own instruction pointer ("EU Overview", "Branch Instructions"): a channel is enabled
//! while the thread is at its instruction. A branch parks channels at their target, and the thread jumps to
//! `JIP` when no channel is left at the next instruction. Parked channels are enabled again when the thread
//! arrives at the instruction where they are parked.

use crate::arithmetic::general::gather;
use crate::control;
use crate::decode::Kernel;
use crate::fault::Fault;
use crate::file::{self, dword};
use crate::op::{Branch, Op, Trap};
use crate::operand::{MAX_LANES, Target};
use crate::thread::Thread;

/// Executes a branch.
pub fn branch(kernel: &Kernel, thread: &mut Thread, op: &Op, branch: Branch) -> Result<(), Trap> {
    if let Branch::Jump(_) | Branch::JumpIndirect = branch {
        return jump(kernel, thread, op, branch);
    }
    if dword(&thread.file, file::CONTROL) & control::SINGLE_PROGRAM_FLOW != 0 {
        return Err(Box::new(Fault::unsupported("a branch other than jmpi in single program flow")));
    }
    let enabled = thread.enabled(op);
    let taken = enabled & thread.predicate_or_all(op);
    let place = |mask: u32| mask << op.channel;
    match branch {
        Branch::Jump(_) | Branch::JumpIndirect => {}
        Branch::If { jip } => {
            thread.park(place(enabled & !taken), jip);
            continue_or(thread, jip);
        }
        Branch::Else { jip, uip } => {
            thread.park(place(enabled), uip);
            continue_or(thread, jip);
        }
        Branch::Join { jip } => continue_or(thread, jip),
        Branch::While { jip } => {
            if taken != 0 {
                // Channels that leave the loop are parked after it.
                thread.park(place(enabled & !taken), thread.ip + 1);
                thread.next = jip;
            } else {
                continue_or_next(thread);
            }
        }
        Branch::Leave { jip, uip } => {
            thread.park(place(taken), uip);
            continue_or(thread, jip);
        }
        Branch::GotoForward { jip, uip } => {
            thread.park(place(enabled & !taken), uip);
            continue_or(thread, jip);
        }
        Branch::Diverge { jip } => {
            thread.park(place(taken), jip);
            continue_or(thread, jip);
        }
        Branch::GotoBackward { jip, uip } => {
            if taken != 0 {
                thread.park(place(enabled & !taken), jip);
                thread.next = uip;
            } else {
                thread.park(place(enabled), jip);
                thread.next = jip;
            }
        }
        Branch::Call { target } => call(thread, op, taken, target),
        Branch::Return => return_from_call(kernel, thread, op, taken)?,
    }
    Ok(())
}

/// Continues with the next instruction if a channel is enabled there, else at `jip`.
fn continue_or(thread: &mut Thread, jip: usize) {
    let next = thread.ip + 1;
    if thread.active == 0 && !thread.has_parked_at(next) {
        thread.next = jip;
    }
}

/// Continues with the next instruction, as a `while` does that no channel takes.
fn continue_or_next(thread: &mut Thread) {
    thread.next = thread.ip + 1;
}

/// `jmpi` jumps with all channels; its predicate is that of its first channel.
fn jump(kernel: &Kernel, thread: &mut Thread, op: &Op, branch: Branch) -> Result<(), Trap> {
    if thread.predicate_or_all(op) & 1 == 0 {
        return Ok(());
    }
    thread.next = match branch {
        Branch::Jump(target) => target,
        _ => {
            let offset = scalar(thread, op)? as i32;
            let next = op.offset + u32::from(op.size);
            target_of(kernel, next.wrapping_add_signed(offset))?
        }
    };
    Ok(())
}

/// The first channel of source 0, regardless of the mask.
fn scalar(thread: &Thread, op: &Op) -> Result<u64, Trap> {
    let mut bits = [0; MAX_LANES];
    gather(thread, op, &op.src[0], 1, &mut bits)?;
    Ok(bits[0])
}

fn target_of(kernel: &Kernel, offset: u32) -> Result<usize, Trap> {
    kernel.index_of(offset).ok_or_else(|| {
        Box::new(Fault::illegal(format!(
            "a jump to {offset:#x}, which is not the start of an instruction of the kernel"
        )))
    })
}

/// `call`: the destination gets the byte offset of the next instruction and the mask of channels that call.
fn call(thread: &mut Thread, op: &Op, taken: u32, target: usize) {
    let channels = taken << op.channel;
    if channels == 0 {
        return;
    }
    if let Target::Direct { offset, .. } = op.dst.target {
        file::set_dword(&mut thread.file, offset, op.offset + u32::from(op.size));
        file::set_dword(&mut thread.file, offset + 4, channels);
    }
    let others = thread.active & !channels;
    thread.park(others, thread.ip + 1);
    thread.next = target;
}

fn return_from_call(kernel: &Kernel, thread: &mut Thread, op: &Op, taken: u32) -> Result<(), Trap> {
    let target = target_of(kernel, scalar(thread, op)? as u32)?;
    thread.park(taken << op.channel, target);
    continue_or(thread, target);
    Ok(())
}
