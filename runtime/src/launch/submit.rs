//! Submission of assembled batches, and the result of each launch.

use std::sync::Arc;

use gencl_i915::{Engine, Errno, ExecBuffer, ExecFlags, ExecObject, ObjectFlags};

use super::clock::Correlation;
use super::hardware::{Hardware, HardwareContext};
use super::kept::Origin;
use super::relocate::{note_places, presume, relocate};
use super::slot::{COMMANDS, Slot};
use super::{EnqueuedLaunch, Launch, checked, clock, dump, failure, races};
use crate::conflicts::Conflicts;
use crate::context::DeviceContext;
use crate::findings;
use crate::memory::Storage;
use crate::{Code, Error, Result};

/// A timestamp that the GPU has not written. Real ones have 36 bits.
const UNWRITTEN: u64 = u64::MAX;

/// The two timestamps of a launch before it runs.
const UNWRITTEN_STAMPS: [u8; 16] = [0xff; 16];

/// `EIO`: the kernel driver has banned the hardware context.
const EIO: Errno = Errno(5);

/// A batch in its slot, which can be submitted. Dropping it unsubmitted returns its slot.
pub(crate) struct Assembled<'a> {
    context: &'a DeviceContext,
    /// `None` once submitted.
    slot: Option<Slot>,
    origin: Option<Origin>,
}

/// Result of a submission.
#[allow(clippy::large_enum_variant, reason = "a box would be an allocation for each batch")]
pub(crate) enum Submitted {
    /// The batch will run.
    Yes(InFlight),
    /// Batches before it have lost the hardware context. Submission may be retried when these have been
    /// retired.
    Later,
}

impl<'a> Assembled<'a> {
    /// Copies commands and state to the slot's buffer.
    pub(super) fn write(context: &'a DeviceContext, mut slot: Slot) -> Self {
        // The slot is not marked as written although it has timestamps: the kernel driver accepts no batch
        // buffer with EXEC_OBJECT_WRITE. Waiting for the slot waits for the batch all the same.
        let storage = slot.storage.clone();
        slot.add(&storage, ObjectFlags::CAPTURE);
        slot.commands.clear();
        slot.commands.extend(slot.dwords.iter().flat_map(|dword| dword.to_le_bytes()));
        storage.memory().write(0, &slot.commands);
        storage.memory().write(COMMANDS, &slot.state);
        if storage.relocates() {
            relocate(&mut slot);
        }
        Self { context, slot: Some(slot), origin: None }
    }

    /// A batch of the first of these launches, of which there are `count`, that was assembled before, and how many it
    /// has; `None` where none is kept.
    pub(crate) fn again<'l>(
        context: &'a DeviceContext,
        launches: impl Iterator<Item = &'l EnqueuedLaunch> + Clone,
        count: usize,
    ) -> Option<(Self, usize)> {
        let parts = launches.map(EnqueuedLaunch::part);
        let (slot, origin) = parts.clone().next()?.kept.take(parts, count)?;
        for launch in &slot.launches {
            slot.storage.memory().write(launch.stamps, &UNWRITTEN_STAMPS);
        }
        let count = origin.len();
        Some((Self { context, slot: Some(slot), origin: Some(origin) }, count))
    }

    /// Has it kept when its launches have ended, for the next time that these are submitted together. `is_full`: the
    /// launch behind them did not fit. No effect where something in it is for one submission or one queue.
    pub(crate) fn keep_for<'l>(
        &mut self,
        launches: impl Iterator<Item = &'l EnqueuedLaunch> + Clone,
        is_full: bool,
    ) {
        if let Some(slot) = &self.slot {
            let parts = launches.map(EnqueuedLaunch::part);
            self.origin = Origin::new(slot, parts, is_full, self.context.slots());
        }
    }

    /// Submits the batch. `behind_others`: earlier batches of the same queue have not been retired.
    /// `awaited`: the caller waits for those and this one next. `OUT_OF_RESOURCES` when the kernel driver
    /// refuses it.
    pub(crate) fn submit(
        mut self,
        hardware: &Hardware,
        profiled: bool,
        behind_others: bool,
        awaited: bool,
    ) -> Result<Submitted> {
        let context = self.context;
        let slot = self.slot.as_mut().expect("the slot is there until the batch is submitted");
        if context.dumps_batches() {
            eprint!("{}", dump::batch(context.device().commands(), &slot.dwords));
        }
        let length = 4 * slot.dwords.len();
        // Only program-scope variables have pointers that outlast a batch.
        let placing = (!slot.relocated.is_empty()).then(|| context.space().placing());
        presume(slot);
        let flags = if slot.storage.relocates() { ExecFlags::empty() } else { ExecFlags::NO_RELOC };
        let correlation =
            if profiled { Correlation::now(&**context.device().node(), context.device()) } else { None };
        for last in [false, true] {
            let current = hardware.current();
            let mut exec = ExecBuffer {
                context: current.id(),
                engine: Engine::Render,
                flags,
                objects: &mut slot.objects,
                batch_start: 0,
                batch_length: length as u32,
                awaited,
            };
            match context.device().node().exec_buffer(&mut exec) {
                Ok(()) => {
                    note_places(slot);
                    drop(placing);
                    let (slot, origin) = (self.slot.take(), self.origin.take());
                    return Ok(Submitted::Yes(InFlight { slot, origin, hardware: current, correlation }));
                }
                Err(EIO) if behind_others => return Ok(Submitted::Later),
                Err(EIO) if !last => hardware.replace(&current)?,
                Err(errno) => {
                    let reason = format!("the batch was refused: {errno}");
                    return Err(Error::new(Code::OutOfResources, reason));
                }
            }
        }
        unreachable!("the second attempt returns")
    }
}

