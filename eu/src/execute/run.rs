//! Executes work-groups.

use super::probe::{NoProbe, Probe};
use super::step::{counter, locate_fault, step};
use super::watch::{Watch, Watched};
use crate::context::{Barrier, Context, MessageCache};
use crate::decode::Kernel;
use crate::decode::endless::no_end;
use crate::device::Device;
use crate::dispatch::{CancelFlag, GroupStatistics, HardwareThread, Launch};
use crate::fault::{Fault, Reason};
use crate::file::{NOTIFICATION, dword, set_dword};
use crate::memory::AddressSpace;
use crate::op::{Action, Op, Trap};
use crate::thread::{Status, Thread};

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
    pub(crate) threads: Vec<Thread>,
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

/// What decides how long each thread of a work-group is executed at a time.
struct Scheduler<'a> {
    cancel: &'a CancelFlag,
    /// Number of instructions after which a thread is preempted.
    time_slice: u64,
    /// What is observed of the work-group since its batch is suspected to hang.
    watch: Option<Box<Watch>>,
}

impl Scheduler<'_> {
    /// To be called when the cancel flag is raised, between two instructions of a thread.
    #[cold]
    fn look(&mut self, kernel: &Kernel, launch: &Launch, thread: &Thread) -> Result<(), Fault> {
        if self.cancel.is_set() {
            return Err(Fault::new(Reason::Cancelled));
        }
        if !kernel.can_end(thread.ip) {
            return Err(no_end());
        }
        self.watch.get_or_insert_with(|| Box::new(Watch::new(launch.threads_per_group())));
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
pub(crate) fn run_group_from<P: Probe>(
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
    let mut context = Context::new(launch, memory, local, caches, worker.device, kernel.is_strict());
    let mut scheduler = Scheduler { cancel, time_slice: TIME_SLICE, watch: None };
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
        run_thread(kernel, &mut scheduler, &mut context, thread, group, probe)?;
        if thread.status == Status::Ended {
            total += thread.statistics;
        } else {
            waiting += 1;
        }
        release_barrier(&mut context.barrier, &mut worker.threads[..waiting], count, probe);
    }
    let mut left = waiting as u32;
    let mut second_turn = true;
    while left > 0 {
        let mut progress = false;
        if let Some(watch) = &mut scheduler.watch {
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
                let looked = scheduler.look(kernel, launch, thread);
                looked.map_err(|fault| locate_hang(kernel, fault, thread, group))?;
            }
            run_thread(kernel, &mut scheduler, &mut context, thread, group, probe)?;
            worker.spun |= second_turn && interrupted && thread.status != Status::Ready;
            if thread.status == Status::Ended {
                total += thread.statistics;
                left -= 1;
            }
            release_barrier(&mut context.barrier, &mut worker.threads[..waiting], count, probe);
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
pub(super) fn release_barrier<P: Probe>(
    barrier: &mut Barrier,
    threads: &mut [Thread],
    count: u32,
    probe: &mut P,
) {
    if barrier.arrived < count {
        return;
    }
    probe.barrier_opens();
    barrier.arrived = 0;
    for thread in threads.iter_mut().filter(|t| t.status != Status::Ended) {
        let notified = dword(&thread.file, NOTIFICATION);
        set_dword(&mut thread.file, NOTIFICATION, notified + 1);
    }
}

/// Whether the notification counter that a thread waits for is not 0.
pub(super) fn is_notified(kernel: &Kernel, thread: &Thread) -> bool {
    match kernel.ops()[thread.ip].action {
        Action::Wait(number) => dword(&thread.file, counter(number)) > 0,
        _ => false,
    }
}

/// Executes a thread until it ends, waits, spins, or has used up its time slice.
fn run_thread<P: Probe>(
    kernel: &Kernel,
    scheduler: &mut Scheduler<'_>,
    context: &mut Context<'_>,
    thread: &mut Thread,
    group: [u32; 3],
    probe: &mut P,
) -> Result<(), Fault> {
    execute(kernel, scheduler, context, thread, probe)
        .map_err(|trap| locate_hang(kernel, *trap, thread, group))
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

/// The fault of a work-group in which `left` of `count` threads wait at a barrier that the others have not
/// reached.
pub fn barrier_deadlock(left: u32, count: u32, group: [u32; 3]) -> Fault {
    let mut fault =
        Fault::illegal(format!("{left} of {count} threads wait for a barrier that the others never reach"));
    fault.group = Some(group);
    fault
}

fn execute<P: Probe>(
    kernel: &Kernel,
    scheduler: &mut Scheduler<'_>,
    context: &mut Context<'_>,
    thread: &mut Thread,
    probe: &mut P,
) -> Result<(), Trap> {
    let end = thread.statistics.instructions + scheduler.time_slice;
    loop {
        match scheduler.watch.take() {
            None => execute_interval(kernel, context, thread, probe)?,
            Some(mut watch) => {
                let mut probe = Watched { watch: &mut watch, probe };
                let result = execute_interval(kernel, context, thread, &mut probe);
                let repeats = watch.check();
                scheduler.watch = Some(watch);
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
        if scheduler.cancel.is_raised() {
            scheduler.look(kernel, context.launch, thread)?;
        }
        let preempted = thread.statistics.instructions >= end;
        if (preempted || spins) && can_interleave(context.launch) {
            if preempted {
                scheduler.time_slice = CANCEL_INTERVAL;
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
    let mut budget = CANCEL_INTERVAL;
    while thread.status == Status::Ready && budget > 0 {
        let (op, mask) = fetch(kernel, thread)?;
        probe.instruction(context, thread, op, mask);
        step(kernel, context, thread, op, mask)?;
        thread.ip = thread.next;
        budget -= 1;
    }
    Ok(())
}

/// The next instruction of a thread, which is counted, and the lanes that execute it.
#[inline(always)]
pub fn fetch<'k>(kernel: &'k Kernel, thread: &mut Thread) -> Result<(&'k Op, u32), Trap> {
    let Some(op) = kernel.ops().get(thread.ip) else {
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
    Ok((op, mask))
}

/// Whether threads of the group may be preempted. Each then needs its own slot, with scratch memory if the
/// launch has any.
fn can_interleave(launch: &Launch) -> bool {
    let threads = launch.threads_per_group();
    threads > 1 && launch.scratch.is_none_or(|scratch| threads <= scratch.slots)
}
