//! Which driver is tested: the one of this build, unless the environment names another one.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Sets the variables that choose the driver where none does, and builds the driver first, as `cargo test`
/// builds no shared library that no test is linked to. To be called before there are threads and before the
/// ICD loader is asked for anything.
pub(crate) fn choose() -> Result<(), String> {
    if env::var_os("OCL_ICD_VENDORS").is_some() {
        return Ok(());
    }
    let program = env::current_exe().map_err(|error| error.to_string())?;
    // target/PROFILE/deps/utest-HASH
    let folder = program.ancestors().nth(2).ok_or("this program is in no folder")?;
    build(folder)?;
    let compiler = folder.join("genclc");
    let variables: [(&str, PathBuf); 3] = [
        ("OCL_ICD_VENDORS", folder.join("vendors")),
        ("GENCL_COMPILER", compiler),
        ("GENCL_CACHE", "off".into()),
    ];
    for (name, value) in variables {
        // SAFETY: there is one thread yet.
        unsafe { env::set_var(name, value) };
    }
    Ok(())
}

/// The library under test, as the ICD loader finds it: `OCL_ICD_VENDORS` is a file with its path, or a folder
/// with such a file.
pub fn library() -> Result<PathBuf, String> {
    let vendors = PathBuf::from(env::var_os("OCL_ICD_VENDORS").ok_or("OCL_ICD_VENDORS is not set")?);
    let text = |error: std::io::Error| format!("{}: {error}", vendors.display());
    let file = match vendors.is_dir() {
        true => vendors.read_dir().map_err(text)?.next().ok_or("no driver")?.map_err(text)?.path(),
        false => vendors.clone(),
    };
    Ok(std::fs::read_to_string(file).map_err(text)?.trim().into())
}

/// Builds library and compiler of the profile whose folder this is.
fn build(folder: &Path) -> Result<(), String> {
    let profile = match folder.file_name().and_then(|name| name.to_str()) {
        Some("debug") => "dev",
        Some(profile) => profile,
        None => return Err(format!("{} is not a profile's folder", folder.display())),
    };
    let arguments = [
        "build",
        "--quiet",
        "--profile",
        profile,
        "-p",
        "gencl",
        "-p",
        "gencl-compiler",
        "-p",
        "gencl-render-node",
        "-p",
        "gencl-cli",
    ];
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(arguments).current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    match cargo.status() {
        Ok(status) if status.success() => Ok(()),
        other => Err(format!(
            "the driver to be tested cannot be built ({other:?}); run `cargo {}`, or name a driver by OCL_ICD_VENDORS",
            arguments.join(" ")
        )),
    }
}
