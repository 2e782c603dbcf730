//! `clGetKernelArgInfo`

use gencl_icd_macros::cl_entrypoint;
use gencl_runtime::{Access, ArgumentKind};
use opencl_sys::{
    CL_KERNEL_ARG_ACCESS_NONE, CL_KERNEL_ARG_ACCESS_QUALIFIER, CL_KERNEL_ARG_ACCESS_READ_ONLY,
    CL_KERNEL_ARG_ACCESS_READ_WRITE, CL_KERNEL_ARG_ACCESS_WRITE_ONLY, CL_KERNEL_ARG_ADDRESS_CONSTANT,
    CL_KERNEL_ARG_ADDRESS_GLOBAL, CL_KERNEL_ARG_ADDRESS_LOCAL, CL_KERNEL_ARG_ADDRESS_PRIVATE,
    CL_KERNEL_ARG_ADDRESS_QUALIFIER, CL_KERNEL_ARG_NAME, CL_KERNEL_ARG_TYPE_NAME,
    CL_KERNEL_ARG_TYPE_QUALIFIER, cl_kernel, cl_kernel_arg_info, cl_uint,
};

use crate::CLResult;
use crate::abi::{Bytes, Out};
use crate::handle::Handle;
use crate::info::{InfoWriter, Written};
use crate::object::Kernel;

#[cl_entrypoint(clGetKernelArgInfo)]
fn get_kernel_arg_info(
    kernel: cl_kernel,
    index: cl_uint,
    name: cl_kernel_arg_info,
    room: usize,
    value: Bytes,
    size_ret: Out<usize>,
) -> CLResult<Written> {
    let kernel = Handle::<Kernel>::get(kernel)?;
    // CL_INVALID_ARG_INDEX if arg_index is not a valid argument index.
    // CL_KERNEL_ARG_INFO_NOT_AVAILABLE if the argument information is not available for kernel.
    let argument = kernel.runtime.argument_information(index)?;
    let info = InfoWriter::new(room, value, size_ret);
    match name {
        CL_KERNEL_ARG_ADDRESS_QUALIFIER => info.value(match argument.kind {
            ArgumentKind::GlobalPointer | ArgumentKind::Image => CL_KERNEL_ARG_ADDRESS_GLOBAL,
            ArgumentKind::ConstantPointer => CL_KERNEL_ARG_ADDRESS_CONSTANT,
            ArgumentKind::LocalPointer => CL_KERNEL_ARG_ADDRESS_LOCAL,
            ArgumentKind::Value | ArgumentKind::Sampler => CL_KERNEL_ARG_ADDRESS_PRIVATE,
        }),
        CL_KERNEL_ARG_ACCESS_QUALIFIER => info.value(match argument.access {
            Access::None => CL_KERNEL_ARG_ACCESS_NONE,
            Access::ReadOnly => CL_KERNEL_ARG_ACCESS_READ_ONLY,
            Access::WriteOnly => CL_KERNEL_ARG_ACCESS_WRITE_ONLY,
            Access::ReadWrite => CL_KERNEL_ARG_ACCESS_READ_WRITE,
        }),
        CL_KERNEL_ARG_TYPE_NAME => info.string(&argument.type_name),
        CL_KERNEL_ARG_TYPE_QUALIFIER => {
            // A cl_bitfield; opencl-sys has it wrong.
            info.value(u64::from(argument.type_qualifier))
        }
        CL_KERNEL_ARG_NAME => info.string(&argument.name),
        _ => info.unknown(name),
    }
}
