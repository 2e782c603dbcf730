//! Host threads that execute the work-groups of a launch.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::fault::{Fault, Reason};
use crate::running::Running;

/// For so long the batch's own thread works alone. Waking others takes longer than many small launches do.
const ALONE: Duration = Duration::from_micros(60);

/// The host threads of one simulated GPU.
pub struct Pool {
    workers: usize,
    threads: OnceLock<Option<rayon::ThreadPool>>,
}

/// A launch that is being executed.
struct Work<'a> {
    next: AtomicU64,
    total: u64,
    running: &'a Running,
    /// Of the first work-group in their order that failed.
    fault: Mutex<Option<(u64, Fault)>>,
}

impl Work<'_> {
    /// Executes work-groups until there are none left, or until a time. Are there any left?
    fn take(&self, body: &mut dyn FnMut(u64) -> Result<(), Fault>, until: Option<Instant>) -> bool {
        loop {
            let index = self.next.fetch_add(1, Ordering::Relaxed);
            if index >= self.total {
                return false;
            }
            let result =
                if self.running.cancel.is_set() { Err(Fault::new(Reason::Cancelled)) } else { body(index) };
            match result {
                Ok(()) => self.running.advance(),
                Err(fault) => self.fail(index, fault),
            }
            if until.is_some_and(|time| Instant::now() >= time) {
                return true;
            }
        }
    }

    /// Remembers the first fault and hands out no more work-groups. All work-groups before the one that failed have been
    /// handed out, so that the first fault is the same on any number of threads.
    fn fail(&self, index: u64, fault: Fault) {
        self.next.store(self.total, Ordering::Relaxed);
        let mut first = self.fault.lock();
        let real = |fault: &Fault| fault.reason != Reason::Cancelled;
        // What was cancelled after a fault elsewhere says nothing.
        let better = first.as_ref().is_none_or(|(other, old)| (real(&fault), *other) > (real(old), index));
        if better {
            *first = Some((index, fault));
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

    /// Calls `body` with each index below `total` once, on up to `participants` threads, each of which has its
    /// own `state`. Gives the fault of the lowest index.
    pub fn run<S>(
        &self,
        total: u64,
        participants: usize,
        running: &Running,
        state: impl Fn(usize) -> S + Sync,
        body: impl Fn(&mut S, u64) -> Result<(), Fault> + Sync,
    ) -> Result<(), Fault> {
        let work = Work { next: AtomicU64::new(0), total, running, fault: Mutex::new(None) };
        let participants = participants.min(self.workers).max(1);
        let mut own = state(0);
        let mut own_body = |index| body(&mut own, index);
        let alone = (participants > 1).then(|| Instant::now() + ALONE);
        if work.take(&mut own_body, alone) {
            self.run_together(&work, participants, &mut own_body, &state, &body);
        }
        match work.fault.into_inner() {
            Some((_, fault)) => Err(fault),
            None => Ok(()),
        }
    }

    fn run_together<S>(
        &self,
        work: &Work<'_>,
        participants: usize,
        own_body: &mut dyn FnMut(u64) -> Result<(), Fault>,
        state: &(impl Fn(usize) -> S + Sync),
        body: &(impl Fn(&mut S, u64) -> Result<(), Fault> + Sync),
    ) {
        let Some(threads) = self.threads() else {
            work.take(own_body, None);
            return;
        };
        threads.in_place_scope(|scope| {
            for participant in 1..participants {
                scope.spawn(move |_| {
                    let mut own = state(participant);
                    work.take(&mut |index| body(&mut own, index), None);
                });
            }
            work.take(own_body, None);
        });
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
    use super::Pool;
    use crate::fault::{Fault, Reason};
    use crate::running::Running;
    use std::collections::HashSet;
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::time::Duration;

    #[test]
    fn every_index_is_executed_once_on_all_participants() {
        let (pool, running) = (Pool::new(4), Running::default());
        let sums: Vec<AtomicU64> = (0..1000).map(|_| AtomicU64::new(0)).collect();
        let seen = Mutex::new(HashSet::new());
        let body = |participant: &mut usize, index: u64| {
            sums[index as usize].fetch_add(1, Ordering::Relaxed);
            seen.lock().unwrap().insert(*participant);
            std::thread::sleep(Duration::from_micros(20));
            Ok(())
        };
        pool.run(1000, 3, &running, |participant| participant, body).unwrap();
        assert!(sums.iter().all(|n| n.load(Ordering::Relaxed) == 1));
        assert_eq!(running.progress(), 1000);
        assert_eq!(*seen.lock().unwrap(), HashSet::from([0, 1, 2]), "three participants of four threads");
    }

    #[test]
    fn the_first_fault_is_reported_and_the_rest_not_executed() {
        for workers in [1, 4] {
            let (pool, running) = (Pool::new(workers), Running::default());
            let executed = AtomicU64::new(0);
            let body = |_: &mut (), index: u64| {
                executed.fetch_add(1, Ordering::Relaxed);
                std::thread::sleep(Duration::from_micros(50));
                if index >= 20 { Err(Fault::illegal(index.to_string())) } else { Ok(()) }
            };
            let fault = pool.run(1_000_000, 4, &running, |_| (), body).unwrap_err();
            assert_eq!(fault.reason, Reason::Illegal("20".into()), "{workers} threads");
            assert!(executed.load(Ordering::Relaxed) < 30);
        }
    }

    #[test]
    fn a_cancelled_launch_stops() {
        let (pool, running) = (Pool::new(2), Running::default());
        let body = |_: &mut (), index: u64| {
            if index == 5 {
                running.cancel.set();
            }
            Ok(())
        };
        let fault = pool.run(u64::MAX, 2, &running, |_| (), body).unwrap_err();
        assert_eq!(fault.reason, Reason::Cancelled);
    }
}
