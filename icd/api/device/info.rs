//! `clGetDeviceInfo`

use std::ffi::c_void;
use std::ptr::null_mut;

use gencl_icd_macros::cl_entrypoint;
use opencl_sys::{
    CL_DEVICE_ADDRESS_BITS, CL_DEVICE_ATOMIC_FENCE_CAPABILITIES, CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES,
    CL_DEVICE_ATOMIC_ORDER_ACQ_REL, CL_DEVICE_ATOMIC_ORDER_RELAXED, CL_DEVICE_ATOMIC_ORDER_SEQ_CST,
    CL_DEVICE_ATOMIC_SCOPE_ALL_DEVICES, CL_DEVICE_ATOMIC_SCOPE_DEVICE, CL_DEVICE_ATOMIC_SCOPE_WORK_GROUP,
    CL_DEVICE_ATOMIC_SCOPE_WORK_ITEM, CL_DEVICE_AVAILABLE, CL_DEVICE_BUILT_IN_KERNELS,
    CL_DEVICE_BUILT_IN_KERNELS_WITH_VERSION, CL_DEVICE_COMMAND_BUFFER_CAPABILITIES_KHR,
    CL_DEVICE_COMMAND_BUFFER_REQUIRED_QUEUE_PROPERTIES_KHR,
    CL_DEVICE_COMMAND_BUFFER_SUPPORTED_QUEUE_PROPERTIES_KHR, CL_DEVICE_COMPILER_AVAILABLE,
    CL_DEVICE_CROSS_DEVICE_SHARED_MEM_CAPABILITIES_INTEL, CL_DEVICE_CXX_FOR_OPENCL_NUMERIC_VERSION_EXT,
    CL_DEVICE_DEVICE_ENQUEUE_CAPABILITIES, CL_DEVICE_DEVICE_MEM_CAPABILITIES_INTEL,
    CL_DEVICE_DOUBLE_FP_CONFIG, CL_DEVICE_ENDIAN_LITTLE, CL_DEVICE_ERROR_CORRECTION_SUPPORT,
    CL_DEVICE_EXECUTION_CAPABILITIES, CL_DEVICE_EXTENSIONS, CL_DEVICE_EXTENSIONS_WITH_VERSION,
    CL_DEVICE_GENERIC_ADDRESS_SPACE_SUPPORT, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE,
    CL_DEVICE_GLOBAL_MEM_CACHE_TYPE, CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE, CL_DEVICE_GLOBAL_MEM_SIZE,
    CL_DEVICE_GLOBAL_VARIABLE_PREFERRED_TOTAL_SIZE, CL_DEVICE_HALF_FP_CONFIG,
    CL_DEVICE_HOST_MEM_CAPABILITIES_INTEL, CL_DEVICE_HOST_UNIFIED_MEMORY, CL_DEVICE_IL_VERSION,
    CL_DEVICE_ILS_WITH_VERSION, CL_DEVICE_IMAGE_BASE_ADDRESS_ALIGNMENT, CL_DEVICE_IMAGE_MAX_ARRAY_SIZE,
    CL_DEVICE_IMAGE_MAX_BUFFER_SIZE, CL_DEVICE_IMAGE_PITCH_ALIGNMENT, CL_DEVICE_IMAGE_SUPPORT,
    CL_DEVICE_IMAGE2D_MAX_HEIGHT, CL_DEVICE_IMAGE2D_MAX_WIDTH, CL_DEVICE_IMAGE3D_MAX_DEPTH,
    CL_DEVICE_IMAGE3D_MAX_HEIGHT, CL_DEVICE_IMAGE3D_MAX_WIDTH,
    CL_DEVICE_INTEGER_DOT_PRODUCT_ACCELERATION_PROPERTIES_4x8BIT_PACKED as DOT_PROPERTIES_PACKED,
    CL_DEVICE_INTEGER_DOT_PRODUCT_ACCELERATION_PROPERTIES_8BIT as DOT_PROPERTIES,
    CL_DEVICE_INTEGER_DOT_PRODUCT_CAPABILITIES, CL_DEVICE_INTEGER_DOT_PRODUCT_INPUT_4x8BIT,
    CL_DEVICE_INTEGER_DOT_PRODUCT_INPUT_4x8BIT_PACKED, CL_DEVICE_KERNEL_CLOCK_CAPABILITIES_KHR,
    CL_DEVICE_KERNEL_CLOCK_SCOPE_SUB_GROUP_KHR, CL_DEVICE_LATEST_CONFORMANCE_VERSION_PASSED,
    CL_DEVICE_LINKER_AVAILABLE, CL_DEVICE_LOCAL_MEM_SIZE, CL_DEVICE_LOCAL_MEM_TYPE, CL_DEVICE_LUID,
    CL_DEVICE_LUID_VALID, CL_DEVICE_MAX_CLOCK_FREQUENCY, CL_DEVICE_MAX_COMPUTE_UNITS,
    CL_DEVICE_MAX_CONSTANT_ARGS, CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE, CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE,
    CL_DEVICE_MAX_MEM_ALLOC_SIZE, CL_DEVICE_MAX_NUM_SUB_GROUPS, CL_DEVICE_MAX_ON_DEVICE_EVENTS,
    CL_DEVICE_MAX_ON_DEVICE_QUEUES, CL_DEVICE_MAX_PARAMETER_SIZE, CL_DEVICE_MAX_PIPE_ARGS,
    CL_DEVICE_MAX_READ_IMAGE_ARGS, CL_DEVICE_MAX_READ_WRITE_IMAGE_ARGS, CL_DEVICE_MAX_SAMPLERS,
    CL_DEVICE_MAX_WORK_GROUP_SIZE, CL_DEVICE_MAX_WORK_GROUP_SIZES, CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS,
    CL_DEVICE_MAX_WRITE_IMAGE_ARGS, CL_DEVICE_MEM_BASE_ADDR_ALIGN, CL_DEVICE_MIN_DATA_TYPE_ALIGN_SIZE,
    CL_DEVICE_MUTABLE_DISPATCH_CAPABILITIES_KHR, CL_DEVICE_NAME, CL_DEVICE_NATIVE_VECTOR_WIDTH_CHAR,
    CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE, CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT,
    CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF, CL_DEVICE_NATIVE_VECTOR_WIDTH_INT,
    CL_DEVICE_NATIVE_VECTOR_WIDTH_LONG, CL_DEVICE_NATIVE_VECTOR_WIDTH_SHORT, CL_DEVICE_NODE_MASK,
    CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT, CL_DEVICE_NUMERIC_VERSION, CL_DEVICE_OPENCL_C_ALL_VERSIONS,
    CL_DEVICE_OPENCL_C_FEATURES, CL_DEVICE_OPENCL_C_NUMERIC_VERSION_KHR, CL_DEVICE_OPENCL_C_VERSION,
    CL_DEVICE_PARENT_DEVICE, CL_DEVICE_PARTITION_AFFINITY_DOMAIN, CL_DEVICE_PARTITION_MAX_SUB_DEVICES,
    CL_DEVICE_PARTITION_PROPERTIES, CL_DEVICE_PARTITION_TYPE, CL_DEVICE_PCI_BUS_INFO_KHR,
    CL_DEVICE_PIPE_MAX_ACTIVE_RESERVATIONS, CL_DEVICE_PIPE_MAX_PACKET_SIZE, CL_DEVICE_PIPE_SUPPORT,
    CL_DEVICE_PLATFORM, CL_DEVICE_PREFERRED_GLOBAL_ATOMIC_ALIGNMENT, CL_DEVICE_PREFERRED_INTEROP_USER_SYNC,
    CL_DEVICE_PREFERRED_LOCAL_ATOMIC_ALIGNMENT, CL_DEVICE_PREFERRED_PLATFORM_ATOMIC_ALIGNMENT,
    CL_DEVICE_PREFERRED_VECTOR_WIDTH_CHAR, CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE,
    CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT, CL_DEVICE_PREFERRED_VECTOR_WIDTH_HALF,
    CL_DEVICE_PREFERRED_VECTOR_WIDTH_INT, CL_DEVICE_PREFERRED_VECTOR_WIDTH_LONG,
    CL_DEVICE_PREFERRED_VECTOR_WIDTH_SHORT, CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE,
    CL_DEVICE_PRINTF_BUFFER_SIZE, CL_DEVICE_PROFILE, CL_DEVICE_PROFILING_TIMER_RESOLUTION,
    CL_DEVICE_QUEUE_ON_DEVICE_MAX_SIZE, CL_DEVICE_QUEUE_ON_DEVICE_PREFERRED_SIZE,
    CL_DEVICE_QUEUE_ON_DEVICE_PROPERTIES, CL_DEVICE_QUEUE_ON_HOST_PROPERTIES, CL_DEVICE_REFERENCE_COUNT,
    CL_DEVICE_SEMAPHORE_TYPES_KHR, CL_DEVICE_SHARED_SYSTEM_MEM_CAPABILITIES_INTEL,
    CL_DEVICE_SINGLE_DEVICE_SHARED_MEM_CAPABILITIES_INTEL, CL_DEVICE_SINGLE_FP_CONFIG,
    CL_DEVICE_SPIRV_CAPABILITIES, CL_DEVICE_SPIRV_EXTENDED_INSTRUCTION_SETS, CL_DEVICE_SPIRV_EXTENSIONS,
    CL_DEVICE_SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS, CL_DEVICE_SUB_GROUP_SIZES_INTEL, CL_DEVICE_SVM_ATOMICS,
    CL_DEVICE_SVM_CAPABILITIES, CL_DEVICE_SVM_COARSE_GRAIN_BUFFER, CL_DEVICE_SVM_FINE_GRAIN_BUFFER,
    CL_DEVICE_TYPE, CL_DEVICE_UUID, CL_DEVICE_VENDOR, CL_DEVICE_VENDOR_ID, CL_DEVICE_VERSION,
    CL_DEVICE_WORK_GROUP_COLLECTIVE_FUNCTIONS_SUPPORT, CL_DRIVER_UUID, CL_DRIVER_VERSION, CL_EXEC_KERNEL,
    CL_FALSE, CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT, CL_FP_DENORM, CL_FP_FMA, CL_FP_INF_NAN,
    CL_FP_ROUND_TO_INF, CL_FP_ROUND_TO_NEAREST, CL_FP_ROUND_TO_ZERO, CL_LOCAL, CL_LUID_SIZE,
    CL_READ_WRITE_CACHE, CL_UNIFIED_SHARED_MEMORY_ACCESS_INTEL, CL_UNIFIED_SHARED_MEMORY_ATOMIC_ACCESS_INTEL,
    cl_device_fp_config, cl_device_id, cl_device_info, cl_name_version,
};

