//! The state of a queue: commands, batches in flight, and the choice of the next step.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::thread::ThreadId;

use super::faults::{Faults, behind};
use crate::event::{CommandKind, Completer, Due, Gate};
use crate::launch::{EnqueuedLaunch, InFlight, MAX_LAUNCHES};
use crate::{Error, Event, SharedMemory, Transfer};

/// Backpressure limit: with this many pending commands, a thread that enqueues executes or waits for half of
/// them first.
pub(super) const MAX_PENDING: usize = 16 * 1024;

/// Batches in flight: one that the GPU executes, and one that it can begin without waiting for the host.
const MAX_IN_FLIGHT: usize = 2;

/// Objects of a kind that are kept for reuse, at most: as many as a full queue has.
const MAX_SPARE: usize = MAX_PENDING;

/// Number of commands from which on a list has batches of its own, which are the same each time that it is enqueued.
const LONG_LIST: usize = 16;

/// Launches of such a list in a batch, at most, where a batch of others has `most`: more, as no event ends before that
/// of the list, and the same number most times, though `most` changes.
fn most_of_list(most: usize) -> usize {
    (4 * most).next_power_of_two().min(MAX_LAUNCHES)
}

/// The action of a command.
pub(super) enum Work {
    /// None: a marker, a barrier, a migration.
    Nothing,
    /// Executed on the host, on any thread, with the shared virtual memory that it uses.
    Host(Transfer, [Option<Arc<SharedMemory>>; 2]),
    /// A function of the application, called on the queue's thread only: a waiting thread may hold locks that
    /// it needs.
    Application(Box<dyn FnOnce() + Send>),
    /// Executed on the GPU.
    Launch(EnqueuedLaunch),
    /// Those of a command-buffer, in order, at least one.
    List(Vec<Work>),
}

impl Work {
    /// A transfer, which keeps the memory that it uses.
    pub(super) fn of(transfer: Transfer) -> Self {
        let shared = transfer.hold();
        Self::Host(transfer, shared)
    }

    /// Type of a command of a list.
    fn kind(&self) -> CommandKind {
        match self {
            Self::Nothing => CommandKind::Barrier,
            Self::Host(transfer, _) => transfer.kind(),
            Self::Application(_) => CommandKind::SvmFree,
            Self::Launch(_) => CommandKind::NdRangeKernel,
            Self::List(_) => CommandKind::CommandBuffer,
        }
    }
}

/// A command in the queue.
pub(super) struct Command {
    pub(super) completer: Completer,
    /// Its wait list: when one of these has failed, it fails.
    pub(super) waits: Vec<Arc<Event>>,
    /// It depends on all earlier commands: when there was a fault in one of them, it fails.
    pub(super) after_all: bool,
    /// The last barrier before it in an out-of-order queue: when there was a fault before that, it fails.
    pub(super) barrier: Option<Arc<Event>>,
    /// Opens when the events of other queues in its wait list have ended; `None`: there were none.
    pub(super) gate: Option<Arc<Gate>>,
    pub(super) work: Work,
}

impl Command {
    fn is_ready(&self) -> bool {
        self.gate.as_ref().is_none_or(|gate| gate.is_open())
    }

    /// The launch that it is, if it is one.
    pub(super) fn launch(&self) -> Option<&EnqueuedLaunch> {
        match &self.work {
            Work::Launch(launch) => Some(launch),
            Work::Nothing | Work::Host(..) | Work::Application(_) | Work::List(_) => None,
        }
    }

    /// Whether it is one of a list with batches of its own.
    pub(super) fn is_of_long_list(&self) -> bool {
        self.completer.share().1 >= LONG_LIST
    }

    /// Whether it is the first of such a list, and whether it is the last.
    fn edges(&self) -> [bool; 2] {
        let (index, count) = self.completer.share();
        [index == 0, index + 1 == count].map(|edge| edge && count >= LONG_LIST)
    }

    fn is_launch(&self) -> bool {
        self.launch().is_some()
    }

    /// The error with which it fails instead of being executed, if a dependence has failed, or a command of
    /// its list; `fault` is the queue's.
    pub(super) fn refusal(&self, fault: Option<&Error>) -> Option<Error> {
        let listed = || self.waits.iter().find_map(|event| event.outcome().err());
        self.completer.failure().cloned().or_else(listed).or_else(|| {
            let barrier = self.barrier.as_ref().and_then(|event| event.failure()).filter(|error| error.fault);
            barrier.as_ref().or(fault.filter(|_| self.after_all)).map(behind)
        })
    }
}

/// A batch in flight, and its commands.
pub(super) struct Flight {
    pub(super) batch: InFlight,
    /// Launches, in the order of the batch.
    pub(super) commands: VecDeque<Command>,
}

