//! Executing work-groups.

use super::file::{self, CHANNEL_ENABLE, CONTROL, IP, NOTIFICATION, STATE, TIMESTAMP, dword, set_dword};
use super::flow;
use super::general::unwritten_indirect;
use super::kernel::Kernel;
use super::message;
use super::op::{Action, Op, Trap};
use super::probe::{NoProbe, Probe};
use super::thread::{FloatMode, Status, Thread};
use crate::device::Device;
use crate::dispatch::{CancelFlag, GroupStatistics, HardwareThread, Launch};
use crate::fault::{Fault, Reason};
use crate::memory::{AddressSpace, Cursor};

/// After how many instructions of a thread the cancel flag is looked at.
const CANCEL_INTERVAL: u64 = 4096;

/// How many instructions a thread of a group runs before the others get their turn: one may wait in a loop
/// for what another does (independent forward progress of sub-groups), which is rare enough that few groups
/// ever come to this. Once a thread has run for as long, all get short turns: it does wait.
const SLICE: u64 = 1 << 20;

/// What a host thread keeps from group to group: registers and shared local memory.
pub struct Worker {
    device: &'static Device,
    /// First hardware thread that is ours.
    first_slot: u32,
    pub(super) threads: Vec<Thread>,
    local: Vec<u8>,
    cursors: Vec<Cursor>,
    /// A thread has waited in a loop for another.
    spun: bool,
}

impl Worker {
    /// A worker whose threads run in the hardware thread slots from `first_slot` on. A thread that begins
    /// takes the first one behind those that wait or are interrupted, so that a group uses one slot, or up to
    /// as many as it has threads.
    pub fn new(device: &'static Device, first_slot: u32) -> Worker {
        let (threads, local, cursors) = (Vec::new(), Vec::new(), Vec::new());
        Worker { device, first_slot, threads, local, cursors, spun: false }
    }

    /// Has a thread of the last group waited in a loop for what another did, as it seems? It ran in vain for
    /// all of its first turn, and was through at once when the others had had theirs.
    pub fn spun(&self) -> bool {
        self.spun
    }
}

/// The barrier of a work-group.
#[derive(Clone, Copy, Debug, Default)]
pub struct Barrier {
    /// Threads that have sent the barrier message since it last opened.
    pub arrived: u32,
}

/// The surroundings of a work-group's threads.
pub struct Context<'a> {
    /// The launch.
    pub launch: &'a Launch,
    /// GPU memory.
    pub memory: &'a AddressSpace,
    /// Shared local memory.
    pub local: &'a mut [u8],
    /// One cursor into the address space for each instruction.
    pub cursors: &'a mut [Cursor],
    /// Cursor for surface states.
    pub state_cursor: Cursor,
    /// The barrier.
    pub barrier: Barrier,
    /// Refuse what the hardware leaves undefined.
    pub strict: bool,
    /// The device that executes.
    pub device: &'static Device,
    cancel: &'a CancelFlag,
    /// How many instructions a thread may run before the others get their turn.
    slice: u64,
}

impl<'a> Context<'a> {
    /// The surroundings of a work-group that begins. `cursors` are as many as the kernel has instructions.
    pub fn new(
        kernel: &Kernel,
        launch: &'a Launch,
        memory: &'a AddressSpace,
        local: &'a mut [u8],
        cursors: &'a mut [Cursor],
        device: &'static Device,
        cancel: &'a CancelFlag,
    ) -> Context<'a> {
        Context {
            launch,
            memory,
            local,
            cursors,
            state_cursor: Cursor::default(),
            barrier: Barrier::default(),
            strict: kernel.is_strict(),
            device,
            cancel,
            slice: SLICE,
        }
    }
}

/// Executes all threads of a work-group.
///
/// # Errors
/// Page faults, what strict mode refuses, what is not simulated, cancellation; with the place.
pub fn run_group(
    kernel: &Kernel,
    launch: &Launch,
    group: [u32; 3],
    memory: &AddressSpace,
    worker: &mut Worker,
    cancel: &CancelFlag,
) -> Result<GroupStatistics, Fault> {
    run_group_from(kernel, launch, group, memory, worker, cancel, &mut NoProbe, |_| ())
}

