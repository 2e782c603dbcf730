//! Processes that tests start.

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
