//! Which descriptors of the process are ours, and what is behind them.
//!
//! The program gets real descriptors, so that no other file has their numbers; the table says what they stand
//! for. It follows `close`, `dup` and `fcntl` as the program calls them. A descriptor of the node that came
//! in another way - inherited over `exec`, received from another process - is recognised by a mark that it
//! carries ([`crate::files`]).
//!
//! **Fork.** Threads do not survive `fork`, and a simulator is nothing without its threads. In a child the
//! node's descriptors of its parent are dead: requests fail with `EIO` as on a GPU that is beyond recovery.
//! It may open the node itself. A child of `vfork` shares the parent's memory and so leaves the table alone.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ops::{Deref, DerefMut};
use std::os::fd::RawFd;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Once, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, Weak};

use gencl_simulator::Buffer;
use gencl_sync::MutexGuard;

use crate::files::OpenFile;
use crate::submissions::{self, Now};
use crate::sync_file::SyncFile;
use crate::syncobj::SyncObject;

/// What a descriptor stands for.
#[derive(Clone)]
pub enum Descriptor {
    /// The node.
    Node(Arc<OpenFile>),
    /// Fences.
    SyncFile(Arc<SyncFile>),
    /// A sync object.
    SyncObject(Arc<SyncObject>),
}

/// What the table says of a descriptor.
pub enum Found {
    /// It is not ours, as far as is known.
    Unknown,
    /// It was opened by the process that this one is a fork of.
    Dead,
    /// It is ours.
    Is(Descriptor),
}

struct Entry {
    what: Descriptor,
    /// The process that made it.
    process: u32,
}

/// Identity of an exported buffer's file: device and inode.
pub type FileId = (u64, u64);

/// What all open files of the process share.
#[derive(Default)]
struct Table {
    entries: HashMap<RawFd, Entry>,
    /// Buffers that were exported or imported.
    buffers: HashMap<FileId, Weak<Buffer>>,
    /// Buffers that are memory of the program, with the process that handed it over.
    userptrs: Vec<(u32, Weak<Buffer>)>,
}

static TABLE: RwLock<Option<Table>> = RwLock::new(None);
/// Has there ever been an entry? Before, nothing here costs anything, or holds a lock while the process
/// forks.
static USED: AtomicBool = AtomicBool::new(false);
/// The process whose table it is.
static OWNER: AtomicU32 = AtomicU32::new(0);

thread_local! {
    /// This thread has the table's lock: what it calls of the C library meanwhile, perhaps through the
    /// program's own allocator, must not ask for it again.
    static HOLDS: Cell<bool> = const { Cell::new(false) };
}

/// The table's lock.
struct Held<G>(G);

impl<G> Held<G> {
    fn new(guard: G) -> Held<G> {
        HOLDS.set(true);
        Held(guard)
    }
}

impl<G> Drop for Held<G> {
    fn drop(&mut self) {
        HOLDS.set(false);
    }
}

impl<G: Deref> Deref for Held<G> {
    type Target = G::Target;

    fn deref(&self) -> &G::Target {
        &self.0
    }
}

impl<G: DerefMut> DerefMut for Held<G> {
    fn deref_mut(&mut self) -> &mut G::Target {
        &mut self.0
    }
}

type Shared = Held<RwLockReadGuard<'static, Option<Table>>>;
type Alone = Held<RwLockWriteGuard<'static, Option<Table>>>;

fn read() -> Shared {
    Held::new(TABLE.read().unwrap_or_else(PoisonError::into_inner))
}

fn write() -> Alone {
    Held::new(TABLE.write().unwrap_or_else(PoisonError::into_inner))
}

thread_local! {
    /// The locks of the library's own while this thread forks: so no other thread holds them then.
    static FORKING: RefCell<Option<(MutexGuard<'static, Now>, Alone)>> = const { RefCell::new(None) };
}

extern "C" fn before_fork() {
    FORKING.with_borrow_mut(|held| *held = Some((submissions::hold(), write())));
}

extern "C" fn after_fork_in_parent() {
    FORKING.with_borrow_mut(|held| *held = None);
}

extern "C" fn after_fork_in_child() {
    OWNER.store(std::process::id(), Ordering::Relaxed);
    FORKING.with_borrow_mut(|held| {
        if let Some((now, _)) = held {
            submissions::forget(now);
        }
        *held = None;
    });
}

/// To be called before the first entry.
fn start() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        OWNER.store(std::process::id(), Ordering::Relaxed);
        // SAFETY: the functions stay where they are: a preload library is not unloaded.
        unsafe {
            libc::pthread_atfork(Some(before_fork), Some(after_fork_in_parent), Some(after_fork_in_child));
        }
        USED.store(true, Ordering::Release);
    });
}

/// Is the table this process's, and not that of the parent that waits for `vfork`?
fn is_own() -> bool {
    OWNER.load(Ordering::Relaxed) == std::process::id()
}

/// What the table says of a descriptor.
pub fn get(fd: RawFd) -> Found {
    if !is_used() {
        return Found::Unknown;
    }
    match read().as_ref().and_then(|table| table.entries.get(&fd)) {
        None => Found::Unknown,
        Some(entry) if entry.process != std::process::id() => Found::Dead,
        Some(entry) => Found::Is(entry.what.clone()),
    }
}

