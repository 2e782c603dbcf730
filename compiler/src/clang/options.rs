//! Clang's arguments: the device, and build options.

use gencl_program::options::BuildOptions;
use gencl_program::{CXX_FOR_OPENCL, Optional, Profile};

/// Extensions and features that clang knows, with a predicate for the targets that have them.
#[rustfmt::skip]
const FEATURES: &[Optional] = &[
    ("cl_khr_global_int32_base_atomics,+cl_khr_global_int32_extended_atomics", |_| true),
    ("cl_khr_local_int32_base_atomics,+cl_khr_local_int32_extended_atomics", |_| true),
    ("cl_khr_byte_addressable_store,+cl_khr_subgroups,+__cl_clang_bitfields", |_| true),
    ("__opencl_c_int64,+__opencl_c_program_scope_global_variables,+__opencl_c_subgroups", |_| true),
    ("__opencl_c_atomic_order_acq_rel,+__opencl_c_atomic_order_seq_cst", |_| true),
    ("__opencl_c_atomic_scope_device,+__opencl_c_atomic_scope_all_devices", |_| true),
    ("cl_khr_int64_base_atomics,+cl_khr_int64_extended_atomics", |p| p.long_atomics),
    ("cl_khr_fp16", |p| p.half),
    ("cl_khr_fp64,+__opencl_c_fp64", |p| p.double),
    ("__opencl_c_generic_address_space", |p| p.generic_pointers),
    ("__opencl_c_images,+__opencl_c_read_write_images,+__opencl_c_3d_image_writes", |_| true),
    ("cl_khr_3d_image_writes,+cl_khr_depth_images", |_| true),
];

/// Makes clang's arguments for a device with this profile of an application's build options.
#[must_use]
pub fn arguments(options: &BuildOptions, profile: &Profile) -> Vec<String> {
    let features = FEATURES
        .iter()
        .filter(|(_, has)| has(profile))
        .map(|(name, _)| *name)
        .fold(String::new(), |list, name| list + ",+" + name);
    let version = "-D__OPENCL_VERSION__=310".to_owned();
    let device = [version, format!("-cl-ext=-all{features}")].into_iter();
    // Clang only defines macros for extensions that it knows.
    let extensions = profile.extensions().filter(|name| *name != CXX_FOR_OPENCL);
    let extensions = extensions.map(|name| format!("-D{name}=1"));
    device.chain(extensions).chain(options.arguments.iter().cloned()).collect()
}