use gencl_runtime::PciAddress;

use super::{attributes, identity, il};
use crate::CLResult;
use crate::abi::{Bytes, Out};
use crate::api::{command_buffer, semaphore};
use crate::handle::Handle;
use crate::info::{InfoWriter, Written};
use crate::object::{Device, Platform, Queue};
use crate::versions::{self, NUMERIC_VERSION};

/// PCI vendor, also of simulated devices.
const VENDOR: &str = "Intel(R) Corporation";

/// `CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE`: 64 KiB are the minimum; initial values are in the program's
/// binary, which should be small.
const MAX_GLOBAL_VARIABLE_SIZE: usize = 1 << 20;

/// Orders and scopes of atomic operations. Where SVM is not fine-grained, the scope of all devices is that of the device
/// (4.2, `CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES`).
const ATOMICS: u64 = CL_DEVICE_ATOMIC_ORDER_RELAXED
    | CL_DEVICE_ATOMIC_ORDER_ACQ_REL
    | CL_DEVICE_ATOMIC_ORDER_SEQ_CST
    | CL_DEVICE_ATOMIC_SCOPE_WORK_GROUP
    | CL_DEVICE_ATOMIC_SCOPE_DEVICE
    | CL_DEVICE_ATOMIC_SCOPE_ALL_DEVICES;

