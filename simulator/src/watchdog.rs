//! Finds batches that make no progress, and cancels them.
//!
//! A thread checks all running batches a few times per hang limit. It sleeps while there are none, so that an
//! idle simulator uses no CPU time; while it checks, further short batches do not wake it.

use std::io;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use gencl_sync::{Condvar, Mutex};

use crate::running::Running;

/// The watchdog of one simulator.
pub struct Watchdog {
    shared: Arc<Shared>,
}

struct Shared {
    limit: Duration,
    state: Mutex<State>,
    wake: Condvar,
}

#[derive(Default)]
struct State {
    watched: Vec<Watched>,
    /// Started with the first batch.
    thread: Option<JoinHandle<()>>,
    /// The thread waits for a batch.
    asleep: bool,
    closed: bool,
}

struct Watched {
    running: Arc<Running>,
    /// The last progress that the thread has seen, and when it changed.
    progress: u64,
    since: Instant,
}

impl Watchdog {
    /// A watchdog that cancels batches without progress for `limit`.
    pub fn new(limit: Duration) -> Watchdog {
        let state = Mutex::new(State::default());
        Watchdog { shared: Arc::new(Shared { limit, state, wake: Condvar::new() }) }
    }

    /// Watches a batch until the result is dropped.
    ///
    /// # Errors
    /// The watchdog's thread cannot be created.
    pub fn watch(&self, running: &Arc<Running>) -> io::Result<Watch<'_>> {
        let mut state = self.shared.state.lock();
        if state.thread.is_none() {
            let for_thread = Arc::clone(&self.shared);
            let builder = std::thread::Builder::new().name("gencl-watchdog".into());
            state.thread = Some(builder.spawn(move || for_thread.watch())?);
        }
        let (running, progress, since) = (Arc::clone(running), running.progress(), Instant::now());
        state.watched.push(Watched { running: Arc::clone(&running), progress, since });
        if state.asleep {
            self.shared.wake.notify_one();
        }
        Ok(Watch { watchdog: self, running })
    }

    /// Cancels all batches that run now.
    pub fn cancel_all(&self) {
        for watched in &self.shared.state.lock().watched {
            watched.running.cancel.set();
        }
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        let mut state = self.shared.state.lock();
        state.closed = true;
        self.shared.wake.notify_one();
        let thread = state.thread.take();
        drop(state);
        if let Some(thread) = thread {
            // It does not panic; if it did, there is nothing left to do about it.
            let _ = thread.join();
        }
    }
}

/// A batch that is being watched.
pub struct Watch<'a> {
    watchdog: &'a Watchdog,
    running: Arc<Running>,
}

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        let mut state = self.watchdog.shared.state.lock();
        state.watched.retain(|w| !Arc::ptr_eq(&w.running, &self.running));
    }
}

impl Shared {
    fn watch(&self) {
        let tick = (self.limit / 8).max(Duration::from_millis(1));
        let mut state = self.state.lock();
        while !state.closed {
            if state.watched.is_empty() {
                state.asleep = true;
                self.wake.wait(&mut state);
                state.asleep = false;
            }
            // Only closing notifies while the thread is not asleep.
            self.wake.wait_for(&mut state, tick);
            let now = Instant::now();
            for watched in &mut state.watched {
                let progress = watched.running.progress();
                if progress != watched.progress {
                    (watched.progress, watched.since) = (progress, now);
                } else if now - watched.since >= self.limit {
                    watched.running.cancel.set();
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Watchdog;
    use crate::running::Running;
    use std::sync::Arc;
    use std::time::{Duration, Instant};

    fn until(limit: Duration, done: impl Fn() -> bool) -> bool {
        let end = Instant::now() + limit;
        while Instant::now() < end {
            if done() {
                return true;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        false
    }

    #[test]
    fn a_batch_without_progress_is_cancelled() {
        let watchdog = Watchdog::new(Duration::from_millis(40));
        let running = Arc::new(Running::default());
        let _watch = watchdog.watch(&running).unwrap();
        assert!(until(Duration::from_secs(10), || running.cancel.is_set()));
    }

    #[test]
    fn a_limit_beyond_the_range_of_the_clock_never_expires() {
        let watchdog = Watchdog::new(Duration::MAX);
        let running = Arc::new(Running::default());
        let watch = watchdog.watch(&running).unwrap();
        std::thread::sleep(Duration::from_millis(20));
        assert!(!running.cancel.is_set());
        drop(watch);
    }

    #[test]
    fn a_batch_that_makes_progress_is_not_cancelled() {
        let watchdog = Watchdog::new(Duration::from_millis(400));
        let running = Arc::new(Running::default());
        let _watch = watchdog.watch(&running).unwrap();
        let end = Instant::now() + Duration::from_millis(1000);
        while Instant::now() < end {
            running.advance();
            std::thread::sleep(Duration::from_millis(5));
        }
        assert!(!running.cancel.is_set());
    }

    #[test]
    fn a_finished_batch_is_not_watched() {
        let watchdog = Watchdog::new(Duration::from_millis(20));
        let running = Arc::new(Running::default());
        drop(watchdog.watch(&running).unwrap());
        std::thread::sleep(Duration::from_millis(100));
        assert!(!running.cancel.is_set());
    }
}
