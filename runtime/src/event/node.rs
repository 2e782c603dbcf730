//! The event graph: the status of an event, threads that wait for it, callbacks, and commands that depend on
//! it.
//!
//! It depends on neither queues nor the API, so that a model checker can run it (`tests/event_graph.rs`).

use std::sync::Arc;

use super::sync::{AtomicUsize, Condvar, Mutex, Ordering};

/// Status of a command or user event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventStatus {
    /// Enqueued.
    Queued,
    /// Its dependences are met and it is submitted to the device. The first status of a user event.
    Submitted,
    /// Executing.
    Running,
    /// Completed without error.
    Complete,
    /// Failed, with a negative code: one of [`crate::Code`] or what the application gave a user event.
    Failed(i32),
}

impl EventStatus {
    /// The value of the C API: 3 queued, 2 submitted, 1 running, 0 complete, negative failed.
    pub fn value(self) -> i32 {
        match self {
            Self::Queued => 3,
            Self::Submitted => 2,
            Self::Running => 1,
            Self::Complete => 0,
            Self::Failed(code) => code,
        }
    }

    /// Complete or failed?
    pub fn ended(self) -> bool {
        self.value() <= 0
    }

    /// The status that a callback registered for the status value `at` receives: a failure, or the one that
    /// it was registered for.
    fn as_seen_at(self, at: i32) -> Self {
        match (self, at) {
            (Self::Failed(_), _) => self,
            (_, 0) => Self::Complete,
            (_, 1) => Self::Running,
            (_, 2) => Self::Submitted,
            _ => Self::Queued,
        }
    }
}

/// A function that is called once with the status.
pub(crate) type Callback = Box<dyn FnOnce(EventStatus) + Send>;

/// Callbacks that are due.
pub(crate) struct Due {
    status: EventStatus,
    /// With the status value that each was registered for, largest first.
    callbacks: Vec<(i32, Callback)>,
}

impl Due {
    pub(crate) fn is_empty(&self) -> bool {
        self.callbacks.is_empty()
    }

    /// Calls them.
    pub(crate) fn call(self) {
        for (at, function) in self.callbacks {
            function(self.status.as_seen_at(at));
        }
    }
}

/// Delays a command until all events that it depends on have ended, successfully or not.
pub(crate) struct Gate {
    missing: AtomicUsize,
    open: Box<dyn Fn() + Send + Sync>,
}

impl Gate {
    /// A gate with one pass outstanding, the caller's, which is given by [`Gate::pass`]. The thread that
    /// gives the last pass calls `open`.
    pub(crate) fn new(open: Box<dyn Fn() + Send + Sync>) -> Arc<Self> {
        Arc::new(Self { missing: AtomicUsize::new(1), open })
    }

    /// Gives one of the outstanding passes.
    pub(crate) fn pass(&self) {
        if self.missing.fetch_sub(1, Ordering::AcqRel) == 1 {
            (self.open)();
        }
    }

    /// Whether no pass is outstanding.
    pub(crate) fn is_open(&self) -> bool {
        self.missing.load(Ordering::Acquire) == 0
    }
}

/// An event as a node of the graph; `R` is the error of a failed one.
pub(crate) struct Node<R> {
    state: Mutex<State<R>>,
    changed: Condvar,
}

struct State<R> {
    status: EventStatus,
    reason: Option<R>,
    callbacks: Vec<(i32, Callback)>,
    gates: Vec<Arc<Gate>>,
}

impl<R: Clone> Node<R> {
    pub(crate) fn new(status: EventStatus) -> Self {
        let state = State { status, reason: None, callbacks: Vec::new(), gates: Vec::new() };
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }

    /// The status.
    pub(crate) fn status(&self) -> EventStatus {
        self.state.lock().status
    }

    /// The error of a failed event.
    pub(crate) fn reason(&self) -> Option<R> {
        self.state.lock().reason.clone()
    }

    /// Waits until the event has ended.
    pub(crate) fn wait(&self) {
        let mut state = self.state.lock();
        while !state.status.ended() {
            self.changed.wait(&mut state);
        }
    }

    /// Keeps `gate` closed until the event has ended.
    pub(crate) fn hold(&self, gate: &Arc<Gate>) {
        let mut state = self.state.lock();
        if !state.status.ended() {
            gate.missing.fetch_add(1, Ordering::Relaxed);
            state.gates.push(gate.clone());
        }
    }

    /// Registers `function` for the status value `at`. Returns it as due when that is reached already.
    #[must_use]
    pub(crate) fn on_status(&self, at: i32, function: Callback) -> Option<Due> {
        let mut state = self.state.lock();
        if state.status.value() > at {
            state.callbacks.push((at, function));
            return None;
        }
        Some(Due { status: state.status, callbacks: vec![(at, function)] })
    }

    /// Sets a later status; an end opens gates and wakes waiting threads. Returns the callbacks that are due.
    /// `None` when the event has ended or reached the status already.
    #[must_use]
    pub(crate) fn advance(&self, status: EventStatus, reason: Option<R>) -> Option<Due> {
        let mut state = self.state.lock();
        if state.status.ended() || status.value() >= state.status.value() {
            return None;
        }
        state.status = status;
        state.reason = reason;
        let mut due = Due { status, callbacks: Vec::new() };
        if !state.callbacks.is_empty() {
            let (now, later) =
                std::mem::take(&mut state.callbacks).into_iter().partition(|(at, _)| status.value() <= *at);
            (due.callbacks, state.callbacks) = (now, later);
            due.callbacks.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
        }
        if !status.ended() {
            return Some(due);
        }
        let gates = std::mem::take(&mut state.gates);
        drop(state);
        self.changed.notify_all();
        gates.iter().for_each(|gate| gate.pass());
        Some(due)
    }
}
