//! Commands of `cl_intel_unified_shared_memory`.

use std::ffi::c_void;

use gencl_icd_macros::cl_entrypoint;
use gencl_runtime::{Code, CommandKind};
use opencl_sys::{cl_bool, cl_command_queue, cl_event, cl_mem_advice_intel, cl_mem_migration_flags, cl_uint};

use super::shared::{copy, fill};
use super::{Enqueue, check_migration};
use crate::abi::{HostPointer, List, Out};
use crate::{CLResult, refuse_if};

#[cl_entrypoint(clEnqueueMemFillINTEL)]
fn enqueue_mem_fill(
    queue: cl_command_queue,
    to: HostPointer<*mut c_void>,
    pattern: HostPointer<*const c_void>,
    pattern_size: usize,
    size: usize,
    num_events: cl_uint,
    wait_events: List<cl_event>,
    event: Out<cl_event>,
) -> CLResult<()> {
    let enqueue = Enqueue::new(queue, num_events, wait_events, event)?;
    let (to, pattern) = ((&to, size), (&pattern, pattern_size));
    let fill = fill(&enqueue.queue.context, CommandKind::MemFill, to, pattern)?;
    enqueue.transfer(fill)
}

#[cl_entrypoint(clEnqueueMemcpyINTEL)]
fn enqueue_memcpy(
    queue: cl_command_queue,
    blocking: cl_bool,
    to: HostPointer<*mut c_void>,
    from: HostPointer<*const c_void>,
    size: usize,
    num_events: cl_uint,
    wait_events: List<cl_event>,
    event: Out<cl_event>,
) -> CLResult<()> {
    let enqueue = Enqueue::new(queue, num_events, wait_events, event)?;
    let copy = copy(&enqueue.queue.context, CommandKind::Memcpy, (&to, &from, size))?;
    enqueue.transfer_blocking(copy, blocking)
}

#[cl_entrypoint(clEnqueueMigrateMemINTEL)]
fn enqueue_migrate_mem(
    queue: cl_command_queue,
    _pointer: HostPointer<*const c_void>,
    _size: usize,
    flags: cl_mem_migration_flags,
    num_events: cl_uint,
    wait_events: List<cl_event>,
    event: Out<cl_event>,
) -> CLResult<()> {
    let enqueue = Enqueue::new(queue, num_events, wait_events, event)?;
    // CL_INVALID_VALUE if flags is not a supported combination of memory migration flags. Host and GPU have
    // the same memory.
    check_migration(flags)?;
    let command = enqueue.queue.runtime.nothing(CommandKind::MigrateMem, &enqueue.waits)?;
    enqueue.done(command)
}

#[cl_entrypoint(clEnqueueMemAdviseINTEL)]
fn enqueue_mem_advise(
    queue: cl_command_queue,
    _pointer: HostPointer<*const c_void>,
    _size: usize,
    advice: cl_mem_advice_intel,
    num_events: cl_uint,
    wait_events: List<cl_event>,
    event: Out<cl_event>,
) -> CLResult<()> {
    let enqueue = Enqueue::new(queue, num_events, wait_events, event)?;
    // CL_INVALID_VALUE if advice is not supported advice for the device associated with command_queue. None
    // is defined but 0.
    refuse_if(advice != 0, Code::InvalidValue, "unknown advice")?;
    let command = enqueue.queue.runtime.nothing(CommandKind::MemAdvise, &enqueue.waits)?;
    enqueue.done(command)
}
