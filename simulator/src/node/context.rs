//! Hardware contexts: a queue of batches, their execution, and hang statistics.
//!
//! A context has a thread that executes its batches. A thread that waits for a batch may execute it and those
//! before it instead ([`Fence::run_inline`]), which saves waking the context's thread.

use std::collections::VecDeque;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use gencl_i915::uapi::context_param;
use gencl_i915::{ContextId, Engine, Errno, ErrorState, ResetStats, Result};
use gencl_sync::{Condvar, Mutex, MutexGuard};

use super::core::Core;
use super::fence::{self, BatchExecutor, Fence};
use super::vm::Vm;
use crate::host_thread::IeeeFloats;
use crate::running::Running;
use crate::streamer::{ContextState, Streamer};
use gencl_eu::fault::Fault;
use gencl_eu::memory::AddressSpace;

/// How often a batch that waits for fences checks whether it has been cancelled.
const CANCEL_POLL_INTERVAL: Duration = Duration::from_millis(50);

/// The lowest and the highest priority that an unprivileged program may set
/// (`I915_CONTEXT_MIN_USER_PRIORITY`, `I915_CONTEXT_DEFAULT_PRIORITY`), and the highest of all
/// (`I915_CONTEXT_MAX_USER_PRIORITY`).
const PRIORITIES: (i64, i64, i64) = (-1023, 0, 1023);

/// A context with three hangs within this time is banned (`CONTEXT_FAST_HANG_JIFFIES` of i915).
const FAST_HANG: Duration = Duration::from_secs(120);

/// A batch to be executed.
pub struct Job {
    /// GPU address of its first command.
    pub batch: u64,
    /// The buffers that it may access.
    pub memory: Arc<AddressSpace>,
    /// The engine that executes it.
    pub engine: Engine,
}

/// A job in the queue.
struct Queued {
    /// Signaled when the batch has ended.
    fence: Fence,
    job: Job,
    /// Fences that have to be signaled before the batch begins: of batches, also of other contexts, and
    /// others.
    dependencies: Vec<Fence>,
    /// Fences of batches that have to begin before this one (`I915_EXEC_FENCE_SUBMIT`).
    submit_fences: Vec<Fence>,
}

/// A hardware context.
///
/// Batches of all engines run in the order of their submission; i915 orders them for each engine only.
pub struct Context {
    core: Arc<Core>,
    /// The timeline of its fences.
    timeline: u64,
    vm: Mutex<Arc<Vm>>,
    queue: Mutex<Queue>,
    /// Wakes the thread.
    wake: Condvar,
    /// The command streamer's state; locked by the thread that executes a batch.
    state: Mutex<ContextState>,
    thread: Mutex<Option<JoinHandle<()>>>,
    params: Mutex<Params>,
    /// The batch that runs.
    running: Mutex<Option<Arc<Running>>>,
    /// The context was destroyed and is not persistent: its batches are dropped.
    killed: AtomicBool,
    hangs: Mutex<Hangs>,
    guilty: AtomicU32,
    banned: AtomicBool,
}

#[derive(Default)]
struct Queue {
    jobs: VecDeque<Queued>,
    /// Sequence number of the last batch.
    last: u64,
    last_fence: Option<Fence>,
    /// A thread executes a batch; no other may.
    executing: bool,
    /// The context's thread waits on `wake`.
    asleep: bool,
    closed: bool,
}

impl Queue {
    /// Takes the next batch out, unless another one is being executed.
    fn take(&mut self) -> Option<Queued> {
        let next = if self.executing { None } else { self.jobs.pop_front() };
        self.executing |= next.is_some();
        next
    }

    /// Whether the context's thread has to be woken.
    fn needs_thread(&self) -> bool {
        self.asleep && !self.executing && (self.closed || !self.jobs.is_empty())
    }
}

impl Queued {
    /// Whether all its dependencies are signaled, and all batches have begun that have to.
    fn is_ready(&self) -> bool {
        self.dependencies.iter().all(Fence::signaled) && self.submit_fences.iter().all(Fence::begun)
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
    /// Times of the last two.
    times: [Option<Instant>; 2],
    error: Option<ErrorState>,
}

impl Context {
    /// A context; its thread starts with the first batch.
    pub fn new(core: &Arc<Core>) -> Arc<Context> {
        let own = core.gpu.device.driver.full_ppgtt;
        let vm = if own { Vm::new() } else { Arc::clone(&core.shared_vm) };
        Arc::new(Context {
            core: Arc::clone(core),
            timeline: fence::new_context(),
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
        })
    }

