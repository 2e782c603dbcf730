//! Shows the statistics that `gencl-sim --stats` or `GENCL_DEBUG=profile=FOLDER` wrote.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use clap::Parser;
use gencl_commands::stats::Arguments;
use gencl_simulator::statistics::compare::{self, Column};
use gencl_simulator::statistics::report::Kernel;
use gencl_simulator::statistics::{Report, text};

/// The kernel by hash or number.
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

/// The names of the files `PROGRAM.json` in a folder.
fn programs(folder: &Path) -> Result<BTreeSet<String>, String> {
    let entries = folder.read_dir().map_err(|error| format!("{}: {error}", folder.display()))?;
    let files = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    Ok(files.filter_map(|file| file.strip_suffix(".json").map(str::to_owned)).collect())
}

fn compare(first: &Path, second: &Path) -> Result<String, String> {
    let own = [programs(first)?, programs(second)?];
    let all: Vec<&str> = own[0].union(&own[1]).map(String::as_str).collect();
    let column = |folder: &Path, own: &BTreeSet<String>| {
        let name = folder.file_name().unwrap_or(folder.as_os_str()).to_string_lossy().into_owned();
        let report = |program: &&str| {
            own.contains(*program).then(|| Report::read(&folder.join(format!("{program}.json")))).transpose()
        };
        Ok::<_, String>(Column { name, reports: all.iter().map(report).collect::<Result<_, _>>()? })
    };
    Ok(compare::table(&all, &[column(first, &own[0])?, column(second, &own[1])?]))
}

fn run(arguments: &Arguments) -> Result<String, String> {
    if let Some([first, second]) = arguments.compare.as_deref() {
        return compare(first, second);
    }
    let report = Report::read(arguments.file.as_deref().unwrap_or(Path::new("")))?;
    match &arguments.annotate {
        Some(wish) => find(&report, wish).map(text::listing),
        None => Ok(text::table(&report)),
    }
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        // A closed pipe is no error.
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
