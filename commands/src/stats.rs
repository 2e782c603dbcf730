//! `gencl-stats`.

use std::path::PathBuf;

use clap::Parser;

/// Prints a line for each kernel, or the instructions of one kernel with their counters, or two drivers'
/// kernels side by side.
#[derive(Parser)]
#[command(name = "gencl-stats", version)]
pub struct Arguments {
    /// The statistics file.
    #[arg(required_unless_present = "compare")]
    pub file: Option<PathBuf>,
    /// The kernel whose instructions are printed: the beginning of its hash, or its number in the table, from
    /// 1.
    #[arg(long, value_name = "KERNEL")]
    pub annotate: Option<String>,
    /// Two drivers' folders with a file PROGRAM.json for each program: a Markdown table of both.
    #[arg(long, value_name = "FOLDER", num_args = 2, conflicts_with_all = ["file", "annotate"])]
    pub compare: Option<Vec<PathBuf>>,
}
