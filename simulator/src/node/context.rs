//! Hardware contexts: a queue of batches, who executes them, and what happened.
//!
//! A context has a thread for its batches. Who waits for one of them executes them in its place when it comes
//! first ([`Context::help`]): nobody has to be woken then.

use std::collections::VecDeque;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use gencl_i915::uapi::context_param;
use gencl_i915::{ContextId, Engine, Errno, ErrorState, ResetStats, Result};
use gencl_sync::{Condvar, Mutex, MutexGuard};

use super::Core;
use super::fence::{self, Fence};
use super::vm::Vm;
use crate::host_thread::IeeeFloats;
use crate::running::Running;
use crate::streamer::{ContextState, Streamer};
use gencl_eu::fault::Fault;
use gencl_eu::memory::AddressSpace;

/// How often a batch that waits for others looks whether it is still wanted.
const LOOK: Duration = Duration::from_millis(50);

/// Least and most that a program without privileges may ask for (`I915_CONTEXT_MIN_USER_PRIORITY`,
/// `I915_CONTEXT_DEFAULT_PRIORITY`), and the largest of all.
const PRIORITIES: (i64, i64, i64) = (-1023, 0, 1023);

/// Three hangs within this time ban a context (`CONTEXT_FAST_HANG_JIFFIES` of i915).
const FAST_HANG: Duration = Duration::from_secs(120);

/// A batch that waits for its turn.
pub struct Job {
    /// GPU address of its first command.
    pub batch: u64,
    /// What it may access.
    pub memory: Arc<AddressSpace>,
    /// Engine.
    pub engine: Engine,
}

/// A job in the queue.
struct Queued {
    /// Signaled when it is done.
    fence: Fence,
    job: Job,
    /// What comes first: batches, also of other contexts, and whatever else has fences.
    after: Vec<Fence>,
    /// Batches that begin first.
    beside: Vec<Fence>,
}

/// A hardware context.
///
/// Batches of all engines run in the order in which they came; i915 orders them for each engine only.
pub struct Context {
    /// The line of its fences.
    line: u64,
    vm: Mutex<Arc<Vm>>,
    queue: Mutex<Queue>,
    /// There is something for the thread.
    wake: Condvar,
    /// The streamer's, from batch to batch; whose turn it is has it.
    state: Mutex<ContextState>,
    thread: Mutex<Option<JoinHandle<()>>>,
    params: Mutex<Params>,
    /// The batch that runs.
    running: Mutex<Option<Arc<Running>>>,
    /// Its batches are not wanted any more.
    killed: AtomicBool,
    hangs: Mutex<Hangs>,
    guilty: AtomicU32,
    banned: AtomicBool,
}

#[derive(Default)]
struct Queue {
    jobs: VecDeque<Queued>,
    /// Number of the last batch.
    last: u64,
    last_fence: Option<Fence>,
    /// Somebody executes a batch; others wait for their turn.
    at_work: bool,
    /// The thread waits to be woken.
    asleep: bool,
    closed: bool,
}

impl Queue {
    /// Takes the next batch out if it is somebody's turn.
    fn take(&mut self) -> Option<Queued> {
        let next = if self.at_work { None } else { self.jobs.pop_front() };
        self.at_work |= next.is_some();
        next
    }

    /// Is there something for the thread that it does not know of?
    fn wants_thread(&self) -> bool {
        self.asleep && !self.at_work && (self.closed || !self.jobs.is_empty())
    }
}

impl Queued {
    /// Has all ended or begun that comes first?
    fn is_ready(&self) -> bool {
        self.after.iter().all(Fence::signaled) && self.beside.iter().all(Fence::begun)
    }
}

#[derive(Clone, Copy)]
struct Params {
    no_error_capture: bool,
    bannable: bool,
    recoverable: bool,
    persistent: bool,
    priority: i64,
}

#[derive(Default)]
struct Hangs {
    /// When the last two were.
    times: [Option<Instant>; 2],
    error: Option<ErrorState>,
}

impl Context {
    /// A context with an address space; its thread starts with the first batch.
    pub fn new(vm: Arc<Vm>) -> Context {
        Context {
            line: fence::new_context(),
            vm: Mutex::new(vm),
            queue: Mutex::default(),
            wake: Condvar::new(),
            state: Mutex::default(),
            thread: Mutex::new(None),
            params: Mutex::new(Params {
                no_error_capture: false,
                bannable: true,
                recoverable: true,
                persistent: true,
                priority: 0,
            }),
            running: Mutex::default(),
            killed: AtomicBool::new(false),
            hangs: Mutex::default(),
            guilty: AtomicU32::new(0),
            banned: AtomicBool::new(false),
        }
    }

    /// Banned contexts take no more batches.
    pub fn is_banned(&self) -> bool {
        self.banned.load(Ordering::Acquire)
    }

    /// Its address space.
    pub fn vm(&self) -> Arc<Vm> {
        Arc::clone(&self.vm.lock())
    }

