//! `clCommandSVMMemcpyKHR`, `clCommandSVMMemFillKHR`

use std::ffi::c_void;

use gencl_icd_macros::cl_entrypoint;
use gencl_runtime::CommandKind;
use opencl_sys::{
    cl_command_buffer_khr, cl_command_properties_khr, cl_command_queue, cl_mutable_command_khr,
    cl_sync_point_khr, cl_uint,
};

use super::Recording;
use crate::CLResult;
use crate::abi::{HostPointer, List, Out, ZeroTerminated};
use crate::api::enqueue::shared;

#[cl_entrypoint(clCommandSVMMemcpyKHR)]
fn command_svm_memcpy(
    buffer: cl_command_buffer_khr,
    queue: cl_command_queue,
    properties: ZeroTerminated<cl_command_properties_khr>,
    to: HostPointer<*mut c_void>,
    from: HostPointer<*const c_void>,
    size: usize,
    num_waits: cl_uint,
    waits: List<cl_sync_point_khr>,
    sync_point: Out<cl_sync_point_khr>,
    handle: Out<cl_mutable_command_khr>,
) -> CLResult<()> {
    let recording =
        Recording::new(buffer, queue, num_waits, waits, sync_point)?.immutable(properties, handle)?;
    // CL_INVALID_OPERATION if the device associated with the command-queue does not support SVM.
    recording.buffer.runtime.check_shared()?;
    let copy = shared::copy(recording.context(), CommandKind::SvmMemcpy, (&to, &from, size))?;
    recording.transfer(copy)
}

#[cl_entrypoint(clCommandSVMMemFillKHR)]
fn command_svm_mem_fill(
    buffer: cl_command_buffer_khr,
    queue: cl_command_queue,
    properties: ZeroTerminated<cl_command_properties_khr>,
    to: HostPointer<*mut c_void>,
    pattern: HostPointer<*const c_void>,
    pattern_size: usize,
    size: usize,
    num_waits: cl_uint,
    waits: List<cl_sync_point_khr>,
    sync_point: Out<cl_sync_point_khr>,
    handle: Out<cl_mutable_command_khr>,
) -> CLResult<()> {
    let recording =
        Recording::new(buffer, queue, num_waits, waits, sync_point)?.immutable(properties, handle)?;
    // CL_INVALID_OPERATION if the device associated with the command-queue does not support SVM.
    recording.buffer.runtime.check_shared()?;
    let (to, pattern) = ((&to, size), (&pattern, pattern_size));
    let fill = shared::fill(recording.context(), CommandKind::SvmMemFill, to, pattern)?;
    recording.transfer(fill)
}
