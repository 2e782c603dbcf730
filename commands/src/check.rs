//! `gencl-check`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Parser, ValueEnum};
use gencl_program::tools::Tools;

use crate::device_name;

/// Finds faults in the OpenCL kernels that a program runs, and in its calls of OpenCL: accesses beyond their objects, data
/// races, objects that are not released, and others.
#[derive(Parser)]
#[command(name = "gencl-check", version, arg_required_else_help = true, after_help = STATUSES)]
pub struct Arguments {
    /// The simulated device.
    #[arg(long, value_name = "NAME", value_parser = device_name())]
    pub device: Option<String>,
    /// Only these checks, separated by commas: memory (accesses are within their objects), arithmetic (divisors are not zero,
    /// floats fit into integers), race (accesses of work-items do not race), sync (all work-items come to barriers),
    /// undefined (undefined values decide nothing), api (objects are released and valid, errors are noticed), order (commands
    /// that use the same memory are ordered), which are the default; and shift (amounts are less than the width), overflow
    /// (results of signed integers are of their type), which default,shift adds, or all.
    #[arg(long, value_name = "TOOLS", value_delimiter = ',', value_parser = PossibleValuesParser::new(Tools::NAMES.into_iter().chain(Tools::SETS)))]
    pub tool: Vec<String>,
    /// Look for data races in about this number of work-groups of each launch.
    #[arg(long, value_name = "NUMBER")]
    pub groups: Option<u32>,
    /// The form of the report.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: Format,
    /// The file that the report is written to, instead of standard error.
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// The exit status when something was found and the program itself has succeeded.
    #[arg(long, value_name = "STATUS", default_value_t = 1)]
    pub error_exitcode: u8,
    /// A file with findings that are not reported: KIND KERNEL FILE[:LINE] in each line, each of which may be *; for calls,
    /// KERNEL is the function.
    #[arg(long, value_name = "FILE")]
    pub suppressions: Option<PathBuf>,
    /// Print the JSON schema of reports in JSON, and end.
    #[arg(long)]
    pub schema: bool,
    /// What earlier versions compiled.
    #[arg(hide = true)]
    pub sources: Vec<PathBuf>,
    /// The program and its arguments.
    #[arg(last = true)]
    pub program: Vec<OsString>,
}

/// The statuses of `gencl-check`.
const STATUSES: &str = "Exit status:
  that of the program, if it is not 0
  --error-exitcode  something was found
  125               gencl-check itself failed
  126, 127          the program cannot be executed, or is not there";

/// Forms of reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    Text,
    /// All that is known.
    Json,
    /// SARIF 2.1.0, for code hosts.
    Sarif,
    /// JUnit's XML, for CI servers.
    Junit,
}
