//! `clGetKernelSubGroupInfo`, and the same of `cl_khr_subgroups`

use std::ffi::c_void;

use gencl_icd_macros::cl_entrypoint;
use gencl_runtime::{Code, Error};
use opencl_sys::{cl_device_id, cl_kernel, cl_kernel_sub_group_info};

use crate::CLResult;
use crate::abi::{Bytes, HostPointer, Out};
use crate::handle::Handle;
use crate::info::Written;
use crate::object::Kernel;

#[cl_entrypoint(clGetKernelSubGroupInfo)]
fn get_kernel_sub_group_info(
    kernel: cl_kernel,
    device: cl_device_id,
    _name: cl_kernel_sub_group_info,
    _input_size: usize,
    _input: HostPointer<*const c_void>,
    _room: usize,
    _value: Bytes,
    _size_ret: Out<usize>,
) -> CLResult<Written> {
    Handle::<Kernel>::get(kernel)?.check_device(device)?;
    // CL_INVALID_OPERATION if device does not support subgroups.
    Err(Error::new(Code::InvalidOperation, "the device has no subgroups"))
}

#[cl_entrypoint(clGetKernelSubGroupInfoKHR)]
fn get_kernel_sub_group_info_khr(
    kernel: cl_kernel,
    device: cl_device_id,
    name: cl_kernel_sub_group_info,
    input_size: usize,
    input: HostPointer<*const c_void>,
    room: usize,
    value: Bytes,
    size_ret: Out<usize>,
) -> CLResult<Written> {
    get_kernel_sub_group_info(kernel, device, name, input_size, input, room, value, size_ret)
}
