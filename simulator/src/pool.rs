//! Host threads that execute the work-groups of a launch.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use gencl_sync::{Condvar, Mutex};

use crate::host_thread::IeeeFloats;
use crate::running::Running;
use gencl_eu::fault::{Fault, Reason};

/// For so long the batch's own thread works alone. Waking others takes longer than many small launches do.
const ALONE: Duration = Duration::from_micros(60);

/// When work-groups that are left will take so long, as those before them did, others are woken at once.
const WORTH_WAKING: Duration = Duration::from_micros(25);

/// A host thread takes so many work-groups at once that they last about so long: what the threads have in
/// common is then touched rarely enough, and they still end together.
const AT_ONCE: Duration = Duration::from_micros(20);

/// The host threads of one simulated GPU.
pub struct Pool {
    workers: usize,
    threads: OnceLock<Option<rayon::ThreadPool>>,
}

/// A launch that is being executed.
struct Work<S, B> {
    common: Common,
    helpers: Mutex<Helpers>,
    left: Condvar,
    state: S,
    body: B,
}

/// What decides about the work-groups of a launch.
struct Common {
    next: AtomicU64,
    total: u64,
    participants: u64,
    running: Arc<Running>,
    /// No work-group behind this one is executed: it has failed.
    last: AtomicU64,
    /// Of the first work-group in their order that failed.
    fault: Mutex<Option<(u64, Fault)>>,
}

/// The threads beside the batch's own that take part in a launch.
#[derive(Default)]
struct Helpers {
    active: usize,
    /// No more may come.
    closed: bool,
}

/// Work-groups for one host thread: an iterator over indices that follow each other. Asking for the next one
/// says that the one before has been executed. It ends early when the launch does.
pub struct Chunk<'a> {
    common: &'a Common,
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

    /// Work-groups of the launch that nobody has begun.
    pub fn left(&self) -> u64 {
        self.common.total.saturating_sub(self.common.next.load(Ordering::Relaxed))
    }
}

impl Iterator for Chunk<'_> {
    type Item = u64;

    #[inline]
    fn next(&mut self) -> Option<u64> {
        let common = self.common;
        if self.next > self.first {
            common.running.advance_as(self.participant);
        }
        if self.next == self.end || self.next > common.last.load(Ordering::Relaxed) {
            return None;
        }
        if common.running.cancel.is_set() {
            self.cancelled = true;
            return None;
        }
        self.next += 1;
        Some(self.next - 1)
    }
}

impl Common {
    /// Remembers the first fault and hands out no more work-groups. All work-groups before the one that
    /// failed have been handed out and are executed, so that the first fault is the same on any number of
    /// threads.
    fn fail(&self, index: u64, fault: Fault) {
        self.next.store(self.total, Ordering::Relaxed);
        let mut first = self.fault.lock();
        let real = |fault: &Fault| fault.reason != Reason::Cancelled;
        if real(&fault) {
            self.last.fetch_min(index, Ordering::Relaxed);
        }
        // What was cancelled after a fault elsewhere says nothing.
        let better = first.as_ref().is_none_or(|(other, old)| (real(&fault), *other) > (real(old), index));
        if better {
            *first = Some((index, fault));
        }
    }
}

impl<T, S, B> Work<S, B>
where
    S: Fn(usize) -> T,
    B: Fn(&mut T, &mut Chunk<'_>) -> Result<(), Fault>,
{
    /// Executes work-groups until there are none left, or until a time. Are there any left?
    fn take(&self, state: &mut T, participant: usize, until: Option<Instant>) -> bool {
        let common = &self.common;
        let mut size = 1;
        let mut begin = Instant::now();
        loop {
            let left = common.total.saturating_sub(common.next.load(Ordering::Relaxed));
            let count = size.min(left / (2 * common.participants)).max(1);
            let first = common.next.fetch_add(count, Ordering::Relaxed);
            if first >= common.total {
                return false;
            }
            let end = (first + count).min(common.total);
            let mut chunk = Chunk { common, participant, first, next: first, end, cancelled: false };
            let caught = catch_unwind(AssertUnwindSafe(|| (self.body)(state, &mut chunk)));
            let result = caught.unwrap_or_else(|panic| Err(Fault::internal(&*panic)));
            match result {
                Ok(()) if chunk.cancelled => common.fail(chunk.next, Fault::new(Reason::Cancelled)),
                Ok(()) => {}
                Err(fault) => common.fail(chunk.next.saturating_sub(1).max(first), fault),
            }
            let now = Instant::now();
            let took = now - begin;
            begin = now;
            if took < AT_ONCE {
                size = count * 2;
            } else if took > 2 * AT_ONCE {
                size = (count / 2).max(1);
            }
            let left = common.total.saturating_sub(common.next.load(Ordering::Relaxed));
            // The first chunk finds code and windows missing.
            let is_much = || {
                first > 0 && took.as_nanos() * u128::from(left) >= WORTH_WAKING.as_nanos() * u128::from(count)
            };
            if until.is_some_and(|time| now >= time || is_much()) {
                return true;
            }
        }
    }

    /// Takes part as a helper, if there is still something to do.
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

    /// Takes no more helpers and waits for those that are at work.
    fn close(&self) {
        let mut helpers = self.helpers.lock();
        helpers.closed = true;
        while helpers.active > 0 {
            self.left.wait(&mut helpers);
        }
    }
}

impl Pool {
    /// So many threads at most, that of the batch included. They start when they are needed.
    pub fn new(workers: usize) -> Pool {
        Pool { workers: workers.max(1), threads: OnceLock::new() }
    }

    /// The most threads.
    pub fn workers(&self) -> usize {
        self.workers
    }

    /// Calls `body` with chunks that have each index below `total` once, on up to `participants` threads,
    /// each of which has its own `state`; `body` goes through the whole chunk. Gives the fault of the lowest
    /// index. Work-groups beyond 2^63 are none.
    ///
    /// Threads that are busy with another launch come later or not at all: nothing waits for them.
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
        // So that counting beyond the end cannot begin anew.
        let total = total.min(1 << 63);
        let participants =
            participants.min(self.workers).min(usize::try_from(total).unwrap_or(usize::MAX)).max(1);
        let common = Common {
            next: AtomicU64::new(0),
            total,
            participants: participants as u64,
            running: Arc::clone(running),
            last: AtomicU64::new(u64::MAX),
            fault: Mutex::new(None),
        };
        let work = Arc::new(Work { common, helpers: Mutex::default(), left: Condvar::new(), state, body });
        let mut own = (work.state)(0);
        let alone = (participants > 1).then(|| Instant::now() + ALONE);
        if work.take(&mut own, 0, alone) {
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
            work.take(&mut own, 0, None);
        }
        drop(own);
        work.close();
        let fault = work.common.fault.lock().take();
        fault.map_or(Ok(()), |(_, fault)| Err(fault))
    }

    fn threads(&self) -> Option<&rayon::ThreadPool> {
        let build = || {
            let builder = rayon::ThreadPoolBuilder::new().num_threads(self.workers - 1);
            let pool = builder.thread_name(|index| format!("gencl-eu-{index}")).build();
            if let Err(error) = &pool {
                tracing::warn!("work-groups run on one thread only: {error}");
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

    /// A body that is called with each index.
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
                    // The first is what makes the batch's thread ask for help.
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
    fn short_work_groups_are_taken_many_at_once() {
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
