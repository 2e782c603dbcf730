//! When batches are done: fences.

use std::sync::Arc;
use std::time::Instant;

use parking_lot::{Condvar, Mutex};

/// The batches of one context, numbered in the order in which they run.
#[derive(Debug, Default)]
pub struct Timeline {
    completed: Mutex<u64>,
    changed: Condvar,
}

impl Timeline {
    /// All batches up to a number are done.
    pub fn complete(&self, number: u64) {
        *self.completed.lock() = number;
        self.changed.notify_all();
    }
}

/// A batch, for those who wait for it.
#[derive(Clone, Debug)]
pub struct Fence {
    /// Of which context.
    pub timeline: Arc<Timeline>,
    /// Which of its batches.
    pub number: u64,
}

impl Fence {
    /// Is the batch done?
    pub fn signaled(&self) -> bool {
        *self.timeline.completed.lock() >= self.number
    }

    /// Waits until the batch is done or the time is over; `None` waits for ever. Is it done?
    pub fn wait(&self, deadline: Option<Instant>) -> bool {
        let mut completed = self.timeline.completed.lock();
        while *completed < self.number {
            match deadline {
                None => self.timeline.changed.wait(&mut completed),
                Some(deadline) => {
                    if self.timeline.changed.wait_until(&mut completed, deadline).timed_out() {
                        return *completed >= self.number;
                    }
                }
            }
        }
        true
    }
}

/// The batches that use a buffer: at most one of each context, the last.
#[derive(Debug, Default)]
pub struct Users {
    all: Vec<Fence>,
    writers: Vec<Fence>,
}

fn replace(fences: &mut Vec<Fence>, fence: &Fence) {
    fences.retain(|f| !Arc::ptr_eq(&f.timeline, &fence.timeline) && !f.signaled());
    fences.push(fence.clone());
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
        self.all.iter().filter(|f| !f.signaled()).cloned().collect()
    }

    /// The batches that a further batch has to wait for: writers, and for a writer all.
    pub fn before(&self, writes: bool) -> Vec<Fence> {
        let fences = if writes { &self.all } else { &self.writers };
        fences.iter().filter(|f| !f.signaled()).cloned().collect()
    }
}
