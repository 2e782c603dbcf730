//! `cl_intel_unified_shared_memory`: allocations and queries. All kinds are shared virtual memory, pages of
//! the process, as the GPU has no memory of its own.

use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::Arc;

use gencl_icd_macros::cl_entrypoint;
use gencl_runtime::{Code, SharedKind};
use opencl_sys::{
    CL_MEM_ALLOC_BASE_PTR_INTEL, CL_MEM_ALLOC_DEVICE_INTEL, CL_MEM_ALLOC_FLAGS_INTEL,
    CL_MEM_ALLOC_INITIAL_PLACEMENT_DEVICE_INTEL, CL_MEM_ALLOC_INITIAL_PLACEMENT_HOST_INTEL,
    CL_MEM_ALLOC_SIZE_INTEL, CL_MEM_ALLOC_TYPE_INTEL, CL_MEM_ALLOC_WRITE_COMBINED_INTEL,
    CL_MEM_TYPE_DEVICE_INTEL, CL_MEM_TYPE_HOST_INTEL, CL_MEM_TYPE_SHARED_INTEL, CL_MEM_TYPE_UNKNOWN_INTEL,
    cl_context, cl_device_id, cl_mem_alloc_flags_intel, cl_mem_info_intel, cl_mem_properties_intel, cl_uint,
};

use crate::abi::{Bytes, HostPointer, Out, ZeroTerminated};
use crate::handle::Handle;
use crate::info::{InfoWriter, Written};
use crate::object::{Context, Device};
use crate::{CLResult, leaks, refuse_if};

/// Flags for the initial placement of a shared allocation. Like all flags they are hints.
const PLACEMENT: cl_mem_alloc_flags_intel =
    CL_MEM_ALLOC_INITIAL_PLACEMENT_DEVICE_INTEL | CL_MEM_ALLOC_INITIAL_PLACEMENT_HOST_INTEL;

#[cl_entrypoint(clHostMemAllocINTEL)]
fn host_mem_alloc(
    context: cl_context,
    properties: ZeroTerminated<cl_mem_properties_intel>,
    size: usize,
    alignment: cl_uint,
) -> CLResult<*mut c_void> {
    let context = Handle::<Context>::get(context)?;
    allocate(&context, SharedKind::Host, None, properties, size, alignment)
}

#[cl_entrypoint(clDeviceMemAllocINTEL)]
fn device_mem_alloc(
    context: cl_context,
    device: cl_device_id,
    properties: ZeroTerminated<cl_mem_properties_intel>,
    size: usize,
    alignment: cl_uint,
) -> CLResult<*mut c_void> {
    let context = Handle::<Context>::get(context)?;
    let device = context.check_device(device)?;
    allocate(&context, SharedKind::Device, Some(device), properties, size, alignment)
}

#[cl_entrypoint(clSharedMemAllocINTEL)]
fn shared_mem_alloc(
    context: cl_context,
    device: cl_device_id,
    properties: ZeroTerminated<cl_mem_properties_intel>,
    size: usize,
    alignment: cl_uint,
) -> CLResult<*mut c_void> {
    let context = Handle::<Context>::get(context)?;
    // CL_INVALID_DEVICE if device is not NULL and is either not a valid device or is not associated with
    // context.
    let device = if device.is_null() { None } else { Some(context.check_device(device)?) };
    allocate(&context, SharedKind::Shared, device, properties, size, alignment)
}

fn allocate(
    context: &Context,
    kind: SharedKind,
    device: Option<&Arc<Handle<Device>>>,
    properties: ZeroTerminated<cl_mem_properties_intel>,
    size: usize,
    alignment: cl_uint,
) -> CLResult<*mut c_void> {
    let flags = flags(kind, &properties.raw())?;
    // CL_INVALID_VALUE if alignment is not zero or a power of two, or is greater than the size of the largest
    // data type. CL_INVALID_BUFFER_SIZE if size is zero or greater than CL_DEVICE_MAX_MEM_ALLOC_SIZE.
    let device = device.map(|device| &device.runtime);
    let memory = context.runtime.allocate_shared(kind, device, flags, size, alignment as usize)?;
    leaks::allocated(memory.address());
    Ok(memory.address() as *mut c_void)
}

