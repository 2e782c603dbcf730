//! Processes that tests start, and the tests' own.

use std::io::Result;
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

/// Waits for the end of a process. `None` when it still runs at `end`.
pub fn wait_until(child: &mut Child, end: Instant) -> Result<Option<ExitStatus>> {
    loop {
        let status = child.try_wait()?;
        if status.is_some() || Instant::now() >= end {
            return Ok(status);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Processor time that this process's threads have used.
pub fn processor_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the structure outlives the call, and this clock exists on every Linux.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
