//! Open files of the node: which descriptors are ours and what is behind them.

use std::collections::HashMap;
use std::os::fd::{FromRawFd, IntoRawFd, OwnedFd, RawFd};
use std::sync::{Arc, Once};

use gencl_i915::{Errno, Result};
use gencl_simulator::{Settings, Simulator};
use parking_lot::{Mutex, RwLock};

use crate::contexts::Contexts;
use crate::memory::BufferStates;
use crate::options;

/// An open file description of the node, which several descriptors may share.
pub struct OpenFile {
    /// What answers.
    pub simulator: Simulator,
    /// What the driver remembers of contexts and address spaces for this file.
    pub contexts: Mutex<Contexts>,
    /// Tiling and caching of buffers, as they were set.
    pub buffers: Mutex<BufferStates>,
}

static FILES: RwLock<Option<HashMap<RawFd, Arc<OpenFile>>>> = RwLock::new(None);

/// The file behind a descriptor, if it is ours.
pub fn get(fd: RawFd) -> Option<Arc<OpenFile>> {
    FILES.read().as_ref()?.get(&fd).cloned()
}

/// Opens the node. `flags` are those of `open`, of which only `O_CLOEXEC` matters.
pub fn open(flags: i32) -> Result<RawFd> {
    show_messages();
    let options = options::get();
    let settings = Settings { strict: options.strict, ..Settings::default() };
    let simulator = Simulator::with_settings(&options.device, settings).map_err(|error| {
        tracing::warn!("{error}");
        Errno(libc::ENODEV)
    })?;
    let file = OpenFile { simulator, contexts: Mutex::default(), buffers: Mutex::default() };
    let fd = placeholder(flags)?.into_raw_fd();
    FILES.write().get_or_insert_default().insert(fd, Arc::new(file));
    Ok(fd)
}

/// A real descriptor for the program, so that no other file gets its number.
fn placeholder(flags: i32) -> Result<OwnedFd> {
    let cloexec = if flags & libc::O_CLOEXEC != 0 { libc::MFD_CLOEXEC } else { 0 };
    // SAFETY: the name is a C string; the result is checked.
    let fd = unsafe { libc::memfd_create(c"renderD128".as_ptr(), cloexec) };
    if fd < 0 {
        return Err(Errno(std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EMFILE)));
    }
    // SAFETY: the descriptor is new and nobody else's.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// A descriptor has been closed, or is about to be another file.
pub fn forget(fd: RawFd) {
    let is_ours = FILES.read().as_ref().is_some_and(|files| files.contains_key(&fd));
    if is_ours {
        let file = FILES.write().as_mut().and_then(|files| files.remove(&fd));
        // Without the lock: the simulator waits for its batches.
        drop(file);
    }
}

/// `copy` has become a duplicate of `fd`.
pub fn duplicated(fd: RawFd, copy: RawFd) {
    match get(fd) {
        Some(file) => {
            let before = FILES.write().get_or_insert_default().insert(copy, file);
            drop(before);
        }
        None => forget(copy),
    }
}

/// Faults of batches are said on standard error, as drivers do not tell them; commands too when they are traced.
fn show_messages() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let subscriber = tracing_subscriber::fmt()
            .with_writer(std::io::stderr)
            .with_max_level(if options::get().trace { tracing::Level::TRACE } else { tracing::Level::WARN })
            .without_time()
            .with_target(false);
        // A program that is written in Rust has a `tracing` of its own, so nobody else has set one here.
        let _ = subscriber.try_init();
    });
}