/// What the leader executes next.
#[allow(clippy::large_enum_variant, reason = "a box would be an allocation for each batch")]
pub(super) enum Step {
    /// Launches to submit.
    Submit(VecDeque<Command>),
    /// A command to execute on the host.
    Run(Command),
    /// A batch to wait for.
    Retire(Flight),
}

/// A command of an out-of-order queue that has not been issued: one that it depends on has not, or its gate
/// is closed.
struct Blocked {
    command: Command,
    /// Number of blocked commands that it depends on, and 1 for a closed gate.
    missing: usize,
    /// Numbers of the blocked commands that depend on it.
    dependents: Vec<u64>,
}

/// Objects for reuse, so that launches do not allocate.
#[derive(Default)]
pub(super) struct Spare {
    pub(super) events: Vec<Arc<Event>>,
    pub(super) lists: Vec<VecDeque<Command>>,
}

/// Keeps an object for reuse, up to [`MAX_SPARE`].
pub(super) fn keep<T>(spare: &mut Vec<T>, object: T) {
    if spare.len() < MAX_SPARE {
        spare.push(object);
    }
}

/// The events of commands that have not ended, by increasing number. Ended ones are removed lazily.
#[derive(Default)]
struct Outstanding {
    events: VecDeque<(u64, Arc<Event>)>,
    /// Length at which ended events are removed from the middle, too.
    sweep_at: usize,
}

/// The state of a queue, behind its lock.
#[derive(Default)]
pub(super) struct State {
    /// Issued commands, in the order of their execution.
    pub(super) pending: VecDeque<Command>,
    /// Commands of an out-of-order queue that have not been issued, by number.
    blocked: BTreeMap<u64, Blocked>,
    /// The last barrier of an out-of-order queue.
    pub(super) barrier: Option<Arc<Event>>,
    /// Batches in flight, oldest first.
    pub(super) flights: VecDeque<Flight>,
    /// The oldest batch has to be retired before another one is submitted.
    pub(super) retires_first: bool,
    outstanding: Outstanding,
    pub(super) faults: Faults,
    /// Number of the last command.
    pub(super) enqueued: u64,
    /// The thread that executes a step.
    pub(super) leader: Option<ThreadId>,
    /// Number of threads that wait for commands.
    pub(super) waiting: usize,
    /// None of them has to be woken before all commands up to this number have ended, unless one of them has
    /// to lead.
    pub(super) awaited: u64,
    /// Number of threads that wait until the queue is below its backpressure limit.
    pub(super) throttled: usize,
    /// Callbacks that the queue's thread has to call.
    pub(super) due: Vec<Due>,
    /// The queue's thread is calling callbacks.
    pub(super) calling: bool,
    /// The queue's thread is to execute commands without the flush delay.
    pub(super) demanded: bool,
    /// The queue's thread sleeps without a timeout.
    pub(super) asleep: bool,
    /// No more commands will be added.
    pub(super) closed: bool,
    pub(super) spare: Spare,
}

impl State {
    /// Whether there is a step. Functions of the application count for the queue's thread only.
    pub(super) fn has_step(&self, queue_thread: bool) -> bool {
        match self.pending.front().filter(|command| command.is_ready()) {
            Some(command) if command.is_launch() && self.takes_batch() => true,
            Some(command) if self.flights.is_empty() => {
                queue_thread || !matches!(command.work, Work::Application(_))
            }
            _ => !self.flights.is_empty(),
        }
    }

    /// Whether the next step is a command of the host, but for functions of the application.
    pub(super) fn has_host_step(&self) -> bool {
        let is_launch = self.pending.front().is_some_and(Command::is_launch);
        self.flights.is_empty() && !is_launch && self.has_step(false)
    }

    fn takes_batch(&self) -> bool {
        self.flights.is_empty() || (self.flights.len() < MAX_IN_FLIGHT && !self.retires_first)
    }

    /// Takes the next step, with at most `most` launches.
    pub(super) fn take_step(&mut self, most: usize) -> Option<Step> {
        let ready = self.pending.front().filter(|command| command.is_ready());
        match ready.map(Command::is_launch) {
            Some(true) if self.takes_batch() => {
                let mut commands = self.spare.lists.pop().unwrap_or_default();
                let is_next = |command: &&Command| command.is_launch() && command.is_ready();
                let mut most = most;
                while let Some(next) = self.pending.front().filter(is_next) {
                    let [first, last] = next.edges();
                    if commands.is_empty() && next.is_of_long_list() {
                        most = most_of_list(most);
                    }
                    if commands.len() >= most || (first && !commands.is_empty()) {
                        break;
                    }
                    commands.extend(self.pending.pop_front());
                    if last {
                        break;
                    }
                }
                Some(Step::Submit(commands))
            }
            Some(false) if self.flights.is_empty() => self.pending.pop_front().map(Step::Run),
            _ => self.flights.pop_front().map(Step::Retire),
        }
    }

