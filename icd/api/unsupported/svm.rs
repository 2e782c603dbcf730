//! Shared virtual memory: `clSVM…`, `clEnqueueSVM…`

use std::ffi::c_void;
use std::ptr::null_mut;

use gencl_icd_macros::cl_entrypoint;
use opencl_sys::{
    cl_bool, cl_command_queue, cl_context, cl_event, cl_map_flags, cl_mem_migration_flags, cl_svm_mem_flags,
    cl_uint,
};

use super::of_queue;
use crate::CLResult;
use crate::abi::{FreeFunction, HostPointer, List, Out, Unused};

// CL_INVALID_OPERATION if the device associated with command_queue does not support SVM.
const NO_SVM: &str = "the device has no shared virtual memory";

#[cl_entrypoint(clSVMAlloc)]
fn svm_alloc(
    _context: cl_context,
    _flags: cl_svm_mem_flags,
    _size: usize,
    _alignment: cl_uint,
) -> *mut c_void {
    // NULL if there are no devices in context that support SVM.
    null_mut()
}

#[cl_entrypoint(clSVMFree)]
fn svm_free(_context: cl_context, _svm_pointer: HostPointer<*mut c_void>) {
    // Only NULL can be freed where nothing was allocated, and that does nothing.
}

#[cl_entrypoint(clEnqueueSVMFree)]
fn enqueue_svm_free(
    command_queue: cl_command_queue,
    _num_svm_pointers: cl_uint,
    _svm_pointers: Out<*mut c_void>,
    _pfn_free_func: Unused<FreeFunction>,
    _user_data: HostPointer<*mut c_void>,
    _num_events_in_wait_list: cl_uint,
    _event_wait_list: List<cl_event>,
    _event: Out<cl_event>,
) -> CLResult<()> {
    of_queue(command_queue, NO_SVM)
}

#[cl_entrypoint(clEnqueueSVMMemcpy)]
fn enqueue_svm_memcpy(
    command_queue: cl_command_queue,
    _blocking_copy: cl_bool,
    _dst_ptr: HostPointer<*mut c_void>,
    _src_ptr: HostPointer<*const c_void>,
    _size: usize,
    _num_events_in_wait_list: cl_uint,
    _event_wait_list: List<cl_event>,
    _event: Out<cl_event>,
) -> CLResult<()> {
    of_queue(command_queue, NO_SVM)
}

#[cl_entrypoint(clEnqueueSVMMemFill)]
fn enqueue_svm_mem_fill(
    command_queue: cl_command_queue,
    _svm_ptr: HostPointer<*mut c_void>,
    _pattern: HostPointer<*const c_void>,
    _pattern_size: usize,
    _size: usize,
    _num_events_in_wait_list: cl_uint,
    _event_wait_list: List<cl_event>,
    _event: Out<cl_event>,
) -> CLResult<()> {
    of_queue(command_queue, NO_SVM)
}

#[cl_entrypoint(clEnqueueSVMMap)]
fn enqueue_svm_map(
    command_queue: cl_command_queue,
    _blocking_map: cl_bool,
    _flags: cl_map_flags,
    _svm_ptr: HostPointer<*mut c_void>,
    _size: usize,
    _num_events_in_wait_list: cl_uint,
    _event_wait_list: List<cl_event>,
    _event: Out<cl_event>,
) -> CLResult<()> {
    of_queue(command_queue, NO_SVM)
}

#[cl_entrypoint(clEnqueueSVMUnmap)]
fn enqueue_svm_unmap(
    command_queue: cl_command_queue,
    _svm_ptr: HostPointer<*mut c_void>,
    _num_events_in_wait_list: cl_uint,
    _event_wait_list: List<cl_event>,
    _event: Out<cl_event>,
) -> CLResult<()> {
    of_queue(command_queue, NO_SVM)
}

#[cl_entrypoint(clEnqueueSVMMigrateMem)]
fn enqueue_svm_migrate_mem(
    command_queue: cl_command_queue,
    _num_svm_pointers: cl_uint,
    _svm_pointers: Out<*const c_void>,
    _sizes: List<usize>,
    _flags: cl_mem_migration_flags,
    _num_events_in_wait_list: cl_uint,
    _event_wait_list: List<cl_event>,
    _event: Out<cl_event>,
) -> CLResult<()> {
    of_queue(command_queue, NO_SVM)
}
