//! `clRetainSemaphoreKHR`, `clReleaseSemaphoreKHR`

use gencl_icd_macros::cl_entrypoint;
use opencl_sys::cl_semaphore_khr;

use crate::CLResult;
use crate::handle::Handle;
use crate::object::Semaphore;

#[cl_entrypoint(clRetainSemaphoreKHR)]
fn retain_semaphore(semaphore: cl_semaphore_khr) -> CLResult<()> {
    Handle::<Semaphore>::retain(semaphore)
}

#[cl_entrypoint(clReleaseSemaphoreKHR)]
fn release_semaphore(semaphore: cl_semaphore_khr) -> CLResult<()> {
    Handle::<Semaphore>::release(semaphore)
}
