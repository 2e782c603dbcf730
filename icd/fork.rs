//! Processes that fork after they have used the driver.
//!
//! The child has the driver's memory but not its threads, and shares the GPU's contexts and buffers with its
//! parent. So its calls fail instead of waiting for threads that are not there, and releasing objects leaves
//! them to the parent. A program that forks first and uses OpenCL then is not concerned.

use std::sync::atomic::{AtomicBool, Ordering};

static IN_CHILD: AtomicBool = AtomicBool::new(false);

/// Begins to watch for forks.
pub fn watch() {
    extern "C" fn in_child() {
        IN_CHILD.store(true, Ordering::Relaxed);
    }
    // SAFETY: the handler stores one atomic, which is allowed in a child of a process with threads. The
    // library is linked to stay loaded (see build.rs), and so does the handler.
    let result = unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
    if result != 0 {
        tracing::warn!("no memory to watch for forks");
    }
}

/// Is this process a child of the one that has used the driver?
pub fn in_child() -> bool {
    IN_CHILD.load(Ordering::Relaxed)
}
