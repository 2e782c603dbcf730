//! Queues: what the application may enqueue.

mod conflicts;
mod core;
mod faults;
mod gpu;
mod image;
mod initialize;
mod now;
mod semaphore;
mod state;
mod transfer;

use std::sync::Arc;

use self::core::{Core, Order};
use state::Work;

use crate::command_buffer::Recorded;
use crate::event::{CommandKind, EventQueue};
use crate::launch::EnqueuedLaunch;
use crate::memory::SharedList;
use crate::{Code, CommandBuffer, Context, Device, Error, Event, Kernel, NdRange, Result};

bitflags::bitflags! {
    /// `cl_command_queue_properties`
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
    pub struct QueueFlags: u64 {
        /// `CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE`
        const OUT_OF_ORDER = 1 << 0;
        /// `CL_QUEUE_PROFILING_ENABLE`
        const PROFILING = 1 << 1;
    }
}

/// A queue. Commands run one after the other, in order or, with `OUT_OF_ORDER`, each when what it waits for
/// has ended.
///
/// Every `enqueue` method checks its arguments, gives the command's event and returns at once; `waits` are
/// events that the command waits for. A blocking call is one of these followed by [`Event::wait`]. All of
/// them fail with `INVALID_CONTEXT` when an object is of another context.
#[derive(Debug)]
pub struct Queue {
    context: Arc<Context>,
    flags: QueueFlags,
    core: Arc<Core>,
    /// Number in its context, for checks; 0 without.
    number: u64,
}

impl Queue {
    /// Makes a queue of a device. `INVALID_DEVICE` when that is not one of the context's, `OUT_OF_RESOURCES`
    /// when the kernel driver refuses, `OUT_OF_HOST_MEMORY` when no thread can be made.
    pub fn new(context: &Arc<Context>, device: &Arc<Device>, flags: QueueFlags) -> Result<Arc<Self>> {
        let out_of_order = flags.contains(QueueFlags::OUT_OF_ORDER);
        let device = context.on(device)?;
        let core = Core::start(context, device, out_of_order, flags.contains(QueueFlags::PROFILING))?;
        let number = context.conflicts().map_or(0, |conflicts| conflicts.add_queue(!out_of_order));
        Ok(Arc::new(Self { context: context.clone(), flags, core, number }))
    }

    /// Its context.
    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// Its device.
    pub fn device(&self) -> &Arc<Device> {
        self.core.device().device()
    }

    /// `INVALID_OPERATION` when the device has no memory that host and device know by one address.
    pub fn check_shared(&self) -> Result<()> {
        self.core.device().check_shared()
    }

    /// As it was made.
    pub fn flags(&self) -> QueueFlags {
        self.flags
    }

    /// Waits until everything that was enqueued has ended. The error of the first fault since the last time,
    /// if there was one: until then a queue in order fails whatever comes behind a fault. `OUT_OF_RESOURCES`
    /// where a command waits for the caller.
    pub fn finish(&self) -> Result<()> {
        let result = self.core.finish();
        if let Some(conflicts) = self.context.conflicts() {
            conflicts.observe_queue(self.number);
        }
        result
    }

    /// Makes sure that enqueued commands begin now, without anybody waiting for them.
    pub fn flush(&self) {
        self.core.demand();
    }

    /// A command that does nothing but wait: for `waits`, or when there are none for all commands before it.
    pub fn marker(&self, waits: &[Arc<Event>]) -> Result<Arc<Event>> {
        let order = Order { after_all: waits.is_empty(), before_all: false };
        self.push_ordered(CommandKind::Marker, waits, Work::Nothing, order)
    }

    /// As [`Queue::marker`], and later commands wait for it.
    pub fn barrier(&self, waits: &[Arc<Event>]) -> Result<Arc<Event>> {
        let order = Order { after_all: waits.is_empty(), before_all: true };
        self.push_ordered(CommandKind::Barrier, waits, Work::Nothing, order)
    }

    /// A command of a kind for which nothing is to be done, as memory is where host and device want it.
    pub fn nothing(&self, kind: CommandKind, waits: &[Arc<Event>]) -> Result<Arc<Event>> {
        self.push(kind, waits, Work::Nothing)
    }

