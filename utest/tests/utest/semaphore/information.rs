//! Queries of semaphores, and the types that device and platform have.

use gencl_utest::raw::api;
use gencl_utest::{Gpu, Outcome};
use opencl_sys::{CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR, CL_SEMAPHORE_TYPE_BINARY_KHR, CL_SEMAPHORE_TYPE_KHR};

use super::{BINARY, Semaphore};
use crate::information::{HANDLE, Query, Shape, UINT, ULONG, answer, ask, check_all, number, queries};
use crate::memory::same;

const SEMAPHORE: &[Query] = queries! {
    CL_SEMAPHORE_CONTEXT_KHR: HANDLE,
    CL_SEMAPHORE_REFERENCE_COUNT_KHR: UINT,
    CL_SEMAPHORE_PROPERTIES_KHR: Shape::List(8),
    CL_SEMAPHORE_TYPE_KHR: UINT,
    CL_SEMAPHORE_PAYLOAD_KHR: ULONG,
    CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR: HANDLE,
};

/// With and without a device.
pub fn information() -> Outcome {
    let gpu = Gpu::get()?;
    let (device, context) = (gpu.device.id() as u64, gpu.context.get() as u64);
    let kind = [CL_SEMAPHORE_TYPE_KHR.into(), u64::from(CL_SEMAPHORE_TYPE_BINARY_KHR)];
    let list = [CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR.into(), device, 0];
    let orders = [vec![], [&kind[..], &list, &[0]].concat(), [&list[..], &kind, &[0]].concat()];
    for properties in orders {
        let properties = if properties.is_empty() { BINARY.to_vec() } else { properties };
        let semaphore = Semaphore::with(&properties)?;
        let ask = semaphore.about();
        check_all("a semaphore", SEMAPHORE, &ask)?;
        let found = [
            number(&ask, opencl_sys::CL_SEMAPHORE_CONTEXT_KHR)?,
            number(&ask, opencl_sys::CL_SEMAPHORE_REFERENCE_COUNT_KHR)?,
            number(&ask, CL_SEMAPHORE_TYPE_KHR)?,
            number(&ask, opencl_sys::CL_SEMAPHORE_PAYLOAD_KHR)?,
            number(&ask, CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR)?,
        ];
        same(&found, &[context, 1, CL_SEMAPHORE_TYPE_BINARY_KHR.into(), 0, device])?;
        let bytes = answer(&ask, opencl_sys::CL_SEMAPHORE_PROPERTIES_KHR)?;
        let words: Vec<u64> = bytes.as_chunks().0.iter().map(|word| u64::from_ne_bytes(*word)).collect();
        same(&words, &properties)?;
    }
    let of_device = ask!(clGetDeviceInfo, gpu.device.id());
    let of_platform = ask!(clGetPlatformInfo, gpu.device.platform().map_err(|error| error.to_string())?);
    let types = [
        answer(&of_device, opencl_sys::CL_DEVICE_SEMAPHORE_TYPES_KHR)?,
        answer(&of_platform, opencl_sys::CL_PLATFORM_SEMAPHORE_TYPES_KHR)?,
    ];
    for types in types {
        let binary = CL_SEMAPHORE_TYPE_BINARY_KHR.to_ne_bytes();
        if !types.as_chunks().0.contains(&binary) {
            return Err(format!("no binary semaphores in {types:?}"));
        }
    }
    Ok(())
}
