//! What a device takes of SPIR-V: `CL_DEVICE_SPIRV_*` of `clGetDeviceInfo`

use std::ffi::{CStr, c_char};

use gencl_program::Profile;
use gencl_spirv::Features;

fn features(profile: &Profile) -> Features {
    let &Profile { half, double, long_atomics, generic_pointers, .. } = profile;
    Features { half, double, long_atomics, generic_pointers }
}

fn pointers(names: impl Iterator<Item = &'static CStr>) -> Vec<*const c_char> {
    names.map(CStr::as_ptr).collect()
}

/// `CL_DEVICE_SPIRV_EXTENDED_INSTRUCTION_SETS`
pub(super) fn instruction_sets() -> Vec<*const c_char> {
    pointers(gencl_spirv::instruction_sets())
}

/// `CL_DEVICE_SPIRV_EXTENSIONS`
pub(super) fn extensions(profile: &Profile) -> Vec<*const c_char> {
    pointers(gencl_spirv::extensions(features(profile)))
}

/// `CL_DEVICE_SPIRV_CAPABILITIES`
pub(super) fn capabilities(profile: &Profile) -> Vec<u32> {
    gencl_spirv::capabilities(features(profile)).collect()
}