    /// Launches a kernel with the arguments that it has now; `kind` is `NdRangeKernel` or `Task`.
    ///
    /// `INVALID_KERNEL_ARGS`, `INVALID_WORK_DIMENSION`, `INVALID_GLOBAL_WORK_SIZE`, `INVALID_GLOBAL_OFFSET`,
    /// `INVALID_WORK_GROUP_SIZE`, `INVALID_WORK_ITEM_SIZE`, `OUT_OF_RESOURCES` (too much local memory),
    /// `INVALID_PROGRAM_EXECUTABLE` (not built for the device), `INVALID_OPERATION` (shared virtual memory
    /// where there is none).
    pub fn launch(
        &self,
        kind: CommandKind,
        kernel: &Arc<Kernel>,
        range: &NdRange,
        waits: &[Arc<Event>],
    ) -> Result<Arc<Event>> {
        self.context.check_same(kernel.program().context())?;
        self.initialize(kernel)?;
        self.launch_initialized(kind, kernel, range, waits)
    }

    /// As [`Queue::launch`], of a kernel whose program's variables have their values.
    fn launch_initialized(
        &self,
        kind: CommandKind,
        kernel: &Arc<Kernel>,
        range: &NdRange,
        waits: &[Arc<Event>],
    ) -> Result<Arc<Event>> {
        let (mut launch, device) = (self.core.spare_launch(), self.core.device());
        if let Some(launch) = Arc::get_mut(&mut launch) {
            launch.bind(kernel, &kernel.values(), device)?;
            launch.divide(kernel, range, device)?;
        }
        self.push(kind, waits, Work::Launch(EnqueuedLaunch::new(launch, self.reachable())))
    }

    /// Shared virtual memory that a launch may access, as programs follow pointers: all of the context's.
    fn reachable(&self) -> Option<SharedList> {
        if self.core.device().shares_addresses() { self.context.all_shared() } else { None }
    }

    /// Enqueues the commands of a command-buffer as one. `INVALID_CONTEXT`, `INVALID_DEVICE` when it was created for
    /// another device, `INVALID_OPERATION` when it is not executable.
    pub fn command_buffer(&self, buffer: &CommandBuffer, waits: &[Arc<Event>]) -> Result<Arc<Event>> {
        self.context.check_same(buffer.context())?;
        if !Arc::ptr_eq(self.core.device(), buffer.device()) {
            return Err(Error::new(Code::InvalidDevice, "the command-buffer is for another device"));
        }
        let reachable = self.reachable();
        let list = buffer.executable(
            |kernel| self.initialize(kernel),
            |command| match command {
                Recorded::Transfer(transfer) => Work::of(transfer.clone()),
                Recorded::Launch(recorded) => {
                    Work::Launch(EnqueuedLaunch::new(recorded.launch().clone(), reachable.clone()))
                }
            },
        )?;
        let work = if list.is_empty() { Work::Nothing } else { Work::List(list) };
        self.push(CommandKind::CommandBuffer, waits, work)
    }

    /// The work-group size that a launch has, where the application leaves it to us. Errors as
    /// [`Queue::launch`].
    pub fn suggested_local_size(&self, kernel: &Kernel, range: &NdRange) -> Result<[u32; 3]> {
        self.context.check_same(kernel.program().context())?;
        kernel.executable_on(self.core.device())?.suggested_local_size(range)
    }

    fn push(&self, kind: CommandKind, waits: &[Arc<Event>], work: Work) -> Result<Arc<Event>> {
        self.push_ordered(kind, waits, work, Order::default())
    }

    fn push_ordered(
        &self,
        kind: CommandKind,
        waits: &[Arc<Event>],
        mut work: Work,
        order: Order,
    ) -> Result<Arc<Event>> {
        for event in waits {
            self.context.check_same(event.context())?;
        }
        let number = self.context.conflicts().map(|all| self.add_to_conflicts(all, waits, &mut work, order));
        let event = self.core.enqueue(kind, waits, work, order);
        if let Some(number) = number {
            event.set_command_number(number);
        }
        Ok(event)
    }
}

impl Drop for Queue {
    /// Commands that were enqueued still run.
    fn drop(&mut self) {
        self.core.close();
    }
}
