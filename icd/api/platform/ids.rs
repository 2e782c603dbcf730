//! `clGetPlatformIDs`, `clIcdGetPlatformIDsKHR`

use gencl_icd_macros::cl_entrypoint;
use gencl_runtime::Code;
use opencl_sys::{cl_platform_id, cl_uint};

use crate::abi::{Out, OutList};
use crate::object::Platform;
use crate::{CLResult, refuse_if};

#[cl_entrypoint(clGetPlatformIDs)]
fn get_platform_ids(
    num_entries: cl_uint,
    platforms: OutList<cl_platform_id>,
    num_platforms: Out<cl_uint>,
) -> CLResult<()> {
    crate::start();
    // CL_INVALID_VALUE if num_entries is equal to zero and platforms is not NULL or if both num_platforms and
    // platforms are NULL.
    refuse_if(num_entries == 0 && !platforms.is_null(), Code::InvalidValue, "num_entries is 0")?;
    refuse_if(
        num_platforms.is_null() && platforms.is_null(),
        Code::InvalidValue,
        "platforms and num_platforms are null",
    )?;
    num_platforms.write(1);
    // SAFETY: num_entries is what platforms has room for.
    unsafe { platforms.write(&[Platform::handle().raw()], num_entries as usize) }
    Ok(())
}

#[cl_entrypoint(clIcdGetPlatformIDsKHR)]
fn icd_get_platform_ids(
    num_entries: cl_uint,
    platforms: OutList<cl_platform_id>,
    num_platforms: Out<cl_uint>,
) -> CLResult<()> {
    get_platform_ids(num_entries, platforms, num_platforms)
}