/// Enters a descriptor.
pub fn insert(fd: RawFd, what: Descriptor) {
    start();
    let entry = Entry { what, process: std::process::id() };
    let before = write().get_or_insert_default().entries.insert(fd, entry);
    release(before);
}

/// All open files of the node, each once for each of its descriptors.
pub fn nodes() -> Vec<Arc<OpenFile>> {
    if !is_used() {
        return Vec::new();
    }
    let table = read();
    let entries = table.iter().flat_map(|table| table.entries.values());
    let own = entries.filter(|entry| entry.process == std::process::id());
    own.filter_map(|entry| match &entry.what {
        Descriptor::Node(file) => Some(Arc::clone(file)),
        _ => None,
    })
    .collect()
}

/// Lets go of what an entry held, which may take the time that a simulator needs to stop. No lock is held.
fn release(entry: Option<Entry>) {
    match entry {
        Some(entry) if entry.process != std::process::id() => {
            // The parent's: its threads are not here, and nobody could wait for them.
            std::mem::forget(entry);
        }
        Some(Entry { what: Descriptor::Node(file), .. }) => OpenFile::close(file),
        Some(_) | None => {}
    }
}

/// A descriptor has been closed, or is about to be another file.
pub fn forget(fd: RawFd) {
    if !is_used() {
        return;
    }
    let is_ours = read().as_ref().is_some_and(|table| table.entries.contains_key(&fd));
    if is_ours && is_own() {
        let entry = write().as_mut().and_then(|table| table.entries.remove(&fd));
        release(entry);
    }
}

/// Has the node been opened, ever?
pub fn is_used() -> bool {
    USED.load(Ordering::Acquire)
}

/// Our descriptors of a range of numbers; none in a child of `vfork`.
pub fn range(first: u32, last: u32) -> Vec<RawFd> {
    if !is_used() || !is_own() {
        return Vec::new();
    }
    let numbers = u64::from(first)..=u64::from(last);
    let table = read();
    let all = table.iter().flat_map(|table| table.entries.keys());
    all.copied().filter(|fd| numbers.contains(&(*fd as u64))).collect()
}

/// All descriptors of a range are going to be closed.
pub fn forget_range(first: u32, last: u32) {
    range(first, last).into_iter().for_each(forget);
}

/// `copy` has become a duplicate of `fd`.
pub fn duplicated(fd: RawFd, copy: RawFd) {
    if !is_used() || !is_own() {
        return;
    }
    let mut guard = write();
    let table = guard.get_or_insert_default();
    let before = match table.entries.get(&fd) {
        Some(entry) => {
            let entry = Entry { what: entry.what.clone(), process: entry.process };
            table.entries.insert(copy, entry)
        }
        None => table.entries.remove(&copy),
    };
    drop(guard);
    release(before);
}

/// The buffer of an exported file, or what `make` makes of it; of two threads that do so one is first.
pub fn buffer<E>(id: FileId, make: impl FnOnce() -> Result<Arc<Buffer>, E>) -> Result<Arc<Buffer>, E> {
    if let Some(buffer) = known_buffer(id) {
        return Ok(buffer);
    }
    start();
    // Without the lock: it calls functions of the C library that come back here.
    let made = make()?;
    let mut guard = write();
    let buffers = &mut guard.get_or_insert_default().buffers;
    let known = buffers.get(&id).and_then(Weak::upgrade);
    if known.is_none() {
        buffers.retain(|_, buffer| buffer.strong_count() > 0);
        buffers.insert(id, Arc::downgrade(&made));
    }
    drop(guard);
    Ok(known.unwrap_or(made))
}

/// The buffer of an exported file if this process has exported or imported it.
pub fn known_buffer(id: FileId) -> Option<Arc<Buffer>> {
    if !is_used() {
        return None;
    }
    read().as_ref()?.buffers.get(&id)?.upgrade()
}

/// A buffer is memory of the program.
pub fn remember_userptr(buffer: &Arc<Buffer>) {
    start();
    let mut guard = write();
    let userptrs = &mut guard.get_or_insert_default().userptrs;
    // Now and then those that are gone are let go.
    if userptrs.len() == userptrs.capacity() {
        userptrs.retain(|(_, buffer)| buffer.strong_count() > 0);
    }
    userptrs.push((std::process::id(), Arc::downgrade(buffer)));
    HAVE_USERPTRS.store(true, Ordering::Release);
}

/// Has memory of the program been handed over, ever?
static HAVE_USERPTRS: AtomicBool = AtomicBool::new(false);

/// Buffers that are memory of the program in a range.
pub fn userptrs_within(address: u64, length: u64) -> Vec<Arc<Buffer>> {
    if !HAVE_USERPTRS.load(Ordering::Acquire) || HOLDS.get() || !is_own() {
        return Vec::new();
    }
    let table = read();
    let process = std::process::id();
    let all = table.iter().flat_map(|table| &table.userptrs).filter(|(owner, _)| *owner == process);
    let alive = all.filter_map(|(_, buffer)| buffer.upgrade());
    alive.filter(|buffer| buffer.is_userptr_within(address, length)).collect()
}
