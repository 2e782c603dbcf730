//! Events: what became of a command.

use std::sync::Arc;

use parking_lot::{Condvar, Mutex};

use crate::{Code, Context, Error, Result};

/// What an event stands for; the discriminants are the `CL_COMMAND_*` values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
#[allow(missing_docs, reason = "named as in cl.h")]
pub enum CommandKind {
    NdRangeKernel = 0x11F0,
    Task = 0x11F1,
    NativeKernel = 0x11F2,
    ReadBuffer = 0x11F3,
    WriteBuffer = 0x11F4,
    CopyBuffer = 0x11F5,
    MapBuffer = 0x11FB,
    UnmapMemObject = 0x11FD,
    Marker = 0x11FE,
    ReadBufferRect = 0x1201,
    WriteBufferRect = 0x1202,
    CopyBufferRect = 0x1203,
    User = 0x1204,
    Barrier = 0x1205,
    MigrateMemObjects = 0x1206,
    FillBuffer = 0x1207,
    SvmFree = 0x1209,
    SvmMemcpy = 0x120A,
    SvmMemFill = 0x120B,
    SvmMap = 0x120C,
    SvmUnmap = 0x120D,
    SvmMigrateMem = 0x120E,
}

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
    /// Failed, with a negative code: one of [`Code`] or what the application gave a user event.
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
}

/// Points in a command's life that profiling tells; indices into [`Event::profile`]'s times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "named as in cl.h")]
pub enum Profile {
    Queued,
    Submit,
    Start,
    End,
    Complete,
}

type Callback = Box<dyn FnOnce(EventStatus) + Send>;

struct State {
    status: EventStatus,
    reason: Option<Error>,
    times: [u64; 5],
    /// With the status value that each waits for.
    callbacks: Vec<(i32, Callback)>,
}

/// The state of one command, or of a user event.
pub struct Event {
    kind: CommandKind,
    context: Arc<Context>,
    profiled: bool,
    state: Mutex<State>,
    changed: Condvar,
}

impl std::fmt::Debug for Event {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Event")
            .field("kind", &self.kind)
            .field("status", &self.status())
            .finish_non_exhaustive()
    }
}

impl Event {
    fn new(context: &Arc<Context>, kind: CommandKind, status: EventStatus, profiled: bool) -> Arc<Self> {
        Arc::new(Self {
            kind,
            context: context.clone(),
            profiled,
            state: Mutex::new(State { status, reason: None, times: [0; 5], callbacks: Vec::new() }),
            changed: Condvar::new(),
        })
    }

    /// A user event, status `Submitted`.
    pub fn user(context: &Arc<Context>) -> Arc<Self> {
        Self::new(context, CommandKind::User, EventStatus::Submitted, false)
    }

    /// An event of a command, with the half that moves it on.
    pub(crate) fn command(
        context: &Arc<Context>,
        kind: CommandKind,
        profiled: bool,
    ) -> (Arc<Self>, Completer) {
        let event = Self::new(context, kind, EventStatus::Queued, profiled);
        (event.clone(), Completer { event: Some(event) })
    }

    /// What it stands for.
    pub fn kind(&self) -> CommandKind {
        self.kind
    }

    /// Its context.
    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// How far it is.
    pub fn status(&self) -> EventStatus {
        self.state.lock().status
    }

    /// Why it failed, when it did.
    pub fn failure(&self) -> Option<Error> {
        self.state.lock().reason.clone()
    }

    /// Waits until it has ended. `EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST` with the
    /// command's own reason when it failed.
    pub fn wait(&self) -> Result<()> {
        let mut state = self.state.lock();
        while !state.status.ended() {
            self.changed.wait(&mut state);
        }
        match state.status {
            EventStatus::Failed(code) => {
                let reason = state.reason.as_ref().map_or_else(|| format!("status {code}"), Error::to_string);
                Err(Error::new(Code::ExecStatusErrorForEventsInWaitList, reason))
            }
            _ => Ok(()),
        }
    }

