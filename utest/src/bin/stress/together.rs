//! Many threads and processes build and launch at once, with an empty kernel cache.

use std::time::Duration;

use crate::child::{Stage, Task};
use crate::tally::Tally;
use crate::work::round;

/// Threads, and processes.
const MANY: u64 = 16;

/// Programs: fewer, so that several build the same one.
const VARIANTS: u64 = 6;

/// Rounds of each.
const ROUNDS: u64 = 8;

/// Threads of one process.
pub fn threads(stage: &Stage) -> Result<Tally, String> {
    stage.run("threads", stage.seed, stage.left, &[])
}

/// Processes that share the cache's folder.
pub fn processes(stage: &Stage) -> Result<Tally, String> {
    let start = |number| stage.start("rounds", stage.seed.wrapping_add(number), Duration::ZERO, &[]);
    // All are started before the first is waited for.
    let running = (0..MANY).map(start).collect::<Result<Vec<_>, _>>()?;
    let mut tally = Tally::default();
    for process in running {
        tally += process.finish()?;
    }
    Ok(tally)
}

pub fn work(task: &Task) -> Result<Tally, String> {
    let mut tally = Tally::default();
    match task.role.as_str() {
        "threads" => std::thread::scope(|scope| {
            let start = |number| scope.spawn(move || rounds(task.seed.wrapping_add(number)));
            let threads: Vec<_> = (0..MANY).map(start).collect();
            threads.into_iter().try_for_each(|thread| thread.join().map_err(|_| "a panic")?)
        })?,
        _ => rounds(task.seed)?,
    }
    tally.add("right", if task.role == "threads" { MANY * ROUNDS } else { ROUNDS });
    Ok(tally)
}

fn rounds(seed: u64) -> Result<(), String> {
    (0..ROUNDS).try_for_each(|number| Ok(round(seed.wrapping_add(number) % VARIANTS)?))
}
