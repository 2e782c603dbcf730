//! Executes work-groups with translated code.

use std::ops::Range;
use std::ptr;
use std::sync::Arc;

use super::frame::{FrameOwner, find_window, interpret, look, send};
pub use super::frame::{LaunchContext, TranslatedLaunch};
use super::loader::HostCode;
use super::look::Looks;
use gencl_eu::abi::{ENDED, Frame, Window, YIELD};
use gencl_eu::device::Device;
use gencl_eu::dispatch::{GRF_SIZE, GroupStatistics, HardwareThread, Launch};
use gencl_eu::fault::Fault;
use gencl_eu::file::{CONTROL, NULL, set_dword};
use gencl_eu::op::Action;
use gencl_eu::profile::{InstructionCounter, Profile};
use gencl_eu::thread::Thread;
use gencl_eu::{self as eu, Kernel, MessageCache};

/// Executes translated code on one host thread; its memory is reused from launch to launch.
pub struct Runner {
    owner: Box<FrameOwner>,
    headers: Vec<Header>,
    masks: Vec<u32>,
    files: Vec<*mut u8>,
    saved: Vec<u8>,
    local: Vec<Line>,
    counters: Vec<u64>,
    /// Work-groups since the counters were taken.
    groups: u64,
    /// [`Frame::resume`]
    resume: Vec<u32>,
    /// Initial `cr0.0` of threads.
    control: u32,
}

// SAFETY: all pointers of the frame are to memory that the runner owns or its launch keeps alive.
unsafe impl Send for Runner {}

/// The header of a thread's payload, `g0`.
#[derive(Clone, Copy, Default)]
#[repr(C, align(32))]
struct Header([u32; GRF_SIZE / 4]);

/// 64 bytes of local memory, with the largest alignment that host code may need.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([u8; 64]);

/// Code has returned [`gencl_eu::abi::FAULT`].
struct Failed;

impl Runner {
    /// A runner without a launch.
    pub fn new(device: &'static Device) -> Runner {
        let frame = Frame {
            group: [0; 3],
            threads: 0,
            headers: ptr::null(),
            header_step: 0,
            cross_thread: ptr::null(),
            per_thread: ptr::null(),
            masks: ptr::null(),
            local: ptr::null_mut(),
            local_size: 0,
            general: 0,
            windows: ptr::null_mut(),
            images: ptr::null(),
            files: ptr::null(),
            saved: ptr::null_mut(),
            resume: ptr::null_mut(),
            cancel: ptr::null(),
            arrived: 0,
            counters: ptr::null_mut(),
            unwritten: [0; 2],
            find_window,
            interpret,
            send,
            look,
        };
        let (threads, caches, windows, images) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let (task, fault, stack, looks) = (None, None, 0, Looks::default());
        let owner = Box::new(FrameOwner {
            frame,
            task,
            device,
            windows,
            images,
            threads,
            caches,
            fault,
            stack,
            looks,
        });
        let (headers, masks, files) = (Vec::new(), Vec::new(), Vec::new());
        let (saved, local, counters, resume) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Runner { owner, headers, masks, files, saved, local, counters, groups: 0, resume, control: 0 }
    }

    /// Whether code can execute a launch: all thread slots that it would use must have scratch memory, if the
    /// launch has any.
    pub fn fits(code: &HostCode, launch: &Launch) -> bool {
        let slots = slots(code, launch);
        launch.scratch.is_none_or(|scratch| slots <= scratch.slots)
    }

