//! A batch that is being executed, as the watchdog sees it.

use std::sync::atomic::{AtomicU64, Ordering};

use gencl_eu::dispatch::CancelFlag;

/// Shared between a batch's threads and the watchdog.
#[derive(Debug, Default)]
pub struct Running {
    /// Stops the batch.
    pub cancel: CancelFlag,
    finished: [Counter; COUNTERS],
}

/// Host threads that count on cache lines of their own.
const COUNTERS: usize = 8;

#[derive(Debug, Default)]
#[repr(align(64))]
struct Counter(AtomicU64);

impl Running {
    /// A work-group has finished: the batch is not hung.
    pub fn advance(&self) {
        self.advance_as(0);
    }

    /// As [`Running::advance`]. Threads with different numbers do not slow each other down.
    #[inline]
    pub fn advance_as(&self, participant: usize) {
        // Not one operation: hosts with strong order would wait until all that the work-group has stored is
        // in the caches. Threads that share a counter may lose counts; it changes all the same.
        let counter = &self.finished[participant % COUNTERS].0;
        counter.store(counter.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
    }

    /// A number that changes when work-groups finish.
    pub fn progress(&self) -> u64 {
        self.finished.iter().map(|counter| counter.0.load(Ordering::Relaxed)).sum()
    }
}
