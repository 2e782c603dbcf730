//! Leader/follower execution of a queue's commands.
//!
//! Commands are executed in steps: submit launches to the GPU, run one command on the host, or wait for the
//! oldest batch. One thread at a time executes a step: the leader. A thread that waits for a command becomes
//! the leader, which saves waking another one. The queue's own thread leads when no other thread waits: on
//! demand (a flush, a callback), and when commands have been pending for [`FLUSH_DELAY`].

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::{Condvar, Mutex, MutexGuard};

use super::state::{Command, MAX_PENDING, State, Step, Work, keep};
use crate::context::DeviceContext;
use crate::event::{CommandKind, Completer, Due, EventQueue, Gate};
use crate::launch::{EnqueuedLaunch, Hardware, Launch};
use crate::{Code, Context, Error, Event, EventStatus, ProfilingInfo, Result, host_time, trace};

/// Flush delay: how long commands are pending until the queue's thread executes them without being asked to.
const FLUSH_DELAY: Duration = Duration::from_millis(1);

/// Number of pending commands at which the queue's thread is woken.
const FLUSH_LENGTH: usize = 16;

/// Largest ratio of the numbers of launches in two successive batches.
pub(super) const MAX_BATCH_GROWTH: usize = 4;

/// Stands for the kernel's name in reports about commands that run on the host.
pub(super) const HOST: &str = "a command";

/// Ordering that a command of an out-of-order queue requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) struct Order {
    /// It depends on all earlier commands, and on nothing else.
    pub(super) after_all: bool,
    /// All later commands depend on it.
    pub(super) before_all: bool,
}

/// The part of a queue that its thread and its events share.
pub(crate) struct Core {
    pub(super) context: Arc<Context>,
    pub(super) device: Arc<DeviceContext>,
    pub(super) hardware: Hardware,
    /// Later commands may overtake one that waits.
    out_of_order: bool,
    /// The application can ask for times.
    profiled: bool,
    /// Number in the trace, if there is one.
    number: Option<u64>,
    pub(super) state: Mutex<State>,
    /// Prepared launches for reuse, without other references. Behind a lock of its own, as enqueuing threads take
    /// them while the leader returns them.
    pub(super) spare_launches: Mutex<Vec<Arc<Launch>>>,
    /// Largest number of launches in the next batch.
    pub(super) batch_limit: AtomicUsize,
    /// Notifies threads that wait for commands.
    changed: Condvar,
    /// Notifies threads that wait until the queue is below its backpressure limit.
    below_limit: Condvar,
    /// Notifies the queue's thread.
    wake: Condvar,
}

impl std::fmt::Debug for Core {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} commands", self.state.lock().outstanding().count())
    }
}

impl Core {
    /// Makes the parts of a queue and starts its thread, which ends when the queue is closed and all commands
    /// have ended. `OUT_OF_RESOURCES` when the kernel driver refuses, `OUT_OF_HOST_MEMORY` when there is no
    /// thread.
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
            number: trace::is_on().then(trace::next_queue),
            state: Mutex::default(),
            spare_launches: Mutex::default(),
            batch_limit: AtomicUsize::new(MAX_BATCH_GROWTH),
            changed: Condvar::new(),
            below_limit: Condvar::new(),
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

    /// An empty launch without other references, reused if there is one.
    pub(super) fn spare_launch(&self) -> Arc<Launch> {
        self.spare_launches.lock().pop().unwrap_or_default()
    }

