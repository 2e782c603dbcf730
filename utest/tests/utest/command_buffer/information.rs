//! Queries of command-buffers, their commands and of devices.

use gencl_utest::raw::api;
use gencl_utest::{Gpu, Outcome};
use opencl_sys::{
    CL_COMMAND_BUFFER_CAPABILITY_DEVICE_SIDE_ENQUEUE_KHR, CL_COMMAND_BUFFER_FLAGS_KHR,
    CL_COMMAND_BUFFER_MUTABLE_KHR, CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR,
    CL_MUTABLE_DISPATCH_GLOBAL_SIZE_KHR, CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR, CL_QUEUE_PROFILING_ENABLE,
};

use super::list::{List, no_change, program, queue_with};
use crate::information::{Ask, HANDLE, Query, Shape, UINT, answer, ask, check_all, number, queries};
use crate::memory::same;

const BUFFER: &[Query] = queries! {
    CL_COMMAND_BUFFER_QUEUES_KHR: HANDLE,
    CL_COMMAND_BUFFER_NUM_QUEUES_KHR: UINT,
    CL_COMMAND_BUFFER_REFERENCE_COUNT_KHR: UINT,
    CL_COMMAND_BUFFER_STATE_KHR: UINT,
    CL_COMMAND_BUFFER_PROPERTIES_ARRAY_KHR: Shape::List(8),
    CL_COMMAND_BUFFER_CONTEXT_KHR: HANDLE,
};

const COMMAND: &[Query] = queries! {
    CL_MUTABLE_COMMAND_COMMAND_QUEUE_KHR: HANDLE,
    CL_MUTABLE_COMMAND_COMMAND_BUFFER_KHR: HANDLE,
    CL_MUTABLE_COMMAND_COMMAND_TYPE_KHR: UINT,
    CL_MUTABLE_COMMAND_PROPERTIES_ARRAY_KHR: Shape::List(8),
    CL_MUTABLE_DISPATCH_KERNEL_KHR: HANDLE,
    CL_MUTABLE_DISPATCH_DIMENSIONS_KHR: UINT,
    CL_MUTABLE_DISPATCH_GLOBAL_WORK_OFFSET_KHR: Shape::List(8),
    CL_MUTABLE_DISPATCH_GLOBAL_WORK_SIZE_KHR: Shape::List(8),
    CL_MUTABLE_DISPATCH_LOCAL_WORK_SIZE_KHR: Shape::List(8),
};

fn about(list: &List) -> Ask {
    let (function, handle) = (list.functions.clGetCommandBufferInfoKHR, list.handle);
    // SAFETY: the checks give pointers with the room that they say.
    Box::new(move |name, room, value, size| unsafe { function(handle, name, room, value, size) })
}

/// Words of an answer.
fn words(ask: &Ask, query: u32) -> Result<Vec<u64>, String> {
    let bytes = answer(ask, query)?;
    Ok(bytes.as_chunks().0.iter().map(|word| u64::from_ne_bytes(*word)).collect())
}

fn number_is(ask: &Ask, query: u32, expected: u64) -> Outcome {
    let found = number(ask, query)?;
    if found == expected { Ok(()) } else { Err(format!("query {query:#x}: {found}, expected {expected}")) }
}

/// Queries of a command-buffer in its states.
pub fn information() -> Outcome {
    let queue = queue_with(0)?;
    let properties = [CL_COMMAND_BUFFER_FLAGS_KHR, CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR, 0];
    let list = List::with(&queue, &properties)?;
    let ask = about(&list);
    check_all("a command-buffer", BUFFER, &ask)?;
    number_is(&ask, opencl_sys::CL_COMMAND_BUFFER_NUM_QUEUES_KHR, 1)?;
    number_is(&ask, opencl_sys::CL_COMMAND_BUFFER_QUEUES_KHR, queue.get() as u64)?;
    number_is(&ask, opencl_sys::CL_COMMAND_BUFFER_CONTEXT_KHR, Gpu::get()?.context.get() as u64)?;
    same(&words(&ask, opencl_sys::CL_COMMAND_BUFFER_PROPERTIES_ARRAY_KHR)?, &properties)?;
    number_is(&ask, opencl_sys::CL_COMMAND_BUFFER_STATE_KHR, 0)?;
    for references in [2, 1] {
        // SAFETY: the handle is alive, and the last reference stays.
        unsafe {
            match references {
                2 => (list.functions.clRetainCommandBufferKHR)(list.handle),
                _ => (list.functions.clReleaseCommandBufferKHR)(list.handle),
            }
        };
        number_is(&ask, opencl_sys::CL_COMMAND_BUFFER_REFERENCE_COUNT_KHR, references)?;
    }
    list.finalize()?;
    number_is(&ask, opencl_sys::CL_COMMAND_BUFFER_STATE_KHR, 1)?;
    list.run()?;
    number_is(&ask, opencl_sys::CL_COMMAND_BUFFER_STATE_KHR, 1)
}

