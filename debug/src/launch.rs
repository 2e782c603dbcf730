//! A launch that is stopped, and where the user looks.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::PathBuf;
use std::rc::Rc;

use gencl_program::PushSource;
use gencl_program::debug_address::{self, Space};
use gencl_simulator::debug::launch::Position;
use gencl_simulator::debug::protocol::{LaunchFacts, Place as MemoryPlace, ThreadFacts};

use crate::info::{Frame, Info, KernelInfo, Variable};
use crate::work_item::Lane;

/// A launch that is stopped.
pub struct Launch {
    /// What is known of it.
    pub facts: LaunchFacts,
    /// Its program's file.
    pub file: PathBuf,
    /// Its program.
    pub info: Rc<Info>,
    /// The kernel's index there.
    pub kernel: usize,
    /// Instructions that have been executed.
    pub time: u64,
    /// The thread that executes the next instruction; none at the end.
    pub position: Option<Position>,
    /// The threads of the work-group.
    pub threads: Vec<ThreadFacts>,
    /// The work-item that the user looks at.
    pub lane: Lane,
    /// The frame that the user looks at, the innermost is 0.
    pub frame: usize,
    /// Memory that has been read since the launch stopped.
    pub known: RefCell<HashMap<(bool, u64, u32), Vec<u8>>>,
}

impl Launch {
    /// The kernel.
    #[must_use]
    pub fn kernel(&self) -> &KernelInfo {
        &self.info.kernels[self.kernel]
    }

    /// The thread of a lane.
    #[must_use]
    pub fn thread(&self, lane: Lane) -> Option<&ThreadFacts> {
        self.threads.get(lane.thread as usize).filter(|thread| thread.position.group == lane.group)
    }

    /// The offset of the instruction at which a work-item goes on; none at its end.
    #[must_use]
    pub fn offset(&self, lane: Lane) -> Option<u32> {
        self.thread(lane)?.lanes.get(lane.lane as usize).copied().flatten()
    }

    /// The calls of the work-item that the user looks at, the innermost first.
    ///
    /// # Errors
    /// It has ended.
    pub fn frames(&self) -> Result<Vec<Frame<'_>>, String> {
        let offset = self.offset(self.lane).ok_or("the work-item is at its end")?;
        Ok(self.kernel().frames(offset))
    }

    /// The variables of a frame, the innermost scope's first: at the end of the work-item, those of the kernel.
    #[must_use]
    pub fn variables(&self, frame: usize) -> Vec<&Variable> {
        let scopes = match self.frames() {
            Ok(frames) => frames.get(frame).map(|frame| frame.scopes.clone()).unwrap_or_default(),
            Err(_) => self.kernel().body.iter().collect(),
        };
        scopes.into_iter().flat_map(|scope| &scope.variables).collect()
    }

    /// Looks at a work-item of the thread that is to go on: the same one as before, if it is enabled.
    pub fn look_at(&mut self, position: Position) {
        let Position { group, thread, enabled, .. } = position;
        let is_same = self.lane.group == group && self.lane.thread == thread;
        if !is_same || enabled >> self.lane.lane & 1 == 0 {
            let lane = if enabled == 0 { 0 } else { enabled.trailing_zeros() };
            self.lane = Lane { group, thread, lane };
        }
    }

    /// The bits of an argument of a program that has no variables, as far as they are pushed as a whole.
    #[must_use]
    pub fn argument(&self, argument: u32) -> Option<i128> {
        let sources = [
            PushSource::Pointer { argument },
            PushSource::LocalOffset { argument },
            PushSource::Value { argument, offset: 0 },
        ];
        sources.into_iter().find_map(|source| self.pushed(source)).map(Into::into)
    }

    /// Where bytes of an address are, for the work-item that the user looks at.
    ///
    /// # Errors
    /// They are nowhere.
    pub fn places(&self, address: u64, bytes: usize) -> Result<Vec<MemoryPlace>, String> {
        let kernel = &self.kernel().kernel;
        let (space, offset) = debug_address::split(address);
        let bytes = u32::try_from(bytes).map_err(|_| "too many bytes")?;
        let at = |address| vec![MemoryPlace { local: false, address, bytes }];
        let base = |source| {
            let none = || "the kernel does not use this memory".to_owned();
            self.pushed(source).ok_or_else(none)
        };
        match space {
            Space::Global => Ok(at(offset)),
            Space::Local => Ok(vec![MemoryPlace { local: true, address: offset, bytes }]),
            Space::Constants => Ok(at(base(PushSource::ConstantBase)? + offset)),
            Space::Variables => Ok(at(base(PushSource::VariableBase)? + offset)),
            Space::Private => {
                let granule = kernel.private_granule.ok_or("the program was not compiled for a debugger")?;
                let thread = self.thread(self.lane).ok_or("the work-group is not being executed")?;
                let begin = if kernel.stack_size > 0 {
                    base(PushSource::StackBase)? + u64::from(thread.hardware) * u64::from(kernel.stack_size)
                } else {
                    thread.scratch + u64::from(kernel.spill_size)
                };
                let lane = u64::from(self.lane.lane);
                if granule == 0 {
                    return Ok(at(begin + lane * u64::from(kernel.private_size) + offset));
                }
                let (granule, lanes) = (u64::from(granule), u64::from(self.facts.lanes));
                let end = offset + u64::from(bytes);
                let mut places = Vec::new();
                let mut next = offset;
                while next < end {
                    let within = next % granule;
                    let bytes = (granule - within).min(end - next);
                    let address = begin + (next - within) * lanes + lane * granule + within;
                    places.push(MemoryPlace { local: false, address, bytes: bytes as u32 });
                    next += bytes;
                }
                Ok(places)
            }
        }
    }

    /// An integer that is pushed to the kernel.
    #[must_use]
    pub fn pushed(&self, source: PushSource) -> Option<u64> {
        let push = self.kernel().kernel.pushes.iter().find(|push| push.source == source)?;
        let bytes = self.facts.constants.get(push.offset as usize..)?.get(..push.size as usize)?;
        let mut all = [0; 8];
        all.get_mut(..bytes.len())?.copy_from_slice(bytes);
        Some(u64::from_le_bytes(all))
    }
}
