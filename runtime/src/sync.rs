//! Locks and atomics of the event graph. `tests/event_graph.rs` substitutes those of a model checker.

pub(crate) use std::sync::atomic::{AtomicUsize, Ordering};

pub(crate) use parking_lot::{Condvar, Mutex};
