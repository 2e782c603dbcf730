//! `clGetMemObjectInfo`

use std::ffi::c_void;
use std::ptr::null_mut;

use gencl_icd_macros::cl_entrypoint;
use opencl_sys::{
    CL_MEM_ASSOCIATED_MEMOBJECT, CL_MEM_CONTEXT, CL_MEM_FLAGS, CL_MEM_HOST_PTR, CL_MEM_MAP_COUNT,
    CL_MEM_OBJECT_BUFFER, CL_MEM_OFFSET, CL_MEM_PROPERTIES, CL_MEM_REFERENCE_COUNT, CL_MEM_SIZE, CL_MEM_TYPE,
    CL_MEM_USES_SVM_POINTER, cl_mem, cl_mem_info,
};

use crate::CLResult;
use crate::abi::{Bytes, Out};
use crate::handle::Handle;
use crate::info::{InfoWriter, Written};
use crate::object::Memory;

#[cl_entrypoint(clGetMemObjectInfo)]
fn get_mem_object_info(
    memory: cl_mem,
    name: cl_mem_info,
    room: usize,
    value: Bytes,
    size_ret: Out<usize>,
) -> CLResult<Written> {
    let memory = Handle::<Memory>::get(memory)?;
    let info = InfoWriter::new(room, value, size_ret);
    match name {
        CL_MEM_TYPE => {
            let image = memory.image.as_ref().map(|image| image.layout().kind as u32);
            info.value(image.unwrap_or(CL_MEM_OBJECT_BUFFER))
        }
        CL_MEM_FLAGS => info.value(memory.flags),
        CL_MEM_SIZE => info.value(memory.runtime.size() as usize),
        CL_MEM_HOST_PTR => {
            // None for an image that was created from another memory object.
            let own = memory.image.is_none() || memory.parent.is_none();
            let host = memory.runtime.host_memory().filter(|_| own);
            info.value(host.map_or(null_mut(), |host| host.address().cast::<c_void>()))
        }
        CL_MEM_MAP_COUNT => info.value(memory.runtime.map_count()),
        CL_MEM_REFERENCE_COUNT => info.value(memory.references()),
        CL_MEM_CONTEXT => info.value(memory.context.raw()),
        CL_MEM_ASSOCIATED_MEMOBJECT => {
            info.value(memory.parent.as_ref().map_or(null_mut(), |parent| parent.raw()))
        }
        CL_MEM_OFFSET => info.value(memory.runtime.origin() as usize),
        CL_MEM_USES_SVM_POINTER => {
            let host = memory.runtime.host_memory().map(|host| host.address() as usize);
            let shared = host.and_then(|address| memory.context.runtime.shared_at(address));
            info.boolean(shared.is_some())
        }
        CL_MEM_PROPERTIES => info.values(&memory.properties),
        _ => info.unknown(name),
    }
}
