//! `clCreateContext`, `clCreateContextFromType`

use std::sync::Arc;

use gencl_icd_macros::cl_entrypoint;
use gencl_runtime::{Code, Error};
use opencl_sys::{
    CL_CONTEXT_INTEROP_USER_SYNC, CL_CONTEXT_PLATFORM, CL_FALSE, CL_TRUE, cl_context, cl_context_properties,
    cl_device_id, cl_device_type, cl_platform_id, cl_uint,
};

use crate::abi::{ContextNotify, List, UserData, ZeroTerminated};
use crate::handle::Handle;
use crate::object::{Context, Device, Platform};
use crate::{CLResult, refuse_if};

#[cl_entrypoint(clCreateContext)]
fn create_context(
    properties: ZeroTerminated<cl_context_properties>,
    num_devices: cl_uint,
    devices: List<cl_device_id>,
    notify: ContextNotify,
    user: UserData,
) -> CLResult<cl_context> {
    let properties = checked(properties)?;
    // CL_INVALID_VALUE if devices is NULL or if num_devices is equal to zero.
    // CL_INVALID_DEVICE if any device in devices is not a valid device.
    let devices = Device::list(num_devices, devices)?;
    create(properties, devices, notify, user)
}

#[cl_entrypoint(clCreateContextFromType)]
fn create_context_from_type(
    properties: ZeroTerminated<cl_context_properties>,
    device_type: cl_device_type,
    notify: ContextNotify,
    user: UserData,
) -> CLResult<cl_context> {
    let properties = checked(properties)?;
    // CL_INVALID_DEVICE_TYPE if device_type is not a valid value.
    // CL_DEVICE_NOT_FOUND if no devices that match device_type were found.
    let devices = Device::of_type(device_type)?;
    create(properties, devices, notify, user)
}

fn create(
    properties: Vec<cl_context_properties>,
    devices: Vec<Arc<Handle<Device>>>,
    notify: ContextNotify,
    user: UserData,
) -> CLResult<cl_context> {
    // CL_INVALID_VALUE if pfn_notify is NULL but user_data is not NULL.
    refuse_if(notify.is_null() && !user.is_null(), Code::InvalidValue, "user data without a callback")?;
    let notify = notify.bind(user).map(|notify| -> gencl_runtime::ContextNotify {
        Box::new(move |error: &Error| notify(&error.to_string()))
    });
    let members: Vec<_> = devices.iter().map(|device| device.runtime.clone()).collect();
    let runtime = gencl_runtime::Context::new(&members, notify)?;
    Ok(Handle::create(Context { runtime, devices, properties }))
}

/// Checks a property list.
fn checked(properties: ZeroTerminated<cl_context_properties>) -> CLResult<Vec<cl_context_properties>> {
    let list = properties.raw();
    let mut seen = Vec::new();
    for pair in list.chunks_exact(2) {
        let (name, value) = (pair[0], pair[1]);
        // CL_INVALID_PROPERTY if a context property name in properties is not a supported property name, if
        // the value specified for a supported property name is not valid, or if the same property name is
        // specified more than once.
        refuse_if(seen.contains(&name), Code::InvalidProperty, "a property is given twice")?;
        seen.push(name);
        match name {
            // CL_INVALID_PLATFORM if platform value specified in properties is not a valid platform.
            CL_CONTEXT_PLATFORM => drop(Handle::<Platform>::get(value as cl_platform_id)?),
            CL_CONTEXT_INTEROP_USER_SYNC => {
                let valid = [CL_FALSE, CL_TRUE].map(|value| value as isize).contains(&value);
                refuse_if(!valid, Code::InvalidProperty, "CL_CONTEXT_INTEROP_USER_SYNC is a cl_bool")?;
            }
            _ => return Err(Error::new(Code::InvalidProperty, format!("unknown property {name:#x}"))),
        }
    }
    Ok(list)
}
