//! `clCreateImage`, `clCreateImageWithProperties`, `clCreateImage2D`, `clCreateImage3D`

use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::Arc;

use gencl_icd_macros::cl_entrypoint;
use gencl_runtime::{
    Code, Error, Image, ImageDescriptor, ImageFormat, ImageKind, ImageLayout, ImageLimits, MemoryFlags,
};
use opencl_sys::{cl_context, cl_image_desc, cl_image_format, cl_mem, cl_mem_flags, cl_mem_properties};

use super::descriptor;
use crate::abi::{Fixed, HostPointer, ZeroTerminated};
use crate::handle::Handle;
use crate::object::{Context, Memory};
use crate::{CLResult, refuse_if};

#[cl_entrypoint(clCreateImage)]
fn create_image(
    context: cl_context,
    flags: cl_mem_flags,
    image_format: Fixed<cl_image_format, 1>,
    image_desc: Fixed<cl_image_desc, 1>,
    host_ptr: HostPointer<*mut c_void>,
) -> CLResult<cl_mem> {
    let new = New::begin(context, flags, image_format)?;
    let (descriptor, memory) = descriptor::descriptor(image_desc)?;
    new.create(&descriptor, memory, &host_ptr, Vec::new())
}

#[cl_entrypoint(clCreateImageWithProperties)]
fn create_image_with_properties(
    context: cl_context,
    properties: ZeroTerminated<cl_mem_properties>,
    flags: cl_mem_flags,
    image_format: Fixed<cl_image_format, 1>,
    image_desc: Fixed<cl_image_desc, 1>,
    host_ptr: HostPointer<*mut c_void>,
) -> CLResult<cl_mem> {
    let new = New::begin(context, flags, image_format)?;
    let properties = properties.raw();
    // CL_INVALID_PROPERTY if a property name in properties is not a supported property name. There is none.
    refuse_if(properties.len() > 1, Code::InvalidProperty, "images have no properties")?;
    let (descriptor, memory) = descriptor::descriptor(image_desc)?;
    new.create(&descriptor, memory, &host_ptr, properties)
}

#[cl_entrypoint(clCreateImage2D)]
fn create_image2d(
    context: cl_context,
    flags: cl_mem_flags,
    image_format: Fixed<cl_image_format, 1>,
    width: usize,
    height: usize,
    row_pitch: usize,
    host_ptr: HostPointer<*mut c_void>,
) -> CLResult<cl_mem> {
    let new = New::begin(context, flags, image_format)?;
    let kind = ImageKind::Image2D;
    let descriptor = ImageDescriptor { kind, width, height, depth: 0, layers: 0, row_pitch, slice_pitch: 0 };
    pitches_are_sizes(new.create(&descriptor, null_mut(), &host_ptr, Vec::new()))
}

#[cl_entrypoint(clCreateImage3D)]
fn create_image3d(
    context: cl_context,
    flags: cl_mem_flags,
    image_format: Fixed<cl_image_format, 1>,
    width: usize,
    height: usize,
    depth: usize,
    row_pitch: usize,
    slice_pitch: usize,
    host_ptr: HostPointer<*mut c_void>,
) -> CLResult<cl_mem> {
    let new = New::begin(context, flags, image_format)?;
    // CL_INVALID_IMAGE_SIZE if image_width or image_height are 0 or if image_depth <= 1.
    refuse_if(depth <= 1, Code::InvalidImageSize, "an image of three dimensions needs several slices")?;
    let kind = ImageKind::Image3D;
    let descriptor = ImageDescriptor { kind, width, height, depth, layers: 0, row_pitch, slice_pitch };
    pitches_are_sizes(new.create(&descriptor, null_mut(), &host_ptr, Vec::new()))
}

/// CL_INVALID_IMAGE_SIZE if values specified by image_row_pitch and image_slice_pitch do not follow the
/// rules, where there is no descriptor.
fn pitches_are_sizes(image: CLResult<cl_mem>) -> CLResult<cl_mem> {
    image.map_err(|error| match error.code {
        Code::InvalidImageDescriptor => Error { code: Code::InvalidImageSize, ..error },
        _ => error,
    })
}

/// The parameters that all functions share.
struct New {
    context: Arc<Handle<Context>>,
    flags: MemoryFlags,
    format: ImageFormat,
}

impl New {
    /// CL_INVALID_CONTEXT if context is not a valid context. CL_INVALID_VALUE if values specified in flags are
    /// not valid. CL_INVALID_IMAGE_FORMAT_DESCRIPTOR if values specified in image_format are not valid or if
    /// image_format is NULL.
    fn begin(context: cl_context, flags: cl_mem_flags, format: Fixed<cl_image_format, 1>) -> CLResult<Self> {
        let context = Handle::<Context>::get(context)?;
        let flags = MemoryFlags::from_bits_retain(flags);
        flags.check()?;
        Ok(Self { context, flags, format: descriptor::format(format)? })
    }

