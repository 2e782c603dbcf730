//! The queries of each kind of object.

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use gencl_utest::raw::api;
use gencl_utest::{Gpu, Outcome};
use opencl_sys::{
    CL_INVALID_COMMAND_QUEUE, CL_INVALID_CONTEXT, CL_INVALID_EVENT, CL_INVALID_KERNEL, CL_INVALID_MEM_OBJECT,
    CL_INVALID_PROGRAM, CL_INVALID_PROGRAM_EXECUTABLE, CL_INVALID_VALUE, CL_PROFILING_INFO_NOT_AVAILABLE,
    CL_SUCCESS, cl_int,
};
use opencl3::event::create_user_event;
use opencl3::memory::ClMem;

use super::ask::{Ask, HANDLE, NAMES, Query, SIZE, Shape, UINT, ULONG, check_all, expect, queries, text};

const PLATFORM: &[Query] = queries! {
    CL_PLATFORM_PROFILE: Shape::Text,
    CL_PLATFORM_VERSION: Shape::Text,
    CL_PLATFORM_NUMERIC_VERSION: UINT,
    CL_PLATFORM_NAME: Shape::Text,
    CL_PLATFORM_VENDOR: Shape::Text,
    CL_PLATFORM_EXTENSIONS: Shape::Text,
    CL_PLATFORM_EXTENSIONS_WITH_VERSION: NAMES,
    CL_PLATFORM_HOST_TIMER_RESOLUTION: ULONG,
    CL_PLATFORM_ICD_SUFFIX_KHR: Shape::Text,
};

