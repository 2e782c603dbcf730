//! A set-user-id program whose user tries to have the driver run, read and write what he wants.

use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use gencl_utest::{Case, Outcome};

use crate::builds::{Folder, files, run_good};
use crate::child::{self, CHILD};

const NAME: &str = "privileges_environment";

/// The user whose rights the program has, and the one that starts it; they need not exist.
const OWNER: u32 = 64_001;
const USER: u32 = 64_002;

/// What the user sets, each in a run of its own.
const VARIABLES: [&str; 8] = [
    "GENCL_COMPILER",
    "GENCL_CACHE",
    "GENCL_DEBUG",
    "GENCL_DEVICE",
    "PATH",
    "HOME",
    "XDG_CACHE_HOME",
    "TMPDIR",
];

pub fn cases() -> Vec<Case> {
    vec![Case::of_gencl("its own compiler", NAME, environment).skipped_for(missing())]
}

/// Why nothing can be tried here.
fn missing() -> Option<String> {
    // SAFETY: no arguments.
    let root = unsafe { libc::geteuid() } == 0;
    (!root && !child::is_child()).then(|| "only root makes set-user-id programs of others".to_owned())
}

/// No variable counts that names a program, a file or a folder, and the kernel computes: by the compiler that
/// is beside the library.
fn environment() -> Outcome {
    if child::is_child() {
        return run_good();
    }
    let trial = Trial::new()?;
    // That the variables are such as would count.
    trial.allow(0o755)?;
    trial.run("GENCL_COMPILER")?;
    if !trial.hostile.join("ran").exists() {
        return Err("a plain program does not run what GENCL_COMPILER names".into());
    }
    std::fs::remove_file(trial.hostile.join("ran")).map_err(text)?;
    let before = files(&trial.hostile)?;
    for variable in ["GENCL_CACHE", "GENCL_DEBUG"] {
        let plain = trial.run(variable)?;
        let after = files(&trial.hostile)?;
        let written: Vec<_> = after.iter().filter(|file| !before.contains(file)).collect();
        if !plain.status.success() || written.is_empty() {
            return Err(format!("{variable}: a plain program has written {written:?}: {plain:?}"));
        }
        written.into_iter().try_for_each(std::fs::remove_file).map_err(text)?;
    }
    trial.allow(0o4755)?;
    for variable in VARIABLES {
        let raised = trial.run(variable)?;
        let after = files(&trial.hostile)?;
        if !raised.status.success() || after != before {
            return Err(format!("{variable}: {after:?}, {before:?} before; {raised:?}"));
        }
    }
    Ok(())
}

/// An installed driver, this program as another user's, and a folder where everybody may write.
struct Trial {
    folder: Folder,
    hostile: PathBuf,
    program: PathBuf,
}

impl Trial {
    fn new() -> Result<Self, String> {
        let folder = Folder::new("privileges")?;
        let path = Path::new(folder.path()?);
        // Other users run what is in it, whatever the umask.
        mode(path, 0o755)?;
        let copy = |from: &Path, to: &str| {
            let to = path.join(to);
            std::fs::copy(from, &to).map_err(|error| format!("{}: {error}", from.display()))?;
            mode(&to, 0o755).map(|()| to)
        };
        let library = copy(&gencl_utest::library()?, "libgencl.so")?;
        let compiler = std::env::var_os("GENCL_COMPILER").map(PathBuf::from);
        copy(&compiler.ok_or("GENCL_COMPILER is not set")?, "genclc")?;
        let icd = path.join("gencl.icd");
        std::fs::write(&icd, library.as_os_str().as_encoded_bytes()).map_err(text)?;
        mode(&icd, 0o644)?;
        let program = copy(&std::env::current_exe().map_err(text)?, "program")?;
        let hostile = path.join("hostile");
        for (name, owner) in [("", USER), ("cache", OWNER), ("home", OWNER)] {
            let folder = hostile.join(name);
            std::fs::create_dir(&folder).map_err(text)?;
            mode(&folder, 0o700)?;
            chown(&folder, Some(owner), Some(owner)).map_err(text)?;
        }
        mode(&hostile, 0o777)?;
        let genclc = hostile.join("genclc");
        let script = format!("#!/bin/sh\n: >'{}'\n", hostile.join("ran").display());
        std::fs::write(&genclc, script).map_err(text)?;
        mode(&genclc, 0o755)?;
        // A device file of an unknown user.
        symlink("/dev/null", hostile.join("node")).map_err(text)?;
        Ok(Self { hostile, program, folder })
    }

    /// Gives the program its mode, as its owner's: a change of the owner takes rights away.
    fn allow(&self, bits: u32) -> Outcome {
        chown(&self.program, Some(OWNER), Some(OWNER)).map_err(text)?;
        mode(&self.program, bits)
    }

    /// Runs the program as the user, or as its owner if it is not set-user-id, with a variable set to what
    /// the user wants.
    fn run(&self, variable: &str) -> Result<Output, String> {
        let at = |name: &str| self.hostile.join(name).display().to_string();
        let value = match variable {
            "GENCL_COMPILER" => at("genclc"),
            "GENCL_DEBUG" => format!("profile={},translations={}", at("profile"), at("")),
            "GENCL_DEVICE" => at("node"),
            // Empty parts, which mean the working directory.
            "PATH" => format!(":{}:", at("")),
            "HOME" => at("home"),
            _ => at("cache"),
        };
        let raised = std::fs::metadata(&self.program).map_err(text)?.permissions().mode() & 0o4000 != 0;
        let user = if raised { USER } else { OWNER };
        let mut command = Command::new(&self.program);
        command.args(["--exact", NAME]).env_clear().current_dir(&self.hostile).uid(user).gid(user);
        command
            .env(CHILD, "compute")
            .env("OCL_ICD_VENDORS", Path::new(self.folder.path()?).join("gencl.icd"));
        command.env(variable, value);
        command.output().map_err(text)
    }
}

fn mode(path: &Path, bits: u32) -> Outcome {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(bits)).map_err(text)
}

fn text(error: std::io::Error) -> String {
    error.to_string()
}