    /// Gives it another address space; batches that are queued keep theirs.
    pub fn set_vm(&self, vm: Arc<Vm>) {
        *self.vm.lock() = vm;
    }

    /// Queues a batch and gives its fence. `order` gets it too and gives the batches that come before. If it
    /// is `awaited`, the thread is not woken for it: the caller helps next. It is woken when helping ends
    /// before this one.
    pub fn submit(
        self: &Arc<Self>,
        id: ContextId,
        core: &Arc<Core>,
        job: Job,
        order: impl FnOnce(&Fence) -> Vec<Fence>,
        beside: Vec<Fence>,
        awaited: bool,
    ) -> Result<Fence> {
        self.start(id, core)?;
        let mut queue = self.queue.lock();
        if queue.closed {
            return Err(Errno(libc::ENOENT));
        }
        queue.last += 1;
        let fence = Fence::batch(self.line, queue.last, job.engine, Arc::downgrade(self));
        queue.last_fence = Some(fence.clone());
        let after = order(&fence);
        queue.jobs.push_back(Queued { fence: fence.clone(), job, after, beside });
        if !awaited {
            self.wake_if_wanted(queue);
        }
        Ok(fence)
    }

    fn start(self: &Arc<Self>, id: ContextId, core: &Arc<Core>) -> Result<()> {
        let mut thread = self.thread.lock();
        if thread.is_none() {
            let (context, core) = (Arc::clone(self), Arc::clone(core));
            let builder = std::thread::Builder::new().name(format!("gencl-context-{}", id.0));
            *thread = Some(builder.spawn(move || context.work(&core)).map_err(|_| Errno(libc::ENOMEM))?);
        }
        Ok(())
    }

    /// No more batches; those that are queued still run.
    pub fn close(&self) {
        let mut queue = self.queue.lock();
        queue.closed = true;
        self.wake_if_wanted(queue);
    }

    /// Somebody waits for a batch and does not help: it may be one that was to be awaited.
    pub fn demand(&self) {
        self.wake_if_wanted(self.queue.lock());
    }

    fn wake_if_wanted(&self, mut queue: MutexGuard<'_, Queue>) {
        let wanted = queue.wants_thread();
        queue.asleep &= !wanted;
        drop(queue);
        if wanted {
            self.wake.notify_one();
        }
    }

    /// As [`Context::close`] when the program destroys it: of one that is not persistent, what runs is
    /// stopped.
    pub fn destroy(&self) {
        if !self.params.lock().persistent {
            self.killed.store(true, Ordering::Release);
            if let Some(running) = &*self.running.lock() {
                running.cancel.set();
            }
        }
        self.close();
    }

    /// Waits until the batches that are queued now have ended.
    pub fn finish(&self) {
        let last = self.queue.lock().last_fence.clone();
        if let Some(fence) = last {
            fence.wait(None);
        }
    }

    /// Waits for the thread after [`Context::close`].
    pub fn join(&self) {
        if let Some(thread) = self.thread.lock().take() {
            // Panics are caught batch by batch.
            let _ = thread.join();
        }
    }

