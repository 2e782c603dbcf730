//! Runs a program whose kernels and calls are checked, and reports what was found.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;
use gencl_check::collect::collect;
use gencl_check::output;
use gencl_check::suppress::Suppressions;
use gencl_commands::check::Arguments;
use gencl_commands::child::{self, NotRun};

fn run(arguments: &Arguments) -> Result<u8, NotRun> {
    if arguments.schema {
        print!("{}", output::schema()?);
        return Ok(0);
    }
    let Some(name) = arguments.program.first().filter(|_| arguments.sources.is_empty()) else {
        let files: Vec<_> = arguments.sources.iter().map(|file| file.display().to_string()).collect();
        let reason = match files.as_slice() {
            [] => "no program is given: gencl-check -- PROGRAM".to_owned(),
            files => format!(
                "a program is checked as it runs: gencl-check -- PROGRAM; to compile for all GPUs: gencl compile --check {}",
                files.join(" ")
            ),
        };
        return Err(NotRun { reason, status: 2 });
    };
    // What is wrong with the arguments is told before the program runs.
    let suppressions = match &arguments.suppressions {
        Some(file) => {
            let failed = |error: String| format!("{}: {error}", file.display());
            let text = std::fs::read_to_string(file).map_err(|error| failed(error.to_string()))?;
            Suppressions::parse(&text).map_err(failed)?
        }
        None => Suppressions::default(),
    };
    if let Some(file) = &arguments.output {
        std::fs::write(file, "").map_err(|error| format!("{}: {error}", file.display()))?;
    }
    let folder = tempfile::Builder::new().prefix("gencl-check-").tempdir();
    let folder = folder.map_err(|error| format!("a temporary folder: {error}"))?;
    let mut options = OsString::from("check,check-output=");
    options.push(folder.path());
    if !arguments.tool.is_empty() {
        options.push(format!(",check-tools={}", arguments.tool.join("+")));
    }
    if let Some(groups) = arguments.groups {
        options.push(format!(",check-groups={groups}"));
    }
    let mut command = child::with_driver(&arguments.program, arguments.device.as_deref(), &options);
    let status = child::run(&mut command)?;
    let mut findings = collect(folder.path())?;
    findings.retain(|finding| !suppressions.has(finding));
    let report = output::report(&findings, &name.to_string_lossy(), arguments.format)?;
    match &arguments.output {
        Some(file) => {
            std::fs::write(file, report).map_err(|error| format!("{}: {error}", file.display()))?;
        }
        None => eprint!("{report}"),
    }
    Ok(match (child::exit_code(status), findings.is_empty()) {
        (0, false) => arguments.error_exitcode,
        (code, _) => code,
    })
}

fn main() -> ExitCode {
    let status = run(&Arguments::parse()).unwrap_or_else(|NotRun { reason, status }| {
        eprintln!("gencl-check: {reason}");
        status
    });
    ExitCode::from(status)
}
