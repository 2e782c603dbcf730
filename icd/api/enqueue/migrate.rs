//! `clEnqueueMigrateMemObjects`

use gencl_icd_macros::cl_entrypoint;
use gencl_runtime::{Code, CommandKind};
use opencl_sys::{cl_command_queue, cl_event, cl_mem, cl_mem_migration_flags, cl_uint};

use super::{Enqueue, check_migration};
use crate::abi::{List, Out};
use crate::object::Memory;
use crate::{CLResult, refuse_if};

#[cl_entrypoint(clEnqueueMigrateMemObjects)]
fn enqueue_migrate_mem_objects(
    queue: cl_command_queue,
    num_objects: cl_uint,
    objects: List<cl_mem>,
    flags: cl_mem_migration_flags,
    num_events: cl_uint,
    wait_events: List<cl_event>,
    event: Out<cl_event>,
) -> CLResult<()> {
    let enqueue = Enqueue::new(queue, num_events, wait_events, event)?;
    // CL_INVALID_VALUE if num_mem_objects is zero or if mem_objects is NULL.
    refuse_if(num_objects == 0 || objects.is_null(), Code::InvalidValue, "no memory objects")?;
    check_migration(flags)?;
    // CL_INVALID_MEM_OBJECT if any of the memory objects in mem_objects is not a valid memory object.
    // SAFETY: num_mem_objects is the length of the list.
    for object in unsafe { objects.to_vec(num_objects as usize) } {
        Memory::of_context(object, &enqueue.queue.context)?;
    }
    let command = enqueue.queue.runtime.nothing(CommandKind::MigrateMemObjects, &enqueue.waits)?;
    enqueue.done(command)
}