    /// Sets up a launch, whose threads will run in the thread slots from `first_slot` on.
    pub fn begin(&mut self, task: TranslatedLaunch, first_slot: u32) {
        let LaunchContext { kernel, launch, memory, surfaces, running } = &*task.work;
        let (count, slots) = (launch.threads_per_group(), slots(&task.code, launch));
        let number = |slot| HardwareThread::number(self.owner.device, slot);
        self.headers.clear();
        self.headers.extend((0..slots).map(|n| Header(launch.header([0; 3], number(first_slot + n)))));
        self.masks.clear();
        self.masks.extend((0..count).map(|thread| launch.dispatch_mask(thread)));
        self.local.resize((launch.slm_size as usize).div_ceil(size_of::<Line>()), Line([0; 64]));
        let owner = &mut *self.owner;
        owner.windows.clear();
        let none = Window { start: 0, size: 0, host: ptr::null_mut() };
        owner.windows.resize(task.code.windows as usize, none);
        owner.images.clear();
        owner.images.extend(surfaces.images(memory));
        owner.caches.resize_with(kernel.ops().len(), MessageCache::default);
        owner.threads.resize_with(slots as usize, Thread::default);
        for (thread, slot) in owner.threads.iter_mut().zip(first_slot..) {
            thread.slot = slot;
        }
        self.files.clear();
        self.files.extend(owner.threads.iter_mut().map(|thread| thread.file.as_mut_ptr()));
        self.saved.resize(slots as usize * task.code.saved as usize, 0);
        self.counters.clear();
        self.counters.resize(task.code.counters as usize, 0);
        self.groups = 0;
        self.control = launch.control();
        owner.frame = Frame {
            threads: count,
            headers: self.headers.as_ptr().cast(),
            header_step: if slots > 1 { GRF_SIZE as u64 } else { 0 },
            cross_thread: launch.cross_thread.as_ptr(),
            per_thread: launch.per_thread.as_ptr(),
            masks: self.masks.as_ptr(),
            local: self.local.as_mut_ptr().cast(),
            local_size: u64::from(launch.slm_size),
            general: launch.bases.general,
            windows: owner.windows.as_mut_ptr(),
            images: owner.images.as_ptr(),
            files: self.files.as_ptr(),
            saved: self.saved.as_mut_ptr(),
            counters: self.counters.as_mut_ptr(),
            cancel: running.cancel.address(),
            ..owner.frame
        };
        owner.task = Some(task);
        owner.looks = Looks::default();
    }

    /// Whether it is set up for a launch with this code.
    pub fn runs(&self, code: &Arc<HostCode>) -> bool {
        self.owner.task.as_ref().is_some_and(|task| Arc::ptr_eq(&task.code, code))
    }

    /// Drops the launch, and with it the references to its memory.
    pub fn end(&mut self) {
        self.owner.task = None;
    }

    /// Executes the work-group `x`, `y`, `z` of the launch that was set up.
    ///
    /// The id is passed in registers. In memory, two of its parts would be loaded as one; hosts do not
    /// forward stores to a wider load, which would therefore wait until all stores of the previous work-group
    /// have left the store buffer.
    ///
    /// # Errors
    /// As [`eu::run_group`].
    #[inline(never)]
    pub fn run(&mut self, x: u32, y: u32, z: u32) -> Result<(), Fault> {
        let owner = &mut *self.owner;
        let Some(task) = &owner.task else { return Err(Fault::unsupported("a work-group without a launch")) };
        let yields = task.code.yields;
        for Header(header) in &mut self.headers {
            (header[1], header[6], header[7]) = (x, y, z);
        }
        if !task.code.interpreted.is_empty() {
            for thread in &mut owner.threads {
                thread.file[NULL..].fill(0);
                set_dword(&mut thread.file, CONTROL, self.control);
                thread.clear_accumulators();
            }
        }
        owner.frame.group = [x, y, z];
        owner.frame.arrived = 0;
        self.groups += 1;
        if yields {
            return self.run_rounds([x, y, z]);
        }
        let count = self.owner.frame.threads;
        self.run_threads(0..count, 0).map_err(|Failed| self.failed([x, y, z]))
    }

    /// Executes threads that are all to be resumed at the same place.
    fn run_threads(&mut self, threads: Range<u32>, resume: u32) -> Result<(), Failed> {
        let owner = &mut *self.owner;
        let Some(entry) = owner.task.as_ref().map(|task| task.code.entry) else { return Err(Failed) };
        owner.frame.resume = self.resume.as_mut_ptr();
        let here = 0_u8;
        owner.stack = (&raw const here).addr();
        let frame = ptr::from_mut(owner).cast::<Frame>();
        // SAFETY: the frame is complete, and is the first field of its owner, to which there is no other
        // reference; the launch keeps the code alive.
        let result = unsafe { entry(frame, threads.start, threads.end, resume) };
        if result == 0 { Ok(()) } else { Err(Failed) }
    }

