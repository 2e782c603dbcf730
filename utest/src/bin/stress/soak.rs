//! Everything is made, used and released again and again: nothing may grow.

use std::time::{Duration, Instant};

use crate::child::{Stage, Task};
use crate::process::{Holdings, holdings};
use crate::tally::Tally;
use crate::work::round;

/// Programs that are built in turn.
const VARIANTS: u64 = 24;

/// Rounds until everything is there that stays: servers, host threads, translations.
const WARM: u64 = 10 * VARIANTS;

/// KiB by which memory may grow: the allocators of libraries give back what they want.
const GROWTH: u64 = 24 << 10;

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
    let grows = |last: Holdings| {
        last.memory > first.memory + GROWTH
            || last.descriptors > first.descriptors
            || last.threads > first.threads
    };
    while grows(last) && since.elapsed() < GRACE_PERIOD {
        std::thread::sleep(GRACE_PERIOD / 20);
        last = holdings();
    }
    let mut tally = Tally::default();
    tally.add("right", rounds);
    tally.figure("MiB", format!("{} -> {}", first.memory >> 10, last.memory >> 10));
    tally.figure("descriptors", format!("{} -> {}", first.descriptors, last.descriptors));
    tally.figure("threads", format!("{} -> {}", first.threads, last.threads));
    if grows(last) {
        return Err(format!("it grows: {tally}"));
    }
    Ok(tally)
}
