//! What tests of profiled programs share.

use std::path::{Path, PathBuf};
use std::process::Command;

use gencl_testing::c_program::CProgram;
use gencl_testing::harness;

/// The profiler.
pub const PROFILER: &str = env!("CARGO_BIN_EXE_gencl-profile");

/// Why programs cannot be run.
pub fn missing() -> Option<String> {
    let folder = Path::new(PROFILER).parent()?;
    let file = ["libgencl.so", "genclc"].into_iter().find(|file| !folder.join(file).exists());
    file.map(|file| format!("{file} is not built")).or_else(|| harness::missing_programs(&["cc"]))
}

/// A compiled program, with profiles of it in its folder.
pub struct Program(CProgram);

impl Program {
    /// Compiles a C file.
    pub fn new(source: &Path) -> Result<Program, String> {
        CProgram::new(source).map(Program)
    }

    /// A file in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path(name)
    }

    /// The program.
    pub fn program(&self) -> PathBuf {
        self.0.program()
    }

    /// The profiler with options, which writes to a folder; the program's command is to be added.
    pub fn profiler(&self, options: &[&str], output: &str) -> Command {
        // A job that a shell starts in the background ignores SIGINT, and so would the profiler.
        let mut command = Command::new("env");
        command
            .args(["--default-signal=INT", PROFILER])
            .args(options)
            .arg("--output")
            .arg(self.path(output))
            .arg("--");
        for variable in ["OCL_ICD_VENDORS", "GENCL_COMPILER", "GENCL_DEVICE", "GENCL_DEBUG"] {
            command.env_remove(variable);
        }
        command.env("GENCL_CACHE", "off");
        command
    }
}
