//! What Linux knows about processes.

use std::fs;

/// What a process and those it has started hold.
#[derive(Clone, Copy)]
pub struct Holdings {
    /// Resident memory, KiB.
    pub memory: u64,
    pub descriptors: u64,
    pub threads: u64,
}

/// Of this process and its compile servers.
pub fn holdings() -> Holdings {
    let own = std::process::id();
    let all: Vec<u32> = std::iter::once(own).chain(descendants(own)).collect();
    let sum = |key: &str| all.iter().map(|id| status(*id, key)).sum();
    let open = |id: &u32| fs::read_dir(format!("/proc/{id}/fd")).map_or(0, |folder| folder.count() as u64);
    Holdings { memory: sum("VmRSS:"), descriptors: all.iter().map(open).sum(), threads: sum("Threads:") }
}

/// A number of a process's status; 0 when there is none.
pub fn status(id: u32, key: &str) -> u64 {
    let text = fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(key));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

/// The compile servers that a process has started.
pub fn servers(id: u32) -> Vec<u32> {
    let is_server = |id: &u32| {
        fs::read_to_string(format!("/proc/{id}/comm")).is_ok_and(|name| name.starts_with("genclc"))
    };
    descendants(id).into_iter().filter(is_server).collect()
}

/// The processes that a process has started, and those that these have.
fn descendants(id: u32) -> Vec<u32> {
    let tasks = fs::read_dir(format!("/proc/{id}/task")).into_iter().flatten().flatten();
    let children = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    let children: Vec<u32> = children
        .flat_map(|list| list.split_whitespace().filter_map(|id| id.parse().ok()).collect::<Vec<_>>())
        .collect();
    let below: Vec<u32> = children.iter().flat_map(|child| descendants(*child)).collect();
    children.into_iter().chain(below).collect()
}

/// Sends a signal to a server of one of our processes.
pub fn signal(id: u32, signal: i32) {
    // SAFETY: a plain call. Who has ended meanwhile is still its parent's child, so that the number is nobody else's.
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
