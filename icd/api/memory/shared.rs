//! Shared virtual memory: `clSVMAlloc`, `clSVMFree`

use std::ffi::c_void;
use std::ptr::null_mut;

use gencl_icd_macros::cl_entrypoint;
use opencl_sys::{
    CL_MEM_READ_ONLY, CL_MEM_READ_WRITE, CL_MEM_SVM_ATOMICS, CL_MEM_SVM_FINE_GRAIN_BUFFER, CL_MEM_WRITE_ONLY,
    cl_context, cl_svm_mem_flags, cl_uint,
};

use gencl_runtime::SharedKind;

use crate::abi::HostPointer;
use crate::handle::Handle;
use crate::leaks;
use crate::object::Context;

#[cl_entrypoint(clSVMAlloc)]
fn svm_alloc(context: cl_context, flags: cl_svm_mem_flags, size: usize, alignment: cl_uint) -> *mut c_void {
    // NULL if context is not a valid context.
    let Ok(context) = Handle::<Context>::get(context) else { return null_mut() };
    // NULL if CL_MEM_SVM_FINE_GRAIN_BUFFER or CL_MEM_SVM_ATOMICS is specified in flags and is not supported
    // by at least one device, or if values specified in flags are not valid. The second requires the first.
    let access = [0, CL_MEM_READ_WRITE, CL_MEM_WRITE_ONLY, CL_MEM_READ_ONLY];
    let fine = [CL_MEM_SVM_FINE_GRAIN_BUFFER, CL_MEM_SVM_FINE_GRAIN_BUFFER | CL_MEM_SVM_ATOMICS];
    let grain = flags & fine[1];
    let grain_is_valid = grain == 0 || fine.contains(&grain) && context.runtime.has_fine_grain();
    if !access.contains(&(flags & !grain)) || !grain_is_valid {
        return null_mut();
    }
    // NULL if size is 0 or > CL_DEVICE_MAX_MEM_ALLOC_SIZE, if alignment is not a power of two or is not
    // supported, or if there was a failure to allocate resources.
    match context.runtime.allocate_shared(SharedKind::Svm, None, flags, size, alignment as usize) {
        Ok(memory) => {
            leaks::allocated(memory.address());
            memory.address() as *mut c_void
        }
        Err(error) => {
            tracing::info!("clSVMAlloc: {error}");
            null_mut()
        }
    }
}

#[cl_entrypoint(clSVMFree)]
fn svm_free(context: cl_context, svm_pointer: HostPointer<*mut c_void>) {
    // svm_pointer must be the value returned by a call to clSVMAlloc; if a NULL pointer is passed, no action
    // occurs.
    if let Ok(context) = Handle::<Context>::get(context) {
        leaks::freed(svm_pointer.address());
        context.runtime.free_shared(svm_pointer.address());
    }
}
