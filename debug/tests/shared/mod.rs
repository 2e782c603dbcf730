//! Shared by the tests: the debugger of this build, and the example, whose sums are wrong.

use std::path::{Path, PathBuf};
use std::process::Command;

use gencl_testing::c_program::CProgram;
use gencl_testing::harness;

const DEBUGGER: &str = env!("CARGO_BIN_EXE_gencl-debug");

const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/reduction");

/// Why programs cannot be run.
pub fn missing() -> Option<String> {
    let folder = Path::new(DEBUGGER).parent()?;
    let file = ["libgencl.so", "genclc"].into_iter().find(|file| !folder.join(file).exists());
    file.map(|file| format!("{file} is not built")).or_else(|| harness::missing_programs(&["cc"]))
}

/// The debugger, without what the environment says of gencl.
pub fn debugger() -> Command {
    let mut command = Command::new(DEBUGGER);
    for variable in ["OCL_ICD_VENDORS", "GENCL_COMPILER", "GENCL_DEVICE", "GENCL_DEBUG"] {
        command.env_remove(variable);
    }
    command.env("GENCL_CACHE", "off");
    command
}

/// The example.
pub fn example() -> Result<CProgram, String> {
    CProgram::new(&Path::new(EXAMPLE).join("reduction.c"))
}

/// The file with its kernel.
pub fn kernel() -> PathBuf {
    Path::new(EXAMPLE).join("sum.cl")
}

/// A file beside a program: its kernel with a text in place of another one.
pub fn changed_kernel(program: &CProgram, (from, to): (&str, &str)) -> Result<PathBuf, String> {
    let text = std::fs::read_to_string(kernel()).map_err(|error| error.to_string())?;
    if !text.contains(from) {
        return Err(format!("the kernel has no {from}"));
    }
    let file = program.path("changed.cl");
    std::fs::write(&file, text.replace(from, to)).map_err(|error| error.to_string())?;
    Ok(file)
}

/// Has the loop never end.
pub const ENDLESS: (&str, &str) = ("step /= 2", "step /= 1");

/// Has the last work-group write behind the end of a buffer.
pub const OUT_OF_BOUNDS: (&str, &str) = ("sums[get_group_id(0)] =", "sums[get_group_id(0) + 1] =");
