//! Runs a program so that its processes write what is profiled.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, ExitStatus};

use gencl_commands::child::{self, DEBUG, NotRun, VENDORS};

use crate::collect::{self, COUNTS, Collected};

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
            // Its processes write counts and programs.
            None => child::with_driver(self.command, self.device, &self.options(folder.path())),
        };
        let status = child::run(&mut command)?;
        Ok((status, collect::collect(folder.path())))
    }

    /// gencl's debug options for a profile in a folder.
    fn options(self, folder: &Path) -> OsString {
        let mut debug = OsString::from("profile=");
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
        let mut command = Command::new(child::beside("gencl-sim").unwrap_or_else(|| "gencl-sim".into()));
        if let Some(device) = self.device {
            command.args(["--device", device]);
        }
        command.arg("--stats").arg(folder.join(COUNTS)).arg("--").args(self.command);
        let driver = std::path::absolute(driver).map_err(|error| format!("{}: {error}", driver.display()))?;
        command.env(VENDORS, driver).env(DEBUG, child::debug_options(&self.options(folder)));
        Ok(command)
    }
}
