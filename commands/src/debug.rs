//! `gencl-debug`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Parser;
use clap::builder::PossibleValuesParser;
use gencl_program::tools::Tools;

use crate::device_name;

/// Debugs the OpenCL kernels that a program runs on the simulated GPU, also backwards.
#[derive(Parser)]
#[command(name = "gencl-debug", version, arg_required_else_help = true, after_help = MORE)]
pub struct Arguments {
    /// The simulated device.
    #[arg(long, value_name = "NAME", value_parser = device_name())]
    pub device: Option<String>,
    /// Check kernels as gencl-check does, but for data races, by its tools or these, separated by commas, and stop where a
    /// check fails.
    #[arg(long, value_name = "TOOLS", num_args = 0..=1, require_equals = true, value_delimiter = ',', value_parser = PossibleValuesParser::new(Tools::OF_CODE), conflicts_with = "dap")]
    pub check: Option<Vec<String>>,
    /// Start gdb instead, which takes the commands; it is told of the first program whose kernel is launched.
    #[arg(long, conflicts_with = "dap")]
    pub gdb: bool,
    /// Speak the Debug Adapter Protocol on standard input and output instead, with an editor that says which program.
    #[arg(long, conflicts_with_all = ["command", "eval", "program"])]
    pub dap: bool,
    /// Commands of the prompt, one a line, that are executed first.
    #[arg(short = 'x', long, value_name = "FILE")]
    pub command: Option<PathBuf>,
    /// A command of the prompt that is executed first; several in their order.
    #[arg(short, long, value_name = "COMMAND")]
    pub eval: Vec<String>,
    /// The program and its arguments.
    #[arg(last = true, required_unless_present = "dap")]
    pub program: Vec<OsString>,
}

const MORE: &str = "The prompt's command `help` lists the others.

Exit status:
  that of the program, if it has ended; 0 if the debugger has ended it
  125       gencl-debug itself failed
  126, 127  the program cannot be executed, or is not there";
