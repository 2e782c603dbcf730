//! Descriptors of the node, and the open files behind them.

use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, OwnedFd, RawFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use gencl_i915::{Errno, Result};

use crate::descriptors::{self, Descriptor, Lookup};
use crate::open_file::OpenFile;
use crate::options;

/// A descriptor as the target of a request.
pub enum Node {
    /// Not the node.
    No,
    /// The node, opened before a fork: requests fail with `EIO`.
    Dead,
    /// The node.
    Is(Arc<OpenFile>),
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
        Lookup::Is(Descriptor::Node(file)) => Node::Is(file),
        Lookup::Is(_) => Node::No,
        Lookup::Dead => Node::Dead,
        Lookup::Unknown => adopt(fd),
    }
}

/// Handles a descriptor with the mark that is not in the table: a duplicate that was not noticed, or one from
/// another process, which is treated as newly opened.
fn adopt(fd: RawFd) -> Node {
    if options::root().is_none() {
        return Node::No;
    }
    let Some(mark) = read_mark(fd) else { return Node::No };
    let known = descriptors::nodes().into_iter().find(|file| file.mark == mark);
    let Some(file) = known.or_else(|| OpenFile::new(mark).ok()) else { return Node::Dead };
    descriptors::insert(fd, Descriptor::Node(Arc::clone(&file)));
    Node::Is(file)
}

/// Whether a descriptor is one of the node, also from before a fork.
pub fn is_node(fd: RawFd) -> bool {
    match descriptors::get(fd) {
        Lookup::Is(Descriptor::Node(_)) | Lookup::Dead => true,
        Lookup::Is(_) => false,
        Lookup::Unknown => options::root().is_some() && read_mark(fd).is_some(),
    }
}

/// The card's error state, in the folder of redirected files.
const ERROR_STATE: &str = "sys/class/drm/renderD128/device/drm/card0/error";

/// The mark of the node: seconds of a timer's period.
const MARK: i64 = 6_147_105_893;
/// Time until the timer expires: some 250 years.
const NEVER: i64 = 8_000_000_000;
/// Range of the open file's mark: nanoseconds of the timer's period.
const MARKS: u64 = 1_000_000_000;

/// A mark that open files of other processes are unlikely to have.
fn new_mark() -> u64 {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    (u64::from(std::process::id()) * 65_537 + count) % MARKS
}

/// A descriptor for the program: a timer that does not expire. For `poll` and `read` it behaves like the
/// node, which has no events. Its period, which other processes can query, is the mark.
fn marked_descriptor(flags: i32, mark: u64) -> Result<OwnedFd> {
    let failed = || Errno(std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EMFILE));
    let flags = flags & (libc::O_CLOEXEC | libc::O_NONBLOCK);
    // SAFETY: no pointers; the flags are the same as those of `open` (`TFD_CLOEXEC`, `TFD_NONBLOCK`).
    let fd = unsafe { libc::timerfd_create(libc::CLOCK_MONOTONIC, flags) };
    if fd < 0 {
        return Err(failed());
    }
    // SAFETY: the descriptor is new and not owned elsewhere.
    let fd = unsafe { OwnedFd::from_raw_fd(fd) };
    let timer = libc::itimerspec {
        it_interval: libc::timespec { tv_sec: MARK, tv_nsec: mark as i64 },
        it_value: libc::timespec { tv_sec: NEVER, tv_nsec: 0 },
    };
    // SAFETY: a structure of our own; the former setting is not returned.
    if unsafe { libc::timerfd_settime(fd.as_raw_fd(), 0, &timer, std::ptr::null_mut()) } < 0 {
        return Err(failed());
    }
    Ok(fd)
}

fn read_mark(fd: RawFd) -> Option<u64> {
    let zero = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    let mut timer = libc::itimerspec { it_interval: zero, it_value: zero };
    let errno = std::io::Error::last_os_error();
    // SAFETY: a structure of our own. For other files the kernel returns EINVAL.
    let result = unsafe { libc::timerfd_gettime(fd, &mut timer) };
    // Preserves `errno` for the program.
    crate::real::set_errno(errno.raw_os_error().unwrap_or(0));
    (result == 0 && timer.it_interval.tv_sec == MARK).then_some(timer.it_interval.tv_nsec as u64)
}

/// Writes the reason of a hang to the card's file `error`, as i915 does. Unlike i915's, it has the last one,
/// not the first.
pub fn write_error_state(reason: &str) {
    let Some(root) = options::root() else { return };
    let text = format!("GPU HANG: in process {}\n{reason}\n", std::process::id());
    if let Err(error) = std::fs::write(root.join(ERROR_STATE), text) {
        tracing::warn!("{ERROR_STATE}: {error}");
    }
}
