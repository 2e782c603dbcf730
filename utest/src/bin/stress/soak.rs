//! Objects are created, used and released repeatedly: nothing may grow.

use std::time::{Duration, Instant};

use crate::child::{Stage, Task};
use crate::process::{Holdings, holdings};
use crate::tally::Tally;
use crate::work::round;

/// Programs that are built in turn.
const VARIANTS: u64 = 24;

/// Warm-up iterations, until everything permanent exists: servers, host threads, translations.
const WARM: u64 = 10 * VARIANTS;

/// By how much each process may grow after the warm-up: allocators keep some memory, and this process has
/// pipes and a thread for a server that starts later. What leaks for each of the variants, or in each round,
/// grows by more.
const MAX_MEMORY_GROWTH: u64 = 24 << 10;
const MAX_DESCRIPTOR_GROWTH: u64 = 8;
const MAX_THREAD_GROWTH: u64 = 4;

/// Processes of one application's servers, each with its supervisor: a second server starts when a build and
/// a translation first meet.
const MAX_SERVER_PROCESSES: usize = 2 * 4;

/// Time for what is released elsewhere: servers that end, threads of queues.
const GRACE_PERIOD: Duration = Duration::from_secs(10);

pub fn repeat(stage: &Stage) -> Result<Tally, String> {
    stage.run("rounds", stage.seed, stage.left, &[])
}

pub fn work(task: &Task) -> Result<Tally, String> {
    let begin = Instant::now();
    let mut rounds = 0;
    let mut some = |least: u64, until: Duration| -> Result<(), String> {
        let first = rounds;
        while rounds < first + least || begin.elapsed() < until {
            round(task.seed.wrapping_add(rounds % VARIANTS))?;
            rounds += 1;
        }
        Ok(())
    };
    some(WARM, task.left / 3)?;
    let first = holdings();
    some(WARM, task.left)?;
    let (mut last, since) = (holdings(), Instant::now());
    while grows(&first, &last) && since.elapsed() < GRACE_PERIOD {
        std::thread::sleep(GRACE_PERIOD / 20);
        last = holdings();
    }
    let mut tally = Tally::default();
    tally.add("right", rounds);
    let mut figure = |name: &str, part: fn(&Holdings) -> u64| {
        let sum = |all: &[Holdings]| all.iter().map(part).sum::<u64>();
        tally.figure(name, format!("{} -> {}", sum(&first), sum(&last)));
    };
    figure("MiB", |process| process.memory >> 10);
    figure("descriptors", |process| process.descriptors);
    figure("threads", |process| process.threads);
    figure("processes", |_| 1);
    if grows(&first, &last) {
        return Err(format!("it grows: {tally}"));
    }
    Ok(tally)
}

/// Whether the driver holds more than it has reason to.
fn grows(first: &[Holdings], last: &[Holdings]) -> bool {
    let process_grows = |last: &Holdings| {
        first.iter().find(|first| first.process == last.process).is_some_and(|first| {
            last.memory > first.memory + MAX_MEMORY_GROWTH
                || last.descriptors > first.descriptors + MAX_DESCRIPTOR_GROWTH
                || last.threads > first.threads + MAX_THREAD_GROWTH
        })
    };
    last.len() > 1 + MAX_SERVER_PROCESSES || last.iter().any(process_grows)
}