/// Capabilities of all floating-point types. In OpenCL, rounding modes other than to nearest are for
/// conversions only, but devices with doubles have to report all (4.2, `CL_DEVICE_DOUBLE_FP_CONFIG`).
const FLOAT_CONFIG: cl_device_fp_config =
    CL_FP_INF_NAN | CL_FP_ROUND_TO_NEAREST | CL_FP_ROUND_TO_ZERO | CL_FP_ROUND_TO_INF | CL_FP_FMA;

#[cl_entrypoint(clGetDeviceInfo)]
fn get_device_info(
    device: cl_device_id,
    name: cl_device_info,
    room: usize,
    value: Bytes,
    size_ret: Out<usize>,
) -> CLResult<Written> {
    let device = Handle::<Device>::get(device)?;
    let info = InfoWriter::new(room, value, size_ret);
    let facts = device.facts();
    let profile = facts.profile();
    let images = &facts.images;
    match name {
        // Identity.
        CL_DEVICE_TYPE => info.value(device.device_type()),
        CL_DEVICE_VENDOR_ID => info.value(facts.vendor_id),
        CL_DEVICE_NAME => info.string(&facts.name),
        CL_DEVICE_VENDOR => info.string(VENDOR),
        CL_DRIVER_VERSION => info.string(facts.driver_version),
        CL_DEVICE_PROFILE => info.string("FULL_PROFILE"),
        CL_DEVICE_VERSION => info.string(&versions::version()),
        CL_DEVICE_NUMERIC_VERSION => info.value(NUMERIC_VERSION),
        CL_DEVICE_EXTENSIONS => info.string(&versions::names(&versions::device_extensions(facts))),
        CL_DEVICE_EXTENSIONS_WITH_VERSION => {
            info.values(&versions::with_versions(&versions::device_extensions(facts)))
        }
        // The latest one without a missing optional feature.
        CL_DEVICE_OPENCL_C_VERSION => info.string("OpenCL C 1.2 gencl"),
        CL_DEVICE_OPENCL_C_NUMERIC_VERSION_KHR => info.value(versions::make_version(1, 2, 0)),
        CL_DEVICE_OPENCL_C_ALL_VERSIONS => info.values(&versions::with_versions(versions::OPENCL_C_VERSIONS)),
        CL_DEVICE_OPENCL_C_FEATURES => {
            info.values(&versions::with_versions(&versions::opencl_c_features(&profile)))
        }
        // That of `-cl-std=CLC++`.
        CL_DEVICE_CXX_FOR_OPENCL_NUMERIC_VERSION_EXT if profile.generic_pointers => {
            info.value(versions::make_version(1, 0, 0))
        }
        // No version of the conformance tests was passed.
        // The value that drivers which are not conformant report; the format is required.
        CL_DEVICE_LATEST_CONFORMANCE_VERSION_PASSED => info.string("v0000-01-01-00"),
        CL_DEVICE_PLATFORM => info.value(Platform::handle().raw()),
        CL_DEVICE_UUID => info.value(identity::device(facts)),
        CL_DRIVER_UUID => info.value(identity::driver(facts)),
        // Locally unique ids exist on Windows only.
        CL_DEVICE_LUID_VALID => info.boolean(false),
        CL_DEVICE_LUID => info.value([0u8; CL_LUID_SIZE as usize]),
        CL_DEVICE_NODE_MASK => info.value(0u32),
        CL_DEVICE_PCI_BUS_INFO_KHR => match facts.pci_address {
            Some(PciAddress { domain, bus, device, function }) => info.value([domain, bus, device, function]),
            None => info.unknown(name),
        },
        CL_DEVICE_REFERENCE_COUNT => info.value(device.references()),
        CL_DEVICE_AVAILABLE | CL_DEVICE_COMPILER_AVAILABLE | CL_DEVICE_LINKER_AVAILABLE => info.boolean(true),
        CL_DEVICE_ENDIAN_LITTLE => info.boolean(true),
        CL_DEVICE_ADDRESS_BITS => info.value(facts.address_bits),

        // Execution.
        CL_DEVICE_MAX_COMPUTE_UNITS => info.value(facts.compute_units),
        CL_DEVICE_MAX_CLOCK_FREQUENCY => info.value(facts.clock_mhz),
        CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS => info.value(3u32),
        CL_DEVICE_MAX_WORK_GROUP_SIZES => info.values(&facts.max_work_item_sizes.map(|size| size as usize)),
        CL_DEVICE_MAX_WORK_GROUP_SIZE => info.value(facts.max_work_group_size as usize),
        // The largest SIMD width.
        CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE => info.value(16usize),
        CL_DEVICE_MAX_PARAMETER_SIZE => info.value(facts.max_parameter_size as usize),
        CL_DEVICE_EXECUTION_CAPABILITIES => info.value(CL_EXEC_KERNEL),
        CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT => info.boolean(true),
        CL_DEVICE_GENERIC_ADDRESS_SPACE_SUPPORT => info.boolean(profile.generic_pointers),
        CL_DEVICE_WORK_GROUP_COLLECTIVE_FUNCTIONS_SUPPORT => info.boolean(true),
        // A sub-group is a thread.
        CL_DEVICE_MAX_NUM_SUB_GROUPS => info.value(facts.threads_per_group),
        CL_DEVICE_SUB_GROUP_SIZES_INTEL => {
            let widths: Vec<usize> = profile.widths.iter().map(|width| *width as usize).collect();
            info.values(&widths)
        }
        // Threads of a work-group make independent progress.
        CL_DEVICE_SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS => info.boolean(true),
        // EUs have clocks of their own.
        CL_DEVICE_KERNEL_CLOCK_CAPABILITIES_KHR => info.value(CL_DEVICE_KERNEL_CLOCK_SCOPE_SUB_GROUP_KHR),
        CL_DEVICE_INTEGER_DOT_PRODUCT_CAPABILITIES => info.value(
            CL_DEVICE_INTEGER_DOT_PRODUCT_INPUT_4x8BIT_PACKED | CL_DEVICE_INTEGER_DOT_PRODUCT_INPUT_4x8BIT,
        ),
        // A program's own products and sums are as fast: there is no instruction for the whole.
        DOT_PROPERTIES | DOT_PROPERTIES_PACKED => info.value([CL_FALSE; 6]),
        CL_DEVICE_PRINTF_BUFFER_SIZE => info.value(gencl_runtime::PRINTF_BUFFER_SIZE as usize),
        CL_DEVICE_BUILT_IN_KERNELS => info.string(""),
        CL_DEVICE_BUILT_IN_KERNELS_WITH_VERSION => info.values::<cl_name_version>(&[]),
        CL_DEVICE_IL_VERSION => info.string(&versions::il_versions()),
        CL_DEVICE_ILS_WITH_VERSION => info.values(&versions::with_versions(versions::ILS)),
        CL_DEVICE_SPIRV_EXTENDED_INSTRUCTION_SETS => info.values(&il::instruction_sets()),
        CL_DEVICE_SPIRV_EXTENSIONS => info.values(&il::extensions(&profile)),
        CL_DEVICE_SPIRV_CAPABILITIES => info.values(&il::capabilities(&profile)),

        // Types. A lane holds one element, so vectors are not faster.
        CL_DEVICE_PREFERRED_VECTOR_WIDTH_CHAR
        | CL_DEVICE_PREFERRED_VECTOR_WIDTH_SHORT
        | CL_DEVICE_PREFERRED_VECTOR_WIDTH_INT
        | CL_DEVICE_PREFERRED_VECTOR_WIDTH_LONG
        | CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT
        | CL_DEVICE_NATIVE_VECTOR_WIDTH_CHAR
        | CL_DEVICE_NATIVE_VECTOR_WIDTH_SHORT
        | CL_DEVICE_NATIVE_VECTOR_WIDTH_INT
        | CL_DEVICE_NATIVE_VECTOR_WIDTH_LONG
        | CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT => info.value(1u32),
        CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE | CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE => {
            info.value(u32::from(profile.double))
        }
        CL_DEVICE_PREFERRED_VECTOR_WIDTH_HALF | CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF => {
            info.value(u32::from(profile.half))
        }
        CL_DEVICE_SINGLE_FP_CONFIG => {
            info.value(FLOAT_CONFIG | CL_FP_DENORM | CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT)
        }
        CL_DEVICE_DOUBLE_FP_CONFIG => {
            info.value(if profile.double { FLOAT_CONFIG | CL_FP_DENORM } else { 0 })
        }
        CL_DEVICE_HALF_FP_CONFIG => info.value(if profile.half { FLOAT_CONFIG | CL_FP_DENORM } else { 0 }),

        // Memory.
        CL_DEVICE_GLOBAL_MEM_SIZE => info.value(facts.global_memory),
        CL_DEVICE_MAX_MEM_ALLOC_SIZE => info.value(facts.max_allocation),
        CL_DEVICE_GLOBAL_MEM_CACHE_TYPE => info.value(CL_READ_WRITE_CACHE),
        CL_DEVICE_GLOBAL_MEM_CACHE_SIZE => info.value(facts.cache_size),
        CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE => info.value(facts.cache_line),
        CL_DEVICE_MEM_BASE_ADDR_ALIGN => info.value(facts.base_address_alignment * 8),
        // The size of long16.
        CL_DEVICE_MIN_DATA_TYPE_ALIGN_SIZE => info.value(128u32),
        CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE => info.value(facts.max_constant_buffer),
        CL_DEVICE_MAX_CONSTANT_ARGS => info.value(facts.max_constant_args),
        CL_DEVICE_LOCAL_MEM_TYPE => info.value(CL_LOCAL),
        CL_DEVICE_LOCAL_MEM_SIZE => info.value(u64::from(facts.local_memory)),
        CL_DEVICE_ERROR_CORRECTION_SUPPORT => info.boolean(false),
        CL_DEVICE_HOST_UNIFIED_MEMORY => info.boolean(true),
        CL_DEVICE_SVM_CAPABILITIES => {
            let coarse = if profile.shared_memory { CL_DEVICE_SVM_COARSE_GRAIN_BUFFER } else { 0 };
            let fine = CL_DEVICE_SVM_FINE_GRAIN_BUFFER | CL_DEVICE_SVM_ATOMICS;
            info.value(if facts.fine_grain() { coarse | fine } else { coarse })
        }
        CL_DEVICE_HOST_MEM_CAPABILITIES_INTEL
        | CL_DEVICE_DEVICE_MEM_CAPABILITIES_INTEL
        | CL_DEVICE_SINGLE_DEVICE_SHARED_MEM_CAPABILITIES_INTEL
        | CL_DEVICE_CROSS_DEVICE_SHARED_MEM_CAPABILITIES_INTEL
            if profile.shared_memory =>
        {
            info.value(CL_UNIFIED_SHARED_MEMORY_ACCESS_INTEL | CL_UNIFIED_SHARED_MEMORY_ATOMIC_ACCESS_INTEL)
        }
        CL_DEVICE_SHARED_SYSTEM_MEM_CAPABILITIES_INTEL if profile.shared_memory => info.value(0u64),
        // 0: the natural alignment.
        CL_DEVICE_PREFERRED_PLATFORM_ATOMIC_ALIGNMENT
        | CL_DEVICE_PREFERRED_GLOBAL_ATOMIC_ALIGNMENT
        | CL_DEVICE_PREFERRED_LOCAL_ATOMIC_ALIGNMENT => info.value(0u32),
        CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES => info.value(ATOMICS),
        CL_DEVICE_ATOMIC_FENCE_CAPABILITIES => info.value(ATOMICS | CL_DEVICE_ATOMIC_SCOPE_WORK_ITEM),
        CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE | CL_DEVICE_GLOBAL_VARIABLE_PREFERRED_TOTAL_SIZE => {
            info.value(MAX_GLOBAL_VARIABLE_SIZE)
        }

        // Queues.
        CL_DEVICE_QUEUE_ON_HOST_PROPERTIES => info.value(Queue::SUPPORTED),
        CL_DEVICE_PROFILING_TIMER_RESOLUTION => info.value(facts.timer_resolution_ns as usize),
        CL_DEVICE_QUEUE_ON_DEVICE_PROPERTIES | CL_DEVICE_DEVICE_ENQUEUE_CAPABILITIES => info.value(0u64),
        CL_DEVICE_COMMAND_BUFFER_CAPABILITIES_KHR => info.value(command_buffer::CAPABILITIES),
        CL_DEVICE_COMMAND_BUFFER_SUPPORTED_QUEUE_PROPERTIES_KHR => info.value(Queue::SUPPORTED),
        CL_DEVICE_COMMAND_BUFFER_REQUIRED_QUEUE_PROPERTIES_KHR => info.value(0u64),
        CL_DEVICE_MUTABLE_DISPATCH_CAPABILITIES_KHR => info.value(command_buffer::mutable_fields(facts)),
        CL_DEVICE_SEMAPHORE_TYPES_KHR => info.values(&semaphore::TYPES),
        CL_DEVICE_QUEUE_ON_DEVICE_PREFERRED_SIZE
        | CL_DEVICE_QUEUE_ON_DEVICE_MAX_SIZE
        | CL_DEVICE_MAX_ON_DEVICE_QUEUES
        | CL_DEVICE_MAX_ON_DEVICE_EVENTS => info.value(0u32),

        // Images.
        CL_DEVICE_IMAGE_SUPPORT => info.boolean(true),
        CL_DEVICE_MAX_READ_IMAGE_ARGS => info.value(images.read_arguments),
        CL_DEVICE_MAX_WRITE_IMAGE_ARGS | CL_DEVICE_MAX_READ_WRITE_IMAGE_ARGS => {
            info.value(images.write_arguments)
        }
        CL_DEVICE_MAX_SAMPLERS => info.value(images.samplers),
        CL_DEVICE_IMAGE_PITCH_ALIGNMENT => info.value(images.pitch_alignment as u32),
        CL_DEVICE_IMAGE_BASE_ADDRESS_ALIGNMENT => info.value(images.address_alignment as u32),
        CL_DEVICE_IMAGE2D_MAX_WIDTH | CL_DEVICE_IMAGE2D_MAX_HEIGHT => info.value(images.size_2d),
        CL_DEVICE_IMAGE3D_MAX_WIDTH | CL_DEVICE_IMAGE3D_MAX_HEIGHT | CL_DEVICE_IMAGE3D_MAX_DEPTH => {
            info.value(images.size_3d)
        }
        CL_DEVICE_IMAGE_MAX_BUFFER_SIZE => info.value(images.buffer),
        CL_DEVICE_IMAGE_MAX_ARRAY_SIZE => info.value(images.array),
        CL_DEVICE_PREFERRED_INTEROP_USER_SYNC => info.boolean(true),

        // Pipes: none.
        CL_DEVICE_PIPE_SUPPORT => info.boolean(false),
        CL_DEVICE_MAX_PIPE_ARGS | CL_DEVICE_PIPE_MAX_ACTIVE_RESERVATIONS | CL_DEVICE_PIPE_MAX_PACKET_SIZE => {
            info.value(0u32)
        }

        // Sub-devices: none.
        CL_DEVICE_PARENT_DEVICE => info.value(null_mut::<c_void>()),
        CL_DEVICE_PARTITION_MAX_SUB_DEVICES => info.value(0u32),
        CL_DEVICE_PARTITION_PROPERTIES => info.value(0isize),
        CL_DEVICE_PARTITION_TYPE => info.values::<isize>(&[]),
        CL_DEVICE_PARTITION_AFFINITY_DOMAIN => info.value(0u64),
        _ => attributes::query(name, facts, info),
    }
}