    /// Whether the context is banned: it accepts no more batches.
    pub fn is_banned(&self) -> bool {
        self.banned.load(Ordering::Acquire)
    }

    /// Its address space.
    pub fn vm(&self) -> Arc<Vm> {
        Arc::clone(&self.vm.lock())
    }

    /// Replaces its address space; queued batches keep theirs.
    pub fn set_vm(&self, vm: Arc<Vm>) {
        *self.vm.lock() = vm;
    }

    /// Queues a batch and returns its fence. `order` is called with the fence and returns the batch's
    /// dependencies. With `awaited`, the context's thread is not woken: the caller calls
    /// [`Fence::run_inline`] next, which wakes it if this batch remains.
    pub fn submit(
        self: &Arc<Self>,
        id: ContextId,
        job: Job,
        order: impl FnOnce(&Fence) -> Vec<Fence>,
        submit_fences: Vec<Fence>,
        awaited: bool,
    ) -> Result<Fence> {
        self.start(id)?;
        let mut queue = self.queue.lock();
        if queue.closed {
            return Err(Errno(libc::ENOENT));
        }
        queue.last += 1;
        let executor = Arc::downgrade(self);
        let fence = Fence::batch(self.timeline, queue.last, job.engine, executor);
        queue.last_fence = Some(fence.clone());
        let dependencies = order(&fence);
        queue.jobs.push_back(Queued { fence: fence.clone(), job, dependencies, submit_fences });
        if !awaited {
            self.wake_if_wanted(queue);
        }
        Ok(fence)
    }

    fn start(self: &Arc<Self>, id: ContextId) -> Result<()> {
        let mut thread = self.thread.lock();
        if thread.is_none() {
            let context = Arc::clone(self);
            let builder = std::thread::Builder::new().name(format!("gencl-context-{}", id.0));
            *thread = Some(builder.spawn(move || context.work()).map_err(|_| Errno(libc::ENOMEM))?);
        }
        Ok(())
    }

    /// Accepts no more batches; those that are queued still run.
    pub fn close(&self) {
        let mut queue = self.queue.lock();
        queue.closed = true;
        self.wake_if_wanted(queue);
    }

    fn wake_if_wanted(&self, mut queue: MutexGuard<'_, Queue>) {
        let needed = queue.needs_thread();
        queue.asleep &= !needed;
        drop(queue);
        if needed {
            self.wake.notify_one();
        }
    }

    /// As [`Context::close`], when the program destroys the context: if it is not persistent, its running
    /// batch is cancelled and the others are dropped.
    pub fn destroy(&self) {
        if !self.params.lock().persistent {
            self.killed.store(true, Ordering::Release);
            if let Some(running) = &*self.running.lock() {
                running.cancel.set();
            }
        }
        self.close();
    }

    /// Waits until the batches that are queued have ended.
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

