//! `clRetainMemObject`, `clReleaseMemObject`, `clSetMemObjectDestructorCallback`

use gencl_icd_macros::cl_entrypoint;
use gencl_runtime::{Code, Error};
use opencl_sys::cl_mem;

use crate::CLResult;
use crate::abi::{ObjectNotify, UserData};
use crate::handle::Handle;
use crate::object::Memory;

#[cl_entrypoint(clRetainMemObject)]
fn retain_mem_object(memory: cl_mem) -> CLResult<()> {
    Handle::<Memory>::retain(memory)
}

#[cl_entrypoint(clReleaseMemObject)]
fn release_mem_object(memory: cl_mem) -> CLResult<()> {
    Handle::<Memory>::release(memory)
}

#[cl_entrypoint(clSetMemObjectDestructorCallback)]
fn set_mem_object_destructor_callback(memory: cl_mem, notify: ObjectNotify, user: UserData) -> CLResult<()> {
    let memory = Handle::<Memory>::get(memory)?;
    // CL_INVALID_VALUE if pfn_notify is NULL.
    let notify = notify.bind(user).ok_or_else(|| Error::new(Code::InvalidValue, "no callback"))?;
    // The callback gets the handle for reference only: when it is called, the memory object is no longer
    // valid.
    let address = memory.address();
    memory.runtime.on_destroy(Box::new(move || notify(address as cl_mem)));
    Ok(())
}
