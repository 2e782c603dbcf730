//! Profiles a program on a simulated Gen GPU.

use std::io::{self, Write};
use std::path::Path;
use std::process::{ExitCode, ExitStatus};

use clap::Parser;
use gencl_commands::profile::{Arguments, OutputArguments, RunArguments, Show};
use gencl_profile::analysis::Analysis;
use gencl_profile::collect::Collected;
use gencl_profile::compare::compare;
use gencl_profile::run::{Run, exit_code};
use gencl_profile::trace::Trace;
use gencl_profile::{devices, output, table, timings};
use gencl_program::Kernel;
use gencl_simulator::statistics::Report;

/// Status of a failed check.
const SLOWER: u8 = 1;

/// Prints a report and writes its files. Returns the exit status.
fn show(
    report: &Report,
    traces: &[Trace],
    arguments: &OutputArguments,
    mut to: impl Write,
) -> Result<u8, String> {
    // It may be one of the files that are written.
    let old = arguments.compare.as_deref().map(Report::read).transpose()?;
    let analysis = Analysis::of(report);
    let comparison = old.map(|old| compare(&Analysis::of(&old), &analysis));
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
    let files = "profile.html, callgrind.out, folded.txt, profile.pb.gz, profile.json";
    format!("written to {}: {files} and more", folder.display())
}

fn run(arguments: Arguments) -> Result<u8, String> {
    if let Some(Show::Show { file, output }) = arguments.command {
        return show(&Report::read(&file)?, &[], &output, io::stdout());
    }
    let RunArguments { device, on, fast, driver, program } = &arguments.run;
    let run = Run { command: program, device: device.as_deref(), fast: *fast, driver: driver.as_deref() };
    if on.is_empty() {
        let (status, collected) = run.profile()?;
        // Standard output is the program's.
        let shown = collected.and_then(|Collected { report, traces, kernels }| match report {
            Ok(report) => show(&report, &traces, &arguments.output, io::stderr()),
            Err(reason) => show_timings(&traces, &kernels, &arguments.output.output, &reason),
        });
        return ended(status, shown);
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
        let code = ended(status, written)?;
        if code != 0 {
            return Ok(code);
        }
    }
    let analyses: Vec<Analysis<'_>> = reports.iter().map(Analysis::of).collect();
    eprint!("{}", devices::text(&analyses));
    Ok(0)
}

/// The exit status: the program's, or ours if it has succeeded.
fn ended(status: ExitStatus, ours: Result<u8, String>) -> Result<u8, String> {
    if status.success() {
        return ours;
    }
    if let Err(error) = ours {
        eprintln!("gencl-profile: {error}");
    }
    Ok(exit_code(status))
}

fn main() -> ExitCode {
    run(Arguments::parse()).map_or_else(
        |error| {
            eprintln!("gencl-profile: {error}");
            ExitCode::from(127)
        },
        ExitCode::from,
    )
}
