//! Builds of programs.

use gencl_program::protocol::{BuildResult, Status, ToServer};
use gencl_sync::{Condvar, Mutex};

use crate::cache::Cache;
use crate::server::{Failure, Purpose, Server};
use crate::timeout::timeout;
use crate::{Unavailable, locate, report_unavailable, server, start, translations};

/// Idle servers.
struct Pool {
    /// Most recently used last.
    idle: Vec<Server>,
    /// Id of the process in which a thread is starting a server in advance. After a `fork` it is the
    /// parent's: the child has no such thread.
    starting: Option<u32>,
}

impl Pool {
    fn starting(&self) -> bool {
        self.starting == Some(std::process::id())
    }
}

static POOL: Mutex<Pool> = Mutex::new(Pool { idle: Vec::new(), starting: None });

/// Notified when the start of a server in advance has succeeded or failed.
static STARTED: Condvar = Condvar::new();

/// Maximum number of idle servers; each keeps the compiler's libraries in memory.
const MAX_IDLE: usize = 4;

/// Starts a server in the background if the kernel cache is empty, so that the first build will need one.
/// Called when an application creates a context.
pub fn expect_builds() {
    if Cache::from_environment().is_none_or(|cache| cache.is_empty()) {
        warm_up();
    }
}

/// Starts a server in the background if the kernel cache has no build of a source. Called when an application
/// creates a program.
pub fn expect_build(source: &[u8]) {
    if Cache::from_environment().is_none_or(|cache| !cache.knows(source)) {
        warm_up();
    }
}

/// Starts a server in the background unless one is idle or being started, and one for translations.
fn warm_up() {
    translations::warm_up();
    let mut pool = POOL.lock();
    if pool.starting() || !pool.idle.is_empty() {
        return;
    }
    pool.starting = Some(std::process::id());
    drop(pool);
    let ready = |server: Option<Server>| {
        let mut pool = POOL.lock();
        pool.starting = None;
        pool.idle.extend(server);
        STARTED.notify_all();
    };
    // Errors are reported by the build that needs a server.
    let thread = std::thread::Builder::new()
        .name("gencl-warm-up".into())
        .spawn(move || ready(start(Purpose::Builds).ok()));
    if thread.is_err() {
        ready(None);
    }
}

/// Compiles or links a program, or takes the result from the kernel cache. A compiler that crashes or exceeds
/// a limit is a failed build with the reason in its log.
///
/// # Errors
/// No compiler can be started.
pub fn build(request: &ToServer) -> Result<BuildResult, Unavailable> {
    let cache = Cache::from_environment();
    let compiler = locate::compiler().ok().and_then(|path| locate::identity(&path));
    let key = cache.as_ref().zip(compiler).and_then(|(cache, compiler)| cache.key(request, &compiler));
    let place = cache.zip(key);
    if let Some(result) = place.as_ref().and_then(|(cache, key)| cache.load(key)) {
        return Ok(result);
    }
    let result = run_by_server(request).inspect_err(report_unavailable)?;
    if let Some((cache, key)) = place {
        cache.store(&key, &result);
    }
    Ok(result)
}

fn run_by_server(request: &ToServer) -> Result<BuildResult, Unavailable> {
    let timeout = timeout();
    match server::ask(take(), || start(Purpose::Builds), |server| server.build(request, timeout)) {
        Ok((result, server)) => {
            give(server);
            Ok(result)
        }
        Err(Failure::Unavailable(unavailable)) => Err(unavailable),
        Err(mute @ Failure::Mute(_)) => Err(Unavailable(mute.to_string())),
        Err(failure) => {
            let log = failure.to_string();
            tracing::warn!("{log}");
            let (binary, files) = (Vec::new(), Vec::new());
            Ok(BuildResult { status: Status::Failure, log, binary, files })
        }
    }
}

/// Takes an idle server that this process can use; waits for one that is being started.
fn take() -> Option<Server> {
    let mut pool = POOL.lock();
    loop {
        while let Some(mut server) = pool.idle.pop() {
            if server.usable() {
                return Some(server);
            }
        }
        if !pool.starting() {
            return None;
        }
        STARTED.wait(&mut pool);
    }
}

fn give(server: Server) {
    let mut pool = POOL.lock();
    if pool.idle.len() < MAX_IDLE {
        pool.idle.push(server);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_waits_for_what_the_parent_starts() {
        let pool = |starting| Pool { idle: Vec::new(), starting };
        assert!(pool(Some(std::process::id())).starting());
        assert!(!pool(Some(std::os::unix::process::parent_id())).starting());
        assert!(!pool(None).starting());
    }
}
