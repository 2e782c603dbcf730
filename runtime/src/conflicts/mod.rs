//! Commands that use the same memory although nothing orders them (`GENCL_DEBUG=check`, the tool `order`).
//!
//! [`window`] knows which commands happen before others, whatever the schedule was. Pairs that are not ordered and may
//! use the same memory are kept until it is known which bytes they have accessed ([`access`]): that of a launch when it
//! has ended, by the marks that its kernel has left.

mod access;
mod window;

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use gencl_program::misuse::MisuseKind;

pub(crate) use self::access::{Access, AccessKind, marked};
pub(crate) use self::window::Place;
use self::window::Window;
use crate::calls::{self, Call};
use crate::findings::{self, Fault};
use crate::sync::Mutex;

/// Pairs that are kept, at most; beyond that the oldest one is forgotten.
const MAX_PAIRS: usize = 1 << 14;

/// A command, as far as conflicts need it.
pub(crate) struct Command {
    call: Call,
    /// Number of its queue; 0 for the application's access to mapped memory.
    queue: u64,
    parts: Vec<Part>,
}

/// A launch, or a command of another kind; command-buffers have several.
pub(crate) struct Part {
    /// The kernel's name.
    pub(crate) kernel: Option<String>,
    /// Numbers of allocations that it may access, and whether it may write there.
    pub(crate) memory: Vec<(u64, bool)>,
    /// Set when it is known.
    pub(crate) accesses: OnceLock<Vec<Access>>,
}

impl Part {
    /// A part whose accesses are known.
    pub(crate) fn of(accesses: Vec<Access>) -> Self {
        let memory = accesses.iter().map(|access| (access.memory, access.kind != AccessKind::Read));
        Self { kernel: None, memory: memory.collect(), accesses: accesses.into() }
    }
}

impl Command {
    /// A command of a queue that is being enqueued.
    pub(crate) fn new(queue: u64, parts: Vec<Part>) -> Arc<Self> {
        Arc::new(Self { call: Call::here(), queue, parts })
    }

    fn may_conflict(&self, other: &Self) -> bool {
        let own = self.parts.iter().flat_map(|part| &part.memory);
        let others = || other.parts.iter().flat_map(|part| &part.memory);
        own.into_iter().any(|(memory, writes)| {
            others().any(|(other, other_writes)| (*writes || *other_writes) && memory == other)
        })
    }

    fn is_known(&self) -> bool {
        self.parts.iter().all(|part| part.accesses.get().is_some())
    }

    fn accesses(&self) -> impl Iterator<Item = (&Part, &Access)> {
        self.parts
            .iter()
            .flat_map(|part| part.accesses.get().into_iter().flatten().map(move |one| (part, one)))
    }

    /// An access in a report: `kernel scale on queue 1 writes bytes 0 to 3 in argument 0 (p)`.
    fn told(&self, part: &Part, access: &Access, bytes: &str) -> String {
        let who = match (self.queue, &part.kernel) {
            (0, _) => "the program".to_owned(),
            (queue, Some(kernel)) => format!("kernel {kernel} on queue {queue}"),
            (queue, None) => format!("{} on queue {queue}", self.call.function),
        };
        let place = match &access.argument {
            _ if self.queue == 0 => format!(" mapped by {}", self.call.function),
            Some(argument) => format!(" in {argument}"),
            None => String::new(),
        };
        format!("{who} {}{bytes}{place}", access.kind.verb())
    }
}

/// A launch of a command.
#[derive(Clone)]
pub(crate) struct LaunchedPart {
    command: Arc<Command>,
    /// Which part of it.
    pub(crate) index: usize,
}

/// The commands of a context.
#[derive(Default)]
pub(crate) struct Conflicts {
    queues: AtomicU64,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    window: Window<Arc<Command>>,
    /// That are not ordered and may use the same memory, until it is known what they access.
    pairs: VecDeque<[Arc<Command>; 2]>,
    /// Accesses of the application to mapped memory, by address.
    mappings: HashMap<usize, Vec<u64>>,
    /// Some commands may not be ordered with later ones.
    has_several_orders: bool,
    /// Texts of what was reported, by the calls.
    reported: HashMap<[Call; 2], [String; 2]>,
}

impl Conflicts {
    /// Those of a new context, if they are looked for.
    pub(crate) fn new() -> Option<Self> {
        calls::tools().order.then(Self::default)
    }

    /// The number of a new queue, from 1 on.
    pub(crate) fn add_queue(&self, is_in_order: bool) -> u64 {
        let number = self.queues.fetch_add(1, Ordering::Relaxed) + 1;
        if number > 1 || !is_in_order {
            self.state.lock().has_several_orders = true;
        }
        number
    }

