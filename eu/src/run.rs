//! The interpreter: executes work-groups.

use super::endless::{Watch, Watched, no_end};
use super::file::{self, CHANNEL_ENABLE, CONTROL, IP, NOTIFICATION, STATE, TIMESTAMP, dword, set_dword};
use super::flow;
use super::general::unwritten_indirect;
use super::kernel::Kernel;
use super::message::{self, MessageCache};
use super::op::{Action, Op, Trap};
use super::probe::{NoProbe, Probe};
use super::thread::{FloatMode, Status, Thread};
use crate::device::Device;
use crate::dispatch::{CancelFlag, GroupStatistics, HardwareThread, Launch};
use crate::fault::{Fault, Reason};
use crate::memory::{AddressSpace, Cursor};

/// Number of instructions of a thread after which the cancel flag is checked.
const CANCEL_INTERVAL: u64 = 4096;

/// Number of instructions after which a thread is preempted, so that the others of its group make progress:
/// it may be spinning on memory that another is to write (independent forward progress of sub-groups). Once
/// this has happened in a group, its time slices are short, as a thread probably spins.
const TIME_SLICE: u64 = 1 << 20;

/// The interpreter's state on one host thread, kept from group to group: threads with their registers, shared
/// local memory, and what message instructions keep.
pub struct Worker {
    device: &'static Device,
    /// First of its hardware thread slots.
    first_slot: u32,
    pub(super) threads: Vec<Thread>,
    local: Vec<u8>,
    caches: Vec<MessageCache>,
    /// See [`Worker::spun`].
    spun: bool,
}

impl Worker {
    /// A worker whose threads run in the hardware thread slots from `first_slot` on. A new thread takes the
    /// first slot after those of suspended threads, so that a group uses between one slot and as many as it
    /// has threads.
    pub fn new(device: &'static Device, first_slot: u32) -> Worker {
        let (threads, local, caches) = (Vec::new(), Vec::new(), Vec::new());
        Worker { device, first_slot, threads, local, caches, spun: false }
    }

    /// Whether a thread of the last group seems to have spun on memory that another one wrote: it used up its
    /// first time slice, and left the loop in the next one, after the others had run.
    pub fn spun(&self) -> bool {
        self.spun
    }
}

/// The barrier of a work-group.
#[derive(Clone, Copy, Debug, Default)]
pub struct Barrier {
    /// Number of threads that have sent the barrier message since the barrier was last released.
    pub arrived: u32,
}

/// The state that the threads of a work-group share.
pub struct Context<'a> {
    /// The launch.
    pub launch: &'a Launch,
    /// GPU memory.
    pub memory: &'a AddressSpace,
    /// Shared local memory.
    pub local: &'a mut [u8],
    /// One per instruction.
    pub caches: &'a mut [MessageCache],
    /// Cursor for surface states.
    pub state_cursor: Cursor,
    /// The barrier.
    pub barrier: Barrier,
    /// Strict mode: refuse what the hardware leaves undefined.
    pub strict: bool,
    /// The device that executes.
    pub device: &'static Device,
    cancel: &'a CancelFlag,
    /// Number of instructions after which a thread is preempted.
    time_slice: u64,
    /// What is observed of the work-group since its batch is suspected to hang.
    watch: Option<Box<Watch>>,
}

impl<'a> Context<'a> {
    /// The state of a new work-group. There is one element of `caches` for each instruction of the kernel.
    pub fn new(
        kernel: &Kernel,
        launch: &'a Launch,
        memory: &'a AddressSpace,
        local: &'a mut [u8],
        caches: &'a mut [MessageCache],
        device: &'static Device,
        cancel: &'a CancelFlag,
    ) -> Context<'a> {
        Context {
            launch,
            memory,
            local,
            caches,
            state_cursor: Cursor::default(),
            barrier: Barrier::default(),
            strict: kernel.is_strict(),
            device,
            cancel,
            time_slice: TIME_SLICE,
            watch: None,
        }
    }

    /// To be called when the cancel flag is raised, between two instructions of a thread.
    #[cold]
    fn look(&mut self, kernel: &Kernel, thread: &Thread) -> Result<(), Fault> {
        if self.cancel.is_set() {
            return Err(Fault::new(Reason::Cancelled));
        }
        if !kernel.can_end(thread.ip) {
            return Err(no_end());
        }
        let threads = self.launch.threads_per_group();
        self.watch.get_or_insert_with(|| Box::new(Watch::new(threads)));
        Ok(())
    }
}

