//! `clCommandCopyBufferKHR`, `clCommandCopyBufferRectKHR`

use gencl_icd_macros::cl_entrypoint;
use opencl_sys::{
    cl_command_buffer_khr, cl_command_properties_khr, cl_command_queue, cl_mem, cl_mutable_command_khr,
    cl_sync_point_khr, cl_uint,
};

use super::Recording;
use crate::CLResult;
use crate::abi::{Fixed, List, Out, ZeroTerminated};
use crate::api::enqueue::copy;

#[cl_entrypoint(clCommandCopyBufferKHR)]
fn command_copy_buffer(
    buffer: cl_command_buffer_khr,
    queue: cl_command_queue,
    properties: ZeroTerminated<cl_command_properties_khr>,
    src_buffer: cl_mem,
    dst_buffer: cl_mem,
    src_offset: usize,
    dst_offset: usize,
    size: usize,
    num_waits: cl_uint,
    waits: List<cl_sync_point_khr>,
    sync_point: Out<cl_sync_point_khr>,
    handle: Out<cl_mutable_command_khr>,
) -> CLResult<()> {
    let recording =
        Recording::new(buffer, queue, num_waits, waits, sync_point)?.immutable(properties, handle)?;
    let copy = copy::buffer(recording.context(), (src_buffer, src_offset), (dst_buffer, dst_offset), size)?;
    recording.transfer(copy)
}

#[cl_entrypoint(clCommandCopyBufferRectKHR)]
fn command_copy_buffer_rect(
    buffer: cl_command_buffer_khr,
    queue: cl_command_queue,
    properties: ZeroTerminated<cl_command_properties_khr>,
    src_buffer: cl_mem,
    dst_buffer: cl_mem,
    src_origin: Fixed<usize, 3>,
    dst_origin: Fixed<usize, 3>,
    region: Fixed<usize, 3>,
    src_row_pitch: usize,
    src_slice_pitch: usize,
    dst_row_pitch: usize,
    dst_slice_pitch: usize,
    num_waits: cl_uint,
    waits: List<cl_sync_point_khr>,
    sync_point: Out<cl_sync_point_khr>,
    handle: Out<cl_mutable_command_khr>,
) -> CLResult<()> {
    let recording =
        Recording::new(buffer, queue, num_waits, waits, sync_point)?.immutable(properties, handle)?;
    let from = (src_buffer, src_origin, src_row_pitch, src_slice_pitch);
    let to = (dst_buffer, dst_origin, dst_row_pitch, dst_slice_pitch);
    let copy = copy::buffer_rect(recording.context(), from, to, region)?;
    recording.transfer(copy)
}
