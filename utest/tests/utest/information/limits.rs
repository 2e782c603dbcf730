//! Limits: at least those that OpenCL requires, and consistent.

use std::ptr::null_mut;

use gencl_utest::raw::api;
use gencl_utest::{Gpu, Outcome};
use opencl_sys::{CL_INVALID_ARG_INDEX, CL_KERNEL_ARG_INFO_NOT_AVAILABLE, cl_device_info, cl_name_version};

use super::ask::{answer, expect, number, text};
use super::objects::ask;

/// The least that devices with the full profile have (OpenCL 3.0, table of device queries).
const LEAST: &[(cl_device_info, u64)] = &[
    (opencl_sys::CL_DEVICE_MAX_COMPUTE_UNITS, 1),
    (opencl_sys::CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS, 3),
    (opencl_sys::CL_DEVICE_MAX_WORK_GROUP_SIZE, 1),
    (opencl_sys::CL_DEVICE_MAX_PARAMETER_SIZE, 1024),
    (opencl_sys::CL_DEVICE_MEM_BASE_ADDR_ALIGN, 1024),
    (opencl_sys::CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE, 64 << 10),
    (opencl_sys::CL_DEVICE_MAX_CONSTANT_ARGS, 8),
    (opencl_sys::CL_DEVICE_LOCAL_MEM_SIZE, 32 << 10),
    (opencl_sys::CL_DEVICE_PRINTF_BUFFER_SIZE, 1 << 20),
    (opencl_sys::CL_DEVICE_AVAILABLE, 1),
];

/// The least of those that have images.
const LEAST_WITH_IMAGES: &[(cl_device_info, u64)] = &[
    (opencl_sys::CL_DEVICE_MAX_READ_IMAGE_ARGS, 128),
    (opencl_sys::CL_DEVICE_MAX_WRITE_IMAGE_ARGS, 64),
    (opencl_sys::CL_DEVICE_IMAGE2D_MAX_WIDTH, 16384),
    (opencl_sys::CL_DEVICE_IMAGE2D_MAX_HEIGHT, 16384),
    (opencl_sys::CL_DEVICE_IMAGE3D_MAX_WIDTH, 2048),
    (opencl_sys::CL_DEVICE_IMAGE3D_MAX_HEIGHT, 2048),
    (opencl_sys::CL_DEVICE_IMAGE3D_MAX_DEPTH, 2048),
    (opencl_sys::CL_DEVICE_IMAGE_MAX_BUFFER_SIZE, 65536),
    (opencl_sys::CL_DEVICE_IMAGE_MAX_ARRAY_SIZE, 2048),
    (opencl_sys::CL_DEVICE_MAX_SAMPLERS, 16),
];

pub fn limits() -> Outcome {
    let device = Gpu::get()?.device.id();
    let ask = ask!(clGetDeviceInfo, device);
    let images = number(&ask, opencl_sys::CL_DEVICE_IMAGE_SUPPORT)? != 0;
    let images = if images { LEAST_WITH_IMAGES } else { &[] };
    for &(query, least) in LEAST.iter().chain(images) {
        let value = number(&ask, query)?;
        if value < least {
            return Err(format!("query {query:#x}: {value}, OpenCL asks for {least}"));
        }
    }
    let all = number(&ask, opencl_sys::CL_DEVICE_GLOBAL_MEM_SIZE)?;
    let one = number(&ask, opencl_sys::CL_DEVICE_MAX_MEM_ALLOC_SIZE)?;
    if one < (all / 4).clamp(32 << 20, 1 << 30) || one > all {
        return Err(format!("an allocation may have {one} of {all} bytes"));
    }
    Ok(())
}

/// Names of a list with versions.
fn names(bytes: &[u8]) -> Vec<String> {
    let name = |entry: &[u8]| {
        let name: Vec<u8> = entry[4..].iter().copied().take_while(|byte| *byte != 0).collect();
        String::from_utf8_lossy(&name).into_owned()
    };
    bytes.chunks_exact(size_of::<cl_name_version>()).map(name).collect()
}

