//! The thread of a queue: waits for what commands depend on, runs them, completes their events.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use parking_lot::{Condvar, Mutex};

use crate::event::Completer;
use crate::launch::{InFlight, Launch};
use crate::{Code, Context, Error, Event, EventStatus, Profile, Result};

/// How many batches may be with the kernel driver at once. Enough to hide the way there; a hang loses all of them.
const MAX_IN_FLIGHT: usize = 8;

/// What a command does.
pub(super) enum Work {
    /// Only waits.
    Nothing,
    /// Runs on the queue's thread.
    Host(Box<dyn FnOnce() -> Result<()> + Send>),
    /// Runs on the GPU.
    Launch(Box<Launch>),
}

/// A command in the queue.
pub(super) struct Command {
    pub(super) completer: Completer,
    pub(super) waits: Box<[Arc<Event>]>,
    pub(super) work: Work,
    pub(super) order: Order,
}

/// What order a command asks for where the queue keeps none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) struct Order {
    /// It runs after all commands before it.
    pub(super) after_all: bool,
    /// It runs before all commands behind it.
    pub(super) before_all: bool,
}

#[derive(Default)]
struct Pending {
    commands: VecDeque<Command>,
    closed: bool,
}

/// What queue and thread share.
#[derive(Default)]
pub(super) struct Shared {
    pending: Mutex<Pending>,
    /// There may be a command to run now.
    available: Condvar,
    /// May a command that has to wait be overtaken?
    out_of_order: bool,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} commands", self.pending.lock().commands.len())
    }
}

impl Shared {
    pub(super) fn push(self: &Arc<Self>, command: Command) {
        if self.out_of_order {
            for event in command.waits.iter().filter(|event| !event.status().ended()) {
                let shared = Arc::downgrade(self);
                let wake = move |_| {
                    if let Some(shared) = shared.upgrade() {
                        // With the lock, so that the thread is not between looking and waiting.
                        let _pending = shared.pending.lock();
                        shared.available.notify_one();
                    }
                };
                event.on_status(0, Box::new(wake));
            }
        }
        self.pending.lock().commands.push_back(command);
        self.available.notify_one();
    }

    pub(super) fn close(&self) {
        self.pending.lock().closed = true;
        self.available.notify_one();
    }

    /// The next command. Without one: waits, or gives `None` when `wait` is not set or the queue is closed and empty.
    fn next(&self, wait: bool) -> Option<Command> {
        let mut pending = self.pending.lock();
        loop {
            if let Some(index) = self.choose(&pending.commands) {
                return pending.commands.remove(index);
            }
            if !wait || (pending.closed && pending.commands.is_empty()) {
                return None;
            }
            self.available.wait(&mut pending);
        }
    }

    /// Which command to run next: the first, or where the order is free the first that need not wait.
    fn choose(&self, commands: &VecDeque<Command>) -> Option<usize> {
        if !self.out_of_order {
            return (!commands.is_empty()).then_some(0);
        }
        for (index, command) in commands.iter().enumerate() {
            let waits = command.waits.iter().any(|event| !event.status().ended());
            if !waits && (index == 0 || !command.order.after_all) {
                return Some(index);
            }
            if command.order.before_all {
                return None;
            }
        }
        None
    }
}

/// Starts the thread of a queue. It ends when the queue is closed and all commands have run.
pub(super) fn start(context: &Arc<Context>, out_of_order: bool) -> Result<Arc<Shared>> {
    let shared = Arc::new(Shared { out_of_order, ..Shared::default() });
    let worker = Worker { context: context.clone(), shared: shared.clone(), running: VecDeque::new() };
    match std::thread::Builder::new().name("gencl-queue".into()).spawn(move || worker.run()) {
        Ok(_) => Ok(shared),
        Err(error) => Err(Error::new(Code::OutOfHostMemory, format!("no thread for the queue: {error}"))),
    }
}

struct Worker {
    context: Arc<Context>,
    shared: Arc<Shared>,
    /// Batches that the kernel driver has, oldest first.
    running: VecDeque<(Completer, InFlight)>,
}

impl Worker {
    fn run(mut self) {
        loop {
            let command = self.shared.next(self.running.is_empty());
            if command.is_none() && self.running.is_empty() {
                return;
            }
            // A panic is a bug of ours. Whatever was in hand has failed, as its event's other half was dropped; the queue goes on.
            let step = AssertUnwindSafe(|| match command {
                Some(command) => self.execute(command),
                None => self.retire(),
            });
            if catch_unwind(step).is_err() {
                self.context
                    .report(&Error::new(Code::OutOfResources, "a command ended in an internal error"));
            }
        }
    }

    fn execute(&mut self, Command { completer, waits, work, .. }: Command) {
        // Events of this very queue are met by retiring, others by waiting.
        if waits.iter().any(|event| !event.status().ended()) {
            self.retire_all();
        }
        for event in &waits {
            if let Err(error) = event.wait() {
                return completer.finish(Err(error), &[]);
            }
        }
        if completer.profiled() {
            completer.stamp(Profile::Submit, self.context.device().host_time());
        }
        match work {
            Work::Launch(launch) => {
                if self.running.len() >= MAX_IN_FLIGHT {
                    self.retire();
                }
                completer.advance(EventStatus::Submitted);
                match launch.submit(&self.context, completer.profiled()) {
                    Ok(running) => {
                        completer.advance(EventStatus::Running);
                        self.running.push_back((completer, running));
                    }
                    Err(error) => {
                        self.context.report(&error);
                        completer.finish(Err(error), &[]);
                    }
                }
            }
            Work::Nothing => {
                self.retire_all();
                self.host(completer, || Ok(()));
            }
            Work::Host(work) => {
                self.retire_all();
                self.host(completer, work);
            }
        }
    }

    fn host(&self, completer: Completer, work: impl FnOnce() -> Result<()>) {
        completer.advance(EventStatus::Submitted);
        completer.advance(EventStatus::Running);
        let now = || if completer.profiled() { self.context.device().host_time() } else { 0 };
        let start = now();
        let result = work();
        let end = now();
        let times = [(Profile::Start, start), (Profile::End, end), (Profile::Complete, end)];
        completer.finish(result, &times);
    }

    fn retire_all(&mut self) {
        while !self.running.is_empty() {
            self.retire();
        }
    }

    /// Waits for the oldest batch and ends its event.
    fn retire(&mut self) {
        let Some((completer, running)) = self.running.pop_front() else { return };
        match running.wait(&self.context) {
            Ok((start, end)) => {
                let times = [(Profile::Start, start), (Profile::End, end), (Profile::Complete, end)];
                completer.finish(Ok(()), &times);
            }
            Err(error) => {
                self.context.report(&error);
                completer.finish(Err(error), &[]);
            }
        }
    }
}
