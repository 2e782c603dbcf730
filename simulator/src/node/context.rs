//! Hardware contexts: a queue of batches, the thread that executes them, and what happened.

use std::collections::{HashMap, VecDeque};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use gencl_i915::uapi::context_param;
use gencl_i915::{ContextId, Engine, Errno, GemHandle, ResetStats, Result};
use parking_lot::{Condvar, Mutex};

use super::Core;
use super::timeline::{Fence, Timeline};
use crate::fault::Fault;
use crate::memory::AddressSpace;
use crate::running::Running;
use crate::streamer::{ContextState, Streamer};

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
    /// Its number on the context's timeline.
    number: u64,
    job: Job,
    /// Batches that come first, also of other contexts.
    after: Vec<Fence>,
}

/// A hardware context.
///
/// Batches of all engines run in the order in which they came; i915 orders them for each engine only.
pub struct Context {
    timeline: Arc<Timeline>,
    queue: Mutex<Queue>,
    wake: Condvar,
    thread: Mutex<Option<JoinHandle<()>>>,
    params: Mutex<Params>,
    /// Where buffers were placed that had no fixed address.
    pub placement: Mutex<HashMap<GemHandle, u64>>,
    hangs: Mutex<Hangs>,
    guilty: AtomicU32,
    banned: AtomicBool,
}

#[derive(Default)]
struct Queue {
    jobs: VecDeque<Queued>,
    /// Number of the last batch.
    last: u64,
    closed: bool,
}

#[derive(Clone, Copy)]
struct Params {
    no_error_capture: bool,
    bannable: bool,
    recoverable: bool,
    persistent: bool,
}

#[derive(Default)]
struct Hangs {
    /// When the last two were.
    times: [Option<Instant>; 2],
    error: Option<String>,
}

impl Context {
    /// A context; its thread starts with the first batch.
    pub fn new() -> Context {
        Context {
            timeline: Arc::default(),
            queue: Mutex::default(),
            wake: Condvar::new(),
            thread: Mutex::new(None),
            params: Mutex::new(Params {
                no_error_capture: false,
                bannable: true,
                recoverable: true,
                persistent: true,
            }),
            placement: Mutex::default(),
            hangs: Mutex::default(),
            guilty: AtomicU32::new(0),
            banned: AtomicBool::new(false),
        }
    }

    /// Banned contexts take no more batches.
    pub fn is_banned(&self) -> bool {
        self.banned.load(Ordering::Acquire)
    }

    /// Queues a batch. `order` gets the batch's fence and gives the batches that come before it.
    pub fn submit(
        self: &Arc<Self>,
        id: ContextId,
        core: &Arc<Core>,
        job: Job,
        order: impl FnOnce(&Fence) -> Vec<Fence>,
    ) -> Result<()> {
        self.start(id, core)?;
        let mut queue = self.queue.lock();
        if queue.closed {
            return Err(Errno(libc::ENOENT));
        }
        queue.last += 1;
        let number = queue.last;
        let after = order(&Fence { timeline: Arc::clone(&self.timeline), number });
        queue.jobs.push_back(Queued { number, job, after });
        drop(queue);
        self.wake.notify_one();
        Ok(())
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
        self.queue.lock().closed = true;
        self.wake.notify_one();
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

    /// The next batch; `None` when the context is closed and there is none left.
    fn next(&self) -> Option<Queued> {
        let mut queue = self.queue.lock();
        loop {
            if let Some(job) = queue.jobs.pop_front() {
                return Some(job);
            }
            if queue.closed {
                return None;
            }
            self.wake.wait(&mut queue);
        }
    }

    fn work(&self, core: &Core) {
        let mut state = ContextState::default();
        while let Some(Queued { number, job, after }) = self.next() {
            if !self.is_banned() && !core.is_closing() {
                after.iter().for_each(|fence| {
                    fence.wait(None);
                });
                if let Err(fault) = execute(core, &mut state, &job) {
                    self.hung(core, &fault);
                    state = ContextState::default();
                }
            }
            // The memory first: who waited may expect it to be free.
            drop(job);
            self.timeline.complete(number);
        }
    }

    /// Takes note of a hang, as `__i915_gem_context_mark_guilty` does.
    fn hung(&self, core: &Core, fault: &Fault) {
        if core.is_closing() {
            return;
        }
        let params = *self.params.lock();
        let now = Instant::now();
        let mut hangs = self.hangs.lock();
        let fast = hangs.times[0].is_some_and(|time| now - time < FAST_HANG);
        hangs.times = [hangs.times[1], Some(now)];
        if !params.no_error_capture {
            hangs.error = Some(fault.to_string());
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

    /// The text of the last hang.
    pub fn error(&self) -> Option<String> {
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
            context_param::PRIORITY => 0,
            _ => return Err(Errno(libc::EINVAL)),
        })
    }

    /// `DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM`
    pub fn set_param(&self, param: u64, value: u64) -> Result<()> {
        let mut params = self.params.lock();
        match param {
            context_param::NO_ERROR_CAPTURE => params.no_error_capture = value != 0,
            // Only root may make a context that is never banned.
            context_param::BANNABLE if value == 0 => return Err(Errno(libc::EPERM)),
            context_param::BANNABLE => params.bannable = true,
            context_param::RECOVERABLE => params.recoverable = value != 0,
            context_param::PERSISTENCE => params.persistent = value != 0,
            // The scheduler has no priorities (I915_PARAM_HAS_SCHEDULER says so).
            context_param::PRIORITY => return Err(Errno(libc::ENODEV)),
            _ => return Err(Errno(libc::EINVAL)),
        }
        Ok(())
    }
}

/// Executes one batch. A panic in the simulator is a fault of the batch.
fn execute(core: &Core, state: &mut ContextState, job: &Job) -> std::result::Result<(), Fault> {
    let running = Arc::new(Running::default());
    let _watch = core.watchdog.watch(&running);
    if core.is_closing() {
        // It came too late for `Watchdog::cancel_all`.
        running.cancel.set();
    }
    let run = AssertUnwindSafe(|| {
        Streamer::new(&core.gpu, &job.memory, &running, state, job.engine).run(job.batch)
    });
    std::panic::catch_unwind(run).unwrap_or_else(|panic| Err(Fault::internal(&*panic)))
}