const DEVICE: &[Query] = queries! {
    CL_DEVICE_TYPE: ULONG,
    CL_DEVICE_VENDOR_ID: UINT,
    CL_DEVICE_MAX_COMPUTE_UNITS: UINT,
    CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS: UINT,
    CL_DEVICE_MAX_WORK_ITEM_SIZES: Shape::Value(3 * size_of::<usize>()),
    CL_DEVICE_MAX_WORK_GROUP_SIZE: SIZE,
    CL_DEVICE_PREFERRED_VECTOR_WIDTH_CHAR: UINT,
    CL_DEVICE_PREFERRED_VECTOR_WIDTH_SHORT: UINT,
    CL_DEVICE_PREFERRED_VECTOR_WIDTH_INT: UINT,
    CL_DEVICE_PREFERRED_VECTOR_WIDTH_LONG: UINT,
    CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT: UINT,
    CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE: UINT,
    CL_DEVICE_PREFERRED_VECTOR_WIDTH_HALF: UINT,
    CL_DEVICE_NATIVE_VECTOR_WIDTH_CHAR: UINT,
    CL_DEVICE_NATIVE_VECTOR_WIDTH_SHORT: UINT,
    CL_DEVICE_NATIVE_VECTOR_WIDTH_INT: UINT,
    CL_DEVICE_NATIVE_VECTOR_WIDTH_LONG: UINT,
    CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT: UINT,
    CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE: UINT,
    CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF: UINT,
    CL_DEVICE_MAX_CLOCK_FREQUENCY: UINT,
    CL_DEVICE_ADDRESS_BITS: UINT,
    CL_DEVICE_MAX_MEM_ALLOC_SIZE: ULONG,
    CL_DEVICE_IMAGE_SUPPORT: UINT,
    CL_DEVICE_MAX_READ_IMAGE_ARGS: UINT,
    CL_DEVICE_MAX_WRITE_IMAGE_ARGS: UINT,
    CL_DEVICE_MAX_READ_WRITE_IMAGE_ARGS: UINT,
    CL_DEVICE_IL_VERSION: Shape::Text,
    CL_DEVICE_ILS_WITH_VERSION: NAMES,
    CL_DEVICE_IMAGE2D_MAX_WIDTH: SIZE,
    CL_DEVICE_IMAGE2D_MAX_HEIGHT: SIZE,
    CL_DEVICE_IMAGE3D_MAX_WIDTH: SIZE,
    CL_DEVICE_IMAGE3D_MAX_HEIGHT: SIZE,
    CL_DEVICE_IMAGE3D_MAX_DEPTH: SIZE,
    CL_DEVICE_IMAGE_MAX_BUFFER_SIZE: SIZE,
    CL_DEVICE_IMAGE_MAX_ARRAY_SIZE: SIZE,
    CL_DEVICE_MAX_SAMPLERS: UINT,
    CL_DEVICE_IMAGE_PITCH_ALIGNMENT: UINT,
    CL_DEVICE_IMAGE_BASE_ADDRESS_ALIGNMENT: UINT,
    CL_DEVICE_MAX_PIPE_ARGS: UINT,
    CL_DEVICE_PIPE_MAX_ACTIVE_RESERVATIONS: UINT,
    CL_DEVICE_PIPE_MAX_PACKET_SIZE: UINT,
    CL_DEVICE_MAX_PARAMETER_SIZE: SIZE,
    CL_DEVICE_MEM_BASE_ADDR_ALIGN: UINT,
    CL_DEVICE_MIN_DATA_TYPE_ALIGN_SIZE: UINT,
    CL_DEVICE_SINGLE_FP_CONFIG: ULONG,
    CL_DEVICE_DOUBLE_FP_CONFIG: ULONG,
    CL_DEVICE_GLOBAL_MEM_CACHE_TYPE: UINT,
    CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE: UINT,
    CL_DEVICE_GLOBAL_MEM_CACHE_SIZE: ULONG,
    CL_DEVICE_GLOBAL_MEM_SIZE: ULONG,
    CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE: ULONG,
    CL_DEVICE_MAX_CONSTANT_ARGS: UINT,
    CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE: SIZE,
    CL_DEVICE_GLOBAL_VARIABLE_PREFERRED_TOTAL_SIZE: SIZE,
    CL_DEVICE_LOCAL_MEM_TYPE: UINT,
    CL_DEVICE_LOCAL_MEM_SIZE: ULONG,
    CL_DEVICE_ERROR_CORRECTION_SUPPORT: UINT,
    CL_DEVICE_HOST_UNIFIED_MEMORY: UINT,
    CL_DEVICE_PROFILING_TIMER_RESOLUTION: SIZE,
    CL_DEVICE_ENDIAN_LITTLE: UINT,
    CL_DEVICE_AVAILABLE: UINT,
    CL_DEVICE_COMPILER_AVAILABLE: UINT,
    CL_DEVICE_LINKER_AVAILABLE: UINT,
    CL_DEVICE_EXECUTION_CAPABILITIES: ULONG,
    CL_DEVICE_QUEUE_ON_HOST_PROPERTIES: ULONG,
    CL_DEVICE_QUEUE_ON_DEVICE_PROPERTIES: ULONG,
    CL_DEVICE_QUEUE_ON_DEVICE_PREFERRED_SIZE: UINT,
    CL_DEVICE_QUEUE_ON_DEVICE_MAX_SIZE: UINT,
    CL_DEVICE_MAX_ON_DEVICE_QUEUES: UINT,
    CL_DEVICE_MAX_ON_DEVICE_EVENTS: UINT,
    CL_DEVICE_BUILT_IN_KERNELS: Shape::Text,
    CL_DEVICE_BUILT_IN_KERNELS_WITH_VERSION: NAMES,
    CL_DEVICE_PLATFORM: HANDLE,
    CL_DEVICE_NAME: Shape::Text,
    CL_DEVICE_VENDOR: Shape::Text,
    CL_DRIVER_VERSION: Shape::Text,
    CL_DEVICE_PROFILE: Shape::Text,
    CL_DEVICE_VERSION: Shape::Text,
    CL_DEVICE_NUMERIC_VERSION: UINT,
    CL_DEVICE_OPENCL_C_VERSION: Shape::Text,
    CL_DEVICE_OPENCL_C_ALL_VERSIONS: NAMES,
    CL_DEVICE_OPENCL_C_FEATURES: NAMES,
    CL_DEVICE_EXTENSIONS: Shape::Text,
    CL_DEVICE_EXTENSIONS_WITH_VERSION: NAMES,
    CL_DEVICE_PRINTF_BUFFER_SIZE: SIZE,
    CL_DEVICE_PREFERRED_INTEROP_USER_SYNC: UINT,
    CL_DEVICE_PARENT_DEVICE: HANDLE,
    CL_DEVICE_PARTITION_MAX_SUB_DEVICES: UINT,
    CL_DEVICE_PARTITION_PROPERTIES: Shape::List(size_of::<isize>()),
    CL_DEVICE_PARTITION_AFFINITY_DOMAIN: ULONG,
    CL_DEVICE_PARTITION_TYPE: Shape::List(size_of::<isize>()),
    CL_DEVICE_REFERENCE_COUNT: UINT,
    CL_DEVICE_SVM_CAPABILITIES: ULONG,
    CL_DEVICE_PREFERRED_PLATFORM_ATOMIC_ALIGNMENT: UINT,
    CL_DEVICE_PREFERRED_GLOBAL_ATOMIC_ALIGNMENT: UINT,
    CL_DEVICE_PREFERRED_LOCAL_ATOMIC_ALIGNMENT: UINT,
    CL_DEVICE_MAX_NUM_SUB_GROUPS: UINT,
    CL_DEVICE_SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS: UINT,
    CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES: ULONG,
    CL_DEVICE_ATOMIC_FENCE_CAPABILITIES: ULONG,
    CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT: UINT,
    CL_DEVICE_WORK_GROUP_COLLECTIVE_FUNCTIONS_SUPPORT: UINT,
    CL_DEVICE_GENERIC_ADDRESS_SPACE_SUPPORT: UINT,
    CL_DEVICE_DEVICE_ENQUEUE_CAPABILITIES: ULONG,
    CL_DEVICE_PIPE_SUPPORT: UINT,
    CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE: SIZE,
    CL_DEVICE_LATEST_CONFORMANCE_VERSION_PASSED: Shape::Text,
};

