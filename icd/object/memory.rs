//! Memory objects.

use std::sync::Arc;

use gencl_program::misuse::MisuseKind;
use gencl_runtime::calls::current;
use gencl_runtime::{Buffer, Code, Error, Image};
use opencl_sys::{cl_mem, cl_mem_flags, cl_mem_properties};

use super::Context;
use crate::handle::{Handle, Object};
use crate::misuse::{self, one};
use crate::{CLResult, refuse_if};

/// A memory object: a buffer or an image.
pub struct Memory {
    /// The runtime's buffer; for an image the buffer of its texels.
    pub runtime: Arc<Buffer>,
    /// The runtime's image, if it is one.
    pub image: Option<Arc<Image>>,
    /// Its context.
    pub context: Arc<Handle<Context>>,
    /// The buffer of a sub-buffer, or the memory object that an image was created from.
    pub parent: Option<Arc<Handle<Memory>>>,
    /// `CL_MEM_FLAGS`
    pub flags: cl_mem_flags,
    /// As given to clCreateBufferWithProperties or clCreateImageWithProperties, including its terminating 0;
    /// empty for null and for the functions without.
    pub properties: Vec<cl_mem_properties>,
}

impl Object for Memory {
    const INVALID: Code = Code::InvalidMemObject;
    const NAME: &'static str = "memory object";

    fn name(&self) -> &'static str {
        match (&self.image, &self.parent) {
            (Some(_), _) => "image",
            (None, Some(_)) => "sub-buffer",
            (None, None) => "buffer",
        }
    }

    fn undone(&self) -> Option<&'static str> {
        (self.runtime.map_count() > 0).then_some("is mapped")
    }

    fn released(&self) {
        if self.undone().is_some() {
            misuse::report(MisuseKind::StillMapped, || {
                format!("{} releases {} that is mapped", current(), one(self.name()))
            });
        }
    }
}

impl Memory {
    /// CL_INVALID_MEM_OBJECT if memobj is not a valid buffer object.
    pub fn buffer(memory: cl_mem) -> CLResult<Arc<Handle<Self>>> {
        let memory = Handle::<Self>::get(memory)?;
        refuse_if(memory.image.is_some(), Code::InvalidMemObject, "an image, not a buffer")?;
        Ok(memory)
    }

    /// CL_INVALID_MEM_OBJECT if image is not a valid image object.
    pub fn image(memory: cl_mem) -> CLResult<Arc<Image>> {
        let image = Handle::<Self>::get(memory)?.image.clone();
        image.ok_or_else(|| Error::new(Code::InvalidMemObject, "a buffer, not an image"))
    }

    /// A buffer of a context: as [`Memory::buffer`], and as [`Memory::of_context`].
    pub fn buffer_of_context(memory: cl_mem, context: &Arc<Handle<Context>>) -> CLResult<Arc<Handle<Self>>> {
        Self::buffer(memory)?;
        Self::of_context(memory, context)
    }

    /// An image of a context: as [`Memory::image`], and as [`Memory::of_context`].
    pub fn image_of_context(memory: cl_mem, context: &Arc<Handle<Context>>) -> CLResult<Arc<Image>> {
        let image = Self::image(memory)?;
        Self::of_context(memory, context)?;
        Ok(image)
    }

    /// CL_INVALID_MEM_OBJECT if memobj is not a valid memory object.
    /// CL_INVALID_CONTEXT if it is of another context than the command-queue.
    pub fn of_context(memory: cl_mem, context: &Arc<Handle<Context>>) -> CLResult<Arc<Handle<Self>>> {
        let memory = Handle::<Self>::get(memory)?;
        let other = !Arc::ptr_eq(&memory.context, context);
        refuse_if(other, Code::InvalidContext, "the memory object is of another context")?;
        Ok(memory)
    }
}
