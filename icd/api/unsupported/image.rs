//! Images: `clCreateImage…`, `clEnqueue…Image…`

use std::ffi::c_void;
use std::ptr::null_mut;

use gencl_icd_macros::cl_entrypoint;
use gencl_runtime::{Code, Error};
use opencl_sys::{
    cl_bool, cl_command_queue, cl_context, cl_event, cl_image_desc, cl_image_format, cl_image_info,
    cl_map_flags, cl_mem, cl_mem_flags, cl_mem_object_type, cl_mem_properties, cl_uint,
};

use super::{of_context, of_queue};
use crate::abi::{Bytes, Fixed, HostPointer, List, Out, OutList, ZeroTerminated};
use crate::handle::Handle;
use crate::object::{Context, Memory};
use crate::{CLResult, refuse_if};

// CL_INVALID_OPERATION if there are no devices in context that support images (that is,
// CL_DEVICE_IMAGE_SUPPORT is CL_FALSE), and if the device associated with command_queue does not support images.
const NO_IMAGES: &str = "the device has no images";

#[cl_entrypoint(clCreateImage)]
fn create_image(
    context: cl_context,
    _flags: cl_mem_flags,
    _image_format: List<cl_image_format>,
    _image_desc: List<cl_image_desc>,
    _host_ptr: HostPointer<*mut c_void>,
) -> CLResult<cl_mem> {
    of_context(context, NO_IMAGES)
}

#[cl_entrypoint(clCreateImageWithProperties)]
fn create_image_with_properties(
    context: cl_context,
    _properties: ZeroTerminated<cl_mem_properties>,
    _flags: cl_mem_flags,
    _image_format: List<cl_image_format>,
    _image_desc: List<cl_image_desc>,
    _host_ptr: HostPointer<*mut c_void>,
) -> CLResult<cl_mem> {
    of_context(context, NO_IMAGES)
}

#[cl_entrypoint(clCreateImage2D)]
fn create_image2d(
    context: cl_context,
    _flags: cl_mem_flags,
    _image_format: List<cl_image_format>,
    _image_width: usize,
    _image_height: usize,
    _image_row_pitch: usize,
    _host_ptr: HostPointer<*mut c_void>,
) -> CLResult<cl_mem> {
    of_context(context, NO_IMAGES)
}

#[cl_entrypoint(clCreateImage3D)]
fn create_image3d(
    context: cl_context,
    _flags: cl_mem_flags,
    _image_format: List<cl_image_format>,
    _image_width: usize,
    _image_height: usize,
    _image_depth: usize,
    _image_row_pitch: usize,
    _image_slice_pitch: usize,
    _host_ptr: HostPointer<*mut c_void>,
) -> CLResult<cl_mem> {
    of_context(context, NO_IMAGES)
}

#[cl_entrypoint(clGetSupportedImageFormats)]
fn get_supported_image_formats(
    context: cl_context,
    _flags: cl_mem_flags,
    _image_type: cl_mem_object_type,
    num_entries: cl_uint,
    image_formats: OutList<cl_image_format>,
    num_image_formats: Out<cl_uint>,
) -> CLResult<()> {
    Handle::<Context>::get(context)?;
    // CL_INVALID_VALUE if num_entries is 0 and image_formats is not NULL.
    let nowhere = num_entries == 0 && !image_formats.is_null();
    refuse_if(nowhere, Code::InvalidValue, "num_entries is 0")?;
    num_image_formats.write(0);
    Ok(())
}

#[cl_entrypoint(clGetImageInfo)]
fn get_image_info(
    image: cl_mem,
    _name: cl_image_info,
    _room: usize,
    _value: Bytes,
    _size_ret: Out<usize>,
) -> CLResult<()> {
    // CL_INVALID_MEM_OBJECT if image is not a valid image object.
    Handle::<Memory>::get(image)?;
    Err(Error::new(Code::InvalidMemObject, "not an image"))
}

