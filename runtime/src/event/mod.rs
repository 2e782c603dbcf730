//! Events: the state of commands.

mod completer;
mod node;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use crate::{Code, Context, Error, Result, sync};

pub(crate) use completer::Completer;
pub use node::EventStatus;
use node::Node;
pub(crate) use node::{Due, Gate};

/// Type of an event's command; the discriminants are the `CL_COMMAND_*` values.
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
    ReadImage = 0x11F6,
    WriteImage = 0x11F7,
    CopyImage = 0x11F8,
    CopyImageToBuffer = 0x11F9,
    CopyBufferToImage = 0x11FA,
    MapBuffer = 0x11FB,
    MapImage = 0x11FC,
    UnmapMemObject = 0x11FD,
    Marker = 0x11FE,
    ReadBufferRect = 0x1201,
    WriteBufferRect = 0x1202,
    CopyBufferRect = 0x1203,
    User = 0x1204,
    Barrier = 0x1205,
    MigrateMemObjects = 0x1206,
    FillBuffer = 0x1207,
    FillImage = 0x1208,
    SvmFree = 0x1209,
    SvmMemcpy = 0x120A,
    SvmMemFill = 0x120B,
    SvmMap = 0x120C,
    SvmUnmap = 0x120D,
    SvmMigrateMem = 0x120E,
    MemFill = 0x4204,
    Memcpy = 0x4205,
    MigrateMem = 0x4206,
    MemAdvise = 0x4207,
    CommandBuffer = 0x12A8,
    SemaphoreWait = 0x2042,
    SemaphoreSignal = 0x2043,
}

/// `CL_PROFILING_COMMAND_*`: the times that profiling records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "named as in cl.h")]
pub enum ProfilingInfo {
    Queued,
    Submit,
    Start,
    End,
    Complete,
}

/// What an event needs of the queue of its command.
pub(crate) trait EventQueue: Send + Sync {
    /// Wakes the queue's thread, if there is work, without the flush delay.
    fn demand(&self);

    /// Waits until an event of this queue has ended. Errors: see [`Event::wait`].
    fn wait_for(&self, event: &Event) -> Result<()>;
}

/// The state of one command, or of a user event.
pub struct Event {
    kind: CommandKind,
    context: Arc<Context>,
    profiled: bool,
    /// The command's queue; none for user events.
    queue: Option<Weak<dyn EventQueue>>,
    /// Number of the command in its queue. Accessed with the queue locked.
    number: AtomicU64,
    /// Number of the command in its context, for checks; 0 for none.
    command: AtomicU64,
    node: Node<Error>,
    /// By [`ProfilingInfo`].
    times: [AtomicU64; 5],
}

impl std::fmt::Debug for Event {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Event")
            .field("kind", &self.kind)
            .field("status", &self.node.status())
            .finish_non_exhaustive()
    }
}

impl Event {
    /// A user event, with status `Submitted`.
    pub fn user(context: &Arc<Context>) -> Arc<Self> {
        Arc::new(Self {
            kind: CommandKind::User,
            context: context.clone(),
            profiled: false,
            queue: None,
            number: AtomicU64::new(0),
            command: AtomicU64::new(0),
            node: Node::new(EventStatus::Submitted),
            times: Default::default(),
        })
    }

    /// An event of a command of `queue`.
    pub(crate) fn command(
        context: &Arc<Context>,
        queue: Weak<dyn EventQueue>,
        kind: CommandKind,
        profiled: bool,
    ) -> Arc<Self> {
        let (context, node, times) = (context.clone(), Node::new(EventStatus::Queued), Default::default());
        Arc::new(Self {
            kind,
            context,
            profiled,
            queue: Some(queue),
            number: AtomicU64::new(0),
            command: AtomicU64::new(0),
            node,
            times,
        })
    }

    /// Reuses the event of an ended command for a new one of the same queue.
    pub(crate) fn renew(&mut self, kind: CommandKind) {
        self.kind = kind;
        self.command = AtomicU64::new(0);
        self.node = Node::new(EventStatus::Queued);
        self.times = Default::default();
    }

    /// Type of the command.
    pub fn kind(&self) -> CommandKind {
        self.kind
    }

    /// Its context.
    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// Whether it is a command of `queue`.
    pub(crate) fn is_of<Q: EventQueue>(&self, queue: &Arc<Q>) -> bool {
        self.queue.as_ref().is_some_and(|own| std::ptr::addr_eq(own.as_ptr(), Arc::as_ptr(queue)))
    }

    /// Its queue, if it is a command's and the queue exists.
    fn queue(&self) -> Option<Arc<dyn EventQueue>> {
        self.queue.as_ref()?.upgrade()
    }

    /// The number of the command in its queue.
    pub(crate) fn number(&self) -> u64 {
        self.number.load(Ordering::Relaxed)
    }

