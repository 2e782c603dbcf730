//! `clGetEventInfo`, `clGetEventProfilingInfo`

use std::ptr::null_mut;

use gencl_icd_macros::cl_entrypoint;
use gencl_runtime::ProfilingInfo;
use opencl_sys::{
    CL_EVENT_COMMAND_EXECUTION_STATUS, CL_EVENT_COMMAND_QUEUE, CL_EVENT_COMMAND_TYPE, CL_EVENT_CONTEXT,
    CL_EVENT_REFERENCE_COUNT, CL_PROFILING_COMMAND_COMPLETE, CL_PROFILING_COMMAND_END,
    CL_PROFILING_COMMAND_QUEUED, CL_PROFILING_COMMAND_START, CL_PROFILING_COMMAND_SUBMIT, cl_event,
    cl_event_info, cl_profiling_info,
};

use crate::CLResult;
use crate::abi::{Bytes, Out};
use crate::handle::Handle;
use crate::info::{InfoWriter, Written};
use crate::object::Event;

#[cl_entrypoint(clGetEventInfo)]
fn get_event_info(
    event: cl_event,
    name: cl_event_info,
    room: usize,
    value: Bytes,
    size_ret: Out<usize>,
) -> CLResult<Written> {
    let event = Handle::<Event>::get(event)?;
    let info = InfoWriter::new(room, value, size_ret);
    match name {
        CL_EVENT_COMMAND_QUEUE => info.value(event.queue.as_ref().map_or(null_mut(), |queue| queue.raw())),
        CL_EVENT_CONTEXT => info.value(event.context.raw()),
        CL_EVENT_COMMAND_TYPE => info.value(event.runtime.kind() as u32),
        CL_EVENT_COMMAND_EXECUTION_STATUS => {
            event.note_use();
            info.value(event.runtime.status().value())
        }
        CL_EVENT_REFERENCE_COUNT => info.value(event.references()),
        _ => info.unknown(name),
    }
}

#[cl_entrypoint(clGetEventProfilingInfo)]
fn get_event_profiling_info(
    event: cl_event,
    name: cl_profiling_info,
    room: usize,
    value: Bytes,
    size_ret: Out<usize>,
) -> CLResult<Written> {
    let event = Handle::<Event>::get(event)?;
    let info = InfoWriter::new(room, value, size_ret);
    let point = match name {
        CL_PROFILING_COMMAND_QUEUED => ProfilingInfo::Queued,
        CL_PROFILING_COMMAND_SUBMIT => ProfilingInfo::Submit,
        CL_PROFILING_COMMAND_START => ProfilingInfo::Start,
        CL_PROFILING_COMMAND_END => ProfilingInfo::End,
        CL_PROFILING_COMMAND_COMPLETE => ProfilingInfo::Complete,
        _ => return info.unknown(name),
    };
    // CL_PROFILING_INFO_NOT_AVAILABLE if the CL_QUEUE_PROFILING_ENABLE flag is not set for the command-queue,
    // if the execution status of the command identified by event is not CL_COMPLETE or if event is a user
    // event object.
    info.value(event.runtime.profile(point)?)
}
