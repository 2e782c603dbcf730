//! A launch that is executed under a debugger's control.

use serde::{Deserialize, Serialize};

use super::checkpoints::Checkpoints;
use super::stops::{Reason, Stops};
use gencl_eu::device::Device;
use gencl_eu::dispatch::{CancelFlag, GroupStatistics, HardwareThread, Launch};
use gencl_eu::fault::{Fault, Reason as FaultReason};
use gencl_eu::memory::{AddressSpace, Cursor};
use gencl_eu::shared_function::Footprint;
use gencl_eu::thread::{Status, Thread};
use gencl_eu::{Kernel, MessageCache, SteppedGroup, Surroundings};

/// Instructions after which it is looked whether the launch is to be given up, or is interrupted.
const CANCEL_INTERVAL: u64 = 4096;

/// Tells whether what runs is to stop.
pub type Interrupt<'a> = &'a mut dyn FnMut() -> bool;

/// Where a thread is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    /// The work-group.
    pub group: [u32; 3],
    /// Number of the thread in it.
    pub thread: u32,
    /// Byte offset of its next instruction in the kernel.
    pub offset: u32,
    /// The lanes that execute it.
    pub enabled: u32,
}

/// A launch.
pub struct DebuggedLaunch<'a> {
    around: Surroundings<'a>,
    cancel: &'a CancelFlag,
    caches: Vec<MessageCache>,
    /// Instructions that have been executed.
    time: u64,
    /// Number of the work-group.
    number: u64,
    group: SteppedGroup,
    /// The thread that executes the next instruction.
    next: Option<usize>,
    checkpoints: Checkpoints,
    footprint: Footprint,
    /// What the instruction at a time fails with.
    fault: Option<(u64, Fault)>,
    /// Of work-groups that have ended, whenever they did last.
    ended: Vec<GroupStatistics>,
}

