//! A worker process and its threads.

use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use gencl_testing::Journal;

use crate::Arguments;
use crate::arena::Lent;
use crate::canaries::Canaries;
use crate::requests;
use crate::sender::{Sender, open_node};

/// Time from which a request hangs. Endless batches are stopped after a tenth of a second, but many may be
/// queued.
const HANG_TIMEOUT: Duration = Duration::from_secs(60);

/// Makes requests until the time is over.
pub fn run(arguments: &Arguments, descriptor: i32) -> ExitCode {
    std::panic::set_hook(Box::new(|info| println!("gencl-fuzz-ioctl: {info}")));
    let threads = arguments.threads as usize;
    let Ok(journal) = Journal::open(descriptor) else { return ExitCode::from(2) };
    let end = Instant::now() + Duration::from_secs(arguments.seconds);
    let node = open_node();
    let canaries = Canaries::new(node, arguments.threads);
    let failed = AtomicBool::new(false);
    let running = AtomicU64::new(threads as u64);
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let (journal, canaries, failed, running) = (&journal, &canaries, &failed, &running);
            scope.spawn(move || {
                let work = || work(arguments, journal, thread, (node, canaries), end);
                if std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).is_err() {
                    failed.store(true, Ordering::Relaxed);
                }
                running.fetch_sub(1, Ordering::Relaxed);
            });
        }
        watch(&journal, threads, &running, &failed);
    });
    // Batches may still run.
    if failed.load(Ordering::Relaxed) { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Ends the process when a thread makes no progress, or has failed.
fn watch(journal: &Journal, threads: usize, running: &AtomicU64, failed: &AtomicBool) {
    let mut seen = vec![(0, Instant::now()); threads];
    while running.load(Ordering::Relaxed) > 0 {
        std::thread::sleep(Duration::from_millis(5));
        for (thread, (count, since)) in seen.iter_mut().enumerate() {
            let now = journal.count_of(thread);
            if now != *count {
                (*count, *since) = (now, Instant::now());
            }
        }
        let hangs = seen.iter().all(|(_, since)| since.elapsed() > HANG_TIMEOUT);
        if failed.load(Ordering::Relaxed) || hangs {
            println!(
                "gencl-fuzz-ioctl: {}",
                if hangs { "no thread comes on" } else { "a thread has failed" }
            );
            // SAFETY: the process ends at once; threads that hang could not be waited for.
            unsafe { libc::_exit(3) };
        }
    }
}

fn work(
    arguments: &Arguments,
    journal: &Journal,
    thread: usize,
    (node, canaries): (i32, &Canaries),
    end: Instant,
) {
    let seed = arguments.seed().wrapping_add(thread as u64);
    let mut sender = Sender::new(seed, journal, thread, node);
    for round in 0..arguments.rounds {
        if Instant::now() >= end {
            break;
        }
        requests::one(&mut sender);
        if round % 64 == 0 {
            assert!(canaries.are_well(), "a buffer was written that no batch had named");
            assert!(sender.lent.iter().all(Lent::is_whole), "memory beside what was handed over was written");
        }
    }
    // SAFETY: the descriptor is this thread's.
    unsafe { libc::close(sender.own) };
}
