//! Host threads that execute the work-groups of a launch.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use gencl_sync::{Condvar, Mutex};

use crate::host_thread::IeeeFloats;
use crate::running::Running;
use gencl_eu::fault::{Fault, Reason};

/// How long a launch runs on the thread of its batch alone. Waking others takes longer than many small
/// launches do.
const WAKE_DELAY: Duration = Duration::from_micros(60);

/// Other threads are woken before that when the remaining work-groups are expected to take this long, going
/// by the last chunk.
const MIN_TIME_TO_WAKE: Duration = Duration::from_micros(25);

/// Target duration of a chunk of work-groups: long enough that threads rarely access the shared counters,
/// short enough that they finish at about the same time.
const CHUNK_TIME: Duration = Duration::from_micros(20);

/// The host threads of one simulated GPU.
pub struct Pool {
    workers: usize,
    threads: OnceLock<Option<rayon::ThreadPool>>,
}

/// A launch that is being executed on several threads.
struct ParallelLaunch<S, B> {
    schedule: Schedule,
    helpers: Mutex<Helpers>,
    left: Condvar,
    state: S,
    body: B,
}

/// Which work-groups of a launch are handed out, and when it ends.
struct Schedule {
    next: AtomicU64,
    total: u64,
    participants: u64,
    running: Arc<Running>,
    /// The lowest work-group that has failed: none after it is executed.
    last: AtomicU64,
    /// The fault of the lowest work-group that failed, with its index.
    fault: Mutex<Option<(u64, Fault)>>,
}

/// The threads, other than that of the batch, that take part in a launch.
#[derive(Default)]
struct Helpers {
    active: usize,
    /// No more may join.
    closed: bool,
}

/// Consecutive work-groups for one host thread: an iterator over their indices. Calling `next` reports that
/// the previous one has been executed. It ends early when the launch has failed or is cancelled.
pub struct Chunk<'a> {
    schedule: &'a Schedule,
    participant: usize,
    first: u64,
    next: u64,
    end: u64,
    cancelled: bool,
}

impl Chunk<'_> {
    /// The first index.
    pub fn first(&self) -> u64 {
        self.first
    }

    /// Work-groups of the launch that have not been handed out.
    pub fn left(&self) -> u64 {
        self.schedule.total.saturating_sub(self.schedule.next.load(Ordering::Relaxed))
    }
}

impl Iterator for Chunk<'_> {
    type Item = u64;

    #[inline]
    fn next(&mut self) -> Option<u64> {
        let schedule = self.schedule;
        if self.next > self.first {
            schedule.running.advance_as(self.participant);
        }
        if self.next == self.end || self.next > schedule.last.load(Ordering::Relaxed) {
            return None;
        }
        if schedule.running.cancel.is_set() {
            self.cancelled = true;
            return None;
        }
        self.next += 1;
        Some(self.next - 1)
    }
}

impl Schedule {
    /// Records the fault with the lowest index and hands out no more work-groups. All work-groups before that
    /// one have been handed out and are executed, so the reported fault does not depend on the number of
    /// threads.
    fn fail(&self, index: u64, fault: Fault) {
        self.next.store(self.total, Ordering::Relaxed);
        let mut first = self.fault.lock();
        let real = |fault: &Fault| fault.reason != Reason::Cancelled;
        if real(&fault) {
            self.last.fetch_min(index, Ordering::Relaxed);
            self.running.fail();
        }
        // A cancellation that follows a fault elsewhere is not reported.
        let better = first.as_ref().is_none_or(|(other, old)| (real(&fault), *other) > (real(old), index));
        if better {
            *first = Some((index, fault));
        }
    }
}

