//! Runs a program so that its processes write what is profiled.

use std::ffi::{OsStr, OsString};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

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
    /// Another driver than gencl, by its `.icd` file.
    pub driver: Option<&'a Path>,
}

impl Run<'_> {
    /// Runs the program, and joins what it has written.
    ///
    /// # Errors
    /// A program that cannot be started. There may be no profile of one that was run.
    pub fn profile(self) -> Result<(ExitStatus, Result<Collected, String>), String> {
        let folder = tempfile::Builder::new().prefix("gencl-profile-").tempdir();
        let folder = folder.map_err(|error| format!("a temporary folder: {error}"))?;
        let mut command = match self.driver {
            Some(driver) => self.through_render_node(driver, folder.path())?,
            None => self.in_process(folder.path()),
        };
        let name = self.command[0].to_string_lossy();
        let status = command.status().map_err(|error| format!("{name}: {error}"))?;
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

/// The exit status as shells give it.
pub fn exit_code(status: ExitStatus) -> u8 {
    let code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0));
    u8::try_from(code).unwrap_or(u8::MAX)
}
