//! Runs a program with a simulated Intel render node.

mod signals;
mod stats;
mod tree;

use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use gencl_simulator::device::Device;

const USAGE: &str = "\
usage: gencl-sim [--device NAME] [--strict] [--trace] [--stats FILE] [--] PROGRAM [ARGUMENT...]

Runs a program to which a simulated Intel GPU is shown as /dev/dri/renderD128.

  --device NAME  the GPU (default: skl)
  --strict       refuse what the hardware leaves undefined
  --trace        print every request of the program to standard error
  --stats FILE   write what kernels executed and took as JSON, which gencl-stats shows; FILE.PID for further processes;
                 - prints a table to standard error instead";

/// What the command line asks for.
struct Arguments {
    device: &'static Device,
    strict: bool,
    trace: bool,
    statistics: Option<PathBuf>,
    program: Vec<std::ffi::OsString>,
}

fn arguments() -> Result<Arguments, String> {
    let mut given = std::env::args_os().skip(1).peekable();
    let (mut name, mut strict, mut trace, mut statistics) = ("skl".to_owned(), false, false, None);
    while let Some(argument) = given.next_if(|a| a.to_str().is_some_and(|a| a.starts_with('-'))) {
        match argument.to_str() {
            Some("--device") => {
                let value = given.next().ok_or("--device needs a name")?;
                name = value.to_string_lossy().into_owned();
            }
            Some("--stats") => statistics = Some(given.next().ok_or("--stats needs a file or -")?.into()),
            Some("--strict") => strict = true,
            Some("--trace") => trace = true,
            Some("--") => break,
            _ => return Err(format!("unknown option {}", argument.to_string_lossy())),
        }
    }
    let device = Device::named(&name).ok_or_else(|| {
        let names: Vec<_> = Device::all().iter().map(|d| d.name).collect();
        format!("no device is called {name}; there are: {}", names.join(", "))
    })?;
    let program: Vec<_> = given.collect();
    if program.is_empty() {
        return Err("which program?".into());
    }
    Ok(Arguments { device, strict, trace, statistics, program })
}

/// The preload library: beside this program, or in the library folder beside its folder.
fn library() -> Result<PathBuf, String> {
    const NAME: &str = "libgencl_render_node.so";
    let program = std::env::current_exe().map_err(|e| e.to_string())?;
    let folder = program.parent().ok_or("this program is in no folder")?;
    let places = [folder.join(NAME), folder.join("../lib/gencl").join(NAME)];
    places
        .into_iter()
        .find(|path| path.exists())
        .ok_or_else(|| format!("{NAME} is not beside {}", program.display()))
}

fn run(arguments: &Arguments) -> Result<ExitCode, String> {
    let library = library()?;
    let tree = tree::Tree::create(arguments.device).map_err(|e| format!("the files of the device: {e}"))?;
    let mut preload = library.into_os_string();
    if let Some(others) = std::env::var_os("LD_PRELOAD").filter(|others| !others.is_empty()) {
        preload.push(":");
        preload.push(others);
    }
    let mut command = Command::new(&arguments.program[0]);
    command
        .args(&arguments.program[1..])
        .env("LD_PRELOAD", preload)
        .env("GENCL_RENDER_NODE_ROOT", tree.root())
        .env("GENCL_RENDER_NODE_DEVICE", arguments.device.name);
    for (set, variable) in
        [(arguments.strict, "GENCL_RENDER_NODE_STRICT"), (arguments.trace, "GENCL_RENDER_NODE_TRACE")]
    {
        if set {
            command.env(variable, "1");
        }
    }
    let statistics = match &arguments.statistics {
        None => None,
        Some(path) => Some(stats::Statistics::new(path, tree.root())?),
    };
    if let Some(statistics) = &statistics {
        command.env("GENCL_RENDER_NODE_STATISTICS", statistics.path());
    }
    let name = arguments.program[0].to_string_lossy();
    let mut child = signals::spawn(&mut command).map_err(|e| format!("{name}: {e}"))?;
    let status = child.wait().map_err(|e| format!("{name}: {e}"))?;
    if let Some(Err(error)) = statistics.map(stats::Statistics::finish) {
        eprintln!("gencl-sim: {error}");
    }
    // As shells do for signals.
    let code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0));
    Ok(ExitCode::from(u8::try_from(code).unwrap_or(u8::MAX)))
}

fn main() -> ExitCode {
    let arguments = match arguments() {
        Ok(arguments) => arguments,
        Err(error) => {
            eprintln!("gencl-sim: {error}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    run(&arguments).unwrap_or_else(|error| {
        eprintln!("gencl-sim: {error}");
        ExitCode::from(127)
    })
}