/// As [`run_group`], and shows `probe` every instruction.
///
/// # Errors
/// As [`run_group`].
pub fn run_group_with<P: Probe>(
    kernel: &Kernel,
    launch: &Launch,
    group: [u32; 3],
    memory: &AddressSpace,
    worker: &mut Worker,
    cancel: &CancelFlag,
    probe: &mut P,
) -> Result<GroupStatistics, Fault> {
    run_group_from(kernel, launch, group, memory, worker, cancel, probe, |_| ())
}

/// As [`run_group_with`]; `prepare` is called for each thread before its first instruction.
#[expect(clippy::too_many_arguments, reason = "those of run_group")]
pub(super) fn run_group_from<P: Probe>(
    kernel: &Kernel,
    launch: &Launch,
    group: [u32; 3],
    memory: &AddressSpace,
    worker: &mut Worker,
    cancel: &CancelFlag,
    probe: &mut P,
    mut prepare: impl FnMut(&mut Thread),
) -> Result<GroupStatistics, Fault> {
    if launch.alternate_float {
        return Err(Fault::unsupported("the alternative floating-point mode"));
    }
    worker.cursors.resize(kernel.ops().len(), Cursor::default());
    // Shared local memory has no defined contents when a group starts.
    worker.local.resize(launch.slm_size as usize, 0);
    let (local, cursors) = (&mut worker.local, &mut worker.cursors);
    let mut context = Context::new(kernel, launch, memory, local, cursors, worker.device, cancel);
    worker.spun = false;
    let count = launch.threads_per_group();
    probe.group(count);
    let mut total = GroupStatistics::default();
    // Threads that wait stay in `threads[..waiting]`; the next one to start takes the place after them.
    let mut waiting = 0;
    for number in 0..count {
        if worker.threads.len() == waiting {
            worker.threads.push(Thread::default());
        }
        let thread = &mut worker.threads[waiting];
        let slot = worker.first_slot + waiting as u32;
        if launch.scratch.is_some_and(|s| slot >= s.slots) {
            return Err(Fault::illegal(format!("hardware thread {slot} has no scratch memory")));
        }
        thread.start(launch, group, number, slot, HardwareThread::number(worker.device, slot));
        prepare(thread);
        run_thread(kernel, &mut context, thread, group, probe)?;
        if thread.status == Status::Ended {
            total += thread.statistics;
        } else {
            waiting += 1;
        }
        open_barrier(&mut context, &mut worker.threads[..waiting], count, probe);
    }
    let mut left = waiting as u32;
    let mut second_turn = true;
    while left > 0 {
        let mut progress = false;
        for n in 0..waiting {
            let thread = &mut worker.threads[n];
            let interrupted = thread.status == Status::Ready && thread.statistics.instructions >= SLICE;
            if thread.status == Status::Waiting && notified(kernel, thread) {
                thread.status = Status::Ready;
            }
            if thread.status != Status::Ready {
                continue;
            }
            progress = true;
            // Its turns may all be too short for it to look itself: it waits again and again.
            if cancel.is_set() {
                let mut fault = Fault::new(Reason::Cancelled);
                fault.group = Some(group);
                return Err(at(kernel, fault, thread.number, thread.ip));
            }
            run_thread(kernel, &mut context, thread, group, probe)?;
            worker.spun |= second_turn && interrupted && thread.status != Status::Ready;
            if thread.status == Status::Ended {
                total += thread.statistics;
                left -= 1;
            }
            open_barrier(&mut context, &mut worker.threads[..waiting], count, probe);
        }
        second_turn = false;
        if !progress {
            let thread = worker.threads[..waiting].iter().find(|t| t.status == Status::Waiting);
            let fault = never_opens(left, count, group);
            return Err(match thread {
                Some(t) => at(kernel, fault, t.number, t.ip),
                None => fault,
            });
        }
    }
    Ok(total)
}

/// Opens the barrier when all threads have arrived: notification counter 0 of each is incremented.
fn open_barrier<P: Probe>(context: &mut Context<'_>, threads: &mut [Thread], count: u32, probe: &mut P) {
    if context.barrier.arrived < count {
        return;
    }
    probe.barrier_opens();
    context.barrier.arrived = 0;
    for thread in threads.iter_mut().filter(|t| t.status != Status::Ended) {
        let notified = dword(&thread.file, NOTIFICATION);
        set_dword(&mut thread.file, NOTIFICATION, notified + 1);
    }
}

