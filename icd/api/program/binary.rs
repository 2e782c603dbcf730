//! `clCreateProgramWithBinary`

use std::ffi::c_uchar;

use gencl_icd_macros::cl_entrypoint;
use gencl_runtime::{Code, Error};
use opencl_sys::{CL_SUCCESS, cl_context, cl_device_id, cl_int, cl_program, cl_uint};

use crate::abi::{List, OutList, Strings};
use crate::handle::Handle;
use crate::object::{Context, Program};
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
    refuse_if(devices.is_null() || num_devices == 0, Code::InvalidValue, "no devices")?;
    // SAFETY: num_devices is the length of all lists.
    let devices = unsafe { devices.to_vec(num_devices as usize) };
    let devices = devices.into_iter().map(|device| Ok(context.check_device(device)?.runtime.clone()));
    let devices = devices.collect::<CLResult<Vec<_>>>()?;
    // CL_INVALID_VALUE if lengths or binaries is NULL or if any entry in lengths[i] is zero or binaries[i] is
    // NULL.
    refuse_if(lengths.is_null() || binaries.is_null(), Code::InvalidValue, "no binaries")?;
    // SAFETY: num_devices is the length of both lists.
    let (lengths, binaries) =
        unsafe { (lengths.to_vec(num_devices as usize), binaries.to_vec(num_devices as usize)) };
    // SAFETY: num_devices is the length of the list.
    let report = |codes: &[cl_int]| unsafe { binary_status.write(codes, num_devices as usize) };
    let mut given = Vec::new();
    let mut codes = vec![CL_SUCCESS; devices.len()];
    for (((device, binary), length), code) in devices.into_iter().zip(binaries).zip(lengths).zip(&mut codes) {
        if binary.is_null() || length == 0 {
            *code = Code::InvalidValue as cl_int;
        } else {
            // SAFETY: not null, and the application says how long it is.
            given.push((device, unsafe { binary.to_vec(Some(length)) }));
        }
    }
    if given.len() < codes.len() {
        report(&codes);
        return Err(Error::new(Code::InvalidValue, "a binary is empty"));
    }
    let (runtime, taken) = gencl_runtime::Program::from_binaries(&context.runtime, &given)?;
    let code =
        |taken: &CLResult<()>| taken.as_ref().map_or_else(|error| error.code as cl_int, |()| CL_SUCCESS);
    report(&taken.iter().map(code).collect::<Vec<_>>());
    // CL_INVALID_BINARY if an invalid program binary was encountered for any device.
    taken.into_iter().collect::<CLResult<()>>()?;
    Ok(Handle::create(Program { runtime, context }))
}
