//! The versions of OpenCL and OpenCL C that are reported, and what programs find of them.

use gencl_utest::raw::api;
use gencl_utest::{Gpu, Launch, Outcome};
use opencl_sys::{
    CL_DEVICE_NUMERIC_VERSION, CL_DEVICE_OPENCL_C_ALL_VERSIONS, CL_DEVICE_OPENCL_C_FEATURES,
    CL_DEVICE_VERSION, CL_PLATFORM_NUMERIC_VERSION, CL_PLATFORM_VERSION,
};

use super::ask::{answer, number, text};
use super::objects::ask;

/// Names of versions in `CL_VERSION_*` and `-cl-std=CL`, and their macros' values.
const VERSIONS: &[(u32, u32)] = &[(1, 0), (1, 1), (1, 2), (2, 0), (3, 0), (3, 1)];

/// The optional features of OpenCL C 3.0 and 3.1 (OpenCL C 3.1, 6.2.1).
const FEATURES: &[&str] = &[
    "__opencl_c_3d_image_writes",
    "__opencl_c_atomic_order_acq_rel",
    "__opencl_c_atomic_order_seq_cst",
    "__opencl_c_atomic_scope_all_devices",
    "__opencl_c_atomic_scope_device",
    "__opencl_c_device_enqueue",
    "__opencl_c_fp64",
    "__opencl_c_generic_address_space",
    "__opencl_c_images",
    "__opencl_c_int64",
    "__opencl_c_integer_dot_product_input_4x8bit",
    "__opencl_c_integer_dot_product_input_4x8bit_packed",
    "__opencl_c_kernel_clock_scope_device",
    "__opencl_c_kernel_clock_scope_sub_group",
    "__opencl_c_kernel_clock_scope_work_group",
    "__opencl_c_pipes",
    "__opencl_c_program_scope_global_variables",
    "__opencl_c_read_write_images",
    "__opencl_c_subgroups",
    "__opencl_c_work_group_collective_functions",
];

/// Name and version of each entry of a list.
fn named(bytes: &[u8]) -> Vec<(String, u32)> {
    let entry = |entry: &[u8]| {
        let version = u32::from_le_bytes([entry[0], entry[1], entry[2], entry[3]]);
        let name = entry[4..].iter().copied().take_while(|byte| *byte != 0).collect();
        (String::from_utf8(name).unwrap_or_default(), version)
    };
    bytes.chunks_exact(size_of::<opencl_sys::cl_name_version>()).map(entry).collect()
}

/// `CL_MAKE_VERSION` without a patch.
fn packed((major, minor): (u32, u32)) -> u32 {
    major << 22 | minor << 12
}

/// Platform and device are of OpenCL 3.1, in words and numbers.
pub fn of_api() -> Outcome {
    let gpu = Gpu::get()?;
    let platform = gpu.device.platform().map_err(|error| error.to_string())?;
    let (platform, device) = (ask!(clGetPlatformInfo, platform), ask!(clGetDeviceInfo, gpu.device.id()));
    for (ask, words, number_of) in [
        (&platform, CL_PLATFORM_VERSION, CL_PLATFORM_NUMERIC_VERSION),
        (&device, CL_DEVICE_VERSION, CL_DEVICE_NUMERIC_VERSION),
    ] {
        let (words, number) = (text(ask, words)?, number(ask, number_of)?);
        if !words.starts_with("OpenCL 3.1 ") || number != u64::from(packed((3, 1))) {
            return Err(format!("{words}, {number:#x}"));
        }
    }
    Ok(())
}

/// Values that a kernel finds.
fn found(options: &str, expressions: &[String]) -> Result<Vec<i32>, String> {
    let gpu = Gpu::get()?;
    let lines: String =
        expressions.iter().enumerate().map(|(i, text)| format!("p[{i}] = {text};\n")).collect();
    let out = gpu.buffer(&vec![-1i32; expressions.len()])?;
    let program = gpu.build_unchecked(&format!("kernel void k(global int *p) {{\n{lines}}}"), options)?;
    program.run("k", &[out.arg()], &Launch::linear(1, 1))?;
    out.read()
}

/// What is listed compiles, and is what it is called.
pub fn of_language() -> Outcome {
    let device = ask!(clGetDeviceInfo, Gpu::get()?.device.id());
    let listed = named(&answer(&device, CL_DEVICE_OPENCL_C_ALL_VERSIONS)?);
    for required in [(1, 0), (1, 1), (1, 2), (3, 0), (3, 1)] {
        if !listed.contains(&("OpenCL C".to_owned(), packed(required))) {
            return Err(format!("{required:?} is not among {listed:?}"));
        }
    }
    let value = |(major, minor): (u32, u32)| (100 * major + 10 * minor) as i32;
    let constants = VERSIONS.iter().map(|(major, minor)| format!("CL_VERSION_{major}_{minor}"));
    let expressions: Vec<_> = ["__OPENCL_C_VERSION__", "__OPENCL_VERSION__"]
        .map(str::to_owned)
        .into_iter()
        .chain(constants)
        .collect();
    for version in
        VERSIONS.iter().filter(|version| listed.iter().any(|(_, other)| *other == packed(**version)))
    {
        let options = format!("-cl-std=CL{}.{}", version.0, version.1);
        let expected =
            [value(*version), value((3, 1))].into_iter().chain(VERSIONS.iter().copied().map(value));
        let (expected, found) = (expected.collect::<Vec<_>>(), found(&options, &expressions)?);
        if found != expected {
            return Err(format!("{options}: {expressions:?} are {found:?}, expected {expected:?}"));
        }
    }
    match Gpu::get()?.build_unchecked("kernel void k() {}", "-cl-std=CL3.2") {
        Err(text) if text.contains("CL_INVALID_BUILD_OPTIONS") => Ok(()),
        other => Err(format!("-cl-std=CL3.2: {:?}", other.err())),
    }
}

/// Programs find each feature that is listed as a macro, and no other.
pub fn features() -> Outcome {
    let device = ask!(clGetDeviceInfo, Gpu::get()?.device.id());
    let listed = named(&answer(&device, CL_DEVICE_OPENCL_C_FEATURES)?);
    if let Some((name, _)) = listed.iter().find(|(name, _)| !FEATURES.contains(&name.as_str())) {
        return Err(format!("{name} is not in the table"));
    }
    let count = FEATURES.len();
    let lines = FEATURES.iter().enumerate();
    let lines: String = lines.map(|(i, name)| format!("#ifdef {name}\np[{i}] = {name};\n#endif\n")).collect();
    let gpu = Gpu::get()?;
    for options in ["-cl-std=CL3.0", "-cl-std=CL3.1"] {
        let out = gpu.buffer(&vec![0i32; count])?;
        let source = format!("kernel void k(global int *p) {{\n{lines}}}");
        gpu.build_unchecked(&source, options)?.run("k", &[out.arg()], &Launch::linear(1, 1))?;
        for (name, found) in FEATURES.iter().zip(out.read()?) {
            if found != i32::from(listed.iter().any(|(other, _)| other == name)) {
                return Err(format!("{options}: {name} is {found}, the device lists {listed:?}"));
            }
        }
    }
    Ok(())
}
