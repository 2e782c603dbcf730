//! What a profile needs besides the simulator's counts (`GENCL_DEBUG=profile=FOLDER`): the programs with
//! their line tables, and a [trace](crate::trace).
//!
//! Each process writes to a folder `FOLDER/PID`: `counts.json` at its end, `programs/N.elf` when a program is
//! built, with N from 1, and `trace.jsonl`.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use gencl_program::debug::{self, Debug};
use gencl_program::report;

use crate::sync::Mutex;

/// The folder of this process, if a profile is asked for.
fn folder() -> Option<PathBuf> {
    let (debug, _) = Debug::from_environment();
    debug.value(debug::PROFILE).map(|folder| PathBuf::from(folder).join(std::process::id().to_string()))
}

/// Whether a profile has what translated code counts.
pub fn is_fast() -> bool {
    let (debug, _) = Debug::from_environment();
    debug.is_set(debug::FAST_PROFILE)
}

/// A file of this process, in a folder that exists. `None` when no profile is asked for, or the folder cannot
/// be made, which is reported.
pub fn file(name: &str) -> Option<PathBuf> {
    let folder = folder()?;
    match std::fs::create_dir_all(&folder) {
        Ok(()) => Some(folder.join(name)),
        Err(error) => {
            report::once("profile", &format!("no profile is written: {}: {error}", folder.display()));
            None
        }
    }
}

/// Writes an executable (an ELF file) for the profile, if one is asked for and it is not there already.
pub fn keep(executable: &Arc<[u8]>) {
    static KEPT: Mutex<BTreeSet<Arc<[u8]>>> = Mutex::new(BTreeSet::new());
    let Some(folder) = folder().map(|folder| folder.join("programs")) else { return };
    let mut kept = KEPT.lock();
    if kept.insert(executable.clone()) {
        let path = folder.join(format!("{}.elf", kept.len()));
        let written = std::fs::create_dir_all(&folder).and_then(|()| std::fs::write(&path, executable));
        if let Err(error) = written {
            report::once("profile", &format!("the profile lacks a program: {}: {error}", path.display()));
        }
    }
}
