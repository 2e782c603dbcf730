//! What belongs to each extension that is reported: queries, properties, functions, and the macro that
//! programs ask for.

use std::ffi::CString;

use gencl_utest::raw::api;
use gencl_utest::{Gpu, Launch, Outcome};
use opencl_sys::{cl_int, cl_queue_properties};

use super::ask::{NAMES, Query, Shape, UINT, ULONG, check_all, number, queries, text};
use super::objects::ask;

/// What an extension has.
struct Extension {
    name: &'static str,
    /// Of platforms.
    platform: &'static [Query],
    /// Of devices.
    device: &'static [Query],
    /// Of `clGetKernelWorkGroupInfo`.
    work_group: &'static [Query],
    /// Of `clGetKernelSubGroupInfo`, for a local size.
    sub_group: &'static [Query],
    /// Of queues, and its values.
    properties: &'static [(u64, &'static [u32])],
    functions: &'static [&'static str],
}

const fn named(name: &'static str) -> Extension {
    let (platform, device, work_group, sub_group): (&[Query], &[Query], &[Query], &[Query]) =
        (&[], &[], &[], &[]);
    Extension { name, platform, device, work_group, sub_group, properties: &[], functions: &[] }
}

const SUB_GROUP: &[Query] = queries! {
    CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE: super::SIZE,
    CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE: super::SIZE,
};