    pub(crate) fn set_number(&self, number: u64) {
        self.number.store(number, Ordering::Relaxed);
    }

    /// The number of the command in its context, for checks; 0 for none.
    pub(crate) fn command_number(&self) -> u64 {
        self.command.load(Ordering::Relaxed)
    }

    pub(crate) fn set_command_number(&self, number: u64) {
        self.command.store(number, Ordering::Relaxed);
    }

    /// The application knows that the event has ended, for checks.
    pub fn observe(&self) {
        if let Some(conflicts) = self.context.conflicts() {
            conflicts.observe(self.command_number());
        }
    }

    /// Whether the event is complete or failed.
    pub(crate) fn ended(&self) -> bool {
        self.node.status().ended()
    }

    /// The status. As the caller may poll, a command that has not ended is started if possible.
    pub fn status(&self) -> EventStatus {
        let status = self.node.status();
        if status.ended() {
            self.observe();
        } else {
            self.demand();
        }
        status
    }

    /// Wakes the queue's thread, without the flush delay, for a command that is needed by others than a
    /// thread that waits here.
    pub fn demand(&self) {
        if let Some(queue) = self.queue() {
            queue.demand();
        }
    }

    /// The error of a failed event.
    pub fn failure(&self) -> Option<Error> {
        self.node.reason()
    }

    /// Keeps a gate closed until the event has ended. The caller has to call [`Event::demand`] afterwards,
    /// with no queue locked.
    pub(crate) fn hold(&self, gate: &Arc<Gate>) {
        self.node.hold(gate);
    }

    /// Waits until the event has ended. `EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST`, with the text of the
    /// command's error, when it failed; `OUT_OF_RESOURCES` when called by a function that a command of its
    /// queue executes.
    pub fn wait(&self) -> Result<()> {
        match self.queue() {
            Some(queue) => queue.wait_for(self)?,
            None => self.node.wait(),
        }
        self.observe();
        self.outcome()
    }

    /// The result of an ended event. Errors: see [`Event::wait`].
    pub(crate) fn outcome(&self) -> Result<()> {
        match self.node.status() {
            EventStatus::Failed(code) => {
                let own = self.node.reason();
                let fault = own.as_ref().is_some_and(|error| error.fault);
                let reason = match own {
                    // In a chain of failed events all have the text of the first one.
                    Some(error) if error.code == Code::ExecStatusErrorForEventsInWaitList => error.reason,
                    Some(error) => error.to_string().into(),
                    None => format!("status {code}").into(),
                };
                Err(Error { fault, ..Error::new(Code::ExecStatusErrorForEventsInWaitList, reason) })
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
        match self.node.advance(new, None) {
            Some(due) => {
                due.call();
                Ok(())
            }
            None => Err(Error::new(Code::InvalidOperation, "the status of the user event was set before")),
        }
    }

    /// Fails a user event that has not ended, as the application has released its last reference. No effect
    /// on events of commands.
    pub fn abandon(&self) {
        if self.kind == CommandKind::User {
            self.fail(Error::new(
                Code::InvalidEvent,
                "the user event was released before its status was set",
            ));
        }
    }

    /// Fails a user event that has not ended.
    pub(crate) fn fail(&self, reason: Error) {
        self.end(EventStatus::Failed(reason.code as i32), Some(reason));
    }

    /// Ends a user event when `other` ends, and as that does.
    pub(crate) fn end_with(self: &Arc<Self>, other: &Arc<Self>) {
        let (user, ended) = (self.clone(), other.clone());
        other.on_status(0, Box::new(move |status| user.end(status, ended.failure())));
    }

    fn end(&self, status: EventStatus, reason: Option<Error>) {
        if let Some(due) = self.node.advance(status, reason) {
            due.call();
        }
    }

    /// Calls `function` once, when the event reaches the status value `at` (2 submitted, 1 running, 0
    /// complete) or fails, with the status. If it has, the caller calls it; otherwise the queue's thread
    /// does, before threads that wait for the command return.
    pub fn on_status(&self, at: i32, function: Box<dyn FnOnce(EventStatus) + Send>) {
        match self.node.on_status(at, function) {
            Some(due) => due.call(),
            None => self.demand(),
        }
    }

    /// A time in nanoseconds of the host's clock. `PROFILING_INFO_NOT_AVAILABLE` unless the queue profiles
    /// and the command is complete.
    pub fn profile(&self, what: ProfilingInfo) -> Result<u64> {
        if !self.profiled || self.node.status() != EventStatus::Complete {
            return Err(Code::ProfilingInfoNotAvailable.into());
        }
        self.observe();
        Ok(self.times[what as usize].load(Ordering::Relaxed))
    }
}
