//! `clCreateBuffer`, `clCreateBufferWithProperties`

use std::ffi::c_void;

use gencl_icd_macros::cl_entrypoint;
use gencl_runtime::{Buffer, Code, MemoryFlags};
use opencl_sys::{cl_context, cl_mem, cl_mem_flags, cl_mem_properties};

use crate::abi::{HostPointer, ZeroTerminated};
use crate::handle::Handle;
use crate::object::{Context, Memory};
use crate::{CLResult, refuse_if};

#[cl_entrypoint(clCreateBuffer)]
fn create_buffer(
    context: cl_context,
    flags: cl_mem_flags,
    size: usize,
    host_ptr: HostPointer<*mut c_void>,
) -> CLResult<cl_mem> {
    create(context, Vec::new(), flags, size, host_ptr)
}

#[cl_entrypoint(clCreateBufferWithProperties)]
fn create_buffer_with_properties(
    context: cl_context,
    properties: ZeroTerminated<cl_mem_properties>,
    flags: cl_mem_flags,
    size: usize,
    host_ptr: HostPointer<*mut c_void>,
) -> CLResult<cl_mem> {
    let properties = properties.raw();
    // CL_INVALID_PROPERTY if a property name in properties is not a supported property name. There is none.
    refuse_if(properties.len() > 1, Code::InvalidProperty, "buffers have no properties")?;
    create(context, properties, flags, size, host_ptr)
}

fn create(
    context: cl_context,
    properties: Vec<cl_mem_properties>,
    flags: cl_mem_flags,
    size: usize,
    host_ptr: HostPointer<*mut c_void>,
) -> CLResult<cl_mem> {
    let context = Handle::<Context>::get(context)?;
    // SAFETY: where flags make use of host_ptr, the application has size bytes there, with
    // CL_MEM_USE_HOST_PTR for as long as the memory object lives; otherwise the runtime refuses it.
    let host = (!host_ptr.is_null()).then(|| unsafe { host_ptr.memory(size) });
    // CL_INVALID_VALUE if values specified in flags are not valid. CL_INVALID_BUFFER_SIZE if size is 0 or
    // greater than CL_DEVICE_MAX_MEM_ALLOC_SIZE, or if CL_MEM_USE_HOST_PTR is set in flags and host_ptr is a
    // pointer returned by clSVMAlloc and size is greater than the size passed to clSVMAlloc.
    // CL_INVALID_HOST_PTR if host_ptr is NULL and CL_MEM_USE_HOST_PTR or CL_MEM_COPY_HOST_PTR are set in
    // flags or if host_ptr is not NULL but they are not set. CL_MEM_OBJECT_ALLOCATION_FAILURE if there is a
    // failure to allocate memory for buffer object.
    let runtime = Buffer::new(&context.runtime, MemoryFlags::from_bits_retain(flags), size as u64, host)?;
    Ok(Handle::create(Memory { runtime, image: None, context, parent: None, flags, properties }))
}
