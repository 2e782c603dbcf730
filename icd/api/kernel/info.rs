//! `clGetKernelInfo`

use gencl_icd_macros::cl_entrypoint;
use opencl_sys::{
    CL_KERNEL_ATTRIBUTES, CL_KERNEL_CONTEXT, CL_KERNEL_FUNCTION_NAME, CL_KERNEL_NUM_ARGS, CL_KERNEL_PROGRAM,
    CL_KERNEL_REFERENCE_COUNT, cl_kernel, cl_kernel_info,
};

use crate::CLResult;
use crate::abi::{Bytes, Out};
use crate::handle::Handle;
use crate::info::{InfoWriter, Written};
use crate::object::Kernel;

#[cl_entrypoint(clGetKernelInfo)]
fn get_kernel_info(
    kernel: cl_kernel,
    name: cl_kernel_info,
    room: usize,
    value: Bytes,
    size_ret: Out<usize>,
) -> CLResult<Written> {
    let kernel = Handle::<Kernel>::get(kernel)?;
    let info = InfoWriter::new(room, value, size_ret);
    match name {
        CL_KERNEL_FUNCTION_NAME => info.string(&kernel.runtime.info().name),
        CL_KERNEL_NUM_ARGS => info.value(kernel.runtime.info().arguments.len() as u32),
        CL_KERNEL_REFERENCE_COUNT => info.value(kernel.references()),
        CL_KERNEL_CONTEXT => info.value(kernel.program.context.raw()),
        CL_KERNEL_PROGRAM => info.value(kernel.program.raw()),
        CL_KERNEL_ATTRIBUTES => info.string(kernel.runtime.attributes()),
        _ => info.unknown(name),
    }
}
