//! Submission of launches, and what becomes of them.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::core::{Core, HOST, MAX_BATCH_GROWTH};
use super::state::{Command, Flight, Work, keep};
use crate::event::Due;
use crate::launch::{Assembled, Batch, EnqueuedLaunch, Launch, MAX_LAUNCHES, Progress, Submitted};
use crate::{Error, EventStatus, ProfilingInfo, Result, host_time};

/// Intended duration of a batch in nanoseconds, estimated from earlier launches: events complete with their
/// batch, so it bounds their latency.
const TARGET_BATCH_TIME: u64 = 1_000_000;

impl Core {
    /// Submits launches to the GPU, as many as fit into a batch. The others remain in `commands`.
    pub(super) fn submit(
        &self,
        commands: &mut VecDeque<Command>,
        fault: Option<Error>,
        behind_others: bool,
        awaited: bool,
        due: &mut Vec<Due>,
    ) -> Option<Flight> {
        let (batch, count) = match self.kept(commands, fault.as_ref()) {
            Some(kept) => kept,
            None => self.assemble(commands, fault, due)?,
        };
        let left = commands.split_off(count);
        let mut taken = std::mem::replace(commands, left);
        if self.is_timed() {
            let now = host_time();
            taken.iter().for_each(|command| command.completer.stamp(ProfilingInfo::Submit, now));
        }
        for command in &taken {
            command.completer.advance(EventStatus::Submitted, due);
        }
        match batch.submit(&self.hardware, self.is_timed(), behind_others, awaited && due.is_empty()) {
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
                    let kernel = command.launch().map_or(HOST, |launch| launch.name());
                    let error = self.fault(kernel, error.clone());
                    self.end(command.completer, Err(error), due);
                }
            }
        }
        None
    }

    /// The batch of the first commands, if one of the same launches is kept, and how many it has.
    fn kept(&self, commands: &VecDeque<Command>, fault: Option<&Error>) -> Option<(Assembled<'_>, usize)> {
        let is_long = commands.front().is_some_and(Command::is_of_long_list);
        if !is_long || commands.iter().any(|command| command.refusal(fault).is_some()) {
            return None;
        }
        Assembled::again(&self.device, commands.iter().filter_map(Command::launch), commands.len())
    }

    /// Assembles a batch of the first commands, as many as fit. Those that fail are removed.
    fn assemble(
        &self,
        commands: &mut VecDeque<Command>,
        mut fault: Option<Error>,
        due: &mut Vec<Due>,
    ) -> Option<(Assembled<'_>, usize)> {
        let mut batch = None;
        // The first `count` commands are in the batch.
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
        let mut batch = batch.filter(|_| count > 0)?.finish();
        if commands.front().is_some_and(Command::is_of_long_list) {
            batch.keep_for(commands.iter().take(count).filter_map(Command::launch), count < commands.len());
        }
        Some((batch, count))
    }

    /// Adds a launch to the batch, behind the launch `before`, or to a new batch. `false`: it does not fit.
    fn add<'a>(
        &'a self,
        batch: &mut Option<Batch<'a>>,
        launch: &EnqueuedLaunch,
        before: Option<&EnqueuedLaunch>,
    ) -> Result<bool> {
        let batch = match batch {
            Some(batch) => batch,
            None => batch.insert(Batch::new(&self.device, launch)?),
        };
        batch.add(launch, before, &self.hardware)
    }

    /// Waits for a batch and ends its commands. Returns those that were not executed because an earlier one
    /// has `failed`, in this batch or the one before it: they are executed later, or fail if they depend on
    /// it.
    pub(super) fn retire(&self, flight: Flight, failed: &mut bool, due: &mut Vec<Due>) -> VecDeque<Command> {
        let Flight { mut batch, mut commands } = flight;
        batch.wait();
        if let Some(duration) = batch.duration(&self.device) {
            let fitting = TARGET_BATCH_TIME * commands.len() as u64 / duration.max(1);
            let most = (MAX_BATCH_GROWTH * commands.len())
                .min(MAX_LAUNCHES)
                .max(self.batch_limit.load(Ordering::Relaxed));
            self.batch_limit.store((fitting as usize).clamp(1, most), Ordering::Relaxed);
        }
        let mut left = VecDeque::new();
        let mut spare = Vec::with_capacity(commands.len());
        for index in 0..commands.len() {
            let Some(command) = commands.pop_front() else { break };
            let Work::Launch(launch) = &command.work else { continue };
            batch.print(index, launch, &self.device);
            batch.report_findings(index, launch, &self.device, self.context.conflicts());
            match batch.progress(index) {
                _ if *failed && command.after_all => left.push_back(command),
                Progress::Ended(start, end) => {
                    for (what, time) in [
                        (ProfilingInfo::Start, start),
                        (ProfilingInfo::End, end),
                        (ProfilingInfo::Complete, end),
                    ] {
                        command.completer.stamp(what, time);
                    }
                    self.trace(&command.completer, Some(launch), [start, end], None);
                    spare.extend(self.ended(command, Ok(()), due));
                }
                Progress::None if *failed => left.push_back(command),
                Progress::None | Progress::Begun => {
                    *failed = true;
                    let error = self.fault(launch.name(), batch.failure(launch, &self.device));
                    self.trace(&command.completer, Some(launch), [0; 2], Some(&error));
                    batch.replace(&self.hardware);
                    spare.extend(self.ended(command, Err(error), due));
                }
            }
        }
        match *failed {
            true => batch.give_back(&self.device),
            false => batch.keep(&self.device),
        }
        let mut launches = self.spare_launches.lock();
        spare.into_iter().for_each(|spare| keep(&mut launches, spare));
        drop(launches);
        keep(&mut self.state.lock().spare.lists, commands);
        left
    }

    /// Ends a launch. Returns the prepared one for reuse, unless a command-buffer has it.
    fn ended(&self, command: Command, result: Result<()>, due: &mut Vec<Due>) -> Option<Arc<Launch>> {
        let Command { completer, work, .. } = command;
        // The event ends before its objects are released: their destructor callbacks belong to the
        // application.
        self.end(completer, result, due);
        match work {
            Work::Launch(launch) => {
                let mut launch = launch.into_prepared();
                Arc::get_mut(&mut launch)?.end();
                Some(launch)
            }
            Work::Nothing | Work::Host(..) | Work::Application(_) | Work::List(_) => None,
        }
    }
}
