//! Commands on shared virtual memory: `clEnqueueSVM…`

use std::ffi::c_void;
use std::sync::Arc;

use gencl_icd_macros::cl_entrypoint;
use gencl_runtime::{Code, CommandKind, MapFlags, Transfer};
use opencl_sys::{cl_bool, cl_command_queue, cl_event, cl_map_flags, cl_mem_migration_flags, cl_uint};

use super::fill::pattern_of;
use super::{Enqueue, check_migration};
use crate::abi::{HostPointer, List, ListMut, Out, SharedFree, UserData};
use crate::handle::Handle;
use crate::object::Context;
use crate::{CLResult, leaks, refuse_if};

#[cl_entrypoint(clEnqueueSVMFree)]
fn enqueue_svm_free(
    queue: cl_command_queue,
    num_pointers: cl_uint,
    pointers: ListMut<*mut c_void>,
    free: SharedFree,
    user: UserData,
    num_events: cl_uint,
    wait_events: List<cl_event>,
    event: Out<cl_event>,
) -> CLResult<()> {
    let enqueue = Enqueue::new(queue, num_events, wait_events, event)?.on_shared_memory()?;
    // CL_INVALID_VALUE if num_svm_pointers is 0 and svm_pointers is non-NULL, or if svm_pointers is NULL and
    // num_svm_pointers is not 0.
    let pairs = (num_pointers == 0) == pointers.is_null();
    refuse_if(!pairs, Code::InvalidValue, "the list of pointers does not match its length")?;
    // SAFETY: num_svm_pointers is the length of the list.
    let addresses: Vec<usize> = unsafe { pointers.to_vec(num_pointers as usize) }
        .into_iter()
        .map(|pointer| pointer as usize)
        .collect();
    let context = enqueue.queue.context.clone();
    // The callback is called with a valid queue, even if the application has released it meanwhile.
    let (kept, free) = (enqueue.queue.clone(), free.bind(user));
    if free.is_none() {
        addresses.iter().for_each(|address| leaks::freed(*address));
    }
    let work = move || match free {
        Some(free) => free(kept.raw(), &addresses),
        None => addresses.iter().for_each(|address| context.runtime.free_shared(*address)),
    };
    let command = enqueue.queue.runtime.free_shared(Box::new(work), &enqueue.waits)?;
    enqueue.done(command)
}

#[cl_entrypoint(clEnqueueSVMMemcpy)]
fn enqueue_svm_memcpy(
    queue: cl_command_queue,
    blocking: cl_bool,
    to: HostPointer<*mut c_void>,
    from: HostPointer<*const c_void>,
    size: usize,
    num_events: cl_uint,
    wait_events: List<cl_event>,
    event: Out<cl_event>,
) -> CLResult<()> {
    let enqueue = Enqueue::new(queue, num_events, wait_events, event)?.on_shared_memory()?;
    let copy = copy(&enqueue.queue.context, CommandKind::SvmMemcpy, (&to, &from, size))?;
    enqueue.transfer_blocking(copy, blocking)
}

#[cl_entrypoint(clEnqueueSVMMemFill)]
fn enqueue_svm_mem_fill(
    queue: cl_command_queue,
    to: HostPointer<*mut c_void>,
    pattern: HostPointer<*const c_void>,
    pattern_size: usize,
    size: usize,
    num_events: cl_uint,
    wait_events: List<cl_event>,
    event: Out<cl_event>,
) -> CLResult<()> {
    let enqueue = Enqueue::new(queue, num_events, wait_events, event)?.on_shared_memory()?;
    let (to, pattern) = ((&to, size), (&pattern, pattern_size));
    let fill = fill(&enqueue.queue.context, CommandKind::SvmMemFill, to, pattern)?;
    enqueue.transfer(fill)
}

#[cl_entrypoint(clEnqueueSVMMap)]
fn enqueue_svm_map(
    queue: cl_command_queue,
    blocking: cl_bool,
    flags: cl_map_flags,
    pointer: HostPointer<*mut c_void>,
    size: usize,
    num_events: cl_uint,
    wait_events: List<cl_event>,
    event: Out<cl_event>,
) -> CLResult<()> {
    let enqueue = Enqueue::new(queue, num_events, wait_events, event)?.on_shared_memory()?;
    // CL_INVALID_VALUE if svm_ptr is NULL, if size is 0 or if values specified in map_flags are not valid.
    refuse_if(pointer.is_null() || size == 0, Code::InvalidValue, "nothing to map")?;
    MapFlags::from_bits_retain(flags).check()?;
    let command = enqueue.queue.runtime.nothing(CommandKind::SvmMap, &enqueue.waits)?;
    enqueue.done_blocking(command, blocking != 0)
}

