//! Compile servers that are killed or stopped while they build and translate.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use gencl_utest::Random;

use crate::child::{Stage, Task};
use crate::process::{servers, signal, status};
use crate::tally::Tally;
use crate::work::{BUILD_FAILURE, Trouble, round};

/// Threads that build.
const THREADS: u64 = 4;

/// How long a repetition takes at most.
const LONGEST: Duration = Duration::from_secs(8);

/// After its client's end, a server ends within this time.
const GRACE_PERIOD: Duration = Duration::from_secs(10);

/// A build of these programs ends within this time, and its second attempt, too, however loaded the machine
/// is.
const LONGEST_BUILD: Duration = Duration::from_secs(2);

/// Servers die so often that a build may lose its second one, too, and then fails with a reason.
pub fn killed(stage: &Stage) -> Result<Tally, String> {
    disturb(stage, "killed", |random, server, tally| {
        signal(server, libc::SIGKILL);
        tally.count("servers killed");
        pause(random, 400);
    })
}

/// Servers die so seldom that no build loses two of them: none may fail.
pub fn killed_once(stage: &Stage) -> Result<Tally, String> {
    disturb(stage, "killed-once", |random, server, tally| {
        std::thread::sleep(LONGEST_BUILD);
        signal(server, libc::SIGKILL);
        tally.count("servers killed");
        pause(random, 400);
    })
}

/// One whose server stood still is late, and right.
pub fn stopped(stage: &Stage) -> Result<Tally, String> {
    disturb(stage, "stopped", |random, server, tally| {
        signal(server, libc::SIGSTOP);
        pause(random, 1000);
        signal(server, libc::SIGCONT);
        tally.count("servers stopped");
        pause(random, 200);
    })
}

/// Disturbs the servers of a process that builds.
fn disturb(
    stage: &Stage,
    role: &str,
    mut act: impl FnMut(&mut Random, u32, &mut Tally),
) -> Result<Tally, String> {
    let mut random = Random::new(stage.seed);
    let engine = ["auto", "translate"][random.below(2)];
    let mut tally = Tally::default();
    let time = stage.left.clamp(LONGEST / 4, LONGEST);
    let variables = [("GENCL_CACHE", "off"), ("GENCL_ENGINE", engine)];
    let mut process = stage.start(role, stage.seed, time, &variables)?;
    let mut seen = BTreeSet::new();
    while process.ended()?.is_none() {
        let servers = servers(process.folder());
        seen.extend(&servers);
        match servers.len() {
            0 => pause(&mut random, 20),
            many => {
                let server = servers[random.below(many)];
                act(&mut random, server, &mut tally);
            }
        }
    }
    tally += process.finish()?;
    let since = Instant::now();
    // One that has ended, and that nobody has waited for, has no threads.
    while seen.iter().any(|server| is_server(*server)) {
        if since.elapsed() > GRACE_PERIOD {
            return Err(format!("servers outlive their client: {seen:?}"));
        }
        pause(&mut random, 50);
    }
    Ok(tally)
}

fn is_server(id: u32) -> bool {
    let name = std::fs::read_to_string(format!("/proc/{id}/comm")).unwrap_or_default();
    name.starts_with("genclc") && status(id, "VmRSS:") > 0
}

fn pause(random: &mut Random, most: usize) {
    std::thread::sleep(Duration::from_millis(random.below(most) as u64));
}

pub fn work(task: &Task) -> Result<Tally, String> {
    let (begin, tally) = (Instant::now(), Mutex::new(Tally::default()));
    let builds = |thread: u64| -> Result<(), String> {
        for number in 0.. {
            let result = round(task.seed.wrapping_mul(1009) + number * THREADS + thread);
            let what = match result {
                Ok(()) => "right",
                Err(Trouble::Failed { call: "clBuildProgram", code: BUILD_FAILURE, log })
                    if task.role == "killed" && !log.trim().is_empty() =>
                {
                    "builds failed with a reason"
                }
                Err(other) => return Err(other.into()),
            };
            tally.lock().map_err(|_| "a panic")?.count(what);
            if begin.elapsed() >= task.left {
                break;
            }
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|thread| scope.spawn(move || builds(thread))).collect();
        threads.into_iter().try_for_each(|thread| thread.join().map_err(|_| "a panic")?)
    })?;
    tally.into_inner().map_err(|_| "a panic".into())
}
