//! `clCreateProgramWithIL`, `clSetProgramSpecializationConstant`

use std::ffi::c_void;

use gencl_icd_macros::cl_entrypoint;
use gencl_runtime::{Code, Error};
use opencl_sys::{cl_context, cl_program, cl_uint};

use crate::CLResult;
use crate::abi::HostPointer;
use crate::handle::Handle;
use crate::object::{Context, Program};

#[cl_entrypoint(clCreateProgramWithIL)]
fn create_program_with_il(
    context: cl_context,
    il: HostPointer<*const c_void>,
    length: usize,
) -> CLResult<cl_program> {
    let context = Handle::<Context>::get(context)?;
    // CL_INVALID_VALUE if il is NULL or if length is zero, or if the length-byte memory pointed to by il does not contain
    // well-formed intermediate language input that can be consumed by the OpenCL runtime.
    // SAFETY: length is the number of bytes at il.
    let module = unsafe { il.bytes(length) };
    let module = module.ok_or_else(|| Error::new(Code::InvalidValue, "there is no module"))?;
    let runtime = gencl_runtime::Program::from_il(&context.runtime, module)?;
    Ok(Handle::create(Program { runtime, context }))
}

#[cl_entrypoint(clSetProgramSpecializationConstant)]
fn set_program_specialization_constant(
    program: cl_program,
    spec_id: cl_uint,
    spec_size: usize,
    spec_value: HostPointer<*const c_void>,
) -> CLResult<()> {
    let program = Handle::<Program>::get(program)?;
    // CL_INVALID_PROGRAM if program is not a valid program object created from an intermediate language.
    // CL_INVALID_SPEC_ID if spec_id is not a valid specialization constant identifier.
    program.runtime.specialize(spec_id, |size| {
        // CL_INVALID_VALUE if spec_size does not match the size of the specialization constant in the module, or if
        // spec_value is NULL.
        let wrong = |what: String| Error::new(Code::InvalidValue, what);
        if spec_size != size {
            return Err(wrong(format!("the constant has {size} bytes, not {spec_size}")));
        }
        // SAFETY: spec_size is the number of bytes at spec_value.
        unsafe { spec_value.to_vec(size) }.ok_or_else(|| wrong("there is no value".into()))
    })
}
