//! Fences, as the kernel's `dma_fence`: created with the batch, signaled once when it has ended, never reset.
//! A fence can be waited for, and can have callbacks.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Instant;

use gencl_i915::Engine;
use gencl_sync::{Condvar, Mutex, MutexGuard};

use crate::clock;

/// Called when a fence is signaled.
type Callback = Box<dyn FnOnce() + Send>;

/// What executes the batches of some fences.
pub trait BatchExecutor: Send + Sync {
    /// Executes batches up to that of a fence on this thread, as far as possible. The fence may be unsignaled
    /// afterwards.
    fn run_inline(&self, fence: &Fence);

    /// Sees to it that queued batches are executed. Called by a thread that waits for a batch without executing
    /// it, since the batch may have been submitted as `awaited`.
    fn wake_for_waiter(&self);
}

/// Tells when a batch, or something else that happens once, has ended. Clones refer to the same fence.
#[derive(Clone)]
pub struct Fence(Arc<Inner>);

struct Inner {
    /// Id of its timeline, whose fences are signaled in order (`dma_fence::context`).
    context: u64,
    /// Sequence number in the timeline, from 1 on (`dma_fence::seqno`).
    number: u64,
    /// The engine of the batch; `None` if it is not that of a batch.
    engine: Option<Engine>,
    /// What executes the batch; `None` if it is not that of a batch.
    executor: Option<Weak<dyn BatchExecutor>>,
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    progress: Progress,
    callbacks: Vec<Callback>,
    /// Threads that wait for a change.
    waiting: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Progress {
    Waiting,
    Running,
    Done { error: i32, time: i64 },
}

/// A new timeline id (`dma_fence_context_alloc`).
pub fn new_context() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    LAST.fetch_add(1, Ordering::Relaxed) + 1
}

impl std::fmt::Debug for Fence {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Fence({}, {}, {:?})", self.0.context, self.0.number, self.status())
    }
}

impl Fence {
    /// The fence of a batch in the timeline `context`.
    pub(super) fn batch(
        context: u64,
        number: u64,
        engine: Engine,
        executor: Weak<dyn BatchExecutor>,
    ) -> Fence {
        Fence::with(context, number, Some(engine), Some(executor), Progress::Waiting)
    }

    /// A fence that its owner signals with [`Fence::complete`].
    pub fn pending() -> Fence {
        Fence::with(new_context(), 1, None, None, Progress::Waiting)
    }

    /// A signaled fence (`dma_fence_get_stub`).
    pub fn stub() -> Fence {
        let done = Progress::Done { error: 0, time: clock::monotonic_ns() };
        Fence::with(new_context(), 1, None, None, done)
    }

    fn with(
        context: u64,
        number: u64,
        engine: Option<Engine>,
        executor: Option<Weak<dyn BatchExecutor>>,
        progress: Progress,
    ) -> Fence {
        let state = Mutex::new(State { progress, callbacks: Vec::new(), waiting: 0 });
        Fence(Arc::new(Inner { context, number, engine, executor, state, changed: Condvar::new() }))
    }

    /// Its timeline: of two fences in one timeline, the one with the larger number is signaled later.
    pub fn context(&self) -> u64 {
        self.0.context
    }

    /// Its sequence number in the timeline.
    pub fn number(&self) -> u64 {
        self.0.number
    }

    /// The engine of the batch; `None` if it is not that of a batch.
    pub fn engine(&self) -> Option<Engine> {
        self.0.engine
    }

    /// Whether both are the same fence.
    pub fn same(&self, other: &Fence) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Whether it is signaled.
    pub fn signaled(&self) -> bool {
        matches!(self.0.state.lock().progress, Progress::Done { .. })
    }

    /// Whether the batch runs or has ended.
    pub(super) fn begun(&self) -> bool {
        self.0.state.lock().progress != Progress::Waiting
    }

    /// 0 while it is unsignaled, then 1, or a negative error number if it failed (`dma_fence_get_status`).
    pub fn status(&self) -> i32 {
        match self.0.state.lock().progress {
            Progress::Waiting | Progress::Running => 0,
            Progress::Done { error: 0, .. } => 1,
            Progress::Done { error, .. } => -error,
        }
    }

    /// The time when it was signaled, in nanoseconds of the monotonic clock; 0 while it is unsignaled.
    pub fn timestamp(&self) -> i64 {
        match self.0.state.lock().progress {
            Progress::Waiting | Progress::Running => 0,
            Progress::Done { time, .. } => time,
        }
    }

    /// Records that the batch begins.
    pub(super) fn begin(&self) {
        let mut state = self.0.state.lock();
        if state.progress == Progress::Waiting {
            state.progress = Progress::Running;
            self.notify(state);
        }
    }

    /// Wakes the threads that wait.
    fn notify(&self, state: MutexGuard<'_, State>) {
        let waiting = state.waiting > 0;
        drop(state);
        if waiting {
            self.0.changed.notify_all();
        }
    }

    /// Signals the fence; `error` is 0 or an error number. Further calls have no effect.
    pub fn complete(&self, error: i32) {
        let mut state = self.0.state.lock();
        if matches!(state.progress, Progress::Done { .. }) {
            return;
        }
        state.progress = Progress::Done { error, time: clock::monotonic_ns() };
        let callbacks = std::mem::take(&mut state.callbacks);
        self.notify(state);
        callbacks.into_iter().for_each(|callback| callback());
    }

