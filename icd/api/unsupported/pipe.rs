//! Pipes: `clCreatePipe`, `clGetPipeInfo`

use gencl_icd_macros::cl_entrypoint;
use gencl_runtime::{Code, Error};
use opencl_sys::{cl_context, cl_mem, cl_mem_flags, cl_pipe_info, cl_pipe_properties, cl_uint};

use super::of_context;
use crate::CLResult;
use crate::abi::{Bytes, Out, ZeroTerminated};
use crate::handle::Handle;
use crate::object::Memory;

// CL_INVALID_OPERATION if no devices in context support pipes.
const NO_PIPES: &str = "the device has no pipes";

#[cl_entrypoint(clCreatePipe)]
fn create_pipe(
    context: cl_context,
    _flags: cl_mem_flags,
    _pipe_packet_size: cl_uint,
    _pipe_max_packets: cl_uint,
    _properties: ZeroTerminated<cl_pipe_properties>,
) -> CLResult<cl_mem> {
    of_context(context, NO_PIPES)
}

#[cl_entrypoint(clGetPipeInfo)]
fn get_pipe_info(
    pipe: cl_mem,
    _name: cl_pipe_info,
    _room: usize,
    _value: Bytes,
    _size_ret: Out<usize>,
) -> CLResult<()> {
    // CL_INVALID_MEM_OBJECT if pipe is a not a valid pipe object.
    Handle::<Memory>::get(pipe)?;
    Err(Error::new(Code::InvalidMemObject, "not a pipe"))
}
