//! The command `gencl`.

use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use clap::{ArgMatches, FromArgMatches};
use gencl_cli::{ARGUMENTS, CacheAction, DiagnoseArguments, LIST, cache, command, diagnose, tools};

fn main() -> ExitCode {
    run(&command().get_matches()).unwrap_or_else(|message| {
        eprintln!("gencl: {message}");
        ExitCode::FAILURE
    })
}

fn run(matches: &ArgMatches) -> Result<ExitCode, String> {
    if matches.get_flag(LIST) {
        print!("{}", tools::list());
    }
    let status = |good: bool| if good { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    match matches.subcommand() {
        None => Ok(ExitCode::SUCCESS),
        Some(("diagnose", matches)) => {
            let arguments =
                DiagnoseArguments::from_arg_matches(matches).map_err(|error| error.to_string())?;
            Ok(status(match (arguments.load, arguments.examine) {
                (Some(library), _) => diagnose::load(&library),
                (None, Some(library)) => diagnose::examine(&library),
                (None, None) => diagnose::run(arguments.json),
            }))
        }
        Some(("cache", matches)) => {
            match CacheAction::from_arg_matches(matches).map_err(|error| error.to_string())? {
                CacheAction::Info { json } => Ok(status(cache::info(json))),
                CacheAction::Clear => cache::clear().map(|()| ExitCode::SUCCESS),
            }
        }
        Some((name, matches)) => {
            // Commands that are not known have their arguments under an empty name.
            let id = if matches.try_contains_id(ARGUMENTS).is_ok() { ARGUMENTS } else { "" };
            let arguments = matches.get_many::<OsString>(id).unwrap_or_default();
            Err(execute(name.as_ref(), arguments))
        }
    }
}

/// Replaces this process by a tool. Returns why it cannot.
fn execute<'a>(name: &OsStr, arguments: impl Iterator<Item = &'a OsString>) -> String {
    match tools::find(name) {
        Ok(program) => {
            let error = Command::new(&program).args(arguments).exec();
            format!("{}: {error}", program.display())
        }
        Err(reason) => reason,
    }
}
