//! `clCommandBarrierWithWaitListKHR`

use gencl_icd_macros::cl_entrypoint;
use opencl_sys::{
    cl_command_buffer_khr, cl_command_properties_khr, cl_command_queue, cl_mutable_command_khr,
    cl_sync_point_khr, cl_uint,
};

use super::Recording;
use crate::CLResult;
use crate::abi::{List, Out, ZeroTerminated};

#[cl_entrypoint(clCommandBarrierWithWaitListKHR)]
fn command_barrier_with_wait_list(
    buffer: cl_command_buffer_khr,
    queue: cl_command_queue,
    properties: ZeroTerminated<cl_command_properties_khr>,
    num_waits: cl_uint,
    waits: List<cl_sync_point_khr>,
    sync_point: Out<cl_sync_point_khr>,
    handle: Out<cl_mutable_command_khr>,
) -> CLResult<()> {
    let recording =
        Recording::new(buffer, queue, num_waits, waits, sync_point)?.immutable(properties, handle)?;
    // CL_INVALID_OPERATION if command_buffer has been finalized.
    let point = recording.buffer.runtime.barrier(&recording.waits)?;
    recording.done(point)
}
