//! A work-group that is executed one instruction at a time, in an order that depends on nothing else, for debuggers.

use super::probe::NoProbe;
use super::run::{barrier_deadlock, fetch, is_notified, release_barrier};
use super::step::{locate_fault, step};
use crate::context::{Barrier, Context, MessageCache};
use crate::decode::Kernel;
use crate::device::Device;
use crate::dispatch::{GroupStatistics, HardwareThread, Launch};
use crate::fault::Fault;
use crate::memory::AddressSpace;
use crate::op::Action;
use crate::shared_function::Footprint;
use crate::thread::{Status, Thread};

/// Number of instructions after which another thread has its turn, as it may be to write what this one waits for.
const TURN: u64 = 1 << 16;

/// What work-groups are executed with.
#[derive(Clone, Copy)]
pub struct Surroundings<'a> {
    /// The device.
    pub device: &'static Device,
    /// The kernel.
    pub kernel: &'a Kernel,
    /// The launch.
    pub launch: &'a Launch,
    /// GPU memory.
    pub memory: &'a AddressSpace,
}

/// A work-group. A copy of it goes on in the same way, if memory is the same, too.
#[derive(Clone)]
pub struct SteppedGroup {
    /// Its number in each dimension.
    pub id: [u32; 3],
    /// Its threads.
    pub threads: Vec<Thread>,
    /// Shared local memory.
    pub local: Vec<u8>,
    barrier: Barrier,
    /// The thread whose turn it is.
    current: usize,
    /// When its turn ends, in its instructions.
    turn_ends: u64,
}

impl SteppedGroup {
    /// A work-group before its first instruction.
    ///
    /// # Errors
    /// Modes that are not simulated; more threads than there is scratch memory for.
    pub fn new(around: Surroundings<'_>, id: [u32; 3]) -> Result<SteppedGroup, Fault> {
        let Surroundings { device, launch, .. } = around;
        if launch.alternate_float {
            return Err(Fault::unsupported("the alternative floating-point mode"));
        }
        let count = launch.threads_per_group();
        if launch.scratch.is_some_and(|scratch| count > scratch.slots) {
            return Err(Fault::unsupported(
                "debugging a work-group without scratch memory for all its threads",
            ));
        }
        let threads = (0..count).map(|number| {
            let mut thread = Thread::default();
            thread.start(launch, id, number, number, HardwareThread::number(device, number));
            thread
        });
        Ok(SteppedGroup {
            id,
            threads: threads.collect(),
            local: vec![0; launch.slm_size as usize],
            barrier: Barrier::default(),
            current: 0,
            turn_ends: TURN,
        })
    }

    /// The thread that executes the next instruction, by its number; none when all have ended. The lanes that are
    /// parked at its instruction are enabled.
    ///
    /// # Errors
    /// All threads wait.
    pub fn next(&mut self, around: Surroundings<'_>) -> Result<Option<usize>, Fault> {
        let count = self.threads.len();
        let kernel = around.kernel;
        let (current, turn_ends) = (self.current, self.turn_ends);
        let in_turn =
            |thread: &Thread| thread.status == Status::Ready && thread.statistics.instructions < turn_ends;
        if !in_turn(&self.threads[current]) {
            // The same thread again, if no other one can go on.
            let found = (1..=count).map(|step| (current + step) % count).find(|&other| {
                let thread = &self.threads[other];
                match thread.status {
                    Status::Ready | Status::Spinning => true,
                    Status::Waiting => is_notified(kernel, thread),
                    Status::Ended => false,
                }
            });
            let Some(next) = found else {
                let left = self.threads.iter().filter(|thread| thread.status != Status::Ended).count();
                let waiting = self.threads.iter().find(|thread| thread.status == Status::Waiting);
                return match waiting {
                    None => Ok(None),
                    Some(thread) => {
                        let fault = barrier_deadlock(left as u32, count as u32, self.id);
                        Err(locate_fault(kernel, fault, thread.number, thread.ip))
                    }
                };
            };
            self.current = next;
            self.turn_ends = self.threads[next].statistics.instructions + TURN;
            self.threads[next].status = Status::Ready;
        }
        let thread = &mut self.threads[self.current];
        if kernel.ops().get(thread.ip).is_some_and(|op| op.is_target) {
            thread.unpark();
        }
        Ok(Some(self.current))
    }

    /// Executes the instruction of the thread that [`SteppedGroup::next`] has returned. `caches` has an element for each
    /// instruction of the kernel.
    ///
    /// # Errors
    /// As [`super::run_group`].
    pub fn step(&mut self, around: Surroundings<'_>, caches: &mut [MessageCache]) -> Result<(), Fault> {
        let kernel = around.kernel;
        let (mut context, thread) = self.context(around, caches);
        let (number, ip) = (thread.number, thread.ip);
        let done = fetch(kernel, thread).and_then(|(op, mask)| step(kernel, &mut context, thread, op, mask));
        let barrier = context.barrier;
        if done.is_ok() {
            thread.ip = thread.next;
        }
        self.barrier = barrier;
        done.map_err(|mut trap| {
            trap.group = Some(self.id);
            locate_fault(kernel, *trap, number, ip)
        })?;
        let count = self.threads.len() as u32;
        release_barrier(&mut self.barrier, &mut self.threads, count, &mut NoProbe);
        Ok(())
    }

    /// Fills in what the next message of the thread whose turn it is accesses; returns whether its instruction is a message
    /// that accesses anything.
    pub fn footprint(
        &mut self,
        around: Surroundings<'_>,
        caches: &mut [MessageCache],
        footprint: &mut Footprint,
    ) -> bool {
        let (mut context, thread) = self.context(around, caches);
        let Some(op) = around.kernel.ops().get(thread.ip) else { return false };
        let Action::Message(message) = &op.action else { return false };
        let mask = thread.mask(op) & op.write_lanes;
        if mask == 0 {
            return false;
        }
        footprint.fill(&mut context, thread, op, message, mask);
        true
    }

    /// What has been executed.
    pub fn statistics(&self) -> GroupStatistics {
        self.threads.iter().fold(GroupStatistics::default(), |mut sum, thread| {
            sum += thread.statistics;
            sum
        })
    }

    /// The context of the thread whose turn it is.
    fn context<'a>(
        &'a mut self,
        around: Surroundings<'a>,
        caches: &'a mut [MessageCache],
    ) -> (Context<'a>, &'a mut Thread) {
        let Surroundings { device, kernel, launch, memory } = around;
        let strict = kernel.is_strict();
        let mut context = Context::new(launch, memory, &mut self.local, caches, device, strict);
        context.barrier = self.barrier;
        (context, &mut self.threads[self.current])
    }
}
