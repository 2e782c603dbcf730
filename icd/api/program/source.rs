//! `clCreateProgramWithSource`

use std::ffi::c_char;

use gencl_icd_macros::cl_entrypoint;
use gencl_runtime::Code;
use opencl_sys::{cl_context, cl_program, cl_uint};

use crate::abi::{List, Strings};
use crate::handle::Handle;
use crate::object::{Context, Program};
use crate::{CLResult, refuse_if};

#[cl_entrypoint(clCreateProgramWithSource)]
fn create_program_with_source(
    context: cl_context,
    count: cl_uint,
    strings: Strings<c_char>,
    lengths: List<usize>,
) -> CLResult<cl_program> {
    let context = Handle::<Context>::get(context)?;
    // CL_INVALID_VALUE if count is zero or if strings or any entry in strings is NULL.
    refuse_if(count == 0 || strings.is_null(), Code::InvalidValue, "no source")?;
    // SAFETY: count is the length of both lists. A length of zero, or no list of lengths, means
    // zero-terminated strings.
    let (strings, lengths) = unsafe { (strings.to_vec(count as usize), lengths.to_vec(count as usize)) };
    let mut source = Vec::new();
    for (index, string) in strings.iter().enumerate() {
        refuse_if(string.is_null(), Code::InvalidValue, "a string of the source is null")?;
        let length = lengths.get(index).copied().filter(|&length| length != 0);
        // SAFETY: not null, and of the given length or zero-terminated.
        source.extend_from_slice(&unsafe { string.to_vec(length) });
    }
    let source = String::from_utf8(source)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
    let runtime = gencl_runtime::Program::from_source(&context.runtime, source);
    Ok(Handle::create(Program { runtime, context }))
}
