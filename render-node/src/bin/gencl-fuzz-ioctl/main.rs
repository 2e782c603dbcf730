//! Sends random and mutated requests to the render node, from several processes with several threads each.
//!
//! To be run by `gencl-sim`, several copies of which may run at once. It fails when a process dies, when a request or a
//! whole process does not come on, when memory changes that no request named, when the memory after an argument is
//! looked at (there is none), and when a right sequence of requests has a wrong result. What has been done is told by
//! the seed; threads of a process, whose order is chance, can be set to one.

mod arena;
mod batch;
mod journal;
mod pools;
mod random;
mod requests;
mod sharing;
mod worker;

use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitCode, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use journal::Journal;
use random::Random;

const USAGE: &str = "\
usage: gencl-sim -- gencl-fuzz-ioctl [--seed N] [--seconds N] [--rounds N] [--processes N] [--threads N]

  --seed N       where chance begins (default: the clock)
  --seconds N    how long (default: 10)
  --rounds N     how many requests each thread sends before its process ends (default: 20000)
  --processes N  how many processes at once (default: 2)
  --threads N    threads of each (default: 3)";

/// A process that lives longer after its time than this hangs.
const PATIENCE: Duration = Duration::from_secs(120);

/// What the command line asks for.
pub struct Arguments {
    seed: u64,
    seconds: u64,
    rounds: u64,
    processes: u64,
    threads: u64,
    /// In a process that sends requests: the journal's descriptor.
    worker: Option<i32>,
}

fn arguments() -> Option<Arguments> {
    let clock = std::time::UNIX_EPOCH.elapsed().map_or(0, |time| time.as_nanos() as u64);
    let mut arguments =
        Arguments { seed: clock, seconds: 10, rounds: 20_000, processes: 2, threads: 3, worker: None };
    let mut given = std::env::args().skip(1);
    while let Some(name) = given.next() {
        let value = given.next()?.parse().ok()?;
        match name.as_str() {
            "--seed" => arguments.seed = value,
            "--seconds" => arguments.seconds = value,
            "--rounds" => arguments.rounds = value,
            "--processes" => arguments.processes = value,
            "--threads" => arguments.threads = value,
            "--worker" => arguments.worker = i32::try_from(value).ok(),
            _ => return None,
        }
    }
    Some(arguments)
}

/// A process that sends requests.
struct Worker {
    child: Child,
    seed: u64,
    journal: Journal,
    /// It will be killed in the middle of its work.
    is_victim: bool,
}

fn start(arguments: &Arguments, seed: u64, seconds: u64, is_victim: bool) -> std::io::Result<Worker> {
    let journal = Journal::create(arguments.threads as usize)?;
    let number = |value: u64| value.to_string();
    let child = Command::new(std::env::current_exe()?)
        .args(["--worker", &journal.descriptor().to_string(), "--seed", &number(seed)])
        .args(["--seconds", &number(seconds), "--rounds", &number(arguments.rounds)])
        .args(["--threads", &number(arguments.threads)])
        // Batches that stop are told there; that is what they do here.
        .stderr(Stdio::null())
        .env("GENCL_HANG_LIMIT", "0.1")
        .spawn()?;
    Ok(Worker { child, seed, journal, is_victim })
}

impl Worker {
    /// Waits for the end of a process. `None` when it hangs.
    fn wait(&mut self, until: Instant) -> std::io::Result<Option<ExitStatus>> {
        loop {
            if let Some(status) = self.child.try_wait()? {
                return Ok(Some(status));
            }
            if Instant::now() >= until {
                return Ok(None);
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn failed(&self, why: &str) {
        println!(
            "gencl-fuzz-ioctl: worker with seed {}: {why}; the last requests of each thread:",
            self.seed
        );
        print!("{}", self.journal.text());
    }
}

/// Starts processes until the time is over. How many requests there were; `None` after a failure.
fn supervise(arguments: &Arguments) -> std::io::Result<Option<u64>> {
    let end = Instant::now() + Duration::from_secs(arguments.seconds);
    let mut random = Random::new(arguments.seed);
    let mut requests = 0;
    while Instant::now() < end {
        let left = end.saturating_duration_since(Instant::now()).as_secs().max(1);
        let workers = (0..arguments.processes).map(|index| {
            // The first is never killed.
            let is_victim = index > 0 && random.one_in(4);
            start(arguments, random.next(), left, is_victim)
        });
        let mut workers = workers.collect::<std::io::Result<Vec<_>>>()?;
        std::thread::sleep(Duration::from_millis(random.below(400)));
        for worker in workers.iter_mut().filter(|worker| worker.is_victim) {
            worker.child.kill()?;
        }
        let mut is_well = true;
        for worker in &mut workers {
            match worker.wait(Instant::now() + Duration::from_secs(left) + PATIENCE)? {
                Some(status)
                    if status.success() || (worker.is_victim && status.signal() == Some(libc::SIGKILL)) => {}
                Some(status) => {
                    worker.failed(&status.to_string());
                    is_well = false;
                }
                None => {
                    worker.failed("hangs");
                    worker.child.kill()?;
                    worker.child.wait()?;
                    is_well = false;
                }
            }
            requests += worker.journal.count();
        }
        if !is_well {
            return Ok(None);
        }
    }
    Ok(Some(requests))
}

fn main() -> ExitCode {
    let Some(arguments) = arguments() else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    if let Some(descriptor) = arguments.worker {
        return worker::run(&arguments, descriptor);
    }
    println!("gencl-fuzz-ioctl: seed {}", arguments.seed);
    match supervise(&arguments) {
        Ok(Some(requests)) => {
            println!("gencl-fuzz-ioctl: {requests} requests in {} seconds, no fault", arguments.seconds);
            ExitCode::SUCCESS
        }
        Ok(None) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("gencl-fuzz-ioctl: {error}");
            ExitCode::FAILURE
        }
    }
}
