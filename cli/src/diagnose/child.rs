//! Parts of the diagnosis in processes of their own: drivers may crash, and print what the report says already.

use std::ffi::OsStr;
use std::process::{Command, Stdio};

/// Runs this program's diagnosis with an option for a library. Returns its output.
///
/// # Errors
/// It has failed; the text is its output, or how it has ended.
pub(super) fn run(option: &str, library: &OsStr) -> Result<String, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut command = Command::new(program);
    command.args(["diagnose", option]).arg(library).stdin(Stdio::null()).stderr(Stdio::null());
    let output = command.output().map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    match output.status.success() {
        true => Ok(text),
        false if text.is_empty() => Err(format!("the library has ended the process ({})", output.status)),
        false => Err(text),
    }
}
