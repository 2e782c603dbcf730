//! Functions of programs that no device supports: built-in kernels and release callbacks

use gencl_icd_macros::cl_entrypoint;
use gencl_runtime::{Code, Error};
use opencl_sys::{cl_context, cl_device_id, cl_program, cl_uint};

use crate::CLResult;
use crate::abi::{List, ObjectNotify, Text, UserData};
use crate::handle::Handle;
use crate::object::{Context, Device, Program};

#[cl_entrypoint(clCreateProgramWithBuiltInKernels)]
fn create_program_with_built_in_kernels(
    context: cl_context,
    num_devices: cl_uint,
    devices: List<cl_device_id>,
    _kernel_names: Text,
) -> CLResult<cl_program> {
    let context = Handle::<Context>::get(context)?;
    // CL_INVALID_VALUE if device_list is NULL or num_devices is zero.
    // CL_INVALID_DEVICE if any device in device_list is not in the list of devices associated with context.
    for device in Device::list(num_devices, devices)? {
        context.check_device(device.raw())?;
    }
    // CL_INVALID_VALUE if kernel_names is NULL or kernel_names contains a kernel name that is not supported
    // by any of the devices in device_list.
    Err(Error::new(Code::InvalidValue, "the device has no built-in kernels"))
}

#[cl_entrypoint(clSetProgramReleaseCallback)]
fn set_program_release_callback(program: cl_program, _notify: ObjectNotify, _user: UserData) -> CLResult<()> {
    Handle::<Program>::get(program)?;
    // CL_INVALID_OPERATION if no devices associated with program support destructors for program scope global
    // variables.
    Err(Error::new(Code::InvalidOperation, "the device supports no destructors of global variables"))
}