const CONTEXT: &[Query] = queries! {
    CL_CONTEXT_REFERENCE_COUNT: UINT,
    CL_CONTEXT_NUM_DEVICES: UINT,
    CL_CONTEXT_DEVICES: HANDLE,
    CL_CONTEXT_PROPERTIES: Shape::List(size_of::<isize>()),
};

const QUEUE: &[Query] = queries! {
    CL_QUEUE_CONTEXT: HANDLE,
    CL_QUEUE_DEVICE: HANDLE,
    CL_QUEUE_REFERENCE_COUNT: UINT,
    CL_QUEUE_PROPERTIES: ULONG,
    CL_QUEUE_PROPERTIES_ARRAY: Shape::List(8),
    CL_QUEUE_DEVICE_DEFAULT: HANDLE,
};

pub const MEMORY: &[Query] = queries! {
    CL_MEM_TYPE: UINT,
    CL_MEM_FLAGS: ULONG,
    CL_MEM_SIZE: SIZE,
    CL_MEM_HOST_PTR: HANDLE,
    CL_MEM_MAP_COUNT: UINT,
    CL_MEM_REFERENCE_COUNT: UINT,
    CL_MEM_CONTEXT: HANDLE,
    CL_MEM_ASSOCIATED_MEMOBJECT: HANDLE,
    CL_MEM_OFFSET: SIZE,
    CL_MEM_USES_SVM_POINTER: UINT,
    CL_MEM_PROPERTIES: Shape::List(8),
};

const PROGRAM: &[Query] = queries! {
    CL_PROGRAM_REFERENCE_COUNT: UINT,
    CL_PROGRAM_CONTEXT: HANDLE,
    CL_PROGRAM_NUM_DEVICES: UINT,
    CL_PROGRAM_DEVICES: HANDLE,
    CL_PROGRAM_SOURCE: Shape::Text,
    CL_PROGRAM_IL: Shape::List(1),
    CL_PROGRAM_BINARY_SIZES: SIZE,
    CL_PROGRAM_BINARIES: Shape::Pointers,
    CL_PROGRAM_NUM_KERNELS: SIZE,
    CL_PROGRAM_KERNEL_NAMES: Shape::Text,
    CL_PROGRAM_SCOPE_GLOBAL_CTORS_PRESENT: UINT,
    CL_PROGRAM_SCOPE_GLOBAL_DTORS_PRESENT: UINT,
};

