//! The event graph: how far something is, who waits for that, and what begins when it ends.
//!
//! It knows neither queues nor the API, so that `tests/event_graph.rs` can try all orders of its steps.

use std::sync::Arc;

use super::sync::{AtomicUsize, Condvar, Mutex, Ordering};

/// How far a command is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventStatus {
    /// In its queue. A user event stays `Submitted`.
    Queued,
    /// Its dependencies are met and it was handed to the device.
    Submitted,
    /// The device works on it.
    Running,
    /// Done.
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

    /// What a callback for the status value `at` is told in this status: failures as they are, else what it
    /// asked for.
    fn told_at(self, at: i32) -> Self {
        match (self, at) {
            (Self::Failed(_), _) => self,
            (_, 0) => Self::Complete,
            (_, 1) => Self::Running,
            (_, 2) => Self::Submitted,
            _ => Self::Queued,
        }
    }
}

/// A function that is called once, with the status.
pub(crate) type Callback = Box<dyn FnOnce(EventStatus) + Send>;

/// Callbacks whose time has come.
pub(crate) struct Due {
    status: EventStatus,
    /// With the status value that each waited for, the largest first.
    callbacks: Vec<(i32, Callback)>,
}

impl Due {
    pub(crate) fn is_empty(&self) -> bool {
        self.callbacks.is_empty()
    }

    /// Calls them.
    pub(crate) fn call(self) {
        for (at, function) in self.callbacks {
            function(self.status.told_at(at));
        }
    }
}

/// What a command waits at: opens when everything before it has ended, well or not.
pub(crate) struct Gate {
    missing: AtomicUsize,
    open: Box<dyn Fn() + Send + Sync>,
}

impl Gate {
    /// A gate that calls `open` once, on the thread on which the last thing before it ends. The maker counts
    /// as one of those things, until it calls [`Gate::pass`].
    pub(crate) fn new(open: Box<dyn Fn() + Send + Sync>) -> Arc<Self> {
        Arc::new(Self { missing: AtomicUsize::new(1), open })
    }

    /// One thing less before it.
    pub(crate) fn pass(&self) {
        if self.missing.fetch_sub(1, Ordering::AcqRel) == 1 {
            (self.open)();
        }
    }

    /// Is nothing left before it?
    pub(crate) fn is_open(&self) -> bool {
        self.missing.load(Ordering::Acquire) == 0
    }
}

/// An event's part in the graph; `R` is why it failed.
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

    /// How far it is.
    pub(crate) fn status(&self) -> EventStatus {
        self.state.lock().status
    }

    /// Why it failed, when it did.
    pub(crate) fn reason(&self) -> Option<R> {
        self.state.lock().reason.clone()
    }

    /// Waits until it has ended.
    pub(crate) fn wait(&self) {
        let mut state = self.state.lock();
        while !state.status.ended() {
            self.changed.wait(&mut state);
        }
    }

    /// Keeps `gate` closed until this has ended.
    pub(crate) fn hold(&self, gate: &Arc<Gate>) {
        let mut state = self.state.lock();
        if !state.status.ended() {
            gate.missing.fetch_add(1, Ordering::Relaxed);
            state.gates.push(gate.clone());
        }
    }

    /// Has `function` called when the status value `at` is reached. Gives it back as due when that is past.
    #[must_use]
    pub(crate) fn on_status(&self, at: i32, function: Callback) -> Option<Due> {
        let mut state = self.state.lock();
        if state.status.value() > at {
            state.callbacks.push((at, function));
            return None;
        }
        Some(Due { status: state.status, callbacks: vec![(at, function)] })
    }

    /// Moves on: opens gates at the end, wakes who waits, gives the callbacks that are due now. `None` when
    /// it has ended already or is that far.
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
