//! The tools, and where they are.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use gencl_program::{environment, suggest};

/// A tool with a name of its own.
#[derive(Debug)]
pub struct Tool {
    /// `gencl NAME`
    pub name: &'static str,
    /// Description.
    pub about: &'static str,
    /// The program.
    program: &'static str,
}

/// All tools that gencl has. Others that are called `gencl-NAME` are found as well.
pub const TOOLS: &[Tool] = &[
    Tool { name: "compile", about: "Compile OpenCL C for a GPU (genclc)", program: "genclc" },
    Tool { name: "check", about: "Run a program and find faults in its kernels", program: "gencl-check" },
    Tool {
        name: "debug",
        about: "Debug the kernels that a program runs, also backwards",
        program: "gencl-debug",
    },
    Tool {
        name: "profile",
        about: "Run a program and show which lines of its kernels take the time",
        program: "gencl-profile",
    },
    Tool {
        name: "sim",
        about: "Run a program with a simulated GPU, which any OpenCL driver can use",
        program: "gencl-sim",
    },
    Tool { name: "stats", about: "Compare statistics of kernels", program: "gencl-stats" },
    Tool {
        name: "objdump",
        about: "Disassemble the kernels of a program with their source lines",
        program: "gencl-objdump",
    },
];

/// What programs of gencl begin with.
const PREFIX: &str = "gencl-";

/// The program of a tool by its name.
///
/// # Errors
/// It is not there; the text says where it was looked for.
pub fn find(name: &OsStr) -> Result<PathBuf, String> {
    let known = TOOLS.iter().find(|tool| tool.name == name);
    let program = known.map_or_else(
        || {
            let mut program = OsString::from(PREFIX);
            program.push(name);
            program
        },
        |tool| tool.program.into(),
    );
    let folders = folders();
    let found = folders.iter().map(|folder| folder.join(&program)).find(|path| path.is_file());
    found.ok_or_else(|| {
        let program = program.to_string_lossy();
        let hint = match known {
            Some(_) => {
                "; it is a part of gencl that is not installed, or in the build tree not built: make build"
                    .to_owned()
            }
            None => suggest::did_you_mean(&name.to_string_lossy(), names()),
        };
        let list: Vec<_> = folders.iter().map(|folder| folder.display().to_string()).collect();
        format!("there is no {program} in {}{hint}", list.join(", "))
    })
}

/// The names of all commands that are known.
fn names() -> impl Iterator<Item = &'static str> {
    TOOLS.iter().map(|tool| tool.name).chain(["diagnose", "cache"])
}

/// A list of the tools, with where they are.
#[must_use]
pub fn list() -> String {
    let line = |tool: &Tool| {
        let place = find(tool.name.as_ref());
        let place = place.map_or_else(|_| "(not installed)".to_owned(), |path| path.display().to_string());
        format!("{:<9} {:<72} {place}\n", tool.name, tool.about)
    };
    let own = [
        "diagnose  Say what works, and what is wrong with this installation\n",
        "cache     Show or clear the kernel cache\n",
    ];
    TOOLS.iter().map(line).chain(own.map(str::to_owned)).collect()
}

/// Folders with programs: that of this program, as it was called and as it is, the library's in the same prefix, those of `PATH`.
#[must_use]
pub fn folders() -> Vec<PathBuf> {
    let mut folders = beside(std::env::current_exe().ok().as_deref());
    let path = environment::trusted_value("PATH").unwrap_or_default();
    folders.extend(std::env::split_paths(&path).filter(|folder| folder.is_absolute()));
    folders
}

/// Folders of an installation, by the path of one of its programs.
#[must_use]
pub fn beside(program: Option<&Path>) -> Vec<PathBuf> {
    let real = program.and_then(|program| program.canonicalize().ok());
    let mut folders = Vec::new();
    for folder in [program, real.as_deref()].into_iter().flatten().filter_map(Path::parent) {
        let library = folder.parent().map(|prefix| prefix.join("lib/gencl"));
        for folder in [Some(folder.to_owned()), library].into_iter().flatten() {
            if folder.is_dir() && !folders.contains(&folder) {
                folders.push(folder);
            }
        }
    }
    folders
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_said() {
        let missing = |name: &str| find(name.as_ref()).unwrap_err();
        assert!(
            missing("profle").contains("gencl-profle")
                && missing("profle").ends_with("did you mean profile?")
        );
        assert!(!missing("nothing-like-it").contains("did you mean"));
    }

    #[test]
    fn an_installation_is_searched_from_its_programs() {
        let prefix = tempfile::tempdir().unwrap();
        let prefix = prefix.path().canonicalize().unwrap();
        for folder in ["bin", "lib/gencl", "links"] {
            std::fs::create_dir_all(prefix.join(folder)).unwrap();
        }
        std::fs::write(prefix.join("bin/gencl"), "").unwrap();
        std::os::unix::fs::symlink(prefix.join("bin/gencl"), prefix.join("links/gencl")).unwrap();
        let expected = ["bin", "lib/gencl"].map(|folder| prefix.join(folder));
        assert_eq!(beside(Some(&prefix.join("bin/gencl"))), expected);
        let of_link = beside(Some(&prefix.join("links/gencl")));
        assert!(expected.iter().all(|folder| of_link.contains(folder)), "{of_link:?}");
    }
}
