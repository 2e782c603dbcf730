//! Runs a program so that its processes write what is profiled.

use std::ffi::{OsStr, OsString};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use gencl_commands::child;

use crate::collect::{self, COUNTS, Collected};

/// The variable with gencl's debug options.
const DEBUG: &str = "GENCL_DEBUG";
/// The variable with the folder, or the file, that names the drivers of the ICD loader.
const VENDORS: &str = "OCL_ICD_VENDORS";

/// A program to be profiled.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    /// The program and its arguments.
    pub command: &'a [OsString],
    /// The simulated device; `None` for that of the environment.
    pub device: Option<&'a str>,
    /// Translated code counts executions and lanes.
    pub fast: bool,
    /// Ranges of numbers of the launches that are counted; all when there are none.
    pub launches: &'a [String],
    /// Names of the kernels that are counted; all when there are none.
    pub kernels: &'a [String],
    /// Another driver than gencl, by its `.icd` file.
    pub driver: Option<&'a Path>,
}

/// Why a program could not be run.
#[derive(Debug)]
pub struct NotRun {
    /// What failed.
    pub reason: String,
    /// The exit status, as shells give it: 127 for a program that does not exist, 126 for one that cannot be executed, and 125 where
    /// the profiler itself failed.
    pub status: u8,
}

impl From<String> for NotRun {
    fn from(reason: String) -> NotRun {
        NotRun { reason, status: 125 }
    }
}

impl Run<'_> {
    /// Whether what it needs is there.
    ///
    /// # Errors
    /// What is missing.
    pub fn check(self) -> Result<(), String> {
        let Some(driver) = self.driver else { return Ok(()) };
        std::fs::metadata(driver).map(drop).map_err(|error| format!("{}: {error}", driver.display()))
    }

    /// Runs the program, and joins what it has written.
    ///
    /// # Errors
    /// A program that cannot be started. There may be no profile of one that was run.
    pub fn profile(self) -> Result<(ExitStatus, Result<Collected, String>), NotRun> {
        let folder = tempfile::Builder::new().prefix("gencl-profile-").tempdir();
        let folder = folder.map_err(|error| format!("a temporary folder: {error}"))?;
        let mut command = match self.driver {
            Some(driver) => self.through_render_node(driver, folder.path())?,
            None => self.in_process(folder.path()),
        };
        let name = self.command[0].to_string_lossy();
        let ended = child::spawn(&mut command).and_then(|mut child| child.wait());
        let status = ended.map_err(|error| NotRun {
            reason: format!("{name}: {error}"),
            status: if error.kind() == ErrorKind::NotFound { 127 } else { 126 },
        })?;
        Ok((status, collect::collect(folder.path())))
    }

    /// The program with gencl, whose processes write counts and programs.
    fn in_process(self, folder: &Path) -> Command {
        let mut command = Command::new(&self.command[0]);
        command.args(&self.command[1..]);
        command.env(DEBUG, self.debug_options(folder));
        if let Some(device) = self.device {
            command.env("GENCL_DEVICE", format!("sim:{device}"));
        }
        // In the build tree, and in a prefix that the ICD loader does not search.
        let vendors = beside("vendors").or_else(|| beside("../etc/OpenCL/vendors"));
        if let Some(vendors) = vendors.filter(|_| std::env::var_os(VENDORS).is_none()) {
            command.env(VENDORS, vendors);
        }
        command
    }

    /// gencl's debug options, with that for a profile in a folder.
    fn debug_options(self, folder: &Path) -> OsString {
        let mut debug = std::env::var_os(DEBUG).filter(|debug| !debug.is_empty()).unwrap_or_default();
        if !debug.is_empty() {
            debug.push(",");
        }
        debug.push("profile=");
        debug.push(folder);
        if self.fast {
            debug.push(",fast-profile");
        }
        for (option, selected) in [("profile-launches", self.launches), ("profile-kernels", self.kernels)] {
            if !selected.is_empty() {
                debug.push(format!(",{option}={}", selected.join("+")));
            }
        }
        debug
    }

    /// The program with another driver, whose launches the render node counts.
    fn through_render_node(self, driver: &Path, folder: &Path) -> Result<Command, String> {
        let mut command = Command::new(beside("gencl-sim").unwrap_or_else(|| "gencl-sim".into()));
        if let Some(device) = self.device {
            command.args(["--device", device]);
        }
        command.arg("--stats").arg(folder.join(COUNTS)).arg("--").args(self.command);
        let driver = std::path::absolute(driver).map_err(|error| format!("{}: {error}", driver.display()))?;
        command.env(VENDORS, driver).env(DEBUG, self.debug_options(folder));
        Ok(command)
    }
}

/// A file in the folder of this program, if there is one.
fn beside(name: impl AsRef<OsStr>) -> Option<PathBuf> {
    let path = std::env::current_exe().ok()?.parent()?.join(name.as_ref());
    path.exists().then_some(path)
}
