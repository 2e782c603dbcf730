//! Locks, in one place: tests put those of a model checker in their stead.

pub(crate) use std::sync::atomic::{AtomicUsize, Ordering};

pub(crate) use parking_lot::{Condvar, Mutex};
