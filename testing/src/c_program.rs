//! OpenCL programs in C that tests compile and run.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A compiled program, in a folder that goes with it.
pub struct CProgram {
    folder: tempfile::TempDir,
    name: String,
}

impl CProgram {
    /// Compiles a C file.
    ///
    /// # Errors
    /// What the compiler has returned.
    pub fn new(source: &Path) -> Result<Self, String> {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let name = source.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let mut compiler = Command::new("cc");
        compiler.arg(source).arg("-o").arg(folder.path().join(&name)).args(["-O2", "-g", "-lOpenCL", "-lm"]);
        match compiler.status() {
            Ok(status) if status.success() => Ok(Self { folder, name }),
            other => Err(format!("cc: {other:?}")),
        }
    }

    /// A file in the folder.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The program.
    #[must_use]
    pub fn program(&self) -> PathBuf {
        self.path(&self.name)
    }
}
