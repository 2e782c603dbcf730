//! The linker's part of the ICD: the library's name and its `.icd` file for tests. And the commit, for `gencl diagnose`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo:rerun-if-changed=build.rs");
    if let Some(commit) = git(&["rev-parse", "--short=12", "HEAD"]) {
        println!("cargo:rustc-env=GENCL_COMMIT={commit}");
        // The log of HEAD changes with each commit and each change of the branch.
        if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"]) {
            println!("cargo:rerun-if-changed={log}");
        }
    }
    for argument in [
        "-soname,libgencl.so",
        // Calls and the dispatch table stay within the library, although libOpenCL.so has functions of the
        // same names.
        "-Bsymbolic",
        // The runtime's threads may still run when the application closes the library.
        "-z,nodelete",
    ] {
        println!("cargo:rustc-cdylib-link-arg=-Wl,{argument}");
    }
    // A folder of its own: Debian's ICD loader takes a file in OCL_ICD_VENDORS as well, Khronos' only
    // folders.
    let directory = target_directory();
    let vendors = directory.join("vendors");
    fs::create_dir_all(&vendors)?;
    fs::write(vendors.join("gencl.icd"), format!("{}\n", directory.join("libgencl.so").display()))
}

/// Where cargo puts the library: `target/PROFILE`, of which the output directory of build scripts,
/// `target/PROFILE/build/NAME-HASH/out`, is a part.
fn target_directory() -> PathBuf {
    let out = env::var_os("OUT_DIR").expect("cargo sets OUT_DIR");
    Path::new(&out).ancestors().nth(3).expect("OUT_DIR is below target/PROFILE/build").to_owned()
}

/// The output of git, where this is a checkout and git is installed.
fn git(arguments: &[&str]) -> Option<String> {
    let output =
        Command::new("git").args(arguments).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}
