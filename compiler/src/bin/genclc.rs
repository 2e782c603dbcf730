//! `genclc`: the command-line compiler and the compile server.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::FromArgMatches;
use gencl_commands::genclc::{self, Arguments};
use gencl_compiler::driver::{Build, Driver, Listener};
use gencl_compiler::server::{self, Service};
use gencl_compiler::{statistics, supervisor, translation};
use gencl_program::debug::{self, Debug};
use gencl_program::protocol::Status;
use gencl_program::{elf, environment};

/// Options of this program whose value is the next argument.
const WITH_VALUE: &[&str] = &["-o", "--output", "--target", "--dump"];

fn main() -> ExitCode {
    let (own, options) = sort(std::env::args().collect());
    let arguments = Arguments::from_arg_matches(&genclc::command().get_matches_from(own));
    let arguments = arguments.unwrap_or_else(|error| error.exit());
    if arguments.serve
        && let Err(error) = supervisor::step_aside(arguments.memory)
    {
        eprintln!("genclc: {error}");
        return ExitCode::FAILURE;
    }
    keep_memory();
    // Deeply nested sources need more stack than the main thread has.
    let thread = std::thread::Builder::new().stack_size(256 << 20);
    let worker = thread.spawn(move || {
        if arguments.serve { serve(!arguments.translations) } else { compile(&arguments, &options) }
    });
    match worker.map(std::thread::JoinHandle::join) {
        Ok(Ok(code)) => code,
        _ => ExitCode::FAILURE,
    }
}

/// Sets the C library's allocator to keep freed memory between passes: page faults for memory that was
/// returned to the system cost a tenth of the time of a build.
fn keep_memory() {
    const MEBIBYTE: libc::c_int = 1 << 20;
    for (option, value) in [
        (libc::M_ARENA_MAX, 1),
        (libc::M_TOP_PAD, 4 * MEBIBYTE),
        (libc::M_TRIM_THRESHOLD, 256 * MEBIBYTE),
        (libc::M_MMAP_THRESHOLD, 32 * MEBIBYTE),
    ] {
        // SAFETY: sets a parameter of the allocator, before there is a second thread. An unsupported one has
        // no effect.
        unsafe { libc::mallopt(option, value) };
    }
}

/// Separates this program's own arguments from build options, which are joined to a string as an application
/// passes it.
fn sort(arguments: Vec<String>) -> (Vec<String>, String) {
    let (mut own, mut options) = (Vec::new(), Vec::new());
    let mut arguments = arguments.into_iter();
    while let Some(argument) = arguments.next() {
        let build_option = argument.starts_with('-')
            && !argument.starts_with("--")
            && !["-o", "-h", "-V"].contains(&argument.as_str());
        if build_option {
            let separate = ["-D", "-I", "-U", "-x"].contains(&argument.as_str());
            options.push(quote(&argument));
            options.extend(separate.then(|| arguments.next()).flatten().map(|value| quote(&value)));
        } else {
            let separate = WITH_VALUE.contains(&argument.as_str());
            own.push(argument);
            own.extend(separate.then(|| arguments.next()).flatten());
        }
    }
    (own, options.join(" "))
}

fn quote(word: &str) -> String {
    let special = |c: char| c.is_whitespace() || ['"', '\'', '\\'].contains(&c);
    word.chars().flat_map(|c| special(c).then_some('\\').into_iter().chain([c])).collect()
}

fn serve(builds: bool) -> ExitCode {
    // The driver has already reported invalid debug options.
    let (debug, _) = Debug::from_environment();
    if !builds && !translation::host(&debug).is_here() {
        let name = debug.value(debug::HOST).unwrap_or_default();
        eprintln!(
            "genclc: GENCL_DEBUG: host={name}: this processor has not all of its instructions, kernels stay interpreted"
        );
    }
    let translate = translation::answer;
    let service = Service { debug: &debug, idle_timeout: server::IDLE_TIMEOUT, builds, translate };
    match server::serve(io::stdin(), &mut io::stdout(), service) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("genclc: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Compiles all sources, also those after one that fails.
fn compile(arguments: &Arguments, options: &str) -> ExitCode {
    let compiled = sources(&arguments.sources).and_then(|paths| {
        if arguments.output.is_some() && paths.len() != 1 {
            return Err("--output takes a single source".to_owned());
        }
        if arguments.stats {
            print(statistics::HEADER);
        }
        let mut good = true;
        for path in &paths {
            good &= build(arguments, options, path)?;
        }
        Ok(good)
    });
    match compiled {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("genclc: {message}");
            ExitCode::FAILURE
        }
    }
}

/// The files that the user named, with those of folders in the order of their names.
fn sources(named: &[PathBuf]) -> Result<Vec<PathBuf>, String> {
    let mut paths = Vec::new();
    for path in named {
        if !path.is_dir() {
            paths.push(path.clone());
            continue;
        }
        let entries = path.read_dir().map_err(|e| format!("{}: {e}", path.display()))?;
        let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        files.retain(|file| file.extension().is_some_and(|extension| extension == "cl"));
        files.sort();
        paths.extend(files);
    }
    Ok(paths)
}

/// Compiles a file. Returns false if the source has errors, which were printed.
fn build(arguments: &Arguments, options: &str, path: &Path) -> Result<bool, String> {
    let environment = environment::trusted_value("GENCL_DEBUG").unwrap_or_default();
    let (debug, complaints) = Debug::parse(&format!("{},{}", environment.to_string_lossy(), arguments.dump));
    if let Some(complaint) = complaints.first() {
        return Err(complaint.clone());
    }
    let source = std::fs::read(path).map_err(|e| format!("{}: {e}", path.display()))?;
    // Headers in the source's folder are found, as if it were the current one.
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let include = format!("{options} -I {}", quote(&directory.to_string_lossy()));
    let name = path.to_string_lossy();
    let build =
        Build { source: &source, name: &name, options: &include, headers: &[], target: &arguments.target };
    let outcome = Driver::new(&debug, &mut Printer).build(&build);
    eprint!("{}", outcome.log);
    let Some(mut program) = outcome.program else {
        return Ok(outcome.status == Status::Success);
    };
    program.options = options.to_owned();
    if arguments.stats {
        program.kernels.iter().for_each(|kernel| print(&statistics::line(kernel, &name)));
    }
    if let Some(output) = &arguments.output {
        let binary = elf::write(&program).map_err(|e| e.to_string())?;
        std::fs::write(output, binary).map_err(|e| format!("{}: {e}", output.display()))?;
    }
    Ok(true)
}

/// Prints to standard output. Errors are ignored, as readers such as `head` close the pipe early.
fn print(text: &str) {
    let _ = io::stdout().write_all(text.as_bytes());
}

/// Prints the output of debug options.
struct Printer;

impl Listener for Printer {
    fn progress(&mut self, _: &str, _: &str) {}

    fn print(&mut self, _: &str, text: &str) {
        print(text);
    }
}
