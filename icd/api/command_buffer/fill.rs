//! `clCommandFillBufferKHR`, `clCommandFillImageKHR`

use std::ffi::c_void;

use gencl_icd_macros::cl_entrypoint;
use opencl_sys::{
    cl_command_buffer_khr, cl_command_properties_khr, cl_command_queue, cl_mem, cl_mutable_command_khr,
    cl_sync_point_khr, cl_uint,
};

use super::Recording;
use crate::CLResult;
use crate::abi::{Fixed, HostPointer, List, Out, ZeroTerminated};
use crate::api::enqueue::fill::buffer_fill;
use crate::api::enqueue::image_read_write::image_fill;

#[cl_entrypoint(clCommandFillBufferKHR)]
fn command_fill_buffer(
    buffer: cl_command_buffer_khr,
    queue: cl_command_queue,
    properties: ZeroTerminated<cl_command_properties_khr>,
    memory: cl_mem,
    pattern: HostPointer<*const c_void>,
    pattern_size: usize,
    offset: usize,
    size: usize,
    num_waits: cl_uint,
    waits: List<cl_sync_point_khr>,
    sync_point: Out<cl_sync_point_khr>,
    handle: Out<cl_mutable_command_khr>,
) -> CLResult<()> {
    let recording =
        Recording::new(buffer, queue, num_waits, waits, sync_point)?.immutable(properties, handle)?;
    let fill = buffer_fill(recording.context(), memory, (&pattern, pattern_size), offset, size)?;
    recording.transfer(fill)
}

#[cl_entrypoint(clCommandFillImageKHR)]
fn command_fill_image(
    buffer: cl_command_buffer_khr,
    queue: cl_command_queue,
    properties: ZeroTerminated<cl_command_properties_khr>,
    image: cl_mem,
    fill_color: HostPointer<*const c_void>,
    origin: Fixed<usize, 3>,
    region: Fixed<usize, 3>,
    num_waits: cl_uint,
    waits: List<cl_sync_point_khr>,
    sync_point: Out<cl_sync_point_khr>,
    handle: Out<cl_mutable_command_khr>,
) -> CLResult<()> {
    let recording =
        Recording::new(buffer, queue, num_waits, waits, sync_point)?.immutable(properties, handle)?;
    let fill = image_fill(recording.context(), image, &fill_color, origin, region)?;
    recording.transfer(fill)
}