/// Lists with and without versions agree, and the platform has what its devices have.
pub fn extensions() -> Outcome {
    let gpu = Gpu::get()?;
    let device = ask!(clGetDeviceInfo, gpu.device.id());
    let platform = gpu.device.platform().map_err(|error| error.to_string())?;
    let platform = ask!(clGetPlatformInfo, platform);
    let words = |text: String| -> Vec<String> { text.split_whitespace().map(str::to_owned).collect() };
    let of_device = words(text(&device, opencl_sys::CL_DEVICE_EXTENSIONS)?);
    let of_platform = words(text(&platform, opencl_sys::CL_PLATFORM_EXTENSIONS)?);
    for (list, versions) in [
        (&of_device, answer(&device, opencl_sys::CL_DEVICE_EXTENSIONS_WITH_VERSION)?),
        (&of_platform, answer(&platform, opencl_sys::CL_PLATFORM_EXTENSIONS_WITH_VERSION)?),
    ] {
        let (mut list, mut with) = (list.clone(), names(&versions));
        list.sort();
        with.sort();
        if list != with {
            return Err(format!("{list:?}, with versions {with:?}"));
        }
    }
    match of_platform.iter().find(|name| !of_device.contains(name) && *name != "cl_khr_icd") {
        Some(name) => Err(format!("the platform has {name}, and its only device has not")),
        None => Ok(()),
    }
}

/// Argument information is available if it was requested, for programs from source.
pub fn argument_information() -> Outcome {
    let gpu = Gpu::get()?;
    let source = "kernel void k(global const float *restrict a, constant unsigned int *b, local char *c, float4 d) { }";
    let with = gpu.build_unchecked(source, "-cl-kernel-arg-info")?;
    let kernel = with.kernel("k")?;
    let expected = [
        ("a", "float*", opencl_sys::CL_KERNEL_ARG_ADDRESS_GLOBAL, 3),
        ("b", "uint*", opencl_sys::CL_KERNEL_ARG_ADDRESS_CONSTANT, 1),
        ("c", "char*", opencl_sys::CL_KERNEL_ARG_ADDRESS_LOCAL, 0),
        ("d", "float4", opencl_sys::CL_KERNEL_ARG_ADDRESS_PRIVATE, 0),
    ];
    for (index, expected) in (0u32..).zip(expected) {
        let handle = kernel.get();
        let ask = ask!(clGetKernelArgInfo, handle, index);
        let name = text(&ask, opencl_sys::CL_KERNEL_ARG_NAME)?;
        let ty = text(&ask, opencl_sys::CL_KERNEL_ARG_TYPE_NAME)?;
        let space = number(&ask, opencl_sys::CL_KERNEL_ARG_ADDRESS_QUALIFIER)? as u32;
        let qualifier = number(&ask, opencl_sys::CL_KERNEL_ARG_TYPE_QUALIFIER)?;
        if (name.as_str(), ty.as_str(), space, qualifier) != expected {
            return Err(format!("{:?}, expected {expected:?}", (name, ty, space, qualifier)));
        }
    }
    let refused = |kernel: opencl_sys::cl_kernel, index: u32, code, what: &str| -> Outcome {
        let ask = ask!(clGetKernelArgInfo, kernel, index);
        expect(ask(opencl_sys::CL_KERNEL_ARG_NAME, 0, null_mut(), &mut 0), code, what)
    };
    refused(kernel.get(), 4, CL_INVALID_ARG_INDEX, "an argument that there is not")?;
    let without = gpu.build_unchecked(source, "")?.kernel("k")?;
    if gpu.foreign_platform().is_some() {
        // Intel's driver always has it.
        return Ok(());
    }
    refused(without.get(), 0, CL_KERNEL_ARG_INFO_NOT_AVAILABLE, "information that was not asked for")?;
    let binaries = with.program().get_binaries().map_err(|error| error.to_string())?;
    let binaries: Vec<&[u8]> = binaries.iter().map(Vec::as_slice).collect();
    let devices = [gpu.device.id()];
    // SAFETY: the binary is what the driver gave.
    let again = unsafe { opencl3::program::Program::create_from_binary(&gpu.context, &devices, &binaries) };
    let mut again = again.map_err(|error| error.to_string())?;
    again.build(&devices, "-cl-kernel-arg-info").map_err(|error| error.to_string())?;
    let kernel = opencl3::kernel::Kernel::create(&again, "k").map_err(|error| error.to_string())?;
    refused(kernel.get(), 0, CL_KERNEL_ARG_INFO_NOT_AVAILABLE, "information on a program from a binary")
}
