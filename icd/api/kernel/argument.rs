//! `clSetKernelArg`, `clSetKernelArgSVMPointer`, `clSetKernelArgMemPointerINTEL`, `clSetKernelExecInfo`

use std::ffi::c_void;
use std::sync::Arc;

use gencl_icd_macros::cl_entrypoint;
use gencl_program::misuse::MisuseKind;
use gencl_runtime::{Argument, ArgumentKind, ArgumentValue, Code, Error};
use opencl_sys::{
    CL_KERNEL_EXEC_INFO_INDIRECT_DEVICE_ACCESS_INTEL, CL_KERNEL_EXEC_INFO_INDIRECT_HOST_ACCESS_INTEL,
    CL_KERNEL_EXEC_INFO_INDIRECT_SHARED_ACCESS_INTEL, CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM,
    CL_KERNEL_EXEC_INFO_SVM_PTRS, CL_KERNEL_EXEC_INFO_USM_PTRS_INTEL, cl_bool, cl_kernel,
    cl_kernel_exec_info, cl_mem, cl_sampler, cl_uint,
};

use crate::abi::HostPointer;
use crate::handle::Handle;
use crate::object::{Kernel, Memory, Sampler};
use crate::{CLResult, misuse, refuse_if};

#[cl_entrypoint(clSetKernelArg)]
fn set_kernel_arg(
    kernel: cl_kernel,
    index: cl_uint,
    size: usize,
    value: HostPointer<*const c_void>,
) -> CLResult<()> {
    let kernel = Handle::<Kernel>::get(kernel)?;
    let value = argument_value(&kernel, index, size, &value)?;
    kernel.runtime.set_argument(index, value)
}

/// The value of an argument by the parameters of `clSetKernelArg`. The runtime checks objects and sizes of local memory.
pub fn argument_value(
    kernel: &Kernel,
    index: cl_uint,
    size: usize,
    value: &HostPointer<*const c_void>,
) -> CLResult<ArgumentValue> {
    // CL_INVALID_ARG_INDEX if arg_index is not a valid argument index.
    let argument = kernel.runtime.argument(index)?;
    match argument.kind {
        ArgumentKind::Value => {
            // CL_INVALID_ARG_SIZE if arg_size does not match the size of the data type for an argument that
            // is not a memory object. Of larger values the first bytes are taken, as by Intel's drivers for GPUs:
            // oneMKL passes offsets of 64 bits to arguments of 32.
            let (given, size) = (size, argument.size as usize);
            check_size(kernel, argument, given.min(size), size)?;
            if given > size {
                misuse::report(MisuseKind::ArgumentMismatch, || wrong_size(kernel, argument, given, size));
            }
            // CL_INVALID_ARG_VALUE if arg_value specified is not a valid value.
            // SAFETY: the application has at least so many bytes there, for as long as the call takes.
            let bytes =
                unsafe { value.bytes(size) }.ok_or_else(|| invalid(kernel, argument, "needs a value"))?;
            Ok(ArgumentValue::Bytes(bytes.into()))
        }
        ArgumentKind::GlobalPointer | ArgumentKind::ConstantPointer => {
            // CL_INVALID_ARG_SIZE if the argument is a memory object and arg_size != sizeof(cl_mem).
            check_size(kernel, argument, size, size_of::<cl_mem>())?;
            // If the argument is a buffer object, the arg_value pointer can be NULL or point to a NULL value.
            // CL_INVALID_MEM_OBJECT for an argument declared to be a memory object when the specified
            // arg_value is not a valid memory object. SAFETY: the application has a handle there.
            let handle = unsafe { value.to_words::<1>() }.map_or(0, |[handle]| handle);
            match handle {
                0 => Ok(ArgumentValue::Null),
                handle => {
                    let buffer = Memory::buffer(handle as cl_mem)?;
                    Ok(ArgumentValue::Buffer(Arc::downgrade(&buffer.runtime)))
                }
            }
        }
        ArgumentKind::LocalPointer => {
            // CL_INVALID_ARG_VALUE if the argument is declared with the local qualifier and arg_value is not
            // NULL.
            if !value.is_null() {
                return Err(invalid(kernel, argument, "is local memory, whose value must be null"));
            }
            // arg_size may be zero, indicating that no local memory is required for the kernel argument.
            Ok(ArgumentValue::Local(size as u64))
        }
        ArgumentKind::Image => {
            check_size(kernel, argument, size, size_of::<cl_mem>())?;
            // CL_INVALID_MEM_OBJECT if arg_value is NULL or points to NULL and it must point to a valid memory
            // object, or if the memory object is not valid for the kernel argument. CL_INVALID_ARG_VALUE if the
            // argument is an image declared with the read_only qualifier and arg_value points to an image
            // object created with CL_MEM_WRITE_ONLY, or the other way round.
            let image = Memory::image(handle(value).unwrap_or(0) as cl_mem)?;
            Ok(ArgumentValue::Image(Arc::downgrade(&image)))
        }
        ArgumentKind::Sampler => {
            // CL_INVALID_ARG_SIZE if the argument is a sampler and arg_size != sizeof(cl_sampler).
            check_size(kernel, argument, size, size_of::<cl_sampler>())?;
            // CL_INVALID_SAMPLER for an argument declared to be of type sampler_t when the specified
            // arg_value is not a valid sampler object.
            let sampler = Handle::<Sampler>::get(handle(value).unwrap_or(0) as cl_sampler)?;
            Ok(ArgumentValue::Sampler(sampler.runtime.clone()))
        }
    }
}

