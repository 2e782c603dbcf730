//! The state of compiler and cache, for reports on the installation.

use std::time::Instant;

use gencl_program::diagnosis::{CacheState, CompilerState};

use crate::cache::Cache;
use crate::server::{Purpose, Server};
use crate::{folder::Refusal, locate};

/// Where the compiler is, and how long it takes to start.
#[must_use]
pub fn compiler_state() -> CompilerState {
    let path = match locate::compiler() {
        Ok(path) => path,
        Err(problem) => return CompilerState { problem: Some(problem), ..CompilerState::default() },
    };
    let shown = Some(path.display().to_string());
    let begin = Instant::now();
    match Server::start(&path, Purpose::Builds, false) {
        Ok(server) => CompilerState {
            path: shown,
            version: Some(server.version().to_owned()),
            start: Some(begin.elapsed().as_secs_f64() * 1e3),
            problem: None,
        },
        Err(failure) => {
            CompilerState { path: shown, problem: Some(failure.to_string()), ..CompilerState::default() }
        }
    }
}

/// Where the kernel cache is, its size, and whether it can be used.
#[must_use]
pub fn cache_state() -> CacheState {
    let cache = match Cache::choose() {
        Ok(cache) => cache,
        Err(reason) => return CacheState { off: Some(reason), ..CacheState::default() },
    };
    let problem = cache.probe().err().map(|refusal| match refusal {
        Refusal::System(error) => format!("it cannot be written: {error}"),
        Refusal::Untrusted(reason) => format!("it is not used: {reason}"),
    });
    let (entries, bytes) = cache.usage();
    CacheState {
        folder: Some(cache.folder().display().to_string()),
        entries,
        bytes,
        limit: cache.limit(),
        off: None,
        problem,
    }
}

/// Removes all entries of the kernel cache. Returns its state before.
///
/// # Errors
/// There is no cache, or it cannot be used: the reason.
pub fn clear_cache() -> Result<CacheState, String> {
    let before = cache_state();
    if let Some(reason) = before.off {
        return Err(format!("there is no kernel cache: {reason}"));
    }
    if let (Some(folder), Some(problem)) = (&before.folder, &before.problem) {
        return Err(format!("the kernel cache {folder}: {problem}"));
    }
    Cache::choose()?.clear();
    Ok(before)
}
