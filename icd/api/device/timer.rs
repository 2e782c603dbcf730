//! `clGetDeviceAndHostTimer`, `clGetHostTimer`

use gencl_icd_macros::cl_entrypoint;
use gencl_runtime::{Code, host_time};
use opencl_sys::{cl_device_id, cl_ulong};

use crate::abi::Out;
use crate::handle::Handle;
use crate::object::Device;
use crate::{CLResult, refuse_if};

#[cl_entrypoint(clGetDeviceAndHostTimer)]
fn get_device_and_host_timer(
    device: cl_device_id,
    device_timestamp: Out<cl_ulong>,
    host_timestamp: Out<cl_ulong>,
) -> CLResult<()> {
    Handle::<Device>::get(device)?;
    // CL_INVALID_VALUE if host_timestamp or device_timestamp is NULL.
    let nowhere = device_timestamp.is_null() || host_timestamp.is_null();
    refuse_if(nowhere, Code::InvalidValue, "a pointer for the time is null")?;
    // The runtime converts GPU timestamps to the host's clock, so both times are the same.
    let now = host_time();
    device_timestamp.write(now);
    host_timestamp.write(now);
    Ok(())
}

#[cl_entrypoint(clGetHostTimer)]
fn get_host_timer(device: cl_device_id, host_timestamp: Out<cl_ulong>) -> CLResult<()> {
    Handle::<Device>::get(device)?;
    // CL_INVALID_VALUE if host_timestamp is NULL.
    refuse_if(host_timestamp.is_null(), Code::InvalidValue, "a pointer for the time is null")?;
    host_timestamp.write(host_time());
    Ok(())
}
