//! `clCommandCopyImageKHR`, `clCommandCopyImageToBufferKHR`, `clCommandCopyBufferToImageKHR`

use gencl_icd_macros::cl_entrypoint;
use opencl_sys::{
    cl_command_buffer_khr, cl_command_properties_khr, cl_command_queue, cl_mem, cl_mutable_command_khr,
    cl_sync_point_khr, cl_uint,
};

use super::Recording;
use crate::CLResult;
use crate::abi::{Fixed, List, Out, ZeroTerminated};
use crate::api::enqueue::image_copy;

#[cl_entrypoint(clCommandCopyImageKHR)]
fn command_copy_image(
    buffer: cl_command_buffer_khr,
    queue: cl_command_queue,
    properties: ZeroTerminated<cl_command_properties_khr>,
    src_image: cl_mem,
    dst_image: cl_mem,
    src_origin: Fixed<usize, 3>,
    dst_origin: Fixed<usize, 3>,
    region: Fixed<usize, 3>,
    num_waits: cl_uint,
    waits: List<cl_sync_point_khr>,
    sync_point: Out<cl_sync_point_khr>,
    handle: Out<cl_mutable_command_khr>,
) -> CLResult<()> {
    let recording =
        Recording::new(buffer, queue, num_waits, waits, sync_point)?.immutable(properties, handle)?;
    let (from, to) = ((src_image, src_origin), (dst_image, dst_origin));
    let copy = image_copy::image(recording.context(), from, to, region)?;
    recording.transfer(copy)
}

#[cl_entrypoint(clCommandCopyImageToBufferKHR)]
fn command_copy_image_to_buffer(
    buffer: cl_command_buffer_khr,
    queue: cl_command_queue,
    properties: ZeroTerminated<cl_command_properties_khr>,
    src_image: cl_mem,
    dst_buffer: cl_mem,
    src_origin: Fixed<usize, 3>,
    region: Fixed<usize, 3>,
    dst_offset: usize,
    num_waits: cl_uint,
    waits: List<cl_sync_point_khr>,
    sync_point: Out<cl_sync_point_khr>,
    handle: Out<cl_mutable_command_khr>,
) -> CLResult<()> {
    let recording =
        Recording::new(buffer, queue, num_waits, waits, sync_point)?.immutable(properties, handle)?;
    let (from, to) = ((src_image, src_origin), (dst_buffer, dst_offset));
    let copy = image_copy::image_to_buffer(recording.context(), from, region, to)?;
    recording.transfer(copy)
}

#[cl_entrypoint(clCommandCopyBufferToImageKHR)]
fn command_copy_buffer_to_image(
    buffer: cl_command_buffer_khr,
    queue: cl_command_queue,
    properties: ZeroTerminated<cl_command_properties_khr>,
    src_buffer: cl_mem,
    dst_image: cl_mem,
    src_offset: usize,
    dst_origin: Fixed<usize, 3>,
    region: Fixed<usize, 3>,
    num_waits: cl_uint,
    waits: List<cl_sync_point_khr>,
    sync_point: Out<cl_sync_point_khr>,
    handle: Out<cl_mutable_command_khr>,
) -> CLResult<()> {
    let recording =
        Recording::new(buffer, queue, num_waits, waits, sync_point)?.immutable(properties, handle)?;
    let (from, to) = ((src_buffer, src_offset), (dst_image, dst_origin));
    let copy = image_copy::buffer_to_image(recording.context(), from, to, region)?;
    recording.transfer(copy)
}
