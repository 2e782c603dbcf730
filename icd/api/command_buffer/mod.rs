//! `cl_khr_command_buffer`, `cl_khr_command_buffer_mutable_dispatch`

pub mod copy;
pub mod create;
pub mod enqueue;
pub mod fill;
pub mod image_copy;
pub mod info;
pub mod kernel;
pub mod mutable_info;
pub mod references;
pub mod shared;
pub mod synchronize;
pub mod update;

use std::sync::Arc;

use gencl_runtime::{Code, DeviceFacts, Error, Transfer};
use opencl_sys::{
    CL_COMMAND_BUFFER_CAPABILITY_KERNEL_PRINTF_KHR, CL_COMMAND_BUFFER_CAPABILITY_SIMULTANEOUS_USE_KHR,
    CL_MUTABLE_DISPATCH_ARGUMENTS_KHR, CL_MUTABLE_DISPATCH_ASSERT_NO_ADDITIONAL_WORK_GROUPS_KHR,
    CL_MUTABLE_DISPATCH_EXEC_INFO_KHR, CL_MUTABLE_DISPATCH_GLOBAL_OFFSET_KHR,
    CL_MUTABLE_DISPATCH_GLOBAL_SIZE_KHR, CL_MUTABLE_DISPATCH_LOCAL_SIZE_KHR, cl_command_buffer_khr,
    cl_command_properties_khr, cl_command_queue, cl_device_command_buffer_capabilities_khr,
    cl_mutable_command_khr, cl_mutable_dispatch_asserts_khr, cl_mutable_dispatch_fields_khr,
    cl_sync_point_khr, cl_uint,
};

use crate::abi::{List, Out, ZeroTerminated};
use crate::handle::Handle;
use crate::object::{CommandBuffer, Context};
use crate::{CLResult, refuse_if};

/// `CL_DEVICE_COMMAND_BUFFER_CAPABILITIES_KHR`: there are no device-side queues, and a command-buffer has one queue.
pub const CAPABILITIES: cl_device_command_buffer_capabilities_khr =
    CL_COMMAND_BUFFER_CAPABILITY_KERNEL_PRINTF_KHR | CL_COMMAND_BUFFER_CAPABILITY_SIMULTANEOUS_USE_KHR;

/// All bits that the specification defines.
const FIELDS: cl_mutable_dispatch_fields_khr = CL_MUTABLE_DISPATCH_GLOBAL_OFFSET_KHR
    | CL_MUTABLE_DISPATCH_GLOBAL_SIZE_KHR
    | CL_MUTABLE_DISPATCH_LOCAL_SIZE_KHR
    | CL_MUTABLE_DISPATCH_ARGUMENTS_KHR
    | CL_MUTABLE_DISPATCH_EXEC_INFO_KHR;

/// `CL_DEVICE_MUTABLE_DISPATCH_CAPABILITIES_KHR`. Execution information is on shared virtual memory.
pub fn mutable_fields(facts: &DeviceFacts) -> cl_mutable_dispatch_fields_khr {
    if facts.profile().shared_memory { FIELDS } else { FIELDS & !CL_MUTABLE_DISPATCH_EXEC_INFO_KHR }
}

/// CL_INVALID_VALUE for assertions that do not exist.
fn check_asserts(asserts: cl_mutable_dispatch_asserts_khr) -> CLResult<()> {
    let unknown = asserts & !CL_MUTABLE_DISPATCH_ASSERT_NO_ADDITIONAL_WORK_GROUPS_KHR != 0;
    refuse_if(unknown, Code::InvalidValue, "unknown assertions")
}

/// CL_INVALID_VALUE for a property that does not exist, or stands twice behind those of `before`.
fn check_name(name: u64, known: &[u64], before: &mut Vec<u64>) -> CLResult<()> {
    if !known.contains(&name) {
        return Err(Error::new(Code::InvalidValue, format!("unknown property {name:#x}")));
    }
    refuse_if(before.contains(&name), Code::InvalidValue, "a property stands twice")?;
    before.push(name);
    Ok(())
}

/// The parameters that all `clCommand…KHR` functions share.
struct Recording {
    buffer: Arc<Handle<CommandBuffer>>,
    waits: Vec<cl_sync_point_khr>,
    sync_point: Out<cl_sync_point_khr>,
}

impl Recording {
    /// Checks command-buffer, queue and wait list.
    fn new(
        buffer: cl_command_buffer_khr,
        queue: cl_command_queue,
        num_waits: cl_uint,
        waits: List<cl_sync_point_khr>,
        sync_point: Out<cl_sync_point_khr>,
    ) -> CLResult<Self> {
        // CL_INVALID_COMMAND_BUFFER_KHR if command_buffer is not a valid command-buffer.
        let buffer = Handle::<CommandBuffer>::get(buffer)?;
        // CL_INVALID_COMMAND_QUEUE if the cl_khr_command_buffer_multi_device extension is not supported and
        // command_queue is not NULL.
        refuse_if(!queue.is_null(), Code::InvalidCommandQueue, "the queue is that of the command-buffer")?;
        // CL_INVALID_SYNC_POINT_WAIT_LIST_KHR if sync_point_wait_list is NULL and num_sync_points_in_wait_list is > 0,
        // or sync_point_wait_list is not NULL and num_sync_points_in_wait_list is 0, or if synchronization-point objects
        // in it are not valid, which the runtime checks.
        let pairs = waits.is_null() == (num_waits == 0);
        refuse_if(!pairs, Code::InvalidSyncPointWaitList, "the list does not match its length")?;
        // SAFETY: num_sync_points_in_wait_list is the length of the list.
        let waits = unsafe { waits.to_vec(num_waits as usize) };
        Ok(Self { buffer, waits, sync_point })
    }

    /// Checks the parameters that are for launches only.
    ///
    /// CL_INVALID_VALUE if values specified in properties are not valid: there are none.
    /// CL_INVALID_VALUE if mutable_handle is not NULL.
    fn immutable(
        self,
        properties: ZeroTerminated<cl_command_properties_khr>,
        handle: Out<cl_mutable_command_khr>,
    ) -> CLResult<Self> {
        properties.checked(|name, _| check_name(name, &[], &mut Vec::new()))?;
        refuse_if(!handle.is_null(), Code::InvalidValue, "the command cannot be changed")?;
        Ok(self)
    }

    fn context(&self) -> &Arc<Handle<Context>> {
        &self.buffer.queue.context
    }

    /// Records a transfer.
    ///
    /// CL_INVALID_OPERATION if command_buffer has been finalized.
    fn transfer(self, transfer: Transfer) -> CLResult<()> {
        let point = self.buffer.runtime.transfer(transfer, &self.waits)?;
        self.done(point)
    }

    /// Returns the sync point to the application.
    fn done(self, point: cl_sync_point_khr) -> CLResult<()> {
        self.sync_point.write(point);
        Ok(())
    }
}
