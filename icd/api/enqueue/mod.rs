//! Commands.

pub mod copy;
pub mod fill;
pub mod image_copy;
pub mod image_read_write;
pub mod kernel;
pub mod map;
pub mod migrate;
pub mod read_write;
pub mod read_write_rect;
pub mod semaphore;
pub mod shared;
pub mod synchronize;
pub mod unified;

use std::sync::Arc;

use gencl_runtime::{BufferRect, Code, Error, Transfer};
use opencl_sys::{
    CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED, CL_MIGRATE_MEM_OBJECT_HOST, cl_bool, cl_command_queue, cl_event,
    cl_mem_migration_flags, cl_uint,
};

use crate::abi::{Fixed, List, Out};
use crate::handle::Handle;
use crate::object::{Event, Queue, wait_list};
use crate::{CLResult, refuse_if};

/// The parameters that all `clEnqueue…` functions share.
struct Enqueue {
    queue: Arc<Handle<Queue>>,
    waits: Vec<Arc<gencl_runtime::Event>>,
    event: Out<cl_event>,
}

impl Enqueue {
    /// Checks queue and wait list.
    fn new(
        queue: cl_command_queue,
        num_events: cl_uint,
        wait_events: List<cl_event>,
        event: Out<cl_event>,
    ) -> CLResult<Self> {
        // CL_INVALID_COMMAND_QUEUE if command_queue is not a valid host command-queue.
        let queue = Handle::<Queue>::get(queue)?;
        let waits = wait_list(&queue.context, num_events, wait_events)?;
        Ok(Self { queue, waits, event })
    }

    /// As [`Enqueue::new`], for a command on shared virtual memory.
    ///
    /// CL_INVALID_OPERATION if the device associated with command_queue does not support SVM.
    fn on_shared_memory(self) -> CLResult<Self> {
        self.queue.runtime.check_shared()?;
        Ok(self)
    }

    /// Enqueues a transfer, and returns its event to the application.
    fn transfer(self, transfer: Transfer) -> CLResult<()> {
        let command = self.queue.runtime.transfer(transfer, &self.waits)?;
        self.done(command)
    }

    /// As [`Enqueue::transfer`], and waits for it if it is blocking.
    fn transfer_blocking(self, transfer: Transfer, blocking: cl_bool) -> CLResult<()> {
        let command = self.queue.runtime.transfer(transfer, &self.waits)?;
        self.done_blocking(command, blocking != 0)
    }

    /// Returns the event of the enqueued command to the application.
    fn done(self, command: Arc<gencl_runtime::Event>) -> CLResult<()> {
        Event::give(&self.queue, command, self.event);
        Ok(())
    }

    /// As [`Enqueue::done`], after waiting for the command if it is a blocking one.
    ///
    /// CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST if the operation is blocking and the execution status of
    /// any of the events in event_wait_list is a negative integer value. If the command itself fails, its own
    /// error.
    fn done_blocking(self, command: Arc<gencl_runtime::Event>, blocking: bool) -> CLResult<()> {
        if blocking {
            command.wait().map_err(|error| command.failure().unwrap_or(error))?;
        }
        self.done(command)
    }
}

/// CL_INVALID_VALUE if flags is not 0 or is not any of the values described in the table of migration flags.
fn check_migration(flags: cl_mem_migration_flags) -> CLResult<()> {
    let known = CL_MIGRATE_MEM_OBJECT_HOST | CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED;
    refuse_if(flags & !known != 0, Code::InvalidValue, "unknown migration flags")
}

/// CL_INVALID_VALUE if a pointer to an origin or region is NULL.
fn triple(values: Fixed<usize, 3>) -> CLResult<[usize; 3]> {
    values.get().ok_or_else(|| Error::new(Code::InvalidValue, "no origin or region"))
}

/// A rectangle by its parameters.
fn rect(origin: Fixed<usize, 3>, row_pitch: usize, slice_pitch: usize) -> CLResult<BufferRect> {
    Ok(BufferRect { origin: triple(origin)?, row_pitch, slice_pitch })
}
