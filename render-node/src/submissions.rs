//! A lock between submissions and unmapping of userptr memory: any number of threads submit batches, or one
//! unmaps. Otherwise a batch could be submitted after the check that none uses the memory.

use std::cell::Cell;
use std::time::{Duration, Instant};

use gencl_sync::{Condvar, Mutex, MutexGuard};

/// State of the lock.
#[derive(Debug)]
pub struct Now {
    /// Number of threads that submit a batch.
    queueing: u32,
    is_unmapping: bool,
}

static NOW: Mutex<Now> = Mutex::new(Now { queueing: 0, is_unmapping: false });
static CHANGED: Condvar = Condvar::new();

/// Limit of waiting for submissions, as that of a thread that was ended never completes.
const QUEUED_BY_THEN: Duration = Duration::from_secs(5);

thread_local! {
    /// This thread is submitting a batch.
    static IS_QUEUEING: Cell<bool> = const { Cell::new(false) };
}

/// Runs a submission, while no memory is unmapped.
pub fn while_mapped<T>(submit: impl FnOnce() -> T) -> T {
    let mut now = NOW.lock();
    while now.is_unmapping {
        CHANGED.wait(&mut now);
    }
    now.queueing += 1;
    drop(now);
    IS_QUEUEING.set(true);
    let result = submit();
    IS_QUEUEING.set(false);
    let mut now = NOW.lock();
    now.queueing = now.queueing.saturating_sub(1);
    drop(now);
    CHANGED.notify_all();
    result
}

/// Whether this thread is submitting a batch.
pub fn is_queueing() -> bool {
    IS_QUEUEING.get()
}

/// Guard for unmapping memory.
pub struct Unmapping(());

impl Unmapping {
    /// Waits until no thread submits a batch. `None` after a timeout.
    pub fn begin() -> Option<Unmapping> {
        let until = Instant::now() + QUEUED_BY_THEN;
        let mut now = NOW.lock();
        while now.is_unmapping || now.queueing > 0 {
            if CHANGED.wait_until(&mut now, until).timed_out() {
                return None;
            }
        }
        now.is_unmapping = true;
        Some(Unmapping(()))
    }
}

impl Drop for Unmapping {
    fn drop(&mut self) {
        NOW.lock().is_unmapping = false;
        CHANGED.notify_all();
    }
}

/// Locks the state while the process forks.
pub fn hold() -> MutexGuard<'static, Now> {
    NOW.lock()
}

/// Resets the state in the child.
pub fn forget(now: &mut Now) {
    (now.queueing, now.is_unmapping) = (0, false);
}