const BUILD: &[Query] = queries! {
    CL_PROGRAM_BUILD_STATUS: UINT,
    CL_PROGRAM_BUILD_OPTIONS: Shape::Text,
    CL_PROGRAM_BUILD_LOG: Shape::Text,
    CL_PROGRAM_BINARY_TYPE: UINT,
    CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE: SIZE,
};

const KERNEL: &[Query] = queries! {
    CL_KERNEL_FUNCTION_NAME: Shape::Text,
    CL_KERNEL_NUM_ARGS: UINT,
    CL_KERNEL_REFERENCE_COUNT: UINT,
    CL_KERNEL_CONTEXT: HANDLE,
    CL_KERNEL_PROGRAM: HANDLE,
    CL_KERNEL_ATTRIBUTES: Shape::Text,
};

const ARGUMENT: &[Query] = queries! {
    CL_KERNEL_ARG_ADDRESS_QUALIFIER: UINT,
    CL_KERNEL_ARG_ACCESS_QUALIFIER: UINT,
    CL_KERNEL_ARG_TYPE_NAME: Shape::Text,
    CL_KERNEL_ARG_TYPE_QUALIFIER: ULONG,
    CL_KERNEL_ARG_NAME: Shape::Text,
};

const WORK_GROUP: &[Query] = queries! {
    CL_KERNEL_WORK_GROUP_SIZE: SIZE,
    CL_KERNEL_COMPILE_WORK_GROUP_SIZE: Shape::Value(3 * size_of::<usize>()),
    CL_KERNEL_LOCAL_MEM_SIZE: ULONG,
    CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE: SIZE,
    CL_KERNEL_PRIVATE_MEM_SIZE: ULONG,
};

/// Those that take a local size.
const SUB_GROUP: &[Query] = queries! {
    CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE: SIZE,
    CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE: SIZE,
    CL_KERNEL_MAX_NUM_SUB_GROUPS: SIZE,
    CL_KERNEL_COMPILE_NUM_SUB_GROUPS: SIZE,
};

const EVENT: &[Query] = queries! {
    CL_EVENT_COMMAND_QUEUE: HANDLE,
    CL_EVENT_CONTEXT: HANDLE,
    CL_EVENT_COMMAND_TYPE: UINT,
    CL_EVENT_COMMAND_EXECUTION_STATUS: UINT,
    CL_EVENT_REFERENCE_COUNT: UINT,
};

const PROFILING: &[Query] = queries! {
    CL_PROFILING_COMMAND_QUEUED: ULONG,
    CL_PROFILING_COMMAND_SUBMIT: ULONG,
    CL_PROFILING_COMMAND_START: ULONG,
    CL_PROFILING_COMMAND_END: ULONG,
    CL_PROFILING_COMMAND_COMPLETE: ULONG,
};

/// The objects of the queries.
const SOURCE: &str = "kernel __attribute__((reqd_work_group_size(8, 1, 1)))
    void k(global const float *a, float b) { ((global float *)a)[get_global_id(0)] = b; }";

/// Binds the object: `ask!(function, object, ...)` is an [`Ask`].
macro_rules! ask {
    ($function:ident, $object:expr $(, $more:expr)* $(; $($input:expr),+)?) => {{
        let (api, object) = (api()?, $object);
        let ask: $crate::information::Ask = Box::new(move |name, room, value, size| {
            // SAFETY: handles are alive or null, and the checks give pointers with the room that they say.
            unsafe { (api.$function)(object, $($more,)* name, $($($input,)+)? room, value, size) }
        });
        ask
    }};
}
pub(crate) use ask;

fn refused(ask: &Ask, query: u32, expected: cl_int, what: &str) -> Outcome {
    expect(ask(query, 0, null_mut(), &mut 0), expected, what)
}