/// Every extension that any of the devices reports.
const EXTENSIONS: &[Extension] = &[
    Extension {
        platform: queries! { CL_PLATFORM_ICD_SUFFIX_KHR: Shape::Text, },
        functions: &["clIcdGetPlatformIDsKHR"],
        ..named("cl_khr_icd")
    },
    Extension {
        platform: queries! {
            CL_PLATFORM_NUMERIC_VERSION_KHR: UINT,
            CL_PLATFORM_EXTENSIONS_WITH_VERSION_KHR: NAMES,
        },
        device: queries! {
            CL_DEVICE_NUMERIC_VERSION_KHR: UINT,
            CL_DEVICE_OPENCL_C_NUMERIC_VERSION_KHR: UINT,
            CL_DEVICE_EXTENSIONS_WITH_VERSION_KHR: NAMES,
            CL_DEVICE_ILS_WITH_VERSION_KHR: NAMES,
            CL_DEVICE_BUILT_IN_KERNELS_WITH_VERSION_KHR: NAMES,
        },
        ..named("cl_khr_extended_versioning")
    },
    Extension {
        functions: &["clCreateCommandQueueWithPropertiesKHR"],
        ..named("cl_khr_create_command_queue")
    },
    Extension {
        device: queries! {
            CL_DEVICE_COMMAND_BUFFER_CAPABILITIES_KHR: ULONG,
            CL_DEVICE_COMMAND_BUFFER_SUPPORTED_QUEUE_PROPERTIES_KHR: ULONG,
            CL_DEVICE_COMMAND_BUFFER_REQUIRED_QUEUE_PROPERTIES_KHR: ULONG,
        },
        functions: &[
            "clCreateCommandBufferKHR",
            "clFinalizeCommandBufferKHR",
            "clRetainCommandBufferKHR",
            "clReleaseCommandBufferKHR",
            "clEnqueueCommandBufferKHR",
            "clCommandBarrierWithWaitListKHR",
            "clCommandCopyBufferKHR",
            "clCommandCopyBufferRectKHR",
            "clCommandCopyBufferToImageKHR",
            "clCommandCopyImageKHR",
            "clCommandCopyImageToBufferKHR",
            "clCommandFillBufferKHR",
            "clCommandFillImageKHR",
            "clCommandNDRangeKernelKHR",
            "clCommandSVMMemcpyKHR",
            "clCommandSVMMemFillKHR",
            "clGetCommandBufferInfoKHR",
        ],
        ..named("cl_khr_command_buffer")
    },
    Extension {
        device: queries! { CL_DEVICE_MUTABLE_DISPATCH_CAPABILITIES_KHR: ULONG, },
        functions: &["clUpdateMutableCommandsKHR", "clGetMutableCommandInfoKHR"],
        ..named("cl_khr_command_buffer_mutable_dispatch")
    },
    Extension {
        platform: queries! { CL_PLATFORM_SEMAPHORE_TYPES_KHR: Shape::List(4), },
        device: queries! { CL_DEVICE_SEMAPHORE_TYPES_KHR: Shape::List(4), },
        functions: &[
            "clCreateSemaphoreWithPropertiesKHR",
            "clEnqueueWaitSemaphoresKHR",
            "clEnqueueSignalSemaphoresKHR",
            "clGetSemaphoreInfoKHR",
            "clRetainSemaphoreKHR",
            "clReleaseSemaphoreKHR",
        ],
        ..named("cl_khr_semaphore")
    },
    Extension {
        functions: &["clGetKernelSuggestedLocalWorkSizeKHR"],
        ..named("cl_khr_suggested_local_work_size")
    },
    Extension {
        device: queries! {
            CL_DEVICE_UUID: Shape::Value(16),
            CL_DRIVER_UUID: Shape::Value(16),
            CL_DEVICE_LUID_VALID: UINT,
            CL_DEVICE_LUID: Shape::Value(8),
            CL_DEVICE_NODE_MASK: UINT,
        },
        ..named("cl_khr_device_uuid")
    },
    Extension {
        device: queries! { CL_DEVICE_PCI_BUS_INFO_KHR: Shape::Value(16), },
        ..named("cl_khr_pci_bus_info")
    },
    Extension {
        device: queries! {
            CL_DEVICE_IMAGE_PITCH_ALIGNMENT: UINT,
            CL_DEVICE_IMAGE_BASE_ADDRESS_ALIGNMENT: UINT,
        },
        ..named("cl_khr_image2d_from_buffer")
    },
    named("cl_khr_3d_image_writes"),
    named("cl_khr_depth_images"),
    Extension { functions: &["clGetImageRequirementsInfoEXT"], ..named("cl_ext_image_requirements_info") },
    named("cl_intel_media_block_io"),
    Extension {
        device: queries! { CL_DEVICE_CXX_FOR_OPENCL_NUMERIC_VERSION_EXT: UINT, },
        ..named("cl_ext_cxx_for_opencl")
    },
    Extension {
        device: queries! { CL_DEVICE_IL_VERSION_KHR: Shape::Text, },
        functions: &["clCreateProgramWithILKHR"],
        ..named("cl_khr_il_program")
    },
    Extension {
        device: queries! {
            CL_DEVICE_SPIRV_EXTENDED_INSTRUCTION_SETS_KHR: Shape::List(size_of::<usize>()),
            CL_DEVICE_SPIRV_EXTENSIONS_KHR: Shape::List(size_of::<usize>()),
            CL_DEVICE_SPIRV_CAPABILITIES_KHR: Shape::List(size_of::<u32>()),
        },
        ..named("cl_khr_spirv_queries")
    },
    named("cl_khr_spirv_linkonce_odr"),
    named("cl_khr_spirv_extended_debug_info"),
    named("cl_khr_expect_assume"),
    Extension {
        device: queries! {
            CL_DEVICE_IP_VERSION_INTEL: UINT,
            CL_DEVICE_ID_INTEL: UINT,
            CL_DEVICE_NUM_SLICES_INTEL: UINT,
            CL_DEVICE_NUM_SUB_SLICES_PER_SLICE_INTEL: UINT,
            CL_DEVICE_NUM_EUS_PER_SUB_SLICE_INTEL: UINT,
            CL_DEVICE_NUM_THREADS_PER_EU_INTEL: UINT,
            CL_DEVICE_FEATURE_CAPABILITIES_INTEL: ULONG,
        },
        ..named("cl_intel_device_attribute_query")
    },
    named("cl_khr_spirv_no_integer_wrap_decoration"),
    Extension { properties: &[(0x1096, &[1, 2, 4])], ..named("cl_khr_priority_hints") },
    Extension { properties: &[(0x1097, &[1, 2, 4])], ..named("cl_khr_throttle_hints") },
    named("cl_khr_byte_addressable_store"),
    named("cl_khr_extended_bit_ops"),
    Extension {
        device: queries! { CL_DEVICE_KERNEL_CLOCK_CAPABILITIES_KHR: ULONG, },
        ..named("cl_khr_kernel_clock")
    },
    named("cl_intel_split_work_group_barrier"),
    Extension {
        device: queries! {
            CL_DEVICE_INTEGER_DOT_PRODUCT_CAPABILITIES: ULONG,
            CL_DEVICE_INTEGER_DOT_PRODUCT_ACCELERATION_PROPERTIES_8BIT: Shape::Value(24),
            CL_DEVICE_INTEGER_DOT_PRODUCT_ACCELERATION_PROPERTIES_4x8BIT_PACKED: Shape::Value(24),
        },
        ..named("cl_khr_integer_dot_product")
    },
    Extension {
        device: queries! {
            CL_DEVICE_HALF_FP_CONFIG: ULONG,
            CL_DEVICE_PREFERRED_VECTOR_WIDTH_HALF: UINT,
            CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF: UINT,
        },
        ..named("cl_khr_fp16")
    },
    Extension { device: queries! { CL_DEVICE_DOUBLE_FP_CONFIG: ULONG, }, ..named("cl_khr_fp64") },
    named("cl_khr_global_int32_base_atomics"),
    named("cl_khr_global_int32_extended_atomics"),
    named("cl_khr_local_int32_base_atomics"),
    named("cl_khr_local_int32_extended_atomics"),
    named("cl_khr_int64_base_atomics"),
    named("cl_khr_int64_extended_atomics"),
    Extension {
        device: queries! {
            CL_DEVICE_MAX_NUM_SUB_GROUPS: UINT,
            CL_DEVICE_SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS: UINT,
        },
        sub_group: SUB_GROUP,
        functions: &["clGetKernelSubGroupInfoKHR"],
        ..named("cl_khr_subgroups")
    },
    named("cl_khr_subgroup_extended_types"),
    named("cl_khr_subgroup_non_uniform_vote"),
    named("cl_khr_subgroup_ballot"),
    named("cl_khr_subgroup_non_uniform_arithmetic"),
    named("cl_khr_subgroup_shuffle"),
    named("cl_khr_subgroup_shuffle_relative"),
    named("cl_khr_subgroup_clustered_reduce"),
    named("cl_khr_subgroup_rotate"),
    Extension {
        device: queries! { CL_DEVICE_SUB_GROUP_SIZES_INTEL: Shape::List(size_of::<usize>()), },
        work_group: queries! { CL_KERNEL_SPILL_MEM_SIZE_INTEL: ULONG, },
        sub_group: queries! { CL_KERNEL_COMPILE_SUB_GROUP_SIZE_INTEL: super::SIZE, },
        ..named("cl_intel_required_subgroup_size")
    },
    Extension {
        device: queries! {
            CL_DEVICE_HOST_MEM_CAPABILITIES_INTEL: ULONG,
            CL_DEVICE_DEVICE_MEM_CAPABILITIES_INTEL: ULONG,
            CL_DEVICE_SINGLE_DEVICE_SHARED_MEM_CAPABILITIES_INTEL: ULONG,
            CL_DEVICE_CROSS_DEVICE_SHARED_MEM_CAPABILITIES_INTEL: ULONG,
            CL_DEVICE_SHARED_SYSTEM_MEM_CAPABILITIES_INTEL: ULONG,
        },
        functions: &[
            "clHostMemAllocINTEL",
            "clDeviceMemAllocINTEL",
            "clSharedMemAllocINTEL",
            "clMemFreeINTEL",
            "clMemBlockingFreeINTEL",
            "clGetMemAllocInfoINTEL",
            "clSetKernelArgMemPointerINTEL",
            "clEnqueueMemFillINTEL",
            "clEnqueueMemcpyINTEL",
            "clEnqueueMigrateMemINTEL",
            "clEnqueueMemAdviseINTEL",
        ],
        ..named("cl_intel_unified_shared_memory")
    },
    Extension {
        sub_group: SUB_GROUP,
        functions: &["clGetKernelSubGroupInfoKHR"],
        ..named("cl_intel_subgroups")
    },
    named("cl_intel_subgroups_char"),
    named("cl_intel_subgroups_short"),
    named("cl_intel_subgroups_long"),
];

