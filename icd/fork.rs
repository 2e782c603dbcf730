//! Processes that fork after their first use of the driver.
//!
//! The child has the driver's memory but not its threads, and shares hardware contexts and buffers with its
//! parent. So its calls fail, instead of waiting for threads that do not exist, and releasing objects has no
//! effect. A child of a process that has not used OpenCL is not affected.

use std::sync::atomic::{AtomicBool, Ordering};

static IN_CHILD: AtomicBool = AtomicBool::new(false);

/// Registers a handler for forks.
pub fn watch() {
    extern "C" fn in_child() {
        IN_CHILD.store(true, Ordering::Relaxed);
    }
    // SAFETY: the handler stores one atomic, which is allowed in a child of a process with threads. The
    // library is linked to stay loaded (see build.rs), and so does the handler.
    let result = unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
    if result != 0 {
        tracing::warn!("forks are not detected: no memory for a handler");
    }
}

/// Whether this process is a forked child of one that has used the driver.
pub fn in_child() -> bool {
    IN_CHILD.load(Ordering::Relaxed)
}
