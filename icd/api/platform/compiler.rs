//! `clUnloadCompiler`, `clUnloadPlatformCompiler`

use gencl_icd_macros::cl_entrypoint;
use opencl_sys::cl_platform_id;

use crate::CLResult;
use crate::object::Platform;

// Both are hints. The compile server ends by itself after some idle time.

#[cl_entrypoint(clUnloadCompiler)]
fn unload_compiler() -> CLResult<()> {
    Ok(())
}

#[cl_entrypoint(clUnloadPlatformCompiler)]
fn unload_platform_compiler(platform: cl_platform_id) -> CLResult<()> {
    Platform::check_or_null(platform)
}