    /// Adds a command. Returns its event.
    pub(super) fn enqueue(
        self: &Arc<Self>,
        kind: CommandKind,
        waits: &[Arc<Event>],
        work: Work,
        order: Order,
    ) -> Arc<Event> {
        let mut state = self.state.lock();
        self.throttle(&mut state);
        let event = match state.spare.events.pop() {
            Some(mut event) => {
                if let Some(event) = Arc::get_mut(&mut event) {
                    event.renew(kind);
                }
                event
            }
            None => {
                let queue = Arc::downgrade(self);
                Event::command(&self.context, queue, kind, self.profiled)
            }
        };
        let completer = Completer::new(event.clone());
        if self.is_timed() {
            completer.stamp(ProfilingInfo::Queued, host_time());
        }
        let number = state.enter(&event);
        // Dependences within the queue are kept by the order of execution.
        let elsewhere = || waits.iter().filter(|event| !event.is_of(self));
        let gate = self.gate(number, elsewhere());
        let (after_all, barrier) = (order.after_all || !self.out_of_order, state.barrier.clone());
        if order.before_all && self.out_of_order {
            state.barrier = Some(event.clone());
        }
        let command =
            Command { completer, waits: waits.to_vec(), after_all, barrier, gate: gate.clone(), work };
        let before = state.pending.len();
        if self.out_of_order {
            state.issue_after(number, command, |event| event.is_of(self));
        } else {
            state.issue(command);
        }
        if before < FLUSH_LENGTH && state.pending.len() >= FLUSH_LENGTH {
            self.wake(&mut state);
        } else if state.asleep {
            // The flush delay begins.
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

    /// The gate of a new command, with one pass outstanding for the caller; `None` when there is nothing to
    /// wait for.
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

    /// Backpressure: above the limit, executes pending commands, or waits until half of them have been
    /// executed.
    fn throttle(&self, state: &mut MutexGuard<'_, State>) {
        if state.pending.len() < MAX_PENDING || state.leader == Some(std::thread::current().id()) {
            return;
        }
        while state.pending.len() > MAX_PENDING / 2 {
            if state.leader.is_some() {
                state.throttled += 1;
                self.below_limit.wait(state);
                state.throttled -= 1;
            } else if state.has_step(false) {
                self.lead(state, false);
            } else {
                // The first command waits for something else, perhaps for what the caller does next.
                return;
            }
        }
        self.leave(state);
    }

    /// Waits for a notification, which a thread that waits for all commands up to `number` gets when those
    /// have ended; 0: for any change.
    pub(super) fn wait_for_change(&self, state: &mut MutexGuard<'_, State>, number: u64) {
        state.awaited = if state.waiting == 0 { number } else { state.awaited.min(number) };
        state.waiting += 1;
        self.changed.wait(state);
        state.waiting -= 1;
    }

    /// To be called when a thread that may have led stops waiting: hands remaining work to another waiting
    /// thread.
    pub(super) fn leave(&self, state: &State) {
        if state.waiting > 0 && state.leader.is_none() && state.has_step(true) {
            self.changed.notify_all();
        }
    }

    /// Waits until `done` returns true, which requires that all commands up to `number` have ended, and until
    /// the callbacks that are due have returned. Leads while no other thread does. `OUT_OF_RESOURCES` when
    /// called by a function that a command of this queue executes.
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
                    // A thread that waits for all commands leads until there are none left.
                    let all = number == state.enqueued;
                    self.lead(&mut state, all);
                    continue;
                }
                // Only the queue's thread can execute the next command, if there is one.
                self.wake(&mut state);
            }
            self.wait_for_change(&mut state, number);
        }
    }

    /// Wakes the queue's thread without the flush delay.
    fn wake(&self, state: &mut State) {
        if !state.demanded {
            state.demanded = true;
            self.wake.notify_one();
        }
    }

    /// Waits until all commands enqueued so far have ended. Returns the error of a fault among them.
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

    /// Tells the queue's thread that no more commands will be added.
    pub(super) fn close(&self) {
        let mut state = self.state.lock();
        state.closed = true;
        self.wake(&mut state);
    }

    /// Executes a step as leader; requires that there is a step and no leader. `stays`: the caller leads
    /// until nothing is left, so it will wait for a batch that it submits now.
    pub(super) fn lead(&self, state: &mut MutexGuard<'_, State>, stays: bool) {
        state.leader = Some(std::thread::current().id());
        let mut due = Vec::new();
        if let Some(step) = state.take_step(self.batch_limit.load(Ordering::Relaxed)) {
            // A panic is a bug of ours. The step's commands fail, as their completers are dropped; the queue
            // remains usable.
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
        // The rest may be for the queue's thread alone, which also ends when the queue is closed.
        if !state.due.is_empty() || state.closed || (state.asleep && !state.is_empty()) {
            self.wake(state);
        }
        if state.waiting > 0 && state.serves_waiting() {
            self.changed.notify_all();
        }
        // Also when no leader is left: a throttled thread may have been woken before the limit was reached.
        if state.throttled > 0 && (state.pending.len() <= MAX_PENDING / 2 || !state.has_step(false)) {
            self.below_limit.notify_all();
        }
    }

    fn step(&self, state: &mut MutexGuard<'_, State>, step: Step, stays: bool, due: &mut Vec<Due>) {
        let fault = state.faults.untold().cloned();
        match step {
            Step::Run(command) => MutexGuard::unlocked(state, || self.run(command, fault.as_ref(), due)),
            Step::Submit(mut commands) => {
                let behind_others = !state.flights.is_empty();
                // The leader waits for this batch next, as there is nothing else to execute. Callbacks that
                // are due take unknown time.
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
                    // The kernel driver has cancelled these batches, too.
                    left.extend(MutexGuard::unlocked(state, || self.retire(flight, &mut failed, due)));
                }
                self.put_back(state, left);
            }
        }
    }

    /// Returns commands to the front of the queue.
    fn put_back(&self, state: &mut State, mut commands: VecDeque<Command>) {
        while let Some(command) = commands.pop_back() {
            state.pending.push_front(command);
        }
        if commands.capacity() > 0 {
            keep(&mut state.spare.lists, commands);
        }
    }

    /// Executes a command on the host.
    fn run(&self, command: Command, fault: Option<&Error>, due: &mut Vec<Due>) {
        let refusal = command.refusal(fault);
        let Command { completer, work, .. } = command;
        if let Some(error) = refusal {
            return self.end(completer, Err(error), due);
        }
        let now = || if self.is_timed() { host_time() } else { 0 };
        completer.stamp(ProfilingInfo::Submit, now());
        completer.advance(EventStatus::Submitted, due);
        completer.advance(EventStatus::Running, due);
        let start = now();
        completer.stamp(ProfilingInfo::Start, start);
        match work {
            Work::Host(transfer, _shared) => transfer.run(),
            Work::Application(function) => function(),
            Work::Nothing | Work::Launch(_) | Work::List(_) => {}
        }
        let end = now();
        completer.stamp(ProfilingInfo::End, end);
        completer.stamp(ProfilingInfo::Complete, end);
        self.trace(&completer, None, [start, end], None);
        self.end(completer, Ok(()), due);
    }

    /// Reports a failure of the device or the driver under the kernel's name. Returns the error for commands
    /// that depend on it.
    pub(super) fn fault(&self, kernel: &str, error: Error) -> Error {
        let error = error.of_fault();
        self.context.report(kernel, &error);
        error
    }

    /// Whether the times of commands are recorded.
    pub(super) fn is_timed(&self) -> bool {
        self.profiled || self.number.is_some()
    }

    /// Writes a command that has ended to the trace, if there is one.
    pub(super) fn trace(
        &self,
        completer: &Completer,
        launch: Option<&EnqueuedLaunch>,
        times: [u64; 2],
        error: Option<&Error>,
    ) {
        if let Some(queue) = self.number {
            completer.trace(queue, launch.map(EnqueuedLaunch::record), times, error);
        }
    }

    /// Ends a command, after recording a fault in the queue.
    pub(super) fn end(&self, completer: Completer, result: Result<()>, due: &mut Vec<Due>) {
        if let Err(error) = &result
            && error.fault
        {
            self.state.lock().faults.add(error);
        }
        completer.finish(result, due);
    }

    /// The main loop of the queue's thread.
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
                // The leader may stop with commands left.
                self.wait_for_change(&mut state, 0);
            } else {
                state.demanded = false;
                if !state.has_step(true) && state.enqueued == seen {
                    state.asleep = true;
                    self.wake.wait(&mut state);
                    state.asleep = false;
                } else {
                    seen = state.enqueued;
                    let patient = self.wake.wait_for(&mut state, FLUSH_DELAY);
                    if patient.timed_out() && state.has_step(true) {
                        state.demanded = true;
                    }
                }
            }
        }
    }

    /// Calls the callbacks that are due, without the lock.
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

impl EventQueue for Core {
    fn demand(&self) {
        let mut state = self.state.lock();
        if !state.is_empty() {
            self.wake(&mut state);
        }
    }

    fn wait_for(&self, event: &Event) -> Result<()> {
        self.wait_until(0, |_| event.ended())
    }
}

thread_local! {
    /// This thread is calling callbacks, so it must not wait until they have returned.
    static CALLS: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// Called when the gate of a command has opened.
fn opened(queue: &Weak<Core>, number: u64) {
    let Some(queue) = queue.upgrade() else { return };
    let mut state = queue.state.lock();
    state.gate_opened(number);
    if state.waiting > 0 {
        queue.changed.notify_all();
    }
    queue.wake(&mut state);
}
