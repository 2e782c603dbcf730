//! `clSetKernelArg`, `clSetKernelArgSVMPointer`, `clSetKernelExecInfo`

use std::ffi::c_void;

use gencl_icd_macros::cl_entrypoint;
use gencl_runtime::{Argument, ArgumentKind, ArgumentValue, Code, Error};
use opencl_sys::{cl_kernel, cl_kernel_exec_info, cl_mem, cl_uint};

use crate::CLResult;
use crate::abi::HostPointer;
use crate::handle::Handle;
use crate::object::{Kernel, Memory};

#[cl_entrypoint(clSetKernelArg)]
fn set_kernel_arg(
    kernel: cl_kernel,
    index: cl_uint,
    size: usize,
    value: HostPointer<*const c_void>,
) -> CLResult<()> {
    let kernel = Handle::<Kernel>::get(kernel)?;
    // CL_INVALID_ARG_INDEX if arg_index is not a valid argument index.
    let argument = kernel.runtime.argument(index)?;
    match argument.kind {
        ArgumentKind::Value => {
            // CL_INVALID_ARG_SIZE if arg_size does not match the size of the data type for an argument that is not a
            // memory object.
            check_size(argument, size, argument.size as usize)?;
            // CL_INVALID_ARG_VALUE if arg_value specified is not a valid value.
            // SAFETY: the application has arg_size bytes there.
            let bytes = unsafe { value.to_vec(size) }.ok_or_else(|| invalid(argument, "needs a value"))?;
            kernel.runtime.set_argument(index, ArgumentValue::Bytes(&bytes))
        }
        ArgumentKind::GlobalPointer | ArgumentKind::ConstantPointer => {
            // CL_INVALID_ARG_SIZE if the argument is a memory object and arg_size != sizeof(cl_mem).
            check_size(argument, size, size_of::<cl_mem>())?;
            // If the argument is a buffer object, the arg_value pointer can be NULL or point to a NULL value.
            // CL_INVALID_MEM_OBJECT for an argument declared to be a memory object when the specified arg_value is not
            // a valid memory object.
            // SAFETY: the application has a handle there.
            let handle = unsafe { value.to_words::<1>() }.map_or(0, |[handle]| handle);
            let buffer = match handle {
                0 => None,
                handle => Some(Handle::<Memory>::get(handle as cl_mem)?.runtime.clone()),
            };
            kernel.runtime.set_argument(index, ArgumentValue::Buffer(buffer))
        }
        ArgumentKind::LocalPointer => {
            // CL_INVALID_ARG_VALUE if the argument is declared with the local qualifier and arg_value is not NULL.
            if !value.is_null() {
                return Err(invalid(argument, "is local memory and takes a size only"));
            }
            // CL_INVALID_ARG_SIZE if arg_size is zero and the argument is declared with the local qualifier.
            kernel.runtime.set_argument(index, ArgumentValue::Local(size as u64))
        }
        ArgumentKind::Image => Err(Error::new(Code::InvalidMemObject, "the device has no images")),
        // CL_INVALID_SAMPLER for an argument declared to be of type sampler_t when the specified arg_value is not a
        // valid sampler object.
        ArgumentKind::Sampler => Err(Error::new(Code::InvalidSampler, "the device has no samplers")),
    }
}

fn check_size(argument: &Argument, size: usize, expected: usize) -> CLResult<()> {
    if size == expected {
        return Ok(());
    }
    let (name, ty) = (&argument.name, &argument.type_name);
    let reason = format!("argument {name} of type {ty} has {expected} bytes, {size} are given");
    Err(Error::new(Code::InvalidArgSize, reason))
}

fn invalid(argument: &Argument, reason: &str) -> Error {
    Error::new(Code::InvalidArgValue, format!("argument {} {reason}", argument.name))
}

// CL_INVALID_OPERATION if no devices in the context associated with kernel support SVM.

#[cl_entrypoint(clSetKernelArgSVMPointer)]
fn set_kernel_arg_svm_pointer(
    kernel: cl_kernel,
    _index: cl_uint,
    _value: HostPointer<*const c_void>,
) -> CLResult<()> {
    Handle::<Kernel>::get(kernel)?;
    Err(Error::new(Code::InvalidOperation, "the device has no shared virtual memory"))
}

#[cl_entrypoint(clSetKernelExecInfo)]
fn set_kernel_exec_info(
    kernel: cl_kernel,
    _name: cl_kernel_exec_info,
    _size: usize,
    _value: HostPointer<*const c_void>,
) -> CLResult<()> {
    Handle::<Kernel>::get(kernel)?;
    Err(Error::new(Code::InvalidOperation, "the device has no shared virtual memory"))
}