    /// Has the thread ended (or never begun)?
    pub fn is_finished(&self) -> bool {
        self.thread.lock().as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// The thread's next batch; `None` when the context is closed and there is none left.
    fn next(&self) -> Option<Queued> {
        let mut queue = self.queue.lock();
        loop {
            if let Some(job) = queue.take() {
                return Some(job);
            }
            if queue.closed && !queue.at_work {
                return None;
            }
            queue.asleep = true;
            self.wake.wait(&mut queue);
            queue.asleep = false;
        }
    }

    fn work(&self, core: &Core) {
        while let Some(job) = self.next() {
            self.run(core, job);
            self.queue.lock().at_work = false;
        }
    }

    /// Executes batches up to that of a fence in place of the context's thread, as long as that is not at
    /// work and nothing else has to end before. The fence may be pending afterwards.
    pub fn help(&self, core: &Core, fence: &Fence) {
        let mut queue = self.queue.lock();
        loop {
            let ready = !fence.signaled() && queue.jobs.front().is_some_and(Queued::is_ready);
            let Some(job) = ready.then(|| queue.take()).flatten() else {
                return self.wake_if_wanted(queue);
            };
            drop(queue);
            self.run(core, job);
            queue = self.queue.lock();
            queue.at_work = false;
        }
    }

    /// Executes a batch. It is the caller's turn.
    fn run(&self, core: &Core, Queued { fence, job, after, beside }: Queued) {
        let ready = after.iter().all(|fence| self.await_fence(core, |until| fence.wait(until)))
            && beside.iter().all(|fence| self.await_fence(core, |until| fence.wait_begun(until)));
        let mut error = libc::EIO;
        if ready && self.is_wanted(core) {
            fence.begin();
            let mut state = self.state.lock();
            match self.execute(core, &mut state, &job) {
                Ok(()) => error = 0,
                Err(fault) => {
                    self.hung(core, &fault);
                    *state = ContextState::default();
                }
            }
        }
        // The memory first: who waited may expect it to be free.
        drop(job);
        fence.complete(error);
    }

    fn is_wanted(&self, core: &Core) -> bool {
        !self.is_banned() && !core.is_closing() && !self.killed.load(Ordering::Acquire)
    }

    /// Waits for a fence as long as the batch behind it is wanted.
    fn await_fence(&self, core: &Core, wait: impl Fn(Option<Instant>) -> bool) -> bool {
        while self.is_wanted(core) {
            if wait(Some(Instant::now() + LOOK)) {
                return true;
            }
        }
        false
    }

    /// Executes one batch. A panic in the simulator is a fault of the batch.
    fn execute(&self, core: &Core, state: &mut ContextState, job: &Job) -> std::result::Result<(), Fault> {
        let running = Arc::new(Running::default());
        let unwatched = |error| Fault::unsupported(format!("batches that nobody can stop: {error}"));
        let _watch = core.watchdog.watch(&running).map_err(unwatched)?;
        *self.running.lock() = Some(Arc::clone(&running));
        if !self.is_wanted(core) {
            // It came too late for `Watchdog::cancel_all` or `Context::destroy`.
            running.cancel.set();
        }
        let run = AssertUnwindSafe(|| {
            let _floats = IeeeFloats::new();
            Streamer::new(&core.gpu, &job.memory, &running, state, job.engine).run(job.batch)
        });
        let result = std::panic::catch_unwind(run).unwrap_or_else(|panic| Err(Fault::internal(&*panic)));
        *self.running.lock() = None;
        result
    }

    /// Takes note of a hang, as `__i915_gem_context_mark_guilty` does.
    fn hung(&self, core: &Core, fault: &Fault) {
        if core.is_closing() || self.killed.load(Ordering::Acquire) {
            return;
        }
        let params = *self.params.lock();
        let now = Instant::now();
        let mut hangs = self.hangs.lock();
        let fast = hangs.times[0].is_some_and(|time| now - time < FAST_HANG);
        hangs.times = [hangs.times[1], Some(now)];
        if !params.no_error_capture {
            hangs.error = Some(ErrorState { text: fault.to_string(), place: fault.place() });
        }
        drop(hangs);
        tracing::warn!("batch stopped: {fault}");
        core.reset_count.fetch_add(1, Ordering::Relaxed);
        self.guilty.fetch_add(1, Ordering::Release);
        if params.bannable && (!params.recoverable || fast) {
            self.banned.store(true, Ordering::Release);
        }
    }

    /// `DRM_IOCTL_I915_GET_RESET_STATS`
    pub fn reset_stats(&self, core: &Core) -> ResetStats {
        ResetStats {
            reset_count: core.reset_count.load(Ordering::Relaxed),
            batch_active: self.guilty.load(Ordering::Acquire),
            // Only the batch that hangs is lost: those of other contexts go on.
            batch_pending: 0,
        }
    }

    /// The last hang.
    pub fn error(&self) -> Option<ErrorState> {
        self.hangs.lock().error.clone()
    }

    /// `DRM_IOCTL_I915_GEM_CONTEXT_GETPARAM`
    pub fn get_param(&self, core: &Core, param: u64) -> Result<u64> {
        let params = self.params.lock();
        Ok(match param {
            context_param::GTT_SIZE => 1 << core.gpu.device.address_bits,
            context_param::NO_ERROR_CAPTURE => params.no_error_capture.into(),
            context_param::BANNABLE => params.bannable.into(),
            context_param::RECOVERABLE => params.recoverable.into(),
            context_param::PERSISTENCE => params.persistent.into(),
            context_param::PRIORITY => params.priority as u64,
            // There are no protected sessions (PXP).
            context_param::PROTECTED_CONTENT => 0,
            _ => return Err(Errno(libc::EINVAL)),
        })
    }

    /// `DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM`
    pub fn set_param(&self, core: &Core, param: u64, value: u64) -> Result<()> {
        let mut params = self.params.lock();
        match param {
            context_param::NO_ERROR_CAPTURE => params.no_error_capture = value != 0,
            // Only root may make a context that is never banned.
            context_param::BANNABLE if value == 0 => return Err(Errno(libc::EPERM)),
            context_param::BANNABLE => params.bannable = true,
            context_param::RECOVERABLE => params.recoverable = value != 0,
            context_param::PERSISTENCE => params.persistent = value != 0,
            // Contexts run side by side, each on a thread: it is kept and changes nothing
            // (`validate_priority`).
            context_param::PRIORITY => {
                let (least, default, most) = PRIORITIES;
                let priority = value as i64;
                if !(least..=most).contains(&priority) {
                    return Err(Errno(libc::EINVAL));
                }
                if core.gpu.device.driver.scheduler == 0 {
                    return Err(Errno(libc::ENODEV));
                }
                if priority > default {
                    return Err(Errno(libc::EPERM));
                }
                params.priority = priority;
            }
            _ => return Err(Errno(libc::EINVAL)),
        }
        Ok(())
    }
}
