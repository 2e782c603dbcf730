//! Commands of `cl_intel_unified_shared_memory`.

use std::ffi::c_void;

use gencl_icd_macros::cl_entrypoint;
use gencl_runtime::{Code, CommandKind, Error};
use opencl_sys::{cl_bool, cl_command_queue, cl_event, cl_mem_advice_intel, cl_mem_migration_flags, cl_uint};

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
    // CL_INVALID_VALUE if dst_ptr is NULL, or if dst_ptr is not aligned to pattern_size bytes, if pattern is NULL, if pattern_size is not a power of two or is greater than the
    // size of the largest vector, or if size is not a multiple of pattern_size.
    refuse_if(to.is_null(), Code::InvalidValue, "no memory")?;
    let valid = pattern_size.is_power_of_two() && pattern_size <= gencl_runtime::MAX_ALIGNMENT;
    refuse_if(!valid, Code::InvalidValue, "no type has the size of the pattern")?;
    // SAFETY: pattern_size is the length of the pattern.
    let pattern = unsafe { pattern.to_vec(pattern_size) };
    let pattern = pattern.ok_or_else(|| Error::new(Code::InvalidValue, "no pattern"))?;
    // SAFETY: the application has size bytes there until the command has ended.
    let to = unsafe { to.memory(size) };
    let (runtime, waits) = (&enqueue.queue.runtime, &enqueue.waits);
    let command = runtime.fill_shared(CommandKind::MemFill, &to, &pattern, waits)?;
    enqueue.done(command)
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
    // CL_INVALID_VALUE if either dst_ptr or src_ptr are NULL.
    refuse_if(to.is_null() || from.is_null(), Code::InvalidValue, "no memory")?;
    // CL_MEM_COPY_OVERLAP if the values specified for dst_ptr, src_ptr and size result in an overlapping copy.
    // SAFETY: the application has size bytes at both until the command has ended.
    let (to, from) = unsafe { (to.memory(size), from.memory(size)) };
    let (runtime, waits) = (&enqueue.queue.runtime, &enqueue.waits);
    let command = runtime.copy_shared(CommandKind::Memcpy, &to, &from, waits)?;
    enqueue.done_blocking(command, blocking != 0)
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
    // CL_INVALID_VALUE if flags is not a supported combination of memory migration flags. Host and GPU have the same memory.
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
    // CL_INVALID_VALUE if advice is not supported advice for the device associated with command_queue. None is defined but 0.
    refuse_if(advice != 0, Code::InvalidValue, "no such advice")?;
    let command = enqueue.queue.runtime.nothing(CommandKind::MemAdvise, &enqueue.waits)?;
    enqueue.done(command)
}