    /// Calls `callback` when the fence is signaled, on the thread that signals it; immediately if it already
    /// is.
    pub fn on_signal(&self, callback: impl FnOnce() + Send + 'static) {
        let mut state = self.0.state.lock();
        if matches!(state.progress, Progress::Done { .. }) {
            drop(state);
            callback();
        } else {
            state.callbacks.push(Box::new(callback));
        }
    }

    /// Executes the batch and those before it on this thread, if possible.
    pub(super) fn run_inline(&self) {
        if let Some(executor) = self.executor() {
            executor.run_inline(self);
        }
    }

    fn executor(&self) -> Option<Arc<dyn BatchExecutor>> {
        self.0.executor.as_ref()?.upgrade()
    }

    /// Waits until it is signaled or the deadline has passed; `None` waits without limit. Returns whether it
    /// is signaled.
    pub fn wait(&self, deadline: Option<Instant>) -> bool {
        self.wait_while(deadline, |progress| !matches!(progress, Progress::Done { .. }))
    }

    /// As [`Fence::wait`], until the batch has begun.
    pub fn wait_begun(&self, deadline: Option<Instant>) -> bool {
        self.wait_while(deadline, |progress| progress == Progress::Waiting)
    }

    fn wait_while(&self, deadline: Option<Instant>, not_yet: impl Fn(Progress) -> bool) -> bool {
        let mut state = self.0.state.lock();
        let mut in_time = true;
        if not_yet(state.progress)
            && let Some(executor) = self.executor()
        {
            drop(state);
            executor.wake_for_waiter();
            state = self.0.state.lock();
        }
        state.waiting += 1;
        while in_time && not_yet(state.progress) {
            match deadline {
                None => self.0.changed.wait(&mut state),
                Some(deadline) => in_time = !self.0.changed.wait_until(&mut state, deadline).timed_out(),
            }
        }
        state.waiting -= 1;
        !not_yet(state.progress)
    }
}

/// The fences of the batches that use a buffer: of each timeline the last one (`dma_resv`).
#[derive(Debug, Default)]
pub struct BufferFences {
    all: Vec<Fence>,
    writers: Vec<Fence>,
}

fn replace(fences: &mut Vec<Fence>, fence: &Fence) {
    fences.retain(|f| f.context() != fence.context() && !f.signaled());
    fences.push(fence.clone());
}

fn unsignaled(fences: &[Fence]) -> Vec<Fence> {
    fences.iter().filter(|f| !f.signaled()).cloned().collect()
}

impl BufferFences {
    /// Adds the fence of a batch that uses the buffer.
    pub fn add(&mut self, fence: &Fence, writes: bool) {
        replace(&mut self.all, fence);
        if writes {
            replace(&mut self.writers, fence);
        }
    }

    /// The unsignaled fences.
    pub fn pending(&self) -> Vec<Fence> {
        unsignaled(&self.all)
    }

    /// The unsignaled fences of batches that write.
    pub fn pending_writers(&self) -> Vec<Fence> {
        unsignaled(&self.writers)
    }

    /// The fences that a new batch has to wait for: those of writers, or all if it `writes`.
    pub fn dependencies(&self, writes: bool) -> Vec<Fence> {
        if writes { self.pending() } else { self.pending_writers() }
    }
}

#[cfg(test)]
mod tests {
    use super::{BufferFences, Fence, Progress};
    use gencl_i915::Engine;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::time::{Duration, Instant};

    fn batch(context: u64, number: u64, engine: Engine) -> Fence {
        Fence::with(context, number, Some(engine), None, Progress::Waiting)
    }

    #[test]
    fn a_fence_is_signaled_once() {
        let fence = Fence::pending();
        let calls = Arc::new(AtomicU32::new(0));
        let count = |calls: &Arc<AtomicU32>| {
            let calls = Arc::clone(calls);
            move || {
                calls.fetch_add(1, Ordering::Relaxed);
            }
        };
        fence.on_signal(count(&calls));
        assert!(!fence.wait(Some(Instant::now() + Duration::from_millis(1))));
        assert_eq!((fence.status(), fence.timestamp()), (0, 0));
        fence.complete(libc::EIO);
        fence.complete(0);
        fence.on_signal(count(&calls));
        assert_eq!(calls.load(Ordering::Relaxed), 2);
        assert_eq!(fence.status(), -libc::EIO);
        assert!(fence.timestamp() > 0 && fence.wait(None) && fence.wait_begun(None));
        assert_eq!(Fence::stub().status(), 1);
    }

    #[test]
    fn a_batch_that_runs_has_begun() {
        let fence = batch(1, 1, Engine::Render);
        assert!(!fence.wait_begun(Some(Instant::now())));
        fence.begin();
        assert!(fence.wait_begun(None) && !fence.signaled());
    }

    #[test]
    fn the_last_batch_of_each_context_is_kept() {
        let mut buffer = BufferFences::default();
        let fences = [(1, 1), (2, 1), (1, 2)].map(|(c, n)| batch(c, n, Engine::Blit));
        buffer.add(&fences[0], true);
        buffer.add(&fences[1], false);
        buffer.add(&fences[2], false);
        assert_eq!((buffer.pending().len(), buffer.dependencies(false).len()), (2, 1));
        fences[0].complete(0);
        assert!(buffer.dependencies(false).is_empty());
        assert_eq!(buffer.dependencies(true).len(), 2);
    }
}
