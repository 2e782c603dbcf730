//! The handles that threads share: those that are alive, and some that are not.

use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::Mutex;

use gencl_testing::Random;

/// Kinds of objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Context,
    Queue,
    Memory,
    Program,
    Kernel,
    Event,
    Sampler,
    Image,
}

pub const KINDS: [Kind; 8] = [
    Kind::Context,
    Kind::Queue,
    Kind::Memory,
    Kind::Program,
    Kind::Kernel,
    Kind::Event,
    Kind::Sampler,
    Kind::Image,
];

/// Most references that are held to objects of each kind.
const MOST: [usize; KINDS.len()] = [4, 8, 48, 6, 16, 128, 8, 24];

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
pub struct Handles([Mutex<Pool>; KINDS.len()]);

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
            (pool.alive.len() > MOST[kind as usize]).then(|| take(pool, kind, random))
        })
    }

    /// A reference to give back, if there is one.
    pub fn take(&self, kind: Kind, random: &mut Random) -> Option<*mut c_void> {
        self.with(kind, |pool| (!pool.alive.is_empty()).then(|| take(pool, kind, random)))
    }

    /// A handle for a call: most often one that is alive, now and then one that was released, of another kind
    /// or null.
    pub fn pick(&self, kind: Kind, random: &mut Random) -> *mut c_void {
        let (kind, released) = match random.below(40) {
            0 => return null_mut(),
            1 => (random.pick(&KINDS), false),
            2 => (kind, true),
            _ => (kind, false),
        };
        // Most objects are of one context, as those of several have little to do with each other.
        let first = kind == Kind::Context && !random.one_in(10);
        self.with(kind, |pool| {
            let list = if released { &pool.gone } else { &pool.alive };
            match list.first() {
                None => null_mut(),
                Some(handle) if first => *handle as *mut c_void,
                Some(_) => random.pick(list) as *mut c_void,
            }
        })
    }
}

fn take(pool: &mut Pool, kind: Kind, random: &mut Random) -> *mut c_void {
    let count = pool.alive.len();
    // The context that most objects are of stays for a while.
    let stays = kind == Kind::Context && count > 1 && !random.one_in(40);
    let index = if stays { 1 + random.below(count - 1) } else { random.below(count) };
    let handle = pool.alive.swap_remove(index);
    if pool.gone.len() == GONE {
        pool.gone.remove(0);
    }
    pool.gone.push(handle);
    handle as *mut c_void
}
