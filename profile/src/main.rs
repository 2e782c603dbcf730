//! Profiles a program on a simulated Gen GPU.

use std::io::{self, Write};
use std::path::Path;
use std::process::{ExitCode, ExitStatus};

use clap::Parser;
use gencl_commands::child::{self, NotRun};
use gencl_commands::profile::{Arguments, OutputArguments, RunArguments, Show};
use gencl_profile::analysis::Analysis;
use gencl_profile::collect::Collected;
use gencl_profile::compare::compare;
use gencl_profile::run::Run;
use gencl_profile::trace::Trace;
use gencl_profile::{devices, output, table, timings};
use gencl_program::Kernel;
use gencl_simulator::statistics::Report;

/// Status of a failed check.
const SLOWER: u8 = 1;
/// Status where there is nothing to be checked.
const FAILED: u8 = 125;

/// The earlier profile with which this one is compared.
fn earlier(arguments: &OutputArguments) -> Result<Option<Report>, String> {
    arguments.compare.as_deref().map(Report::read).transpose()
}

/// Prints a report and writes its files. Returns the exit status.
fn show(
    report: &Report,
    traces: &[Trace],
    arguments: &OutputArguments,
    earlier: Option<&Report>,
    mut to: impl Write,
) -> Result<u8, String> {
    let analysis = Analysis::of(report);
    let comparison = earlier.map(|old| compare(&Analysis::of(old), &analysis));
    output::write(&analysis, traces, comparison.as_ref(), &arguments.output)?;
    // If it is closed, nobody reads it.
    let _ = write!(to, "{}\n{}\n", table::summary(&analysis), written(&arguments.output));
    let Some(comparison) = comparison else { return Ok(0) };
    let _ = write!(to, "\n{}", comparison.text());
    let slower = arguments.check.map_or_else(Vec::new, |limit| comparison.slower(limit));
    for change in &slower {
        let _ = writeln!(to, "slower: {} by {:.1}%", change.name, 100.0 * change.slowdown());
    }
    Ok(if slower.is_empty() { 0 } else { SLOWER })
}

/// Prints the times of a program that ran on a real GPU, and writes the trace. `reason` says why there are no counts.
fn show_timings(traces: &[Trace], kernels: &[Kernel], folder: &Path, reason: &str) -> Result<u8, String> {
    let Some(text) = timings::summary(traces, kernels) else { return Err(reason.to_owned()) };
    output::write_trace(&Report::default(), traces, folder)?;
    eprint!("times of the device; there are no counts: {reason}\n\n{text}\n");
    eprintln!("written to {}: {}", folder.display(), output::TRACE);
    Ok(0)
}

fn written(folder: &Path) -> String {
    let folder = folder.display();
    let files = "profile.html, callgrind.out, folded.txt, profile.pb.gz, profile.json";
    // The sources and the machine code are looked for in the current folder.
    format!(
        "written to {folder}: {files} and more; for the source: cd {folder} && callgrind_annotate callgrind.out"
    )
}

/// What a run of the program gave.
fn shown(
    Collected { report, traces, kernels, simulated }: Collected,
    arguments: &OutputArguments,
    earlier: Option<&Report>,
) -> Result<u8, String> {
    match report {
        // Standard output is the program's.
        Ok(report) => show(&report, &traces, arguments, earlier, io::stderr()),
        Err(reason) if simulated || arguments.check.is_some() => Err(reason),
        Err(reason) => show_timings(&traces, &kernels, &arguments.output, &reason),
    }
}

fn run(arguments: Arguments) -> Result<u8, NotRun> {
    if let Some(Show::Show { file, output }) = arguments.command {
        return Ok(show(&Report::read(&file)?, &[], &output, earlier(&output)?.as_ref(), io::stdout())?);
    }
    let RunArguments { device, on, fast, launch, kernel, driver, program } = &arguments.run;
    let driver = driver.as_deref();
    let run = Run {
        command: program,
        device: device.as_deref(),
        fast: *fast,
        launches: launch,
        kernels: kernel,
        driver,
    };
    // What is wrong with the arguments is told before the program runs. The earlier profile may be one of the files that are written.
    let earlier = earlier(&arguments.output)?;
    output::check(&arguments.output.output)?;
    run.check()?;
    if on.is_empty() {
        let (status, collected) = run.profile()?;
        let shown = collected.and_then(|collected| shown(collected, &arguments.output, earlier.as_ref()));
        return Ok(ended(status, shown, arguments.output.check.is_some()));
    }
    let mut reports = Vec::new();
    for name in on {
        let (status, collected) = Run { device: Some(name), ..run }.profile()?;
        let folder = arguments.output.output.join(name);
        let written = collected.and_then(|Collected { report, traces, .. }| {
            let report = report?;
            output::write(&Analysis::of(&report), &traces, None, &folder)?;
            reports.push(report);
            Ok(0)
        });
        let code = ended(status, written, false);
        if code != 0 {
            return Ok(code);
        }
    }
    let analyses: Vec<Analysis<'_>> = reports.iter().map(Analysis::of).collect();
    eprint!("{}", devices::text(&analyses));
    Ok(0)
}

/// The exit status: the program's. If it has succeeded, that of a check, which fails without a profile, too.
fn ended(status: ExitStatus, ours: Result<u8, String>, checks: bool) -> u8 {
    if let Err(error) = &ours {
        eprintln!("gencl-profile: {error}");
    }
    match (status.success(), ours) {
        (false, _) => child::exit_code(status),
        (true, Ok(code)) => code,
        (true, Err(_)) => {
            if checks {
                FAILED
            } else {
                0
            }
        }
    }
}

fn main() -> ExitCode {
    run(Arguments::parse()).map_or_else(
        |NotRun { reason, status }| {
            eprintln!("gencl-profile: {reason}");
            ExitCode::from(status)
        },
        ExitCode::from,
    )
}
