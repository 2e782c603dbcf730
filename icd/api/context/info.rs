//! `clGetContextInfo`

use gencl_icd_macros::cl_entrypoint;
use opencl_sys::{
    CL_CONTEXT_DEVICES, CL_CONTEXT_NUM_DEVICES, CL_CONTEXT_PROPERTIES, CL_CONTEXT_REFERENCE_COUNT,
    cl_context, cl_context_info,
};

use crate::CLResult;
use crate::abi::{Bytes, Out};
use crate::handle::Handle;
use crate::info::{InfoWriter, Written};
use crate::object::Context;

#[cl_entrypoint(clGetContextInfo)]
fn get_context_info(
    context: cl_context,
    name: cl_context_info,
    room: usize,
    value: Bytes,
    size_ret: Out<usize>,
) -> CLResult<Written> {
    let context = Handle::<Context>::get(context)?;
    let info = InfoWriter::new(room, value, size_ret);
    match name {
        CL_CONTEXT_REFERENCE_COUNT => info.value(context.references()),
        CL_CONTEXT_NUM_DEVICES => info.value(context.devices.len() as u32),
        CL_CONTEXT_DEVICES => {
            info.values(&context.devices.iter().map(|device| device.raw()).collect::<Vec<_>>())
        }
        CL_CONTEXT_PROPERTIES => info.values(&context.properties),
        _ => info.unknown(name),
    }
}
