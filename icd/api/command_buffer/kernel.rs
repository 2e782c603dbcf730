//! `clCommandNDRangeKernelKHR`

use gencl_icd_macros::cl_entrypoint;
use gencl_runtime::Code;
use opencl_sys::{
    CL_COMMAND_BUFFER_MUTABLE_KHR, CL_MUTABLE_DISPATCH_ARGUMENTS_KHR, CL_MUTABLE_DISPATCH_ASSERTS_KHR,
    CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR, cl_command_buffer_khr, cl_command_properties_khr,
    cl_command_queue, cl_kernel, cl_mutable_command_khr, cl_mutable_dispatch_asserts_khr,
    cl_mutable_dispatch_fields_khr, cl_sync_point_khr, cl_uint,
};

use super::{FIELDS, Recording, check_asserts, check_name, mutable_fields};
use crate::abi::{List, Out, ZeroTerminated};
use crate::api::enqueue::kernel::nd_range;
use crate::handle::Handle;
use crate::object::{Kernel, MutableCommand};
use crate::{CLResult, refuse_if};

#[cl_entrypoint(clCommandNDRangeKernelKHR)]
fn command_nd_range_kernel(
    buffer: cl_command_buffer_khr,
    queue: cl_command_queue,
    properties: ZeroTerminated<cl_command_properties_khr>,
    kernel: cl_kernel,
    work_dim: cl_uint,
    global_work_offset: List<usize>,
    global_work_size: List<usize>,
    local_work_size: List<usize>,
    num_waits: cl_uint,
    waits: List<cl_sync_point_khr>,
    sync_point: Out<cl_sync_point_khr>,
    handle: Out<cl_mutable_command_khr>,
) -> CLResult<()> {
    let recording = Recording::new(buffer, queue, num_waits, waits, sync_point)?;
    let buffer = &recording.buffer;
    let properties = Properties::of(properties)?;
    let kernel = Handle::<Kernel>::get(kernel)?;
    // CL_INVALID_OPERATION if the requested CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR properties are not reported by
    // CL_DEVICE_MUTABLE_DISPATCH_CAPABILITIES_KHR for the device. By default all of these are updatable.
    let able = mutable_fields(buffer.queue.device.facts());
    let fields = properties.fields.unwrap_or(able);
    refuse_if(fields & !able != 0, Code::InvalidOperation, "the device cannot change that")?;
    // CL_INVALID_VALUE if the command-buffer or the command has
    // CL_MUTABLE_DISPATCH_ASSERT_NO_ADDITIONAL_WORK_GROUPS_KHR and local_work_size is NULL.
    let asserts = buffer.asserts | properties.asserts;
    let unknown = asserts != 0 && local_work_size.is_null();
    refuse_if(unknown, Code::InvalidValue, "the number of work-groups is asserted, without their size")?;
    let range = nd_range(work_dim, global_work_offset, global_work_size, local_work_size)?;
    // CL_INVALID_KERNEL_ARGS if the kernel argument values have not been specified and the
    // CL_MUTABLE_DISPATCH_ARGUMENTS_KHR flag was not set in the properties parameter. They can be set later only in a
    // command-buffer that is mutable.
    let deferred = properties.fields.is_some_and(|fields| fields & CL_MUTABLE_DISPATCH_ARGUMENTS_KHR != 0)
        && buffer.flags & CL_COMMAND_BUFFER_MUTABLE_KHR != 0;
    // The other conditions are checked by the runtime, those of clEnqueueNDRangeKernel among them.
    let (point, number) = buffer.runtime.launch(&kernel.runtime, &range, deferred, &recording.waits)?;
    if !handle.is_null() {
        let command = Handle::new(MutableCommand {
            runtime: buffer.runtime.clone(),
            buffer: buffer.address(),
            queue: buffer.queue.clone(),
            number,
            kernel,
            fields,
            properties: properties.list,
        });
        handle.write(command.raw());
        buffer.commands.lock().push(command);
    }
    recording.done(point)
}

/// The properties of a launch.
struct Properties {
    /// `CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR`, if it is there.
    fields: Option<cl_mutable_dispatch_fields_khr>,
    asserts: cl_mutable_dispatch_asserts_khr,
    list: Vec<cl_command_properties_khr>,
}

impl Properties {
    /// CL_INVALID_VALUE if values specified in properties are not valid.
    fn of(list: ZeroTerminated<cl_command_properties_khr>) -> CLResult<Self> {
        const NAMES: [cl_command_properties_khr; 2] =
            [CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR, CL_MUTABLE_DISPATCH_ASSERTS_KHR];
        let (mut fields, mut asserts, mut before) = (None, 0, Vec::new());
        let list = list.checked(|name, value| {
            check_name(name, &NAMES, &mut before)?;
            if name == CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR {
                fields = Some(value);
                return refuse_if(value & !FIELDS != 0, Code::InvalidValue, "unknown fields");
            }
            asserts = value;
            check_asserts(value)
        })?;
        Ok(Self { fields, asserts, list })
    }
}
