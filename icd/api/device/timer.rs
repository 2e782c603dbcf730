//! `clGetDeviceAndHostTimer`, `clGetHostTimer`

use gencl_icd_macros::cl_entrypoint;
use gencl_runtime::{Code, Error};
use opencl_sys::{cl_device_id, cl_ulong};

use crate::CLResult;
use crate::abi::Out;
use crate::handle::Handle;
use crate::object::Device;

// CL_INVALID_OPERATION if the platform associated with device does not support device and host timer synchronization.
fn not_synchronized(device: cl_device_id) -> CLResult<()> {
    Handle::<Device>::get(device)?;
    Err(Error::new(Code::InvalidOperation, "device and host timers are not synchronized"))
}

#[cl_entrypoint(clGetDeviceAndHostTimer)]
fn get_device_and_host_timer(
    device: cl_device_id,
    _device_timestamp: Out<cl_ulong>,
    _host_timestamp: Out<cl_ulong>,
) -> CLResult<()> {
    not_synchronized(device)
}

#[cl_entrypoint(clGetHostTimer)]
fn get_host_timer(device: cl_device_id, _host_timestamp: Out<cl_ulong>) -> CLResult<()> {
    not_synchronized(device)
}