    /// Adds a command. Returns its number, and the launches whose accesses have to be told.
    pub(crate) fn add(&self, place: &Place<'_>, command: &Arc<Command>) -> (u64, Vec<LaunchedPart>) {
        let mut state = self.state.lock();
        let State { window, pairs, has_several_orders, .. } = &mut *state;
        let before = pairs.len();
        let number = window.add(place, command.clone(), |one, other| add_pair(pairs, one, other));
        let is_needed = *has_several_orders || pairs.len() > before;
        if !is_needed {
            command.parts.iter().for_each(|part| drop(part.accesses.set(Vec::new())));
        }
        state.report_known();
        drop(state);
        let is_open = |index: &usize| command.parts[*index].accesses.get().is_none();
        let launches = (0..command.parts.len()).filter(is_open);
        (number, launches.map(|index| LaunchedPart { command: command.clone(), index }).collect())
    }

    /// A launch has ended, and has accessed this.
    pub(crate) fn end(&self, launch: &LaunchedPart, accesses: Vec<Access>) {
        let mut state = self.state.lock();
        if launch.command.parts[launch.index].accesses.set(accesses).is_ok() {
            state.report_known();
        }
    }

    /// A command has mapped memory at an address, which the application accesses until [`Conflicts::unmap`].
    pub(crate) fn map(&self, number: u64, address: usize, access: Option<Access>) {
        let command = Command::new(0, vec![Part::of(access.into_iter().collect())]);
        let mut state = self.state.lock();
        let State { window, pairs, mappings, .. } = &mut *state;
        let mapping = window.add_mapping(number, command, |one, other| add_pair(pairs, one, other));
        mappings.entry(address).or_default().push(mapping);
        state.report_known();
    }

    /// The application no longer accesses memory that is mapped at an address.
    pub(crate) fn unmap(&self, address: usize) {
        let mut state = self.state.lock();
        if let Some(number) = state.mappings.get_mut(&address).and_then(Vec::pop) {
            state.window.remove(number);
        }
    }

    /// The application knows that a command has ended.
    pub(crate) fn observe(&self, number: u64) {
        self.state.lock().window.observe(number);
    }

    /// The application knows that all commands have ended that use memory of which it knows that nobody uses it.
    pub(crate) fn observe_all(&self) {
        let mut state = self.state.lock();
        (1..=self.queues.load(Ordering::Relaxed)).for_each(|queue| state.window.observe_queue(queue));
    }

    /// The application knows that all commands of a queue have ended.
    pub(crate) fn observe_queue(&self, queue: u64) {
        self.state.lock().window.observe_queue(queue);
    }
}

fn add_pair(pairs: &mut VecDeque<[Arc<Command>; 2]>, one: &Arc<Command>, other: &Arc<Command>) {
    if one.may_conflict(other) {
        if pairs.len() >= MAX_PAIRS {
            pairs.pop_front();
        }
        pairs.push_back([one.clone(), other.clone()]);
    }
}

impl State {
    /// Reports the pairs of which it is known what they access.
    fn report_known(&mut self) {
        let Self { pairs, reported, .. } = self;
        pairs.retain(|[one, other]| {
            let is_known = one.is_known() && other.is_known();
            if is_known {
                report(reported, one, other);
            }
            !is_known
        });
    }
}

/// Reports the first bytes that two commands have in common.
fn report(reported: &mut HashMap<[Call; 2], [String; 2]>, one: &Command, other: &Command) {
    let found = one.accesses().find_map(|first| {
        other.accesses().find_map(|second| Some((first, second, first.1.common(second.1)?)))
    });
    let Some((first, second, (range, count))) = found else { return };
    // Which bytes of a buffer these are may differ from call to call.
    let texts = reported.entry([one.call, other.call]).or_insert_with(|| {
        let (begin, end) = (range.start - second.1.begin, range.end - 1 - second.1.begin);
        let bytes = if count == end + 1 - begin {
            format!(" bytes {begin} to {end}")
        } else {
            format!(" {count} of the bytes {begin} to {end}")
        };
        [
            format!("command race: {}", other.told(second.0, second.1, &bytes)),
            format!("which {}, in no order with that", one.told(first.0, first.1, "")),
        ]
    });
    let [text, other_text] = texts.clone();
    findings::fault(Fault {
        kind: MisuseKind::CommandRace,
        text,
        call: other.call,
        other: Some((other_text, one.call)),
    });
}
