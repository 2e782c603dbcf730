//! Fences: when batches begin and are done.
//!
//! As the kernel's `dma_fence`: made with the batch, signaled once, never reset. Who has a fence may wait for
//! it, ask for a call when it is signaled, and keep it as long as it likes.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Instant;

use gencl_i915::Engine;
use gencl_sync::{Condvar, Mutex, MutexGuard};

use super::Core;
use super::context::Context;
use crate::clock;

/// What is done when a fence is signaled.
type Callback = Box<dyn FnOnce() + Send>;

/// A batch (or something else that ends once), for those who wait for it.
#[derive(Clone)]
pub struct Fence(Arc<Inner>);

struct Inner {
    /// The line of fences that are signaled in order; no other line has the number.
    context: u64,
    /// The place in the line, from 1 on.
    number: u64,
    /// Where the batch runs; `None` for what is no batch.
    engine: Option<Engine>,
    /// The context that executes the batch.
    executes: Weak<Context>,
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

/// A number that no other line of fences has.
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
    /// A batch of the line `context`, which `executes` does.
    pub(super) fn batch(context: u64, number: u64, engine: Engine, executes: Weak<Context>) -> Fence {
        Fence::with(context, number, Some(engine), executes, Progress::Waiting)
    }

    /// Something else, of which the owner says when it is done.
    pub fn pending() -> Fence {
        Fence::with(new_context(), 1, None, Weak::new(), Progress::Waiting)
    }

    /// One that is signaled from the beginning.
    pub fn stub() -> Fence {
        let done = Progress::Done { error: 0, time: clock::monotonic_ns() };
        Fence::with(new_context(), 1, None, Weak::new(), done)
    }

    fn with(
        context: u64,
        number: u64,
        engine: Option<Engine>,
        executes: Weak<Context>,
        progress: Progress,
    ) -> Fence {
        let state = Mutex::new(State { progress, callbacks: Vec::new(), waiting: 0 });
        Fence(Arc::new(Inner { context, number, engine, executes, state, changed: Condvar::new() }))
    }

    /// The line that it belongs to: of two fences of one line the one with the larger number is signaled
    /// later.
    pub fn context(&self) -> u64 {
        self.0.context
    }

    /// Its place in the line.
    pub fn number(&self) -> u64 {
        self.0.number
    }

    /// The engine of the batch; `None` for what is no batch.
    pub fn engine(&self) -> Option<Engine> {
        self.0.engine
    }

    /// Is it the same fence?
    pub fn same(&self, other: &Fence) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Is it done?
    pub fn signaled(&self) -> bool {
        matches!(self.0.state.lock().progress, Progress::Done { .. })
    }

    /// Is it done, or a batch that runs?
    pub(super) fn begun(&self) -> bool {
        self.0.state.lock().progress != Progress::Waiting
    }

    /// 0 before it is done, then 1, or a negative error number when it failed (`dma_fence_get_status`).
    pub fn status(&self) -> i32 {
        match self.0.state.lock().progress {
            Progress::Waiting | Progress::Running => 0,
            Progress::Done { error: 0, .. } => 1,
            Progress::Done { error, .. } => -error,
        }
    }

    /// When it was signaled, nanoseconds of the monotonic clock; 0 before.
    pub fn timestamp(&self) -> i64 {
        match self.0.state.lock().progress {
            Progress::Waiting | Progress::Running => 0,
            Progress::Done { time, .. } => time,
        }
    }

    /// The batch runs now.
    pub(super) fn begin(&self) {
        let mut state = self.0.state.lock();
        if state.progress == Progress::Waiting {
            state.progress = Progress::Running;
            self.notify(state);
        }
    }

    /// Wakes who waits.
    fn notify(&self, state: MutexGuard<'_, State>) {
        let waiting = state.waiting > 0;
        drop(state);
        if waiting {
            self.0.changed.notify_all();
        }
    }

    /// It is done; `error` is 0 or an error number. Later calls change nothing.
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

    /// Calls `callback` when it is signaled, on the thread that signals it; at once when it is already.
    pub fn on_signal(&self, callback: impl FnOnce() + Send + 'static) {
        let mut state = self.0.state.lock();
        if matches!(state.progress, Progress::Done { .. }) {
            drop(state);
            callback();
        } else {
            state.callbacks.push(Box::new(callback));
        }
    }

    /// Executes what a wait would be for on this thread, if the context's own thread is not at it
    /// ([`Context::help`]).
    pub(super) fn help(&self, core: &Core) {
        if let Some(context) = self.0.executes.upgrade() {
            context.help(core, self);
        }
    }

    /// Waits until it is done or the time is over; `None` waits for ever. Is it done?
    pub fn wait(&self, deadline: Option<Instant>) -> bool {
        self.wait_while(deadline, |progress| !matches!(progress, Progress::Done { .. }))
    }

    /// As [`Fence::wait`], but a batch that runs is enough.
    pub fn wait_begun(&self, deadline: Option<Instant>) -> bool {
        self.wait_while(deadline, |progress| progress == Progress::Waiting)
    }

    fn wait_while(&self, deadline: Option<Instant>, not_yet: impl Fn(Progress) -> bool) -> bool {
        let mut state = self.0.state.lock();
        let mut in_time = true;
        if not_yet(state.progress)
            && let Some(context) = self.0.executes.upgrade()
        {
            drop(state);
            context.demand();
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

/// The batches that use a buffer: at most one of each context, the last.
#[derive(Debug, Default)]
pub struct Users {
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

impl Users {
    /// A batch will use the buffer.
    pub fn add(&mut self, fence: &Fence, writes: bool) {
        replace(&mut self.all, fence);
        if writes {
            replace(&mut self.writers, fence);
        }
    }

    /// The batches that may still run.
    pub fn pending(&self) -> Vec<Fence> {
        unsignaled(&self.all)
    }

    /// Those of them that write.
    pub fn pending_writers(&self) -> Vec<Fence> {
        unsignaled(&self.writers)
    }

    /// The batches that a further batch has to wait for: writers, and for a writer all.
    pub fn before(&self, writes: bool) -> Vec<Fence> {
        if writes { self.pending() } else { self.pending_writers() }
    }
}

#[cfg(test)]
mod tests {
    use super::{Fence, Users};
    use gencl_i915::Engine;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::sync::{Arc, Weak};
    use std::time::{Duration, Instant};

    fn batch(context: u64, number: u64, engine: Engine) -> Fence {
        Fence::batch(context, number, engine, Weak::new())
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
        let mut users = Users::default();
        let fences = [(1, 1), (2, 1), (1, 2)].map(|(c, n)| batch(c, n, Engine::Blit));
        users.add(&fences[0], true);
        users.add(&fences[1], false);
        users.add(&fences[2], false);
        assert_eq!((users.pending().len(), users.before(false).len()), (2, 1));
        fences[0].complete(0);
        assert!(users.before(false).is_empty());
        assert_eq!(users.before(true).len(), 2);
    }
}
