//! Enqueued launches.

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use gencl_eu::dispatch::LaunchMark;
use gencl_program::{ArgumentKind, PushSource};
use gencl_simulator::debug::protocol::Range;

use super::kept;
use super::walk::Space;
use super::{Launch, argument_text};
use crate::MemoryFlags;
use crate::conflicts::{LaunchedPart, Part};
use crate::kernel::ArgumentMemory;
use crate::memory::SharedList;
use crate::trace::{self, LaunchRecord, Record};
use crate::{debugger, profile};

/// A launch in a queue: a prepared one, and what differs each time that it is enqueued.
pub(crate) struct EnqueuedLaunch {
    launch: Arc<Launch>,
    /// Shared virtual memory that the kernel may access through pointers in memory: all that the context had when
    /// the launch was enqueued, the same list until that changes. `None`: there was none.
    pub(super) reachable: Option<SharedList>,
    /// How a profile and a debugger find it; `None` when there is neither.
    pub(super) mark: Option<LaunchMark>,
    /// What of its command it is, if what it accesses has to be known.
    pub(crate) part: Option<LaunchedPart>,
}

impl Deref for EnqueuedLaunch {
    type Target = Launch;

    fn deref(&self) -> &Launch {
        &self.launch
    }
}

impl EnqueuedLaunch {
    /// Enters it in the trace, if there is one.
    pub(crate) fn new(launch: Arc<Launch>, reachable: Option<SharedList>) -> Self {
        let is_debugged = debugger::is_on();
        let mark = (trace::is_on() || is_debugged).then(|| {
            let number = launch.executable().first_number() + launch.number as u32;
            profile::mark(number, launch.name())
        });
        let enqueued = Self { launch, reachable, mark, part: None };
        if let Some(mark) = mark.filter(|_| is_debugged) {
            let Space { offset, global, local, .. } = enqueued.space;
            debugger::note(mark.launch, Range { offset, global, local });
        }
        if let Some(mark) = mark.filter(|_| trace::is_on()) {
            let arguments = argument_text::of(enqueued.kernel(), &enqueued.arguments);
            let launch = enqueued.record();
            trace::write(&Record::Launch { kernel_number: mark.kernel, arguments, launch });
        }
        enqueued
    }

    /// Its description in a trace.
    pub(crate) fn record(&self) -> LaunchRecord<'_> {
        LaunchRecord {
            number: self.mark.unwrap_or_default().launch,
            kernel: self.name(),
            simd_width: self.kernel().simd_width,
            global: self.space.global,
            local: self.space.local,
        }
    }

    /// Would both have the same commands and state, timestamps aside?
    pub(super) fn is_repeated_by(&self, next: &Self) -> bool {
        let memory = |of: &Self| of.reachable.as_ref().map(Arc::as_ptr);
        memory(self) == memory(next) && (Arc::ptr_eq(&self.launch, &next.launch) || self.is_same(next))
    }

    /// Whether its kernel has checks.
    pub(super) fn has_checks(&self) -> bool {
        let is_check = |source| matches!(source, PushSource::CheckBuffer | PushSource::RaceTable);
        self.kernel().pushes.iter().any(|push| is_check(push.source))
    }

    /// It as part of a command. Without checks in its kernel it is not known what it accesses.
    pub(crate) fn part_of_command(&self) -> Part {
        if !self.has_checks() {
            return Part::of(Vec::new());
        }
        let may_write = |index: usize, memory: &ArgumentMemory| {
            let argument = &self.kernel().arguments[index];
            argument.kind != ArgumentKind::ConstantPointer && !memory.flags().contains(MemoryFlags::READ_ONLY)
        };
        let memory = self
            .arguments
            .memory()
            .iter()
            .map(|(index, memory)| (memory.range().0.number(), may_write(*index, memory)));
        Part { kernel: Some(self.name().to_owned()), memory: memory.collect(), accesses: OnceLock::new() }
    }

    /// It as part of a batch.
    pub(super) fn part(&self) -> kept::Part<'_> {
        let (reachable, is_unique) = (self.reachable.as_ref(), self.mark.is_some());
        kept::Part { kept: &self.launch.kept, reachable, is_unique }
    }

    /// The prepared launch, for reuse.
    pub(crate) fn into_prepared(self) -> Arc<Launch> {
        self.launch
    }
}

#[cfg(test)]
impl EnqueuedLaunch {
    /// A launch of a kernel on a device of its context.
    pub(super) fn of(
        kernel: &crate::Kernel,
        range: &crate::NdRange,
        device: &crate::context::DeviceContext,
    ) -> Self {
        let mut launch = Launch::default();
        launch.bind(kernel, &kernel.values(), device).unwrap();
        launch.divide(kernel, range, device).unwrap();
        Self::new(Arc::new(launch), None)
    }
}
