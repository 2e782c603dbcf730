//! The OpenCL extensions of devices.

use crate::Profile;
use crate::profile::Optional;

/// The extensions that work completely, and the profiles that have them. Programs may enable them with
/// `#pragma OPENCL EXTENSION`.
#[rustfmt::skip]
const EXTENSIONS: &[Optional] = &[
    ("cl_khr_icd", |_| true),
    ("cl_khr_extended_versioning", |_| true),
    ("cl_khr_create_command_queue", |_| true),
    ("cl_khr_suggested_local_work_size", |_| true),
    ("cl_khr_device_uuid", |_| true),
    ("cl_khr_il_program", |_| true),
    ("cl_khr_spirv_queries", |_| true),
    ("cl_khr_spirv_linkonce_odr", |_| true),
    ("cl_khr_spirv_extended_debug_info", |_| true),
    ("cl_khr_expect_assume", |_| true),
    ("cl_khr_spirv_no_integer_wrap_decoration", |_| true),
    ("cl_khr_command_buffer", |_| true),
    ("cl_khr_command_buffer_mutable_dispatch", |_| true),
    ("cl_khr_semaphore", |_| true),
    ("cl_khr_priority_hints", |_| true),
    ("cl_khr_throttle_hints", |_| true),
    ("cl_khr_byte_addressable_store", |_| true),
    ("cl_khr_extended_bit_ops", |_| true),
    ("cl_khr_integer_dot_product", |_| true),
    ("cl_khr_kernel_clock", |_| true),
    ("cl_khr_fp16", |p| p.half),
    ("cl_khr_fp64", |p| p.double),
    ("cl_khr_global_int32_base_atomics", |_| true),
    ("cl_khr_global_int32_extended_atomics", |_| true),
    ("cl_khr_local_int32_base_atomics", |_| true),
    ("cl_khr_local_int32_extended_atomics", |_| true),
    ("cl_khr_int64_base_atomics", |p| p.long_atomics),
    ("cl_khr_int64_extended_atomics", |p| p.long_atomics),
    ("cl_khr_subgroups", |_| true),
    ("cl_khr_subgroup_extended_types", |_| true),
    ("cl_khr_subgroup_non_uniform_vote", |_| true),
    ("cl_khr_subgroup_ballot", |_| true),
    ("cl_khr_subgroup_non_uniform_arithmetic", |_| true),
    ("cl_khr_subgroup_shuffle", |_| true),
    ("cl_khr_subgroup_shuffle_relative", |_| true),
    ("cl_khr_subgroup_clustered_reduce", |_| true),
    ("cl_khr_subgroup_rotate", |_| true),
    ("cl_intel_required_subgroup_size", |_| true),
    ("cl_intel_unified_shared_memory", |p| p.shared_memory),
    ("cl_intel_subgroups", |_| true),
    ("cl_intel_subgroups_char", |_| true),
    ("cl_intel_subgroups_short", |_| true),
    ("cl_intel_subgroups_long", |_| true),
    ("cl_intel_split_work_group_barrier", |_| true),
    ("cl_khr_image2d_from_buffer", |_| true),
    ("cl_khr_3d_image_writes", |_| true),
    ("cl_khr_depth_images", |_| true),
    ("cl_ext_image_requirements_info", |_| true),
    ("cl_intel_media_block_io", |_| true),
    (CXX_FOR_OPENCL, |p| p.generic_pointers),
];

/// C++ for OpenCL 1.0, whose pointers are generic. It is a language, not an extension of one: the name is no macro.
pub const CXX_FOR_OPENCL: &str = "cl_ext_cxx_for_opencl";

impl Profile {
    /// The extensions of devices with this profile.
    pub fn extensions(&self) -> impl Iterator<Item = &'static str> {
        EXTENSIONS.iter().filter(|(_, has)| has(self)).map(|(name, _)| *name)
    }
}
