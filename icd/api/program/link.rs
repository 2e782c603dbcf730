//! `clLinkProgram`

use std::sync::mpsc;

use gencl_icd_macros::cl_entrypoint;
use gencl_runtime::Code;
use opencl_sys::{CL_SUCCESS, cl_context, cl_device_id, cl_int, cl_program, cl_uint};

use super::check_notify;
use crate::abi::{List, ObjectNotify, Out, Text, UserData, entry};
use crate::handle::Handle;
use crate::object::{Context, Device, Program};
use crate::{CLResult, refuse_if};

/// The one function that may return both an object and an error: the program of a failed link, which has the
/// log.
#[cl_entrypoint(clLinkProgram)]
fn link_program(
    context: cl_context,
    num_devices: cl_uint,
    devices: List<cl_device_id>,
    options: Text,
    num_programs: cl_uint,
    programs: List<cl_program>,
    notify: ObjectNotify,
    user: UserData,
    errcode: Out<cl_int>,
) -> cl_program {
    let mut outcome = CL_SUCCESS;
    let program = entry::object("clLinkProgram", errcode, || {
        let (program, result) =
            link(context, num_devices, devices, options, num_programs, programs, notify, user)?;
        if let Err(error) = result {
            tracing::debug!("clLinkProgram: {error}");
            outcome = error.code as cl_int;
        }
        Ok(program)
    });
    if outcome != CL_SUCCESS {
        errcode.write(outcome);
    }
    program
}

fn link(
    context: cl_context,
    num_devices: cl_uint,
    devices: List<cl_device_id>,
    options: Text,
    num_programs: cl_uint,
    programs: List<cl_program>,
    notify: ObjectNotify,
    user: UserData,
) -> CLResult<(cl_program, CLResult<()>)> {
    let context = Handle::<Context>::get(context)?;
    // CL_INVALID_DEVICE if any device in device_list is not in the list of devices associated with context.
    let devices = Device::some(num_devices, devices)?;
    check_notify(notify, user)?;
    // CL_INVALID_VALUE if num_input_programs is zero and input_programs is NULL or if either is and the other
    // is not.
    refuse_if(num_programs == 0 || programs.is_null(), Code::InvalidValue, "no programs")?;
    // CL_INVALID_PROGRAM if programs specified in input_programs are not valid program objects.
    // SAFETY: num_input_programs is the length of the list.
    let inputs = unsafe { programs.to_vec(num_programs as usize) }
        .into_iter()
        .map(|program| Handle::<Program>::get(program).map(|program| program.runtime.clone()))
        .collect::<CLResult<Vec<_>>>()?;
    // The callback gets the handle of a program that exists only once the link has begun.
    let (sender, receiver) = mpsc::channel();
    let notify = notify.bind(user).map(|notify| -> Box<dyn FnOnce() + Send> {
        Box::new(move || {
            if let Ok(program) = receiver.recv() {
                let program: std::sync::Arc<Handle<Program>> = program;
                notify(program.raw());
            }
        })
    });
    // CL_INVALID_CONTEXT if the context associated with programs in input_programs is not the same as context.
    // CL_INVALID_LINKER_OPTIONS if the linker options specified by options are invalid. CL_INVALID_OPERATION
    // if for a device only some of the programs are compiled, or a build of one of them has not completed.
    // CL_LINK_PROGRAM_FAILURE if there is a failure to link the compiled binaries and/or libraries.
    let options = options.get().unwrap_or_default();
    let (runtime, result) =
        gencl_runtime::Program::link(&context.runtime, &devices, &options, &inputs, notify)?;
    let program = Handle::create(Program { runtime, context });
    // Without a callback, nothing receives it.
    let _ = sender.send(Handle::get(program)?);
    Ok((program, result))
}
