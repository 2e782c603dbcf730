//! Versions and extensions that we state.

use gencl_runtime::DeviceFacts;
use opencl_sys::{CL_NAME_VERSION_MAX_NAME_SIZE, cl_name_version, cl_version};

/// `CL_MAKE_VERSION`
pub const fn make_version(major: u32, minor: u32, patch: u32) -> cl_version {
    (major << 22) | (minor << 12) | patch
}

/// OpenCL 3.0
pub const NUMERIC_VERSION: cl_version = make_version(3, 0, 0);

/// `CL_PLATFORM_VERSION`, `CL_DEVICE_VERSION`
pub fn version() -> String {
    format!("OpenCL 3.0 gencl {}", env!("CARGO_PKG_VERSION"))
}

/// A name with its version.
pub type Named = (&'static str, cl_version);

const V1: cl_version = make_version(1, 0, 0);

/// Extensions of every device, all of version 1.0.0, and so of the platform: what all devices have is to be reported there too.
pub fn extensions() -> Vec<Named> {
    gencl_program::EXTENSIONS.iter().map(|name| (*name, V1)).collect()
}

/// Extensions of a device: all of [`extensions`], and what it has beyond.
pub fn device_extensions(facts: &DeviceFacts) -> Vec<Named> {
    let on_a_bus = facts.pci_address.map(|_| ("cl_khr_pci_bus_info", V1));
    let with_images = facts.images.map(|_| ("cl_khr_image2d_from_buffer", V1));
    extensions().into_iter().chain(on_a_bus).chain(with_images).collect()
}

/// `CL_DEVICE_OPENCL_C_ALL_VERSIONS`
pub const OPENCL_C_VERSIONS: &[Named] = &[
    ("OpenCL C", make_version(1, 0, 0)),
    ("OpenCL C", make_version(1, 1, 0)),
    ("OpenCL C", make_version(1, 2, 0)),
    ("OpenCL C", make_version(3, 0, 0)),
];

/// `CL_DEVICE_OPENCL_C_FEATURES`: the optional parts of OpenCL C 3.0 that work.
pub const OPENCL_C_FEATURES: &[Named] = &[
    ("__opencl_c_fp64", make_version(3, 0, 0)),
    ("__opencl_c_generic_address_space", make_version(3, 0, 0)),
    ("__opencl_c_int64", make_version(3, 0, 0)),
    ("__opencl_c_program_scope_global_variables", make_version(3, 0, 0)),
    ("__opencl_c_subgroups", make_version(3, 0, 0)),
    ("__opencl_c_work_group_collective_functions", make_version(3, 0, 0)),
    ("__opencl_c_atomic_order_acq_rel", make_version(3, 0, 0)),
    ("__opencl_c_atomic_order_seq_cst", make_version(3, 0, 0)),
    ("__opencl_c_atomic_scope_device", make_version(3, 0, 0)),
];

/// The names, with spaces between them.
pub fn names(list: &[Named]) -> String {
    list.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(" ")
}

/// As the queries of OpenCL 3.0 return them.
pub fn with_versions(list: &[Named]) -> Vec<cl_name_version> {
    list.iter()
        .map(|&(text, version)| {
            let mut name = [0; CL_NAME_VERSION_MAX_NAME_SIZE];
            name[..text.len()].copy_from_slice(text.as_bytes());
            cl_name_version { version, name }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_numbers_have_the_layout_of_the_api() {
        assert_eq!(NUMERIC_VERSION, 0xc0_0000);
        assert_eq!(make_version(1, 2, 0), 0x40_2000);
    }

    #[test]
    fn names_fit_and_end_with_zero() {
        for list in [&extensions()[..], OPENCL_C_VERSIONS, OPENCL_C_FEATURES] {
            for entry in with_versions(list) {
                assert_eq!(entry.name[CL_NAME_VERSION_MAX_NAME_SIZE - 1], 0);
            }
        }
        assert_eq!(names(&[("a", 1), ("b", 2)]), "a b");
    }
}
