//! The table of the process's descriptors that belong to the simulated node.
//!
//! The program gets real descriptors, so that no other file has their numbers; the table maps them to
//! objects. It follows the program's calls of `close`, `dup` and `fcntl`. A descriptor of the node that came
//! by `exec` or from another process is recognised by a mark ([`crate::files`]).
//!
//! **Fork.** Threads do not survive `fork`, and a simulator needs its threads. In a child, the parent's
//! descriptors of the node are dead: requests fail with `EIO`, as on a wedged GPU. The child may open the
//! node itself. A child of `vfork` shares the parent's memory and so does not change the table.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ops::{Deref, DerefMut};
use std::os::fd::RawFd;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Once, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, Weak};

use gencl_simulator::{Buffer, Fence};
use gencl_sync::MutexGuard;

use crate::open_file::{FileId, OpenFile, SyncObject};
use crate::submissions::{self, Now};

/// A sync file.
pub struct SyncFile {
    /// The fences, one per timeline.
    pub fences: Vec<Fence>,
    /// The name given by a merge.
    pub name: [u8; 32],
}

/// The object of a descriptor.
#[derive(Clone)]
pub enum Descriptor {
    /// The node.
    Node(Arc<OpenFile>),
    /// A sync file, with fences.
    SyncFile(Arc<SyncFile>),
    /// A sync object.
    SyncObject(Arc<SyncObject>),
}

/// Result of a lookup in the table.
pub enum Lookup {
    /// The descriptor is not in the table.
    Unknown,
    /// The descriptor was opened by a parent, before a fork.
    Dead,
    /// The descriptor's object.
    Is(Descriptor),
}

struct Entry {
    what: Descriptor,
    /// The process that created it.
    process: u32,
}

/// State of all open files of the process.
#[derive(Default)]
struct Table {
    entries: HashMap<RawFd, Entry>,
    /// Exported and imported buffers.
    buffers: HashMap<FileId, Weak<Buffer>>,
    /// Userptr buffers, with the process that created them.
    userptrs: Vec<(u32, Weak<Buffer>)>,
}

static TABLE: RwLock<Option<Table>> = RwLock::new(None);
/// Whether there has ever been an entry. Before, functions return at once, and forks lock nothing.
static USED: AtomicBool = AtomicBool::new(false);
/// The process that owns the table.
static OWNER: AtomicU32 = AtomicU32::new(0);

thread_local! {
    /// This thread holds the table's lock. Functions of the C library that it calls meanwhile, perhaps
    /// through the program's allocator, must not lock it again.
    static HOLDS: Cell<bool> = const { Cell::new(false) };
}

/// A guard of the table's lock.
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

type ReadGuard = Held<RwLockReadGuard<'static, Option<Table>>>;
type WriteGuard = Held<RwLockWriteGuard<'static, Option<Table>>>;

fn read() -> ReadGuard {
    Held::new(TABLE.read().unwrap_or_else(PoisonError::into_inner))
}

fn write() -> WriteGuard {
    Held::new(TABLE.write().unwrap_or_else(PoisonError::into_inner))
}

thread_local! {
    /// The library's locks while this thread forks, so that no other thread holds them.
    static FORKING: RefCell<Option<(MutexGuard<'static, Now>, WriteGuard)>> = const { RefCell::new(None) };
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

/// Registers the handlers for forks. To be called before the first entry.
fn start() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        OWNER.store(std::process::id(), Ordering::Relaxed);
        // SAFETY: the functions remain valid: a preload library is not unloaded.
        unsafe {
            libc::pthread_atfork(Some(before_fork), Some(after_fork_in_parent), Some(after_fork_in_child));
        }
        USED.store(true, Ordering::Release);
    });
}

/// Whether the table belongs to this process, not to a parent that waits for `vfork`.
fn is_own() -> bool {
    OWNER.load(Ordering::Relaxed) == std::process::id()
}

/// Looks up a descriptor.
pub fn get(fd: RawFd) -> Lookup {
    if !is_used() {
        return Lookup::Unknown;
    }
    match read().as_ref().and_then(|table| table.entries.get(&fd)) {
        None => Lookup::Unknown,
        Some(entry) if entry.process != std::process::id() => Lookup::Dead,
        Some(entry) => Lookup::Is(entry.what.clone()),
    }
}

/// Enters a descriptor.
pub fn insert(fd: RawFd, what: Descriptor) {
    start();
    let entry = Entry { what, process: std::process::id() };
    let before = write().get_or_insert_default().entries.insert(fd, entry);
    release(before);
}

/// All open files of the node, repeated for each of their descriptors.
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

/// Drops an entry, which may take the time that a simulator needs to stop. The caller holds no lock.
fn release(entry: Option<Entry>) {
    match entry {
        Some(entry) if entry.process != std::process::id() => {
            // The parent's simulator, whose threads do not exist here: its drop would wait for them forever.
            std::mem::forget(entry);
        }
        Some(Entry { what: Descriptor::Node(file), .. }) => OpenFile::close(file),
        Some(_) | None => {}
    }
}

/// Removes a descriptor that has been closed, or is about to be replaced.
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

/// Whether the process has ever opened the node.
pub fn is_used() -> bool {
    USED.load(Ordering::Acquire)
}

/// The table's descriptors in a range; none in a child of `vfork`.
pub fn range(first: u32, last: u32) -> Vec<RawFd> {
    if !is_used() || !is_own() {
        return Vec::new();
    }
    let numbers = u64::from(first)..=u64::from(last);
    let table = read();
    let all = table.iter().flat_map(|table| table.entries.keys());
    all.copied().filter(|fd| numbers.contains(&(*fd as u64))).collect()
}

/// Removes all descriptors of a range, before they are closed.
pub fn forget_range(first: u32, last: u32) {
    range(first, last).into_iter().for_each(forget);
}

/// Enters `copy`, a duplicate of `fd`.
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

/// The buffer of an exported file, created by `make` if there is none. Concurrent calls return the same
/// buffer.
pub fn buffer<E>(id: FileId, make: impl FnOnce() -> Result<Arc<Buffer>, E>) -> Result<Arc<Buffer>, E> {
    if let Some(buffer) = known_buffer(id) {
        return Ok(buffer);
    }
    start();
    // Without the lock, as it calls interposed functions of the C library.
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

/// The buffer of an exported file, if this process has exported or imported it.
pub fn known_buffer(id: FileId) -> Option<Arc<Buffer>> {
    if !is_used() {
        return None;
    }
    read().as_ref()?.buffers.get(&id)?.upgrade()
}

/// Enters a userptr buffer.
pub fn remember_userptr(buffer: &Arc<Buffer>) {
    start();
    let mut guard = write();
    let userptrs = &mut guard.get_or_insert_default().userptrs;
    // Dead entries are removed now and then.
    if userptrs.len() == userptrs.capacity() {
        userptrs.retain(|(_, buffer)| buffer.strong_count() > 0);
    }
    userptrs.push((std::process::id(), Arc::downgrade(buffer)));
    HAVE_USERPTRS.store(true, Ordering::Release);
}

/// Whether there has ever been a userptr buffer.
static HAVE_USERPTRS: AtomicBool = AtomicBool::new(false);

/// Userptr buffers in a range of the program's memory.
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
