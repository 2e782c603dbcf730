//! `make fuzz-api`: random calls through the ICD loader, right and wrong ones, from several threads.
//!
//! Processes are started one after the other, each with a seed of its own and threads whose seeds follow from
//! it. It fails when a process dies or panics, when a thread makes no progress, when memory grows without
//! bound, and when a sequence of right calls has a wrong result.

mod calls;
mod handles;
mod sizes;
mod worker;

use std::io::Read;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use clap::{Parser, value_parser};
use gencl_testing::{Journal, wait_until};

/// Sends random calls to the OpenCL driver that `OCL_ICD_VENDORS` names.
#[derive(Parser)]
#[command(name = "gencl-fuzz-api", version)]
pub struct Arguments {
    /// The seed (default: the clock). The first process has it; the next ones have the following numbers.
    #[arg(long)]
    seed: Option<u64>,
    /// How long.
    #[arg(long, default_value_t = 10)]
    seconds: u64,
    /// How many calls each thread makes before its process ends.
    #[arg(long, default_value_t = 30_000)]
    calls: u64,
    /// Threads of a process.
    #[arg(long, default_value_t = 4, value_parser = value_parser!(u64).range(1..64))]
    threads: u64,
    /// In a process that makes calls: the journal's descriptor.
    #[arg(long, hide = true)]
    worker: Option<i32>,
}

/// A process that takes longer than this hangs; it detects threads without progress itself.
const HANG_TIMEOUT: Duration = Duration::from_secs(600);

/// What a process says on standard error when something is wrong that its driver survives.
const MARKS: [&str; 4] = ["panicked at", "internal error", "gencl-fuzz-api:", "Sanitizer"];

/// Runs one process. How many calls it made; the error says what went wrong.
fn run(arguments: &Arguments, seed: u64) -> Result<u64, String> {
    let text = |error: std::io::Error| error.to_string();
    let journal = Journal::create(arguments.threads as usize).map_err(text)?;
    let mut child = Command::new(std::env::current_exe().map_err(text)?)
        .args(["--worker", &journal.descriptor().to_string(), "--seed", &seed.to_string()])
        .args(["--calls", &arguments.calls.to_string(), "--threads", &arguments.threads.to_string()])
        .stderr(Stdio::piped())
        .env("GENCL_HANG_LIMIT", "0.1")
        .spawn()
        .map_err(text)?;
    let mut stderr = child.stderr.take().ok_or("no standard error")?;
    let reading = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        // What was read until an error is what there is.
        let _ = stderr.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    });
    let status = wait_until(&mut child, Instant::now() + HANG_TIMEOUT).map_err(text)?;
    if status.is_none() {
        child.kill().and_then(|()| child.wait()).map_err(text)?;
    }
    let said = reading.join().map_err(|_| "a panic")?;
    let marked = said.lines().find(|line| MARKS.iter().any(|mark| line.contains(mark)));
    let why = match (status, marked) {
        (_, Some(line)) => line.to_owned(),
        (None, None) => "hangs".into(),
        (Some(status), None) if !status.success() => status.to_string(),
        (Some(_), None) => return Ok(journal.count()),
    };
    Err(format!("process with seed {seed}: {why}\n{said}\nwhat each thread did last:\n{}", journal.text()))
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let clock = || std::time::UNIX_EPOCH.elapsed().map_or(0, |time| time.as_nanos() as u64);
    let first = arguments.seed.unwrap_or_else(clock);
    if let Some(descriptor) = arguments.worker {
        return worker::run(&arguments, first, descriptor);
    }
    println!("gencl-fuzz-api: seed {first}");
    let (begin, mut calls, mut seed) = (Instant::now(), 0, first);
    while begin.elapsed() < Duration::from_secs(arguments.seconds) {
        match run(&arguments, seed) {
            Ok(count) => calls += count,
            Err(why) => {
                println!("gencl-fuzz-api: {why}");
                return ExitCode::FAILURE;
            }
        }
        seed = seed.wrapping_add(1);
    }
    println!(
        "gencl-fuzz-api: {calls} calls, {} processes, {} seconds, no fault",
        seed.wrapping_sub(first),
        begin.elapsed().as_secs()
    );
    ExitCode::SUCCESS
}
