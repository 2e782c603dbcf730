//! How a queue comes on.
//!
//! Commands are taken on step by step: hand launches to the GPU, run one on the host, wait for the oldest batch. One thread at a time does a step, the
//! leader; which one does not matter. A thread that waits for a command leads, so that nobody has to be woken for it. The queue's own
//! thread leads when something is wanted that nobody waits for, or when commands lie around for [`PATIENCE`].

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::{Condvar, Mutex, MutexGuard};

use super::state::{Command, Flight, State, Step, Work, keep};
use crate::context::DeviceContext;
use crate::event::{CommandKind, Completer, Due, Gate};
use crate::launch::{Batch, Hardware, Launch, MAX_LAUNCHES, Progress, Submitted};
use crate::{Code, Context, Error, Event, EventStatus, Profile, Result};

/// For so long commands lie in the queue until its thread takes them on, if nobody asks for them earlier.
const PATIENCE: Duration = Duration::from_millis(1);

/// So many commands are worth waking the queue's thread for.
const ENOUGH: usize = 16;

/// So long may a batch take, in nanoseconds, as long as launches take what those before them took: events end when their batch does.
const BATCH_TIME: u64 = 1_000_000;

/// A batch has at most so many times the launches of the one before.
const GROWTH: usize = 4;

/// What is told in place of a kernel's name.
const HOST: &str = "a command";

/// With so many commands in the queue, who enqueues more helps with them first.
pub(super) const MANY: usize = 16 * 1024;

/// What order a command asks for where the queue keeps none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) struct Order {
    /// It runs after all commands before it, and waits for nothing else.
    pub(super) after_all: bool,
    /// It runs before all commands behind it.
    pub(super) before_all: bool,
}

/// What a queue, its thread and its events share.
pub(crate) struct Core {
    context: Arc<Context>,
    device: Arc<DeviceContext>,
    hardware: Hardware,
    /// May a command that has to wait be overtaken?
    out_of_order: bool,
    profiled: bool,
    state: Mutex<State>,
    /// Memory for launches. Apart, as who enqueues takes it while who leads gives it.
    #[allow(clippy::vec_box, reason = "the boxes are what is used again")]
    spare_launches: Mutex<Vec<Box<Launch>>>,
    /// Most launches of the next batch.
    pace: AtomicUsize,
    /// Something has changed for threads that wait.
    changed: Condvar,
    /// There is room for more commands.
    room: Condvar,
    /// There is something for the queue's thread.
    wake: Condvar,
}

impl std::fmt::Debug for Core {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} commands", self.state.lock().outstanding().count())
    }
}

impl Core {
    /// Makes the parts of a queue and starts its thread, which ends when the queue is closed and all commands have ended.
    /// `OUT_OF_RESOURCES` when the kernel driver refuses, `OUT_OF_HOST_MEMORY` when there is no thread.
    pub(super) fn start(
        context: &Arc<Context>,
        device: &Arc<DeviceContext>,
        out_of_order: bool,
        profiled: bool,
    ) -> Result<Arc<Self>> {
        let hardware = Hardware::new(device.device().node())?;
        let core = Arc::new(Self {
            context: context.clone(),
            device: device.clone(),
            hardware,
            out_of_order,
            profiled,
            state: Mutex::default(),
            spare_launches: Mutex::default(),
            pace: AtomicUsize::new(GROWTH),
            changed: Condvar::new(),
            room: Condvar::new(),
            wake: Condvar::new(),
        });
        let thread = core.clone();
        match std::thread::Builder::new().name("gencl-queue".into()).spawn(move || thread.work()) {
            Ok(_) => Ok(core),
            Err(error) => Err(Error::new(Code::OutOfHostMemory, format!("no thread for the queue: {error}"))),
        }
    }

    /// The queue's device.
    pub(super) fn device(&self) -> &Arc<DeviceContext> {
        &self.device
    }

    /// Memory for a launch.
    pub(super) fn spare_launch(&self) -> Box<Launch> {
        self.spare_launches.lock().pop().unwrap_or_default()
    }