/// Extensions that do not depend on the target alone, which the compiler is given, and a language.
const WITHOUT_MACRO: &[&str] =
    &["cl_khr_pci_bus_info", "cl_intel_device_attribute_query", "cl_ext_cxx_for_opencl"];

fn reported() -> Result<Vec<String>, String> {
    let device = ask!(clGetDeviceInfo, Gpu::get()?.device.id());
    let list = text(&device, opencl_sys::CL_DEVICE_EXTENSIONS)?;
    Ok(list.split_whitespace().map(str::to_owned).collect())
}

/// Each reported extension is whole.
pub fn whole() -> Outcome {
    let gpu = Gpu::get()?;
    let device = gpu.device.id();
    let platform = gpu.device.platform().map_err(|error| error.to_string())?;
    let kernel = gpu.build_unchecked("kernel void k(global int *p) { p[0] = 1; }", "")?.kernel("k")?;
    let handle = kernel.get();
    let local = [8usize];
    let (bytes, input) = (size_of_val(&local), local.as_ptr().cast());
    let of_platform = ask!(clGetPlatformInfo, platform);
    let of_device = ask!(clGetDeviceInfo, device);
    let of_work_groups = ask!(clGetKernelWorkGroupInfo, handle, device);
    let of_sub_groups = ask!(clGetKernelSubGroupInfo, handle, device; bytes, input);
    for name in reported()? {
        let found = EXTENSIONS.iter().find(|extension| extension.name == name);
        let extension = found.ok_or_else(|| format!("{name} is not in the table"))?;
        check_all(&name, extension.platform, &of_platform)?;
        check_all(&name, extension.device, &of_device)?;
        check_all(&name, extension.work_group, &of_work_groups)?;
        check_all(&name, extension.sub_group, &of_sub_groups)?;
        for function in extension.functions {
            let text = CString::new(*function).map_err(|error| error.to_string())?;
            // SAFETY: the platform is alive, the text has its end.
            let address =
                unsafe { (api()?.clGetExtensionFunctionAddressForPlatform)(platform, text.as_ptr()) };
            if address.is_null() {
                return Err(format!("{name} has no {function}"));
            }
        }
        for (property, values) in extension.properties {
            for value in *values {
                let code = queue_with([*property, (*value).into(), 0])?;
                if code != opencl_sys::CL_SUCCESS {
                    return Err(format!("{name}: a queue with {value} is {code}"));
                }
            }
        }
    }
    Ok(())
}

