//! The handles that threads share: those that are alive, and some that are not.

use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::Mutex;

use crate::random::Random;

/// Kinds of objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Context,
    Queue,
    Memory,
    Program,
    Kernel,
    Event,
}

pub const KINDS: [Kind; 6] =
    [Kind::Context, Kind::Queue, Kind::Memory, Kind::Program, Kind::Kernel, Kind::Event];

/// Most references that are held to objects of each kind.
const MOST: [usize; 6] = [4, 8, 48, 6, 16, 128];

/// Released handles that are remembered.
const GONE: usize = 16;

#[derive(Default)]
struct Pool {
    /// One for each reference.
    alive: Vec<usize>,
    gone: Vec<usize>,
}

/// All handles of a process.
#[derive(Default)]
pub struct Handles([Mutex<Pool>; 6]);

impl Handles {
    fn with<T>(&self, kind: Kind, work: impl FnOnce(&mut Pool) -> T) -> T {
        // A thread that has panicked has left a list as good as any.
        work(&mut self.0[kind as usize].lock().unwrap_or_else(std::sync::PoisonError::into_inner))
    }

    /// A reference that the process has got. Gives one that it is to give back when there are too many.
    #[must_use]
    pub fn add(&self, kind: Kind, handle: *mut c_void, random: &mut Random) -> Option<*mut c_void> {
        if handle.is_null() {
            return None;
        }
        self.with(kind, |pool| {
            pool.alive.push(handle as usize);
            (pool.alive.len() > MOST[kind as usize]).then(|| take(pool, random))
        })
    }

    /// A reference to give back, if there is one.
    pub fn take(&self, kind: Kind, random: &mut Random) -> Option<*mut c_void> {
        self.with(kind, |pool| (!pool.alive.is_empty()).then(|| take(pool, random)))
    }

    /// A handle for a call: most often one that is alive, now and then one that was released, of another kind or null.
    pub fn pick(&self, kind: Kind, random: &mut Random) -> *mut c_void {
        let (kind, released) = match random.below(40) {
            0 => return null_mut(),
            1 => (random.of(&KINDS), false),
            2 => (kind, true),
            _ => (kind, false),
        };
        self.with(kind, |pool| {
            let list = if released { &pool.gone } else { &pool.alive };
            if list.is_empty() { null_mut() } else { random.of(list) as *mut c_void }
        })
    }
}

fn take(pool: &mut Pool, random: &mut Random) -> *mut c_void {
    let index = random.below(pool.alive.len());
    let handle = pool.alive.swap_remove(index);
    if pool.gone.len() == GONE {
        pool.gone.remove(0);
    }
    pool.gone.push(handle);
    handle as *mut c_void
}
