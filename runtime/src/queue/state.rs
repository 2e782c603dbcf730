//! What a queue holds: commands, batches, and what is to be done next.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::thread::ThreadId;

use super::core::MANY;
use super::faults::{Faults, behind};
use crate::event::{Completer, Due, Gate};
use crate::launch::{InFlight, Launch};
use crate::{Error, Event, Result};

/// How many batches may be with the kernel driver at once: one runs, the other is there when that ends.
const MAX_IN_FLIGHT: usize = 2;

/// Most unused things of a kind that are kept: as many as a full queue has.
const MAX_SPARE: usize = MANY;

/// What a command does.
pub(super) enum Work {
    /// Only waits.
    Nothing,
    /// Runs on the host, on any thread.
    Host(Box<dyn FnOnce() -> Result<()> + Send>),
    /// Calls a function of the application, on the queue's thread only: a thread that waits may hold locks that it needs.
    Application(Box<dyn FnOnce() + Send>),
    /// Runs on the GPU.
    Launch(Box<Launch>),
}

/// A command in the queue.
pub(super) struct Command {
    pub(super) completer: Completer,
    /// Those that it depends on: when one has failed, it fails.
    pub(super) waits: Vec<Arc<Event>>,
    /// It depends on all commands before it: when there was a fault in one of them, it fails.
    pub(super) after_all: bool,
    /// The barrier before it in a queue without order: when there was a fault before that, it fails.
    pub(super) barrier: Option<Arc<Event>>,
    /// What it waits at; `None` when there was nothing to wait for.
    pub(super) gate: Option<Arc<Gate>>,
    pub(super) work: Work,
}

impl Command {
    fn is_ready(&self) -> bool {
        self.gate.as_ref().is_none_or(|gate| gate.is_open())
    }

    /// The launch that it is, if it is one.
    pub(super) fn launch(&self) -> Option<&Launch> {
        match &self.work {
            Work::Launch(launch) => Some(launch),
            Work::Nothing | Work::Host(_) | Work::Application(_) => None,
        }
    }

    fn is_launch(&self) -> bool {
        self.launch().is_some()
    }

    /// Why it cannot run, if something that it depends on has failed; `fault` is one of its queue.
    pub(super) fn refusal(&self, fault: Option<&Error>) -> Option<Error> {
        let listed = self.waits.iter().find_map(|event| event.outcome().err());
        listed.or_else(|| {
            let barrier = self.barrier.as_ref().and_then(|event| event.failure()).filter(|error| error.fault);
            barrier.as_ref().or(fault.filter(|_| self.after_all)).map(behind)
        })
    }
}

/// A batch that the kernel driver has, and its commands.
pub(super) struct Flight {
    pub(super) batch: InFlight,
    /// All are launches, in the batch's order.
    pub(super) commands: VecDeque<Command>,
}

/// What is to be done next.
#[allow(clippy::large_enum_variant, reason = "a box would be an allocation for each batch")]
pub(super) enum Step {
    /// Commands to hand to the GPU.
    Submit(VecDeque<Command>),
    /// A command that runs on the host.
    Run(Command),
    /// A batch to wait for.
    Retire(Flight),
}

/// A command whose turn has not come: that of one it depends on has not, or what it waits for elsewhere has not ended.
struct Blocked {
    command: Command,
    /// So many things are missing: blocked commands that it depends on, and its gate.
    missing: usize,
    /// Those that depend on it.
    followers: Vec<u64>,
}

/// Things that will be used again, so that launches allocate nothing.
#[derive(Default)]
pub(super) struct Spare {
    pub(super) events: Vec<Arc<Event>>,
    pub(super) lists: Vec<VecDeque<Command>>,
}

/// Keeps something for later if there is not enough of it.
pub(super) fn keep<T>(spare: &mut Vec<T>, thing: T) {
    if spare.len() < MAX_SPARE {
        spare.push(thing);
    }
}

/// The events of commands that have not ended, in the order of their numbers; some that have may be among them.
#[derive(Default)]
struct Outstanding {
    events: VecDeque<(u64, Arc<Event>)>,
    /// At this length those that have ended are looked for also behind the first.
    look_at: usize,
}

/// What a queue holds, behind its lock.
#[derive(Default)]
pub(super) struct State {
    /// Commands whose turn has come but for what stands before them, in the order in which they run.
    pub(super) pending: VecDeque<Command>,
    /// Commands of a queue without order whose turn has not come, by their numbers.
    blocked: BTreeMap<u64, Blocked>,
    /// The last barrier of a queue without order.
    pub(super) barrier: Option<Arc<Event>>,
    /// Batches that the kernel driver has, oldest first.
    pub(super) flights: VecDeque<Flight>,
    /// No further batch is taken before the oldest has been waited for.
    pub(super) retires_first: bool,
    outstanding: Outstanding,
    pub(super) faults: Faults,
    /// Commands that were enqueued; the number of the last.
    pub(super) enqueued: u64,
    /// The thread that does a step.
    pub(super) leader: Option<ThreadId>,
    /// Threads that wait for a change.
    pub(super) waiting: usize,
    /// They want nothing before all commands up to this number have ended, unless somebody has to lead.
    pub(super) awaited: u64,
    /// Threads that wait for room.
    pub(super) crowded: usize,
    /// Callbacks for the queue's thread to call.
    pub(super) due: Vec<Due>,
    /// The queue's thread calls some.
    pub(super) calling: bool,
    /// Something is wanted that nobody waits for: the queue's thread is to work at once.
    pub(super) demanded: bool,
    /// The queue's thread sleeps until it is woken.
    pub(super) asleep: bool,
    /// No more commands will come.
    pub(super) closed: bool,
    pub(super) spare: Spare,
}

