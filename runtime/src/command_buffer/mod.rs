//! Command-buffers (`cl_khr_command_buffer`, with `cl_khr_command_buffer_mutable_dispatch`): commands that are recorded once
//! and enqueued any number of times.
//!
//! Recording does what an enqueue would do but for the queue: it checks a command, captures arguments, and prepares the
//! launch or the transfer. Commands are executed in the order of recording, as those of any queue are once they are
//! issued, so that sync points and barriers have no effect beyond being checked.

mod launch;

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;

pub use launch::LaunchUpdate;
pub(crate) use launch::RecordedLaunch;

use crate::context::DeviceContext;
use crate::{Code, Context, Device, Error, Kernel, NdRange, Result, Transfer};

/// A recorded command.
pub(crate) enum Recorded {
    Transfer(Transfer),
    Launch(RecordedLaunch),
}

/// A command-buffer for one device. Several threads may record at a time.
pub struct CommandBuffer {
    context: Arc<Context>,
    device: Arc<DeviceContext>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    commands: Vec<Recorded>,
    /// Number of sync points: those from 1 on up to it are valid.
    sync_points: u32,
    finalized: bool,
    /// It is finalized, and all arguments are set.
    executable: bool,
    /// Program-scope variables of all its launches have their values: for good, as updates change no kernel.
    initialized: bool,
}

impl State {
    /// `INVALID_OPERATION` when nothing can be recorded any more, `INVALID_SYNC_POINT_WAIT_LIST`.
    fn check(&self, waits: &[u32]) -> Result<()> {
        if self.finalized {
            return Err(Error::new(Code::InvalidOperation, "the command-buffer is finalized"));
        }
        match waits.iter().find(|point| !(1..=self.sync_points).contains(*point)) {
            None => Ok(()),
            Some(point) => {
                let reason = format!("{point} is no sync point of the command-buffer");
                Err(Error::new(Code::InvalidSyncPointWaitList, reason))
            }
        }
    }

    /// A new sync point. `OUT_OF_RESOURCES` when there are no more numbers.
    fn point(&mut self) -> Result<u32> {
        self.sync_points = self.sync_points.checked_add(1).ok_or(Code::OutOfResources)?;
        Ok(self.sync_points)
    }

    /// To be called when it is finalized, and after changes.
    fn look(&mut self) {
        self.executable = self.commands.iter().all(|command| match command {
            Recorded::Transfer(_) => true,
            Recorded::Launch(launch) => launch.is_bound(),
        });
    }

    fn launch(&self, command: usize) -> Result<&RecordedLaunch> {
        match self.commands.get(command) {
            Some(Recorded::Launch(launch)) => Ok(launch),
            Some(Recorded::Transfer(_)) | None => Err(Code::InvalidMutableCommand.into()),
        }
    }
}

impl CommandBuffer {
    /// An empty one, for a device of the context. `INVALID_DEVICE`.
    pub fn new(context: &Arc<Context>, device: &Arc<Device>) -> Result<Arc<Self>> {
        let device = context.on(device)?.clone();
        Ok(Arc::new(Self { context: context.clone(), device, state: Mutex::default() }))
    }

    /// Its context.
    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }

    pub(crate) fn device(&self) -> &Arc<DeviceContext> {
        &self.device
    }

    /// `INVALID_OPERATION` when the device has no memory that host and device know by one address.
    pub fn check_shared(&self) -> Result<()> {
        self.device.check_shared()
    }

    /// Records nothing but a sync point behind `waits`, those of earlier commands. `INVALID_OPERATION` when it is
    /// finalized, `INVALID_SYNC_POINT_WAIT_LIST`, as all that record.
    pub fn barrier(&self, waits: &[u32]) -> Result<u32> {
        let mut state = self.state.lock();
        state.check(waits)?;
        state.point()
    }

    /// Records a transfer of its context. Returns the sync point.
    pub fn transfer(&self, transfer: Transfer, waits: &[u32]) -> Result<u32> {
        let mut state = self.state.lock();
        state.check(waits)?;
        let point = state.point()?;
        state.commands.push(Recorded::Transfer(transfer));
        Ok(point)
    }

    /// Records a launch with the arguments that the kernel has now. Those that are not set have to be set later where
    /// it is `deferred`. Returns the sync point and the number of the command. Errors as [`crate::Queue::launch`].
    pub fn launch(
        &self,
        kernel: &Arc<Kernel>,
        range: &NdRange,
        deferred: bool,
        waits: &[u32],
    ) -> Result<(u32, usize)> {
        self.state.lock().check(waits)?;
        self.context.check_same(kernel.program().context())?;
        let launch = RecordedLaunch::new(kernel, range, deferred, &self.device)?;
        let mut state = self.state.lock();
        state.check(waits)?;
        let point = state.point()?;
        state.commands.push(Recorded::Launch(launch));
        Ok((point, state.commands.len() - 1))
    }

    /// The index space of a launch, by the number of the command. `INVALID_MUTABLE_COMMAND` for another one.
    pub fn range(&self, command: usize) -> Result<NdRange> {
        Ok(*self.state.lock().launch(command)?.range())
    }

    /// Ends recording. `INVALID_OPERATION` when it has ended.
    pub fn finalize(&self) -> Result<()> {
        let mut state = self.state.lock();
        state.check(&[])?;
        state.finalized = true;
        state.look();
        Ok(())
    }

    /// Whether recording has ended.
    pub fn is_finalized(&self) -> bool {
        self.state.lock().finalized
    }

    /// Whether recording has ended and all arguments are set.
    pub fn is_executable(&self) -> bool {
        self.state.lock().executable
    }

    /// Changes launches, all or none. `INVALID_OPERATION` while it is recorded, or when a launch had work-groups of one
    /// size and would have of several, or the other way round; `INVALID_MUTABLE_COMMAND`; errors as
    /// [`Kernel::set_argument`] and [`crate::Queue::launch`].
    pub fn update(&self, updates: &[LaunchUpdate]) -> Result<()> {
        let mut state = self.state.lock();
        if !state.finalized {
            return Err(Error::new(Code::InvalidOperation, "the command-buffer is not finalized"));
        }
        let mut changed = BTreeMap::new();
        for update in updates {
            let before = match changed.get(&update.command) {
                Some(launch) => launch,
                None => state.launch(update.command)?,
            };
            changed.insert(update.command, before.updated(update, &self.device)?);
        }
        for (command, launch) in changed {
            state.commands[command] = Recorded::Launch(launch);
        }
        state.look();
        Ok(())
    }

    /// The commands, each as `make` makes it for a queue. The first time `initialize` is called with the kernel of each
    /// launch, until it has succeeded for all. `INVALID_OPERATION` when it is not executable, errors of `initialize`.
    pub(crate) fn executable<T>(
        &self,
        mut initialize: impl FnMut(&Arc<Kernel>) -> Result<()>,
        make: impl FnMut(&Recorded) -> T,
    ) -> Result<Vec<T>> {
        let mut state = self.state.lock();
        if !state.executable {
            return Err(Error::new(Code::InvalidOperation, "the command-buffer is not executable"));
        }
        if !state.initialized {
            for command in &state.commands {
                if let Recorded::Launch(launch) = command {
                    initialize(launch.kernel())?;
                }
            }
            state.initialized = true;
        }
        Ok(state.commands.iter().map(make).collect())
    }
}
