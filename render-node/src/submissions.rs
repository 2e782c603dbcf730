//! Batches are queued by any number of threads at once, or memory that was handed over is unmapped by one:
//! else a batch could be queued after it was looked whether others use the memory.

use std::cell::Cell;
use std::time::{Duration, Instant};

use gencl_sync::{Condvar, Mutex, MutexGuard};

/// Who does what now.
#[derive(Debug)]
pub struct Now {
    /// Threads that queue a batch.
    queueing: u32,
    is_unmapping: bool,
}

static NOW: Mutex<Now> = Mutex::new(Now { queueing: 0, is_unmapping: false });
static CHANGED: Condvar = Condvar::new();

/// How long to wait for batches that are being queued: one whose thread was ended meanwhile never will be.
const QUEUED_BY_THEN: Duration = Duration::from_secs(5);

thread_local! {
    /// This thread queues a batch.
    static IS_QUEUEING: Cell<bool> = const { Cell::new(false) };
}

/// Queues a batch, while no memory is unmapped.
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

/// Does this thread queue a batch?
pub fn is_queueing() -> bool {
    IS_QUEUEING.get()
}

/// Memory is unmapped as long as this lives.
pub struct Unmapping(());

impl Unmapping {
    /// Waits for batches that are being queued. `None` if that takes too long.
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

/// To be held while the process forks.
pub fn hold() -> MutexGuard<'static, Now> {
    NOW.lock()
}

/// In the child nobody does anything.
pub fn forget(now: &mut Now) {
    (now.queueing, now.is_unmapping) = (0, false);
}