impl<'a> DebuggedLaunch<'a> {
    /// A launch before its first instruction.
    ///
    /// # Errors
    /// What makes that it cannot be executed at all.
    pub fn new(
        device: &'static Device,
        kernel: &'a Kernel,
        launch: &'a Launch,
        memory: &'a AddressSpace,
        cancel: &'a CancelFlag,
    ) -> Result<DebuggedLaunch<'a>, Fault> {
        let around = Surroundings { device, kernel, launch, memory };
        let group = SteppedGroup::new(around, launch.first_group)?;
        let mut debugged = DebuggedLaunch {
            around,
            cancel,
            caches: Vec::new(),
            time: 0,
            number: 0,
            checkpoints: Checkpoints::new(&group),
            group,
            next: None,
            footprint: Footprint::default(),
            fault: None,
            ended: Vec::new(),
        };
        debugged.caches.resize_with(kernel.ops().len(), MessageCache::default);
        debugged.advance();
        Ok(debugged)
    }

    /// The launch.
    pub fn launch(&self) -> &Launch {
        self.around.launch
    }

    /// The current time.
    pub fn time(&self) -> u64 {
        self.time
    }

    /// The work-group that is executed, or the last one.
    pub fn group(&self) -> &SteppedGroup {
        &self.group
    }

    /// The thread that executes the next instruction; none at the end.
    pub fn position(&self) -> Option<Position> {
        self.next.map(|thread| self.position_of(&self.group.threads[thread]))
    }

    /// Where a thread of the work-group is.
    pub fn position_of(&self, thread: &Thread) -> Position {
        let op = self.around.kernel.ops().get(thread.ip);
        let mut arrived = thread.clone();
        if op.is_some_and(|op| op.is_target) {
            arrived.unpark();
        }
        Position {
            group: self.group.id,
            thread: thread.number,
            offset: op.map_or(0, |op| op.offset),
            enabled: if thread.status == Status::Ended { 0 } else { arrived.active },
        }
    }

    /// The byte offset of the instruction at which each lane of a thread goes on; none for lanes that are at their end.
    pub fn places(&self, thread: &Thread) -> Vec<Option<u32>> {
        let ops = self.around.kernel.ops();
        let at = |lane: u32| {
            let ip = match () {
                () if thread.status == Status::Ended => return None,
                () if thread.active >> lane & 1 != 0 => thread.ip,
                () if thread.parked >> lane & 1 != 0 => thread.parked_at[lane as usize] as usize,
                () => return None,
            };
            ops.get(ip).map(|op| op.offset)
        };
        (0..self.around.launch.simd_width).map(at).collect()
    }

    /// The address of the scratch memory of a thread of the work-group, 0 without scratch memory; and the number of the
    /// hardware thread.
    pub fn scratch(&self, thread: &Thread) -> (u64, u32) {
        let Surroundings { device, launch, .. } = self.around;
        let number = HardwareThread::number(device, thread.slot);
        let address = launch.scratch.map_or(0, |scratch| {
            let own = u64::from(number) * u64::from(scratch.per_thread);
            launch.bases.general.wrapping_add(scratch.base).wrapping_add(own)
        });
        (address, number)
    }

    /// The instruction at a byte offset, as text.
    pub fn text(&self, offset: u32) -> Option<String> {
        let kernel = self.around.kernel;
        kernel.index_of(offset).map(|index| kernel.text(index))
    }

    /// Reads bytes of the global address space; none where there is no buffer.
    pub fn read(&self, address: u64, bytes: usize) -> Option<Vec<u8>> {
        let mut out = vec![0; bytes];
        self.around.memory.read(&mut Cursor::default(), address, &mut out).ok().map(|()| out)
    }

    /// Runs forwards until it stops, at the end at last.
    pub fn run(&mut self, stops: &Stops, interrupt: Interrupt<'_>) -> Reason {
        loop {
            match self.step(stops, interrupt) {
                Err(reason) => return reason,
                Ok(Some(watch)) => return Reason::Watch(watch),
                Ok(None) => {}
            }
            if let Some(point) = self.point(stops) {
                return Reason::Point(point);
            }
            if stops.end_of.is_some_and(|(group, thread)| self.has_ended(group, thread)) {
                return Reason::EndOfThread;
            }
            if stops.until.is_some_and(|until| self.time >= until) {
                return Reason::Time;
            }
        }
    }

    /// Goes back to the last time before where it would have stopped, or to the beginning.
    pub fn run_back(&mut self, stops: &Stops, interrupt: Interrupt<'_>) -> Reason {
        let mut until = self.time;
        for begin in self.checkpoints.times_before(until) {
            self.restore(begin);
            let mut last = None;
            while self.time < until {
                let time = self.time;
                if let Some(point) = self.point(stops) {
                    last = Some((time, Reason::Point(point)));
                }
                match self.step(stops, interrupt) {
                    Err(reason) => return reason,
                    Ok(Some(watch)) => last = Some((time, Reason::Watch(watch))),
                    Ok(None) => {}
                }
            }
            if let Some((time, reason)) = last {
                return match self.go(time, interrupt) {
                    Reason::Time => reason,
                    other => other,
                };
            }
            until = begin;
        }
        self.restore(0);
        Reason::Begin
    }

    /// Goes to a time, or to the end if that is before.
    pub fn go(&mut self, time: u64, interrupt: Interrupt<'_>) -> Reason {
        if time < self.time {
            self.restore(time);
        }
        let nowhere = Stops::default();
        while self.time < time {
            if let Err(reason) = self.step(&nowhere, interrupt) {
                return reason;
            }
        }
        Reason::Time
    }

    /// Executes what is left, and tells what the whole launch has executed.
    ///
    /// # Errors
    /// The fault with which it ends.
    pub fn finish(mut self) -> Result<GroupStatistics, Fault> {
        match self.run(&Stops::default(), &mut || false) {
            Reason::Fault(_) | Reason::Cancelled => {
                let cancelled = || Fault::new(FaultReason::Cancelled);
                Err(self.fault.map_or_else(cancelled, |(_, fault)| fault))
            }
            _ => Ok(self.ended.into_iter().fold(GroupStatistics::default(), |mut sum, group| {
                sum += group;
                sum
            })),
        }
    }

    /// Whether a thread of a work-group that has begun is at its end.
    fn has_ended(&self, group: [u32; 3], thread: u32) -> bool {
        let thread = self.group.threads.get(thread as usize).filter(|_| self.group.id == group);
        thread.is_none_or(|thread| thread.status == Status::Ended)
    }

    /// The point at which the next thread is.
    fn point(&self, stops: &Stops) -> Option<usize> {
        if stops.points.is_empty() {
            return None;
        }
        // The lanes are those that are enabled now: `advance` has unparked them.
        let thread = &self.group.threads[self.next?];
        let offset = self.around.kernel.ops().get(thread.ip)?.offset;
        stops.points.iter().position(|point| point.is_at(offset, self.group.id, thread.number, thread.active))
    }

    /// Executes an instruction. The result is the watch that it has hit; the error says why there is none to execute.
    fn step(&mut self, stops: &Stops, interrupt: Interrupt<'_>) -> Result<Option<usize>, Reason> {
        if let Some((time, fault)) = &self.fault
            && *time == self.time
        {
            return Err(Reason::Fault(fault.to_string()));
        }
        if self.next.is_none() {
            return Err(Reason::End);
        }
        if self.time.is_multiple_of(CANCEL_INTERVAL) {
            if self.cancel.is_set() {
                return Err(Reason::Cancelled);
            }
            if interrupt() {
                return Err(Reason::Interrupted);
            }
        }
        let mut hit = None;
        if self.group.footprint(self.around, &mut self.caches, &mut self.footprint) && self.footprint.is_write
        {
            for (local, address, bytes) in self.footprint.accesses() {
                if !local {
                    self.checkpoints.keep(self.around.memory, address, bytes);
                }
                let is_hit = |watch: &super::stops::Watch| watch.is_hit(self.group.id, local, address, bytes);
                hit = hit.or_else(|| stops.watches.iter().position(is_hit));
            }
        }
        if let Err(fault) = self.group.step(self.around, &mut self.caches) {
            return Err(self.fail(fault));
        }
        self.time += 1;
        self.advance();
        self.checkpoints.arrive(self.time, self.number, &self.group);
        Ok(hit)
    }

    /// Finds the next thread, in the next work-group if this one has ended.
    fn advance(&mut self) {
        let found = self.group.next(self.around).and_then(|next| match next {
            Some(next) => Ok(Some(next)),
            None => {
                let launch = self.around.launch;
                self.ended.truncate(self.number as usize);
                self.ended.push(self.group.statistics());
                let [x, y, z] = launch.groups();
                let number = self.number + 1;
                if number >= x * y * z {
                    return Ok(None);
                }
                let at = [number % x, number / x % y, number / x / y];
                let id = std::array::from_fn(|i| launch.first_group[i] + at[i] as u32);
                self.group = SteppedGroup::new(self.around, id)?;
                self.number = number;
                self.group.next(self.around)
            }
        });
        match found {
            Ok(next) => self.next = next,
            Err(fault) => {
                self.fail(fault);
            }
        }
    }

    fn fail(&mut self, fault: Fault) -> Reason {
        let reason = Reason::Fault(fault.to_string());
        self.fault = Some((self.time, fault));
        reason
    }

    fn restore(&mut self, time: u64) {
        (self.time, self.number, self.group) = self.checkpoints.restore(self.around.memory, time);
        self.advance();
    }
}