    fn create(
        self,
        descriptor: &ImageDescriptor,
        memory: cl_mem,
        host_ptr: &HostPointer<*mut c_void>,
        properties: Vec<cl_mem_properties>,
    ) -> CLResult<cl_mem> {
        let limits = *self.context.image_limits();
        if !memory.is_null() {
            return self.create_of(&limits, descriptor, memory, host_ptr, properties);
        }
        // CL_INVALID_HOST_PTR if host_ptr is NULL and CL_MEM_USE_HOST_PTR or CL_MEM_COPY_HOST_PTR are set in
        // flags or if host_ptr is not NULL but they are not set.
        let wants_host = self.flags.intersects(MemoryFlags::USE_HOST_PTR | MemoryFlags::COPY_HOST_PTR);
        let differ = wants_host == host_ptr.is_null();
        refuse_if(differ, Code::InvalidHostPtr, "the host pointer does not match the flags")?;
        // The pitches must be 0 if host_ptr is NULL and there is no mem_object.
        let pitches = descriptor.row_pitch != 0 || descriptor.slice_pitch != 0;
        let without = pitches && host_ptr.is_null();
        refuse_if(without, Code::InvalidImageDescriptor, "pitches without host memory")?;
        // CL_INVALID_IMAGE_SIZE if dimensions are not valid or exceed the maximum,
        // CL_INVALID_IMAGE_DESCRIPTOR if pitches are not valid.
        let layout = ImageLayout::new(&limits, self.format, descriptor)?;
        // SAFETY: where flags make use of host_ptr, the application has that many bytes there (table
        // "Required host_ptr buffer sizes for images"), with CL_MEM_USE_HOST_PTR for as long as the image
        // lives.
        let host = wants_host.then(|| unsafe { host_ptr.memory(layout.size()) });
        // CL_IMAGE_FORMAT_NOT_SUPPORTED if there are no devices in context that support image_format.
        // CL_MEM_OBJECT_ALLOCATION_FAILURE if there is a failure to allocate memory for the image object.
        let image = Image::new(&self.context.runtime, self.flags, layout, host)?;
        Ok(self.finish(image, None, properties))
    }

    /// An image on another memory object.
    fn create_of(
        self,
        limits: &ImageLimits,
        descriptor: &ImageDescriptor,
        memory: cl_mem,
        host_ptr: &HostPointer<*mut c_void>,
        properties: Vec<cl_mem_properties>,
    ) -> CLResult<cl_mem> {
        let parent = Handle::<Memory>::get(memory)?;
        let other = !Arc::ptr_eq(&parent.context, &self.context);
        refuse_if(other, Code::InvalidContext, "the memory object is of another context")?;
        refuse_if(!host_ptr.is_null(), Code::InvalidHostPtr, "both a memory object and host memory")?;
        // A row pitch of 0 is that of the image.
        let given = descriptor.row_pitch;
        let row_pitch = match &parent.image {
            Some(image) if given == 0 => image.layout().row_pitch,
            _ => given,
        };
        let descriptor = ImageDescriptor { row_pitch, ..*descriptor };
        let layout = ImageLayout::new(limits, self.format, &descriptor)?;
        // CL_INVALID_VALUE if flags allow what those of the memory object do not, or have host pointer flags.
        let image = match &parent.image {
            Some(image) => {
                self.check_view(&layout, image)?;
                image.view(self.flags, self.format)?
            }
            None => {
                self.check_buffer(limits, &layout, &parent, descriptor.slice_pitch)?;
                Image::of_buffer(&parent.runtime, self.flags, layout)?
            }
        };
        Ok(self.finish(image, Some(parent), properties))
    }

    /// Checks an image on a buffer.
    fn check_buffer(
        &self,
        limits: &ImageLimits,
        layout: &ImageLayout,
        parent: &Memory,
        slice_pitch: usize,
    ) -> CLResult<()> {
        let texel = layout.format.texel();
        refuse_if(slice_pitch != 0, Code::InvalidImageDescriptor, "a slice pitch without slices")?;
        if layout.kind == ImageKind::Image1DBuffer {
            // A row pitch is for images of two dimensions, but the conformance tests and other drivers give those of one
            // row any that a row fits in.
            return Ok(());
        }
        let too_long = layout.row_pitch > limits.row_pitch;
        refuse_if(too_long, Code::InvalidImageDescriptor, "the row pitch exceeds that of surface states")?;
        // CL_INVALID_IMAGE_FORMAT_DESCRIPTOR if a 2D image is created from a buffer and the row pitch and
        // base address alignment does not follow the rules.
        let begin = parent.runtime.host_memory().map_or(0, |host| host.address() as usize);
        let aligned = layout.row_pitch.is_multiple_of(limits.pitch_alignment * texel)
            && begin.is_multiple_of(limits.address_alignment * texel);
        refuse_if(!aligned, Code::InvalidImageFormatDescriptor, "row pitch or address are not aligned")
    }

    /// Checks an image created from an image: descriptor and channel type are the same, channel orders
    /// compatible.
    fn check_view(&self, layout: &ImageLayout, image: &Image) -> CLResult<()> {
        let same = ImageLayout { format: self.format, ..*image.layout() } == *layout;
        refuse_if(!same, Code::InvalidImageDescriptor, "the image has another descriptor")?;
        let views = self.format.views(image.layout().format);
        refuse_if(!views, Code::InvalidImageFormatDescriptor, "channel orders are not compatible")
    }

    fn finish(
        self,
        image: Arc<Image>,
        parent: Option<Arc<Handle<Memory>>>,
        properties: Vec<cl_mem_properties>,
    ) -> cl_mem {
        let runtime = image.data().clone();
        let flags = self.flags.bits();
        Handle::create(Memory {
            runtime,
            image: Some(image),
            context: self.context,
            parent,
            flags,
            properties,
        })
    }
}
