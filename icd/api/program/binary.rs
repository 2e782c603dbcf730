//! `clCreateProgramWithBinary`

use std::ffi::c_uchar;

use gencl_icd_macros::cl_entrypoint;
use gencl_runtime::{Code, Error};
use opencl_sys::{CL_SUCCESS, cl_context, cl_device_id, cl_int, cl_program, cl_uint};

use crate::abi::{List, OutList, Strings};
use crate::handle::Handle;
use crate::object::{Context, Device, Program};
use crate::{CLResult, refuse_if};

#[cl_entrypoint(clCreateProgramWithBinary)]
fn create_program_with_binary(
    context: cl_context,
    num_devices: cl_uint,
    devices: List<cl_device_id>,
    lengths: List<usize>,
    binaries: Strings<c_uchar>,
    binary_status: OutList<cl_int>,
) -> CLResult<cl_program> {
    let context = Handle::<Context>::get(context)?;
    // CL_INVALID_VALUE if device_list is NULL or num_devices is zero.
    // CL_INVALID_DEVICE if any device in device_list is not in the list of devices associated with context.
    Device::list(num_devices, devices)?;
    context.check_device_list(num_devices, devices)?;
    // CL_INVALID_VALUE if lengths or binaries is NULL or if any entry in lengths[i] is zero or binaries[i] is NULL.
    refuse_if(lengths.is_null() || binaries.is_null(), Code::InvalidValue, "no binaries")?;
    // SAFETY: num_devices is the length of all lists.
    let (lengths, binaries) =
        unsafe { (lengths.to_vec(num_devices as usize), binaries.to_vec(num_devices as usize)) };
    let report = |code: cl_int| {
        // SAFETY: as above.
        unsafe { binary_status.write(&vec![code; num_devices as usize], num_devices as usize) }
    };
    if lengths.contains(&0) || binaries.iter().any(|binary| binary.is_null()) {
        report(Code::InvalidValue as cl_int);
        return Err(Error::new(Code::InvalidValue, "a binary is empty"));
    }
    // A context has one device; it may be given several times, and then the first of its binaries counts.
    // SAFETY: not null, and the application says how long it is.
    let binary = unsafe { binaries[0].to_vec(Some(lengths[0])) };
    // CL_INVALID_BINARY if an invalid program binary was encountered for any device.
    match gencl_runtime::Program::from_binary(&context.runtime, &binary) {
        Ok(runtime) => {
            report(CL_SUCCESS);
            Ok(Handle::create(Program { runtime, context }))
        }
        Err(error) => {
            report(error.code as cl_int);
            Err(error)
        }
    }
}
