//! What Linux knows about processes.

use std::fs;
use std::path::Path;

/// What a process holds.
#[derive(Clone, Copy)]
pub struct Holdings {
    pub process: u32,
    /// Resident memory, KiB.
    pub memory: u64,
    pub descriptors: u64,
    pub threads: u64,
}

/// Of this process and each of its compile servers.
pub fn holdings() -> Vec<Holdings> {
    let servers = std::env::var(FOLDER).map_or(Vec::new(), |folder| servers(Path::new(&folder)));
    std::iter::once(std::process::id())
        .chain(servers)
        .map(|process| Holdings {
            process,
            memory: status(process, "VmRSS:"),
            descriptors: descriptors(process),
            threads: status(process, "Threads:"),
        })
        .collect()
}

/// Number of open descriptors of a process; 0 when there is none.
pub fn descriptors(process: u32) -> u64 {
    fs::read_dir(format!("/proc/{process}/fd")).map_or(0, |folder| folder.count() as u64)
}

/// A number of a process's status; 0 when there is none.
pub fn status(id: u32, key: &str) -> u64 {
    let text = fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(key));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

/// The variable that a process and its compile servers, which are not its children, have in common: the
/// process's folder.
pub const FOLDER: &str = "GENCL_STRESS_FOLDER";

/// The processes of the compile servers that the process of a folder has started.
pub fn servers(folder: &Path) -> Vec<u32> {
    let mark = [FOLDER.as_bytes(), b"=", folder.as_os_str().as_encoded_bytes()].concat();
    let is_server = |id: &u32| {
        let name = fs::read_to_string(format!("/proc/{id}/comm")).unwrap_or_default();
        let environment = fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
        name.starts_with("genclc") && environment.split(|byte| *byte == 0).any(|variable| variable == mark)
    };
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter(is_server).collect()
}

/// Sends a signal to a server of one of our processes.
pub fn signal(id: u32, signal: i32) {
    // SAFETY: a plain call. The process was there a moment ago, and numbers are not used again so soon.
    unsafe { libc::kill(id as libc::pid_t, signal) };
}

/// Lets this process have at most so much of something, until [`lift`].
pub fn limit(resource: libc::__rlimit_resource_t, most: u64) -> Result<(), String> {
    set(resource, |limits| limits.rlim_cur = most.min(limits.rlim_max))
}

/// Lets this process have as much as it may.
pub fn lift(resource: libc::__rlimit_resource_t) -> Result<(), String> {
    set(resource, |limits| limits.rlim_cur = limits.rlim_max)
}

fn set(resource: libc::__rlimit_resource_t, change: impl Fn(&mut libc::rlimit)) -> Result<(), String> {
    let mut limits = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the structure is there for both calls.
    let done = unsafe {
        libc::getrlimit(resource, &raw mut limits) == 0 && {
            change(&mut limits);
            libc::setrlimit(resource, &raw const limits) == 0
        }
    };
    if done { Ok(()) } else { Err(format!("no limit: {}", std::io::Error::last_os_error())) }
}
