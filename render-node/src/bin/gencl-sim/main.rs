//! Runs a program with a simulated Intel render node.

mod signals;
mod stats;
mod tree;

use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use clap::Parser;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use gencl_eu::device::Device;

/// Runs a program with a simulated Intel GPU at /dev/dri/renderD128.
#[derive(Parser)]
#[command(name = "gencl-sim", version)]
struct Arguments {
    /// The GPU.
    #[arg(long, value_name = "NAME", default_value = "skl", value_parser = device())]
    device: &'static Device,
    /// Report undefined behaviour of the hardware as errors.
    #[arg(long)]
    strict: bool,
    /// Print every request of the program to standard error.
    #[arg(long)]
    trace: bool,
    /// Write statistics of kernels as JSON, which gencl-stats shows; FILE.PID for further processes. With -
    /// as FILE, print a table to standard error instead.
    #[arg(long, value_name = "FILE")]
    stats: Option<PathBuf>,
    /// The program and its arguments.
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    program: Vec<OsString>,
}

/// The device of a name.
fn device() -> impl TypedValueParser<Value = &'static Device> {
    let names = Device::all().iter().map(|device| device.name);
    PossibleValuesParser::new(names).try_map(|name| Device::named(&name).ok_or("no device is called so"))
}

/// The variable with the path of the preload library. Tests set it, as cargo builds the library for them in
/// another folder.
const LIBRARY: &str = "GENCL_RENDER_NODE_LIBRARY";

/// The preload library: by the variable, or in this program's folder, or in the library folder beside that.
fn library() -> Result<PathBuf, String> {
    if let Some(path) = std::env::var_os(LIBRARY) {
        return Ok(path.into());
    }
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
    let statistics = match &arguments.stats {
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
    run(&Arguments::parse()).unwrap_or_else(|error| {
        eprintln!("gencl-sim: {error}");
        ExitCode::from(127)
    })
}