pub fn platform() -> Outcome {
    let platform = Gpu::get()?.device.platform().map_err(|error| error.to_string())?;
    check_all("clGetPlatformInfo", PLATFORM, &ask!(clGetPlatformInfo, platform))
}

pub fn device() -> Outcome {
    let device = Gpu::get()?.device.id();
    check_all("clGetDeviceInfo", DEVICE, &ask!(clGetDeviceInfo, device))
}

pub fn context() -> Outcome {
    let context = Gpu::get()?.context.get();
    check_all("clGetContextInfo", CONTEXT, &ask!(clGetContextInfo, context))?;
    refused(&ask!(clGetContextInfo, null_mut()), CONTEXT[0].value, CL_INVALID_CONTEXT, "no context")
}

pub fn queue() -> Outcome {
    let queue = Gpu::get()?.queue()?;
    let ask = ask!(clGetCommandQueueInfo, queue.get());
    check_all("clGetCommandQueueInfo", QUEUE, &ask)?;
    // Only queues on a device have a size.
    refused(&ask, opencl_sys::CL_QUEUE_SIZE, CL_INVALID_COMMAND_QUEUE, "the size of a queue on the host")?;
    refused(&ask!(clGetCommandQueueInfo, null_mut()), QUEUE[0].value, CL_INVALID_COMMAND_QUEUE, "no queue")
}

pub fn memory() -> Outcome {
    let buffer = Gpu::get()?.buffer(&[0u8; 64])?;
    check_all("clGetMemObjectInfo", MEMORY, &ask!(clGetMemObjectInfo, buffer.memory().get()))?;
    refused(&ask!(clGetMemObjectInfo, null_mut()), MEMORY[0].value, CL_INVALID_MEM_OBJECT, "no buffer")
}

pub fn program() -> Outcome {
    let gpu = Gpu::get()?;
    let built = gpu.build_unchecked(SOURCE, "-DA=1")?;
    check_all("clGetProgramInfo", PROGRAM, &ask!(clGetProgramInfo, built.program().get()))?;
    let device = gpu.device.id();
    let ask = ask!(clGetProgramBuildInfo, built.program().get(), device);
    check_all("clGetProgramBuildInfo", BUILD, &ask)?;
    if text(&ask, opencl_sys::CL_PROGRAM_BUILD_OPTIONS)? != "-DA=1" {
        return Err("the build options have changed".into());
    }
    refused(&ask!(clGetProgramInfo, null_mut()), PROGRAM[0].value, CL_INVALID_PROGRAM, "no program")?;
    let unbuilt = opencl3::program::Program::create_from_source(&gpu.context, SOURCE);
    let unbuilt = unbuilt.map_err(|error| error.to_string())?;
    let ask = ask!(clGetProgramInfo, unbuilt.get());
    for query in [opencl_sys::CL_PROGRAM_NUM_KERNELS, opencl_sys::CL_PROGRAM_KERNEL_NAMES] {
        refused(&ask, query, CL_INVALID_PROGRAM_EXECUTABLE, "kernels of a program that is not built")?;
    }
    Ok(())
}

pub fn kernel() -> Outcome {
    let gpu = Gpu::get()?;
    let kernel = gpu.build_unchecked(SOURCE, "-cl-kernel-arg-info")?.kernel("k")?;
    let handle = kernel.get();
    check_all("clGetKernelInfo", KERNEL, &ask!(clGetKernelInfo, handle))?;
    for argument in 0..2 {
        check_all("clGetKernelArgInfo", ARGUMENT, &ask!(clGetKernelArgInfo, handle, argument))?;
    }
    let ask = ask!(clGetKernelWorkGroupInfo, handle, gpu.device.id());
    check_all("clGetKernelWorkGroupInfo", WORK_GROUP, &ask)?;
    // Only built-in kernels and those of custom devices have a largest global size.
    refused(&ask, opencl_sys::CL_KERNEL_GLOBAL_WORK_SIZE, CL_INVALID_VALUE, "the global size")?;
    refused(&ask!(clGetKernelInfo, null_mut()), KERNEL[0].value, CL_INVALID_KERNEL, "no kernel")?;
    // There is one device, so that it need not be passed.
    let ask = ask!(clGetKernelWorkGroupInfo, handle, null_mut());
    expect(ask(WORK_GROUP[0].value, 0, null_mut(), &mut 0), CL_SUCCESS, "no device")
}

