//! A copy of the installation in a temporary folder.

use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::builds::Folder;
use crate::child::{CHILD, is_child};

/// An installation: `bin`, `lib/gencl`, and `vendors` with the `.icd` file. Removed with it.
pub struct Installation {
    _folder: Folder,
    path: PathBuf,
}

/// Programs that are installed.
const PROGRAMS: [&str; 2] = ["genclc", "gencl"];

/// Variables of the tests' own environment that an installation does without.
const UNSET: [&str; 5] =
    ["GENCL_COMPILER", "GENCL_DEBUG", "GENCL_ENGINE", "GENCL_HANG_LIMIT", "GENCL_DEVICE_TYPE"];

/// The folder of the driver under test.
fn built() -> Result<PathBuf, String> {
    let library = gencl_utest::library()?;
    Ok(library.parent().ok_or("the library is in no folder")?.to_owned())
}

impl Installation {
    /// Why there is nothing to copy. Processes of the cases have a copy already.
    pub fn missing() -> Option<String> {
        if is_child() {
            return None;
        }
        let folder = built().ok()?;
        let missing = PROGRAMS.iter().find(|name| !folder.join(name).is_file())?;
        Some(format!("{missing} is not beside the driver"))
    }

    /// A copy.
    pub fn new(name: &str) -> Result<Self, String> {
        let folder = Folder::new(&format!("broken-{name}"))?;
        let path = Path::new(folder.path()?).canonicalize().map_err(|error| error.to_string())?;
        let installation = Self { _folder: folder, path };
        installation
            .fill(&built()?)
            .map_err(|error| format!("the installation cannot be copied: {error}"))?;
        Ok(installation)
    }

    fn fill(&self, built: &Path) -> io::Result<()> {
        for folder in ["bin", "lib/gencl", "vendors", "home"] {
            std::fs::create_dir_all(self.at(folder))?;
        }
        for name in PROGRAMS {
            copy(&built.join(name), &self.at("bin").join(name))?;
        }
        std::os::unix::fs::symlink("../../bin/genclc", self.at("lib/gencl/genclc"))?;
        let library = self.at("lib/gencl/libgencl.so");
        copy(&built.join("libgencl.so"), &library)?;
        self.write("vendors/gencl.icd", &format!("{}\n", library.display()))
    }

    /// A path in it.
    pub fn at(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Writes a file that everybody may execute. What is replaced may be a link to the build's.
    pub fn write(&self, name: &str, text: &str) -> io::Result<()> {
        let path = self.at(name);
        if path.exists() {
            std::fs::remove_file(&path)?;
        }
        std::fs::write(&path, text)?;
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755))
    }

    /// Runs the program of a case, whose process is a case of this test program.
    pub fn program(&self, case: &str, variables: &[(&str, &str)]) -> Result<Output, String> {
        let own = std::env::current_exe().map_err(|error| error.to_string())?;
        self.run(Command::new(own).args(["--exact", case]).env(CHILD, "compute"), variables)
    }

    /// Runs the installed `gencl`.
    pub fn gencl(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Result<Output, String> {
        self.run(Command::new(self.at("bin/gencl")).args(arguments), variables)
    }

    fn run(&self, command: &mut Command, variables: &[(&str, &str)]) -> Result<Output, String> {
        UNSET.iter().for_each(|name| {
            command.env_remove(name);
        });
        command
            .env("OCL_ICD_VENDORS", self.at("vendors"))
            .env("HOME", self.at("home"))
            .env("PATH", self.at("bin"));
        command.env_remove("XDG_CACHE_HOME").env("GENCL_CACHE", "off").env("GENCL_DEVICE", "sim:skl");
        let here = self.path.to_string_lossy();
        command.envs(variables.iter().map(|(name, value)| (name, value.replace("{}", &here))));
        command.output().map_err(|error| error.to_string())
    }
}

/// Copies a file, as a link where that is possible.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    std::fs::hard_link(from, to).or_else(|_| std::fs::copy(from, to).map(drop))
}
