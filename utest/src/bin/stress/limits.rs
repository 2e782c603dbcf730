//! The system gives no more descriptors, memory or threads: calls fail with a code, and work again when it
//! does.

use std::time::Duration;

use gencl_utest::{Random, library};
use opencl3::memory::Buffer;

use crate::child::{Stage, Task};
use crate::process::{holdings, lift, limit, status};
use crate::tally::Tally;
use crate::work::{Session, Trouble, round};

/// Rounds under a limit.
const ROUNDS: u64 = 6;

/// A user that has no processes: root may have any number.
const NOBODY: u32 = 61_234;

/// MiB of a buffer that is to take what memory there is, and how many of them are tried.
const LARGE: usize = 64;
const MOST: usize = 256;

/// How many of them are given back.
const LEFT: usize = 2;

const ROLES: [&str; 3] = ["descriptors", "memory", "threads"];

pub fn repeat(stage: &Stage) -> Result<Tally, String> {
    let role = ROLES[(stage.seed % 3) as usize];
    // GNU's allocator reserves an arena for each thread, which would take what is left for small allocations.
    let variables = [("GENCL_CACHE", "off"), ("MALLOC_ARENA_MAX", "1")];
    stage.run(role, stage.seed, stage.left.min(Duration::from_secs(5)), &variables)
}

pub fn work(task: &Task) -> Result<Tally, String> {
    let mut random = Random::new(task.seed);
    let mut tally = Tally::default();
    let resource = match task.role.as_str() {
        "descriptors" => libc::RLIMIT_NOFILE,
        "memory" => libc::RLIMIT_AS,
        _ => libc::RLIMIT_NPROC,
    };
    if resource == libc::RLIMIT_NPROC && !is_limited(task)? {
        tally.figure("threads", "of root have no limit".into());
        return Ok(tally);
    }
    // Half of the processes have the limit from the beginning.
    let warm = random.below(2) == 0;
    if warm {
        round(task.seed)?;
    }
    let most = match resource {
        libc::RLIMIT_NOFILE => holdings().descriptors + random.below(12) as u64,
        libc::RLIMIT_AS => {
            (status(std::process::id(), "VmSize:") << 10) + ((128 + random.below(1024) as u64) << 20)
        }
        _ => random.below(16) as u64,
    };
    limit(resource, most)?;
    let hoard = if resource == libc::RLIMIT_AS { hoard(&mut tally)? } else { Vec::new() };
    for number in 0..ROUNDS {
        match round(task.seed.wrapping_add(number)) {
            Ok(()) => tally.count("right under a limit"),
            Err(Trouble::Failed { code, .. }) if code < 0 => tally.count("failed with a code"),
            Err(other) => return Err(other.into()),
        }
    }
    drop(hoard);
    lift(resource)?;
    // Who began without the limit has a driver.
    for number in 0..if warm { ROUNDS } else { 0 } {
        round(task.seed.wrapping_add(number))?;
        tally.count("right after it");
    }
    Ok(tally)
}

/// Buffers that take what memory there is but a little: small allocations cannot fail in Rust, the process
/// ends.
fn hoard(tally: &mut Tally) -> Result<Vec<(Buffer<u32>, Session)>, String> {
    let mut buffers = Vec::new();
    while buffers.len() < MOST {
        let more = Session::new(0).and_then(|session| Ok((session.buffer(LARGE << 20)?, session)));
        match more {
            Ok(buffer) => buffers.push(buffer),
            Err(Trouble::Failed { code, .. }) if code < 0 => {
                tally.count("buffers refused");
                buffers.truncate(buffers.len().saturating_sub(LEFT));
                break;
            }
            Err(other) => return Err(other.into()),
        }
    }
    Ok(buffers)
}

/// Becomes a user whose processes can be counted, if need be and if that one can read the driver.
fn is_limited(task: &Task) -> Result<bool, String> {
    // SAFETY: the call takes nothing and cannot fail.
    let is_root = unsafe { libc::geteuid() } == 0;
    if is_root {
        std::os::unix::fs::chown(&task.folder, Some(NOBODY), None).map_err(|error| error.to_string())?;
        // SAFETY: the call takes a number, and there is one thread yet.
        if unsafe { libc::setuid(NOBODY) } != 0 {
            return Err(format!("setuid: {}", std::io::Error::last_os_error()));
        }
    }
    Ok(std::fs::File::open(library()?).is_ok() && std::fs::write(task.folder.join("result"), "").is_ok())
}
