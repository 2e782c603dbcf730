//! `cl_khr_semaphore`

pub mod create;
pub mod info;
pub mod references;

use opencl_sys::{CL_SEMAPHORE_TYPE_BINARY_KHR, cl_semaphore_type_khr};

/// `CL_PLATFORM_SEMAPHORE_TYPES_KHR`, `CL_DEVICE_SEMAPHORE_TYPES_KHR`
pub const TYPES: [cl_semaphore_type_khr; 1] = [CL_SEMAPHORE_TYPE_BINARY_KHR];
