//! `clCreateSubDevices`, `clRetainDevice`, `clReleaseDevice`, and the same of `cl_ext_device_fission`

use gencl_icd_macros::cl_entrypoint;
use gencl_runtime::{Code, Error};
use opencl_sys::{cl_device_id, cl_device_partition_property, cl_device_partition_property_ext, cl_uint};

use crate::CLResult;
use crate::abi::{Out, OutList, ZeroTerminated};
use crate::handle::Handle;
use crate::object::Device;

// CL_INVALID_VALUE if values specified in properties are not valid or if values specified in properties are
// valid but not supported by the device. Ours support none.
fn no_partitions(device: cl_device_id) -> CLResult<()> {
    Handle::<Device>::get(device)?;
    Err(Error::new(Code::InvalidValue, "the device cannot be partitioned"))
}

#[cl_entrypoint(clCreateSubDevices)]
fn create_sub_devices(
    device: cl_device_id,
    _properties: ZeroTerminated<cl_device_partition_property>,
    _num_devices: cl_uint,
    _out_devices: OutList<cl_device_id>,
    _num_devices_ret: Out<cl_uint>,
) -> CLResult<()> {
    no_partitions(device)
}

#[cl_entrypoint(clCreateSubDevicesEXT)]
fn create_sub_devices_ext(
    device: cl_device_id,
    _properties: ZeroTerminated<cl_device_partition_property_ext>,
    _num_entries: cl_uint,
    _out_devices: OutList<cl_device_id>,
    _num_devices: Out<cl_uint>,
) -> CLResult<()> {
    no_partitions(device)
}

// Retaining and releasing has no effect on root devices.

#[cl_entrypoint(clRetainDevice)]
fn retain_device(device: cl_device_id) -> CLResult<()> {
    Handle::<Device>::retain(device)
}

#[cl_entrypoint(clReleaseDevice)]
fn release_device(device: cl_device_id) -> CLResult<()> {
    Handle::<Device>::release(device)
}

#[cl_entrypoint(clRetainDeviceEXT)]
fn retain_device_ext(device: cl_device_id) -> CLResult<()> {
    retain_device(device)
}

#[cl_entrypoint(clReleaseDeviceEXT)]
fn release_device_ext(device: cl_device_id) -> CLResult<()> {
    release_device(device)
}
