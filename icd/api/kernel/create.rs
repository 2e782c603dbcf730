//! `clCreateKernel`, `clCreateKernelsInProgram`, `clCloneKernel`

use gencl_icd_macros::cl_entrypoint;
use gencl_runtime::{Code, Error};
use opencl_sys::{cl_kernel, cl_program, cl_uint};

use crate::abi::{Out, OutList, Text};
use crate::handle::Handle;
use crate::object::{Kernel, Program};
use crate::{CLResult, refuse_if};

#[cl_entrypoint(clCreateKernel)]
fn create_kernel(program: cl_program, name: Text) -> CLResult<cl_kernel> {
    let program = Handle::<Program>::get(program)?;
    // CL_INVALID_VALUE if kernel_name is NULL.
    let name = name.get().ok_or_else(|| Error::new(Code::InvalidValue, "no kernel name"))?;
    // CL_INVALID_PROGRAM_EXECUTABLE if there is no successfully built executable for program.
    // CL_INVALID_KERNEL_NAME if kernel_name is not found in program.
    let runtime = gencl_runtime::Kernel::new(&program.runtime, &name)?;
    Ok(Handle::create(Kernel { runtime, program }))
}

#[cl_entrypoint(clCreateKernelsInProgram)]
fn create_kernels_in_program(
    program: cl_program,
    num_kernels: cl_uint,
    kernels: OutList<cl_kernel>,
    num_kernels_ret: Out<cl_uint>,
) -> CLResult<()> {
    let program = Handle::<Program>::get(program)?;
    // CL_INVALID_PROGRAM_EXECUTABLE if there is no successfully built executable for any device in program.
    let all = gencl_runtime::Kernel::all(&program.runtime)?;
    if !kernels.is_null() {
        // CL_INVALID_VALUE if kernels is not NULL and num_kernels is less than the number of kernels in
        // program.
        let few = (num_kernels as usize) < all.len();
        refuse_if(few, Code::InvalidValue, "num_kernels is less than the number of kernels")?;
    }
    num_kernels_ret.write(all.len() as cl_uint);
    if !kernels.is_null() {
        let create = |runtime| Handle::create(Kernel { runtime, program: program.clone() });
        let handles: Vec<_> = all.into_iter().map(create).collect();
        // SAFETY: num_kernels is what kernels has room for.
        unsafe { kernels.write(&handles, num_kernels as usize) }
    }
    Ok(())
}

#[cl_entrypoint(clCloneKernel)]
fn clone_kernel(source: cl_kernel) -> CLResult<cl_kernel> {
    let source = Handle::<Kernel>::get(source)?;
    let (runtime, program) = (source.runtime.duplicate(), source.program.clone());
    Ok(Handle::create(Kernel { runtime, program }))
}
