//! Shows the statistics that `gencl-sim --stats` or `GENCL_DEBUG=profile=FILE` wrote.

use std::fs::File;
use std::io::{self, BufReader, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use gencl_simulator::statistics::report::{Kernel, VERSION};
use gencl_simulator::statistics::{Report, text};

/// Prints a line for each kernel; or the instructions of one with what they took.
#[derive(Parser)]
#[command(name = "gencl-stats", version)]
struct Arguments {
    /// What was written.
    file: PathBuf,
    /// The kernel whose instructions are printed: the beginning of its hash, or its number in the table, from 1 on.
    #[arg(long, value_name = "KERNEL")]
    annotate: Option<String>,
}

/// The kernel that the user means.
fn find<'a>(report: &'a Report, wish: &str) -> Result<&'a Kernel, String> {
    let number = wish.parse::<usize>().ok().filter(|n| (1..=report.kernels.len()).contains(n));
    let mut found = report.kernels.iter().filter(|kernel| kernel.hash.starts_with(wish));
    match (number, found.next(), found.next()) {
        (Some(number), ..) => Ok(&report.kernels[number - 1]),
        (None, Some(kernel), None) => Ok(kernel),
        (None, Some(_), Some(_)) => Err(format!("several kernels begin with {wish}; give the number")),
        (None, None, _) => Err(format!("there is no kernel {wish}")),
    }
}

fn run(arguments: &Arguments) -> Result<String, String> {
    let path = arguments.file.display();
    let file = File::open(&arguments.file).map_err(|error| format!("{path}: {error}"))?;
    let report: Report =
        serde_json::from_reader(BufReader::new(file)).map_err(|error| format!("{path}: {error}"))?;
    if report.version != VERSION {
        return Err(format!("{path}: version {}, this program reads {VERSION}", report.version));
    }
    match &arguments.annotate {
        Some(wish) => find(&report, wish).map(text::listing),
        None => Ok(text::table(&report)),
    }
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        // A reader that has seen enough is no error.
        Ok(text) => match io::stdout().write_all(text.as_bytes()) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => ExitCode::FAILURE,
            _ => ExitCode::SUCCESS,
        },
        Err(error) => {
            eprintln!("gencl-stats: {error}");
            ExitCode::from(2)
        }
    }
}