    /// Takes a command on; gives its event.
    pub(super) fn enqueue(
        self: &Arc<Self>,
        kind: CommandKind,
        waits: &[Arc<Event>],
        work: Work,
        order: Order,
    ) -> Arc<Event> {
        let mut state = self.state.lock();
        self.make_room(&mut state);
        let event = match state.spare.events.pop() {
            Some(mut event) => {
                if let Some(event) = Arc::get_mut(&mut event) {
                    event.renew(kind);
                }
                event
            }
            None => Event::command(&self.context, Arc::downgrade(self), kind, self.profiled),
        };
        let completer = Completer::new(event.clone());
        if self.profiled {
            completer.stamp(Profile::Queued, self.device.device().host_time());
        }
        let number = state.enter(&event);
        // What is of this queue comes first anyway, or when its turn has come.
        let elsewhere = || waits.iter().filter(|event| !event.is_of(self));
        let gate = self.gate(number, elsewhere());
        let (after_all, barrier) = (order.after_all || !self.out_of_order, state.barrier.clone());
        if order.before_all && self.out_of_order {
            state.barrier = Some(event.clone());
        }
        let before = barrier.clone();
        let command =
            Command { completer, waits: waits.to_vec(), after_all, barrier, gate: gate.clone(), work };
        if self.out_of_order {
            let before = waits.iter().filter(|event| event.is_of(self)).chain(&before);
            state.line_up(number, command, before.map(|event| event.number()));
        } else {
            state.pending.push_back(command);
        }
        if state.pending.len() == ENOUGH {
            self.wake(&mut state);
        } else if state.asleep {
            // Its patience begins.
            state.asleep = false;
            self.wake.notify_one();
        }
        drop(state);
        if let Some(gate) = gate {
            elsewhere().filter(|event| !event.ended()).for_each(|event| event.demand());
            gate.pass();
        }
        event
    }

