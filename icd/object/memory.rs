//! Memory objects.

use std::sync::Arc;

use gencl_runtime::{Buffer, Code};
use opencl_sys::{cl_mem, cl_mem_flags, cl_mem_properties};

use super::Context;
use crate::handle::{Handle, Object};
use crate::{CLResult, refuse_if};

/// A memory object; all of them are buffers.
pub struct Memory {
    /// The runtime's.
    pub runtime: Arc<Buffer>,
    /// Its context.
    pub context: Arc<Handle<Context>>,
    /// What it is a sub-buffer of.
    pub parent: Option<Arc<Handle<Memory>>>,
    /// `CL_MEM_FLAGS`
    pub flags: cl_mem_flags,
    /// As given to clCreateBufferWithProperties, with its end; empty for null and for clCreateBuffer.
    pub properties: Vec<cl_mem_properties>,
}

impl Object for Memory {
    const INVALID: Code = Code::InvalidMemObject;
}

impl Memory {
    /// CL_INVALID_MEM_OBJECT if memobj is not a valid buffer object.
    /// CL_INVALID_CONTEXT if it is of another context than the command-queue.
    pub fn of_context(memory: cl_mem, context: &Arc<Handle<Context>>) -> CLResult<Arc<Handle<Self>>> {
        let memory = Handle::<Self>::get(memory)?;
        let other = !Arc::ptr_eq(&memory.context, context);
        refuse_if(other, Code::InvalidContext, "the memory object is of another context")?;
        Ok(memory)
    }
}