pub fn sub_groups() -> Outcome {
    let gpu = Gpu::get()?;
    let device = gpu.device.id();
    let kernel = gpu.build_unchecked(SOURCE, "")?.kernel("k")?;
    let handle = kernel.get();
    let local = [8usize];
    let (bytes, input) = (size_of_val(&local), local.as_ptr().cast::<c_void>());
    check_all(
        "clGetKernelSubGroupInfo",
        SUB_GROUP,
        &ask!(clGetKernelSubGroupInfo, handle, device; bytes, input),
    )?;
    // An input of no dimensions, and none.
    let empty = ask!(clGetKernelSubGroupInfo, handle, device; 0, input);
    let none = ask!(clGetKernelSubGroupInfo, handle, device; bytes, null());
    for (ask, what) in [(&empty, "an input of no dimensions"), (&none, "no input")] {
        for query in &SUB_GROUP[..2] {
            refused(ask, query.value, CL_INVALID_VALUE, what)?;
        }
    }
    // A local size for one sub-group.
    let count = 1usize;
    let (bytes, input) = (size_of::<usize>(), (&raw const count).cast::<c_void>());
    let ask = ask!(clGetKernelSubGroupInfo, handle, device; bytes, input);
    let mut size = [0usize; 3];
    let room = size_of_val(&size);
    let code =
        ask(opencl_sys::CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT, room, size.as_mut_ptr().cast(), null_mut());
    expect(code, CL_SUCCESS, "the local size for one sub-group")?;
    if size == [8, 1, 1] || size == [0; 3] {
        Ok(())
    } else {
        Err(format!("a local size of {size:?}, where 8 are required"))
    }
}

/// The results of `clGetKernelSubGroupInfo` for a kernel with groups of `local` work-items.
pub fn sub_group_number(kernel: &opencl3::kernel::Kernel, query: u32, local: usize) -> Result<usize, String> {
    let input = (&raw const local).cast::<c_void>();
    let device = Gpu::get()?.device.id();
    let ask = ask!(clGetKernelSubGroupInfo, kernel.get(), device; size_of::<usize>(), input);
    let mut number = 0usize;
    let code = ask(query, size_of::<usize>(), (&raw mut number).cast(), null_mut());
    expect(code, CL_SUCCESS, "clGetKernelSubGroupInfo")?;
    Ok(number)
}

pub fn event() -> Outcome {
    let gpu = Gpu::get()?;
    let queue = gpu.queue()?;
    // SAFETY: the wait list is empty.
    let event = unsafe { queue.enqueue_marker_with_wait_list(&[]) }.map_err(|error| error.to_string())?;
    event.wait().map_err(|error| error.to_string())?;
    check_all("clGetEventInfo", EVENT, &ask!(clGetEventInfo, event.get()))?;
    check_all("clGetEventProfilingInfo", PROFILING, &ask!(clGetEventProfilingInfo, event.get()))?;
    refused(&ask!(clGetEventInfo, null_mut()), EVENT[0].value, CL_INVALID_EVENT, "no event")?;
    let gate = create_user_event(gpu.context.get()).map_err(|code| code.to_string())?;
    let gate = opencl3::event::Event::new(gate);
    check_all("clGetEventInfo of a user event", EVENT, &ask!(clGetEventInfo, gate.get()))?;
    let ask = ask!(clGetEventProfilingInfo, gate.get());
    let refusal = refused(&ask, PROFILING[0].value, CL_PROFILING_INFO_NOT_AVAILABLE, "times of a user event");
    opencl3::event::set_user_event_status(gate.get(), 0).map_err(|code| code.to_string())?;
    refusal
}
