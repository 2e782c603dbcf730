//! Finds batches that make no progress: their threads look whether they can end at all, their user is told, and they
//! are cancelled at last.
//!
//! A thread checks all running batches a few times per limit. It sleeps while there are none, so that an idle simulator
//! uses no CPU time; while it checks, further short batches do not wake it.

use std::io;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use gencl_sync::{Condvar, Mutex};

use crate::running::Running;
use crate::settings::{OnStall, Settings, Stall};

/// For how long they look. Translated code is slower meanwhile.
const LOOK: Duration = Duration::from_millis(50);

/// Time without progress after which the user is told.
const NOTICE: Duration = Duration::from_secs(30);

/// The watchdog of one simulator.
pub struct Watchdog {
    shared: Arc<Shared>,
}

struct Shared {
    limit: Duration,
    /// Time without progress after which threads look whether they can end. A batch that has failed is cancelled then:
    /// what is left of it may wait for what has failed.
    suspicion: Duration,
    on_stall: Option<OnStall>,
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
    /// Its threads are looking whether they can end.
    looks: bool,
    /// The user has been told.
    told: bool,
}

impl Watchdog {
    /// A watchdog with the limits of these settings.
    pub fn new(settings: &Settings) -> Watchdog {
        let (limit, on_stall) = (settings.hang_limit, settings.on_stall.clone());
        let (suspicion, state, wake) =
            (settings.suspicion.min(limit / 2), Mutex::new(State::default()), Condvar::new());
        Watchdog { shared: Arc::new(Shared { limit, suspicion, on_stall, state, wake }) }
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
        let watched = Watched { running: Arc::clone(&running), progress, since, looks: false, told: false };
        state.watched.push(watched);
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
        let tick = (self.suspicion / 8).max(Duration::from_millis(1));
        let mut state = self.state.lock();
        let mut looks = false;
        while !state.closed {
            if state.watched.is_empty() {
                state.asleep = true;
                self.wake.wait(&mut state);
                state.asleep = false;
            }
            // Only closing notifies while the thread is not asleep.
            self.wake.wait_for(&mut state, if looks { tick.min(LOOK) } else { tick });
            let now = Instant::now();
            let stalls: Vec<Stall> =
                state.watched.iter_mut().filter_map(|watched| self.check(watched, now)).collect();
            looks = state.watched.iter().any(|watched| watched.looks);
            if let Some(OnStall(on_stall)) = &self.on_stall
                && !stalls.is_empty()
            {
                drop(state);
                stalls.iter().for_each(|stall| on_stall(stall));
                state = self.state.lock();
            }
        }
    }

    /// Does what is due for a batch. Returns what its user is to be told.
    fn check(&self, watched: &mut Watched, now: Instant) -> Option<Stall> {
        let running = &watched.running;
        let progress = running.progress();
        if progress != watched.progress {
            (watched.progress, watched.since) = (progress, now);
        }
        let waited = now - watched.since;
        watched.looks = !watched.looks && waited >= self.suspicion;
        running.cancel.suspect(watched.looks);
        if waited >= self.limit || waited >= self.suspicion && running.has_failed() {
            running.cancel.set();
        }
        let tells = waited >= NOTICE && self.limit > waited && !watched.told;
        watched.told |= tells;
        tells.then(|| Stall { kernel: running.kernel(), waited, limit: self.limit })
    }
}

#[cfg(test)]
mod tests {
    use super::{Watchdog, Watched};
    use crate::running::Running;
    use crate::settings::{Settings, Stall};
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

    fn watchdog(hang_limit: Duration) -> Watchdog {
        Watchdog::new(&Settings { hang_limit, ..Settings::default() })
    }

    #[test]
    fn threads_look_long_before_the_limit() {
        let suspicion = Duration::from_millis(20);
        let watchdog = Watchdog::new(&Settings { suspicion, ..Settings::default() });
        let running = Arc::new(Running::default());
        let watch = watchdog.watch(&running).unwrap();
        // Again and again, and not all the time.
        for looks in [true, false, true, false] {
            assert!(until(Duration::from_secs(10), || running.cancel.is_raised() == looks));
        }
        assert!(!running.cancel.is_set());
        drop(watch);
    }

    #[test]
    fn what_is_left_of_a_failed_batch_is_cancelled_early() {
        let suspicion = Duration::from_millis(20);
        let watchdog = Watchdog::new(&Settings { suspicion, ..Settings::default() });
        let running = Arc::new(Running::default());
        let _watch = watchdog.watch(&running).unwrap();
        running.fail();
        assert!(until(Duration::from_secs(10), || running.cancel.is_set()));
    }

    #[test]
    fn the_user_is_told_once_before_the_limit() {
        let told = |limit: u64| {
            let shared = Arc::clone(&watchdog(Duration::from_secs(limit)).shared);
            let (running, since) = (Arc::new(Running::default()), Instant::now());
            running.begin_kernel(0x40);
            let mut watched =
                Watched { running: Arc::clone(&running), progress: 0, since, looks: false, told: false };
            let mut stalls = Vec::new();
            for second in 0..limit {
                stalls.extend(shared.check(&mut watched, since + Duration::from_secs(second)));
            }
            assert!(!running.cancel.is_set());
            shared.check(&mut watched, since + Duration::from_secs(limit));
            assert!(running.cancel.is_set());
            stalls
        };
        let [waited, limit] = [30, 600].map(Duration::from_secs);
        assert_eq!(told(600), [Stall { kernel: Some(0x40), waited, limit }]);
        assert_eq!(told(25), []);
    }

    #[test]
    fn a_batch_without_progress_is_cancelled() {
        let watchdog = watchdog(Duration::from_millis(40));
        let running = Arc::new(Running::default());
        let _watch = watchdog.watch(&running).unwrap();
        assert!(until(Duration::from_secs(10), || running.cancel.is_set()));
    }

    #[test]
    fn a_limit_beyond_the_range_of_the_clock_never_expires() {
        let watchdog = watchdog(Duration::MAX);
        let running = Arc::new(Running::default());
        let watch = watchdog.watch(&running).unwrap();
        std::thread::sleep(Duration::from_millis(20));
        assert!(!running.cancel.is_set());
        drop(watch);
    }

    #[test]
    fn a_batch_that_makes_progress_is_not_cancelled() {
        let watchdog = watchdog(Duration::from_millis(400));
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
        let watchdog = watchdog(Duration::from_millis(20));
        let running = Arc::new(Running::default());
        drop(watchdog.watch(&running).unwrap());
        std::thread::sleep(Duration::from_millis(100));
        assert!(!running.cancel.is_set());
    }
}