/// The handle that a value points to; `None` if there is no value.
fn handle(value: &HostPointer<*const c_void>) -> Option<usize> {
    // SAFETY: the application has a handle there, as the size says.
    unsafe { value.to_words::<1>() }.map(|[handle]| handle)
}

fn check_size(kernel: &Kernel, argument: &Argument, size: usize, expected: usize) -> CLResult<()> {
    if size == expected {
        return Ok(());
    }
    Err(Error::new(Code::InvalidArgSize, wrong_size(kernel, argument, size, expected)))
}

fn wrong_size(kernel: &Kernel, argument: &Argument, size: usize, expected: usize) -> String {
    let (name, ty) = (&argument.name, &argument.type_name);
    let kernel = &kernel.runtime.info().name;
    format!("argument {name} of {kernel} has type {ty} of {expected} bytes, {size} bytes were given")
}

fn invalid(kernel: &Kernel, argument: &Argument, reason: &str) -> Error {
    let kernel = &kernel.runtime.info().name;
    Error::new(Code::InvalidArgValue, format!("argument {} of {kernel} {reason}", argument.name))
}

#[cl_entrypoint(clSetKernelArgSVMPointer)]
fn set_kernel_arg_svm_pointer(
    kernel: cl_kernel,
    index: cl_uint,
    value: HostPointer<*const c_void>,
) -> CLResult<()> {
    let kernel = Handle::<Kernel>::get(kernel)?;
    let value = shared_value(&kernel, index, &value)?;
    kernel.runtime.set_argument(index, value)
}

/// The value of an argument by the parameters of `clSetKernelArgSVMPointer`.
pub fn shared_value(
    kernel: &Kernel,
    index: cl_uint,
    value: &HostPointer<*const c_void>,
) -> CLResult<ArgumentValue> {
    // CL_INVALID_OPERATION if no devices in the context associated with kernel support SVM.
    kernel.program.context.runtime.check_shared()?;
    // CL_INVALID_ARG_INDEX if arg_index is not a valid argument index.
    kernel.runtime.argument(index)?;
    // CL_INVALID_ARG_VALUE if arg_value specified is not a valid value.
    match value.address() {
        0 => Ok(ArgumentValue::Null),
        address => kernel.runtime.shared_pointer(address),
    }
}

// As clSetKernelArgSVMPointer: all kinds of unified shared memory are shared virtual memory.
#[cl_entrypoint(clSetKernelArgMemPointerINTEL)]
fn set_kernel_arg_mem_pointer_intel(
    kernel: cl_kernel,
    index: cl_uint,
    value: HostPointer<*const c_void>,
) -> CLResult<()> {
    set_kernel_arg_svm_pointer(kernel, index, value)
}

#[cl_entrypoint(clSetKernelExecInfo)]
fn set_kernel_exec_info(
    kernel: cl_kernel,
    name: cl_kernel_exec_info,
    size: usize,
    value: HostPointer<*const c_void>,
) -> CLResult<()> {
    let kernel = Handle::<Kernel>::get(kernel)?;
    check_exec_info(&kernel, name, size, &value)
}

/// Checks the parameters of `clSetKernelExecInfo`, which have no effect.
pub fn check_exec_info(
    kernel: &Kernel,
    name: cl_kernel_exec_info,
    size: usize,
    value: &HostPointer<*const c_void>,
) -> CLResult<()> {
    // CL_INVALID_OPERATION if no devices in the context associated with kernel support SVM.
    kernel.program.context.runtime.check_shared()?;
    // CL_INVALID_VALUE if param_name is not valid, if param_value is NULL or if the size specified by
    // param_value_size is not valid. An empty list, without a pointer, replaces the one before.
    let none = (size == 0).then(Vec::new);
    // SAFETY: the application has param_value_size bytes there.
    let bytes = unsafe { value.to_vec(size) }.or(none);
    let bytes = bytes.ok_or_else(|| Error::new(Code::InvalidValue, "no value"))?;
    let words = bytes.chunks_exact(size_of::<usize>());
    match name {
        CL_KERNEL_EXEC_INFO_SVM_PTRS | CL_KERNEL_EXEC_INFO_USM_PTRS_INTEL if words.remainder().is_empty() => {
            let addresses =
                words.map(|word| word.iter().rev().fold(0, |sum, byte| sum << 8 | usize::from(*byte)));
            kernel.runtime.check_reachable(&addresses.collect::<Vec<_>>())
        }
        CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM if size == size_of::<cl_bool>() => {
            // CL_INVALID_OPERATION if param_value is CL_TRUE and no devices in the context associated with
            // kernel support fine-grain system SVM.
            let wanted = bytes.iter().any(|byte| *byte != 0);
            refuse_if(wanted, Code::InvalidOperation, "the device has no fine-grained shared virtual memory")
        }
        // Launches reach all memory anyway.
        CL_KERNEL_EXEC_INFO_INDIRECT_HOST_ACCESS_INTEL
        | CL_KERNEL_EXEC_INFO_INDIRECT_DEVICE_ACCESS_INTEL
        | CL_KERNEL_EXEC_INFO_INDIRECT_SHARED_ACCESS_INTEL
            if size == size_of::<cl_bool>() =>
        {
            Ok(())
        }
        _ => Err(Error::new(Code::InvalidValue, "unknown execution information")),
    }
}
