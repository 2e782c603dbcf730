//! The queue's side of an event.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use super::{CommandKind, Due, Event, EventStatus, ProfilingInfo};
use crate::trace::{self, LaunchRecord, Record};
use crate::{Code, Error, Result};

/// The queue's handle of an event, or a command's share of one that several commands have together. Dropping it
/// unfinished fails the event.
pub(crate) struct Completer {
    event: Option<Arc<Event>>,
    share: Option<Share>,
}

/// The share of one of the commands, which run in the order of their shares.
struct Share {
    group: Arc<Group>,
    /// Type of the command; the event has that of all together.
    kind: CommandKind,
    /// Its number, from 0, and how many there are.
    index: usize,
    count: usize,
}

impl Share {
    fn is_first(&self) -> bool {
        self.index == 0
    }

    fn is_last(&self) -> bool {
        self.index + 1 == self.count
    }
}

/// What commands that share an event know of each other.
struct Group {
    /// How many have not ended. The last to end ends the event.
    left: AtomicUsize,
    /// The error of the first that failed: the others behind it fail, and so does the event.
    failure: OnceLock<Error>,
}

impl Completer {
    pub(crate) fn new(event: Arc<Event>) -> Self {
        Self { event: Some(event), share: None }
    }

    /// Divides the event among commands, at least one, whose types `kind` tells. It begins with the first of them,
    /// and ends when all have ended.
    pub(crate) fn divide<T>(
        mut self,
        commands: Vec<T>,
        kind: impl Fn(&T) -> CommandKind,
    ) -> impl Iterator<Item = (Self, T)> {
        let (event, count) = (self.event.take(), commands.len());
        let group = Arc::new(Group { left: AtomicUsize::new(count), failure: OnceLock::new() });
        commands.into_iter().enumerate().map(move |(index, command)| {
            let share = Share { group: group.clone(), kind: kind(&command), index, count };
            (Self { event: event.clone(), share: Some(share) }, command)
        })
    }

    /// Number of the command among those that share its event, from 0, and how many these are.
    pub(crate) fn share(&self) -> (usize, usize) {
        self.share.as_ref().map_or((0, 1), |share| (share.index, share.count))
    }

    /// Why the command fails without being executed: one before it that shares the event has failed.
    pub(crate) fn failure(&self) -> Option<&Error> {
        self.share.as_ref()?.group.failure.get()
    }

    /// Records a time, unless it is that of another command with a share.
    pub(crate) fn stamp(&self, what: ProfilingInfo, time: u64) {
        let is_of_event = self.share.as_ref().is_none_or(|share| match what {
            ProfilingInfo::Queued | ProfilingInfo::Submit | ProfilingInfo::Start => share.is_first(),
            ProfilingInfo::End | ProfilingInfo::Complete => share.is_last(),
        });
        if let Some(event) = self.event.as_ref().filter(|_| is_of_event) {
            // Ordered by the lock of the status.
            event.times[what as usize].store(time, Ordering::Relaxed);
        }
    }

    /// Writes the command, which ran from `start` to `end` unless it failed, to the trace.
    pub(crate) fn trace(
        &self,
        queue: u64,
        launch: Option<LaunchRecord<'_>>,
        [start, end]: [u64; 2],
        error: Option<&Error>,
    ) {
        let Some(event) = &self.event else { return };
        let time = |what: ProfilingInfo| event.times[what as usize].load(Ordering::Relaxed);
        let kind = self.share.as_ref().map_or(event.kind, |share| share.kind);
        trace::write(&Record::Command {
            queue,
            command: format!("{kind:?}"),
            queued: time(ProfilingInfo::Queued),
            submit: time(ProfilingInfo::Submit),
            start,
            end,
            launch,
            error: error.map(|error| error.to_string()).as_deref(),
        });
    }

    /// Moves to `Submitted` or `Running`.
    pub(crate) fn advance(&self, status: EventStatus, due: &mut Vec<Due>) {
        let moves = self.share.as_ref().is_none_or(Share::is_first);
        if let Some(event) = self.event.as_ref().filter(|_| moves) {
            due.extend(event.node.advance(status, None).filter(|due| !due.is_empty()));
        }
    }

    /// Ends the event, when this is the last of the commands that share it.
    pub(crate) fn finish(mut self, result: Result<()>, due: &mut Vec<Due>) {
        due.extend(self.end(result).filter(|due| !due.is_empty()));
    }

    fn end(&mut self, result: Result<()>) -> Option<Due> {
        let event = self.event.take()?;
        let result = match &self.share {
            None => result,
            Some(Share { group, .. }) => {
                if let Err(error) = result {
                    group.failure.get_or_init(|| error);
                }
                if group.left.fetch_sub(1, Ordering::AcqRel) > 1 {
                    return None;
                }
                group.failure.get().cloned().map_or(Ok(()), Err)
            }
        };
        match result {
            Ok(()) => event.node.advance(EventStatus::Complete, None),
            Err(error) => event.node.advance(EventStatus::Failed(error.code as i32), Some(error)),
        }
    }
}

impl Drop for Completer {
    fn drop(&mut self) {
        if self.event.is_some() {
            let reason = Error::new(Code::OutOfResources, "the command was dropped before it ran").of_fault();
            if let Some(due) = self.end(Err(reason)) {
                due.call();
            }
        }
    }
}