/// Executes all threads of a work-group.
///
/// # Errors
/// Page faults, violations of strict mode's rules, unsupported features, cancellation; each with its
/// location.
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

/// As [`run_group`], and calls `probe` for every instruction.
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
    worker.caches.resize_with(kernel.ops().len(), MessageCache::default);
    // Shared local memory has no defined contents when a group starts.
    worker.local.resize(launch.slm_size as usize, 0);
    let (local, caches) = (&mut worker.local, &mut worker.caches);
    let mut context = Context::new(kernel, launch, memory, local, caches, worker.device, cancel);
    worker.spun = false;
    let count = launch.threads_per_group();
    probe.group(group, count);
    let mut total = GroupStatistics::default();
    // Suspended threads are in `threads[..waiting]`; the next one to start uses the element after them.
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
        release_barrier(&mut context, &mut worker.threads[..waiting], count, probe);
    }
    let mut left = waiting as u32;
    let mut second_turn = true;
    while left > 0 {
        let mut progress = false;
        if let Some(watch) = &mut context.watch {
            let round = watch.round(&worker.threads[..waiting], context.local, context.barrier.arrived);
            round.map_err(|(fault, thread)| locate_hang(kernel, fault, &worker.threads[thread], group))?;
        }
        for n in 0..waiting {
            let thread = &mut worker.threads[n];
            let interrupted = thread.status == Status::Ready && thread.statistics.instructions >= TIME_SLICE;
            if thread.status == Status::Waiting && is_notified(kernel, thread) {
                thread.status = Status::Ready;
            }
            if thread.status != Status::Ready {
                continue;
            }
            progress = true;
            // Checked here as well, since its time slices may all be too short for the check in `execute`.
            if cancel.is_raised() {
                let looked = context.look(kernel, thread);
                looked.map_err(|fault| locate_hang(kernel, fault, thread, group))?;
            }
            run_thread(kernel, &mut context, thread, group, probe)?;
            worker.spun |= second_turn && interrupted && thread.status != Status::Ready;
            if thread.status == Status::Ended {
                total += thread.statistics;
                left -= 1;
            }
            release_barrier(&mut context, &mut worker.threads[..waiting], count, probe);
        }
        second_turn = false;
        if !progress {
            let thread = worker.threads[..waiting].iter().find(|t| t.status == Status::Waiting);
            let fault = barrier_deadlock(left, count, group);
            return Err(match thread {
                Some(t) => locate_fault(kernel, fault, t.number, t.ip),
                None => fault,
            });
        }
    }
    Ok(total)
}

