//! `gencl-profile`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::device_name;

/// Profiles an OpenCL program on a simulated Gen GPU by kernel, source line and machine instruction.
#[derive(Parser)]
#[command(
    name = "gencl-profile",
    version,
    args_conflicts_with_subcommands = true,
    arg_required_else_help = true
)]
pub struct Arguments {
    /// Instead of a run.
    #[command(subcommand)]
    pub command: Option<Show>,
    /// What is profiled.
    #[command(flatten)]
    pub run: RunArguments,
    /// What becomes of the profile.
    #[command(flatten)]
    pub output: OutputArguments,
}

/// Subcommands.
#[derive(Subcommand)]
pub enum Show {
    /// Shows a profile that was written earlier, and writes its files again.
    Show {
        /// The file profile.json.
        file: PathBuf,
        /// What becomes of it.
        #[command(flatten)]
        output: OutputArguments,
    },
}

/// What is profiled, and on what.
#[derive(Args)]
pub struct RunArguments {
    /// The simulated device.
    #[arg(long, value_name = "NAME", value_parser = device_name())]
    pub device: Option<String>,
    /// Several devices, separated by commas: the program runs once on each, and the profiles are compared.
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = device_name(),
        conflicts_with_all = ["device", "compare"])]
    pub on: Vec<String>,
    /// Count executions and enabled lanes in translated code: faster, but clocks are those for which
    /// instructions issue only, and nothing is told of waiting and of memory.
    #[arg(long, conflicts_with = "driver")]
    pub fast: bool,
    /// Count these launches only, by their numbers from 1, in the order in which the program enqueues them: 3-5, or 3,7. Others
    /// run as without a profile.
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', value_parser = parse_range, conflicts_with = "driver")]
    pub launch: Vec<String>,
    /// Count launches of these kernels only.
    #[arg(long, value_name = "NAMES", value_delimiter = ',', conflicts_with = "driver")]
    pub kernel: Vec<String>,
    /// Another driver than gencl, which is run on the simulated GPU: its .icd file. There are machine code and
    /// kernels, but no lines.
    #[arg(long, value_name = "FILE")]
    pub driver: Option<PathBuf>,
    /// The program and its arguments.
    #[arg(last = true, required = true)]
    pub program: Vec<OsString>,
}

/// What becomes of a profile.
#[derive(Args)]
pub struct OutputArguments {
    /// The folder that the profile's files are written to.
    #[arg(long, value_name = "FOLDER", default_value = "gencl-profile.out")]
    pub output: PathBuf,
    /// An earlier profile.json of the program, with which this one is compared.
    #[arg(long, value_name = "FILE")]
    pub compare: Option<PathBuf>,
    /// Exit with status 1 if a kernel, or a line of it, makes the kernel slower by more than this.
    #[arg(long, value_name = "PERCENT", requires = "compare", value_parser = parse_percent)]
    pub check: Option<f64>,
}

/// `3` or `3-5`, as the latter.
fn parse_range(text: &str) -> Result<String, String> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    match [first, last].map(str::parse::<u32>) {
        [Ok(first), Ok(last)] if (1..=last).contains(&first) => Ok(format!("{first}-{last}")),
        _ => Err("it must be the number of a launch from 1, or a range of them, as 3-5".to_owned()),
    }
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
