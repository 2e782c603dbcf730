//! Makes random and mutated requests to the render node, from several processes with several threads each.
//!
//! Run by `gencl-sim`; several copies may run at once. It fails when a process dies, when a request or a
//! process makes no progress, when memory is modified that no request refers to, when memory behind an
//! argument is accessed, when a buffer is modified that no batch refers to, and when a valid sequence of
//! requests has a wrong result. The seed determines the requests of each thread; with one thread per process,
//! also their order.

mod arena;
mod batch;
mod canaries;
mod layout;
mod mutation;
mod odd;
mod play;
mod pools;
mod requests;
mod sender;
mod sequences;
mod sharing;
mod worker;

use std::fs::File;
use std::io::{BufRead, BufReader, Seek, SeekFrom};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitCode};
use std::time::{Duration, Instant};

use clap::{Parser, value_parser};
use gencl_testing::{Journal, Random, memory_file, wait_until};

/// Makes random and mutated requests to the render node of gencl-sim.
#[derive(Parser)]
#[command(name = "gencl-fuzz-ioctl", version)]
pub struct Arguments {
    /// Seed of the first process (default: from the clock). Seeds of further processes follow from it.
    #[arg(long)]
    seed: Option<u64>,
    /// Duration.
    #[arg(long, default_value_t = 10)]
    seconds: u64,
    /// Number of steps of each thread before its process ends.
    #[arg(long, default_value_t = 20_000)]
    rounds: u64,
    /// Number of processes at once.
    #[arg(long, default_value_t = 2, value_parser = value_parser!(u64).range(1..))]
    processes: u64,
    /// Number of threads per process.
    #[arg(long, default_value_t = 3, value_parser = value_parser!(u64).range(1..64))]
    threads: u64,
    /// In worker processes: the journal's descriptor.
    #[arg(long, hide = true)]
    worker: Option<i32>,
}

impl Arguments {
    fn seed(&self) -> u64 {
        let clock = || std::time::UNIX_EPOCH.elapsed().map_or(0, |time| time.as_nanos() as u64);
        self.seed.unwrap_or_else(clock)
    }
}

/// Time after its end from which a process hangs.
const HANG_TIMEOUT: Duration = Duration::from_secs(120);

/// A worker process.
struct Worker {
    child: Child,
    seed: u64,
    journal: Journal,
    /// Its standard error, with messages about stopped batches.
    log: File,
    /// It will be killed in the middle of its work.
    is_victim: bool,
}

fn start(arguments: &Arguments, seed: u64, seconds: u64, is_victim: bool) -> std::io::Result<Worker> {
    let journal = Journal::create(arguments.threads as usize)?;
    let number = |value: u64| value.to_string();
    let log = memory_file(c"log")?;
    let child = Command::new(std::env::current_exe()?)
        .args(["--worker", &journal.descriptor().to_string(), "--seed", &number(seed)])
        .args(["--seconds", &number(seconds), "--rounds", &number(arguments.rounds)])
        .args(["--threads", &number(arguments.threads)])
        .stderr(log.try_clone()?)
        .env("GENCL_HANG_LIMIT", "0.1")
        .spawn()?;
    Ok(Worker { child, seed, journal, log, is_victim })
}

impl Worker {
    /// A line of standard error about a panic, which in the simulator is the fault of a batch and does not
    /// end the process.
    fn panic(&self) -> std::io::Result<Option<String>> {
        let mut log = &self.log;
        log.seek(SeekFrom::Start(0))?;
        for line in BufReader::new(log).split(b'\n') {
            let line = String::from_utf8_lossy(&line?).into_owned();
            if ["internal error", "panicked at"].iter().any(|mark| line.contains(mark)) {
                return Ok(Some(line));
            }
        }
        Ok(None)
    }

    fn failed(&self, why: &str) {
        println!("gencl-fuzz-ioctl: process with seed {}: {why}; what each thread did last:", self.seed);
        print!("{}", self.journal.text());
    }
}

/// Starts processes until the time is over. Returns the number of requests; `None` after a failure.
fn supervise(arguments: &Arguments) -> std::io::Result<Option<u64>> {
    let end = Instant::now() + Duration::from_secs(arguments.seconds);
    let mut next = arguments.seed();
    let mut random = Random::new(next);
    let mut requests = 0;
    while Instant::now() < end {
        let left = end.saturating_duration_since(Instant::now()).as_secs().max(1);
        let workers = (0..arguments.processes).map(|index| {
            // The first is never killed.
            let is_victim = index > 0 && random.one_in(4);
            let seed = std::mem::replace(&mut next, random.next_u64());
            start(arguments, seed, left, is_victim)
        });
        let mut workers = workers.collect::<std::io::Result<Vec<_>>>()?;
        std::thread::sleep(Duration::from_millis(random.below(400)));
        for worker in workers.iter_mut().filter(|worker| worker.is_victim) {
            worker.child.kill()?;
        }
        let mut is_well = true;
        for worker in &mut workers {
            let end = Instant::now() + Duration::from_secs(left) + HANG_TIMEOUT;
            match wait_until(&mut worker.child, end)? {
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
            if let Some(panic) = worker.panic()? {
                worker.failed(&panic);
                is_well = false;
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
    let mut arguments = Arguments::parse();
    arguments.seed = Some(arguments.seed());
    if let Some(descriptor) = arguments.worker {
        return worker::run(&arguments, descriptor);
    }
    println!("gencl-fuzz-ioctl: seed {}", arguments.seed());
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
