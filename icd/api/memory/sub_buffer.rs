//! `clCreateSubBuffer`

use std::ffi::c_void;

use gencl_icd_macros::cl_entrypoint;
use gencl_runtime::{Code, Error, MemoryFlags};
use opencl_sys::{CL_BUFFER_CREATE_TYPE_REGION, cl_buffer_create_type, cl_mem, cl_mem_flags};

use crate::abi::HostPointer;
use crate::handle::Handle;
use crate::object::Memory;
use crate::{CLResult, refuse_if};

#[cl_entrypoint(clCreateSubBuffer)]
fn create_sub_buffer(
    buffer: cl_mem,
    flags: cl_mem_flags,
    create_type: cl_buffer_create_type,
    create_info: HostPointer<*const c_void>,
) -> CLResult<cl_mem> {
    // CL_INVALID_MEM_OBJECT if buffer is not a valid buffer object.
    let parent = Memory::buffer(buffer)?;
    // CL_INVALID_VALUE if value specified in buffer_create_type is not valid.
    let region = create_type == CL_BUFFER_CREATE_TYPE_REGION;
    refuse_if(!region, Code::InvalidValue, "unknown buffer_create_type")?;
    // CL_INVALID_VALUE if value(s) specified in buffer_create_info (for a given buffer_create_type) is not
    // valid or if buffer_create_info is NULL. SAFETY: for this create type it is a cl_buffer_region, two
    // size_t.
    let region = unsafe { create_info.to_words::<2>() };
    let [origin, size] = region.ok_or_else(|| Error::new(Code::InvalidValue, "no region"))?;
    // CL_INVALID_MEM_OBJECT if buffer is a sub-buffer object.
    // CL_INVALID_VALUE if flags contradict those of buffer, or the region is out of bounds.
    // CL_INVALID_BUFFER_SIZE if size is 0.
    // CL_MISALIGNED_SUB_BUFFER_OFFSET if origin is not aligned to the CL_DEVICE_MEM_BASE_ADDR_ALIGN value.
    let flags = MemoryFlags::from_bits_retain(flags);
    let runtime = parent.runtime.sub_buffer(flags, origin as u64, size as u64)?;
    let flags = runtime.flags().bits();
    let context = parent.context.clone();
    Ok(Handle::create(Memory {
        runtime,
        image: None,
        context,
        parent: Some(parent),
        flags,
        properties: Vec::new(),
    }))
}
