//! `clRetainKernel`, `clReleaseKernel`

use gencl_icd_macros::cl_entrypoint;
use opencl_sys::cl_kernel;

use crate::CLResult;
use crate::handle::Handle;
use crate::object::Kernel;

#[cl_entrypoint(clRetainKernel)]
fn retain_kernel(kernel: cl_kernel) -> CLResult<()> {
    Handle::<Kernel>::retain(kernel)
}

#[cl_entrypoint(clReleaseKernel)]
fn release_kernel(kernel: cl_kernel) -> CLResult<()> {
    Handle::<Kernel>::release(kernel)
}