    /// Ends a user event: 0 completes it, a negative value fails it. `INVALID_VALUE` for a positive one,
    /// `INVALID_EVENT` when it is not a user event, `INVALID_OPERATION` when it has ended already.
    pub fn set_user_status(&self, status: i32) -> Result<()> {
        if self.kind != CommandKind::User {
            return Err(Error::new(Code::InvalidEvent, "not a user event"));
        }
        let new = match status {
            0 => EventStatus::Complete,
            code if code < 0 => EventStatus::Failed(code),
            _ => {
                return Err(Error::new(
                    Code::InvalidValue,
                    format!("{status} is no status for a user event"),
                ));
            }
        };
        if self.advance(new, None, None) {
            Ok(())
        } else {
            Err(Error::new(Code::InvalidOperation, "the status of the user event was set before"))
        }
    }

    /// To be called when the application can no longer reach the event: a user event that has not
    /// ended fails, so that nobody waits for ever. No effect on commands' events.
    pub fn abandon(&self) {
        if self.kind == CommandKind::User {
            let reason =
                Error::new(Code::InvalidEvent, "the user event was released before its status was set");
            self.advance(EventStatus::Failed(Code::InvalidEvent as i32), Some(reason), None);
        }
    }

    /// Calls `function` once when the event reaches the status value `at` (2 submitted, 1 running, 0 complete) or
    /// has failed, with the status then; at once when that is past.
    pub fn on_status(&self, at: i32, function: Callback) {
        let mut state = self.state.lock();
        if state.status.value() > at {
            state.callbacks.push((at, function));
            return;
        }
        let status = state.status;
        drop(state);
        function(if status.value() < 0 { status } else { status_of(at) });
    }

    /// A time in nanoseconds of the device's clock. `PROFILING_INFO_NOT_AVAILABLE` unless the queue profiles
    /// and the command is complete.
    pub fn profile(&self, what: Profile) -> Result<u64> {
        let state = self.state.lock();
        if !self.profiled || state.status != EventStatus::Complete {
            return Err(Code::ProfilingInfoNotAvailable.into());
        }
        Ok(state.times[what as usize])
    }

    /// Moves on; `false` when it has ended already or is that far.
    fn advance(&self, status: EventStatus, reason: Option<Error>, times: Option<&[(Profile, u64)]>) -> bool {
        let mut state = self.state.lock();
        if state.status.ended() || status.value() >= state.status.value() {
            return false;
        }
        state.status = status;
        state.reason = reason;
        for &(what, time) in times.unwrap_or_default() {
            state.times[what as usize] = time;
        }
        let (due, later) =
            std::mem::take(&mut state.callbacks).into_iter().partition(|(at, _)| status.value() <= *at);
        state.callbacks = later;
        drop(state);
        self.changed.notify_all();
        let mut due: Vec<_> = due;
        due.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
        for (at, function) in due {
            function(if status.value() < 0 { status } else { status_of(at) });
        }
        true
    }
}

fn status_of(value: i32) -> EventStatus {
    match value {
        0 => EventStatus::Complete,
        1 => EventStatus::Running,
        2 => EventStatus::Submitted,
        _ => EventStatus::Queued,
    }
}

/// The side of an event that the queue holds. Dropping it unfinished fails the event.
pub(crate) struct Completer {
    event: Option<Arc<Event>>,
}

impl Completer {
    /// Is it an event of a profiling queue?
    pub(crate) fn profiled(&self) -> bool {
        self.event.as_ref().is_some_and(|event| event.profiled)
    }

    /// Notes a time.
    pub(crate) fn stamp(&self, what: Profile, time: u64) {
        if let Some(event) = &self.event {
            event.state.lock().times[what as usize] = time;
        }
    }

    /// Moves to `Submitted` or `Running`.
    pub(crate) fn advance(&self, status: EventStatus) {
        if let Some(event) = &self.event {
            event.advance(status, None, None);
        }
    }

    /// Ends the event.
    pub(crate) fn finish(mut self, result: Result<()>, times: &[(Profile, u64)]) {
        if let Some(event) = self.event.take() {
            match result {
                Ok(()) => event.advance(EventStatus::Complete, None, Some(times)),
                Err(error) => event.advance(EventStatus::Failed(error.code as i32), Some(error), None),
            };
        }
    }
}

impl Drop for Completer {
    fn drop(&mut self) {
        if let Some(event) = self.event.take() {
            let reason = Error::new(Code::OutOfResources, "the command was dropped before it ran");
            event.advance(EventStatus::Failed(reason.code as i32), Some(reason), None);
        }
    }
}