    /// Whether the thread has ended, or was never started.
    pub fn is_finished(&self) -> bool {
        self.thread.lock().as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Waits for the thread's next batch; `None` when the context is closed and none is left.
    fn next(&self) -> Option<Queued> {
        let mut queue = self.queue.lock();
        loop {
            if let Some(job) = queue.take() {
                return Some(job);
            }
            if queue.closed && !queue.executing {
                return None;
            }
            queue.asleep = true;
            self.wake.wait(&mut queue);
            queue.asleep = false;
        }
    }

    fn work(&self) {
        while let Some(job) = self.next() {
            self.run(job);
            self.queue.lock().executing = false;
        }
    }

    /// Executes a batch. The caller has set [`Queue::executing`].
    fn run(&self, Queued { fence, job, dependencies, submit_fences }: Queued) {
        let ready = dependencies.iter().all(|fence| self.await_fence(|until| fence.wait(until)))
            && submit_fences.iter().all(|fence| self.await_fence(|until| fence.wait_begun(until)));
        let mut error = libc::EIO;
        if ready && self.is_wanted() {
            fence.begin();
            let mut state = self.state.lock();
            match self.execute(&mut state, &job) {
                Ok(()) => error = 0,
                Err(fault) => {
                    self.record_hang(&fault);
                    *state = ContextState::default();
                }
            }
        }
        if let Some(statistics) = &self.core.gpu.settings.statistics {
            statistics.save();
        }
        // The memory is released first: a thread that waits may expect that.
        drop(job);
        fence.complete(error);
    }

    /// Whether batches of this context are still to be executed.
    fn is_wanted(&self) -> bool {
        !self.is_banned() && !self.core.is_closing() && !self.killed.load(Ordering::Acquire)
    }

    /// Waits for a fence while the batch that depends on it is wanted; returns whether the wait succeeded.
    fn await_fence(&self, wait: impl Fn(Option<Instant>) -> bool) -> bool {
        while self.is_wanted() {
            if wait(Some(Instant::now() + CANCEL_POLL_INTERVAL)) {
                return true;
            }
        }
        false
    }

    /// Executes one batch. A panic in the simulator is a fault of the batch.
    fn execute(&self, state: &mut ContextState, job: &Job) -> std::result::Result<(), Fault> {
        let running = Arc::new(Running::default());
        let unwatched = |error| Fault::unsupported(format!("batches without a watchdog: {error}"));
        let _watch = self.core.watchdog.watch(&running).map_err(unwatched)?;
        *self.running.lock() = Some(Arc::clone(&running));
        if !self.is_wanted() {
            // `Watchdog::cancel_all` or `Context::destroy` ran before the batch was registered.
            running.cancel.set();
        }
        let run = AssertUnwindSafe(|| {
            let _floats = IeeeFloats::new();
            Streamer::new(&self.core.gpu, &job.memory, &running, state, job.engine).run(job.batch)
        });
        let result = std::panic::catch_unwind(run).unwrap_or_else(|panic| Err(Fault::internal(&*panic)));
        *self.running.lock() = None;
        result
    }

    /// Records a hang, as `__i915_gem_context_mark_guilty` does.
    fn record_hang(&self, fault: &Fault) {
        if self.core.is_closing() || self.killed.load(Ordering::Acquire) {
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
        self.core.reset_count.fetch_add(1, Ordering::Relaxed);
        self.guilty.fetch_add(1, Ordering::Release);
        if params.bannable && (!params.recoverable || fast) {
            self.banned.store(true, Ordering::Release);
        }
    }

    /// `DRM_IOCTL_I915_GET_RESET_STATS`
    pub fn reset_stats(&self) -> ResetStats {
        ResetStats {
            reset_count: self.core.reset_count.load(Ordering::Relaxed),
            batch_active: self.guilty.load(Ordering::Acquire),
            // Only the batch that hangs is lost: those of other contexts continue.
            batch_pending: 0,
        }
    }

    /// The error state of the last hang.
    pub fn error(&self) -> Option<ErrorState> {
        self.hangs.lock().error.clone()
    }

    /// `DRM_IOCTL_I915_GEM_CONTEXT_GETPARAM`
    pub fn get_param(&self, param: u64) -> Result<u64> {
        let params = self.params.lock();
        Ok(match param {
            context_param::GTT_SIZE => 1 << self.core.gpu.device.address_bits,
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
    pub fn set_param(&self, param: u64, value: u64) -> Result<()> {
        let mut params = self.params.lock();
        match param {
            context_param::NO_ERROR_CAPTURE => params.no_error_capture = value != 0,
            // Only privileged programs may create a context that is never banned.
            context_param::BANNABLE if value == 0 => return Err(Errno(libc::EPERM)),
            context_param::BANNABLE => params.bannable = true,
            context_param::RECOVERABLE => params.recoverable = value != 0,
            context_param::PERSISTENCE => params.persistent = value != 0,
            // Contexts run in parallel, each on a thread: a priority is stored and has no effect
            // (`validate_priority`).
            context_param::PRIORITY => {
                let (least, default, most) = PRIORITIES;
                let priority = value as i64;
                if !(least..=most).contains(&priority) {
                    return Err(Errno(libc::EINVAL));
                }
                if self.core.gpu.device.driver.scheduler == 0 {
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

impl BatchExecutor for Context {
    // While the context's own thread executes none and the next batch is ready.
    fn run_inline(&self, fence: &Fence) {
        let mut queue = self.queue.lock();
        loop {
            let ready = !fence.signaled() && queue.jobs.front().is_some_and(Queued::is_ready);
            let Some(job) = ready.then(|| queue.take()).flatten() else {
                return self.wake_if_wanted(queue);
            };
            drop(queue);
            self.run(job);
            queue = self.queue.lock();
            queue.executing = false;
        }
    }

    fn wake_for_waiter(&self) {
        self.wake_if_wanted(self.queue.lock());
    }
}
