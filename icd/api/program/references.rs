//! `clRetainProgram`, `clReleaseProgram`

use gencl_icd_macros::cl_entrypoint;
use opencl_sys::cl_program;

use crate::CLResult;
use crate::handle::Handle;
use crate::object::Program;

#[cl_entrypoint(clRetainProgram)]
fn retain_program(program: cl_program) -> CLResult<()> {
    Handle::<Program>::retain(program)
}

#[cl_entrypoint(clReleaseProgram)]
fn release_program(program: cl_program) -> CLResult<()> {
    Handle::<Program>::release(program)
}