/// Releases the barrier when all threads have arrived: increments notification counter 0 of each.
fn release_barrier<P: Probe>(context: &mut Context<'_>, threads: &mut [Thread], count: u32, probe: &mut P) {
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

/// Whether the notification counter that a thread waits for is not 0.
fn is_notified(kernel: &Kernel, thread: &Thread) -> bool {
    match kernel.ops()[thread.ip].action {
        Action::Wait(number) => dword(&thread.file, counter(number)) > 0,
        _ => false,
    }
}

/// Offset of a notification counter in the register file.
fn counter(number: u8) -> usize {
    NOTIFICATION + usize::from(number) * 4
}

/// Executes a thread until it ends, waits, spins, or has used up its time slice.
fn run_thread<P: Probe>(
    kernel: &Kernel,
    context: &mut Context<'_>,
    thread: &mut Thread,
    group: [u32; 3],
    probe: &mut P,
) -> Result<(), Fault> {
    execute(kernel, context, thread, probe).map_err(|trap| locate_hang(kernel, *trap, thread, group))
}

/// Adds thread, instruction and work-group to a fault, and a lane if it is that of a thread which does not end.
fn locate_hang(kernel: &Kernel, mut fault: Fault, thread: &Thread, group: [u32; 3]) -> Fault {
    fault.group = Some(group);
    let mut fault = locate_fault(kernel, fault, thread.number, thread.ip);
    if matches!(fault.reason, Reason::Cancelled | Reason::Endless(_)) && thread.active != 0 {
        fault.lane.get_or_insert(thread.active.trailing_zeros());
    }
    fault
}

/// Adds thread and instruction to a fault.
pub fn locate_fault(kernel: &Kernel, mut fault: Fault, thread: u32, instruction: usize) -> Fault {
    fault.thread = Some(thread);
    kernel.locate(fault, instruction)
}

/// The fault of a work-group in which `left` of `count` threads wait at a barrier that the others have not
/// reached.
pub fn barrier_deadlock(left: u32, count: u32, group: [u32; 3]) -> Fault {
    let mut fault =
        Fault::illegal(format!("{left} of {count} threads wait for a barrier that the others never reach"));
    fault.group = Some(group);
    fault
}

/// Executes one instruction of a thread, which must be neither a branch nor a `wait`.
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
/// As [`run_group`].
pub fn send_one(
    kernel: &Kernel,
    context: &mut Context<'_>,
    thread: &mut Thread,
    group: [u32; 3],
    mask: u32,
) -> Result<(), Fault> {
    let done = match kernel.ops().get(thread.ip) {
        Some(op @ Op { action: Action::Message(message), .. }) => {
            message::send(context, thread, op, message, mask)
        }
        _ => Err(Box::new(Fault::unsupported("a message of another instruction"))),
    };
    done.map_err(|mut trap| {
        trap.group = Some(group);
        locate_fault(kernel, *trap, thread.number, thread.ip)
    })
}

fn execute<P: Probe>(
    kernel: &Kernel,
    context: &mut Context<'_>,
    thread: &mut Thread,
    probe: &mut P,
) -> Result<(), Trap> {
    let end = thread.statistics.instructions + context.time_slice;
    loop {
        match context.watch.take() {
            None => execute_interval(kernel, context, thread, probe)?,
            Some(mut watch) => {
                let mut probe = Watched { watch: &mut watch, probe };
                let result = execute_interval(kernel, context, thread, &mut probe);
                let repeats = watch.check();
                context.watch = Some(watch);
                result?;
                repeats?;
            }
        }
        let spins = thread.status == Status::Spinning;
        if spins {
            thread.status = Status::Ready;
        }
        if thread.status != Status::Ready {
            return Ok(());
        }
        if context.cancel.is_raised() {
            context.look(kernel, thread)?;
        }
        let preempted = thread.statistics.instructions >= end;
        if (preempted || spins) && can_interleave(context.launch) {
            if preempted {
                context.time_slice = CANCEL_INTERVAL;
            }
            return Ok(());
        }
    }
}

/// Executes a thread until it ends, waits, spins, or has executed [`CANCEL_INTERVAL`] instructions.
fn execute_interval<P: Probe>(
    kernel: &Kernel,
    context: &mut Context<'_>,
    thread: &mut Thread,
    probe: &mut P,
) -> Result<(), Trap> {
    let ops = kernel.ops();
    let mut budget = CANCEL_INTERVAL;
    while thread.status == Status::Ready && budget > 0 {
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
    }
    Ok(())
}

/// Whether threads of the group may be preempted. Each then needs its own slot, with scratch memory if the
/// launch has any.
fn can_interleave(launch: &Launch) -> bool {
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
    set_dword(file, file::TIMESTAMP + 8, 0);
}
