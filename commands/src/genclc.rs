//! `genclc`.

use std::path::PathBuf;

use clap::{CommandFactory, Parser};
use gencl_program::debug;

/// Compiles OpenCL C for Intel Gen graphics.
///
/// Build options are those of clBuildProgram: -D, -U, -I, -cl-std=, -cl-fast-relaxed-math, -w and so on.
#[derive(Parser)]
#[command(name = "genclc", version)]
pub struct Arguments {
    /// OpenCL C sources; for a folder, the files *.cl in it; - is standard input.
    #[arg(required_unless_present = "serve")]
    pub sources: Vec<PathBuf>,
    /// The output of a single source, an ELF file. Without it, sources are only checked.
    #[arg(short, long)]
    pub output: Option<PathBuf>,
    /// The GPU to compile for.
    #[arg(long, default_value = "skl")]
    pub target: String,
    /// Print ast, llvm, ir, asm, stats (any of the debug options), separated by commas.
    #[arg(long, default_value = "")]
    pub dump: String,
    /// Print a table with a line for each kernel, with the sizes of its code.
    #[arg(long)]
    pub stats: bool,
    /// Compile for all targets, and say what is wrong on which.
    #[arg(long, conflicts_with_all = ["output", "target", "dump", "stats"])]
    pub check: bool,
    /// Serve builds on standard input and output, for the runtime.
    #[arg(long)]
    pub serve: bool,
    /// With --serve: expect requests to translate machine code instead of builds.
    #[arg(long, requires = "serve")]
    pub translations: bool,
    /// With --serve on a socket: the memory limit of a build in MiB.
    #[arg(long, requires = "serve", default_value_t = u64::MAX)]
    pub memory: u64,
}

/// The command line, with the debug options below its help.
#[must_use]
pub fn command() -> clap::Command {
    let options = format!("Debug options, for --dump and the variable GENCL_DEBUG:\n{}", debug::help());
    Arguments::command().after_help(options)
}