impl<T, S, B> ParallelLaunch<S, B>
where
    S: Fn(usize) -> T,
    B: Fn(&mut T, &mut Chunk<'_>) -> Result<(), Fault>,
{
    /// Executes work-groups until there are none left; with `until`, at most until that time or until waking
    /// others pays. Returns whether any are left.
    fn take(&self, state: &mut T, participant: usize, until: Option<Instant>) -> bool {
        let schedule = &self.schedule;
        let mut size = 1;
        let mut begin = Instant::now();
        loop {
            let left = schedule.total.saturating_sub(schedule.next.load(Ordering::Relaxed));
            let count = size.min(left / (2 * schedule.participants)).max(1);
            let first = schedule.next.fetch_add(count, Ordering::Relaxed);
            if first >= schedule.total {
                return false;
            }
            let end = (first + count).min(schedule.total);
            let mut chunk = Chunk { schedule, participant, first, next: first, end, cancelled: false };
            let caught = catch_unwind(AssertUnwindSafe(|| (self.body)(state, &mut chunk)));
            let result = caught.unwrap_or_else(|panic| Err(Fault::internal(&*panic)));
            match result {
                Ok(()) if chunk.cancelled => schedule.fail(chunk.next, Fault::new(Reason::Cancelled)),
                Ok(()) => {}
                Err(fault) => schedule.fail(chunk.next.saturating_sub(1).max(first), fault),
            }
            let now = Instant::now();
            let took = now - begin;
            begin = now;
            if took < CHUNK_TIME {
                size = count * 2;
            } else if took > 2 * CHUNK_TIME {
                size = (count / 2).max(1);
            }
            let left = schedule.total.saturating_sub(schedule.next.load(Ordering::Relaxed));
            // The first chunk is slow, since it has to look up code and windows.
            let is_worth_waking = || {
                first > 0
                    && took.as_nanos() * u128::from(left) >= MIN_TIME_TO_WAKE.as_nanos() * u128::from(count)
            };
            if until.is_some_and(|time| now >= time || is_worth_waking()) {
                return true;
            }
        }
    }

    /// Takes part as a helper, unless the launch is about to end.
    fn help(&self, participant: usize) {
        {
            let mut helpers = self.helpers.lock();
            if helpers.closed {
                return;
            }
            helpers.active += 1;
        }
        let floats = IeeeFloats::new();
        let mut state = (self.state)(participant);
        self.take(&mut state, participant, None);
        drop(state);
        drop(floats);
        self.helpers.lock().active -= 1;
        self.left.notify_one();
    }

    /// Admits no more helpers and waits for those that are active.
    fn close(&self) {
        let mut helpers = self.helpers.lock();
        helpers.closed = true;
        while helpers.active > 0 {
            self.left.wait(&mut helpers);
        }
    }
}

impl Pool {
    /// A pool of at most `workers` threads, including the one of the batch. They start when they are first
    /// needed.
    pub fn new(workers: usize) -> Pool {
        Pool { workers: workers.max(1), threads: OnceLock::new() }
    }

    /// Maximum number of threads.
    pub fn workers(&self) -> usize {
        self.workers
    }

    /// Calls `body` with chunks that cover each index below `total` once, on up to `participants` threads,
    /// each with a state made by `state`; `body` has to iterate over the whole chunk. `total` is limited to
    /// 2^63.
    ///
    /// Threads that are busy with another launch join late or not at all: nothing waits for them.
    ///
    /// # Errors
    /// The fault of the lowest index that failed.
    pub fn run<T, S, B>(
        &self,
        total: u64,
        participants: usize,
        running: &Arc<Running>,
        state: S,
        body: B,
    ) -> Result<(), Fault>
    where
        S: Fn(usize) -> T + Send + Sync + 'static,
        B: Fn(&mut T, &mut Chunk<'_>) -> Result<(), Fault> + Send + Sync + 'static,
    {
        // The counter is incremented past the end, and must not wrap around.
        let total = total.min(1 << 63);
        let participants =
            participants.min(self.workers).min(usize::try_from(total).unwrap_or(usize::MAX)).max(1);
        let schedule = Schedule {
            next: AtomicU64::new(0),
            total,
            participants: participants as u64,
            running: Arc::clone(running),
            last: AtomicU64::new(u64::MAX),
            fault: Mutex::new(None),
        };
        let work = Arc::new(ParallelLaunch {
            schedule,
            helpers: Mutex::default(),
            left: Condvar::new(),
            state,
            body,
        });
        let mut caller_state = (work.state)(0);
        let wake_time = (participants > 1).then(|| Instant::now() + WAKE_DELAY);
        if work.take(&mut caller_state, 0, wake_time) {
            if let Some(threads) = self.threads() {
                for participant in 1..participants {
                    let work = Arc::downgrade(&work);
                    threads.spawn(move || {
                        if let Some(work) = work.upgrade() {
                            work.help(participant);
                        }
                    });
                }
            }
            work.take(&mut caller_state, 0, None);
        }
        drop(caller_state);
        work.close();
        let fault = work.schedule.fault.lock().take();
        fault.map_or(Ok(()), |(_, fault)| Err(fault))
    }

    fn threads(&self) -> Option<&rayon::ThreadPool> {
        let build = || {
            let builder = rayon::ThreadPoolBuilder::new().num_threads(self.workers - 1);
            let pool = builder.thread_name(|index| format!("gencl-eu-{index}")).build();
            if let Err(error) = &pool {
                tracing::warn!("launches run on one thread, as no others can be created: {error}");
            }
            pool.ok()
        };
        self.threads.get_or_init(build).as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::{Chunk, Pool};
    use crate::running::Running;
    use gencl_eu::fault::{Fault, Reason};
    use std::collections::HashSet;
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
    use std::sync::{Arc, Mutex};
    use std::time::{Duration, Instant};

    /// A body that calls `body` with each index of its chunks.
    fn each<T>(
        body: impl Fn(&mut T, u64) -> Result<(), Fault>,
    ) -> impl Fn(&mut T, &mut Chunk<'_>) -> Result<(), Fault> {
        move |state, chunk| chunk.try_for_each(|index| body(state, index))
    }

    #[test]
    fn every_index_is_executed_once_on_all_participants() {
        let (pool, running) = (Pool::new(4), Arc::new(Running::default()));
        let counts: Arc<Vec<AtomicU64>> = Arc::new((0..1000).map(|_| AtomicU64::new(0)).collect());
        let seen = Arc::new(Mutex::new(HashSet::new()));
        let (for_body, seen_by) = (Arc::clone(&counts), Arc::clone(&seen));
        let body = move |participant: &mut usize, index: u64| {
            for_body[index as usize].fetch_add(1, Ordering::Relaxed);
            seen_by.lock().unwrap().insert(*participant);
            std::thread::sleep(Duration::from_micros(100));
            Ok(())
        };
        pool.run(1000, 3, &running, |participant| participant, each(body)).unwrap();
        assert!(counts.iter().all(|n| n.load(Ordering::Relaxed) == 1));
        assert_eq!(running.progress(), 1000);
        assert_eq!(*seen.lock().unwrap(), HashSet::from([0, 1, 2]), "three participants of four threads");
    }

    #[test]
    fn the_first_fault_is_reported_and_the_rest_not_executed() {
        for workers in [1, 4] {
            let (pool, running) = (Pool::new(workers), Arc::new(Running::default()));
            let executed = Arc::new(AtomicU64::new(0));
            let count = Arc::clone(&executed);
            let body = move |_: &mut (), index: u64| {
                count.fetch_add(1, Ordering::Relaxed);
                std::thread::sleep(Duration::from_micros(50));
                if index >= 20 { Err(Fault::illegal(index.to_string())) } else { Ok(()) }
            };
            let fault = pool.run(1_000_000, 4, &running, |_| (), each(body)).unwrap_err();
            assert_eq!(fault.reason, Reason::Illegal("20".into()), "{workers} threads");
            assert!(executed.load(Ordering::Relaxed) < 30);
        }
    }

    #[test]
    fn a_cancelled_launch_stops() {
        let (pool, running) = (Pool::new(2), Arc::new(Running::default()));
        let cancelled = Arc::clone(&running);
        let body = move |_: &mut (), index: u64| {
            if index == 5 {
                cancelled.cancel.set();
            }
            Ok(())
        };
        let fault = pool.run(u64::MAX, 2, &running, |_| (), each(body)).unwrap_err();
        assert_eq!(fault.reason, Reason::Cancelled);
    }

    #[test]
    fn a_panic_is_a_fault() {
        for workers in [1, 3] {
            let (pool, running) = (Pool::new(workers), Arc::new(Running::default()));
            let body = |_: &mut (), index: u64| {
                std::thread::sleep(Duration::from_micros(50));
                assert!(index < 10, "index {index}");
                Ok(())
            };
            let fault = pool.run(1000, 3, &running, |_| (), each(body)).unwrap_err();
            let text = fault.to_string();
            assert!(text.contains("internal error of the simulator: index 10"), "{text}");
        }
    }

    #[test]
    fn a_launch_does_not_wait_for_threads_that_are_busy_with_another() {
        let pool = Arc::new(Pool::new(2));
        let (stop, hanging) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let hang = {
            let (pool, stop, hanging) = (Arc::clone(&pool), Arc::clone(&stop), Arc::clone(&hanging));
            std::thread::spawn(move || {
                let running = Arc::new(Running::default());
                let body = move |_: &mut (), index: u64| {
                    // The first takes long enough for other threads to be woken.
                    if index == 0 {
                        std::thread::sleep(Duration::from_millis(1));
                        return Ok(());
                    }
                    hanging.fetch_add(1, Ordering::Relaxed);
                    while !stop.load(Ordering::Relaxed) {
                        std::thread::sleep(Duration::from_millis(1));
                    }
                    Ok(())
                };
                pool.run(3, 2, &running, |_| (), each(body))
            })
        };
        while hanging.load(Ordering::Relaxed) < 2 {
            std::thread::sleep(Duration::from_millis(1));
        }
        let (running, begin) = (Arc::new(Running::default()), Instant::now());
        let body = |_: &mut (), _: u64| {
            std::thread::sleep(Duration::from_micros(100));
            Ok(())
        };
        pool.run(50, 2, &running, |_| (), each(body)).unwrap();
        assert!(begin.elapsed() < Duration::from_secs(5));
        stop.store(true, Ordering::Relaxed);
        hang.join().unwrap().unwrap();
    }

    #[test]
    fn short_work_groups_are_executed_in_large_chunks() {
        let (pool, running) = (Pool::new(3), Arc::new(Running::default()));
        let counts: Arc<Vec<AtomicU64>> = Arc::new((0..200_000).map(|_| AtomicU64::new(0)).collect());
        let chunks = Arc::new(AtomicU64::new(0));
        let (for_body, chunks_of) = (Arc::clone(&counts), Arc::clone(&chunks));
        let body = move |(): &mut (), chunk: &mut Chunk<'_>| {
            chunks_of.fetch_add(1, Ordering::Relaxed);
            for index in chunk {
                for_body[index as usize].fetch_add(1, Ordering::Relaxed);
            }
            Ok(())
        };
        pool.run(200_000, 3, &running, |_| (), body).unwrap();
        assert!(counts.iter().all(|n| n.load(Ordering::Relaxed) == 1));
        assert_eq!(running.progress(), 200_000);
        assert!(chunks.load(Ordering::Relaxed) < 50_000);
    }

    #[test]
    fn the_first_fault_is_the_same_in_chunks() {
        for workers in [1, 4] {
            let (pool, running) = (Pool::new(workers), Arc::new(Running::default()));
            let body = |(): &mut (), index: u64| match index {
                5_003.. => Err(Fault::illegal(index.to_string())),
                _ => Ok(()),
            };
            let fault = pool.run(1_000_000, 4, &running, |_| (), each(body)).unwrap_err();
            assert_eq!(fault.reason, Reason::Illegal("5003".into()), "{workers} threads");
            assert_eq!(running.progress(), 5003);
        }
    }
}