impl State {
    /// Is there any command that can come on without others' doing?
    pub(super) fn has_step(&self, queue_thread: bool) -> bool {
        match self.pending.front().filter(|command| command.is_ready()) {
            Some(command) if command.is_launch() && self.takes_batch() => true,
            Some(command) if self.flights.is_empty() => {
                queue_thread || !matches!(command.work, Work::Application(_))
            }
            _ => !self.flights.is_empty(),
        }
    }

    fn takes_batch(&self) -> bool {
        self.flights.is_empty() || (self.flights.len() < MAX_IN_FLIGHT && !self.retires_first)
    }

    /// Takes what is to be done next out.
    pub(super) fn take_step(&mut self, most: usize) -> Option<Step> {
        let ready = self.pending.front().filter(|command| command.is_ready());
        match ready.map(Command::is_launch) {
            Some(true) if self.takes_batch() => {
                let mut commands = self.spare.lists.pop().unwrap_or_default();
                let is_next = |command: &Command| command.is_launch() && command.is_ready();
                while commands.len() < most && self.pending.front().is_some_and(is_next) {
                    commands.extend(self.pending.pop_front());
                }
                Some(Step::Submit(commands))
            }
            Some(false) if self.flights.is_empty() => self.pending.pop_front().map(Step::Run),
            _ => self.flights.pop_front().map(Step::Retire),
        }
    }

    /// Is there nothing left that has not ended?
    pub(super) fn is_empty(&self) -> bool {
        self.pending.is_empty() && self.blocked.is_empty() && self.flights.is_empty() && self.due.is_empty()
    }

    /// Takes a command of a queue without order, which depends on those `before` it. Its turn comes when theirs has: commands whose turn has
    /// come are executed in order.
    pub(super) fn line_up(&mut self, number: u64, command: Command, before: impl Iterator<Item = u64>) {
        let mut missing = usize::from(command.gate.is_some());
        for other in before {
            if let Some(blocked) = self.blocked.get_mut(&other) {
                blocked.followers.push(number);
                missing += 1;
            }
        }
        if missing == 0 && (!command.after_all || self.blocked.is_empty()) {
            self.pending.push_back(command);
        } else {
            self.blocked.insert(number, Blocked { command, missing, followers: Vec::new() });
        }
    }

    /// The gate of a blocked command has opened.
    pub(super) fn opened(&mut self, number: u64) {
        let mut passed = VecDeque::from([number]);
        loop {
            let number = match passed.pop_front() {
                Some(number) => {
                    self.blocked.entry(number).and_modify(|blocked| blocked.missing -= 1);
                    number
                }
                // One that depends on all before it, perhaps.
                None => match self.blocked.first_key_value() {
                    Some((first, blocked)) if blocked.missing == 0 => *first,
                    _ => return,
                },
            };
            if self.has_turn(number)
                && let Some(Blocked { command, followers, .. }) = self.blocked.remove(&number)
            {
                self.pending.push_back(command);
                passed.extend(followers);
            }
        }
    }

    fn has_turn(&self, number: u64) -> bool {
        let is_first = || self.blocked.first_key_value().is_some_and(|(first, _)| *first == number);
        let blocked = self.blocked.get(&number);
        blocked.is_some_and(|blocked| blocked.missing == 0 && (!blocked.command.after_all || is_first()))
    }

    /// Gives a new command a number.
    pub(super) fn enter(&mut self, event: &Arc<Event>) -> u64 {
        self.forget_ended();
        self.enqueued += 1;
        event.set_number(self.enqueued);
        self.outstanding.events.push_back((self.enqueued, event.clone()));
        self.enqueued
    }

    /// Have all commands up to this number ended?
    pub(super) fn ended_up_to(&mut self, number: u64) -> bool {
        self.forget_ended();
        self.outstanding.events.front().is_none_or(|(first, _)| *first > number)
    }

    /// Is what the leader has done of use to threads that wait? As long as there is a next step, it is not before what they want has ended: they
    /// would only keep the processor from who does the step.
    pub(super) fn serves_waiting(&mut self) -> bool {
        !self.has_step(true) || !self.due.is_empty() || self.ended_up_to(self.awaited)
    }

    /// The events of commands that have not ended.
    pub(super) fn outstanding(&self) -> impl Iterator<Item = &Arc<Event>> {
        self.outstanding.events.iter().map(|(_, event)| event)
    }

    fn forget_ended(&mut self) {
        let Self { outstanding: Outstanding { events, look_at }, spare, .. } = self;
        while events.front().is_some_and(|(_, event)| event.ended()) {
            spare_event(spare, events.pop_front());
        }
        if events.len() > *look_at {
            for _ in 0..events.len() {
                let entry = events.pop_front();
                match entry {
                    Some((_, ref event)) if event.ended() => spare_event(spare, entry),
                    entry => events.extend(entry),
                }
            }
            *look_at = 2 * events.len() + 64;
        }
    }
}

/// Keeps an event that nobody else has.
fn spare_event(spare: &mut Spare, entry: Option<(u64, Arc<Event>)>) {
    if let Some((_, mut event)) = entry
        && Arc::get_mut(&mut event).is_some()
    {
        keep(&mut spare.events, event);
    }
}
