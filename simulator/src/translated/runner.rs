//! Executing work-groups with translated code.

use std::ptr;
use std::sync::Arc;

use super::frame::{Owner, execute, find};
pub use super::frame::{Task, Work};
use super::loader::{Code, Entry, Thread as ThreadEntry};
use gencl_eu::abi::{FAULT, Frame, TURN, Window};
use gencl_eu::device::Device;
use gencl_eu::dispatch::{GRF_SIZE, GroupStatistics, HardwareThread, Launch};
use gencl_eu::fault::{Fault, Reason};
use gencl_eu::file::{CONTROL, NULL, set_dword};
use gencl_eu::memory::Cursor;
use gencl_eu::op::Action;
use gencl_eu::thread::Thread;
use gencl_eu::{self as eu, Kernel};

/// What a host thread needs to execute translated code, kept from launch to launch.
pub struct Runner {
    owner: Box<Owner>,
    headers: Vec<Header>,
    masks: Vec<u32>,
    files: Vec<*mut u8>,
    kept: Vec<u8>,
    local: Vec<Line>,
    /// Where each thread goes on: 0 is its beginning, [`ENDED`] nowhere.
    resume: Vec<u32>,
    /// `cr0.0` of a thread that begins.
    control: u32,
}

// SAFETY: all pointers of the frame are to memory of the runner itself or of what its task keeps alive.
unsafe impl Send for Runner {}

/// `g0`
#[derive(Clone, Copy, Default)]
#[repr(C, align(32))]
struct Header([u32; GRF_SIZE / 4]);

/// Bytes of local memory, as aligned as host code can want them.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([u8; 64]);

