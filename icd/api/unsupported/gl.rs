//! Sharing with OpenGL: `cl_khr_gl_sharing`, `cl_khr_gl_event`

use gencl_icd_macros::cl_entrypoint;
use gencl_runtime::{Code, Error};
use opencl_sys::{
    cl_GLenum, cl_GLint, cl_GLsync, cl_GLuint, cl_command_queue, cl_context, cl_context_properties, cl_event,
    cl_gl_context_info, cl_gl_object_type, cl_gl_texture_info, cl_mem, cl_mem_flags, cl_uint,
};

use super::{of_context, of_queue};
use crate::CLResult;
use crate::abi::{Bytes, List, Out, ZeroTerminated};
use crate::handle::Handle;
use crate::object::Memory;

const NO_GL: &str = "sharing with OpenGL is not supported";

// CL_INVALID_GL_OBJECT if there is no GL object associated with memobj.
fn no_gl_object(memobj: cl_mem) -> CLResult<()> {
    Handle::<Memory>::get(memobj)?;
    Err(Error::new(Code::InvalidGlObject, NO_GL))
}

#[cl_entrypoint(clCreateFromGLBuffer, clCreateFromGLRenderbuffer)]
fn create_from_gl_buffer(context: cl_context, _flags: cl_mem_flags, _object: cl_GLuint) -> CLResult<cl_mem> {
    of_context(context, NO_GL)
}

#[cl_entrypoint(clCreateFromGLTexture, clCreateFromGLTexture2D, clCreateFromGLTexture3D)]
fn create_from_gl_texture(
    context: cl_context,
    _flags: cl_mem_flags,
    _target: cl_GLenum,
    _miplevel: cl_GLint,
    _texture: cl_GLuint,
) -> CLResult<cl_mem> {
    of_context(context, NO_GL)
}

#[cl_entrypoint(clGetGLObjectInfo)]
fn get_gl_object_info(
    memobj: cl_mem,
    _gl_object_type: Out<cl_gl_object_type>,
    _gl_object_name: Out<cl_GLuint>,
) -> CLResult<()> {
    no_gl_object(memobj)
}

#[cl_entrypoint(clGetGLTextureInfo)]
fn get_gl_texture_info(
    memobj: cl_mem,
    _name: cl_gl_texture_info,
    _room: usize,
    _value: Bytes,
    _size_ret: Out<usize>,
) -> CLResult<()> {
    no_gl_object(memobj)
}

#[cl_entrypoint(clEnqueueAcquireGLObjects, clEnqueueReleaseGLObjects)]
fn enqueue_gl_objects(
    command_queue: cl_command_queue,
    _num_objects: cl_uint,
    _mem_objects: List<cl_mem>,
    _num_events_in_wait_list: cl_uint,
    _event_wait_list: List<cl_event>,
    _event: Out<cl_event>,
) -> CLResult<()> {
    of_queue(command_queue, NO_GL)
}

#[cl_entrypoint(clGetGLContextInfoKHR)]
fn get_gl_context_info(
    _properties: ZeroTerminated<cl_context_properties>,
    _name: cl_gl_context_info,
    _room: usize,
    _value: Bytes,
    _size_ret: Out<usize>,
) -> CLResult<()> {
    Err(Error::new(Code::InvalidOperation, NO_GL))
}

#[cl_entrypoint(clCreateEventFromGLsyncKHR)]
fn create_event_from_gl_sync(context: cl_context, _sync: cl_GLsync) -> CLResult<cl_event> {
    of_context(context, NO_GL)
}
