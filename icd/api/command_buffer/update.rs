//! `clUpdateMutableCommandsKHR`

use std::ffi::c_void;

use gencl_icd_macros::cl_entrypoint;
use gencl_runtime::{Code, Error, LaunchUpdate};
use opencl_sys::{
    CL_COMMAND_BUFFER_MUTABLE_KHR, CL_MUTABLE_DISPATCH_ARGUMENTS_KHR, CL_MUTABLE_DISPATCH_EXEC_INFO_KHR,
    CL_MUTABLE_DISPATCH_GLOBAL_OFFSET_KHR, CL_MUTABLE_DISPATCH_GLOBAL_SIZE_KHR,
    CL_MUTABLE_DISPATCH_LOCAL_SIZE_KHR, CL_STRUCTURE_TYPE_MUTABLE_DISPATCH_CONFIG_KHR, cl_command_buffer_khr,
    cl_command_buffer_update_type_khr, cl_mutable_dispatch_arg_khr, cl_mutable_dispatch_config_khr,
    cl_mutable_dispatch_exec_info_khr, cl_mutable_dispatch_fields_khr, cl_uint,
};

use crate::abi::{Argument, Fixed, HostPointer, List, ListMut};
use crate::api::enqueue::kernel::nd_range;
use crate::api::kernel::argument::{argument_value, check_exec_info, shared_value};
use crate::handle::Handle;
use crate::object::{CommandBuffer, MutableCommand};
use crate::{CLResult, refuse_if};

#[cl_entrypoint(clUpdateMutableCommandsKHR)]
fn update_mutable_commands(
    buffer: cl_command_buffer_khr,
    num_configs: cl_uint,
    config_types: List<cl_command_buffer_update_type_khr>,
    configs: ListMut<*const c_void>,
) -> CLResult<()> {
    // CL_INVALID_COMMAND_BUFFER_KHR if command_buffer is not a valid command-buffer.
    let buffer = Handle::<CommandBuffer>::get(buffer)?;
    // CL_INVALID_OPERATION if command_buffer has not been finalized, or was not created with the
    // CL_COMMAND_BUFFER_MUTABLE_KHR flag.
    let finalized = buffer.runtime.is_finalized();
    refuse_if(!finalized, Code::InvalidOperation, "the command-buffer is not finalized")?;
    let mutable = buffer.flags & CL_COMMAND_BUFFER_MUTABLE_KHR != 0;
    refuse_if(!mutable, Code::InvalidOperation, "the command-buffer is not mutable")?;
    // CL_INVALID_VALUE if config_types or configs is NULL and num_configs > 0, or is not NULL and num_configs is 0.
    let pairs = config_types.is_null() == (num_configs == 0) && configs.is_null() == (num_configs == 0);
    refuse_if(!pairs, Code::InvalidValue, "a list does not match its length")?;
    // SAFETY: num_configs is the length of both lists.
    let (types, configs) =
        unsafe { (config_types.to_vec(num_configs as usize), configs.to_vec(num_configs as usize)) };
    // CL_INVALID_VALUE if any element of config_types is not a valid cl_command_buffer_update_type_khr enum.
    let known = types.iter().all(|kind| *kind == CL_STRUCTURE_TYPE_MUTABLE_DISPATCH_CONFIG_KHR);
    refuse_if(!known, Code::InvalidValue, "an unknown type of update")?;
    let updates = configs.into_iter().map(|config| {
        // CL_INVALID_VALUE if any element of configs is NULL. SAFETY: the type says what it points to.
        let config = unsafe { Fixed::<cl_mutable_dispatch_config_khr, 1>::from_raw(config.cast()) };
        let [config] =
            config.get().ok_or_else(|| Error::new(Code::InvalidValue, "a configuration is null"))?;
        update(&buffer, &config)
    });
    // Either all commands are changed or none. The runtime checks what clEnqueueNDRangeKernel and clSetKernelArg do.
    buffer.runtime.update(&updates.collect::<CLResult<Vec<_>>>()?)
}