#[cl_entrypoint(clEnqueueReadImage)]
fn enqueue_read_image(
    command_queue: cl_command_queue,
    _image: cl_mem,
    _blocking_read: cl_bool,
    _origin: Fixed<usize, 3>,
    _region: Fixed<usize, 3>,
    _row_pitch: usize,
    _slice_pitch: usize,
    _ptr: HostPointer<*mut c_void>,
    _num_events_in_wait_list: cl_uint,
    _event_wait_list: List<cl_event>,
    _event: Out<cl_event>,
) -> CLResult<()> {
    of_queue(command_queue, NO_IMAGES)
}

#[cl_entrypoint(clEnqueueWriteImage)]
fn enqueue_write_image(
    command_queue: cl_command_queue,
    _image: cl_mem,
    _blocking_write: cl_bool,
    _origin: Fixed<usize, 3>,
    _region: Fixed<usize, 3>,
    _input_row_pitch: usize,
    _input_slice_pitch: usize,
    _ptr: HostPointer<*const c_void>,
    _num_events_in_wait_list: cl_uint,
    _event_wait_list: List<cl_event>,
    _event: Out<cl_event>,
) -> CLResult<()> {
    of_queue(command_queue, NO_IMAGES)
}

#[cl_entrypoint(clEnqueueFillImage)]
fn enqueue_fill_image(
    command_queue: cl_command_queue,
    _image: cl_mem,
    _fill_color: HostPointer<*const c_void>,
    _origin: Fixed<usize, 3>,
    _region: Fixed<usize, 3>,
    _num_events_in_wait_list: cl_uint,
    _event_wait_list: List<cl_event>,
    _event: Out<cl_event>,
) -> CLResult<()> {
    of_queue(command_queue, NO_IMAGES)
}

#[cl_entrypoint(clEnqueueCopyImage)]
fn enqueue_copy_image(
    command_queue: cl_command_queue,
    _src_image: cl_mem,
    _dst_image: cl_mem,
    _src_origin: Fixed<usize, 3>,
    _dst_origin: Fixed<usize, 3>,
    _region: Fixed<usize, 3>,
    _num_events_in_wait_list: cl_uint,
    _event_wait_list: List<cl_event>,
    _event: Out<cl_event>,
) -> CLResult<()> {
    of_queue(command_queue, NO_IMAGES)
}

#[cl_entrypoint(clEnqueueCopyImageToBuffer)]
fn enqueue_copy_image_to_buffer(
    command_queue: cl_command_queue,
    _src_image: cl_mem,
    _dst_buffer: cl_mem,
    _src_origin: Fixed<usize, 3>,
    _region: Fixed<usize, 3>,
    _dst_offset: usize,
    _num_events_in_wait_list: cl_uint,
    _event_wait_list: List<cl_event>,
    _event: Out<cl_event>,
) -> CLResult<()> {
    of_queue(command_queue, NO_IMAGES)
}

#[cl_entrypoint(clEnqueueCopyBufferToImage)]
fn enqueue_copy_buffer_to_image(
    command_queue: cl_command_queue,
    _src_buffer: cl_mem,
    _dst_image: cl_mem,
    _src_offset: usize,
    _dst_origin: Fixed<usize, 3>,
    _region: Fixed<usize, 3>,
    _num_events_in_wait_list: cl_uint,
    _event_wait_list: List<cl_event>,
    _event: Out<cl_event>,
) -> CLResult<()> {
    of_queue(command_queue, NO_IMAGES)
}

#[cl_entrypoint(clEnqueueMapImage)]
fn enqueue_map_image(
    command_queue: cl_command_queue,
    _image: cl_mem,
    _blocking_map: cl_bool,
    _map_flags: cl_map_flags,
    _origin: Fixed<usize, 3>,
    _region: Fixed<usize, 3>,
    _image_row_pitch: Out<usize>,
    _image_slice_pitch: Out<usize>,
    _num_events_in_wait_list: cl_uint,
    _event_wait_list: List<cl_event>,
    _event: Out<cl_event>,
) -> CLResult<*mut c_void> {
    of_queue(command_queue, NO_IMAGES)?;
    Ok(null_mut())
}
