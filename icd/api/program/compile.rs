//! `clCompileProgram`

use std::ffi::c_char;

use gencl_icd_macros::cl_entrypoint;
use gencl_runtime::Code;
use opencl_sys::{cl_device_id, cl_program, cl_uint};

use super::{check_notify, notify_with};
use crate::abi::{List, ObjectNotify, Strings, Text, UserData};
use crate::handle::Handle;
use crate::object::{Device, Program};
use crate::{CLResult, refuse_if};

#[cl_entrypoint(clCompileProgram)]
fn compile_program(
    program: cl_program,
    num_devices: cl_uint,
    devices: List<cl_device_id>,
    options: Text,
    num_headers: cl_uint,
    headers: List<cl_program>,
    header_names: Strings<c_char>,
    notify: ObjectNotify,
    user: UserData,
) -> CLResult<()> {
    let program = Handle::<Program>::get(program)?;
    // CL_INVALID_DEVICE if any device in device_list is not in the list of devices associated with program.
    let devices = Device::some(num_devices, devices)?;
    check_notify(notify, user)?;
    // CL_INVALID_VALUE if num_input_headers is zero and header_include_names or input_headers are not NULL or
    // if num_input_headers is not zero and header_include_names or input_headers are NULL.
    let fits = headers.is_null() == (num_headers == 0) && header_names.is_null() == (num_headers == 0);
    refuse_if(!fits, Code::InvalidValue, "headers and names do not match their number")?;
    // SAFETY: num_input_headers is the length of both lists.
    let (headers, names) =
        unsafe { (headers.to_vec(num_headers as usize), header_names.to_vec(num_headers as usize)) };
    let mut included = Vec::new();
    for (header, name) in headers.into_iter().zip(names) {
        refuse_if(name.is_null(), Code::InvalidValue, "a header has no name")?;
        // SAFETY: not null, and zero-terminated.
        let name = unsafe { name.to_vec(None) };
        let header = Handle::<Program>::get(header)?;
        included.push((String::from_utf8_lossy(&name).into_owned(), header.runtime.clone()));
    }
    // CL_INVALID_CONTEXT if the context associated with program and programs in input_headers are not the same.
    // CL_INVALID_OPERATION if the program has no source or IL, a build of it has not completed, or kernels are
    // attached. CL_INVALID_COMPILER_OPTIONS if the compiler options specified by options are invalid.
    // CL_COMPILE_PROGRAM_FAILURE if there is a failure to compile the program source.
    let options = options.get().unwrap_or_default();
    program.runtime.compile(&devices, &options, &included, notify_with(&program, notify, user))
}
