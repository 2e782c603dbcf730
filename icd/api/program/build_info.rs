//! `clGetProgramBuildInfo`

use gencl_icd_macros::cl_entrypoint;
use gencl_runtime::BuildStatus;
use opencl_sys::{
    CL_BUILD_ERROR, CL_BUILD_IN_PROGRESS, CL_BUILD_NONE, CL_BUILD_SUCCESS, CL_PROGRAM_BINARY_TYPE,
    CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE, CL_PROGRAM_BUILD_LOG, CL_PROGRAM_BUILD_OPTIONS,
    CL_PROGRAM_BUILD_STATUS, cl_device_id, cl_program, cl_program_build_info,
};

use crate::CLResult;
use crate::abi::{Bytes, Out};
use crate::handle::Handle;
use crate::info::{InfoWriter, Written};
use crate::object::{Device, Program};

#[cl_entrypoint(clGetProgramBuildInfo)]
fn get_program_build_info(
    program: cl_program,
    device: cl_device_id,
    name: cl_program_build_info,
    room: usize,
    value: Bytes,
    size_ret: Out<usize>,
) -> CLResult<Written> {
    let program = Handle::<Program>::get(program)?;
    // CL_INVALID_DEVICE if device is not in the list of devices associated with program.
    let device = &Handle::<Device>::get(device)?.runtime;
    let info = InfoWriter::new(room, value, size_ret);
    match name {
        CL_PROGRAM_BUILD_STATUS => info.value(match program.runtime.status(device)? {
            BuildStatus::None => CL_BUILD_NONE,
            BuildStatus::InProgress => CL_BUILD_IN_PROGRESS,
            BuildStatus::Success => CL_BUILD_SUCCESS,
            BuildStatus::Error => CL_BUILD_ERROR,
        }),
        CL_PROGRAM_BUILD_OPTIONS => info.string(&program.runtime.options(device)?),
        CL_PROGRAM_BUILD_LOG => info.string(&program.runtime.log(device)?),
        CL_PROGRAM_BINARY_TYPE => info.value(program.runtime.binary_kind(device)? as u32),
        CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE => {
            info.value(program.runtime.variables_size(device)? as usize)
        }
        _ => info.unknown(name),
    }
}
