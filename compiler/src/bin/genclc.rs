//! `genclc`: the command-line compiler and the compile server.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::FromArgMatches;
use gencl_commands::genclc::{self, Arguments};
use gencl_compiler::driver::{self, Build, Driver, Listener, Outcome};
use gencl_compiler::server::{self, Service};
use gencl_compiler::{clang, overflow, statistics, supervisor, translation};
use gencl_device_info::Family;
use gencl_program::debug::{self, Debug};
use gencl_program::protocol::Status;
use gencl_program::{elf, environment};

/// The name of standard input as a source.
const STANDARD_INPUT: &str = "-";

/// Options of this program whose value is the next argument.
const WITH_VALUE: &[&str] = &["-o", "--output", "--target", "--dump"];

fn main() -> ExitCode {
    let (own, options) = sort(std::env::args().collect());
    let arguments = Arguments::from_arg_matches(&genclc::command().version(version()).get_matches_from(own));
    let arguments = arguments.unwrap_or_else(|error| error.exit());
    if arguments.serve
        && let Err(error) = supervisor::step_aside(arguments.memory)
    {
        eprintln!("genclc: {error}");
        return ExitCode::FAILURE;
    }
    keep_memory();
    leave_deleted_directory();
    // Deeply nested sources need more stack than the main thread has.
    let thread = std::thread::Builder::new().stack_size(256 << 20);
    let worker = thread.spawn(move || {
        overflow::report();
        if arguments.serve { serve(!arguments.translations) } else { compile(&arguments, &options) }
    });
    match worker.map(std::thread::JoinHandle::join) {
        Ok(Ok(code)) => code,
        _ => ExitCode::FAILURE,
    }
}

/// Goes to the root if the current directory has been deleted, which an application need not notice: clang asks for it before it does
/// anything else, and ends the process when there is none.
fn leave_deleted_directory() {
    if std::env::current_dir().is_err() {
        // It can fail for a process without a root only.
        let _ = std::env::set_current_dir("/");
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
            && argument != STANDARD_INPUT
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
    let warm_up = if builds { server::warm_up } else { translation::warm_up };
    let service = Service { debug: &debug, idle_timeout: server::IDLE_TIMEOUT, warm_up, translate };
    match server::serve(io::stdin(), &mut io::stdout(), service) {
        // The application has ended.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("genclc: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The version, with that of clang.
fn version() -> String {
    format!("{}, {}", env!("CARGO_PKG_VERSION"), clang::version())
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
            let source = Source::read(path)?;
            good &=
                if arguments.check { check(options, &source) } else { build(arguments, options, &source)? };
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
        let before = paths.len();
        let entries = path.read_dir().map_err(|e| format!("{}: {e}", path.display()))?;
        let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        files.retain(|file| file.extension().is_some_and(|extension| extension == "cl"));
        files.sort();
        paths.extend(files);
        if paths.len() == before {
            return Err(format!("{}: there are no files *.cl in this folder", path.display()));
        }
    }
    Ok(paths)
}

/// A source and what diagnostics call it.
struct Source {
    name: String,
    text: Vec<u8>,
    /// The folder whose headers are found, as if it were the current one.
    folder: PathBuf,
}

impl Source {
    fn read(path: &Path) -> Result<Self, String> {
        if path.as_os_str() == STANDARD_INPUT {
            let mut text = Vec::new();
            io::stdin().read_to_end(&mut text).map_err(|e| format!("standard input: {e}"))?;
            return Ok(Self { name: "<stdin>".to_owned(), text, folder: ".".into() });
        }
        let text = std::fs::read(path).map_err(|e| format!("{}: {e}", path.display()))?;
        let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Ok(Self { name: path.to_string_lossy().into_owned(), text, folder: folder.to_owned() })
    }

    fn compile(&self, debug: &Debug, options: &str, target: &str) -> Outcome {
        let options = format!("{options} -I {}", quote(&self.folder.to_string_lossy()));
        let build =
            Build { source: &self.text, name: &self.name, options: &options, target, ..Build::default() };
        Driver::new(debug, &mut Printer).build(&build)
    }
}

/// Compiles a source. Returns false if it has errors, which were printed.
fn build(arguments: &Arguments, options: &str, source: &Source) -> Result<bool, String> {
    let environment = environment::trusted_value("GENCL_DEBUG").unwrap_or_default();
    let (debug, complaints) = Debug::parse(&format!("{},{}", environment.to_string_lossy(), arguments.dump));
    if let Some(complaint) = complaints.first() {
        return Err(complaint.clone());
    }
    if let Some(name) = debug.value(debug::AFTER)
        && !driver::pass_names().any(|known| known == name)
    {
        let names: Vec<_> = driver::pass_names().collect();
        return Err(format!(
            "--dump after={name}: there is no such pass; the passes are {}",
            names.join(", ")
        ));
    }
    let outcome = source.compile(&debug, options, &arguments.target);
    eprint!("{}", outcome.log);
    let Some(mut program) = outcome.program else {
        return Ok(outcome.status == Status::Success);
    };
    program.options = options.to_owned();
    if arguments.stats {
        program.kernels.iter().for_each(|kernel| print(&statistics::line(kernel, &source.name)));
    }
    if let Some(output) = &arguments.output {
        let binary = elf::write(&program).map_err(|e| e.to_string())?;
        std::fs::write(output, binary).map_err(|e| format!("{}: {e}", output.display()))?;
    } else if !arguments.stats && debug == Debug::default() {
        let (name, target, kernels) = (&source.name, &arguments.target, program.kernels.len());
        eprintln!("genclc: {name} compiles for {target} (kernels: {kernels}); -o FILE writes the program");
    }
    Ok(true)
}

/// Compiles a source for all targets, and prints each log once, with the targets that have it. Returns false if there are
/// errors on one.
fn check(options: &str, source: &Source) -> bool {
    let mut logs: Vec<(String, Vec<&str>)> = Vec::new();
    let (mut good, mut bad) = (Vec::new(), Vec::new());
    for target in Family::ALL {
        let outcome = source.compile(&Debug::default(), options, target.name());
        let list = if outcome.status == Status::Success { &mut good } else { &mut bad };
        list.push(target.name());
        match logs.iter_mut().find(|(log, _)| *log == outcome.log) {
            Some((_, targets)) => targets.push(target.name()),
            None if outcome.log.is_empty() => {}
            None => logs.push((outcome.log, vec![target.name()])),
        }
    }
    for (log, targets) in logs {
        let which =
            if targets.len() == Family::ALL.len() { "all targets".into() } else { targets.join(", ") };
        print(&format!("{}: on {which}:\n{log}", source.name));
    }
    for (verdict, targets) in [("compiles for", &good), ("fails for", &bad)] {
        if !targets.is_empty() {
            print(&format!("{} {verdict} {}\n", source.name, targets.join(", ")));
        }
    }
    bad.is_empty()
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
