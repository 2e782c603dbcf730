//! What a profile needs besides the simulator's counts (`GENCL_DEBUG=profile=FOLDER`): the programs with
//! their line tables, and a [trace](crate::trace).
//!
//! Each process writes to a folder `FOLDER/PID`: `counts.json` at its end, `programs/N.elf` when a program is
//! built, with N the number of its first kernel, and `trace.jsonl`. Batches mark launches with the numbers of launch and
//! kernel ([`LaunchMark`]), since equal code, and even its address, may be that of several kernels.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use gencl_eu::dispatch::LaunchMark;
use gencl_program::debug::{self, Debug};
use gencl_program::report;

use crate::sync::Mutex;

/// The folder of this process, if one of these options is set, which are folders.
fn folder(options: &[&str]) -> Option<PathBuf> {
    let (debug, _) = Debug::from_environment();
    let folder = options.iter().find_map(|option| debug.value(option));
    folder.map(|folder| PathBuf::from(folder).join(std::process::id().to_string()))
}

/// Whether a profile has what translated code counts.
pub fn is_fast() -> bool {
    let (debug, _) = Debug::from_environment();
    debug.is_set(debug::FAST_PROFILE)
}

/// A file of this process, in a folder that exists. `None` when no profile is asked for, or the folder cannot
/// be made, which is reported.
pub fn file(name: &str) -> Option<PathBuf> {
    let folder = folder(&[debug::PROFILE])?;
    match std::fs::create_dir_all(&folder) {
        Ok(()) => Some(folder.join(name)),
        Err(error) => {
            report::once("profile", &format!("no profile is written: {}: {error}", folder.display()));
            None
        }
    }
}

/// Programs that have been written, with the numbers of their first kernels.
#[derive(Default)]
struct Kept {
    programs: BTreeMap<Arc<[u8]>, u32>,
    /// Number of their kernels.
    kernels: u32,
}

/// Writes an executable (an ELF file) for the profile or the debugger, if there is one and it is not there already. Returns the
/// number of its first kernel, which is that of the file: equal executables have the same. 0 without either.
pub fn keep(executable: &Arc<[u8]>, kernels: usize) -> u32 {
    static KEPT: Mutex<Kept> = Mutex::new(Kept { programs: BTreeMap::new(), kernels: 0 });
    let Some(folder) = folder(&[debug::PROFILE, debug::DEBUGGER]) else { return 0 };
    let folder = folder.join("programs");
    let mut kept = KEPT.lock();
    if let Some(first) = kept.programs.get(executable) {
        return *first;
    }
    let first = kept.kernels + 1;
    kept.kernels += kernels as u32;
    kept.programs.insert(executable.clone(), first);
    let path = folder.join(format!("{first}.elf"));
    let written = std::fs::create_dir_all(&folder).and_then(|()| std::fs::write(&path, executable));
    if let Err(error) = written {
        report::once("profile", &format!("the profile lacks a program: {}: {error}", path.display()));
    }
    first
}

/// The launches that a profile counts.
struct Selection {
    /// First and last; all when there are none.
    launches: Vec<(u32, u32)>,
    /// Names; all when there are none.
    kernels: Vec<String>,
}

impl Selection {
    fn of(debug: &Debug) -> Self {
        let words = |name| debug.value(name).unwrap_or_default().split('+').filter(|word| !word.is_empty());
        let range = |word: &str| {
            let (first, last) = word.split_once('-').unwrap_or((word, word));
            let range = (first.parse().ok()?, last.parse().ok()?);
            Some(range)
        };
        Self {
            launches: words(debug::PROFILE_LAUNCHES).filter_map(range).collect(),
            kernels: words(debug::PROFILE_KERNELS).map(str::to_owned).collect(),
        }
    }

    fn has(&self, launch: u32, kernel: &str) -> bool {
        let in_range = |(first, last): &(u32, u32)| (*first..=*last).contains(&launch);
        (self.launches.is_empty() || self.launches.iter().any(in_range))
            && (self.kernels.is_empty() || self.kernels.iter().any(|name| name == kernel))
    }
}

/// The mark of a new launch of a kernel, by the kernel's number and name.
pub fn mark(kernel: u32, name: &str) -> LaunchMark {
    static LAUNCHES: AtomicU32 = AtomicU32::new(1);
    static SELECTION: OnceLock<Selection> = OnceLock::new();
    let launch = LAUNCHES.fetch_add(1, Ordering::Relaxed);
    let selection = SELECTION.get_or_init(|| Selection::of(&Debug::from_environment().0));
    if selection.has(launch, name) { LaunchMark::new(kernel, launch) } else { LaunchMark::hidden() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn launches_are_selected_by_number_and_kernel() {
        let has = |text: &str, launch, kernel| Selection::of(&Debug::parse(text).0).has(launch, kernel);
        assert!(has("", 1, "a"));
        assert!(has("profile-launches=3-5+9", 4, "a") && has("profile-launches=3-5+9", 9, "a"));
        assert!(!has("profile-launches=3-5+9", 6, "a") && !has("profile-launches=3", 2, "a"));
        assert!(has("profile-launches=3,profile-kernels=a+b", 3, "b"));
        assert!(!has("profile-launches=3,profile-kernels=a+b", 3, "ab"));
    }
}
