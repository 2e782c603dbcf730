//! A batch that is being executed, as the watchdog sees it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use gencl_eu::dispatch::CancelFlag;

/// Cancellation and progress of a batch, shared between its threads and the watchdog.
#[derive(Debug, Default)]
pub struct Running {
    /// Set to stop the batch.
    pub cancel: CancelFlag,
    finished: [Counter; COUNTERS],
    /// The GPU address of the kernel that runs; 0 before the first one.
    kernel: AtomicU64,
    /// A work-group has failed.
    failed: AtomicBool,
}

/// Number of counters. Up to this many host threads have a cache line of their own.
const COUNTERS: usize = 8;

#[derive(Debug, Default)]
#[repr(align(64))]
struct Counter(AtomicU64);

impl Running {
    /// Reports that a work-group has finished, so that the batch is not taken for hung.
    pub fn advance(&self) {
        self.advance_as(0);
    }

    /// As [`Running::advance`], on the counter of a participant: different participants do not contend.
    #[inline]
    pub fn advance_as(&self, participant: usize) {
        // Not an atomic addition, which on x86 waits until all stores of the work-group have left the store
        // buffer. Threads that share a counter may lose counts, but it changes all the same.
        let counter = &self.finished[participant % COUNTERS].0;
        counter.store(counter.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
    }

    /// Notes the kernel that is executed, by its GPU address.
    pub fn begin_kernel(&self, address: u64) {
        self.kernel.store(address, Ordering::Relaxed);
    }

    /// The GPU address of the kernel that runs, if there is one.
    pub fn kernel(&self) -> Option<u64> {
        Some(self.kernel.load(Ordering::Relaxed)).filter(|address| *address != 0)
    }

    /// Notes that a work-group has failed.
    pub fn fail(&self) {
        self.failed.store(true, Ordering::Relaxed);
    }

    /// Whether a work-group has failed.
    pub fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }

    /// A value that changes when a work-group finishes.
    pub fn progress(&self) -> u64 {
        self.finished.iter().map(|counter| counter.0.load(Ordering::Relaxed)).sum()
    }
}
