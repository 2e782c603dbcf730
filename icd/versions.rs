//! Versions and extensions that the platform and its devices report.

use gencl_device_info::Family;
use gencl_program::{Optional, Profile};
use gencl_runtime::DeviceFacts;
use opencl_sys::{CL_NAME_VERSION_MAX_NAME_SIZE, cl_name_version, cl_version};

/// `CL_MAKE_VERSION`
pub const fn make_version(major: u32, minor: u32, patch: u32) -> cl_version {
    (major << 22) | (minor << 12) | patch
}

/// OpenCL 3.1
pub const NUMERIC_VERSION: cl_version = make_version(3, 1, 0);

/// `CL_PLATFORM_VERSION`, `CL_DEVICE_VERSION`
pub fn version() -> String {
    format!("OpenCL 3.1 gencl {}", env!("CARGO_PKG_VERSION"))
}

/// A name with its version.
pub type Named = (&'static str, cl_version);

const V1: cl_version = make_version(1, 0, 0);

/// Extensions of another version than 1.0.0: those of the texts that are implemented.
const VERSIONS: &[Named] = &[
    ("cl_khr_integer_dot_product", make_version(2, 0, 0)),
    ("cl_khr_command_buffer", make_version(0, 9, 8)),
    ("cl_khr_command_buffer_mutable_dispatch", make_version(0, 9, 5)),
    ("cl_khr_semaphore", make_version(1, 0, 1)),
];

fn with_version(name: &'static str) -> Named {
    VERSIONS.iter().find(|other| other.0 == name).copied().unwrap_or((name, V1))
}

/// The family whose extensions the platform has when there are no devices: the one that is simulated by default.
const NO_DEVICE: Family = Family::Skl;

/// Extensions of the platform: those that all of `devices` have.
pub fn extensions<'a>(devices: impl Iterator<Item = &'a DeviceFacts>) -> Vec<Named> {
    let mut lists = devices.map(device_extensions);
    let first =
        lists.next().unwrap_or_else(|| Profile::of(NO_DEVICE).extensions().map(with_version).collect());
    lists.fold(first, |all, list| all.into_iter().filter(|name| list.contains(name)).collect())
}

/// Extensions of a device.
pub fn device_extensions(facts: &DeviceFacts) -> Vec<Named> {
    let on_a_bus = facts.pci_address.map(|_| ("cl_khr_pci_bus_info", V1));
    let of_intel = facts.family.info().ip_version.map(|_| ("cl_intel_device_attribute_query", V1));
    facts.profile().extensions().map(with_version).chain(on_a_bus).chain(of_intel).collect()
}

/// `CL_DEVICE_OPENCL_C_ALL_VERSIONS`
pub const OPENCL_C_VERSIONS: &[Named] = &[
    ("OpenCL C", make_version(1, 0, 0)),
    ("OpenCL C", make_version(1, 1, 0)),
    ("OpenCL C", make_version(1, 2, 0)),
    ("OpenCL C", make_version(3, 0, 0)),
    ("OpenCL C", make_version(3, 1, 0)),
];

/// `CL_DEVICE_ILS_WITH_VERSION`: those that OpenCL 3.1 requires (Appendix E), and newer ones.
pub const ILS: &[Named] = &[
    ("SPIR-V", make_version(1, 6, 0)),
    ("SPIR-V", make_version(1, 5, 0)),
    ("SPIR-V", make_version(1, 4, 0)),
    ("SPIR-V", make_version(1, 3, 0)),
    ("SPIR-V", make_version(1, 2, 0)),
    ("SPIR-V", make_version(1, 1, 0)),
    ("SPIR-V", make_version(1, 0, 0)),
];

/// `CL_DEVICE_IL_VERSION`: names with major and minor versions, separated by spaces.
pub fn il_versions() -> String {
    let name = |(name, version): &Named| format!("{name}_{}.{}", version >> 22, version >> 12 & 0x3ff);
    ILS.iter().map(name).collect::<Vec<_>>().join(" ")
}

/// The optional features of OpenCL C that work, and the profiles that have them. [`FEATURES_OF_3_1`] came with 3.1.
#[rustfmt::skip]
const OPENCL_C_FEATURES: &[Optional] = &[
    ("__opencl_c_fp64", |p| p.double),
    ("__opencl_c_generic_address_space", |p| p.generic_pointers),
    ("__opencl_c_images", |_| true),
    ("__opencl_c_read_write_images", |_| true),
    ("__opencl_c_3d_image_writes", |_| true),
    ("__opencl_c_int64", |_| true),
    ("__opencl_c_program_scope_global_variables", |_| true),
    ("__opencl_c_subgroups", |_| true),
    ("__opencl_c_work_group_collective_functions", |_| true),
    ("__opencl_c_atomic_order_acq_rel", |_| true),
    ("__opencl_c_atomic_order_seq_cst", |_| true),
    ("__opencl_c_atomic_scope_device", |_| true),
    ("__opencl_c_atomic_scope_all_devices", |_| true),
    ("__opencl_c_kernel_clock_scope_sub_group", |_| true),
    ("__opencl_c_integer_dot_product_input_4x8bit", |_| true),
    ("__opencl_c_integer_dot_product_input_4x8bit_packed", |_| true),
];

/// What the names of features begin with that came with OpenCL C 3.1.
const FEATURES_OF_3_1: &str = "__opencl_c_integer_dot_product_";

/// `CL_DEVICE_OPENCL_C_FEATURES`
pub fn opencl_c_features(profile: &Profile) -> Vec<Named> {
    let has = OPENCL_C_FEATURES.iter().filter(|(_, has)| has(profile)).map(|(name, _)| *name);
    let version = |name: &str| make_version(3, u32::from(name.starts_with(FEATURES_OF_3_1)), 0);
    has.map(|name| (name, version(name))).collect()
}

/// The names, separated by spaces.
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
        assert_eq!(NUMERIC_VERSION, 0xc0_1000);
        assert_eq!(make_version(1, 2, 0), 0x40_2000);
    }

    #[test]
    fn names_fit_and_end_with_zero() {
        let wide = &Profile::of(NO_DEVICE);
        for list in [&extensions(std::iter::empty())[..], OPENCL_C_VERSIONS, &opencl_c_features(wide), ILS] {
            for entry in with_versions(list) {
                assert_eq!(entry.name[CL_NAME_VERSION_MAX_NAME_SIZE - 1], 0);
            }
        }
        assert_eq!(names(&[("a", 1), ("b", 2)]), "a b");
        assert_eq!(
            il_versions(),
            "SPIR-V_1.6 SPIR-V_1.5 SPIR-V_1.4 SPIR-V_1.3 SPIR-V_1.2 SPIR-V_1.1 SPIR-V_1.0"
        );
    }
}