impl Drop for Assembled<'_> {
    fn drop(&mut self) {
        if let Some(slot) = self.slot.take() {
            self.context.slots().give(slot);
        }
    }
}

/// The address that the kernel driver has chosen for a buffer.
fn placed(objects: &[ExecObject], storage: &Storage) -> u64 {
    let object = objects.iter().find(|object| object.handle == storage.handle());
    object.map_or(storage.address(), |object| object.offset)
}

/// Progress of a launch of a submitted batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// Not begun: the batch ended in an earlier launch.
    None,
    /// Begun and not ended.
    Begun,
    /// Ended. Begin and end in nanoseconds of the host's clock, 0 when the batch is not profiled.
    Ended(u64, u64),
}

/// A submitted batch.
pub(crate) struct InFlight {
    /// `None` once returned to the pool.
    slot: Option<Slot>,
    /// Whose launches it has, if it may be kept.
    origin: Option<Origin>,
    hardware: Arc<HardwareContext>,
    correlation: Option<Correlation>,
}

impl InFlight {
    fn slot(&self) -> &Slot {
        self.slot.as_ref().expect("the slot is returned last")
    }

    /// Waits until the GPU has executed or dropped the batch.
    pub(crate) fn wait(&self) {
        // After an error the GPU is lost; the timestamps show how far the batch came.
        let _ = self.slot().storage.wait();
    }

    /// Progress of the launch with this index in the batch.
    pub(crate) fn progress(&self, index: usize) -> Progress {
        let slot = self.slot();
        let stamps = slot.launches[index].stamps;
        let [begin, end] = [0, 8].map(|offset| slot.storage.memory().read_u64(stamps + offset));
        match (begin, end) {
            (UNWRITTEN, _) => Progress::None,
            (_, UNWRITTEN) => Progress::Begun,
            _ => {
                let (begin, end) =
                    self.correlation.map_or((0, 0), |correlation| correlation.convert(begin, end));
                Progress::Ended(begin, end)
            }
        }
    }

    /// Nanoseconds from the beginning of the first launch to the end of the last; `None` when not all have
    /// ended.
    pub(crate) fn duration(&self, context: &DeviceContext) -> Option<u64> {
        let slot = self.slot();
        let (first, last) = (slot.launches.first()?.stamps, slot.launches.last()?.stamps + 8);
        let [begin, end] = [first, last].map(|offset| slot.storage.memory().read_u64(offset));
        (end != UNWRITTEN).then(|| clock::duration(begin, end, context.device().facts().timestamp_hz))
    }

    /// Reports what the launch's checks have found, also when the launch did not end.
    pub(crate) fn report_findings(
        &mut self,
        index: usize,
        launch: &EnqueuedLaunch,
        context: &DeviceContext,
        conflicts: Option<&Conflicts>,
    ) {
        let slot = self.slot.as_mut().expect("the slot is returned last");
        if let Some(buffer) = slot.launches[index].check.take() {
            let mut found = checked::findings(&buffer, launch);
            if let Some(buffer) = slot.launches[index].races.take() {
                found.extend(races::findings(&buffer, launch, context.device().facts().simulated));
                context.races().give(buffer);
            }
            findings::report(checked::keep_copies(found, launch));
            if let (Some(conflicts), Some(part)) = (conflicts, &launch.part) {
                conflicts.end(part, checked::accesses(&buffer, launch));
            }
        }
    }

    /// Writes the launch's `printf` output, also when the launch did not end.
    pub(crate) fn print(&mut self, index: usize, launch: &Launch, context: &DeviceContext) {
        let slot = self.slot.as_mut().expect("the slot is returned last");
        if let Some(printf) = slot.launches[index].printf.take() {
            let executable = launch.executable();
            let objects = &slot.objects;
            let string = |address| executable.string(address, |storage| placed(objects, storage));
            context.printf().finish(printf, &launch.kernel().name, executable.formats(), &string);
        }
    }

    /// The error of a launch that did not end, `OUT_OF_RESOURCES`, with what is known about the cause.
    pub(crate) fn failure(&self, launch: &EnqueuedLaunch, context: &DeviceContext) -> Error {
        let place = |storage: &Storage| placed(&self.slot().objects, storage);
        Error::new(
            Code::OutOfResources,
            failure::describe(launch, &self.hardware.failure(), context, &self.slot().kept, &place),
        )
    }

    /// Replaces the hardware context for further batches, if possible.
    pub(crate) fn replace(&self, hardware: &Hardware) {
        if let Err(error) = hardware.replace(&self.hardware) {
            // The next batch uses the old one, and fails.
            tracing::warn!("no new hardware context: {error}");
        }
    }

    /// Ends the batch, all of whose launches have ended: it is kept if it may be.
    pub(crate) fn keep(mut self, context: &DeviceContext) {
        match (self.slot.take(), self.origin.take()) {
            (Some(slot), Some(origin)) => origin.keep(slot, context.slots()),
            (Some(slot), None) => context.slots().give(slot),
            (None, _) => {}
        }
    }

    /// Returns the slot to the pool.
    pub(crate) fn give_back(mut self, context: &DeviceContext) {
        if let Some(slot) = self.slot.take() {
            context.slots().give(slot);
        }
    }
}

impl Drop for InFlight {
    /// A slot that was not returned (after a panic) may still be in use by the GPU.
    fn drop(&mut self) {
        if self.slot.is_some() {
            self.wait();
        }
    }
}
