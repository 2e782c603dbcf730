//! Locks that a child by `fork` can use: those of the standard library, with the interface of `parking_lot`.
//!
//! `parking_lot` keeps who waits in lists that the whole process shares. In a child they still have the
//! parent's threads, which are not there, and whose memory the child's own threads are given: the lists
//! break, and threads are not woken. Of the locks here each stands for itself. A panic while one is held does
//! not close it for ever.

use std::ops::{Deref, DerefMut};
use std::sync::{PoisonError, WaitTimeoutResult};
use std::time::{Duration, Instant};

/// A mutex.
#[derive(Debug, Default)]
pub struct Mutex<T>(std::sync::Mutex<T>);

/// What a mutex protects, as long as it is held.
pub struct MutexGuard<'a, T>(Option<std::sync::MutexGuard<'a, T>>);

impl<T> Mutex<T> {
    /// A mutex that is not held.
    pub const fn new(value: T) -> Mutex<T> {
        Mutex(std::sync::Mutex::new(value))
    }

    /// Waits until nobody else holds it.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        MutexGuard(Some(self.0.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    /// What it protects, which nobody else can hold now.
    pub fn get_mut(&mut self) -> &mut T {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    /// What it protected.
    pub fn into_inner(self) -> T {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A guard is without its lock only while [`Condvar`] has it.
const HELD: &str = "a guard that is used holds its lock";

impl<T> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0.as_ref().expect(HELD)
    }
}

impl<T> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.0.as_mut().expect(HELD)
    }
}

/// A condition variable.
#[derive(Debug, Default)]
pub struct Condvar(std::sync::Condvar);

impl Condvar {
    /// One that nobody waits for.
    pub const fn new() -> Condvar {
        Condvar(std::sync::Condvar::new())
    }

    /// Waits until it is notified, or for no reason.
    pub fn wait<T>(&self, guard: &mut MutexGuard<'_, T>) {
        let held = guard.0.take().expect(HELD);
        guard.0 = Some(self.0.wait(held).unwrap_or_else(PoisonError::into_inner));
    }

    /// As [`Condvar::wait`], at most so long.
    pub fn wait_for<T>(&self, guard: &mut MutexGuard<'_, T>, time: Duration) -> WaitTimeoutResult {
        let held = guard.0.take().expect(HELD);
        let (held, result) = self.0.wait_timeout(held, time).unwrap_or_else(PoisonError::into_inner);
        guard.0 = Some(held);
        result
    }

    /// As [`Condvar::wait`], at most until then.
    pub fn wait_until<T>(&self, guard: &mut MutexGuard<'_, T>, deadline: Instant) -> WaitTimeoutResult {
        self.wait_for(guard, deadline.saturating_duration_since(Instant::now()))
    }

    /// Wakes one who waits.
    pub fn notify_one(&self) {
        self.0.notify_one();
    }

    /// Wakes all who wait.
    pub fn notify_all(&self) {
        self.0.notify_all();
    }
}
