//! Profiles a program on a simulated Gen GPU.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand};
use gencl_eu::device::Device;
use gencl_profile::analysis::Analysis;
use gencl_profile::run::{Run, exit_code};
use gencl_profile::{collect, output, table};
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
}

/// The name of a device.
fn device() -> impl TypedValueParser<Value = String> {
    PossibleValuesParser::new(Device::all().iter().map(|device| device.name))
}

/// Prints a report and writes its files.
fn show(report: &Report, arguments: &OutputArguments, mut to: impl Write) -> Result<(), String> {
    let analysis = Analysis::of(report);
    output::write(&analysis, &arguments.output)?;
    // If it is closed, nobody reads it.
    let _ = write!(to, "{}\n{}\n", table::summary(&analysis), written(&arguments.output));
    Ok(())
}

fn written(folder: &Path) -> String {
    format!(
        "written to {}: profile.html, callgrind.out, folded.txt, profile.pb.gz, profile.json",
        folder.display()
    )
}

fn run(arguments: Arguments) -> Result<u8, String> {
    if let Some(Show::Show { file, output }) = arguments.command {
        return show(&collect::read_report(&file)?, &output, io::stdout()).map(|()| 0);
    }
    let RunArguments { device, driver, program } = &arguments.run;
    let run = Run { command: program, device: device.as_deref(), driver: driver.as_deref() };
    let (status, report) = run.profile()?;
    // Standard output is the program's.
    match report.and_then(|report| show(&report, &arguments.output, io::stderr())) {
        Err(error) if status.success() => Err(error),
        Err(error) => {
            eprintln!("gencl-profile: {error}");
            Ok(exit_code(status))
        }
        Ok(()) => Ok(exit_code(status)),
    }
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
