//! `make stress`: the driver under load and attack, through the ICD loader.
//!
//! Each section is repeated, with one seed after the other, until its part of the time is over. What uses the
//! driver runs in processes of its own, which may die; this one starts them, disturbs them, and looks what
//! came of them. It fails when something leaks, when a result is wrong, when something hangs, and when a
//! process dies or catches a panic of the driver.

mod attack;
mod caches;
mod child;
mod events;
mod hangs;
mod limits;
mod mutate;
mod process;
mod servers;
mod soak;
mod tally;
mod together;
mod work;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use child::{Stage, Task};
use clap::Parser;
use tally::Tally;

/// Puts the OpenCL driver that `OCL_ICD_VENDORS` names under load and attack.
#[derive(Parser)]
#[command(name = "gencl-stress", version)]
struct Arguments {
    /// How long, divided among the sections; each is run once at least.
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// The seed (default: the clock). Repetitions of a section have this seed and the following ones.
    #[arg(long)]
    seed: Option<u64>,
    /// Only sections whose names contain this.
    #[arg(long, default_value = "")]
    section: String,
    /// Where files are while they are needed, and stay when something went wrong.
    #[arg(long, default_value = "target/stress")]
    folder: PathBuf,
    /// Load, build and launch this program binary, as the sections that mutate binaries do, and end.
    #[arg(long)]
    input: Option<PathBuf>,
    /// In a process that uses the driver: what it is to do.
    #[arg(long, hide = true)]
    role: Option<String>,
}

/// What is tried.
struct Section {
    name: &'static str,
    /// Its part of the time.
    share: u32,
    /// One repetition, in this process.
    repeat: fn(&Stage) -> Result<Tally, String>,
    /// What the processes do that it starts.
    work: fn(&Task) -> Result<Tally, String>,
}

const SECTIONS: [Section; 13] = [
    Section { name: "soak", share: 3, repeat: soak::repeat, work: soak::work },
    Section { name: "threads", share: 2, repeat: together::threads, work: together::work },
    Section { name: "processes", share: 2, repeat: together::processes, work: together::work },
    Section { name: "servers-killed", share: 1, repeat: servers::killed, work: servers::work },
    Section { name: "servers-killed-once", share: 2, repeat: servers::killed_once, work: servers::work },
    Section { name: "servers-stopped", share: 1, repeat: servers::stopped, work: servers::work },
    Section { name: "limits", share: 2, repeat: limits::repeat, work: limits::work },
    Section { name: "caches", share: 2, repeat: caches::repeat, work: together::work },
    Section { name: "binaries", share: 4, repeat: attack::binaries, work: attack::work },
    Section { name: "code-interpreted", share: 4, repeat: attack::interpreted, work: attack::work },
    Section { name: "code-translated", share: 4, repeat: attack::translated, work: attack::work },
    Section { name: "hangs", share: 1, repeat: hangs::repeat, work: hangs::work },
    Section { name: "events", share: 1, repeat: events::repeat, work: events::work },
];

/// What came of a section.
struct Row {
    name: &'static str,
    repetitions: u64,
    seconds: f64,
    tally: Tally,
    /// What went wrong, and with which seed.
    failure: Option<(u64, String)>,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let clock = || std::time::UNIX_EPOCH.elapsed().map_or(0, |time| time.as_nanos() as u64);
    let seed = arguments.seed.unwrap_or_else(clock);
    if let Some(input) = &arguments.input {
        return told(attack::one(input));
    }
    if let Some(role) = &arguments.role {
        return work(&arguments, role, seed);
    }
    if std::env::var_os("OCL_ICD_VENDORS").is_none() {
        eprintln!("gencl-stress: OCL_ICD_VENDORS does not say which driver is to be tested");
        return ExitCode::FAILURE;
    }
    println!("gencl-stress: seed {seed}");
    let sections: Vec<_> =
        SECTIONS.iter().filter(|section| section.name.contains(&arguments.section)).collect();
    let shares: u32 = sections.iter().map(|section| section.share).sum();
    let rows: Vec<_> = sections
        .iter()
        .map(|section| {
            let part = Duration::from_secs(arguments.seconds) * section.share / shares;
            let row = run(section, seed, part, &arguments.folder);
            println!("{}", line(&row));
            row
        })
        .collect();
    println!("\n{}", rows.iter().map(line).collect::<Vec<_>>().join("\n"));
    for row in &rows {
        if let Some((seed, why)) = &row.failure {
            println!(
                "\n{}: {why}\nto see it again: --section {} --seed {seed} --seconds 1",
                row.name, row.name
            );
        }
    }
    if rows.iter().all(|row| row.failure.is_none()) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Repeats a section until its time is over or something goes wrong.
fn run(section: &Section, first: u64, part: Duration, folder: &Path) -> Row {
    let begin = Instant::now();
    let mut row =
        Row { name: section.name, repetitions: 0, seconds: 0., tally: Tally::default(), failure: None };
    while row.failure.is_none() && (row.repetitions == 0 || begin.elapsed() < part) {
        let seed = first.wrapping_add(row.repetitions);
        let left = part.saturating_sub(begin.elapsed());
        let result = Stage::new(section.name, folder, seed, left).and_then(|stage| {
            let tally = (section.repeat)(&stage)?;
            stage.clear()?;
            Ok(tally)
        });
        row.repetitions += 1;
        match result {
            Ok(tally) => row.tally += tally,
            Err(why) => row.failure = Some((seed, why)),
        }
    }
    row.seconds = begin.elapsed().as_secs_f64();
    row
}

fn line(row: &Row) -> String {
    let Row { name, repetitions, seconds, tally, failure } = row;
    let verdict = if failure.is_some() { "FAILED" } else { "ok" };
    format!("{name:<19} {verdict:<6} {seconds:6.1} s {repetitions:5} times  {tally}")
}

/// A process that uses the driver.
fn work(arguments: &Arguments, role: &str, seed: u64) -> ExitCode {
    let task = Task {
        role: role.to_owned(),
        seed,
        left: Duration::from_secs(arguments.seconds),
        folder: arguments.folder.clone(),
    };
    let section = SECTIONS.iter().find(|section| section.name == arguments.section);
    let result =
        section.ok_or_else(|| "no such section".to_owned()).and_then(|section| (section.work)(&task));
    told(result.and_then(|tally| task.hand_in(&tally)))
}

fn told(result: Result<(), String>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("gencl-stress: {why}");
            ExitCode::FAILURE
        }
    }
}
