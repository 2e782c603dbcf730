//! A batch that is being executed, as the watchdog sees it.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::dispatch::CancelFlag;

/// Shared between a batch's threads and the watchdog.
#[derive(Debug, Default)]
pub struct Running {
    /// Stops the batch.
    pub cancel: CancelFlag,
    finished: AtomicU64,
}

impl Running {
    /// A work-group has finished: the batch is not hung.
    pub fn advance(&self) {
        self.finished.fetch_add(1, Ordering::Relaxed);
    }

    /// How many work-groups have finished.
    pub fn progress(&self) -> u64 {
        self.finished.load(Ordering::Relaxed)
    }
}