/// The change of a command.
fn update(buffer: &Handle<CommandBuffer>, config: &cl_mutable_dispatch_config_khr) -> CLResult<LaunchUpdate> {
    // CL_INVALID_MUTABLE_COMMAND_KHR if command is not a valid mutable command object returned from
    // clCommandNDRangeKernelKHR, or created from command_buffer.
    let command = Handle::<MutableCommand>::get(config.command)?;
    let other = command.buffer != buffer.address();
    refuse_if(other, Code::InvalidMutableCommand, "a command of another command-buffer")?;
    // CL_INVALID_OPERATION if work_dim is not zero and different from the work_dim set on command recording.
    let range = command.runtime.range(command.number)?;
    let same = [0, range.dimensions].contains(&config.work_dim);
    refuse_if(!same, Code::InvalidOperation, "the number of dimensions cannot change")?;
    // CL_INVALID_OPERATION if the property for a field was not set on command recording and the field is given.
    for (given, field) in [
        (!config.global_work_offset.is_null(), CL_MUTABLE_DISPATCH_GLOBAL_OFFSET_KHR),
        (!config.global_work_size.is_null(), CL_MUTABLE_DISPATCH_GLOBAL_SIZE_KHR),
        (!config.local_work_size.is_null(), CL_MUTABLE_DISPATCH_LOCAL_SIZE_KHR),
        (config.num_args > 0 || config.num_svm_args > 0, CL_MUTABLE_DISPATCH_ARGUMENTS_KHR),
        (config.num_exec_infos > 0, CL_MUTABLE_DISPATCH_EXEC_INFO_KHR),
    ] {
        check_field(&command, given, field)?;
    }
    // SAFETY: the structure has the number of elements of each list, and work_dim is the length of the other three.
    let (arguments, shared, infos, [offset, global, local]) = unsafe {
        (
            list(config.arg_list, config.num_args)?,
            list(config.arg_svm_list, config.num_svm_args)?,
            list(config.exec_info_list, config.num_exec_infos)?,
            [config.global_work_offset, config.global_work_size, config.local_work_size]
                .map(|sizes| List::from_raw(sizes)),
        )
    };
    let kernel = &command.kernel;
    for cl_mutable_dispatch_exec_info_khr { param_name, param_value_size, param_value } in infos {
        check_exec_info(kernel, param_name, param_value_size, &pointer(param_value))?;
    }
    let mut values = Vec::with_capacity(arguments.len() + shared.len());
    for cl_mutable_dispatch_arg_khr { arg_index, arg_size, arg_value } in arguments {
        values.push((arg_index, argument_value(kernel, arg_index, arg_size, &pointer(arg_value))?));
    }
    for cl_mutable_dispatch_arg_khr { arg_index, arg_value, .. } in shared {
        values.push((arg_index, shared_value(kernel, arg_index, &pointer(arg_value))?));
    }
    let given = nd_range(range.dimensions, offset, global, local)?;
    Ok(LaunchUpdate {
        command: command.number,
        arguments: values,
        offset: (!offset.is_null()).then_some(given.offset),
        global: (!global.is_null()).then_some(given.global),
        local: given.local,
    })
}

fn check_field(command: &MutableCommand, given: bool, field: cl_mutable_dispatch_fields_khr) -> CLResult<()> {
    refuse_if(given && command.fields & field == 0, Code::InvalidOperation, "the field is not updatable")
}

/// CL_INVALID_VALUE if a list is NULL and its length > 0, or it is not NULL and its length is 0.
///
/// # Safety
/// The list has the length.
unsafe fn list<T: Copy>(list: *const T, length: cl_uint) -> CLResult<Vec<T>> {
    refuse_if(list.is_null() != (length == 0), Code::InvalidValue, "a list does not match its length")?;
    // SAFETY: the caller vouches for the length.
    Ok(unsafe { List::from_raw(list).to_vec(length as usize) })
}

fn pointer(raw: *const c_void) -> HostPointer<*const c_void> {
    // SAFETY: the application has there what the specification says of clSetKernelArg, clSetKernelArgSVMPointer and
    // clSetKernelExecInfo.
    unsafe { HostPointer::from_raw(raw) }
}