/// Has the counter been incremented that a thread waits for?
fn notified(kernel: &Kernel, thread: &Thread) -> bool {
    match kernel.ops()[thread.ip].action {
        Action::Wait(number) => dword(&thread.file, counter(number)) > 0,
        _ => false,
    }
}

/// Where a notification counter is in a thread's registers.
fn counter(number: u8) -> usize {
    NOTIFICATION + usize::from(number) * 4
}

/// Executes a thread until it ends or has to wait, or has had its turn.
fn run_thread<P: Probe>(
    kernel: &Kernel,
    context: &mut Context<'_>,
    thread: &mut Thread,
    group: [u32; 3],
    probe: &mut P,
) -> Result<(), Fault> {
    execute(kernel, context, thread, probe).map_err(|mut trap| {
        trap.group = Some(group);
        at(kernel, *trap, thread.number, thread.ip)
    })
}

/// A fault of a thread at an instruction.
pub fn at(kernel: &Kernel, mut fault: Fault, thread: u32, instruction: usize) -> Fault {
    fault.thread = Some(thread);
    kernel.place(fault, instruction)
}

/// The fault of a work-group of which `left` threads wait.
pub fn never_opens(left: u32, count: u32, group: [u32; 3]) -> Fault {
    let mut fault =
        Fault::illegal(format!("{left} of {count} threads wait for a barrier that the others never reach"));
    fault.group = Some(group);
    fault
}

/// Executes the instruction at which a thread is, which is no branch and no `wait`, and nothing else.
///
/// # Errors
/// As [`run_group`].
pub fn run_one(
    kernel: &Kernel,
    context: &mut Context<'_>,
    thread: &mut Thread,
    group: [u32; 3],
) -> Result<(), Fault> {
    let done = match kernel.ops().get(thread.ip) {
        None | Some(Op { action: Action::Branch(_) | Action::Wait(_), .. }) => {
            Err(Box::new(Fault::unsupported("an instruction that cannot be executed alone")))
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
        at(kernel, *trap, thread.number, thread.ip)
    })
}

fn execute<P: Probe>(
    kernel: &Kernel,
    context: &mut Context<'_>,
    thread: &mut Thread,
    probe: &mut P,
) -> Result<(), Trap> {
    let ops = kernel.ops();
    let mut budget = CANCEL_INTERVAL;
    let end = thread.statistics.instructions + context.slice;
    while thread.status == Status::Ready {
        let Some(op) = ops.get(thread.ip) else {
            return Err(Box::new(Fault::illegal("the thread runs beyond the end of the code")));
        };
        if op.is_target && thread.parked != 0 {
            thread.unpark();
        }
        thread.next = thread.ip + 1;
        let mask = thread.mask(op) & op.write_lanes;
        thread.statistics.instructions += 1;
        thread.statistics.lane_instructions += u64::from(mask.count_ones());
        thread.statistics.cycles += u64::from(op.cycles);
        probe.instruction(context, thread, op, mask);
        step(kernel, context, thread, op, mask)?;
        thread.ip = thread.next;
        budget -= 1;
        if budget == 0 {
            budget = CANCEL_INTERVAL;
            if context.cancel.is_set() {
                return Err(Box::new(Fault::new(Reason::Cancelled)));
            }
            if thread.statistics.instructions >= end && takes_turns(context.launch) {
                context.slice = CANCEL_INTERVAL;
                return Ok(());
            }
        }
    }
    Ok(())
}

/// May threads of the group be under way at the same time? Then each is in a slot of its own, which needs
/// scratch memory if the launch has some.
fn takes_turns(launch: &Launch) -> bool {
    let threads = launch.threads_per_group();
    threads > 1 && launch.scratch.is_none_or(|scratch| threads <= scratch.slots)
}

#[inline(always)]
fn step(
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
                refresh(context, thread, op);
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
            message::send(context, thread, op, message, mask)
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

/// Strict mode: all registers that an instruction reads have been written. A write for which no channel was
/// enabled counts: a wider instruction that reads the result reads what belongs to channels that do not run
/// either. A plain copy of what has not been written is no use of it; the result are the registers that it
/// leaves as if they were not written either.
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

/// Gives the registers that are computed when they are read their values.
fn refresh(context: &Context<'_>, thread: &mut Thread, op: &Op) {
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
    set_dword(file, file::TIMESTAMP + 8, 0);
}
