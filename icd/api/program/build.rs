//! `clBuildProgram`

use gencl_icd_macros::cl_entrypoint;
use opencl_sys::{cl_device_id, cl_program, cl_uint};

use super::{check_notify, notify_with};
use crate::CLResult;
use crate::abi::{List, ObjectNotify, Text, UserData};
use crate::handle::Handle;
use crate::object::Program;

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
    program.context.check_device_list(num_devices, devices)?;
    check_notify(notify, user)?;
    // CL_INVALID_BUILD_OPTIONS if the build options specified by options are invalid.
    // CL_INVALID_OPERATION if a build of the program has not completed or if there are kernel objects attached.
    // CL_BUILD_PROGRAM_FAILURE if there is a failure to build the program executable.
    program.runtime.build(&options.get().unwrap_or_default(), notify_with(&program, notify, user))
}
