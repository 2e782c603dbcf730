//! Open files of the node.

use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Once};

use gencl_i915::{Errno, Result};
use gencl_simulator::Simulator;
use gencl_sync::Mutex;

use crate::contexts::Contexts;
use crate::descriptors::{self, Descriptor, Found};
use crate::memory::BufferStates;
use crate::options;
use crate::prime::Shared;
use crate::syncobj::SyncObjects;

/// An open file description of the node, which several descriptors may share.
pub struct OpenFile {
    /// What answers.
    pub simulator: Simulator,
    /// What the driver remembers of contexts and address spaces for this file.
    pub contexts: Mutex<Contexts>,
    /// Tiling and caching of buffers, as they were set.
    pub buffers: Mutex<BufferStates>,
    /// Buffers that other files may have handles for, too.
    pub shared: Mutex<Shared>,
    /// Sync objects.
    pub sync_objects: Mutex<SyncObjects>,
    /// The mark of its descriptors.
    mark: u64,
}

/// What a program may do with a descriptor.
pub enum Node {
    /// It is not the node.
    No,
    /// The node, opened before a fork: requests fail with `EIO`.
    Dead,
    /// The node.
    Is(Arc<OpenFile>),
}

impl OpenFile {
    fn new(mark: u64) -> Result<Arc<OpenFile>> {
        show_messages();
        let options = options::get();
        let simulator = Simulator::with_settings(&options.device, options.settings()).map_err(|error| {
            tracing::warn!("{error}");
            Errno(libc::ENODEV)
        })?;
        Ok(Arc::new(OpenFile {
            simulator,
            contexts: Mutex::default(),
            buffers: Mutex::default(),
            shared: Mutex::default(),
            sync_objects: Mutex::default(),
            mark,
        }))
    }

    /// A descriptor has been closed. After the last one batches that are queued still run, as contexts are
    /// persistent; but not if they use memory of the program, which may be gone at any time now.
    pub fn close(file: Arc<OpenFile>) {
        let Some(file) = Arc::into_inner(file) else { return };
        let buffers = file.simulator.all_buffers();
        let is_busy = buffers.iter().any(|buffer| !buffer.fences(false).is_empty());
        if !is_busy || buffers.iter().any(|buffer| buffer.is_userptr()) {
            return;
        }
        drop(buffers);
        let rest = std::thread::Builder::new().name("gencl-closing".into());
        // Without a thread for it, dropping the file stops its batches.
        let _ = rest.spawn(move || file.simulator.finish());
    }
}

/// Opens the node. `flags` are those of `open`, of which only `O_CLOEXEC` and `O_NONBLOCK` matter.
pub fn open(flags: i32) -> Result<RawFd> {
    let mark = new_mark();
    let file = OpenFile::new(mark)?;
    let fd = marked_descriptor(flags, mark)?.into_raw_fd();
    descriptors::insert(fd, Descriptor::Node(file));
    Ok(fd)
}

/// The open file behind a descriptor.
pub fn get(fd: RawFd) -> Node {
    match descriptors::get(fd) {
        Found::Is(Descriptor::Node(file)) => Node::Is(file),
        Found::Is(_) => Node::No,
        Found::Dead => Node::Dead,
        Found::Unknown => adopt(fd),
    }
}

/// A descriptor with our mark that is not in the table is a duplicate that we did not see made, or comes from
/// another program: then it is as if this one had just opened it.
fn adopt(fd: RawFd) -> Node {
    if options::get().root.is_none() {
        return Node::No;
    }
    let Some(mark) = read_mark(fd) else { return Node::No };
    let known = descriptors::nodes().into_iter().find(|file| file.mark == mark);
    let Some(file) = known.or_else(|| OpenFile::new(mark).ok()) else { return Node::Dead };
    descriptors::insert(fd, Descriptor::Node(Arc::clone(&file)));
    Node::Is(file)
}

/// Is a descriptor one of the node, alive or dead?
pub fn is_node(fd: RawFd) -> bool {
    match descriptors::get(fd) {
        Found::Is(Descriptor::Node(_)) | Found::Dead => true,
        Found::Is(_) => false,
        Found::Unknown => options::get().root.is_some() && read_mark(fd).is_some(),
    }
}

/// The card's error state in the folder that is shown.
const ERROR_STATE: &str = "sys/class/drm/renderD128/device/drm/card0/error";

/// Seconds of the period that says that a timer is the node.
const MARK: i64 = 6_147_105_893;
/// When the timer fires: in some 250 years.
const NEVER: i64 = 8_000_000_000;
/// Nanoseconds of the period are the mark of the open file.
const MARKS: u64 = 1_000_000_000;

/// A number that open files of other processes hardly have.
fn new_mark() -> u64 {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    (u64::from(std::process::id()) * 65_537 + count) % MARKS
}

/// A descriptor for the program: a timer that does not fire. To `poll`, `read` and `fstat` it behaves as the
/// node does, of which there are no events either; and its period, which other processes see too, tells that
/// it is ours.
fn marked_descriptor(flags: i32, mark: u64) -> Result<OwnedFd> {
    let failed = || Errno(std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EMFILE));
    let flags = flags & (libc::O_CLOEXEC | libc::O_NONBLOCK);
    // SAFETY: no pointers; the flags are the same as those of `open` (`TFD_CLOEXEC`, `TFD_NONBLOCK`).
    let fd = unsafe { libc::timerfd_create(libc::CLOCK_MONOTONIC, flags) };
    if fd < 0 {
        return Err(failed());
    }
    // SAFETY: the descriptor is new and nobody else's.
    let fd = unsafe { OwnedFd::from_raw_fd(fd) };
    let timer = libc::itimerspec {
        it_interval: libc::timespec { tv_sec: MARK, tv_nsec: mark as i64 },
        it_value: libc::timespec { tv_sec: NEVER, tv_nsec: 0 },
    };
    // SAFETY: a structure of our own; the former setting is not asked for.
    if unsafe { libc::timerfd_settime(fd.as_raw_fd(), 0, &timer, std::ptr::null_mut()) } < 0 {
        return Err(failed());
    }
    Ok(fd)
}

fn read_mark(fd: RawFd) -> Option<u64> {
    let zero = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    let mut timer = libc::itimerspec { it_interval: zero, it_value: zero };
    let errno = std::io::Error::last_os_error();
    // SAFETY: a structure of our own. Of what is no timer the kernel says EINVAL.
    let result = unsafe { libc::timerfd_gettime(fd, &mut timer) };
    // The program looks at `errno` of its own call, not of ours.
    crate::real::set_errno(errno.raw_os_error().unwrap_or(0));
    (result == 0 && timer.it_interval.tv_sec == MARK).then_some(timer.it_interval.tv_nsec as u64)
}

/// Shows the reason of a hang where i915 does: in the card's file `error`. Unlike i915's it has the last one,
/// not the first.
pub fn write_error_state(reason: &str) {
    let Some(root) = &options::get().root else { return };
    let text = format!("GPU HANG: in process {}\n{reason}\n", std::process::id());
    if let Err(error) = std::fs::write(root.join(ERROR_STATE), text) {
        tracing::warn!("{ERROR_STATE}: {error}");
    }
}

/// Faults of batches are said on standard error, as drivers do not tell them; commands too when they are
/// traced.
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
