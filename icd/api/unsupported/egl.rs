//! Sharing with EGL: `cl_khr_egl_image`, `cl_khr_egl_event`

use gencl_icd_macros::cl_entrypoint;
use opencl_sys::cl_egl::{CLeglDisplayKHR, CLeglImageKHR, CLeglSyncKHR, cl_egl_image_properties_khr};
use opencl_sys::{cl_command_queue, cl_context, cl_event, cl_mem, cl_mem_flags, cl_uint};

use super::{of_context, of_queue};
use crate::CLResult;
use crate::abi::{List, Out, ZeroTerminated};

const NO_EGL: &str = "sharing with EGL is not supported";

#[cl_entrypoint(clCreateFromEGLImageKHR)]
fn create_from_egl_image(
    context: cl_context,
    _egldisplay: CLeglDisplayKHR,
    _eglimage: CLeglImageKHR,
    _flags: cl_mem_flags,
    _properties: ZeroTerminated<cl_egl_image_properties_khr>,
) -> CLResult<cl_mem> {
    of_context(context, NO_EGL)
}

#[cl_entrypoint(clEnqueueAcquireEGLObjectsKHR, clEnqueueReleaseEGLObjectsKHR)]
fn enqueue_egl_objects(
    command_queue: cl_command_queue,
    _num_objects: cl_uint,
    _mem_objects: List<cl_mem>,
    _num_events_in_wait_list: cl_uint,
    _event_wait_list: List<cl_event>,
    _event: Out<cl_event>,
) -> CLResult<()> {
    of_queue(command_queue, NO_EGL)
}

#[cl_entrypoint(clCreateEventFromEGLSyncKHR)]
fn create_event_from_egl_sync(
    context: cl_context,
    _sync: CLeglSyncKHR,
    _display: CLeglDisplayKHR,
) -> CLResult<cl_event> {
    of_context(context, NO_EGL)
}
