//! `clCreateSemaphoreWithPropertiesKHR`

use gencl_icd_macros::cl_entrypoint;
use gencl_runtime::{Code, Error};
use opencl_sys::{
    CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR, CL_SEMAPHORE_TYPE_KHR, cl_context, cl_device_id, cl_semaphore_khr,
    cl_semaphore_properties_khr,
};

use super::TYPES;
use crate::abi::ZeroTerminated;
use crate::handle::Handle;
use crate::object::{Context, Semaphore};
use crate::{CLResult, refuse_if};

const TYPE: cl_semaphore_properties_khr = CL_SEMAPHORE_TYPE_KHR as cl_semaphore_properties_khr;
/// Its value is a list of handles, which ends with CL_SEMAPHORE_DEVICE_HANDLE_LIST_END_KHR, a 0.
const DEVICES: cl_semaphore_properties_khr =
    CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR as cl_semaphore_properties_khr;

#[cl_entrypoint(clCreateSemaphoreWithPropertiesKHR)]
fn create_semaphore_with_properties(
    context: cl_context,
    properties: ZeroTerminated<cl_semaphore_properties_khr>,
) -> CLResult<cl_semaphore_khr> {
    // CL_INVALID_CONTEXT if context is not a valid context.
    let context = Handle::<Context>::get(context)?;
    let (mut kind, mut devices) = (None, None);
    // CL_INVALID_PROPERTY if a property name in sema_props is not a supported property name, if the value specified for
    // a supported property name is not valid, or if the same property name is specified more than once.
    let invalid = |what| Error::new(Code::InvalidProperty, what);
    let properties = properties.checked_with_lists(
        |name| name == DEVICES,
        |name, value| {
            let before = match name {
                TYPE => kind.replace(value[0]).is_some(),
                DEVICES => devices.replace(value.to_vec()).is_some(),
                _ => return Err(invalid(format!("unknown property {name:#x}"))),
            };
            if before { Err(invalid("a property stands twice".to_owned())) } else { Ok(()) }
        },
    )?;
    // CL_INVALID_VALUE if sema_props is NULL, or if sema_props do not specify <property, value> pairs for minimum set of
    // properties (i.e. CL_SEMAPHORE_TYPE_KHR).
    let kind = kind.ok_or_else(|| Error::new(Code::InvalidValue, "no type of semaphore"))?;
    let known = TYPES.iter().any(|known| cl_semaphore_properties_khr::from(*known) == kind);
    refuse_if(!known, Code::InvalidProperty, "unknown type of semaphore")?;
    // CL_INVALID_DEVICE if CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR does not identify exactly one valid device, or if it is
    // not one of the devices within context.
    let device = match devices.as_deref() {
        None => None,
        Some([device]) => Some(context.check_device(*device as usize as cl_device_id)?),
        Some(_) => return Err(Error::new(Code::InvalidDevice, "a semaphore has one device")),
    };
    // CL_INVALID_PROPERTY if context is a multiple device context and sema_props does not specify
    // CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR.
    let runtime = gencl_runtime::Semaphore::new(&context.runtime, device.map(|device| &device.runtime))?;
    Ok(Handle::create(Semaphore { runtime, context, properties }))
}
