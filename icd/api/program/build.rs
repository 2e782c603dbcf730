//! `clBuildProgram`

use gencl_icd_macros::cl_entrypoint;
use opencl_sys::{cl_device_id, cl_program, cl_uint};

use super::{check_notify, notify_with};
use crate::CLResult;
use crate::abi::{List, ObjectNotify, Text, UserData};
use crate::handle::Handle;
use crate::object::{Device, Program};

#[cl_entrypoint(clBuildProgram)]
fn build_program(
    program: cl_program,
    num_devices: cl_uint,
    devices: List<cl_device_id>,
    options: Text,
    notify: ObjectNotify,
    user: UserData,
) -> CLResult<()> {
    let program = Handle::<Program>::get(program)?;
    // CL_INVALID_DEVICE if any device in device_list is not in the list of devices associated with program.
    let devices = Device::some(num_devices, devices)?;
    check_notify(notify, user)?;
    // CL_INVALID_BUILD_OPTIONS if the build options specified by options are invalid. CL_INVALID_OPERATION if
    // a build of the program for one of the devices has not completed or if there are kernel objects
    // attached. CL_BUILD_PROGRAM_FAILURE if there is a failure to build the program executable.
    let options = options.get().unwrap_or_default();
    program.runtime.build(&devices, &options, notify_with(&program, notify, user))
}
