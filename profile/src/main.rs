//! Profiles a program on a simulated Gen GPU.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{ExitCode, ExitStatus};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand};
use gencl_eu::device::Device;
use gencl_profile::analysis::Analysis;
use gencl_profile::collect::Collected;
use gencl_profile::compare::compare;
use gencl_profile::run::{Run, exit_code};
use gencl_profile::trace::Trace;
use gencl_profile::{devices, output, table, timings};
use gencl_program::Kernel;
use gencl_simulator::statistics::Report;

/// Profiles an OpenCL program on a simulated Gen GPU by kernel, source line and machine instruction.
#[derive(Parser)]
#[command(
    name = "gencl-profile",
    version,
    args_conflicts_with_subcommands = true,
    arg_required_else_help = true
)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Show>,
    #[command(flatten)]
    run: RunArguments,
    #[command(flatten)]
    output: OutputArguments,
}

#[derive(Subcommand)]
enum Show {
    /// Shows a profile that was written earlier, and writes its files again.
    Show {
        /// The file profile.json.
        file: PathBuf,
        #[command(flatten)]
        output: OutputArguments,
    },
}

#[derive(Args)]
struct RunArguments {
    /// The simulated device.
    #[arg(long, value_name = "NAME", value_parser = device())]
    device: Option<String>,
    /// Several devices, separated by commas: the program runs once on each, and the profiles are compared.
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = device(),
        conflicts_with_all = ["device", "compare"])]
    on: Vec<String>,
    /// Another driver than gencl, which is run on the simulated GPU: its .icd file. There are machine code and
    /// kernels, but no lines.
    #[arg(long, value_name = "FILE")]
    driver: Option<PathBuf>,
    /// The program and its arguments.
    #[arg(last = true, required = true)]
    program: Vec<OsString>,
}

#[derive(Args)]
struct OutputArguments {
    /// The folder that the profile's files are written to.
    #[arg(long, value_name = "FOLDER", default_value = "gencl-profile.out")]
    output: PathBuf,
    /// An earlier profile.json of the program, with which this one is compared.
    #[arg(long, value_name = "FILE")]
    compare: Option<PathBuf>,
    /// Exit with status 1 if a kernel, or a line of it, makes the kernel slower by more than this.
    #[arg(long, value_name = "PERCENT", requires = "compare", value_parser = parse_percent)]
    check: Option<f64>,
}

/// The name of a device.
fn device() -> impl TypedValueParser<Value = String> {
    PossibleValuesParser::new(Device::all().iter().map(|device| device.name))
}

/// `5%` or `5` as 0.05.
fn parse_percent(text: &str) -> Result<f64, String> {
    let number: f64 =
        text.trim_end_matches('%').parse().map_err(|_| "it must be a number, as 5%".to_owned())?;
    if number.is_finite() && number >= 0.0 {
        Ok(number / 100.0)
    } else {
        Err("it must not be negative".to_owned())
    }
}

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
    output::write(&analysis, traces, &arguments.output)?;
    // If it is closed, nobody reads it.
    let _ = write!(to, "{}\n{}\n", table::summary(&analysis), written(&arguments.output));
    let Some(old) = old else { return Ok(0) };
    let comparison = compare(&Analysis::of(&old), &analysis);
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
    let RunArguments { device, on, driver, program } = &arguments.run;
    let run = Run { command: program, device: device.as_deref(), driver: driver.as_deref() };
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
            output::write(&Analysis::of(&report), &traces, &folder)?;
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
