//! Runs a program with a simulated Intel render node.

mod stats;
mod tree;

use std::path::PathBuf;
use std::process::{Command, ExitCode};

use clap::Parser;
use gencl_commands::child;
use gencl_commands::sim::Arguments;

/// The variable with the path of the preload library, for the library itself too. Tests set it, as cargo builds the
/// library for them in another folder.
const LIBRARY: &str = "GENCL_RENDER_NODE_LIBRARY";

/// The preload library's name.
const NAME: &str = "libgencl_render_node.so";

/// The preload library: by the variable, or in this program's folder, or in the library folder beside that.
fn library() -> Result<PathBuf, String> {
    if let Some(path) = std::env::var_os(LIBRARY) {
        return Ok(path.into());
    }
    let program = std::env::current_exe().map_err(|e| e.to_string())?;
    let folder = program.parent().ok_or("this program is in no folder")?;
    let places = [folder.join(NAME), folder.join("../lib/gencl").join(NAME)];
    places
        .into_iter()
        .find(|path| path.exists())
        .ok_or_else(|| format!("{NAME} is not beside {}", program.display()))
}

fn run(arguments: &Arguments) -> Result<ExitCode, String> {
    let library = library().and_then(|path| std::path::absolute(path).map_err(|e| e.to_string()))?;
    let tree = tree::Tree::create(arguments.device).map_err(|e| format!("the files of the device: {e}"))?;
    let mut preload =
        tree.preloadable(&library).map_err(|e| format!("a link to {NAME}: {e}"))?.into_os_string();
    if let Some(others) = std::env::var_os("LD_PRELOAD").filter(|others| !others.is_empty()) {
        preload.push(":");
        preload.push(others);
    }
    let mut command = Command::new(&arguments.program[0]);
    command
        .args(&arguments.program[1..])
        .env("LD_PRELOAD", preload)
        .env(LIBRARY, library)
        .env("GENCL_RENDER_NODE_ROOT", tree.root())
        .env("GENCL_RENDER_NODE_DEVICE", arguments.device.name());
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
    let mut child = child::spawn(&mut command).map_err(|e| format!("{name}: {e}"))?;
    let status = child.wait().map_err(|e| format!("{name}: {e}"))?;
    if let Some(Err(error)) = statistics.map(stats::Statistics::finish) {
        eprintln!("gencl-sim: {error}");
    }
    Ok(ExitCode::from(child::exit_code(status)))
}

fn main() -> ExitCode {
    run(&Arguments::parse()).unwrap_or_else(|error| {
        eprintln!("gencl-sim: {error}");
        ExitCode::from(127)
    })
}