    /// Whether all commands have ended, and all callbacks have been taken.
    pub(super) fn is_empty(&self) -> bool {
        self.pending.is_empty() && self.blocked.is_empty() && self.flights.is_empty() && self.due.is_empty()
    }

    /// Issues a command: it is executed behind those that have been issued. The commands of a list are one behind
    /// the other, and share its event. The first has what the list depends on, and the others depend on it.
    pub(super) fn issue(&mut self, command: Command) {
        let Command { completer, waits, after_all, barrier, gate, work: Work::List(list) } = command else {
            return self.pending.push_back(command);
        };
        let mut dependences = Some((waits, barrier, gate));
        for (completer, work) in completer.divide(list, Work::kind) {
            let (waits, barrier, gate) = dependences.take().unwrap_or_default();
            self.pending.push_back(Command { completer, waits, after_all, barrier, gate, work });
        }
    }

    /// Adds a command of an out-of-order queue. It is issued when the commands of the queue that it depends
    /// on (`is_own` tells their events) have been issued, not when they have ended, as issued commands are
    /// executed in order.
    pub(super) fn issue_after(&mut self, number: u64, command: Command, is_own: impl Fn(&Event) -> bool) {
        let mut missing = usize::from(command.gate.is_some());
        for event in command.waits.iter().chain(&command.barrier).filter(|event| is_own(event)) {
            if let Some(blocked) = self.blocked.get_mut(&event.number()) {
                blocked.dependents.push(number);
                missing += 1;
            }
        }
        if missing == 0 && (!command.after_all || self.blocked.is_empty()) {
            self.issue(command);
        } else {
            self.blocked.insert(number, Blocked { command, missing, dependents: Vec::new() });
        }
    }

    /// Issues a blocked command whose gate has opened, and the commands that can be issued for that.
    pub(super) fn gate_opened(&mut self, number: u64) {
        let mut satisfied = VecDeque::from([number]);
        loop {
            let number = match satisfied.pop_front() {
                Some(number) => {
                    self.blocked.entry(number).and_modify(|blocked| blocked.missing -= 1);
                    number
                }
                // A marker or barrier that depends on all earlier commands is issued when it is the first one
                // left.
                None => match self.blocked.first_key_value() {
                    Some((first, blocked)) if blocked.missing == 0 => *first,
                    _ => return,
                },
            };
            if self.can_issue(number)
                && let Some(Blocked { command, dependents, .. }) = self.blocked.remove(&number)
            {
                self.issue(command);
                satisfied.extend(dependents);
            }
        }
    }

    fn can_issue(&self, number: u64) -> bool {
        let is_first = || self.blocked.first_key_value().is_some_and(|(first, _)| *first == number);
        let blocked = self.blocked.get(&number);
        blocked.is_some_and(|blocked| blocked.missing == 0 && (!blocked.command.after_all || is_first()))
    }

    /// Numbers a new command.
    pub(super) fn enter(&mut self, event: &Arc<Event>) -> u64 {
        self.forget_ended();
        self.enqueued += 1;
        event.set_number(self.enqueued);
        self.outstanding.events.push_back((self.enqueued, event.clone()));
        self.enqueued
    }

    /// Whether all commands up to this number have ended.
    pub(super) fn ended_up_to(&mut self, number: u64) -> bool {
        self.forget_ended();
        self.outstanding.events.front().is_none_or(|(first, _)| *first > number)
    }

    /// Should waiting threads be woken after a step? While there is a next step, not before what they wait
    /// for has ended: they would only take the processor from the leader.
    pub(super) fn serves_waiting(&mut self) -> bool {
        !self.has_step(true) || !self.due.is_empty() || self.ended_up_to(self.awaited)
    }

    /// The events of commands that have not ended.
    pub(super) fn outstanding(&self) -> impl Iterator<Item = &Arc<Event>> {
        self.outstanding.events.iter().map(|(_, event)| event)
    }

    fn forget_ended(&mut self) {
        let Self { outstanding: Outstanding { events, sweep_at }, spare, .. } = self;
        while events.front().is_some_and(|(_, event)| event.ended()) {
            spare_event(spare, events.pop_front());
        }
        if events.len() > *sweep_at {
            for _ in 0..events.len() {
                let entry = events.pop_front();
                match entry {
                    Some((_, ref event)) if event.ended() => spare_event(spare, entry),
                    entry => events.extend(entry),
                }
            }
            *sweep_at = 2 * events.len() + 64;
        }
    }
}

/// Keeps an event for reuse if there is no other reference to it.
fn spare_event(spare: &mut Spare, entry: Option<(u64, Arc<Event>)>) {
    if let Some((_, mut event)) = entry
        && Arc::get_mut(&mut event).is_some()
    {
        keep(&mut spare.events, event);
    }
}