/// CL_INVALID_PROPERTY if a memory property name in properties is not a supported property name, if the value
/// specified for a supported property name is not valid, or if the same property name is specified more than
/// once.
fn flags(kind: SharedKind, properties: &[cl_mem_properties_intel]) -> CLResult<cl_mem_alloc_flags_intel> {
    let mut flags = None;
    for pair in properties.chunks_exact(2) {
        let known = pair[0] == CL_MEM_ALLOC_FLAGS_INTEL && flags.is_none();
        refuse_if(!known, Code::InvalidProperty, "an unknown property, or one that is given twice")?;
        flags = Some(pair[1]);
    }
    let flags = flags.unwrap_or(0);
    let valid = match kind {
        // Placements are for shared memory, and exclude each other.
        SharedKind::Shared => {
            flags & !(CL_MEM_ALLOC_WRITE_COMBINED_INTEL | PLACEMENT) == 0 && flags & PLACEMENT != PLACEMENT
        }
        SharedKind::Svm | SharedKind::Host | SharedKind::Device => {
            flags & !CL_MEM_ALLOC_WRITE_COMBINED_INTEL == 0
        }
    };
    refuse_if(!valid, Code::InvalidProperty, "invalid flags for this kind of memory")?;
    Ok(flags)
}

#[cl_entrypoint(clMemFreeINTEL)]
fn mem_free(context: cl_context, pointer: HostPointer<*mut c_void>) -> CLResult<()> {
    let context = Handle::<Context>::get(context)?;
    leaks::freed(pointer.address());
    if !pointer.is_null() {
        check_base(&context, pointer.address())?;
        // Commands that use the allocation keep it until they have ended.
        context.runtime.free_shared(pointer.address());
    }
    Ok(())
}

#[cl_entrypoint(clMemBlockingFreeINTEL)]
fn mem_blocking_free(context: cl_context, pointer: HostPointer<*mut c_void>) -> CLResult<()> {
    let context = Handle::<Context>::get(context)?;
    leaks::freed(pointer.address());
    if pointer.is_null() {
        return Ok(());
    }
    check_base(&context, pointer.address())?;
    context.runtime.free_shared_and_wait(pointer.address())
}

/// CL_INVALID_VALUE if ptr is not a value returned by clHostMemAllocINTEL, clDeviceMemAllocINTEL,
/// clSharedMemAllocINTEL, or a NULL pointer.
fn check_base(context: &Context, address: usize) -> CLResult<()> {
    let memory = context.runtime.shared_at(address);
    let valid = memory.is_some_and(|memory| memory.address() == address && memory.kind() != SharedKind::Svm);
    refuse_if(!valid, Code::InvalidValue, "no allocation begins at the address")
}

#[cl_entrypoint(clGetMemAllocInfoINTEL)]
fn get_mem_alloc_info(
    context: cl_context,
    pointer: HostPointer<*const c_void>,
    name: cl_mem_info_intel,
    room: usize,
    value: Bytes,
    size_ret: Out<usize>,
) -> CLResult<Written> {
    let context = Handle::<Context>::get(context)?;
    let memory = context.runtime.shared_at(pointer.address());
    let memory = memory.filter(|memory| memory.kind() != SharedKind::Svm);
    let info = InfoWriter::new(room, value, size_ret);
    match name {
        CL_MEM_ALLOC_TYPE_INTEL => info.value(match memory.map(|memory| memory.kind()) {
            None | Some(SharedKind::Svm) => CL_MEM_TYPE_UNKNOWN_INTEL,
            Some(SharedKind::Host) => CL_MEM_TYPE_HOST_INTEL,
            Some(SharedKind::Device) => CL_MEM_TYPE_DEVICE_INTEL,
            Some(SharedKind::Shared) => CL_MEM_TYPE_SHARED_INTEL,
        }),
        CL_MEM_ALLOC_BASE_PTR_INTEL => {
            info.value(memory.map_or(null_mut(), |memory| memory.address() as *mut c_void))
        }
        CL_MEM_ALLOC_SIZE_INTEL => info.value(memory.map_or(0, |memory| memory.size())),
        // None for host memory and for memory without a device.
        CL_MEM_ALLOC_DEVICE_INTEL => {
            let device = memory.as_ref().and_then(|memory| memory.device());
            info.value(device.map_or(null_mut(), |device| context.handle(device)))
        }
        CL_MEM_ALLOC_FLAGS_INTEL_QUERY => info.value(memory.map_or(0, |memory| memory.flags())),
        _ => info.unknown(name),
    }
}

/// `CL_MEM_ALLOC_FLAGS_INTEL` as a query; it is also a property.
const CL_MEM_ALLOC_FLAGS_INTEL_QUERY: cl_mem_info_intel = CL_MEM_ALLOC_FLAGS_INTEL as cl_mem_info_intel;