/// Queries of a recorded launch, and after a change.
pub fn commands() -> Outcome {
    let (queue, kernel) = (queue_with(0)?, program()?.kernel("nothing")?);
    let list = List::new(&queue, CL_COMMAND_BUFFER_MUTABLE_KHR)?;
    let properties = [CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR, CL_MUTABLE_DISPATCH_GLOBAL_SIZE_KHR, 0];
    let (_, command) = list.launch_as(kernel.get(), &properties, [5, 16, 8], &[])?;
    let (_, plain) = list.launch_as(kernel.get(), &[], [0, 16, 0], &[])?;
    let function = list.functions.clGetMutableCommandInfoKHR;
    let about = |command| -> Ask {
        // SAFETY: the checks give pointers with the room that they say.
        Box::new(move |name, room, value, size| unsafe { function(command, name, room, value, size) })
    };
    let (ask, ask_plain) = (about(command), about(plain));
    check_all("a command", COMMAND, &ask)?;
    check_all("a command", COMMAND, &ask_plain)?;
    number_is(&ask, opencl_sys::CL_MUTABLE_COMMAND_COMMAND_QUEUE_KHR, queue.get() as u64)?;
    number_is(&ask, opencl_sys::CL_MUTABLE_COMMAND_COMMAND_BUFFER_KHR, list.handle as u64)?;
    number_is(&ask, opencl_sys::CL_MUTABLE_COMMAND_COMMAND_TYPE_KHR, 0x11f0)?;
    number_is(&ask, opencl_sys::CL_MUTABLE_DISPATCH_KERNEL_KHR, kernel.get() as u64)?;
    number_is(&ask, opencl_sys::CL_MUTABLE_DISPATCH_DIMENSIONS_KHR, 1)?;
    same(&words(&ask, opencl_sys::CL_MUTABLE_COMMAND_PROPERTIES_ARRAY_KHR)?, &properties)?;
    same(&words(&ask_plain, opencl_sys::CL_MUTABLE_COMMAND_PROPERTIES_ARRAY_KHR)?, &[])?;
    same(&words(&ask, opencl_sys::CL_MUTABLE_DISPATCH_GLOBAL_WORK_OFFSET_KHR)?, &[5])?;
    same(&words(&ask, opencl_sys::CL_MUTABLE_DISPATCH_GLOBAL_WORK_SIZE_KHR)?, &[16])?;
    same(&words(&ask, opencl_sys::CL_MUTABLE_DISPATCH_LOCAL_WORK_SIZE_KHR)?, &[8])?;
    same(&words(&ask_plain, opencl_sys::CL_MUTABLE_DISPATCH_LOCAL_WORK_SIZE_KHR)?, &[0])?;
    list.finalize()?;
    let global = 24usize;
    let mut config = no_change(command);
    config.global_work_size = &global;
    list.update(&[config])?;
    same(&words(&ask, opencl_sys::CL_MUTABLE_DISPATCH_GLOBAL_WORK_SIZE_KHR)?, &[24])
}

/// What the device says that it can.
pub fn device() -> Outcome {
    let ask = ask!(clGetDeviceInfo, Gpu::get()?.device.id());
    let profiling = number(&ask, opencl_sys::CL_DEVICE_COMMAND_BUFFER_SUPPORTED_QUEUE_PROPERTIES_KHR)?;
    let required = number(&ask, opencl_sys::CL_DEVICE_COMMAND_BUFFER_REQUIRED_QUEUE_PROPERTIES_KHR)?;
    let able = number(&ask, opencl_sys::CL_DEVICE_COMMAND_BUFFER_CAPABILITIES_KHR)?;
    let on_device = number(&ask, opencl_sys::CL_DEVICE_QUEUE_ON_DEVICE_PROPERTIES)?;
    // The minimum, and what follows from other queries.
    let enqueues = able & CL_COMMAND_BUFFER_CAPABILITY_DEVICE_SIDE_ENQUEUE_KHR != 0;
    if profiling & CL_QUEUE_PROFILING_ENABLE == 0 || required & !profiling != 0 || enqueues && on_device == 0
    {
        return Err(format!("supported {profiling:#x}, required {required:#x}, capabilities {able:#x}"));
    }
    Ok(())
}
