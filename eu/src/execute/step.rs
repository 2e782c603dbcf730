//! Executes one instruction of a thread.

use super::flow;
use crate::arithmetic::general::unwritten_indirect;
use crate::context::Context;
use crate::decode::Kernel;
use crate::dispatch::HardwareThread;
use crate::fault::Fault;
use crate::file::{CHANNEL_ENABLE, CONTROL, IP, NOTIFICATION, STATE, TIMESTAMP, dword, set_dword};
use crate::op::{Action, Op, Trap};
use crate::shared_function;
use crate::thread::{FloatMode, Status, Thread};

/// Executes one instruction of a thread, which must be neither a branch nor a `wait`.
///
/// # Errors
/// As [`super::run_group`].
pub fn run_one(
    kernel: &Kernel,
    context: &mut Context<'_>,
    thread: &mut Thread,
    group: [u32; 3],
) -> Result<(), Fault> {
    let done = match kernel.ops().get(thread.ip) {
        None | Some(Op { action: Action::Branch(_) | Action::Wait(_), .. }) => {
            Err(Box::new(Fault::unsupported("a branch or wait as a single instruction")))
        }
        Some(op) => {
            thread.next = thread.ip + 1;
            thread.statistics.cycles += u64::from(op.cycles);
            let mask = thread.mask(op) & op.write_lanes;
            step(kernel, context, thread, op, mask)
        }
    };
    done.map_err(|mut trap| {
        trap.group = Some(group);
        locate_fault(kernel, *trap, thread.number, thread.ip)
    })
}

/// Performs the message of the `send` at which a thread is, for the channels in `mask`.
///
/// # Errors
/// As [`super::run_group`].
pub fn send_one(
    kernel: &Kernel,
    context: &mut Context<'_>,
    thread: &mut Thread,
    group: [u32; 3],
    mask: u32,
) -> Result<(), Fault> {
    let done = match kernel.ops().get(thread.ip) {
        Some(op @ Op { action: Action::Message(message), .. }) => {
            shared_function::send(context, thread, op, message, mask)
        }
        _ => Err(Box::new(Fault::unsupported("a message of another instruction"))),
    };
    done.map_err(|mut trap| {
        trap.group = Some(group);
        locate_fault(kernel, *trap, thread.number, thread.ip)
    })
}

#[inline(always)]
pub fn step(
    kernel: &Kernel,
    context: &mut Context<'_>,
    thread: &mut Thread,
    op: &Op,
    mask: u32,
) -> Result<(), Trap> {
    match &op.action {
        Action::Execute(execute) => {
            if mask == 0 {
                thread.written |= op.writes;
                return Ok(());
            }
            let undefined = check_written(context, thread, op, mask)?;
            if op.special {
                update_computed_registers(context, thread, op);
                execute(thread, op, mask)?;
                thread.float = FloatMode::of_control(dword(&thread.file, CONTROL));
            } else {
                execute(thread, op, mask)?;
            }
            thread.written |= op.writes & !undefined;
            Ok(())
        }
        Action::Branch(branch) => flow::branch(kernel, thread, op, *branch),
        Action::Message(message) => {
            if mask == 0 && !message.end_of_thread {
                thread.written |= op.writes;
                return Ok(());
            }
            thread.statistics.messages += 1;
            check_written(context, thread, op, mask)?;
            thread.written |= op.writes;
            shared_function::send(context, thread, op, message, mask)
        }
        Action::Wait(number) => {
            let at = counter(*number);
            match dword(&thread.file, at) {
                0 => {
                    thread.status = Status::Waiting;
                    thread.next = thread.ip;
                }
                count => set_dword(&mut thread.file, at, count - 1),
            }
            Ok(())
        }
        Action::Nop => Ok(()),
        Action::Refused(fault) => Err(fault.clone()),
    }
}

/// Strict mode: checks that all registers that an instruction reads have been written. A write with an empty
/// mask counts, since the elements that it left unwritten belong to channels that do not run. A plain copy of
/// unwritten registers is allowed; the result is the bit set of destination registers that are then unwritten
/// as well.
#[inline(always)]
fn check_written(context: &Context<'_>, thread: &Thread, op: &Op, mask: u32) -> Result<u128, Trap> {
    if context.strict {
        let missing = op.reads & !thread.written;
        if missing != 0 {
            return match op.copies_by {
                Some(distance) if distance >= 0 => Ok(missing << distance),
                Some(distance) => Ok(missing >> -distance),
                None => Err(unwritten(missing.trailing_zeros() as usize)),
            };
        }
        if op.indirect_source
            && let Some(register) = unwritten_indirect(thread, op, mask)
        {
            return Err(unwritten(register));
        }
    }
    Ok(0)
}

#[cold]
fn unwritten(register: usize) -> Trap {
    Box::new(Fault::illegal(format!("g{register} is read but has never been written")))
}

/// Updates the architecture registers that are computed when they are read.
fn update_computed_registers(context: &Context<'_>, thread: &mut Thread, op: &Op) {
    let place = HardwareThread::of_slot(context.device, thread.slot);
    let state = place.thread | place.eu << 8 | place.subslice << 12 | place.slice << 14;
    let cycles = thread.statistics.cycles;
    let (active, dispatch) = (thread.active, thread.dispatch_mask);
    let file = &mut thread.file;
    set_dword(file, CHANNEL_ENABLE, active);
    set_dword(file, STATE, state);
    set_dword(file, STATE + 8, dispatch);
    set_dword(file, IP, op.offset);
    set_dword(file, TIMESTAMP, cycles as u32);
    set_dword(file, TIMESTAMP + 4, (cycles >> 32) as u32);
    set_dword(file, TIMESTAMP + 8, 0);
}

/// Offset of a notification counter in the register file.
pub fn counter(number: u8) -> usize {
    NOTIFICATION + usize::from(number) * 4
}

/// Adds thread and instruction to a fault.
pub fn locate_fault(kernel: &Kernel, mut fault: Fault, thread: u32, instruction: usize) -> Fault {
    fault.thread = Some(thread);
    kernel.locate(fault, instruction)
}