    /// The statistics of `groups` work-groups.
    pub fn statistics(&self, groups: u64) -> GroupStatistics {
        let threads = groups * u64::from(self.owner.frame.threads);
        GroupStatistics { threads, translated: threads, ..GroupStatistics::default() }
    }

    /// Returns and resets what code with [`gencl_eu::abi::Variant::counted`] has counted.
    pub fn take_profile(&mut self) -> Profile {
        let Some(task) = &self.owner.task else { return Profile::default() };
        let groups = std::mem::take(&mut self.groups);
        let threads = groups * u64::from(self.owner.frame.threads);
        let mut counters = vec![InstructionCounter::default(); task.work.kernel.ops().len()];
        for own in &task.code.counted {
            if let Some(counter) = counters.get_mut(own.instruction as usize) {
                counter.executions += self.counters[own.executions as usize];
                counter.lanes += self.counters[own.lanes as usize] * u64::from(own.factor);
            }
        }
        self.counters.fill(0);
        Profile { counters, groups, threads, ..Profile::default() }
    }

    /// Executes the threads of a work-group in rounds, each until it yields, until all have ended.
    fn run_rounds(&mut self, group: [u32; 3]) -> Result<(), Fault> {
        let count = self.owner.frame.threads;
        self.resume.clear();
        self.resume.resize(count as usize, 0);
        let mut opens = true;
        loop {
            let mut first = 0;
            while first < count {
                let own = &self.resume[first as usize..];
                let resume = own[0];
                let end = first + own.iter().take_while(|other| **other == resume).count() as u32;
                if resume != ENDED && (opens || resume & YIELD != 0) {
                    self.run_threads(first..end, resume).map_err(|Failed| self.failed(group))?;
                }
                first = end;
            }
            if self.resume.iter().all(|resume| *resume == ENDED) {
                return Ok(());
            }
            opens = self.owner.frame.arrived == count;
            if opens {
                self.owner.frame.arrived = 0;
            } else if self.resume.iter().all(|resume| *resume == ENDED || resume & YIELD == 0) {
                return Err(self.barrier_deadlock(group));
            }
        }
    }

    /// The fault for which code has failed.
    #[cold]
    fn failed(&mut self, group: [u32; 3]) -> Fault {
        let unknown = || Fault::unsupported("translated code that fails without a reason");
        let mut fault = self.owner.fault.take().unwrap_or_else(unknown);
        fault.group.get_or_insert(group);
        fault
    }

    /// The fault of a barrier that some threads never reach.
    #[cold]
    fn barrier_deadlock(&self, group: [u32; 3]) -> Fault {
        let left = self.resume.iter().filter(|resume| **resume != ENDED).count() as u32;
        let fault = eu::barrier_deadlock(left, self.owner.frame.threads, group);
        let thread = (0..).zip(&self.resume).find(|(_, resume)| **resume != ENDED);
        match (thread, &self.owner.task) {
            (Some((thread, number)), Some(task)) => match wait(&task.work.kernel, *number) {
                Some(instruction) => eu::locate_fault(&task.work.kernel, fault, thread, instruction),
                None => fault,
            },
            _ => fault,
        }
    }
}

/// Number of thread slots of a work-group: threads that never yield run one after the other in the same slot.
fn slots(code: &HostCode, launch: &Launch) -> u32 {
    if code.yields { launch.threads_per_group() } else { 1 }
}

/// The index of the `wait` instruction with a number, counted from 1.
fn wait(kernel: &Kernel, number: u32) -> Option<usize> {
    let waits = kernel.ops().iter().enumerate().filter(|(_, op)| matches!(op.action, Action::Wait(_)));
    waits.map(|(index, _)| index).nth((number as usize).checked_sub(1)?)
}