    /// The gate of a new command, which holds one pass; `None` when there is nothing to wait for.
    fn gate<'e>(
        self: &Arc<Self>,
        number: u64,
        waits: impl Iterator<Item = &'e Arc<Event>>,
    ) -> Option<Arc<Gate>> {
        let mut gate = None;
        for event in waits.filter(|event| !event.ended()) {
            let gate = gate.get_or_insert_with(|| {
                let queue = Arc::downgrade(self);
                Gate::new(Box::new(move || opened(&queue, number)))
            });
            event.hold(gate);
        }
        gate
    }

    /// Helps with what is in the queue when that is much, or waits until half of it is done.
    fn make_room(&self, state: &mut MutexGuard<'_, State>) {
        if state.pending.len() < MANY || state.leader == Some(std::thread::current().id()) {
            return;
        }
        while state.pending.len() > MANY / 2 {
            if state.leader.is_some() {
                state.crowded += 1;
                self.room.wait(state);
                state.crowded -= 1;
            } else if state.has_step(false) {
                self.lead(state, false);
            } else {
                // It waits for something else, perhaps for what its caller does next.
                return;
            }
        }
        self.leave(state);
    }

    /// Waits for a change that is of use to who wants all commands up to a number to have ended; 0 for any.
    fn wait_for_change(&self, state: &mut MutexGuard<'_, State>, number: u64) {
        state.awaited = if state.waiting == 0 { number } else { state.awaited.min(number) };
        state.waiting += 1;
        self.changed.wait(state);
        state.waiting -= 1;
    }

    /// Who may have led goes. If there is something to do, somebody else has to.
    fn leave(&self, state: &State) {
        if state.waiting > 0 && state.leader.is_none() && state.has_step(true) {
            self.changed.notify_all();
        }
    }

    /// Waits until an event of this queue has ended; errors as [`Event::wait`] has of its own.
    pub(crate) fn wait_for(&self, event: &Event) -> Result<()> {
        self.wait_until(0, |_| event.ended())
    }

    /// Waits until `done`, which is not before all commands up to a number have ended, and until callbacks that were due have been called; leads
    /// meanwhile if nobody else does. `OUT_OF_RESOURCES` when it is a command's own function that waits.
    fn wait_until(&self, number: u64, done: impl Fn(&mut State) -> bool) -> Result<()> {
        let me = std::thread::current().id();
        let mut state = self.state.lock();
        loop {
            let ended = done(&mut state);
            if ended && (CALLS.get() || (state.due.is_empty() && !state.calling)) {
                self.leave(&state);
                return Ok(());
            }
            if state.leader == Some(me) {
                let reason = "a function that a command calls waits for its own queue";
                return Err(Error::new(Code::OutOfResources, reason));
            }
            if !ended && state.leader.is_none() {
                if state.has_step(false) {
                    // Who waits for everything leads until there is nothing left.
                    let all = number == state.enqueued;
                    self.lead(&mut state, all);
                    continue;
                }
                // What is next, if anything, is for the queue's thread.
                self.wake(&mut state);
            }
            self.wait_for_change(&mut state, number);
        }
    }

    /// Has the queue's thread work at once.
    fn wake(&self, state: &mut State) {
        if !state.demanded {
            state.demanded = true;
            self.wake.notify_one();
        }
    }

    /// Waits until all commands that are there have ended, and tells of a fault among them.
    pub(super) fn finish(&self) -> Result<()> {
        let state = self.state.lock();
        let (last, told) = (state.enqueued, state.faults.told());
        drop(state);
        self.wait_until(last, |state| state.ended_up_to(last))?;
        let mut state = self.state.lock();
        if state.barrier.as_ref().is_some_and(|barrier| barrier.ended()) {
            state.barrier = None;
        }
        state.faults.tell(told)
    }

    /// Has the queue's thread work at once.
    pub(crate) fn demand(&self) {
        let mut state = self.state.lock();
        if !state.is_empty() {
            self.wake(&mut state);
        }
    }

    /// No more commands will come.
    pub(super) fn close(&self) {
        let mut state = self.state.lock();
        state.closed = true;
        self.wake(&mut state);
    }

    /// Does a step; there is one, and no leader. `stays` says that the caller will do further ones until there is nothing left: it will wait for a
    /// batch that it submits now.
    fn lead(&self, state: &mut MutexGuard<'_, State>, stays: bool) {
        state.leader = Some(std::thread::current().id());
        let mut due = Vec::new();
        if let Some(step) = state.take_step(self.pace.load(Ordering::Relaxed)) {
            // A panic is a bug of ours. Whatever was in hand has failed, as its event's other half was dropped; the queue goes on.
            let safe = AssertUnwindSafe(|| self.step(state, step, stays, &mut due));
            if catch_unwind(safe).is_err() {
                let error =
                    Error::new(Code::OutOfResources, "a command ended in an internal error").of_fault();
                state.faults.add(&error);
                MutexGuard::unlocked(state, || self.context.report(HOST, &error));
            }
        }
        state.leader = None;
        state.due.append(&mut due);
        // What is left may be nobody's but the queue's thread's, also to end.
        if !state.due.is_empty() || state.closed || (state.asleep && !state.is_empty()) {
            self.wake(state);
        }
        if state.waiting > 0 && state.serves_waiting() {
            self.changed.notify_all();
        }
        // Also when nobody leads any more: who made way may have been woken for a command before that half.
        if state.crowded > 0 && (state.pending.len() <= MANY / 2 || !state.has_step(false)) {
            self.room.notify_all();
        }
    }

    fn step(&self, state: &mut MutexGuard<'_, State>, step: Step, stays: bool, due: &mut Vec<Due>) {
        let fault = state.faults.untold().cloned();
        match step {
            Step::Run(command) => MutexGuard::unlocked(state, || self.run(command, fault.as_ref(), due)),
            Step::Submit(mut commands) => {
                let behind_others = !state.flights.is_empty();
                // Who leads waits for it next: as nothing else will be to do, or is. What callbacks that are due take is not known.
                let awaited = stays || (!behind_others && state.pending.is_empty());
                let flight = MutexGuard::unlocked(state, || {
                    self.submit(&mut commands, fault, behind_others, awaited, due)
                });
                state.retires_first = behind_others && flight.is_none();
                state.flights.extend(flight);
                self.put_back(state, commands);
            }
            Step::Retire(flight) => {
                state.retires_first = false;
                let mut failed = false;
                let mut left = MutexGuard::unlocked(state, || self.retire(flight, &mut failed, due));
                while failed && let Some(flight) = state.flights.pop_front() {
                    // The kernel driver has given these up with it.
                    left.extend(MutexGuard::unlocked(state, || self.retire(flight, &mut failed, due)));
                }
                self.put_back(state, left);
            }
        }
    }

    /// Puts commands back in front of the others.
    fn put_back(&self, state: &mut State, mut commands: VecDeque<Command>) {
        while let Some(command) = commands.pop_back() {
            state.pending.push_front(command);
        }
        if commands.capacity() > 0 {
            keep(&mut state.spare.lists, commands);
        }
    }

    /// Runs a command on the host.
    fn run(&self, command: Command, fault: Option<&Error>, due: &mut Vec<Due>) {
        let refusal = command.refusal(fault);
        let Command { completer, work, .. } = command;
        if let Some(error) = refusal {
            return self.end(completer, Err(error), due);
        }
        let now = || if self.profiled { self.device.device().host_time() } else { 0 };
        completer.stamp(Profile::Submit, now());
        completer.advance(EventStatus::Submitted, due);
        completer.advance(EventStatus::Running, due);
        completer.stamp(Profile::Start, now());
        let result = match work {
            Work::Host(work) => work(),
            Work::Application(function) => {
                function();
                Ok(())
            }
            Work::Nothing | Work::Launch(_) => Ok(()),
        };
        let end = now();
        completer.stamp(Profile::End, end);
        completer.stamp(Profile::Complete, end);
        self.end(completer, result.map_err(|error| self.fault(HOST, error)), due);
    }

    /// What the device or the driver failed in is told, by the kernel's name; gives the error that is due to whoever depends on it.
    fn fault(&self, kernel: &str, error: Error) -> Error {
        let error = error.of_fault();
        self.context.report(kernel, &error);
        error
    }

    /// Ends a command, after its queue knows of a fault.
    fn end(&self, completer: Completer, result: Result<()>, due: &mut Vec<Due>) {
        if let Err(error) = &result
            && error.fault
        {
            self.state.lock().faults.add(error);
        }
        completer.finish(result, due);
    }

    /// Hands launches to the GPU, as many as fit into a batch. The others stay in `commands`.
    fn submit(
        &self,
        commands: &mut VecDeque<Command>,
        mut fault: Option<Error>,
        behind_others: bool,
        awaited: bool,
        due: &mut Vec<Due>,
    ) -> Option<Flight> {
        let mut batch = None;
        // Those in front that are in the batch.
        let mut count = 0;
        while let Some(command) = commands.get(count) {
            let added = match (command.launch(), command.refusal(fault.as_ref())) {
                (_, Some(error)) => Err(error),
                (Some(launch), None) => {
                    let before = count.checked_sub(1).and_then(|last| commands[last].launch());
                    self.add(&mut batch, launch, before).map_err(|error| self.fault(launch.name(), error))
                }
                (None, None) => Ok(true),
            };
            match added {
                Ok(true) => count += 1,
                Ok(false) => break,
                Err(error) => {
                    if let Some(command) = commands.remove(count) {
                        self.end(command.completer, Err(error), due);
                        fault = self.state.lock().faults.untold().cloned();
                    }
                }
            }
        }
        let batch = batch.filter(|_| count > 0)?;
        let left = commands.split_off(count);
        let mut taken = std::mem::replace(commands, left);
        if self.profiled {
            let now = self.device.device().host_time();
            taken.iter().for_each(|command| command.completer.stamp(Profile::Submit, now));
        }
        for command in &taken {
            command.completer.advance(EventStatus::Submitted, due);
        }
        match batch.submit(&self.hardware, self.profiled, behind_others, awaited && due.is_empty()) {
            Ok(Submitted::Yes(batch)) => {
                for command in &taken {
                    command.completer.advance(EventStatus::Running, due);
                }
                return Some(Flight { batch, commands: taken });
            }
            Ok(Submitted::Later) => {
                while let Some(command) = taken.pop_back() {
                    commands.push_front(command);
                }
            }
            Err(error) => {
                for command in taken {
                    let kernel = command.launch().map_or(HOST, Launch::name);
                    let error = self.fault(kernel, error.clone());
                    self.end(command.completer, Err(error), due);
                }
            }
        }
        None
    }

    /// Adds a launch to the batch, whose last is `before`, or to a new one.
    fn add<'a>(
        &'a self,
        batch: &mut Option<Batch<'a>>,
        launch: &Launch,
        before: Option<&Launch>,
    ) -> Result<bool> {
        let batch = match batch {
            Some(batch) => batch,
            None => batch.insert(Batch::new(&self.device, launch)?),
        };
        batch.add(launch, before, &self.hardware)
    }

    /// Waits for a batch and ends its commands. Gives back those whose results are not there because one before them has `failed`, in this batch or
    /// one before it: they will run, or fail when they depend on it.
    fn retire(&self, flight: Flight, failed: &mut bool, due: &mut Vec<Due>) -> VecDeque<Command> {
        let Flight { mut batch, mut commands } = flight;
        batch.wait();
        if let Some(duration) = batch.duration(&self.device) {
            let fitting = BATCH_TIME * commands.len() as u64 / duration.max(1);
            let most = (GROWTH * commands.len()).min(MAX_LAUNCHES).max(self.pace.load(Ordering::Relaxed));
            self.pace.store((fitting as usize).clamp(1, most), Ordering::Relaxed);
        }
        let mut left = VecDeque::new();
        let mut spare = Vec::with_capacity(commands.len());
        for index in 0..commands.len() {
            let Some(command) = commands.pop_front() else { break };
            let Work::Launch(launch) = &command.work else { continue };
            batch.print(index, launch, &self.device);
            match batch.progress(index) {
                _ if *failed && command.after_all => left.push_back(command),
                Progress::Ended(start, end) => {
                    for (what, time) in
                        [(Profile::Start, start), (Profile::End, end), (Profile::Complete, end)]
                    {
                        command.completer.stamp(what, time);
                    }
                    spare.extend(self.ended(command, Ok(()), due));
                }
                Progress::None if *failed => left.push_back(command),
                Progress::None | Progress::Begun => {
                    *failed = true;
                    let error = self.fault(launch.name(), batch.failure(launch, &self.device));
                    batch.replace(&self.hardware);
                    spare.extend(self.ended(command, Err(error), due));
                }
            }
        }
        batch.give_back(&self.device);
        let mut launches = self.spare_launches.lock();
        spare.into_iter().for_each(|spare| keep(&mut launches, spare));
        drop(launches);
        keep(&mut self.state.lock().spare.lists, commands);
        left
    }

    /// Ends a launch; gives its memory.
    fn ended(&self, command: Command, result: Result<()>, due: &mut Vec<Due>) -> Option<Box<Launch>> {
        let Command { completer, work, .. } = command;
        // First the event, then what it has kept: functions of the application may be called when that goes.
        self.end(completer, result, due);
        match work {
            Work::Launch(mut launch) => {
                launch.end();
                Some(launch)
            }
            Work::Nothing | Work::Host(_) | Work::Application(_) => None,
        }
    }

    /// The queue's thread.
    fn work(&self) {
        let mut state = self.state.lock();
        let mut seen = state.enqueued;
        loop {
            if !state.due.is_empty() {
                self.call(&mut state);
            } else if state.leader.is_none() && state.demanded && state.has_step(true) {
                self.lead(&mut state, true);
            } else if state.closed && state.is_empty() && state.leader.is_none() {
                return;
            } else if state.leader.is_some() && state.demanded {
                // Who leads may leave with something left.
                self.wait_for_change(&mut state, 0);
            } else {
                state.demanded = false;
                if !state.has_step(true) && state.enqueued == seen {
                    state.asleep = true;
                    self.wake.wait(&mut state);
                    state.asleep = false;
                } else {
                    seen = state.enqueued;
                    let patient = self.wake.wait_for(&mut state, PATIENCE);
                    if patient.timed_out() && state.has_step(true) {
                        state.demanded = true;
                    }
                }
            }
        }
    }

    /// Calls the callbacks that are due.
    fn call(&self, state: &mut MutexGuard<'_, State>) {
        let due = std::mem::take(&mut state.due);
        state.calling = true;
        MutexGuard::unlocked(state, || {
            CALLS.set(true);
            for due in due {
                if catch_unwind(AssertUnwindSafe(|| due.call())).is_err() {
                    tracing::error!("a callback ended in an internal error");
                }
            }
            CALLS.set(false);
        });
        state.calling = false;
        if state.waiting > 0 {
            self.changed.notify_all();
        }
    }
}

thread_local! {
    /// Does this thread call callbacks? Then it does not wait for them.
    static CALLS: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// The gate of a command is open.
fn opened(queue: &Weak<Core>, number: u64) {
    let Some(queue) = queue.upgrade() else { return };
    let mut state = queue.state.lock();
    state.opened(number);
    if state.waiting > 0 {
        queue.changed.notify_all();
    }
    queue.wake(&mut state);
}