/// No number of a `wait`.
const ENDED: u32 = FAULT;

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
            files: ptr::null(),
            kept: ptr::null_mut(),
            cancel: ptr::null(),
            arrived: 0,
            unwritten: [0; 2],
            find,
            execute,
        };
        let (threads, cursors, windows) = (Vec::new(), Vec::new(), Vec::new());
        let owner = Box::new(Owner { frame, task: None, device, windows, threads, cursors, fault: None });
        let (headers, masks, files) = (Vec::new(), Vec::new(), Vec::new());
        let (kept, local, resume) = (Vec::new(), Vec::new(), Vec::new());
        Runner { owner, headers, masks, files, kept, local, resume, control: 0 }
    }

    /// Can a launch be executed by code? It cannot when its threads run in slots of which some have no
    /// scratch memory.
    pub fn fits(code: &Code, launch: &Launch) -> bool {
        let slots = slots(code, launch);
        launch.scratch.is_none_or(|scratch| slots <= scratch.slots)
    }

    /// The launch whose work-groups are executed from now on; the threads run in the slots from `first_slot`
    /// on.
    pub fn begin(&mut self, task: Task, first_slot: u32) {
        let Work { kernel, launch, running, .. } = &*task.work;
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
        owner.cursors.resize(kernel.ops().len(), Cursor::default());
        owner.threads.resize_with(slots as usize, Thread::default);
        for (thread, slot) in owner.threads.iter_mut().zip(first_slot..) {
            thread.slot = slot;
        }
        self.files.clear();
        self.files.extend(owner.threads.iter_mut().map(|thread| thread.file.as_mut_ptr()));
        self.kept.resize(slots as usize * task.code.kept as usize, 0);
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
            files: self.files.as_ptr(),
            kept: self.kept.as_mut_ptr(),
            cancel: running.cancel.address(),
            ..owner.frame
        };
        owner.task = Some(task);
    }

    /// Is it prepared for work-groups of a launch with this code?
    pub fn runs(&self, code: &Arc<Code>) -> bool {
        self.owner.task.as_ref().is_some_and(|task| Arc::ptr_eq(&task.code, code))
    }

    /// Forgets the launch, so that its memory is not kept.
    pub fn end(&mut self) {
        self.owner.task = None;
    }

    /// Executes the work-group `x`, `y`, `z` of the launch that was begun.
    ///
    /// The numbers come in registers. Were they in memory, two of them would be loaded as one; hosts forward
    /// no store to a load that is wider, so that it would wait until all that the work-group before has
    /// stored is in the caches.
    ///
    /// # Errors
    /// As those of [`eu::run_group`].
    #[inline(never)]
    pub fn run(&mut self, x: u32, y: u32, z: u32) -> Result<(), Fault> {
        let owner = &mut *self.owner;
        let Some(task) = &owner.task else { return Err(Fault::unsupported("a work-group without launch")) };
        let entry = task.code.entry;
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
        match entry {
            Entry::Group(entry) => {
                let frame = ptr::from_mut(&mut *self.owner).cast::<Frame>();
                // SAFETY: the frame is complete, and begins its owner, who is ours; the code is kept by the
                // task.
                let result = unsafe { entry(frame) };
                if result == 0 { Ok(()) } else { Err(self.failed([x, y, z])) }
            }
            Entry::Thread(entry) => self.run_in_turns(entry, [x, y, z]),
        }
    }

    /// What so many work-groups count.
    pub fn statistics(&self, groups: u64) -> GroupStatistics {
        let threads = groups * u64::from(self.owner.frame.threads);
        GroupStatistics { threads, translated: threads, ..GroupStatistics::default() }
    }

    /// Executes the threads of a work-group one after the other, each until it stops, as often as it takes.
    fn run_in_turns(&mut self, entry: ThreadEntry, group: [u32; 3]) -> Result<(), Fault> {
        let count = self.owner.frame.threads;
        self.resume.clear();
        self.resume.resize(count as usize, 0);
        let mut left = count;
        let mut opens = true;
        loop {
            for thread in 0..count {
                let resume = self.resume[thread as usize];
                if resume == ENDED || !opens && resume & TURN == 0 {
                    continue;
                }
                let frame = ptr::from_mut(&mut *self.owner).cast::<Frame>();
                // SAFETY: the frame is complete, and begins its owner, who is ours; the code is kept by the
                // task.
                let result = unsafe { entry(frame, thread, resume) };
                self.resume[thread as usize] = match result {
                    FAULT => return Err(self.failed(group)),
                    0 => {
                        left -= 1;
                        ENDED
                    }
                    number => number,
                };
            }
            if left == 0 {
                return Ok(());
            }
            if self.is_cancelled() {
                return Err(self.failed(group));
            }
            opens = self.owner.frame.arrived == count;
            if opens {
                self.owner.frame.arrived = 0;
            } else if self.resume.iter().all(|resume| *resume == ENDED || resume & TURN == 0) {
                return Err(self.never_opens(left, group));
            }
        }
    }

    /// Is the launch to end?
    fn is_cancelled(&self) -> bool {
        self.owner.task.as_ref().is_some_and(|task| task.work.running.cancel.is_set())
    }

    /// Why the code has returned [`FAULT`].
    #[cold]
    fn failed(&mut self, group: [u32; 3]) -> Fault {
        let cancelled = self.is_cancelled();
        let mut fault = self.owner.fault.take().unwrap_or_else(|| {
            if cancelled {
                Fault::new(Reason::Cancelled)
            } else {
                Fault::unsupported("translated code that fails without a reason")
            }
        });
        fault.group.get_or_insert(group);
        fault
    }

    /// The fault of threads that wait for each other in vain.
    #[cold]
    fn never_opens(&self, left: u32, group: [u32; 3]) -> Fault {
        let fault = eu::never_opens(left, self.owner.frame.threads, group);
        let thread = (0..).zip(&self.resume).find(|(_, resume)| **resume != ENDED);
        match (thread, &self.owner.task) {
            (Some((thread, number)), Some(task)) => match wait(&task.work.kernel, *number) {
                Some(instruction) => eu::at(&task.work.kernel, fault, thread, instruction),
                None => fault,
            },
            _ => fault,
        }
    }
}

/// Thread slots of a work-group: threads that never stop run one after the other in the same.
fn slots(code: &Code, launch: &Launch) -> u32 {
    match code.entry {
        Entry::Group(_) => 1,
        Entry::Thread(_) => launch.threads_per_group(),
    }
}

/// The `wait` of a number, as an index of an instruction.
fn wait(kernel: &Kernel, number: u32) -> Option<usize> {
    let waits = kernel.ops().iter().enumerate().filter(|(_, op)| matches!(op.action, Action::Wait(_)));
    waits.map(|(index, _)| index).nth((number as usize).checked_sub(1)?)
}