/// The code of making a queue with properties.
fn queue_with(properties: [cl_queue_properties; 3]) -> Result<cl_int, String> {
    let (api, gpu, mut code) = (api()?, Gpu::get()?, 0);
    // SAFETY: context and device are alive, the list has its end.
    unsafe {
        let make = api.clCreateCommandQueueWithProperties;
        let queue = make(gpu.context.get(), gpu.device.id(), properties.as_ptr(), &mut code);
        if !queue.is_null() {
            (api.clReleaseCommandQueue)(queue);
        }
    }
    Ok(code)
}

/// Programs find each extension as a macro, and none that the device has not.
pub fn macros() -> Outcome {
    let gpu = Gpu::get()?;
    let reported = reported()?;
    let asked: Vec<&str> = EXTENSIONS
        .iter()
        .map(|extension| extension.name)
        .filter(|name| !WITHOUT_MACRO.contains(name))
        .collect();
    let lines =
        asked.iter().enumerate().map(|(i, name)| format!("#ifdef {name}\np[{i}] = {name};\n#endif\n"));
    let source = format!("kernel void k(global int *p) {{\n{}}}", lines.collect::<String>());
    for options in ["", "-cl-std=CL1.0", "-cl-std=CL3.0", "-cl-std=CL3.1"] {
        let out = gpu.buffer(&vec![0i32; asked.len()])?;
        gpu.build_unchecked(&source, options)?.run("k", &[out.arg()], &Launch::linear(1, 1))?;
        for (name, found) in asked.iter().zip(out.read()?) {
            let expected = i32::from(reported.iter().any(|other| other == name));
            if found != expected {
                return Err(format!("{options}: {name} is {found}, expected {expected}"));
            }
        }
    }
    Ok(())
}

/// Memory for spilled registers: none for a small kernel, some where the binary's statistics count stores to
/// it.
pub fn spills() -> Outcome {
    let gpu = Gpu::get()?;
    let ask = |kernel: opencl_sys::cl_kernel| -> Result<u64, String> {
        let ask = ask!(clGetKernelWorkGroupInfo, kernel, gpu.device.id());
        number(&ask, opencl_sys::CL_KERNEL_SPILL_MEM_SIZE_INTEL)
    };
    let small = gpu.build_unchecked("kernel void k(global int *p) { p[0] = 1; }", "")?.kernel("k")?;
    let none = ask(small.get())?;
    if none != 0 {
        return Err(format!("{none} bytes for a small kernel"));
    }
    let values: String = (0..160).map(|i| format!("float v{i} = p[{i} * n + g];\n")).collect();
    let sums: String = (0..160).map(|i| format!("p[{i} * n + g] = v{i} + s;\n")).collect();
    let terms = (0..160).map(|i| format!("v{i}")).collect::<Vec<_>>().join(" + ");
    // 160 values of 8 lanes are more than the 128 registers, and less than Ivy Bridge's scratch memory.
    let source = format!(
        "__attribute__((intel_reqd_sub_group_size(8))) kernel void k(global float *p, int n) {{
        int g = get_global_id(0);\n{values}float s = {terms};\n{sums}}}"
    );
    let program = gpu.build_unchecked(&source, "")?;
    let found = ask(program.kernel("k")?.get())?;
    let binaries = program.program().get_binaries().map_err(|error| error.to_string())?;
    let file = gencl_program::elf::read(&binaries[0]).map_err(|error| error.to_string())?;
    let kernel = file.kernels.first().ok_or("no kernel")?;
    let stored = u64::from(kernel.statistics.spills) * 32;
    // A store moves a register or more, and places are used again.
    if found > 0 && stored > 0 && found <= u64::from(kernel.scratch_size) && found % 32 == 0 {
        Ok(())
    } else {
        Err(format!("{found} bytes of {}, {} stores", kernel.scratch_size, kernel.statistics.spills))
    }
}
