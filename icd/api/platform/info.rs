//! `clGetPlatformInfo`

use gencl_icd_macros::cl_entrypoint;
use gencl_program::diagnosis::{Diagnosis, PLATFORM_QUERY};
use gencl_runtime::{Code, Error};
use opencl_sys::{
    CL_PLATFORM_EXTENSIONS, CL_PLATFORM_EXTENSIONS_WITH_VERSION, CL_PLATFORM_HOST_TIMER_RESOLUTION,
    CL_PLATFORM_ICD_SUFFIX_KHR, CL_PLATFORM_NAME, CL_PLATFORM_NUMERIC_VERSION, CL_PLATFORM_PROFILE,
    CL_PLATFORM_SEMAPHORE_TYPES_KHR, CL_PLATFORM_VENDOR, CL_PLATFORM_VERSION, cl_platform_id,
    cl_platform_info,
};

use crate::CLResult;
use crate::abi::{Bytes, Out};
use crate::api::semaphore;
use crate::info::{InfoWriter, Written};
use crate::object::Platform;
use crate::versions::{self, NUMERIC_VERSION, Named};

/// Resolution of clGetHostTimer in nanoseconds.
const HOST_TIMER_RESOLUTION_NS: u64 = 1;

#[cl_entrypoint(clGetPlatformInfo)]
fn get_platform_info(
    platform: cl_platform_id,
    name: cl_platform_info,
    room: usize,
    value: Bytes,
    size_ret: Out<usize>,
) -> CLResult<Written> {
    Platform::check_or_null(platform)?;
    let info = InfoWriter::new(room, value, size_ret);
    match name {
        CL_PLATFORM_PROFILE => info.string("FULL_PROFILE"),
        CL_PLATFORM_VERSION => info.string(&versions::version()),
        CL_PLATFORM_NUMERIC_VERSION => info.value(NUMERIC_VERSION),
        CL_PLATFORM_NAME => info.string("gencl"),
        CL_PLATFORM_VENDOR => info.string("The gencl project"),
        CL_PLATFORM_EXTENSIONS => info.string(&versions::names(&extensions())),
        CL_PLATFORM_EXTENSIONS_WITH_VERSION => info.values(&versions::with_versions(&extensions())),
        CL_PLATFORM_ICD_SUFFIX_KHR => info.string("GENCL"),
        CL_PLATFORM_HOST_TIMER_RESOLUTION => info.value(HOST_TIMER_RESOLUTION_NS),
        CL_PLATFORM_SEMAPHORE_TYPES_KHR => info.values(&semaphore::TYPES),
        PLATFORM_QUERY => info.string(&diagnosis()?),
        _ => info.unknown(name),
    }
}

/// The extensions that all devices have.
fn extensions() -> Vec<Named> {
    versions::extensions(gencl_runtime::Platform::get().devices().iter().map(|device| device.facts()))
}

/// The driver's report on itself as JSON.
fn diagnosis() -> CLResult<String> {
    let commit = option_env!("GENCL_COMMIT").map(str::to_owned);
    let report = Diagnosis { commit, ..gencl_runtime::diagnosis() };
    serde_json::to_string(&report).map_err(|error| Error::new(Code::OutOfHostMemory, error.to_string()))
}