#[cl_entrypoint(clEnqueueSVMUnmap)]
fn enqueue_svm_unmap(
    queue: cl_command_queue,
    pointer: HostPointer<*mut c_void>,
    num_events: cl_uint,
    wait_events: List<cl_event>,
    event: Out<cl_event>,
) -> CLResult<()> {
    let enqueue = Enqueue::new(queue, num_events, wait_events, event)?.on_shared_memory()?;
    // CL_INVALID_VALUE if svm_ptr is NULL.
    refuse_if(pointer.is_null(), Code::InvalidValue, "nothing to unmap")?;
    let command = enqueue.queue.runtime.nothing(CommandKind::SvmUnmap, &enqueue.waits)?;
    enqueue.done(command)
}

#[cl_entrypoint(clEnqueueSVMMigrateMem)]
fn enqueue_svm_migrate_mem(
    queue: cl_command_queue,
    num_pointers: cl_uint,
    pointers: ListMut<*const c_void>,
    sizes: List<usize>,
    flags: cl_mem_migration_flags,
    num_events: cl_uint,
    wait_events: List<cl_event>,
    event: Out<cl_event>,
) -> CLResult<()> {
    let enqueue = Enqueue::new(queue, num_events, wait_events, event)?.on_shared_memory()?;
    // CL_INVALID_VALUE if num_svm_pointers is zero or svm_pointers is NULL.
    refuse_if(num_pointers == 0 || pointers.is_null(), Code::InvalidValue, "no pointers")?;
    check_migration(flags)?;
    // CL_INVALID_VALUE if sizes[i] is non-zero and range [svm_pointers[i], svm_pointers[i]+sizes[i]) is not
    // contained within an existing clSVMAlloc allocation.
    let count = num_pointers as usize;
    // SAFETY: num_svm_pointers is the length of both lists.
    let (pointers, sizes) = unsafe { (pointers.to_vec(count), sizes.to_vec(count)) };
    let sizes = sizes.into_iter().chain(std::iter::repeat(0));
    for (pointer, size) in pointers.into_iter().map(|pointer| pointer as usize).zip(sizes) {
        let found = enqueue.queue.context.runtime.shared_at(pointer);
        let within = found.is_some_and(|memory| size <= memory.size() - (pointer - memory.address()));
        refuse_if(!within, Code::InvalidValue, "a range is not in shared virtual memory")?;
    }
    let command = enqueue.queue.runtime.nothing(CommandKind::SvmMigrateMem, &enqueue.waits)?;
    enqueue.done(command)
}

/// A copy of `size` bytes of the application's memory.
pub fn copy(
    context: &Arc<Handle<Context>>,
    kind: CommandKind,
    (to, from, size): (&HostPointer<*mut c_void>, &HostPointer<*const c_void>, usize),
) -> CLResult<Transfer> {
    // CL_INVALID_VALUE if dst_ptr or src_ptr is NULL.
    refuse_if(to.is_null() || from.is_null(), Code::InvalidValue, "a pointer is null")?;
    // CL_MEM_COPY_OVERLAP if the values specified for dst_ptr, src_ptr and size result in an overlapping
    // copy. SAFETY: the application has size bytes at both until the command has ended.
    let (to, from) = unsafe { (to.memory(size), from.memory(size)) };
    Transfer::copy_shared(&context.runtime, kind, &to, &from)
}

/// A fill of `size` bytes of the application's memory with a pattern of `pattern_size` bytes.
pub fn fill(
    context: &Arc<Handle<Context>>,
    kind: CommandKind,
    (to, size): (&HostPointer<*mut c_void>, usize),
    (pattern, pattern_size): (&HostPointer<*const c_void>, usize),
) -> CLResult<Transfer> {
    // CL_INVALID_VALUE if the destination or the pattern is NULL, or if pattern_size is 0 or not one of { 1,
    // 2, 4, 8, 16, 32, 64, 128 }.
    refuse_if(to.is_null(), Code::InvalidValue, "a pointer is null")?;
    let pattern = pattern_of(pattern, pattern_size)?;
    // CL_INVALID_VALUE if the destination is not aligned to pattern_size bytes or if size is not a multiple
    // of it. SAFETY: the application has size bytes there until the command has ended.
    let to = unsafe { to.memory(size) };
    Transfer::fill_shared(&context.runtime, kind, &to, &pattern)
}
