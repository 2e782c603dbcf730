//! `clGetDeviceIDs`

use gencl_icd_macros::cl_entrypoint;
use gencl_runtime::Code;
use opencl_sys::{cl_device_id, cl_device_type, cl_platform_id, cl_uint};

use crate::abi::{Out, OutList};
use crate::object::{Device, Platform};
use crate::{CLResult, refuse_if};

#[cl_entrypoint(clGetDeviceIDs)]
fn get_device_ids(
    platform: cl_platform_id,
    device_type: cl_device_type,
    num_entries: cl_uint,
    devices: OutList<cl_device_id>,
    num_devices: Out<cl_uint>,
) -> CLResult<()> {
    Platform::check_or_null(platform)?;
    // CL_INVALID_VALUE if num_entries is equal to zero and devices is not NULL or if both num_devices and
    // devices are NULL.
    refuse_if(num_entries == 0 && !devices.is_null(), Code::InvalidValue, "num_entries is 0")?;
    refuse_if(
        num_devices.is_null() && devices.is_null(),
        Code::InvalidValue,
        "devices and num_devices are null",
    )?;
    // CL_INVALID_DEVICE_TYPE if device_type is not a valid value.
    // CL_DEVICE_NOT_FOUND if no OpenCL devices that matched device_type were found.
    let found: Vec<_> = Device::of_type(device_type)?.iter().map(|device| device.raw()).collect();
    num_devices.write(found.len() as cl_uint);
    // SAFETY: num_entries is what devices has room for.
    unsafe { devices.write(&found, num_entries as usize) }
    Ok(())
}
